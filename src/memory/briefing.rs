//! What a session is told when it begins: what is pinned, what was decided, what happened since; a
//! line each, with its source.

use std::collections::BTreeSet;

use chrono::{DateTime, Local, Utc};
use uuid::Uuid;

use super::recall::{DATA, source_of};
use super::statements::{self, StatementKind, is_recognised};
use super::summary::{DECIDED, parts_of_summary};
use super::{EpisodeSource, Memory, MemorySource, MemoryStore, ResponseType, Select, StorageError};
use crate::source::printable;
use crate::text::{bytes_of_tokens, cut_at_word as cut, folded, tokens};

/// Most memories of a briefing (D5).
const MOST: usize = 20;
/// Memories of each section that are looked at.
const LOOKED_AT: usize = 100;
/// Longest line, in bytes.
const LINE: usize = 240;
/// Longest statement, and longest summary of a session.
const STATEMENT: usize = 420;
const SUMMARY: usize = 900;
/// What of an operation of git is told, and of each part of the reason for it.
const OPERATION: usize = 160;
const WHY: usize = 110;
/// A line is not cut to less than this, but left out.
const LEAST: usize = 80;

const CLOSING: &str = "More: search_memory_nodes, or `cortex memory search`.\n";

/// A heading, and what stands below it.
struct Section {
    heading: &'static str,
    /// What it may take while others are waiting, in tokens; the rest of the budget is shared out
    /// in the order of sections.
    share: usize,
    /// The best first.
    candidates: Vec<Line>,
    lines: Vec<String>,
}

/// What may be told in a line.
struct Line {
    /// The memories that it is of.
    ids: Vec<Uuid>,
    /// What is said; what was told already is left out.
    parts: Vec<Part>,
    /// `text, 2026-01-31`
    source: String,
    /// Longest, in bytes.
    most: usize,
}

struct Part {
    /// `Asked: `
    start: String,
    text: String,
    /// Whether another part that says the same is enough.
    may_be_left_out: bool,
}

/// What a session should know that was given `given` already, in at most so many tokens, and which
/// memories that are. Empty when there is nothing to tell.
///
/// # Errors
/// When the memories cannot be read.
pub fn briefing(
    store: &MemoryStore,
    given: &[Uuid],
    max_tokens: usize,
) -> Result<(String, Vec<Uuid>), StorageError> {
    let mut sections = sections(store, given)?;
    let mut budget = Budget {
        left: max_tokens.saturating_sub(tokens(DATA) + tokens(CLOSING) + 2),
        n: 0,
        known: Vec::new(),
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

/// What is left, and what was told of it.
struct Budget {
    /// Tokens.
    left: usize,
    /// Lines.
    n: usize,
    /// Keys of what was said, each between blanks.
    known: Vec<String>,
    told: Vec<Uuid>,
}

impl Budget {
    /// Moves candidates of a section to its lines as long as they fit.
    fn fill(&mut self, section: &mut Section, share: usize) {
        let mut spent = 0;
        while let Some(line) = section.candidates.first() {
            let heading = if section.lines.is_empty() { tokens(section.heading) + 1 } else { 0 };
            let room = self.left.min(share.saturating_sub(spent)).saturating_sub(heading);
            let parts: Vec<&Part> = line
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

    /// Whether a text was said, perhaps as a part of another.
    fn is_known(&self, text: &str) -> bool {
        let key = between_blanks(text);
        self.known.iter().any(|known| known.contains(&key))
    }
}

fn between_blanks(text: &str) -> String {
    format!(" {} ", statements::key(text))
}

impl Line {
    /// `> We keep the cache in one file (text, 2026-01-31)`, in at most so many tokens; `None`
    /// where too little of it would be left.
    fn text(&self, parts: &[&Part], max_tokens: usize) -> Option<String> {
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

/// In the order in which they are told and claim the budget.
fn sections(store: &MemoryStore, given: &[Uuid]) -> Result<Vec<Section>, StorageError> {
    let of = |sources: &[EpisodeSource]| Select {
        sources: sources.iter().map(|s| s.as_str().into()).collect(),
        exclude_operations: vec!["move".into(), "rename".into()],
        pinned: Some(false),
        limit: LOOKED_AT,
        ..Select::default()
    };
    let read = |select: Select| -> Result<Vec<Memory>, StorageError> {
        let mut memories = store.select(&select)?;
        memories.retain(|m| !given.contains(&m.id));
        Ok(memories)
    };
    let pinned = read(Select { pinned: Some(true), limit: LOOKED_AT, ..Select::default() })?;
    let mut decided =
        read(of(&[EpisodeSource::Text, EpisodeSource::Message, EpisodeSource::Json]))?;
    // What a person noted counts as what was decided.
    decided.sort_by_key(
        |m| if is_recognised(m) { statements::kind_of(&m.content).unwrap_or(StatementKind::Fact) } else { StatementKind::Decision } == StatementKind::Fact,
    );
    let mut answers = read(Select { sources: vec!["claude_response".into()], ..of(&[]) })?;
    answers.retain(|m| !m.is_continued());
    let operations = read(of(&[EpisodeSource::GitMetadata]))?;
    let reasons = read(of(&[EpisodeSource::GitContext]))?;
    let mut files: BTreeSet<String> = BTreeSet::new();
    let mut edits: Vec<Line> = Vec::new();
    for edit in read(of(&[EpisodeSource::FilesystemWatch]))? {
        // A file that was edited twice is told once.
        if edit.source.file_path().is_none_or(|path| files.insert(path.into())) {
            edits.push(Line::new(&edit, &named(&edit), when(edit.created_at), LINE));
        }
    }
    let is = |m: &&Memory, wanted: ResponseType| matches!(m.source, MemorySource::ClaudeResponse { response_type } if response_type == wanted);
    let last = answers.iter().find(|m| is(m, ResponseType::SessionSummary));
    let significant = answers.iter().filter(|m| is(m, ResponseType::SignificantResponse)).take(2);
    let statement = |m: &Memory| Line::new(m, &named(m), source_and_time(m), STATEMENT);
    let section =
        |heading, share, candidates| Section { heading, share, candidates, lines: Vec::new() };
    Ok(vec![
        section("Always", 120, pinned.iter().map(statement).collect()),
        section("Decided and noted", 170, decided.iter().map(statement).collect()),
        section("Last session", 120, last.map(summary).into_iter().collect()),
        section("Git", 70, operations.iter().map(|m| operation(m, &reasons)).collect()),
        section("Edited by hand", 70, edits),
        section(
            "Answered",
            0,
            significant
                .map(|m| Line::new(m, &statements::rest(m), source_and_time(m), LINE))
                .collect(),
        ),
    ])
}

impl Line {
    fn new(memory: &Memory, text: &str, source: String, most: usize) -> Self {
        let part = Part { start: String::new(), text: text.into(), may_be_left_out: true };
        Self { ids: vec![memory.id], parts: vec![part], source, most }
    }
}

/// The last session: what was decided in it first.
fn summary(memory: &Memory) -> Line {
    let part = |(start, text): (&str, &str)| Part {
        start: start.into(),
        text: folded(text),
        may_be_left_out: true,
    };
    let mut parts: Vec<Part> = parts_of_summary(&memory.content).into_iter().map(part).collect();
    // What an older version wrote has them anywhere.
    parts.sort_by_key(|p| p.start != DECIDED);
    Line { ids: vec![memory.id], parts, source: source_and_time(memory), most: SUMMARY }
}

/// An operation of git, and why the agent was asked for it, where that is known.
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
        let part = |(who, text): (&str, &str)| Part {
            start: format!("{who}: "),
            text: cut(text, WHY),
            may_be_left_out: true,
        };
        line.parts.extend(said.map(part));
        line.ids.push(reason.id);
    }
    line
}

/// Its text on one line, with its name where that says more.
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
        // Its text names the file.
        MemorySource::Episode(episode) => episode.source.as_str().into(),
        source => source_of(source),
    };
    format!("{source}, {}", when(memory.created_at))
}

fn when(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%Y-%m-%d").to_string()
}
