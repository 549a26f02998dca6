//! What a run finds out about one file, and its form for the store of what is known by content.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chunker::{chunk_and_relate, chunk_file, chunk_lines, set_origin};
use super::relating::{FileRelations, HandOn, RelationsRun};
use crate::chunk::{Chunk, ChunkType};
use crate::grams::filter_of;
use crate::known::{self, Known, Packed};
use crate::secrets::redact_file;
use crate::source::{DeclaredOrigin, sha256, text_of};
use crate::store::SourceEntry;
use crate::syntax::{ParseLimit, with_limit};

/// A hash of the code that makes chunks: a change means that a source may give other chunks.
pub(super) const CHUNKER_VERSION: &str = env!("VERSION_OF_CHUNKS");

/// What a run found out about one file.
pub(super) struct Parsed {
    pub(super) entry: SourceEntry,
    pub(super) chunks: Vec<Chunk>,
    /// The trigrams of its text without secrets; empty if it is not text.
    pub(super) filter: Vec<u8>,
    /// Hands on the relations of the file.
    pub(super) hand_on: Option<HandOn>,
    /// Where it came from.
    pub(super) made_by: MadeBy,
}

/// Where the data of a file came from.
pub(super) enum MadeBy {
    /// The file was parsed, or cannot be. The value is not known yet.
    Parser(Option<(known::Key, Packed)>),
    /// The store.
    Store,
}

/// The value of a file in the store: everything that follows from its content and the key.
#[derive(Serialize, Deserialize)]
struct Value<'a> {
    lines: u64,
    secrets: Vec<(u32, String)>,
    /// The number of the type of each chunk, and its JSON.
    #[serde(borrow)]
    chunks: Vec<(usize, &'a RawValue)>,
    /// The rows that [`RelationsRun::take`] made.
    #[serde(borrow)]
    relations: Option<&'a RawValue>,
}

/// The store that a run uses.
#[derive(Clone, Copy)]
pub(super) struct Store<'a> {
    pub(super) known: &'a Known,
    /// Whether it is only written, since the user wants every file parsed.
    pub(super) is_write_only: bool,
}

/// Takes the data of a file from the store, else parses its text. `entry` has the hash of `bytes`.
pub(super) fn parsed(
    path: &str,
    bytes: &[u8],
    mut entry: SourceEntry,
    store: Option<Store>,
    relating: Option<&dyn RelationsRun>,
) -> Parsed {
    let key = store.map(|_| key(path, &entry.sha256, entry.origin));
    if let (Some(store), Some(key)) = (store.filter(|store| !store.is_write_only), &key)
        && let Some(value) = store.known.get(key)
        && let Some(parsed) = from_store(path, bytes, &value, &entry, relating)
    {
        return parsed;
    }
    let text = text_of(bytes);
    entry.lines = text.lines().count() as u64;
    // Redact first, so that no chunk, vector or index holds a secret.
    let redacted = redact_file(&text);
    entry.secrets =
        redacted.found.into_iter().map(|(line, rule)| (line, rule.to_string())).collect();
    let text = &*redacted.text;
    let filter = filter_of(text);
    let mut rows = None;
    let read = || match relating {
        None => (chunk_file(path, text), None),
        Some(run) => {
            let (chunks, relations) = chunk_and_relate(path, text);
            let file = FileRelations { path, hash: &entry.sha256, text, relations };
            (chunks, Some(run.take(file, key.is_some().then_some(&mut rows))))
        }
    };
    // A parser that panics must not exclude the file: it is cut by lines.
    let (read, limit) = with_limit(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)));
    // What a limit of steps cuts is the same in every run. What a limit of time cuts may be whole in
    // the next one.
    let is_out_of_time = limit == Some(ParseLimit::Time);
    entry.n_timeouts = u8::from(is_out_of_time);
    let is_whole = read.is_ok() && !is_out_of_time;
    let (mut chunks, hand_on) = read.unwrap_or_else(|_| (chunk_lines(path, text), None));
    // The code graph parses a file itself whose relations it does not receive.
    let hand_on = hand_on.filter(|_| !is_out_of_time);
    set_origin(&mut chunks, entry.origin, path, text);
    count(&mut entry, &chunks);
    let value = key.filter(|_| is_whole).and_then(|key| {
        let packed = known::pack(&key, &to_store(&entry, &chunks, rows.as_deref())?)?;
        Some((key, packed))
    });
    Parsed { entry, chunks, filter, hand_on, made_by: MadeBy::Parser(value) }
}

/// Returns the key of a file: everything that decides its value.
fn key(path: &str, hash: &str, origin: DeclaredOrigin) -> known::Key {
    let version = concat!(env!("CARGO_PKG_VERSION"), " ", env!("VERSION_OF_CHUNKS"));
    // No path holds a zero byte.
    sha256(format!("file\0{version}\0{origin:?}\0{hash}\0{path}").as_bytes())
}

fn count(entry: &mut SourceEntry, chunks: &[Chunk]) {
    for chunk in chunks {
        entry.n_chunks[chunk.chunk_type as usize] += 1;
    }
}

fn to_store(entry: &SourceEntry, chunks: &[Chunk], rows: Option<&str>) -> Option<Vec<u8>> {
    let raw = |json: String| RawValue::from_string(json).ok();
    let lines: Option<Vec<Box<RawValue>>> = chunks.iter().map(|c| raw(c.to_json())).collect();
    let (lines, rows) = (lines?, rows.and_then(|rows| raw(rows.into())));
    let value = Value {
        lines: entry.lines,
        secrets: entry.secrets.clone(),
        chunks: chunks
            .iter()
            .map(|c| c.chunk_type as usize)
            .zip(lines.iter().map(|l| &**l))
            .collect(),
        relations: rows.as_deref(),
    };
    serde_json::to_vec(&value).ok()
}

/// Returns `None` if the value lacks anything that this run needs.
fn from_store(
    path: &str,
    bytes: &[u8],
    value: &[u8],
    entry: &SourceEntry,
    relating: Option<&dyn RelationsRun>,
) -> Option<Parsed> {
    let value: Value = serde_json::from_slice(value).ok()?;
    let read = |(t, json): &(usize, &RawValue)| {
        let mut chunk = Chunk::from_json(json.get(), *ChunkType::SEARCHED.get(*t)?).ok()?;
        chunk.created_at = chrono::DateTime::UNIX_EPOCH;
        chunk.updated_at = chrono::DateTime::UNIX_EPOCH;
        Some(chunk)
    };
    let chunks: Vec<Chunk> = value.chunks.iter().map(read).collect::<Option<_>>()?;
    let hand_on = match relating {
        None => None,
        Some(run) => Some(run.take_known(path, &entry.sha256, value.relations?.get())?),
    };
    let mut entry = SourceEntry { lines: value.lines, secrets: value.secrets, ..entry.clone() };
    count(&mut entry, &chunks);
    let text = text_of(bytes);
    // It is not in the store, because it follows from the text.
    let filter = if entry.secrets.is_empty() {
        filter_of(&text)
    } else {
        filter_of(&redact_file(&text).text)
    };
    Some(Parsed { entry, chunks, filter, hand_on, made_by: MadeBy::Store })
}
