//! The lines of a change, with those around them and their numbers on both sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::serving::Engine;
use crate::engine::graph::changed::{How, how_of, shown, texts};
use crate::engine::past::changes::unanswered;
use crate::engine::{AskError, Call, is_zero};
use crate::secrets::redact_file;
use crate::source::{self, DiffFile, Hunk, is_never_read};
use crate::text::{count, cut};

/// Number of unchanged lines above and below a change.
const CONTEXT: usize = 3;
/// Most files with lines, most lines of an answer and of one of its files, and most characters of a
/// line.
const MAX_FILES: usize = 100;
const MAX_LINES: usize = 2_000;
const MAX_FILE_LINES: usize = 400;
const MAX_CHARS: usize = 500;

/// Asks for the lines of a change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct PatchRequest {
    /// A commit or range as git reads it: `HEAD~3`, `main..`. Default: the working tree against HEAD.
    pub range: Option<String>,
}

/// The lines of a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchAnswer {
    /// The first files that differ, in order of their paths.
    pub files: Vec<PatchFile>,
    /// Number of files that differ, listed or not.
    pub total_files: usize,
    /// What is missing, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub limits: Vec<String>,
}

/// A file that differs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchFile {
    /// Relative to the root.
    pub path: String,
    /// changed, added, deleted or renamed.
    #[schemars(with = "String")]
    pub how: How,
    /// The path before, of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of lines that are new, shown or not.
    pub added_lines: usize,
    /// Number of lines that are gone, shown or not.
    pub deleted_lines: usize,
    /// The places that differ, from top to bottom.
    pub parts: Vec<PatchPart>,
    /// Number of lines of these places that are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub left_out: usize,
    /// Why no line is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Lines that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PatchPart {
    pub lines: Vec<PatchLine>,
}

/// A line before and after the change. It has one number if it is only on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PatchLine {
    /// Its number before the change, 1-based; absent if the line is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<usize>,
    /// Its number after the change, 1-based; absent if the line is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<usize>,
    pub text: String,
}

impl Engine {
    /// Returns the lines that a range of commits, or what is not committed, changes.
    ///
    /// # Errors
    /// When git does not know the range, or does not answer.
    pub fn patch(&self, request: &PatchRequest, call: &Call) -> Result<PatchAnswer, AskError> {
        let cannot_tell = |e| unanswered(e, "which lines changed");
        let root = self.project.layout.root();
        let found = source::difference(root, request.range.as_deref()).map_err(cannot_tell)?;
        call.check()?;
        let mut limits = Vec::new();
        limits.extend(found.cut.map(|why| format!("the difference is not complete: {why}")));
        let at_commit = found.end.is_some();
        let (mut files, n_hidden) = shown(&self.project, found.files);
        if n_hidden > 0 {
            limits.push(format!(
                "{} that may not be read are left out: they are hidden or may hold secrets",
                count(n_hidden, "file")
            ));
        }
        let total_files = files.len();
        if total_files > MAX_FILES {
            limits.push(format!("the first {MAX_FILES} of {total_files} files are shown"));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.truncate(MAX_FILES);
        let read: Vec<&DiffFile> = files.iter().filter(|file| is_read(file)).collect();
        let texts = texts(&self.project, at_commit, &read).map_err(cannot_tell)?;
        let mut room = MAX_LINES;
        let mut rows = Vec::new();
        for file in &files {
            call.check()?;
            let mut row = PatchFile::new(file);
            if let Some((old, new)) = texts.get(&file.path) {
                row.add_lines(file, old.as_deref(), new.as_deref(), &mut room);
            } else {
                row.note = Some("Cortex never reads a file of this name".into());
            }
            rows.push(row);
        }
        Ok(PatchAnswer { files: rows, total_files, limits })
    }
}

/// Whether the lines of a file are read.
fn is_read(file: &DiffFile) -> bool {
    !is_never_read(&file.path) && !file.before.as_deref().is_some_and(is_never_read)
}

impl PatchFile {
    fn new(file: &DiffFile) -> Self {
        let how = how_of(file);
        let sum = |of: fn(&Hunk) -> u32| file.hunks.iter().map(|hunk| of(hunk) as usize).sum();
        Self {
            path: file.path.clone(),
            how,
            from: file.before.clone().filter(|_| how == How::Renamed),
            added_lines: sum(|hunk| hunk.new_lines),
            deleted_lines: sum(|hunk| hunk.old_lines),
            parts: Vec::new(),
            left_out: 0,
            note: None,
        }
    }

    /// Adds as many lines as there is room for, from the texts before and after.
    fn add_lines(
        &mut self,
        file: &DiffFile,
        old: Option<&str>,
        new: Option<&str>,
        room: &mut usize,
    ) {
        // Git does not compare an untracked file, all of whose lines are new.
        let is_untracked = file.before.is_none() && file.new_blob.is_none();
        let is_missing = file.before.is_some() && old.is_none() || file.exists && new.is_none();
        let is_text = |text: Option<&str>| text.is_none_or(|text| !text.contains('\0'));
        if is_missing || !is_text(old) || !is_text(new) {
            self.note = Some("it is not a text, is too large, or is missing here".into());
            return;
        }
        if *room == 0 {
            self.left_out = self.added_lines + self.deleted_lines;
            return;
        }
        let old = redact_file(old.unwrap_or_default()).text;
        let new = redact_file(new.unwrap_or_default()).text;
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        self.parts = if is_untracked && file.hunks.is_empty() {
            self.added_lines = new.len();
            let whole = Hunk {
                old_start: 0,
                old_lines: 0,
                new_start: 1,
                new_lines: u32::try_from(new.len()).unwrap_or(u32::MAX),
            };
            parts(if new.is_empty() { &[] } else { std::slice::from_ref(&whole) }, &old, &new)
        } else {
            parts(&file.hunks, &old, &new)
        };
        if self.parts.is_empty() {
            self.note = Some("no line of text differs".into());
        }
        let all: usize = self.parts.iter().map(|part| part.lines.len()).sum();
        let mut left = MAX_FILE_LINES.min(*room);
        for part in &mut self.parts {
            part.lines.truncate(left);
            left -= part.lines.len();
        }
        self.parts.retain(|part| !part.lines.is_empty());
        let kept: usize = self.parts.iter().map(|part| part.lines.len()).sum();
        self.left_out = all - kept;
        *room -= kept;
    }
}

/// Returns the places that differ, each with the lines around it. Places that are close become one.
fn parts(hunks: &[Hunk], old: &[&str], new: &[&str]) -> Vec<PatchPart> {
    let row = |old: Option<usize>, new: Option<usize>, text: &str| PatchLine {
        old: old.map(|at| at + 1),
        new: new.map(|at| at + 1),
        text: cut(text, MAX_CHARS),
    };
    let same = |old_at: usize, at: usize| new.get(at).map(|text| row(Some(old_at), Some(at), text));
    let mut parts: Vec<PatchPart> = Vec::new();
    // The first lines after the hunk before. All numbers begin at 0.
    let (mut after_old, mut after_new) = (0, 0);
    for hunk in hunks {
        let (old_at, old_end) = range(hunk.old_start, hunk.old_lines, old.len());
        let (new_at, new_end) = range(hunk.new_start, hunk.new_lines, new.len());
        let n_between = new_at.saturating_sub(after_new);
        let mut n_above = n_between.min(CONTEXT);
        match parts.last_mut() {
            Some(_) if n_between <= 2 * CONTEXT => n_above = n_between,
            Some(last) => {
                let below = (0..CONTEXT).filter_map(|n| same(after_old + n, after_new + n));
                last.lines.extend(below);
                parts.push(PatchPart::default());
            }
            None => parts.push(PatchPart::default()),
        }
        if let Some(PatchPart { lines }) = parts.last_mut() {
            let above = n_between - n_above..n_between;
            lines.extend(above.filter_map(|n| same(after_old + n, after_new + n)));
            let gone = old.iter().enumerate().take(old_end).skip(old_at);
            lines.extend(gone.map(|(at, text)| row(Some(at), None, text)));
            let come = new.iter().enumerate().take(new_end).skip(new_at);
            lines.extend(come.map(|(at, text)| row(None, Some(at), text)));
        }
        (after_old, after_new) = (old_end, new_end);
    }
    if let Some(last) = parts.last_mut() {
        last.lines.extend((0..CONTEXT).filter_map(|n| same(after_old + n, after_new + n)));
    }
    parts
}

/// Returns the lines of a side of a hunk, from 0: the first, and the one after the last. Without lines,
/// git names the line before the place. A text that changed meanwhile may have fewer lines.
fn range(start: u32, n_lines: u32, n_all: usize) -> (usize, usize) {
    let first = if n_lines == 0 { start } else { start.saturating_sub(1) } as usize;
    let first = first.min(n_all);
    (first, first.saturating_add(n_lines as usize).min(n_all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old_start: u32, old_lines: u32, new_start: u32, new_lines: u32) -> Hunk {
        Hunk { old_start, old_lines, new_start, new_lines }
    }

    /// Returns the lines as a difference writes them, with their numbers.
    fn told(hunks: &[Hunk], old: &[&str], new: &[&str]) -> Vec<Vec<String>> {
        let written = |line: &PatchLine| match (line.old, line.new) {
            (Some(old), Some(new)) => format!("{old} {new}  {}", line.text),
            (Some(old), None) => format!("{old} -{}", line.text),
            (None, Some(new)) => format!("{new} +{}", line.text),
            (None, None) => line.text.clone(),
        };
        let found = parts(hunks, old, new);
        found.iter().map(|part| part.lines.iter().map(written).collect()).collect()
    }

    #[test]
    fn lines_that_differ_have_the_lines_around_them_and_close_places_are_one() {
        let old = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let new = ["a", "B", "c", "d", "e", "f", "x", "g", "h", "i", "j", "k"];
        assert_eq!(
            told(&[hunk(2, 1, 2, 1), hunk(6, 0, 7, 1), hunk(12, 1, 12, 0)], &old, &new),
            [[
                "1 1  a", "2 -b", "2 +B", "3 3  c", "4 4  d", "5 5  e", "6 6  f", "7 +x", "7 8  g",
                "8 9  h", "9 10  i", "10 11  j", "11 12  k", "12 -l"
            ]]
        );
        let far: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let far: Vec<&str> = far.iter().map(|line| &**line).collect();
        let two = told(&[hunk(1, 1, 1, 1), hunk(20, 1, 20, 1)], &far, &far);
        assert_eq!(two[0], ["1 -1", "1 +1", "2 2  2", "3 3  3", "4 4  4"]);
        assert_eq!(two[1], ["17 17  17", "18 18  18", "19 19  19", "20 -20", "20 +20"]);
        assert_eq!(told(&[hunk(0, 0, 1, 2)], &[], &["a", "b"]), [["1 +a", "2 +b"]]);
        assert_eq!(told(&[hunk(1, 2, 0, 0)], &["a", "b"], &[]), [["1 -a", "2 -b"]]);
    }

    /// A file may change between the question to git and the reading.
    #[test]
    fn hunks_beyond_the_text_show_what_is_there() {
        let wild = [hunk(0, u32::MAX, u32::MAX, u32::MAX), hunk(9_999, 3, 9_999, 0)];
        parts(&wild, &["a", "b"], &["c"]);
        assert_eq!(told(&[hunk(1, 9, 1, 9)], &["a"], &["b"]), [["1 -a", "1 +b"]]);
    }
}
