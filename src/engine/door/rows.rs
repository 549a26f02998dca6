//! The rows of an answer that stand for hits and chunks.

use std::cmp::Reverse;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::chunk::{Chunk, ChunkSet, Entry, Origin};
use crate::excerpt::{Excerpt, Excerpts, Label};
use crate::search::{Hit, Term};

/// One result: a file and its best place. A file may have a second result with another place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResultRow {
    /// The project, if several were asked. `cortex_read` takes it as `repo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(flatten)]
    pub chunk: ChunkRow,
    /// Higher is better; comparable only within one reply.
    pub score: f64,
    /// The lines of the file that match best.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub excerpts: Vec<ExcerptRow>,
    /// The whole text of the chunk; only on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub text: Option<String>,
    /// The line of the file at which `text` begins, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub text_start_line: Option<u32>,
    /// Other chunks of the file that match; over MCP and HTTP only with `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub others: Vec<ChunkRow>,
    /// The parts that add up to the score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub explain: Vec<ScorePart>,
    /// With `explain`: the commit whose message speaks most for the file, for example `4f2a1c3: do
    /// not hold the lock while writing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
    /// How its path begins, if it is in a package of others, which has its own root.
    #[serde(skip)]
    pub package: Option<String>,
    /// The hit that the row describes.
    #[serde(skip)]
    pub hit: Arc<Hit>,
    /// The chunks of the hit.
    #[serde(skip)]
    parts: Arc<[HitPart]>,
    /// Which of them the row shows, if it is not the best one.
    #[serde(skip)]
    shown: Option<usize>,
}

/// Where a chunk of a hit is.
#[derive(Debug)]
struct HitPart {
    /// First and last line, 1-based.
    lines: Option<(u32, u32)>,
    /// Position among the chunks of the file.
    position: Option<usize>,
}

impl HitPart {
    fn new(entry: &Entry, set: &ChunkSet) -> Self {
        let lines = entry.chunk().and_then(|c| c.metadata.start_line.zip(c.metadata.end_line));
        Self { lines, position: set.place_in_file(&entry.id).map(|place| place.0) }
    }

    /// Number of these lines that it holds; `None` if it holds none.
    fn shared(&self, (first, last): (u32, u32)) -> Option<u32> {
        let (start, end) = self.lines?;
        (end.min(last) + 1).checked_sub(start.max(first)).filter(|n| *n > 0)
    }
}

/// Returns a path or an id below the folder of its package.
fn below(package: Option<&str>, path: &str) -> String {
    package.map_or_else(|| path.to_string(), |package| format!("{package}/{path}"))
}

/// The lines shown of one symbol, or of code or text outside symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcerptRow {
    /// First line of the symbol, 1-based.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Qualified name, or heading path.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    pub symbol: String,
    /// Its kind, for example function.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    pub kind: String,
    /// Adjacent lines, in order. Lines between two windows are left out.
    pub windows: Vec<Window>,
    /// What the code graph knows of the symbol: `used by a, b +3 · tests t · calls x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
}

/// Adjacent lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Window {
    /// 1-based.
    pub start_line: u32,
    /// The lines, separated by line feeds.
    pub text: String,
}

/// A chunk: its place, name and type.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChunkRow {
    /// First line, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// Last line, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// Symbol or heading path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Kind of the symbol, for example function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Title, if there is no symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Language, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// symbols, definitions, data or documentation.
    pub chunk_type: &'static str,
    /// generated (a program wrote the file) or vendored (another project did), if it is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'static str>,
    /// Whether the file was deleted; the chunk is its last content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Id for `cortex_read` and `cortex_related`.
    pub chunk_id: String,
    /// Position among the chunks of the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_index: Option<usize>,
    /// Number of chunks of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_chunks: Option<usize>,
}

/// One part of a score.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScorePart {
    /// Name of the ranking feature.
    pub feature: &'static str,
    /// Value of the feature.
    pub value: f64,
    /// Weight of the feature.
    pub weight: f64,
    /// `value` × `weight`, which is added to the score.
    pub contribution: f64,
}

impl ResultRow {
    /// Creates the row of a hit. `set` holds all chunks of the corpus that was searched.
    pub(crate) fn new(hit: Arc<Hit>, set: &ChunkSet, explain: bool) -> Self {
        let part = |t: &Term| ScorePart {
            feature: t.feature,
            value: t.value,
            weight: t.weight,
            contribution: t.contribution(),
        };
        Self {
            repo: None,
            package: None,
            path: hit.chunk.metadata.file_path.clone(),
            chunk: ChunkRow::new(&hit.chunk, set).at(hit.lines),
            score: hit.score,
            excerpts: Vec::new(),
            text: None,
            text_start_line: None,
            others: hit
                .others
                .iter()
                .filter_map(|entry| entry.chunk())
                .map(|chunk| ChunkRow::new(&chunk, set))
                .collect(),
            changed_by: hit
                .changed_by
                .as_ref()
                .filter(|_| explain || hit.said_by_commit() >= TELLING)
                .and_then(|e| changed_by(e)),
            explain: if explain { hit.terms.iter().map(part).collect() } else { Vec::new() },
            parts: hit.parts.iter().map(|(entry, _)| HitPart::new(entry, set)).collect(),
            shown: None,
            hit,
        }
    }

    /// Moves it into a package of others, whose paths begin with `label`.
    pub(in crate::engine) fn in_package(mut self, label: &str) -> Self {
        self.repo = None;
        self.package = Some(label.to_string());
        self.path = self.path.map(|path| below(self.package.as_deref(), &path));
        for chunk in std::iter::once(&mut self.chunk).chain(&mut self.others) {
            chunk.chunk_id = below(self.package.as_deref(), &chunk.chunk_id);
        }
        self
    }

    /// Names its project.
    pub(in crate::engine) fn of_project(self, name: &str) -> Self {
        Self { repo: Some(name.to_string()), ..self }
    }

    /// Returns its path, or the id of a chunk without one.
    #[must_use]
    pub fn place(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.chunk.chunk_id)
    }

    /// Returns its path, or the id of a chunk without one, after the name of its project if several
    /// were asked: `helix:src/a.rs`.
    #[must_use]
    pub fn address(&self) -> String {
        let path = self.place();
        self.repo.as_ref().map_or_else(|| path.to_string(), |repo| format!("{repo}:{path}"))
    }

    /// Marks the row if its file is gone, though nobody has indexed that yet.
    pub(crate) fn unless_gone(mut self, is_there: &dyn Fn(&str) -> bool) -> Self {
        self.chunk.deleted |= self.path.as_deref().is_some_and(|path| !is_there(path));
        self
    }

    /// Returns the first rows with their excerpts after `level` additions to the reply.
    #[must_use]
    pub fn at(rows: &[Self], excerpts: &Excerpts, level: usize) -> Vec<Self> {
        let excerpts = excerpts.at(level).into_iter();
        let with = |(row, excerpts): (&Self, Vec<Excerpt>)| Self {
            others: if row.explain.is_empty() { Vec::new() } else { row.others.clone() },
            ..row.clone().showing(excerpts.into_iter().map(ExcerptRow::from).collect())
        };
        rows.iter().zip(excerpts).map(with).collect()
    }

    /// Returns rows that show the place that answers best, and at most `n_lines` of it. Lines that
    /// say nothing do not count.
    #[must_use]
    pub fn best(rows: Vec<Self>, excerpts: &Excerpts, n_lines: usize) -> Vec<Self> {
        let with = |(i, row): (usize, Self)| {
            let best = excerpts.best(i, n_lines).map(ExcerptRow::from);
            let mut row = row.showing(best.into_iter().collect());
            row.excerpts.retain(|excerpt| !excerpt.windows.is_empty());
            row
        };
        rows.into_iter().enumerate().map(with).collect()
    }

    /// Returns rows of which the first `n` share a screen of about `n_lines` lines.
    #[must_use]
    pub fn screen(rows: Vec<Self>, excerpts: &Excerpts, n: usize, n_lines: usize) -> Vec<Self> {
        let named = |row: &Self| (row.hit.line, row.hit.definition.is_some());
        let named: Vec<(Option<u32>, bool)> = rows.iter().take(n).map(named).collect();
        let mut shown = excerpts.screen(&named, n_lines).into_iter();
        let of_row = |row: Self| {
            let excerpts = shown.next().unwrap_or_default();
            row.showing(excerpts.into_iter().map(ExcerptRow::from).collect())
        };
        rows.into_iter().map(of_row).collect()
    }

    /// Shows excerpts, and names the place of the first.
    fn showing(mut self, excerpts: Vec<ExcerptRow>) -> Self {
        if let Some(first) = excerpts.first() {
            let (m, chunk) = (&self.hit.chunk.metadata, &mut self.chunk);
            // The text of another program may be shorter than the lines that it is about.
            let stated = m.end_line.filter(|_| m.start_line == Some(first.start_line));
            let n_lines = u32::try_from(self.hit.chunk.text.lines().count()).unwrap_or(u32::MAX);
            let is_part = |end: &u32| first.start_line.saturating_add(n_lines) <= *end;
            let end_line = stated.filter(is_part).unwrap_or(first.end_line);
            (chunk.start_line, chunk.end_line) = (Some(first.start_line), Some(end_line));
            let shared = |part: &HitPart| part.shared((first.start_line, first.end_line));
            let of_place =
                self.parts.iter().enumerate().filter_map(|(at, p)| Some((shared(p)?, at)));
            // Of equal ones the first, which is the best.
            if let Some((_, at)) = of_place.max_by_key(|(n, at)| (*n, Reverse(*at))) {
                chunk.chunk_id = below(self.package.as_deref(), &self.hit.parts[at].0.id);
                chunk.chunk_index = self.parts[at].position;
                self.shown = Some(at);
            }
            let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
            (chunk.symbol, chunk.kind) = (named(&first.symbol), named(&first.kind));
        }
        self.excerpts = excerpts;
        self
    }

    /// Adds the whole text of the chunk.
    #[must_use]
    pub fn with_text(self) -> Self {
        let shown = self.shown.and_then(|at| self.hit.parts[at].0.chunk());
        let chunk = shown.as_ref().unwrap_or(&self.hit.chunk);
        let (text, start_line) = (Some(chunk.text.clone()), chunk.metadata.start_line);
        Self { text, text_start_line: start_line, ..self }
    }
}

/// A commit that holds this share of the question is shown with the file.
const TELLING: f64 = 0.5;
/// Number of digits of a commit that are shown.
const COMMIT_DIGITS: usize = 7;

/// Returns the commit and the first line of its message.
fn changed_by(commit: &Entry) -> Option<String> {
    let chunk = commit.chunk()?;
    let id = chunk.id.strip_prefix("commit:").unwrap_or(&chunk.id);
    Some(format!("{}: {}", id.get(..COMMIT_DIGITS).unwrap_or(id), chunk.title))
}

impl From<Excerpt> for ExcerptRow {
    fn from(excerpt: Excerpt) -> Self {
        let mut windows: Vec<Window> = Vec::new();
        let mut next = None;
        for (number, line) in excerpt.shown {
            match windows.last_mut().filter(|_| next == Some(number)) {
                Some(window) => window.text = format!("{}\n{line}", window.text),
                None => windows.push(Window { start_line: number, text: line }),
            }
            next = Some(number + 1);
        }
        let ((start_line, end_line), Label { name, kind, .. }) = (excerpt.lines, excerpt.label);
        Self { start_line, end_line, symbol: name, kind, windows, beside: None }
    }
}

impl ExcerptRow {
    /// Returns the only line that is shown, with its number.
    #[must_use]
    pub fn only_line(&self) -> Option<(u32, &str)> {
        match &*self.windows {
            [window] if !window.text.contains('\n') => Some((window.start_line, &window.text)),
            _ => None,
        }
    }
}

impl Window {
    /// Returns the number of its last line.
    #[must_use]
    pub fn end_line(&self) -> u32 {
        let n = self.text.matches('\n').count();
        self.start_line.saturating_add(u32::try_from(n).unwrap_or(u32::MAX))
    }
}

impl ChunkRow {
    /// Returns what a heading says about the file, for example ` (generated)`.
    #[must_use]
    pub fn marks(&self) -> String {
        let origin = self.origin.map(|origin| format!(" ({origin})")).unwrap_or_default();
        origin + if self.deleted { " (deleted)" } else { "" }
    }

    pub(in crate::engine) fn new(chunk: &Chunk, set: &ChunkSet) -> Self {
        let m = &chunk.metadata;
        let place = set.place_in_file(&chunk.id);
        let title = Some(&chunk.title)
            .filter(|t| m.symbol.is_none() && !t.is_empty() && m.file_path.as_ref() != Some(*t));
        Self {
            start_line: m.start_line,
            end_line: m.end_line,
            symbol: m.symbol.clone(),
            kind: m
                .names
                .iter()
                .find(|n| Some(&n.name) == m.symbol.as_ref())
                .map(|n| n.kind.clone()),
            title: title.cloned(),
            language: m.language.clone(),
            chunk_type: chunk.chunk_type.as_str(),
            origin: Some(m.origin()).filter(|o| *o != Origin::Ordinary).map(Origin::as_str),
            deleted: m.is_deleted(),
            chunk_id: chunk.id.to_string(),
            chunk_index: place.map(|p| p.0),
            total_chunks: place.map(|p| p.1),
        }
    }

    /// Replaces the chunk's lines by those of the function or section that it belongs to.
    fn at(self, lines: Option<(u32, u32)>) -> Self {
        Self { start_line: lines.map(|l| l.0), end_line: lines.map(|l| l.1), ..self }
    }
}
