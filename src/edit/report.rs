//! Answers about files: lines, values, and the changes that an edit made.

use std::ops::Range;

use super::excerpt::excerpt;
use super::text::{line_of, split_bom};
use crate::source::sha256;
use crate::text::MAX_LINE;

/// Number of lines shown on each side of a change.
const AROUND: usize = 3;
/// Number of lines that are shown of the beginning, and of the end, of a long change.
const MAX_CHANGED: usize = 8;

/// Lines of a file in its current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewedLines {
    /// Path relative to the root, with links followed.
    pub path: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// 1-based; the last one inclusive.
    pub first_line: usize,
    pub last_line: usize,
    /// Number of lines of the file.
    pub n_lines: usize,
    /// The lines, joined by `\n`.
    pub text: String,
}

impl ViewedLines {
    pub(super) fn new(
        path: &str,
        hash: String,
        text: &str,
        lines: Option<(usize, usize)>,
    ) -> Result<Self, String> {
        let (first, last) = lines.unwrap_or((1, usize::MAX));
        let n_lines = text.lines().count();
        let (first_line, last_line) = (first.max(1), last.min(n_lines));
        if last < first.max(1) {
            return Err(format!("the lines end at {last}, before they begin at {first}"));
        }
        if first_line > n_lines.max(1) {
            return Err(format!("there is no line {first}: it has {n_lines} lines"));
        }
        let wanted: Vec<&str> = text
            .lines()
            .skip(first_line - 1)
            .take((last_line + 1).saturating_sub(first_line))
            .collect();
        Ok(Self {
            path: path.to_string(),
            hash,
            first_line,
            last_line,
            n_lines,
            text: wanted.join("\n"),
        })
    }
}

/// A value of a JSON file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonValue {
    /// Path relative to the root, with links followed.
    pub path: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// The text of the value as it is written, including comments.
    pub value: String,
    /// 1-based; the last one inclusive.
    pub first_line: usize,
    pub last_line: usize,
}

impl JsonValue {
    pub(super) fn new(path: &str, hash: String, text: &str, range: Range<usize>) -> Self {
        let (first_line, last_line) = (line_of(text, range.start), line_of(text, range.end));
        Self { path: path.to_string(), hash, value: text[range].to_string(), first_line, last_line }
    }
}

/// A file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Path relative to the root, with links followed.
    pub path: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// Whether the edit created the file.
    pub created: bool,
    /// First and last line that changed, 1-based and inclusive. If lines were only removed, the
    /// line that is now in their place. `None` if the edit changed nothing.
    pub lines: Option<(usize, usize)>,
    /// These lines and some around them, with line numbers.
    pub preview: String,
}

impl Edited {
    pub(super) fn new(path: &str, created: bool, before: &str, after: &str) -> Self {
        let lines = changed(split_bom(before).1, split_bom(after).1);
        let preview = lines.map(|lines| preview(split_bom(after).1, lines)).unwrap_or_default();
        Self { path: path.to_string(), hash: sha256(after.as_bytes()), created, lines, preview }
    }
}

/// Returns the first and last line of `after` that differ from `before`.
fn changed(before: &str, after: &str) -> Option<(usize, usize)> {
    if before == after {
        return None;
    }
    let (old, new) = (before.split_inclusive('\n'), after.split_inclusive('\n'));
    let (n_old, n_new) = (old.clone().count(), new.clone().count());
    let same_start = old.clone().zip(new.clone()).take_while(|(a, b)| a == b).count();
    let same_end = old
        .rev()
        .zip(new.rev())
        .take(n_old.min(n_new) - same_start)
        .take_while(|(a, b)| a == b)
        .count();
    let first = (same_start + 1).min(n_new.max(1));
    Some((first, (n_new - same_end).max(first)))
}

fn preview(text: &str, (first, last): (usize, usize)) -> String {
    let from = first.saturating_sub(AROUND).max(1);
    let left_out = first + MAX_CHANGED..(last + 1).saturating_sub(MAX_CHANGED);
    let mut out = String::new();
    for (n, line) in (1..).zip(text.lines()).skip(from - 1).take(last + AROUND + 1 - from) {
        if n == left_out.start && !left_out.is_empty() {
            out.push_str("    …\n");
        }
        if !left_out.contains(&n) {
            out.push_str(&numbered(n, &excerpt(line, MAX_LINE)));
        }
    }
    out
}

fn numbered(n: usize, line: &str) -> String {
    format!("{n:>5} {line}\n")
}
