//! Builds the briefing, the text that a session receives at its start: pinned memories, decisions,
//! and what happened since; one line each, with its source.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use chrono::{DateTime, Local, Utc};
use uuid::Uuid;

use super::recall::{DATA, source_of};
use super::standing::{Standing, undone};
use super::statements::{self, StatementKind, is_recognised};
use super::summary::{ANSWERED, is_summary, parts_of_summary};
use super::{EpisodeSource, Memory, MemorySource, MemoryStore, ResponseType, Select, StorageError};
use crate::source::{OperationKind, printable, stashes};
use crate::text::{bytes_of_tokens, cut_at_word as cut, folded, tokens};

/// Most lines of a briefing.
const MOST: usize = 20;
/// Most memories that are considered for each section.
const LOOKED_AT: usize = 100;
/// Longest line, in bytes.
const LINE: usize = 240;
/// Longest statement, and longest summary of a session, in bytes.
const STATEMENT: usize = 420;
const SUMMARY: usize = 900;
/// Bytes shown of a git operation, and of each part of the reason for it.
const OPERATION: usize = 160;
const WHY: usize = 110;
/// A line that would be cut to fewer bytes than this is left out.
const LEAST: usize = 80;

const CLOSING: &str = "More: search_memory_nodes, or `cortex memory search`.\n";

/// A heading and the lines below it.
struct Section {
    heading: &'static str,
    /// Tokens that the section may use while other sections wait; the rest of the budget is
    /// assigned in the order of the sections.
    share: usize,
    /// Best first.
    candidates: Vec<Line>,
    lines: Vec<String>,
}

/// A candidate for a line.
struct Line {
    /// The memories that it shows.
    ids: Vec<Uuid>,
    /// Its texts; a text that was shown already is left out.
    parts: Vec<BriefingPart>,
    /// The source and date, such as `text, 2026-01-31`.
    source: String,
    /// Longest length in bytes.
    most: usize,
}

struct BriefingPart {
    /// Precedes the text, such as `Asked: `; may be empty.
    start: String,
    text: String,
    /// Whether the part may be left out if another part says the same.
    may_be_left_out: bool,
}

/// Returns the briefing for a session in the project at `root` that has received `given`, in at most `max_tokens` tokens,
/// and the ids of the memories in it. It is empty if there is nothing to show.
///
/// # Errors
/// When the memories cannot be read.
pub fn briefing(
    store: &MemoryStore,
    root: &Path,
    given: &[Uuid],
    max_tokens: usize,
) -> Result<(String, Vec<Uuid>), StorageError> {
    let (mut sections, known) = sections(store, root, given)?;
    let mut budget = Budget {
        left: max_tokens.saturating_sub(tokens(DATA) + tokens(CLOSING) + 2),
        n: 0,
        known,
        told: Vec::new(),
    };
    for is_shared in [true, false] {
        for section in &mut sections {
            let share = if is_shared { section.share } else { usize::MAX };
            budget.fill(section, share);
        }
    }
    let filled = sections.iter().filter(|s| !s.lines.is_empty());
    let told: String = filled.map(|s| format!("{}:\n{}", s.heading, s.lines.concat())).collect();
    Ok((if told.is_empty() { told } else { format!("{DATA}\n{told}{CLOSING}") }, budget.told))
}

/// The rest of the budget, and the texts that were shown.
struct Budget {
    /// Tokens left.
    left: usize,
    /// Number of lines so far.
    n: usize,
    /// Normalized texts that were shown, or that do not hold any longer, each between blanks.
    known: Vec<String>,
    told: Vec<Uuid>,
}

impl Budget {
    /// Moves candidates of a section to its lines while they fit.
    fn fill(&mut self, section: &mut Section, share: usize) {
        let mut spent = 0;
        while let Some(line) = section.candidates.first() {
            let heading = if section.lines.is_empty() { tokens(section.heading) + 1 } else { 0 };
            let room = self.left.min(share.saturating_sub(spent)).saturating_sub(heading);
            let parts: Vec<&BriefingPart> = line
                .parts
                .iter()
                .filter(|p| !p.may_be_left_out || !self.is_known(&p.text))
                .collect();
            if !parts.is_empty() {
                let Some(text) = line.text(&parts, room).filter(|_| self.n < MOST) else { break };
                let keys: Vec<String> = parts.iter().map(|p| between_blanks(&p.text)).collect();
                spent += tokens(&text) + heading;
                self.left -= tokens(&text) + heading;
                self.n += 1;
                self.known.extend(keys);
                section.lines.push(text);
            }
            self.told.extend(section.candidates.remove(0).ids);
        }
    }

    /// Returns whether a text was shown, perhaps as part of another. A text of which a long
    /// beginning was shown counts, because it would be cut as well.
    fn is_known(&self, text: &str) -> bool {
        let key = between_blanks(text);
        let is_beginning = |known: &String| known.len() >= LEAST && key.starts_with(known.as_str());
        self.known.iter().any(|known| known.contains(&key) || is_beginning(known))
    }
}

fn between_blanks(text: &str) -> String {
    format!(" {} ", statements::key(statements::without_label(text)))
}

impl Line {
    /// Formats a line such as `> We keep the cache in one file (text, 2026-01-31)` in at most
    /// `max_tokens` tokens. `None` if too little would be left.
    fn text(&self, parts: &[&BriefingPart], max_tokens: usize) -> Option<String> {
        let mut said = String::new();
        for part in parts {
            said.push_str(match said.chars().last() {
                None => "",
                Some(c) if c.is_alphanumeric() => ". ",
                Some(_) => " ",
            });
            said.push_str(&part.start);
            said.push_str(&part.text);
        }
        let (said, source) = (printable(&said), format!(" ({})\n", printable(&self.source)));
        let room =
            bytes_of_tokens(max_tokens).saturating_sub("> ".len() + source.len()).min(self.most);
        (room >= said.len().min(LEAST)).then(|| format!("> {}{source}", cut(&said, room)))
    }
}

/// Returns the sections in the order in which they are shown and use the budget, and the normalized
/// texts that do not hold any longer.
fn sections(
    store: &MemoryStore,
    root: &Path,
    given: &[Uuid],
) -> Result<(Vec<Section>, Vec<String>), StorageError> {
    let of = |sources: &[EpisodeSource]| Select {
        sources: sources.iter().map(|s| s.as_str().into()).collect(),
        exclude_operations: vec!["move".into(), "rename".into()],
        pinned: Some(false),
        limit: LOOKED_AT,
        ..Select::default()
    };
    let mut superseded: Vec<String> = Vec::new();
    let mut read = |select: Select| -> Result<Vec<Memory>, StorageError> {
        let mut memories = store.select(&select)?;
        // Summaries repeat them.
        let are_repeated =
            memories.iter().filter(|m| m.superseded_by.is_some() && is_recognised(m));
        superseded.extend(are_repeated.map(|m| between_blanks(&m.content)));
        let is_answer = |m: &Memory| matches!(m.source, MemorySource::ClaudeResponse { .. });
        memories.retain(|m| !given.contains(&m.id) && (m.superseded_by.is_none() || is_answer(m)));
        Ok(memories)
    };
    let pinned = read(Select { pinned: Some(true), limit: LOOKED_AT, ..Select::default() })?;
    let mut decided =
        read(of(&[EpisodeSource::Text, EpisodeSource::Message, EpisodeSource::Json]))?;
    // Notes count as decisions.
    let is_fact = |m: &Memory| {
        is_recognised(m)
            && statements::kind_of(&m.content).is_none_or(|kind| kind == StatementKind::Fact)
    };
    decided.sort_by_key(|m| (is_fact(m), Reverse(m.speaker())));
    let mut answers = read(Select { sources: vec!["claude_response".into()], ..of(&[]) })?;
    let refuted: BTreeSet<Uuid> =
        answers.iter().filter(|m| m.superseded_by.is_some()).map(|m| m.id).collect();
    answers.retain(|m| m.superseded_by.is_none() || is_summary(m));
    answers.retain(|m| !m.is_continued());
    let mut operations = read(of(&[EpisodeSource::GitMetadata]))?;
    // A stash that was taken or dropped since is not put away any more.
    if operations.iter().any(|m| made_stash(m).is_some()) {
        let stashes = stashes(root);
        let is_there = |made: &str| stashes.iter().any(|stash| stash.starts_with(made));
        operations.retain(|m| made_stash(m).is_none_or(is_there));
    }
    let mut reasons = read(of(&[EpisodeSource::GitContext]))?;
    reasons.retain(|m| m.derived_from.iter().all(|id| !refuted.contains(id)));
    let mut files: BTreeSet<String> = BTreeSet::new();
    let mut edits: Vec<Line> = Vec::new();
    let edited = read(of(&[EpisodeSource::FilesystemWatch]))?;
    let undone = undone(edited.iter(), root);
    let edited: Vec<Memory> = edited.into_iter().filter(|m| !undone.contains(&m.id)).collect();
    let all = [&pinned, &decided, &operations, &edited];
    let standing = Standing::of(all.into_iter().flatten(), store, root)?;
    for edit in &edited {
        // A file that was edited twice is shown once.
        if edit.source.file_path().is_none_or(|path| files.insert(path.into())) {
            edits.push(
                Line::new(edit, &named(edit), when(edit.created_at), LINE).with(&standing, edit),
            );
        }
    }
    let is = |m: &&Memory, wanted: ResponseType| matches!(m.source, MemorySource::ClaudeResponse { response_type } if response_type == wanted);
    let last = answers.iter().find(|m| is(m, ResponseType::SessionSummary));
    let significant = answers.iter().filter(|m| is(m, ResponseType::SignificantResponse)).take(2);
    let statement =
        |m: &Memory| Line::new(m, &named(m), source_and_time(m), STATEMENT).with(&standing, m);
    let section =
        |heading, share, candidates| Section { heading, share, candidates, lines: Vec::new() };
    let sections = vec![
        section("Always", 120, pinned.iter().map(statement).collect()),
        section("Decided and noted", 170, decided.iter().map(statement).collect()),
        section("Last session", 120, last.map(summary).into_iter().collect()),
        section(
            "Git",
            70,
            operations
                .iter()
                .filter(|m| !standing.is_rewritten(m))
                .map(|m| operation(m, &reasons).with(&standing, m))
                .collect(),
        ),
        section("Edited by hand", 70, edits),
        section(
            "Answered",
            0,
            significant
                .map(|m| Line::new(m, &statements::rest(m), source_and_time(m), LINE))
                .collect(),
        ),
    ];
    Ok((sections, superseded))
}

impl Line {
    fn new(memory: &Memory, text: &str, source: String, most: usize) -> Self {
        let part = BriefingPart { start: String::new(), text: text.into(), may_be_left_out: true };
        Self { ids: vec![memory.id], parts: vec![part], source, most }
    }

    /// Adds the note for a memory of work that HEAD does not contain.
    fn with(self, standing: &Standing, memory: &Memory) -> Self {
        match standing.note(memory) {
            Some(note) => Self { source: format!("{}; {note}", self.source), ..self },
            None => self,
        }
    }
}

/// Formats the summary of the last session, decisions first.
fn summary(memory: &Memory) -> Line {
    let part = |(start, text): (&str, &str)| BriefingPart {
        start: start.into(),
        text: folded(text),
        may_be_left_out: true,
    };
    // An answer in it says what does not hold.
    let is_refuted = |start: &str| memory.superseded_by.is_some() && start == ANSWERED;
    let parts = parts_of_summary(&memory.content).into_iter();
    let parts = parts.filter(|(start, _)| !is_refuted(start)).map(part).collect();
    Line { ids: vec![memory.id], parts, source: source_and_time(memory), most: SUMMARY }
}

/// Formats a git operation with its reason, if that is known.
fn operation(memory: &Memory, reasons: &[Memory]) -> Line {
    let mut line = Line::new(
        memory,
        &cut(&named(memory), OPERATION),
        source_and_time(memory),
        OPERATION + 3 * WHY,
    );
    let names = |reason: &&Memory| {
        reason.session_id == memory.session_id
            && reason.name.split("; ").any(|name| name == memory.name)
    };
    if let Some(reason) = reasons.iter().find(names) {
        let said = reason.content.lines().skip(1).filter_map(|l| l.split_once(": "));
        let part = |(who, text): (&str, &str)| BriefingPart {
            start: format!("{who}: "),
            text: cut(text, WHY),
            may_be_left_out: true,
        };
        line.parts.extend(said.map(part));
        line.ids.push(reason.id);
    }
    line
}

/// Returns the short id of the stash that an operation made.
fn made_stash(memory: &Memory) -> Option<&str> {
    let is_stash = memory.name.starts_with(&format!("{}:", OperationKind::Stash.text()));
    let (_, rest) = memory.content.lines().find_map(|line| line.split_once(" → "))?;
    is_stash.then(|| rest.split(' ').next().unwrap_or_default())
}

/// Returns the text on one line, after the memory's name if that adds something. Returns only the
/// name of a change of a file.
fn named(memory: &Memory) -> String {
    let content = folded(&memory.content);
    if memory.name.is_empty() || content.contains(&memory.name) {
        content
    } else if memory.source.operation().is_some() {
        memory.name.clone()
    } else {
        format!("{}: {content}", memory.name)
    }
}

fn source_and_time(memory: &Memory) -> String {
    let source = match &memory.source {
        // The text names the file.
        MemorySource::Episode(episode) => episode.source.as_str().into(),
        source => source_of(source),
    };
    format!("{source}, {}", when(memory.created_at))
}

fn when(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%Y-%m-%d").to_string()
}
