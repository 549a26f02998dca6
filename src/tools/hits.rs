//! Shows hits as rows of a reply: as many as fit, each with as much of its text as fits.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::reply::printable;
use crate::engine::{ChunkRow, ResultRow, ScorePart};
use crate::search::{Highlighter, Marked};

/// Maximum number of lines of a snippet.
const MAX_LINES: usize = 10;
/// Maximum number of bytes of a snippet's line.
const MAX_LINE: usize = 160;
/// Bytes shown before the first match of a line that is cut.
const LEAD: usize = 40;

/// One result with as much of its text as fits.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct HitRow {
    #[serde(flatten)]
    pub(super) row: ResultRow,
    /// Lines and symbols of other matching chunks of the file. Only the text has them; the JSON has
    /// `others` with `explain`.
    #[serde(skip)]
    also: Vec<String>,
}

/// Formats a place as `src/a.rs:3-9 Type::name`. A chunk without a file shows its id instead of a
/// path.
pub(super) fn place(chunk: &ChunkRow, path: Option<&str>) -> String {
    let lines =
        lines(chunk.start_line, chunk.end_line).map(|l| format!(":{l}")).unwrap_or_default();
    let what = chunk.symbol.as_deref().or(chunk.title.as_deref()).unwrap_or_default();
    printable(format!("{}{lines} {what}", path.unwrap_or(&chunk.chunk_id)).trim_end())
}

/// Formats lines as `3-9` or `3`.
pub(super) fn lines(first: Option<u32>, last: Option<u32>) -> Option<String> {
    let first = first?;
    Some(
        last.filter(|l| *l != first)
            .map_or_else(|| first.to_string(), |last| format!("{first}-{last}")),
    )
}

impl HitRow {
    fn new(row: &ResultRow) -> Self {
        let explain = row.explain.iter().map(|part| ScorePart {
            value: rounded(part.value),
            contribution: rounded(part.contribution),
            ..part.clone()
        });
        let explain: Vec<ScorePart> = explain.collect();
        Self {
            row: ResultRow {
                score: rounded(row.score),
                others: Vec::new(),
                explain,
                ..row.clone()
            },
            also: Vec::new(),
        }
    }

    /// Returns the text form.
    pub(super) fn lines(&self) -> Vec<String> {
        let ResultRow { path, chunk, score, snippet, explain, .. } = &self.row;
        let kind = chunk.language.iter().map(|l| format!("{l} ")).collect::<String>()
            + chunk.chunk_type
            + if chunk.deleted { ", file deleted" } else { "" };
        let mut lines =
            vec![format!("{} [{}] {score}", place(chunk, path.as_deref()), printable(&kind))];
        lines.extend(snippet.iter().flat_map(|s| s.lines()).map(|line| format!("  {line}")));
        if !self.also.is_empty() {
            lines.push(format!("  also {}", self.also.join(", ")));
        }
        if !explain.is_empty() {
            let parts: Vec<String> =
                explain.iter().map(|p| format!("{} {}×{}", p.feature, p.value, p.weight)).collect();
            lines.push(format!("  score = {}", parts.join(" + ")));
        }
        lines
    }
}

fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// Results with everything that could be shown of them, and the order in which details are added:
/// first all rows, then the other matches in their files, then lines of their text. Better results
/// get lines earlier, and more of them.
pub(super) struct Hits<'r> {
    all: &'r [ResultRow],
    bare: Vec<HitRow>,
    others: Vec<Vec<String>>,
    texts: Vec<(Marked<'r>, Option<u32>)>,
    /// The results that have other matches, in the order in which these are added.
    with_others: Vec<usize>,
    /// The results whose snippets get one more line, in this order.
    line_of: Vec<usize>,
    mark: bool,
}

impl<'r> Hits<'r> {
    /// Prepares all rows. If `mark` is set, snippets mark matching words as `«word»`.
    pub(super) fn new(rows: &'r [ResultRow], words: &mut Highlighter, mark: bool) -> Self {
        let other = |c: &ChunkRow| {
            let lines = lines(c.start_line, c.end_line);
            let what = c
                .symbol
                .as_deref()
                .or_else(|| lines.is_none().then_some(c.title.as_deref()?))
                .unwrap_or_default();
            printable(format!("{} {what}", lines.as_deref().unwrap_or_default()).trim())
        };
        let others: Vec<Vec<String>> =
            rows.iter().map(|row| row.others.iter().map(other).collect()).collect();
        let text = |row: &'r ResultRow| (&row.hit.chunk.text, row.hit.chunk.metadata.start_line);
        let texts: Vec<_> =
            rows.iter().map(text).map(|(text, line)| (Marked::new(text, words), line)).collect();
        let mut lines: Vec<(usize, usize)> = texts
            .iter()
            .enumerate()
            .flat_map(|(i, (text, _))| (0..text.len().min(MAX_LINES)).map(move |n| (2 * n + i, i)))
            .collect();
        lines.sort_unstable();
        Self {
            all: rows,
            bare: rows.iter().map(HitRow::new).collect(),
            with_others: (0..others.len()).filter(|i| !others[*i].is_empty()).collect(),
            line_of: lines.into_iter().map(|(_, i)| i).collect(),
            others,
            texts,
            mark,
        }
    }

    /// Returns the highest level of detail.
    pub(super) fn top(&self) -> usize {
        self.bare.len().saturating_sub(1) + self.with_others.len() + self.line_of.len()
    }

    /// Returns the rows at a level of detail. Level 0 is the first row without its text.
    pub(super) fn rows(&self, level: usize) -> Vec<HitRow> {
        let mut rows: Vec<HitRow> = self.bare.iter().take(level + 1).cloned().collect();
        let level = (level + 1).saturating_sub(self.bare.len());
        for i in self.with_others.iter().take(level) {
            rows[*i].also.clone_from(&self.others[*i]);
            if !self.all[*i].explain.is_empty() {
                rows[*i].row.others.clone_from(&self.all[*i].others);
            }
        }
        let mut n_lines = vec![0; rows.len()];
        self.line_of
            .iter()
            .take(level.saturating_sub(self.with_others.len()))
            .for_each(|i| n_lines[*i] += 1);
        for ((row, n), (text, first)) in rows.iter_mut().zip(n_lines).zip(&self.texts) {
            row.row.snippet = (n > 0).then(|| snippet(text, *first, n, self.mark));
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

/// Returns a line. A very long line is cut around its first match.
fn shown(line: &str, marks: &[Range<usize>], mark: bool) -> String {
    let first = marks.first().map_or(0, |m| m.start);
    let start = if line.len() > MAX_LINE && first > MAX_LINE / 2 {
        boundary(line, first - LEAD)
    } else {
        0
    };
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

/// Returns the last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}
