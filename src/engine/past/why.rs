//! Says why lines are as they are: the commits that wrote them, and what else speaks of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use chrono::DateTime;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::chunk::ChunkType;
use crate::engine::door::filters::{Filters, Kinds};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::paths::{self, Place};
use crate::engine::door::project::SHORT_WAIT;
use crate::engine::door::reverts::RevertNote;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::impact::Together;
use crate::engine::memory::recall::RecallRequest;
use crate::engine::memory::timeline::MemoryRow;
use crate::engine::past::changes::unanswered;
use crate::engine::past::earlier::LEAST_EVIDENCE;
use crate::engine::read::places::from_disk;
use crate::engine::read::search::{SearchMode, SearchRequest};
use crate::engine::{AskError, Call};
use crate::index::chunk_file;
use crate::source::{
    self, Blame, BlamedCommit, BlamedLine, LineOrigin, MAX_BLAMED_LINES, Passed, PassedCommit,
};
use crate::text::{count, cut, folded, regex};

/// Most commits of an answer.
const MAX_COMMITS: usize = 8;
/// Most lines of a message, and characters of a line.
const MAX_REASONS: usize = 12;
const MAX_REASON_CHARS: usize = 300;
const MAX_SUBJECT_CHARS: usize = 200;
/// Most references of a commit, and most commits that were passed over.
const MAX_REFERENCES: usize = 6;
const MAX_PASSED: usize = 6;
/// Most memories, documents and files that change together.
const MAX_MEMORIES: usize = 2;
const MAX_DOCUMENTS: usize = 2;
const MAX_TOGETHER: usize = 3;
/// Least number of commits that changed both files.
const LEAST_SUPPORT: usize = 2;
/// Digits of a short id.
const SHORT: usize = 9;

/// Asks why lines are as they are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct WhyRequest {
    /// Lines or a symbol: `src/a.rs:12-20,40`, `src/a.rs#Type::method`, `Type::method`.
    pub at: String,
}

/// Why lines are as they are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhyAnswer {
    /// The file, relative to the root.
    pub path: String,
    /// First line that the answer is about, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The commits that wrote the lines, most telling first: those that wrote most of them and whose
    /// messages give a reason.
    pub commits: Vec<WhyCommit>,
    /// Number of these commits, listed or not.
    pub total_commits: usize,
    /// Ranges of lines that are not committed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub uncommitted: Vec<(u32, u32)>,
    /// Memories that speak of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub memories: Vec<MemoryRow>,
    /// Lines of documents that name the symbol, a commit, or an issue of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub documents: Vec<WhyDocument>,
    /// Files that commits changed together with this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub together: Vec<Together>,
    /// What the answer lacks, such as commits before the end of a shallow clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A commit that wrote lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyCommit {
    /// The hash.
    pub id: String,
    /// Its first digits.
    pub short_id: String,
    /// The day, as its author's clock says: 2026-01-31.
    pub date: String,
    /// The author's name.
    pub author: String,
    /// First line of the message.
    pub subject: String,
    /// The lines of the message that give reasons: the rest of it without trailers.
    pub reasons: Vec<String>,
    /// Issues, pull requests and links, as they are written in the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub references: Vec<String>,
    /// The ranges of lines that it wrote.
    pub lines: Vec<(u32, u32)>,
    /// Newer commits that changed these lines, but not their words; newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub passed: Vec<WhyPassed>,
    /// Commits that reverted or reapplied it, and those that it reverted or reapplied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub reverts: Vec<RevertNote>,
    /// Whether the lines may be older: what is before this commit is missing.
    pub may_be_older: bool,
}

/// A commit that changed lines, but not their words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyPassed {
    /// First digits of the hash.
    pub short_id: String,
    /// First line of the message.
    pub subject: String,
    /// formatted, moved, or ignored (`.git-blame-ignore-revs` names it).
    pub how: &'static str,
    /// The file from which it moved the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A line of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyDocument {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// The line.
    pub text: String,
    /// What it names: the symbol, the commit or the issue.
    pub names: String,
}

/// The lines that a question is about.
struct AskedLines {
    path: String,
    /// The ranges of lines, in order.
    ranges: Vec<(u32, u32)>,
    symbol: Option<String>,
}

impl Engine {
    /// Finds the commits that wrote lines, and what else speaks of them. Without an index, git alone
    /// answers.
    ///
    /// # Errors
    /// When the file, lines or symbol do not exist, or there is no repository that can be asked.
    pub fn why(&self, request: &WhyRequest, call: &Call) -> Result<WhyAnswer, AskError> {
        let view = if self.project.layout.is_indexed() { self.view(call).ok() } else { None };
        call.check()?;
        let mut state = view.as_ref().map(|view| view.state.clone()).unwrap_or_default();
        if view.is_none() {
            state.warnings.push("there is no index: git alone answers".into());
        }
        let (asked, note) = self.lines_asked(&request.at, view.as_ref())?;
        state = state.warning_first(note);
        let root = self.project.layout.root();
        // This decides whether the file may be shown. The comparison needs its exact text.
        from_disk(&self.project, &asked.path)?;
        let text =
            source::read_exact(root, &asked.path).map_err(|e| AskError::Failed(e.to_string()))?;
        let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let first = asked.ranges.first().map_or(1, |range| range.0);
        if let Some((beyond, _)) = asked.ranges.iter().find(|range| range.0 > n_lines) {
            return Err(AskError::NotFound(format!(
                "`{}` has no line {beyond}: it has {}",
                asked.path,
                count(n_lines as usize, "line")
            )));
        }
        let (mut blame, mut end_line) = (Blame::default(), first);
        for (first, last) in &asked.ranges {
            let last = *last.min(&n_lines);
            let next = source::blame(root, &asked.path, &text, (*first, last));
            let next = next.map_err(|e| unanswered(e, "who wrote the lines"))?;
            call.check()?;
            blame.append(next);
            end_line = last.min(first.saturating_add(MAX_BLAMED_LINES - 1));
            if end_line < last {
                state.warnings.push(format!("only lines {first}-{end_line} were looked at"));
            }
        }
        let mut commits = commits(&blame);
        let total_commits = commits.len();
        commits.truncate(MAX_COMMITS);
        let uncommitted = blame.lines.iter().filter(|line| line.origin == LineOrigin::Uncommitted);
        if view.is_some() {
            self.note_reverts(&mut commits);
        }
        let (memories, documents, together) = match &view {
            Some(view) => (
                self.memories_about(&asked, &commits, call),
                self.documents_about(&asked, &commits, call),
                self.together_with(&asked.path, view),
            ),
            None => (Vec::new(), Vec::new(), Vec::new()),
        };
        Ok(WhyAnswer {
            uncommitted: ranges(uncommitted.map(|line| line.line)),
            path: asked.path,
            start_line: first,
            end_line,
            commits,
            total_commits,
            memories,
            documents,
            together,
            missing: blame.missing,
            state: state.in_brief(call),
        })
    }

    /// Finds the lines that somebody means.
    fn lines_asked(
        &self,
        at: &str,
        view: Option<&View>,
    ) -> Result<(AskedLines, Option<String>), AskError> {
        let address = Address::parse(at);
        let no_lines = |path: &str| {
            AskError::Arguments(format!(
                "`{path}` names a file: give lines of it ({path}:12-20) or a symbol ({path}#name)"
            ))
        };
        if let Some(view) = view {
            match paths::place(&self.project, &view.code.corpus, at) {
                Ok(place) => {
                    let ranges = ordered(place.ranges());
                    let Place { path, note, .. } = place;
                    if ranges.is_empty() {
                        return Err(no_lines(&path));
                    }
                    return Ok((AskedLines { path, ranges, symbol: address.symbol }, note));
                }
                // Git knows files that are not in the index.
                Err(e) if address.lines.is_none() => return Err(e),
                Err(_) => {}
            }
        }
        let root = self.project.layout.root();
        let below = self.project.folder.join(&address.path);
        let below = below.to_str().and_then(|below| paths::normal(root, below).ok());
        let is_there = |path: &String| self.project.layout.tree().has_file(path);
        let path = match below.filter(is_there) {
            Some(path) => path,
            None => paths::normal(root, &address.path)?,
        };
        if !is_there(&path) {
            return Err(AskError::NotFound(format!("`{path}` does not exist")));
        }
        let ranges = match (&address.symbol, address.lines) {
            (_, Some(_)) => ordered(address.ranges().collect()),
            (Some(symbol), None) => {
                let text = from_disk(&self.project, &path)?;
                let chunks: Vec<_> =
                    chunk_file(&path, &text).into_iter().map(std::sync::Arc::new).collect();
                vec![paths::lines_of(&chunks, &path, symbol, || "give its lines".into())?]
            }
            (None, None) => return Err(no_lines(&path)),
        };
        Ok((AskedLines { path, ranges, symbol: address.symbol }, None))
    }

    /// Notes which commits were reverted or reapplied, unless the history cannot be read.
    fn note_reverts(&self, commits: &mut [WhyCommit]) {
        let first = || self.tell_of_commits();
        let Ok(all) = self.commits.up_to_date(&self.project, SHORT_WAIT, &first) else { return };
        for commit in commits {
            commit.reverts = all.notes_on(&commit.id);
        }
    }

    /// Finds the memories that speak of the lines; none if they cannot be read.
    fn memories_about(
        &self,
        asked: &AskedLines,
        commits: &[WhyCommit],
        call: &Call,
    ) -> Vec<MemoryRow> {
        if !self.remembers() {
            return Vec::new();
        }
        let subject = commits.first().map(|commit| commit.subject.clone()).unwrap_or_default();
        let symbol = asked.symbol.clone().unwrap_or_default();
        let question = format!("{symbol} {} {subject}", asked.path);
        let found = self.recall(&RecallRequest::about(&question, MAX_MEMORIES), call);
        let found = found.map(|answer| answer.results).unwrap_or_default();
        let near = found.iter().filter(|found| found.evidence >= LEAST_EVIDENCE);
        near.map(MemoryRow::new).collect()
    }

    /// Finds lines of documents that name a commit, an issue of it, or the symbol.
    fn documents_about(
        &self,
        asked: &AskedLines,
        commits: &[WhyCommit],
        call: &Call,
    ) -> Vec<WhyDocument> {
        let Some(commit) = commits.first() else { return Vec::new() };
        let names = commit.references.iter().filter(|name| !name.contains("://")).take(2).cloned();
        let names = names.chain([commit.short_id.clone()]).chain(asked.symbol.clone());
        let mut documents: Vec<WhyDocument> = Vec::new();
        for name in names {
            let request = SearchRequest {
                query: format!("\"{}\"", name.trim_start_matches('#').replace('"', " ")),
                mode: SearchMode::Exact,
                limit: 3 * MAX_DOCUMENTS,
                filters: Filters {
                    kinds: Kinds { types: vec![ChunkType::Documentation], languages: Vec::new() },
                    ..Filters::default()
                },
                ..SearchRequest::default()
            };
            let Ok(found) = self.search(&request, call) else { continue };
            for row in found.results {
                let Some(path) = row.path.filter(|path| *path != asked.path) else { continue };
                let first = row.chunk.start_line.unwrap_or(1);
                let last = row.chunk.end_line.unwrap_or(first);
                let Ok(text) = self.project.read_text(&path) else { continue };
                let lines = (1..).zip(text.lines()).filter(|(n, _)| (first..=last).contains(n));
                let line = lines.into_iter().find(|(_, line)| is_named(line, &name));
                let Some((line, text)) = line else { continue };
                if documents.len() < MAX_DOCUMENTS && documents.iter().all(|d| d.path != path) {
                    let text = cut(&folded(text), MAX_REASON_CHARS);
                    documents.push(WhyDocument { path, line, text, names: name.clone() });
                }
            }
        }
        documents
    }

    /// Returns the files that usually change together with a file.
    fn together_with(&self, path: &str, view: &View) -> Vec<Together> {
        let together = view.code.corpus.changed_together(&[path]).into_iter();
        let together = together
            .filter(|file| file.support >= LEAST_SUPPORT && self.project.has_file(&file.path));
        together.take(MAX_TOGETHER).map(Together::from).collect()
    }
}

/// Whether a text has a name as a whole: `#12` is not in `#123`.
fn is_named(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let is_inside = before.is_some_and(is_word) && name.starts_with(is_word);
        !(is_inside || after.is_some_and(is_word))
    })
}

/// Returns the commits that wrote lines, most telling first.
fn commits(blame: &Blame) -> Vec<WhyCommit> {
    let mut by_commit: BTreeMap<&str, Vec<&BlamedLine>> = BTreeMap::new();
    for line in &blame.lines {
        if let LineOrigin::Commit(id) | LineOrigin::AtLeast(id) = &line.origin {
            by_commit.entry(id).or_default().push(line);
        }
    }
    let mut commits: Vec<(usize, usize, WhyCommit)> = by_commit
        .into_iter()
        .filter_map(|(id, lines)| {
            let commit = blame.commits.get(id)?;
            let row = row(commit, &lines, &blame.commits);
            // A reason counts as much as twice the lines.
            let weight = lines.len() * if row.reasons.is_empty() { 1 } else { 2 };
            Some((weight, commit.age, row))
        })
        .collect();
    commits.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    commits.into_iter().map(|(.., row)| row).collect()
}

fn row(
    commit: &BlamedCommit,
    lines: &[&BlamedLine],
    all: &HashMap<String, BlamedCommit>,
) -> WhyCommit {
    let mut passed: Vec<WhyPassed> = Vec::new();
    for PassedCommit { id, how } in lines.iter().flat_map(|line| &line.passed) {
        let (how, from) = match how {
            Passed::Formatted => ("formatted", None),
            Passed::Moved(from) => ("moved", Some(from.clone())),
            Passed::Ignored => ("ignored", None),
        };
        let subject = all.get(id).map(|commit| commit.subject.as_str()).unwrap_or_default();
        let subject = cut(subject, MAX_SUBJECT_CHARS);
        let row = WhyPassed { short_id: short(id), subject, how, from };
        if passed.len() < MAX_PASSED && !passed.contains(&row) {
            passed.push(row);
        }
    }
    let date = DateTime::from_timestamp(commit.at, 0);
    WhyCommit {
        id: commit.id.clone(),
        short_id: short(&commit.id),
        date: date.map(|at| at.format("%Y-%m-%d").to_string()).unwrap_or_default(),
        author: commit.author.clone(),
        subject: cut(&commit.subject, MAX_SUBJECT_CHARS),
        reasons: reasons(&commit.body),
        references: references(&format!("{}\n{}", commit.subject, commit.body)),
        lines: ranges(lines.iter().map(|line| line.line)),
        passed,
        reverts: Vec::new(),
        may_be_older: lines.iter().any(|l| matches!(l.origin, LineOrigin::AtLeast(_))),
    }
}

fn short(id: &str) -> String {
    id.get(..SHORT).unwrap_or(id).to_string()
}

/// Returns the lines of a message that say something: not its trailers.
fn reasons(body: &str) -> Vec<String> {
    static TRAILER: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^(?i:[a-z]+(-[a-z]+)*-by|cc|change-id|fixes|closes|resolves|refs?|see-also|link|bug|pr-url|git-svn-id|changelog|release-note|x-[a-z-]+): ?\S|^(?i)(close[sd]?|fix(e[sd])?|resolve[sd]?) #?\S+\.?$",
        )
    });
    let is_said = |line: &&str| line.chars().any(char::is_alphanumeric) && !TRAILER.is_match(line);
    let lines = body.lines().map(str::trim).filter(is_said).take(MAX_REASONS);
    lines.map(|line| cut(line, MAX_REASON_CHARS)).collect()
}

/// Returns the issues, pull requests and links of a message, as they are written.
fn references(message: &str) -> Vec<String> {
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"https?://[^\s<>()]{1,200}|\b(?:[\w.-]+/[\w.-]+)?#\d{1,9}\b|\bGH-\d{1,9}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,9}\b",
        )
    });
    static HASH: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[\s(\[,:])(#\d{1,9})\b"));
    /// Standards and algorithms look like issues.
    const STANDARDS: [&str; 9] =
        ["UTF-", "SHA-", "ISO-", "RFC-", "MD-", "AES-", "BASE-", "UCS-", "CP-"];
    let mut found: Vec<String> = Vec::new();
    let hashes = HASH.captures_iter(message).filter_map(|found| found.get(1));
    let mut all: Vec<regex::Match> = hashes.chain(REFERENCE.find_iter(message)).collect();
    all.sort_by_key(regex::Match::start);
    for reference in all {
        let text = reference.as_str().trim_end_matches(['.', ',', ';', ':']);
        let is_standard = STANDARDS.iter().any(|standard| text.starts_with(standard));
        if found.len() < MAX_REFERENCES && !is_standard && !found.iter().any(|f| f == text) {
            found.push(text.to_string());
        }
    }
    found
}

/// Orders ranges. Those that touch or overlap become one.
fn ordered(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let is_joined = next.0 <= before.1.saturating_add(1);
        before.1 = if is_joined { before.1.max(next.1) } else { before.1 };
        is_joined
    });
    ranges
}

/// Joins line numbers, in order, to ranges.
fn ranges(lines: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == line => last.1 = line,
            _ => ranges.push((line, line)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_gives_reasons_and_names_issues() {
        let body = "The server drops the first request after a pause,\nso we ask again (GH-7, UTF-8).\n\nFixes #12\nSigned-off-by: A <a@b.c>\nReviewed-by: B";
        assert_eq!(
            reasons(body),
            ["The server drops the first request after a pause,", "so we ask again (GH-7, UTF-8)."]
        );
        let message = format!("retry twice (#123)\n{body}\nNET-4 https://x.org/i/5.");
        assert_eq!(references(&message), ["#123", "GH-7", "#12", "NET-4", "https://x.org/i/5"]);
        assert!(is_named("- retry (#12)", "#12") && !is_named("- retry (#123)", "#12"));
    }
}
