//! Parses and writes the JSON of chunk files.
//!
//! Any program may write these files, in any JSON layout. Ours have the header on the first line,
//! one chunk on each further line, and `]}` on the last line. They diff well, and are parsed on all
//! cores without being scanned first.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

use super::foreign::{ChunkJson, ForeignLines, take_apart};
use super::packing::Packing;
use crate::chunk::{Chunk, ChunkType, Entry, Fingerprint, LineStore, ParseError};
use crate::dir::Dir;
use crate::secrets::redact_file;

/// Version of the layout that this program writes.
const FORMAT_VERSION: u32 = 1;
/// Prefix of this program's name as a generator.
pub(super) const GENERATOR: &str = "cortex ";
/// First bytes of each file of ours.
pub(super) const OPENING: &str = "{\"_metadata\":{\"format_version\":1,\"generator\":\"cortex ";
/// Most bytes of the opening that may be damaged. No other program begins nearly as ours.
const MAX_FLIPPED: usize = 2;
const CHUNKS_OPEN: &str = "\"chunks\":[";
pub(super) const CLOSE: &str = "]}\n";

/// The optional `_metadata` of a chunk file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
pub struct Header {
    #[serde(default)]
    pub format_version: u32,
    #[serde(default)]
    pub generator: String,
    /// The embedder of the inline vectors, or the one that the writer used.
    #[serde(default)]
    pub embedder: String,
    /// Numbers in each of those vectors.
    #[serde(default)]
    pub dimensions: usize,
}

impl Header {
    /// Reads what can be understood of another writer's header.
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

    /// Returns the header of a file that this program writes.
    #[must_use]
    pub fn ours(embedder: &str, dimensions: usize) -> Self {
        let generator = [GENERATOR, env!("CARGO_PKG_VERSION")].concat();
        Self {
            format_version: FORMAT_VERSION,
            generator,
            embedder: embedder.to_string(),
            dimensions,
        }
    }
}

/// Why a chunk file cannot be used. The message names the file and, if it has one, the place of the
/// error.
#[derive(Debug, thiserror::Error)]
pub enum ChunkFileError {
    #[error("a chunk file cannot be read: {source}")]
    Read { source: std::io::Error },
    #[error("{}:{line}:{column}: not a chunk file: {message}; repair or remove the file, or run `cortex index` if cortex wrote it", path.display())]
    Malformed { path: PathBuf, line: usize, column: usize, message: String },
    #[error("{}: chunk {chunk}: {message}", path.display())]
    Chunk { path: PathBuf, chunk: String, message: String },
}

impl ChunkFileError {
    /// The error without the advice to index again, for a file that no index run writes.
    pub(super) fn of_others(&self) -> String {
        match self {
            Self::Malformed { path, line, column, message } => {
                format!("{}:{line}:{column}: not a chunk file: {message}", path.display())
            }
            e => e.to_string(),
        }
    }
}

/// A parsed chunk file. The chunks themselves are kept as JSON.
#[derive(Debug, Default)]
pub struct ParsedFile {
    pub header: Option<Header>,
    pub entries: Vec<Arc<Entry>>,
    /// The source of each entry, in the same order.
    pub(super) sources: Vec<Source>,
    /// Numbers in each inline vector; `None` if there are no vectors.
    pub dimensions: Option<usize>,
    /// Whether the inline vectors count.
    pub(super) keeps_vectors: bool,
}

/// The JSON that an entry was parsed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct Source {
    /// Fingerprint of that JSON as it was in the file.
    pub hash: Fingerprint,
    pub has_vector: bool,
}

impl ParsedFile {
    /// How many chunks have an inline vector.
    #[must_use]
    pub fn n_vectors(&self) -> usize {
        self.sources.iter().filter(|s| s.has_vector).count()
    }
}

/// Returns the first line of a file of ours.
pub(super) fn opening(header: &Header) -> String {
    // Cannot fail: the header is a struct of strings and numbers.
    let header = serde_json::to_string(header).expect("a header is always representable as JSON");
    format!("{{\"_metadata\":{header},{CHUNKS_OPEN}\n")
}

/// Parses a chunk file of any writer. `path` is for messages only. Chunks whose JSON is in `known`
/// are taken from there. `keeps_vectors` decides whether the vectors count, from the header and the
/// number of their dimensions.
///
/// # Errors
/// [`ChunkFileError::Malformed`] with line and column, or [`ChunkFileError::Chunk`] for a chunk
/// that lacks id or text, or whose vector differs in length from the others or the header.
pub fn parse_chunk_file(
    path: &Path,
    bytes: &[u8],
    file_type: ChunkType,
    known: Option<&ParsedFile>,
    keeps_vectors: impl Fn(&Header, usize) -> bool,
) -> Result<ParsedFile, ChunkFileError> {
    let malformed = |line, column, message: String| ChunkFileError::Malformed {
        path: path.to_path_buf(),
        line,
        column,
        message,
    };
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let (line, column) = position(bytes, e.valid_up_to());
        malformed(line, column, "invalid UTF-8".into())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(malformed(1, 1, "the file is empty (`{\"chunks\":[]}` is the least)".into()));
    }
    parse(text, file_type, known, keeps_vectors).map_err(|e| match e {
        Trouble::Json(line, column, message) => malformed(line, column, message),
        Trouble::Chunk(chunk, message) => {
            ChunkFileError::Chunk { path: path.to_path_buf(), chunk, message }
        }
    })
}

/// Returns the entries of a block of a file of ours, whose lines `lines` reads. Returns `None` if
/// the block holds anything else.
pub(super) fn parse_block(
    bytes: &[u8],
    file_type: ChunkType,
    lines: &Arc<dyn LineStore>,
) -> Option<Vec<Arc<Entry>>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut entries: Vec<Arc<Entry>> = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = text[start..end].strip_suffix(',').unwrap_or(&text[start..end]);
        let at = u32::try_from(start).ok()?..u32::try_from(start + line.len()).ok()?;
        let unparsed =
            Entry::of_line(line, file_type, lines, at.clone(), entries.last().map(|e| &**e));
        entries.push(Arc::new(match unparsed {
            Some(entry) => entry,
            None => match Chunk::from_json(line, file_type).ok()? {
                chunk if chunk.embedding.is_none() && chunk.chunk_type == file_type => {
                    Entry::of_parsed_line(&chunk, line, lines, at)
                }
                chunk => chunk.into(),
            },
        }));
        start = end + 1;
    }
    (start == bytes.len()).then_some(entries)
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

impl<'a> AnyFile<'a> {
    fn take_apart(text: &'a str) -> Result<(Option<Header>, Vec<ChunkJson<'a>>), Trouble> {
        let trouble = |e: &serde_json::Error| Trouble::Json(e.line(), e.column(), short(e));
        // serde would read the items of an array as the values of the fields.
        if text.trim_start().starts_with('[') {
            return Err(Trouble::Json(
                1,
                1,
                "an object is needed (`{\"chunks\":[]}` is the least)".into(),
            ));
        }
        let taken = take_apart(text).and_then(|parts| {
            let metadata: Option<serde_json::Value> =
                parts.metadata.map(serde_json::from_str).transpose().ok()?;
            let is_json = |value: &&str| serde_json::from_str::<IgnoredAny>(value).is_ok();
            parts.others.iter().all(is_json).then_some((metadata, parts.chunks))
        });
        let (metadata, chunks) = match taken {
            Some(parts) => parts,
            // It is written in an unusual way, or is not JSON: the parser finds out, and knows
            // where the error is.
            None => {
                let file: AnyFile = serde_json::from_str(text).map_err(|e| trouble(&e))?;
                let whole = |raw: &'a RawValue| ChunkJson { json: raw.get(), vector: None };
                (file.metadata, file.chunks.unwrap_or_default().into_iter().map(whole).collect())
            }
        };
        if metadata.as_ref().is_some_and(|m| !m.is_object() && !m.is_null()) {
            let (line, column) = position(text.as_bytes(), text.find("\"_metadata\"").unwrap_or(0));
            return Err(Trouble::Json(line, column, "`_metadata` is an object".into()));
        }
        Ok((metadata.filter(|m| !m.is_null()).as_ref().map(Header::lenient), chunks))
    }
}

/// Number of chunks whose lines are kept together.
const BATCH: usize = 256;

fn parse(
    text: &str,
    file_type: ChunkType,
    known: Option<&ParsedFile>,
    keeps_vectors: impl Fn(&Header, usize) -> bool,
) -> Result<ParsedFile, Trouble> {
    let (header, parts) = AnyFile::take_apart(text)?;
    let lengths: Vec<usize> =
        parts.par_iter().with_min_len(BATCH).map(ChunkJson::n_numbers).collect();
    let dimensions = check_lengths(header.as_ref(), &parts, &lengths)?;
    let keeps_vectors =
        dimensions.is_some_and(|n| keeps_vectors(header.as_ref().unwrap_or(&Header::default()), n));
    let known: FxHashMap<Fingerprint, &Arc<Entry>> =
        match known.filter(|k| k.keeps_vectors == keeps_vectors) {
            Some(known) => known.sources.iter().map(|s| s.hash).zip(&known.entries).collect(),
            None => FxHashMap::default(),
        };
    let batches = parts.par_chunks(BATCH).zip(lengths.par_chunks(BATCH)).enumerate().map(
        |(at, (parts, lengths))| {
            let source = |(part, n): (&ChunkJson, &usize)| Source {
                hash: xxh3_128(part.json.as_bytes()),
                has_vector: *n > 0,
            };
            let sources: Vec<Source> = parts.iter().zip(lengths).map(source).collect();
            let (mut kept, mut new) = (ForeignLines::default(), Vec::new());
            for (i, (part, _)) in parts
                .iter()
                .zip(&sources)
                .enumerate()
                .filter(|(_, (_, source))| !known.contains_key(&source.hash))
            {
                let chunk = parse_part(part, file_type)
                    .map_err(|(id, e)| trouble(id, e, text, part.json, at * BATCH + i + 1))?;
                if let Some(numbers) = part.numbers().filter(|_| keeps_vectors) {
                    kept.add_numbers(numbers)
                        .map_err(|e| Trouble::Chunk(chunk.id.to_string(), e))?;
                }
                let clean = without_secrets(&chunk);
                let line =
                    clean.as_deref().map_or_else(|| part.around().to_vec(), |json| vec![json]);
                // Unreachable in practice: a chunk file is not that large.
                let Some(place) = kept.add(&line) else {
                    return Err(Trouble::Chunk(
                        chunk.id.to_string(),
                        "the file is too large".into(),
                    ));
                };
                new.push((chunk, place));
            }
            let (lines, mut new): (Arc<dyn LineStore>, _) = (Arc::new(kept), new.into_iter());
            let entry = |source: &Source| match known.get(&source.hash) {
                Some(entry) => Some(Arc::clone(entry)),
                None => new.next().map(|(chunk, place)| {
                    // The same JSON under another header is a different chunk.
                    let hash = source.hash ^ u128::from(keeps_vectors && source.has_vector);
                    Arc::new(Entry::of_chunk(&chunk, (hash, lines.clone(), place)))
                }),
            };
            let entries: Vec<_> = sources.iter().filter_map(entry).collect();
            Ok((sources, entries))
        },
    );
    let mut parsed = ParsedFile { header, dimensions, keeps_vectors, ..ParsedFile::default() };
    for (sources, entries) in batches.collect::<Result<Vec<_>, Trouble>>()? {
        parsed.sources.extend(sources);
        parsed.entries.extend(entries);
    }
    Ok(parsed)
}

/// Returns the JSON of a chunk without its secrets and its vector; `None` if its text holds no
/// secret. Our indexer redacts secrets, but other programs may not.
fn without_secrets(chunk: &Chunk) -> Option<String> {
    match redact_file(&chunk.text).text {
        Cow::Owned(text) => Some(Chunk { text, embedding: None, ..chunk.clone() }.to_json()),
        Cow::Borrowed(_) => None,
    }
}

fn parse_part(
    part: &ChunkJson,
    file_type: ChunkType,
) -> Result<Chunk, (Option<String>, ParseError)> {
    Chunk::from_json(&part.around().concat(), file_type).or_else(|e| match e {
        // Parse the JSON as it is in the file, so that the error has the right place.
        (_, ParseError::Json(_)) if part.vector.is_some() => {
            Chunk::from_json(part.json, file_type).and(Err(e))
        }
        e => Err(e),
    })
}

/// Says what is wrong with a chunk, and where in the file. `number` is the 1-based number of the
/// chunk.
fn trouble(id: Option<String>, e: ParseError, text: &str, json: &str, number: usize) -> Trouble {
    let (line, column) = position(text.as_bytes(), json.as_ptr() as usize - text.as_ptr() as usize);
    match e {
        ParseError::Json(e) => {
            let column =
                if e.line() <= 1 { column + e.column().saturating_sub(1) } else { e.column() };
            let id = serde_json::from_str::<serde_json::Value>(json).ok();
            let id = id.as_ref().and_then(|chunk| chunk["id"].as_str());
            let of = id.map(|id| format!("chunk `{id}`: ")).unwrap_or_default();
            Trouble::Json(line + e.line().saturating_sub(1), column, of + &short(&e))
        }
        ParseError::Chunk(e) => Trouble::Chunk(
            id.unwrap_or_else(|| format!("number {number} (line {line})")),
            e.to_string(),
        ),
    }
}

/// Checks that all vectors of a file have the same length, which the header may state. Returns the
/// length of the first vector.
fn check_lengths(
    header: Option<&Header>,
    parts: &[ChunkJson],
    lengths: &[usize],
) -> Result<Option<usize>, Trouble> {
    let stated = header.map(|h| h.dimensions).filter(|d| *d > 0);
    let first = lengths.iter().copied().find(|n| *n > 0);
    let expected = stated.or(first);
    let Some((part, length)) =
        parts.iter().zip(lengths).find(|(_, n)| **n > 0 && Some(**n) != expected)
    else {
        return Ok(first);
    };
    let id = parse_part(part, ChunkType::Definitions)
        .map_or_else(|(id, _)| id.unwrap_or_default(), |chunk| chunk.id.to_string());
    let whose = if stated.is_some() { "the header says" } else { "the chunks before it have" };
    Err(Trouble::Chunk(
        id,
        format!("its embedding has {length} numbers, but {whose} {}", expected.unwrap_or_default()),
    ))
}

/// Returns the message without serde's own "at line … column …", which counts from the start of the
/// chunk.
fn short(e: &serde_json::Error) -> String {
    let message = e.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_string()
}

/// Returns the 1-based line and column (in bytes) of an offset.
fn position(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
    (memchr::memchr_iter(b'\n', before).count() + 1, before.len() - line_start + 1)
}

/// First bytes of a zstd file.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether another program wrote the file: it does not begin as ours do. (A truncated file of ours
/// begins as ours do, as far as it goes.)
pub(super) fn is_stranger(dir: &Dir, name: &str) -> bool {
    let beginning = |packing| beginning(dir.open_file(name)?, packing);
    match beginning(Packing::of(name)) {
        Ok(bytes) if bytes.is_empty() && Packing::of(name) == Packing::Zstd => {
            // It cannot be unpacked: it is a truncated file of ours, or not a zstd file at all.
            beginning(Packing::Plain)
                .is_ok_and(|bytes| !bytes.iter().zip(ZSTD).all(|(a, b)| *a == b))
        }
        Ok(bytes) => differs(&bytes) > MAX_FLIPPED,
        // The file is missing, or it is something that cannot be a chunk file.
        Err(_) => false,
    }
}

/// Whether a file begins with the whole opening of ours, even if a few bytes of it are damaged.
pub(super) fn is_ours(dir: &Dir, name: &str) -> bool {
    dir.open_file(name)
        .and_then(|file| beginning(file, Packing::of(name)))
        .is_ok_and(|bytes| bytes.len() == OPENING.len() && differs(&bytes) <= MAX_FLIPPED)
}

/// Returns the number of bytes that differ from our opening.
fn differs(beginning: &[u8]) -> usize {
    beginning.iter().zip(OPENING.as_bytes()).filter(|(a, b)| a != b).count()
}

/// Returns the first bytes, at most as many as our opening has.
fn beginning(file: File, packing: Packing) -> io::Result<Vec<u8>> {
    let (mut bytes, most) = (Vec::new(), OPENING.len() as u64);
    // For a truncated zstd file, the part that can be unpacked is enough.
    let read = match packing {
        Packing::Plain => file.take(most).read_to_end(&mut bytes),
        Packing::Zstd => zstd::Decoder::new(file)?.take(most).read_to_end(&mut bytes),
    };
    if packing == Packing::Plain { read.map(|_| bytes) } else { Ok(bytes) }
}
