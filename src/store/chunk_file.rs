//! The JSON of a chunk file, in and out.
//!
//! Any program may write these files, in any JSON layout. Our own have the header on the first line, one chunk on each
//! further line and `]}` on the last: they diff well, and they are parsed on all cores without being scanned first.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

use crate::chunk::{Chunk, ChunkType, Entry, Lines, ParseError};
use crate::secrets::redact_file;

/// Version of the layout that this program writes.
const FORMAT_VERSION: u32 = 1;
const CHUNKS_OPEN: &str = "\"chunks\":[";
pub(super) const CLOSE: &str = "]}\n";

/// The optional `_metadata` of a chunk file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    #[serde(default)]
    pub format_version: u32,
    #[serde(default)]
    pub generator: String,
    /// Embedder of the inline vectors, or the one that the writer used.
    #[serde(default)]
    pub embedder: String,
    /// Length of those vectors.
    #[serde(default)]
    pub dimensions: usize,
}

impl Header {
    /// What can be understood of another writer's header.
    fn lenient(json: &serde_json::Value) -> Self {
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_string();
        let number = |key: &str| json[key].as_u64().unwrap_or_default();
        Self {
            format_version: u32::try_from(number("format_version")).unwrap_or_default(),
            generator: text("generator"),
            embedder: text("embedder"),
            dimensions: usize::try_from(number("dimensions")).unwrap_or_default(),
        }
    }

    /// The header of a file that this program writes.
    #[must_use]
    pub fn ours(embedder: &str, dimensions: usize) -> Self {
        let generator = concat!("cortex ", env!("CARGO_PKG_VERSION")).to_string();
        Self { format_version: FORMAT_VERSION, generator, embedder: embedder.to_string(), dimensions }
    }
}

/// Why a chunk file cannot be used. Each names the file and the place.
#[derive(Debug, thiserror::Error)]
pub enum ChunkFileError {
    #[error("a chunk file cannot be read: {source}")]
    Read { source: std::io::Error },
    #[error("{}:{line}:{column}: not a chunk file: {message}; repair the file, or run `cortex index --full` to write it anew", path.display())]
    Malformed { path: PathBuf, line: usize, column: usize, message: String },
    #[error("{}: chunk {chunk}: {message}", path.display())]
    Chunk { path: PathBuf, chunk: String, message: String },
}

/// A parsed chunk file.
#[derive(Debug, Default)]
pub struct ParsedFile {
    pub header: Option<Header>,
    pub entries: Vec<Arc<Entry>>,
    /// Hash of each chunk's line; empty when the file has another layout than ours.
    lines: Vec<u128>,
    /// Whether each chunk was taken from an earlier load; empty when none was.
    is_known: Vec<bool>,
}

/// First line of a file of ours.
pub(super) fn opening(header: &Header) -> String {
    // Cannot fail: the header is a struct of strings and numbers.
    let header = serde_json::to_string(header).expect("a header is always representable as JSON");
    format!("{{\"_metadata\":{header},{CHUNKS_OPEN}\n")
}

/// Parses a chunk file of any writer. `path` is for messages only. Chunks whose line stands in `known` are taken from there.
///
/// # Errors
/// [`ChunkFileError::Malformed`] with line and column, or [`ChunkFileError::Chunk`] for a chunk that lacks id or text,
/// or whose vector differs in length from the others or the header.
pub fn parse_chunk_file(path: &Path, bytes: &[u8], file_type: ChunkType, known: Option<&ParsedFile>) -> Result<ParsedFile, ChunkFileError> {
    let malformed = |line, column, message: String| ChunkFileError::Malformed { path: path.to_path_buf(), line, column, message };
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let (line, column) = position(bytes, e.valid_up_to());
        malformed(line, column, "invalid UTF-8".into())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(malformed(1, 1, "the file is empty (`{\"chunks\":[]}` is the least)".into()));
    }
    let parsed = match parse_lines(text, file_type, known) {
        Some(parsed) => parsed,
        None => parse_any(text, file_type).map_err(|e| match e {
            Trouble::Json(line, column, message) => malformed(line, column, message),
            Trouble::Chunk(chunk, message) => ChunkFileError::Chunk { path: path.to_path_buf(), chunk, message },
        })?,
    };
    check_vectors(path, &parsed)?;
    Ok(parsed)
}

/// A chunk of a file that is read whole, which another program may have written: our own indexer left no secret in it.
fn without_secrets(mut chunk: Chunk) -> Chunk {
    if let Cow::Owned(clean) = redact_file(&chunk.text).text {
        chunk.text = clean;
    }
    chunk
}

/// The layout that we write; `None` when the text is not exactly that.
fn parse_lines(text: &str, file_type: ChunkType, known: Option<&ParsedFile>) -> Option<ParsedFile> {
    let (first, rest) = text.split_once('\n')?;
    let body = rest.strip_suffix(CLOSE)?;
    let header = first.strip_prefix("{\"_metadata\":")?.strip_suffix(CHUNKS_OPEN)?.strip_suffix(',')?;
    let header: Header = serde_json::from_str(header).ok()?;
    // The header decides which vectors count: chunks under another one are not the same.
    let known = known.filter(|k| k.header.as_ref() == Some(&header));
    let known: FxHashMap<u128, &Arc<Entry>> = known.map_or_else(FxHashMap::default, |k| k.lines.iter().copied().zip(&k.entries).collect());
    let parse = |line: &&str| {
        let hash = xxh3_128(line.as_bytes());
        let (entry, is_known) = match known.get(&hash) {
            Some(entry) => (Arc::clone(entry), true),
            None => (Arc::new(Entry::from(without_secrets(Chunk::from_json(line, file_type).ok()?))), false),
        };
        Some((hash, (entry, is_known)))
    };
    let lines: Vec<&str> = chunk_lines(body).collect();
    let parsed = lines.par_iter().with_min_len(16).map(parse).collect::<Option<Vec<_>>>()?;
    let (lines, (entries, is_known)) = parsed.into_iter().unzip();
    Some(ParsedFile { header: Some(header), entries, lines, is_known })
}

/// The entries of a block of a file of ours, whose lines can be had from `lines`; `None` when it holds something else.
pub(super) fn parse_block(bytes: &[u8], file_type: ChunkType, lines: &Arc<dyn Lines>) -> Option<Vec<Arc<Entry>>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut entries: Vec<Arc<Entry>> = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = text[start..end].strip_suffix(',').unwrap_or(&text[start..end]);
        let at = u32::try_from(start).ok()?..u32::try_from(start + line.len()).ok()?;
        let unparsed = Entry::of_line(line, file_type, lines, at.clone(), entries.last().map(|e| &**e));
        entries.push(Arc::new(match unparsed {
            Some(entry) => entry,
            None => match Chunk::from_json(line, file_type).ok()? {
                chunk if chunk.embedding.is_none() && chunk.chunk_type == file_type => Entry::of_parsed_line(&chunk, line, lines, at),
                chunk => chunk.into(),
            },
        }));
        start = end + 1;
    }
    (start == bytes.len()).then_some(entries)
}

/// The chunk objects between the first and the last line of a file of ours.
fn chunk_lines(body: &str) -> impl Iterator<Item = &str> {
    body.lines().map(|l| l.strip_suffix(',').unwrap_or(l))
}

enum Trouble {
    /// Line, column, message.
    Json(usize, usize, String),
    /// Chunk, message.
    Chunk(String, String),
}

#[derive(Deserialize)]
struct AnyFile<'a> {
    #[serde(rename = "_metadata", default)]
    metadata: Option<serde_json::Value>,
    #[serde(borrow)]
    chunks: Option<Vec<&'a RawValue>>,
}

/// Any JSON of the documented shape.
fn parse_any(text: &str, file_type: ChunkType) -> Result<ParsedFile, Trouble> {
    let file: AnyFile = serde_json::from_str(text).map_err(|e| Trouble::Json(e.line(), e.column(), short(&e)))?;
    let raw = file.chunks.unwrap_or_default();
    let entries = raw
        .par_iter()
        .enumerate()
        .with_min_len(16)
        .map(|(i, raw)| {
            let json = raw.get();
            Chunk::from_json(json, file_type).map(|c| Arc::new(Entry::from(without_secrets(c)))).map_err(|(id, e)| {
                let offset = json.as_ptr() as usize - text.as_ptr() as usize;
                let (line, column) = position(text.as_bytes(), offset);
                match e {
                    ParseError::Json(e) => {
                        let column = if e.line() == 1 { column + e.column().saturating_sub(1) } else { e.column() };
                        Trouble::Json(line + e.line() - 1, column, short(&e))
                    }
                    ParseError::Chunk(e) => Trouble::Chunk(id.unwrap_or_else(|| format!("number {} (line {line})", i + 1)), e.to_string()),
                }
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(ParsedFile { header: file.metadata.as_ref().map(Header::lenient), entries, ..ParsedFile::default() })
}

/// The error without serde's own "at line … column …", which counts from the chunk's start.
fn short(e: &serde_json::Error) -> String {
    let message = e.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_string()
}

/// 1-based line and column (in bytes) of an offset.
fn position(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
    (memchr::memchr_iter(b'\n', before).count() + 1, before.len() - line_start + 1)
}

/// All vectors of a file have one length. Where the header states it, chunks that were checked before are not touched.
fn check_vectors(path: &Path, parsed: &ParsedFile) -> Result<(), ChunkFileError> {
    let stated = parsed.header.as_ref().map(|h| h.dimensions).filter(|d| *d > 0);
    let mut expected = stated;
    let is_new = |i: &usize| stated.is_none() || !parsed.is_known.get(*i).is_some_and(|known| *known);
    for chunk in (0..parsed.entries.len()).filter(is_new).filter_map(|i| parsed.entries[i].chunk()) {
        let Some(vector) = &chunk.embedding else { continue };
        let error = |message| ChunkFileError::Chunk { path: path.to_path_buf(), chunk: chunk.id.to_string(), message };
        let length = *expected.get_or_insert(vector.len());
        if vector.len() != length {
            let whose = if stated.is_some() { "the header says" } else { "the chunks before it have" };
            return Err(error(format!("its embedding has {} numbers, but {whose} {length}", vector.len())));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(error("its embedding holds a number that is not finite".into()));
        }
    }
    Ok(())
}
