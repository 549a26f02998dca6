//! Reads the current lines of files. Only indexed files can be read.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::paths::{self, holds, is_verbatim};
use super::project::Project;
use super::serving::{Engine, View};
use super::{AskError, Call};
use crate::chunk::{Chunk, ChunkSet};
use crate::source::ReadError;
use crate::text::cut;

/// Most ranges of lines of one read.
const MAX_RANGES: usize = 100;
/// First and last line, 1-based.
type Lines = (usize, usize);

/// All lines of a file.
const ALL: Lines = (1, usize::MAX);

/// The arguments of a read: a chunk, or a file and lines.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ReadRequest {
    /// A chunk, by the `chunk_id` of a result.
    pub chunk_id: Option<String>,
    /// A file, lines of it or a symbol: `src/a.rs:10-40`, `src/a.rs#Type::method`, `Type::method`.
    pub path: Option<String>,
    /// Which lines: 10-40, 10-, 10, or several: 10-40,80-90. All by default.
    pub lines: Option<String>,
    /// Or the first line.
    pub offset: Option<usize>,
    /// Number of lines from `offset` on.
    pub limit: Option<usize>,
}

/// The lines that were read.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReadAnswer {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of the chunk, if its text does not come from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_id: Option<String>,
    /// First line of `content`.
    pub start_line: usize,
    /// Last line of `content`, inclusive.
    pub end_line: usize,
    /// Number of lines of the file.
    pub total_lines: usize,
    /// The lines, without numbers.
    pub content: String,
    /// The other ranges of lines, if several were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub more: Vec<ReadRange>,
    /// Line to continue at, if not all requested lines fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start_line: Option<usize>,
    /// Whether the file changed since it was indexed; `content` is the current text.
    pub changed: bool,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A range of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadRange {
    /// First line of `content`.
    pub start_line: usize,
    /// Last line of `content`, inclusive.
    pub end_line: usize,
    /// The lines, without numbers.
    pub content: String,
}

impl ReadRequest {
    /// Returns the first range of lines, and the others; none if the request names no lines.
    fn ranges(&self) -> Result<(Option<Lines>, Vec<Lines>), AskError> {
        match (&self.lines, self.offset, self.limit) {
            (None, None, None) => Ok((None, Vec::new())),
            (Some(lines), ..) => {
                let mut ranges = line_ranges(lines)?.into_iter();
                Ok((ranges.next().or(Some(ALL)), ranges.collect()))
            }
            (None, offset, limit) => {
                let first = offset.unwrap_or(1).max(1);
                let last = limit.map_or(usize::MAX, |n| first.saturating_add(n.max(1) - 1));
                Ok((Some((first, last)), Vec::new()))
            }
        }
    }
}

impl Engine {
    /// Reads lines of a file, or a chunk.
    ///
    /// # Errors
    /// When the file, chunk or line does not exist, or must not be read.
    pub fn read(&self, request: &ReadRequest, call: &Call) -> Result<ReadAnswer, AskError> {
        let written = request.chunk_id.as_ref().or(request.path.as_ref());
        if let Some(package) = written.map_or(Ok(None), |written| self.in_package(written, call))? {
            let below = || Some(package.below.clone());
            let request = ReadRequest {
                path: request.path.as_ref().and_then(|_| below()),
                chunk_id: request.chunk_id.as_ref().and_then(|_| below()),
                ..request.clone()
            };
            let answer = package.engine.read(&request, &call.of_package())?;
            return Ok(ReadAnswer {
                path: answer.path.as_deref().map(|path| package.outside(path)),
                chunk_id: answer.chunk_id.as_deref().map(|id| package.outside(id)),
                ..answer
            });
        }
        let (range, others) = request.ranges()?;
        let answer = self.with_code(call, |View { code, state }| {
            let chunks = code.corpus.chunks();
            let mut warnings = Vec::new();
            let (answer, text, range) = match (&request.chunk_id, &request.path) {
                (Some(id), _) => of_chunk(&self.project, &paths::chunk(&self.project, chunks, id)?, range, &mut warnings),
                (None, Some(path)) => {
                    let paths::Place { path, lines, note } = paths::place(&self.project, &code.corpus, path)?;
                    warnings.extend(note);
                    let lines = lines.map(|(first, last)| (first as usize, last as usize));
                    let range = range.or(lines).unwrap_or(ALL);
                    let text = current(&self.project, chunks, &path, &mut warnings)?;
                    let now: Vec<&str> = text.lines().collect();
                    let changed = verbatim(chunks, &path).any(|c| overlaps(&c, range) && !holds(&now, &c));
                    (ReadAnswer { path: Some(path), changed, ..ReadAnswer::default() }, text, range)
                }
                (None, None) => return Err(AskError::Arguments("nothing to read is given. Give chunk_id, or path and lines".into())),
            };
            call.check()?;
            if answer.changed {
                warnings.push("the file changed since it was indexed: line numbers of earlier results may be off".into());
            }
            let state = AnswerState { warnings: warnings.into_iter().chain(state.warnings).collect(), ..state }.in_brief(call);
            let more: Result<_, AskError> = others.iter().map(|other| range_of(&text, *other)).collect();
            ReadAnswer { more: more?, ..answer }.with_lines(&text, range, state)
        });
        self.or_lines(answer, request.path.as_deref().unwrap_or_default(), call)
    }

    /// Returns the text of a chunk as it was indexed.
    ///
    /// # Errors
    /// When the chunk does not exist.
    pub fn chunk_text(&self, id: &str, call: &Call) -> Result<String, AskError> {
        self.with_code(call, |view| {
            Ok(paths::chunk(&self.project, view.code.corpus.chunks(), id)?.text.clone())
        })
    }
}

impl ReadAnswer {
    /// Returns lines of a text that is no file of this machine. `lines`: those that the address named.
    pub(super) fn of_text(
        path: &str,
        text: &str,
        lines: Option<(usize, usize)>,
        request: &ReadRequest,
        state: AnswerState,
    ) -> Result<Self, AskError> {
        let (range, others) = request.ranges()?;
        let more: Result<_, AskError> = others.iter().map(|other| range_of(text, *other)).collect();
        let answer = Self { path: Some(path.into()), more: more?, ..Self::default() };
        answer.with_lines(text, range.or(lines).unwrap_or(ALL), state)
    }

    /// Fills in the lines `first..=last` of a text.
    fn with_lines(
        self,
        text: &str,
        (first, last): (usize, usize),
        state: AnswerState,
    ) -> Result<Self, AskError> {
        let ReadRange { start_line, end_line, content } = range_of(text, (first, last))?;
        let total_lines = text.lines().count();
        Ok(Self { start_line, end_line, total_lines, content, state, ..self })
    }

    /// Returns whether the request named the whole file.
    #[must_use]
    pub fn is_whole_file(&self) -> bool {
        self.start_line <= 1 && self.end_line == self.total_lines && self.more.is_empty()
    }

    /// Returns the number of lines of all ranges.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        let others = self.more.iter().map(|range| range.content.split('\n').count());
        self.content.split('\n').count() + others.sum::<usize>()
    }

    /// Returns a copy with the first `n_lines` lines (at least one), each cut to `n_chars`
    /// characters. Ranges of which no line is left are dropped.
    #[must_use]
    pub fn first(&self, n_lines: usize, n_chars: usize) -> Self {
        let own = ReadRange {
            start_line: self.start_line,
            end_line: self.end_line,
            content: self.content.clone(),
        };
        let (mut left, mut next, mut is_cut) = (n_lines.max(1), None, false);
        let mut ranges: Vec<ReadRange> = Vec::new();
        for range in std::iter::once(&own).chain(&self.more) {
            if left == 0 {
                next = next.or(Some(range.start_line));
                continue;
            }
            let all: Vec<&str> = range.content.split('\n').collect();
            let shown: Vec<String> = all.iter().take(left).map(|line| cut(line, n_chars)).collect();
            is_cut |= shown.iter().zip(&all).any(|(shown, line)| shown != line);
            let n_left = all.len() - shown.len();
            left -= shown.len();
            if n_left > 0 {
                next = next.or(Some(range.end_line - n_left + 1));
            }
            let end_line = range.end_line - n_left;
            ranges.push(ReadRange { end_line, content: shown.join("\n"), ..range.clone() });
        }
        let warning = format!(
            "a line of more than {n_chars} characters is cut: raise max_tokens to see more of it"
        );
        let mut state = self.state.clone();
        state.warnings.extend(is_cut.then_some(warning));
        let more = ranges.split_off(1);
        let own = ranges.remove(0);
        Self {
            end_line: own.end_line,
            content: own.content,
            more,
            next_start_line: next,
            state,
            ..self.clone()
        }
    }
}

/// Returns the lines `first..=last` of a text.
fn range_of(text: &str, (first, last): (usize, usize)) -> Result<ReadRange, AskError> {
    let all: Vec<&str> = text.lines().collect();
    if first > all.len().max(1) {
        return Err(AskError::Arguments(format!(
            "there is no line {first}: the last one is {}",
            all.len()
        )));
    }
    let wanted = &all[first.min(all.len() + 1) - 1..last.min(all.len())];
    let end_line = (first + wanted.len()).saturating_sub(1);
    Ok(ReadRange { start_line: first, end_line, content: wanted.join("\n") })
}

/// Parses a list of ranges. Those that touch or overlap become one, so that no line is read twice.
fn line_ranges(written: &str) -> Result<Vec<(usize, usize)>, AskError> {
    let parts = written.split(',').filter(|lines| !lines.trim().is_empty());
    let mut ranges = parts.map(|lines| line_range(Some(lines))).collect::<Result<Vec<_>, _>>()?;
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    if merged.len() > MAX_RANGES {
        return Err(AskError::Arguments(format!(
            "lines has {} ranges, but at most {MAX_RANGES} are read at once: give fewer",
            merged.len()
        )));
    }
    Ok(merged)
}

/// Parses `10-40`, `10-`, `-40` or `10` into the first and the last line.
pub(super) fn line_range(lines: Option<&str>) -> Result<(usize, usize), AskError> {
    let lines = lines.unwrap_or("-").trim();
    let wrong = || {
        AskError::Arguments(format!(
            "cannot parse lines `{}`: give them like 10-40",
            cut(lines, 40)
        ))
    };
    let number = |s: &str, open: usize| {
        if s.trim().is_empty() { Ok(open) } else { s.trim().parse().map_err(|_| wrong()) }
    };
    let (from, to) = lines.split_once(['-', ':']).unwrap_or((lines, lines));
    let (first, last) = (number(from, 1)?.max(1), number(to, usize::MAX)?);
    if last < first {
        return Err(AskError::Arguments(format!(
            "the lines end at {last}, before they begin at {first}"
        )));
    }
    Ok((first, last))
}

/// Prepares the read of a chunk: the answer without lines, the text, and the lines to take from it.
fn of_chunk(
    project: &Project,
    chunk: &Arc<Chunk>,
    range: Option<(usize, usize)>,
    warnings: &mut Vec<String>,
) -> (ReadAnswer, String, (usize, usize)) {
    let (whole, range) = (range.is_none(), range.unwrap_or(ALL));
    let m = &chunk.metadata;
    let own = |path: Option<String>| ReadAnswer {
        path,
        chunk_id: Some(chunk.id.to_string()),
        ..ReadAnswer::default()
    };
    let (Some(path), Some(first), Some(last)) = (&m.file_path, m.start_line, m.end_line) else {
        return (own(m.file_path.clone()), chunk.text.clone(), range);
    };
    match paths::normal(project.layout.root(), path).and_then(|p| from_disk(project, &p)) {
        Ok(text) => {
            let now: Vec<&str> = text.lines().collect();
            let changed = is_verbatim(chunk) && !holds(&now, chunk);
            let lines = (first as usize, last as usize);
            // If the chunk only moved, read it at its new place.
            let range = if whole {
                if changed { found_in(&text, chunk).unwrap_or(lines) } else { lines }
            } else {
                range
            };
            (ReadAnswer { path: Some(path.clone()), changed, ..ReadAnswer::default() }, text, range)
        }
        Err(e) => {
            warnings.push(format!("{e}. This is the chunk as it was indexed"));
            (own(Some(path.clone())), chunk.text.clone(), range)
        }
    }
}

/// Returns the current text of an indexed file or, if the file was deleted, the text of its kept
/// chunks.
fn current(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<String, AskError> {
    let found = paths::chunks_of(project, chunks, path)?;
    match from_disk(project, path) {
        Err(AskError::NotFound(_)) if found.iter().any(|c| c.metadata.is_deleted()) => {
            warnings.push(format!("`{path}` was deleted. These are its lines as they were indexed; those that no chunk holds are empty"));
            Ok(as_indexed(found.iter().filter(|c| is_verbatim(c))))
        }
        read => read,
    }
}

/// Rebuilds the text of a file from its chunks. Lines that no chunk holds are empty.
fn as_indexed<'c>(chunks: impl Iterator<Item = &'c Arc<Chunk>>) -> String {
    let mut lines = BTreeMap::new();
    for chunk in chunks {
        lines.extend((chunk.metadata.start_line.unwrap_or(1)..).zip(chunk.text.lines()));
    }
    let last = lines.last_key_value().map_or(0, |(number, _)| *number);
    (1..=last)
        .map(|number| lines.get(&number).copied().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

fn from_disk(project: &Project, path: &str) -> Result<String, AskError> {
    project.read_text(path).map_err(|e| match e {
        ReadError::Forbidden(_) => AskError::Arguments(e.to_string()),
        ReadError::TooLarge { .. } => AskError::Failed(e.to_string()),
        ReadError::Failed { .. } => AskError::NotFound(e.to_string()),
    })
}

/// Returns the chunks of a file whose text is a literal copy of its lines.
fn verbatim(chunks: &ChunkSet, path: &str) -> impl Iterator<Item = Arc<Chunk>> {
    chunks.read_file(path).into_iter().filter(|c| is_verbatim(c))
}

fn overlaps(chunk: &Chunk, (first, last): (usize, usize)) -> bool {
    let m = &chunk.metadata;
    m.start_line.is_some_and(|l| l as usize <= last)
        && m.end_line.is_some_and(|l| l as usize >= first)
}

/// Finds the lines that have the chunk's text now.
fn found_in(text: &str, chunk: &Chunk) -> Option<(usize, usize)> {
    let (lines, wanted): (Vec<&str>, Vec<&str>) =
        (text.lines().collect(), chunk.text.lines().collect());
    let at = lines.windows(wanted.len().max(1)).position(|w| w == wanted)?;
    Some((at + 1, at + wanted.len()))
}
