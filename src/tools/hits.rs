//! Hits as rows of a reply: as many as fit, each with as much of its text as fits.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ToolError, printable};
use crate::chunk::{Chunk, ChunkSet};
use crate::search::{Highlighter, Hit, Marked, Results};

/// Most lines of a snippet.
const MAX_LINES: usize = 10;
/// Most bytes of a snippet's line.
const MAX_LINE: usize = 160;
/// What is shown before the first mark of a line that is cut.
const LEAD: usize = 40;

/// One result: a file, by its best chunk.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Row {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    #[serde(flatten)]
    pub(super) span: Span,
    /// Higher is better; comparable within one reply.
    pub(super) score: f64,
    /// The lines with most of the words asked for, numbered.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    /// Other matching lines of the file and what they define.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    /// What the score is the sum of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explain: Vec<Part>,
}

/// What a chunk is and where it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Span {
    /// First line, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    /// Last line, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    /// Symbol or heading path.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    /// When there is no symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// symbols, definitions, data or documentation.
    chunk_type: &'static str,
    /// The file was deleted; this is what it held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    /// For `cortex_read` and `cortex_related`.
    pub(super) chunk_id: String,
    /// Which chunk of the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_index: Option<usize>,
    /// How many the file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_chunks: Option<usize>,
}

/// One part of a score.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Part {
    /// Of the ranking.
    feature: &'static str,
    /// How much of it there is.
    value: f64,
    /// What one of it is worth.
    weight: f64,
}

impl Span {
    pub(super) fn new(chunk: &Chunk, set: &ChunkSet) -> Self {
        let m = &chunk.metadata;
        let place = set.place_in_file(&chunk.id);
        let title = Some(&chunk.title).filter(|t| m.symbol.is_none() && !t.is_empty() && m.file_path.as_ref() != Some(*t));
        Self {
            start_line: m.start_line,
            end_line: m.end_line,
            symbol: m.symbol.clone(),
            title: title.cloned(),
            language: m.language.clone(),
            chunk_type: chunk.chunk_type.as_str(),
            deleted: m.is_deleted(),
            chunk_id: chunk.id.to_string(),
            chunk_index: place.map(|p| p.0),
            total_chunks: place.map(|p| p.1),
        }
    }

    /// The same chunk as a part of what stands at these lines.
    fn at(self, lines: Option<(u32, u32)>) -> Self {
        Self { start_line: lines.map(|l| l.0), end_line: lines.map(|l| l.1), ..self }
    }

    /// `src/a.rs:3-9 Type::name`; the id where there is no file.
    pub(super) fn place(&self, path: Option<&str>) -> String {
        let lines = lines(self.start_line, self.end_line).map(|l| format!(":{l}")).unwrap_or_default();
        let what = self.symbol.as_deref().or(self.title.as_deref()).unwrap_or_default();
        printable(format!("{}{lines} {what}", path.unwrap_or(&self.chunk_id)).trim_end())
    }
}

/// `3-9`, `3`
pub(super) fn lines(first: Option<u32>, last: Option<u32>) -> Option<String> {
    let first = first?;
    Some(last.filter(|l| *l != first).map_or_else(|| first.to_string(), |last| format!("{first}-{last}")))
}

impl Row {
    fn new(hit: &Hit, set: &ChunkSet, explain: bool) -> Self {
        let part = |t: &crate::search::Term| Part { feature: t.feature, value: rounded(t.value), weight: t.weight };
        Self {
            path: hit.chunk.metadata.file_path.clone(),
            span: Span::new(&hit.chunk, set).at(hit.lines),
            score: rounded(hit.score),
            snippet: None,
            others: Vec::new(),
            explain: if explain { hit.terms.iter().map(part).collect() } else { Vec::new() },
        }
    }

    /// As a reader sees it.
    pub(super) fn lines(&self) -> Vec<String> {
        let kind = self.span.language.iter().map(|l| format!("{l} ")).collect::<String>()
            + self.span.chunk_type
            + if self.span.deleted { ", file deleted" } else { "" };
        let mut lines = vec![format!("{} [{}] {}", self.span.place(self.path.as_deref()), printable(&kind), self.score)];
        lines.extend(self.snippet.iter().flat_map(|s| s.lines()).map(|line| format!("  {line}")));
        if !self.others.is_empty() {
            lines.push(format!("  also {}", self.others.join(", ")));
        }
        if !self.explain.is_empty() {
            let parts: Vec<String> = self.explain.iter().map(|p| format!("{} {}×{}", p.feature, p.value, p.weight)).collect();
            lines.push(format!("  score = {}", parts.join(" + ")));
        }
        lines
    }
}

fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// Hits with everything that could be told of them, and the order in which it is told: first all rows, then what else matches
/// in their files, then lines of their text, more and earlier of those that stand first.
pub(super) struct Hits<'r> {
    bare: Vec<Row>,
    others: Vec<Vec<String>>,
    texts: Vec<(Marked<'r>, Option<u32>)>,
    /// Whose `others` are added one after the other.
    with_others: Vec<usize>,
    /// Whose snippet gets one more line, one after the other.
    line_of: Vec<usize>,
    mark: bool,
}

/// How hits are shown.
#[derive(Clone, Copy, Default)]
pub(super) struct Show {
    /// What each score is made of.
    pub(super) explain: bool,
    /// Mark the words in the snippets: `«word»`.
    pub(super) mark: bool,
}

impl<'r> Hits<'r> {
    /// `set` holds all chunks of the corpus that was searched.
    pub(super) fn new(hits: &'r [Hit], set: &ChunkSet, words: &mut Highlighter, show: Show) -> Self {
        let other = |c: &Chunk| {
            let lines = lines(c.metadata.start_line, c.metadata.end_line);
            let what = c.metadata.symbol.as_deref().or_else(|| lines.is_none().then_some(&*c.title)).unwrap_or_default();
            printable(format!("{} {what}", lines.as_deref().unwrap_or_default()).trim())
        };
        let others: Vec<Vec<String>> =
            hits.iter().map(|h| h.others.iter().filter_map(|e| e.chunk()).map(|c| other(&c)).collect()).collect();
        let texts: Vec<_> = hits.iter().map(|h| (Marked::new(&h.chunk.text, words), h.chunk.metadata.start_line)).collect();
        let mut lines: Vec<(usize, usize)> =
            texts.iter().enumerate().flat_map(|(i, (text, _))| (0..text.len().min(MAX_LINES)).map(move |n| (2 * n + i, i))).collect();
        lines.sort_unstable();
        Self {
            bare: hits.iter().map(|h| Row::new(h, set, show.explain)).collect(),
            with_others: (0..others.len()).filter(|i| !others[*i].is_empty()).collect(),
            line_of: lines.into_iter().map(|(_, i)| i).collect(),
            others,
            texts,
            mark: show.mark,
        }
    }

    /// The highest level of detail.
    pub(super) fn top(&self) -> usize {
        self.bare.len().saturating_sub(1) + self.with_others.len() + self.line_of.len()
    }

    /// The rows at a level of detail; at level 0 the first one alone, without its text.
    pub(super) fn rows(&self, level: usize) -> Vec<Row> {
        let mut rows: Vec<Row> = self.bare.iter().take(level + 1).cloned().collect();
        let level = (level + 1).saturating_sub(self.bare.len());
        for i in self.with_others.iter().take(level) {
            rows[*i].others.clone_from(&self.others[*i]);
        }
        let mut n_lines = vec![0; rows.len()];
        self.line_of.iter().take(level.saturating_sub(self.with_others.len())).for_each(|i| n_lines[*i] += 1);
        for ((row, n), (text, first)) in rows.iter_mut().zip(n_lines).zip(&self.texts) {
            row.snippet = (n > 0).then(|| snippet(text, *first, n, self.mark));
        }
        rows
    }
}

fn snippet(text: &Marked, first_line: Option<u32>, n_lines: usize, mark: bool) -> String {
    let (before, lines) = text.window(n_lines);
    let first = first_line.map(|l| l as usize + before);
    let one = |(i, (line, marks)): (usize, &crate::search::MarkedLine)| {
        let number = first.map(|f| format!("{}: ", f + i)).unwrap_or_default();
        number + &shown(line, marks, mark)
    };
    lines.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}

/// A line, cut when it is very long, around its first mark.
fn shown(line: &str, marks: &[Range<usize>], mark: bool) -> String {
    let first = marks.first().map_or(0, |m| m.start);
    let start = if line.len() > MAX_LINE && first > MAX_LINE / 2 { boundary(line, first - LEAD) } else { 0 };
    let end = boundary(line, start + MAX_LINE);
    let mut out = String::from(if start > 0 { "…" } else { "" });
    let mut at = start;
    for m in marks.iter().filter(|m| mark && m.start >= start && m.end <= end) {
        out.extend([&line[at..m.start], "«", &line[m.clone()], "»"]);
        at = m.end;
    }
    out.push_str(&line[at..end]);
    if end < line.len() {
        out.push('…');
    }
    out
}

/// The last place up to `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// A part of the results, and how to come by the next.
pub(super) struct Page {
    generation: u64,
    offset: usize,
    limit: usize,
}

impl Page {
    /// The page that a cursor names; the first without one.
    pub(super) fn new(cursor: Option<&str>, limit: usize, generation: u64) -> Result<(Self, Option<String>), ToolError> {
        let Some(cursor) = cursor else { return Ok((Self { generation, offset: 0, limit }, None)) };
        let parts =
            cursor.trim().split_once('.').and_then(|(g, o)| Some((u64::from_str_radix(g, 16).ok()?, usize::from_str_radix(o, 16).ok()?)));
        let Some((then, offset)) = parts else {
            let cursor = super::budget::cut(cursor, 40);
            return Err(ToolError::Arguments(format!("cursor is `{cursor}`: give the next_cursor of an earlier reply, or leave it out")));
        };
        let changed = (then != generation).then(|| {
            format!("the index changed since the page before this one (generation {then}, now {generation}): results may be missing or come twice")
        });
        Ok((Self { generation, offset, limit }, changed))
    }

    /// How many hits to search for: one more than is shown tells whether there are more.
    pub(super) fn n_wanted(&self) -> usize {
        self.offset.saturating_add(self.limit).saturating_add(1)
    }

    /// The hits of this page.
    pub(super) fn hits<'r>(&self, results: &'r Results) -> &'r [Hit] {
        let hits = results.hits.get(self.offset..).unwrap_or_default();
        &hits[..hits.len().min(self.limit)]
    }

    /// The cursor of what follows, when `n_shown` of this page's hits are shown.
    pub(super) fn next(&self, results: &Results, n_shown: usize) -> Option<String> {
        let next = self.offset.saturating_add(n_shown);
        (next < results.hits.len()).then(|| format!("{:x}.{next:x}", self.generation))
    }

    /// How many results stand before this page.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }
}
