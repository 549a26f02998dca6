//! `cortex_read`: lines of a file as they are now. Only files of the index can be read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, cut, default_tokens, fit};
use super::{Asked, Question, Reply, State, ToolError, Wait, paths, printable};
use crate::chunk::{Chunk, ChunkSet, ChunkType};
use crate::source::{ReadError, read_text};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// A chunk, by the `chunk_id` of a result.
    chunk_id: Option<String>,
    /// Or a file, relative to the root.
    path: Option<String>,
    /// First line, 1-based; the first by default.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Last line, inclusive; the last by default.
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
    /// The same in one: 10-40
    lines: Option<String>,
    /// Most tokens of the reply, text and JSON together; what does not fit is told by `next_start_line`.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

#[derive(Clone, Default, Serialize, JsonSchema)]
pub(super) struct ReadReply {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Of a chunk without a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_id: Option<String>,
    /// First line of `content`.
    start_line: usize,
    /// Last line of `content`, inclusive.
    end_line: usize,
    /// Lines of the file.
    total_lines: usize,
    /// The lines, without numbers.
    content: String,
    /// Where to read on, when not all that was asked for fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start_line: Option<usize>,
    /// The file changed since it was indexed; `content` is the present one.
    changed: bool,
    #[serde(flatten)]
    state: State,
}

impl Question for Args {
    const NAME: &'static str = "cortex_read";
    const TITLE: &'static str = "Read lines of a file";
    const DESCRIPTION: &'static str = "Read a chunk found by a search (chunk_id), or lines of an indexed file (path with start_line and end_line), from \
disk as they are now, with secrets as [REDACTED:rule]. Says when the file changed since it was indexed, and where to read on. Read the lines a result names rather than whole files.";
    type Reply = ReadReply;

    fn answer(self, asked: Asked) -> Result<ReadReply, ToolError> {
        let range = self.range()?;
        let taken = asked.take(&self.wait)?;
        let (chunks, root) = (taken.snapshot.code().corpus.chunks(), asked.context.layout.root());
        let mut warnings = taken.warnings.clone();
        let (reply, text, range) = match (&self.chunk_id, &self.path) {
            (Some(id), _) => of_chunk(root, &paths::chunk(chunks, id)?, range, &mut warnings),
            (None, Some(path)) => {
                let path = paths::normal(root, path)?;
                let text = current(root, chunks, &path, &mut warnings)?;
                let changed = verbatim(chunks, &path).any(|c| overlaps(&c, range) && !holds(&text, &c));
                (ReadReply { path: Some(path), changed, ..ReadReply::default() }, text, range)
            }
            (None, None) => return Err(ToolError::Arguments("what is to be read? Give chunk_id, or path and lines".into())),
        };
        asked.call.check()?;
        if reply.changed {
            warnings.push("the file changed since it was indexed: line numbers of earlier results may be off".into());
        }
        let reply = ReadReply { state: State::new(taken.index, warnings), ..reply };
        lines_of(&text, range, &reply, self.max_tokens)
    }
}

impl Args {
    /// First and last line asked for.
    fn range(&self) -> Result<(usize, usize), ToolError> {
        let (mut first, mut last) = (self.start_line, self.end_line);
        if let Some(lines) = &self.lines {
            let wrong = || ToolError::Arguments(format!("lines is `{}`: give them like 10-40", cut(lines, 40)));
            let number = |s: &str| if s.trim().is_empty() { Ok(None) } else { s.trim().parse().map(Some).map_err(|_| wrong()) };
            let (from, to) = lines.split_once(['-', ':']).unwrap_or((lines, lines));
            (first, last) = (first.or(number(from)?), last.or(number(to)?));
        }
        let (first, last) = (first.unwrap_or(1).max(1), last.unwrap_or(usize::MAX));
        if last < first {
            return Err(ToolError::Arguments(format!("the lines end at {last}, before they begin at {first}")));
        }
        Ok((first, last))
    }
}

/// The reply without its lines, the text that they are taken from, and which they are.
fn of_chunk(root: &Path, chunk: &Arc<Chunk>, range: (usize, usize), warnings: &mut Vec<String>) -> (ReadReply, String, (usize, usize)) {
    let whole = range == (1, usize::MAX);
    let m = &chunk.metadata;
    let own = |path: Option<String>| ReadReply { path, chunk_id: Some(chunk.id.to_string()), ..ReadReply::default() };
    let (Some(path), Some(first), Some(last)) = (&m.file_path, m.start_line, m.end_line) else {
        return (own(m.file_path.clone()), chunk.text.clone(), range);
    };
    match paths::normal(root, path).and_then(|p| from_disk(root, &p)) {
        Ok(text) => {
            let changed = is_verbatim(chunk) && !holds(&text, chunk);
            let lines = (first as usize, last as usize);
            // A chunk that only moved is read where it is now.
            let range = if whole { if changed { found_in(&text, chunk).unwrap_or(lines) } else { lines } } else { range };
            (ReadReply { path: Some(path.clone()), changed, ..ReadReply::default() }, text, range)
        }
        Err(e) => {
            warnings.push(format!("{e}. This is the chunk as it was indexed"));
            (own(Some(path.clone())), chunk.text.clone(), range)
        }
    }
}

/// The present text of a file of the index; the last one of a file that was deleted, if it is kept.
fn current(root: &Path, chunks: &ChunkSet, path: &str, warnings: &mut Vec<String>) -> Result<String, ToolError> {
    let found = paths::chunks_of(chunks, path)?;
    match from_disk(root, path) {
        Err(ToolError::NotFound(_)) if found.iter().any(|c| c.metadata.is_deleted()) => {
            warnings.push(format!("`{path}` was deleted. These are its lines as they were indexed; those that no chunk holds are empty"));
            Ok(as_indexed(found.iter().filter(|c| is_verbatim(c))))
        }
        read => read,
    }
}

/// The lines of a file that its chunks hold.
fn as_indexed<'c>(chunks: impl Iterator<Item = &'c Arc<Chunk>>) -> String {
    let mut lines = BTreeMap::new();
    for chunk in chunks {
        lines.extend((chunk.metadata.start_line.unwrap_or(1)..).zip(chunk.text.lines()));
    }
    let last = lines.last_key_value().map_or(0, |(number, _)| *number);
    (1..=last).map(|number| lines.get(&number).copied().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn from_disk(root: &Path, path: &str) -> Result<String, ToolError> {
    read_text(root, path).map_err(|e| match e {
        ReadError::Forbidden(_) => ToolError::Arguments(e.to_string()),
        ReadError::TooLarge { .. } => ToolError::Failed(e.to_string()),
        ReadError::Failed { .. } => ToolError::NotFound(e.to_string()),
    })
}

/// The chunks of a file whose text is that of its lines.
fn verbatim(chunks: &ChunkSet, path: &str) -> impl Iterator<Item = Arc<Chunk>> {
    chunks.read_file(path).into_iter().filter(|c| is_verbatim(c))
}

/// An outline, or another program's summary, is not what stands in the file.
fn is_verbatim(chunk: &Chunk) -> bool {
    let m = &chunk.metadata;
    let n_lines = m.start_line.zip(m.end_line).map(|(a, b)| (b.saturating_sub(a)) as usize + 1);
    chunk.chunk_type != ChunkType::Symbols && n_lines == Some(chunk.text.lines().count())
}

fn overlaps(chunk: &Chunk, (first, last): (usize, usize)) -> bool {
    let m = &chunk.metadata;
    m.start_line.is_some_and(|l| l as usize <= last) && m.end_line.is_some_and(|l| l as usize >= first)
}

/// Whether the chunk's text stands at its lines.
fn holds(text: &str, chunk: &Chunk) -> bool {
    let first = chunk.metadata.start_line.unwrap_or(1).max(1) as usize;
    // A part of a very long line is contained in it.
    let mut there = text.lines().skip(first - 1);
    chunk.text.lines().all(|line| there.next().is_some_and(|now| now == line || now.contains(line) && chunk.text.lines().count() == 1))
}

/// The lines at which the chunk's text stands now.
fn found_in(text: &str, chunk: &Chunk) -> Option<(usize, usize)> {
    let (lines, wanted): (Vec<&str>, Vec<&str>) = (text.lines().collect(), chunk.text.lines().collect());
    let at = lines.windows(wanted.len().max(1)).position(|w| w == wanted)?;
    Some((at + 1, at + wanted.len()))
}

/// As many of the lines as fit.
fn lines_of(text: &str, (first, last): (usize, usize), reply: &ReadReply, max_tokens: usize) -> Result<ReadReply, ToolError> {
    let all: Vec<&str> = text.lines().collect();
    if first > all.len().max(1) {
        return Err(ToolError::Arguments(format!("there is no line {first}: there are {}", all.len())));
    }
    let wanted = &all[first.min(all.len() + 1) - 1..last.min(all.len())];
    // One line alone must not take all the room.
    let room = max_tokens.clamp(MIN_TOKENS, MAX_TOKENS);
    let shown: Vec<String> = wanted.iter().map(|l| cut(l, room)).collect();
    Ok(fit(max_tokens, shown.len().saturating_sub(1), |level| {
        let n = shown.len().min(level + 1);
        let mut state = reply.state.clone();
        if shown.iter().zip(wanted).take(n).any(|(s, l)| s != l) {
            state.warnings.push(format!("a line of more than {room} characters is cut: raise max_tokens to see more of it"));
        }
        ReadReply {
            start_line: first,
            end_line: (first + n).saturating_sub(1),
            total_lines: all.len(),
            content: shown[..n].join("\n"),
            next_start_line: (n < shown.len()).then_some(first + n),
            state,
            ..reply.clone()
        }
    }))
}

impl Reply for ReadReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let what = self.path.as_deref().or(self.chunk_id.as_deref()).unwrap_or_default();
        let mut lines = vec![format!("{}:{}-{} of {} lines", printable(what), self.start_line, self.end_line, self.total_lines)];
        if self.total_lines > 0 {
            lines.extend((self.start_line..).zip(self.content.split('\n')).map(|(number, line)| format!("{number:>5} {line}")));
        }
        lines.extend(self.next_start_line.map(|next| format!("more: start_line {next}")));
        lines
    }
}
