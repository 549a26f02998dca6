//! The forms in which a repository is stored: its manifest, and the facts about its files and words.

use std::sync::Arc;

use bitcode::{Decode, Encode};
use chrono::DateTime;
use cortex_depot::At;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::chunk::{Chunk, ChunkType, Quantized};
use crate::search::Whole;

/// Grows with each change of what is stored.
pub(super) const SCHEMA: u32 = 1;

/// The kinds of facts: a file or a commit; the files that a file uses; counts of words; names; what
/// tells whether a question is about the repository.
pub(super) const FILE: u8 = cortex_depot::FILE;
pub(super) const USES: u8 = 1;
pub(super) const COUNTS: u8 = 2;
pub(super) const NAMES: u8 = 3;
pub(super) const SKETCH: u8 = 4;

/// How long a generation is kept after the next one was published, in seconds: longer than any
/// question takes.
const KEPT: i64 = 600;
/// Number of blocks of names.
pub(super) const NAME_BLOCKS: usize = 16;
/// Level at which what is stored is compressed.
const LEVEL: i32 = 3;
/// Largest unpacked fact.
const MAX_BYTES: usize = 256 << 20;

/// What a record says of its repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: u32,
    /// 0 before the first one is published.
    pub generation: u64,
    /// The commit that the generation is of, in hexadecimal; empty outside git.
    pub commit: String,
    /// Commits that were published: the first, and the last ones. They tell which checkouts are of this
    /// repository.
    #[serde(default)]
    pub commits: Vec<String>,
    /// Which embedder made the vectors.
    pub embedder: String,
    /// [`Whole`], in hexadecimal.
    pub(super) whole: String,
    /// Where the counts of words are, oldest first.
    pub(super) counts: Vec<Segment>,
    /// The last generations and when each was published, in seconds since 1970; the newest last.
    pub published: Vec<(u64, i64)>,
    pub lease: Option<Lease>,
}

/// A publisher at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who it is, for people.
    pub who: String,
    /// Names it among all.
    pub nonce: u64,
    /// When another may take over, in seconds since 1970.
    pub until: i64,
}

/// Counts of words: of all files, or what a publication changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Segment {
    pub(super) number: u32,
    /// There are 2^bits blocks.
    pub(super) bits: u32,
}

impl Segment {
    /// Returns the key of a block.
    pub(super) fn key(self, block: usize) -> i64 {
        i64::from(self.number) << 24 | i64::try_from(block).unwrap_or(0)
    }
}

impl Manifest {
    /// Returns the manifest of a repository of which nothing is published.
    pub(super) fn new(embedder: &str) -> Self {
        Self {
            schema: SCHEMA,
            generation: 0,
            commit: String::new(),
            commits: Vec::new(),
            embedder: embedder.into(),
            whole: String::new(),
            counts: Vec::new(),
            published: Vec::new(),
            lease: None,
        }
    }

    /// Returns the oldest generation that a question may still see at `now`, in seconds since 1970: a
    /// question that began before the next one was published.
    pub(super) fn oldest_in_use(&self, now: i64) -> u64 {
        let before = self.published.iter().rev().find(|(_, when)| now - when > KEPT);
        before.or(self.published.first()).map_or(0, |(generation, _)| *generation)
    }

    /// Reads the text of a record; `None` if it is none of this program.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns what is known of the corpus as a whole.
    #[must_use]
    pub fn whole(&self) -> Option<Whole> {
        let byte = |at| u8::from_str_radix(self.whole.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..self.whole.len()).step_by(2).map(byte).collect();
        bitcode::decode(&bytes?).ok()
    }

    pub(super) fn set_whole(&mut self, whole: &Whole) {
        self.whole = bitcode::encode(whole).iter().map(|byte| format!("{byte:02x}")).collect();
    }
}

/// Returns the number of a repository.
pub(super) fn number(name: &str) -> i64 {
    i64::try_from(xxh3_64(name.as_bytes()) >> 1).unwrap_or(0)
}

/// Returns the generation of a repository.
pub(super) fn at(name: &str, generation: u64) -> At {
    At { repository: number(name), generation }
}

/// Returns the key of the file at a path, or of a commit, by its id.
pub(super) fn key(path: &str) -> i64 {
    xxh3_64(path.as_bytes()).cast_signed()
}

/// A file or a commit, as it is stored.
#[derive(Debug, Clone, Encode, Decode)]
pub(super) struct Pack {
    /// The path; the id of a commit, or of a chunk without a file.
    pub(super) path: String,
    chunks: Vec<PackedChunk>,
}

#[derive(Debug, Clone, Encode, Decode)]
struct PackedChunk {
    json: String,
    chunk_type: ChunkType,
    components: Vec<i8>,
    scale: f32,
}

/// A chunk and its vector.
pub(super) type WithVector = (Arc<Chunk>, Option<Quantized>);

impl Pack {
    /// Packs the chunks of a file. The times of chunks are when each was indexed first, which differs
    /// from machine to machine: they are left out, except those of commits.
    pub(super) fn new(path: &str, chunks: &[WithVector]) -> Self {
        let packed = |(chunk, vector): &WithVector| {
            let mut chunk = Chunk { embedding: None, ..(**chunk).clone() };
            if chunk.chunk_type.is_searched() {
                chunk.created_at = DateTime::UNIX_EPOCH;
                chunk.updated_at = DateTime::UNIX_EPOCH;
            }
            PackedChunk {
                json: chunk.to_json(),
                chunk_type: chunk.chunk_type,
                components: vector.as_ref().map_or_else(Vec::new, |v| v.components.clone()),
                scale: vector.as_ref().map_or(0.0, |v| v.scale),
            }
        };
        Self { path: path.into(), chunks: chunks.iter().map(packed).collect() }
    }

    /// Returns the chunks; `None` if one is not one.
    pub(super) fn chunks(&self) -> Option<Vec<WithVector>> {
        let unpacked = |packed: &PackedChunk| {
            let chunk = Chunk::from_json(&packed.json, packed.chunk_type).ok()?;
            let vector = (!packed.components.is_empty())
                .then(|| Quantized { scale: packed.scale, components: packed.components.clone() });
            Some((Arc::new(chunk), vector))
        };
        self.chunks.iter().map(unpacked).collect()
    }
}

/// Returns the commit that was packed, if it was one.
pub(super) fn commit(chunks: &[WithVector]) -> Option<&Arc<Chunk>> {
    match chunks {
        [(commit, _)] if !commit.chunk_type.is_searched() => Some(commit),
        _ => None,
    }
}

/// The files that a file uses, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Uses {
    /// The keys of the files.
    pub(super) files: Vec<i64>,
    pub(super) has_header: bool,
}

/// Returns the data of a fact and its hash.
pub(super) fn pack<T: Encode>(what: &T) -> (Vec<u8>, i64) {
    compressed(&bitcode::encode(what))
}

/// Returns bytes compressed, and their hash.
pub(super) fn compressed(bytes: &[u8]) -> (Vec<u8>, i64) {
    let hash = u64::try_from(xxh3_128(bytes) >> 64).unwrap_or(0).cast_signed();
    (zstd::bulk::compress(bytes, LEVEL).unwrap_or_default(), hash)
}

/// Reads the data of a fact; `None` if it is not what was stored.
pub(super) fn decompressed(data: &[u8]) -> Option<Vec<u8>> {
    let size = zstd::bulk::Decompressor::upper_bound(data).filter(|size| *size <= MAX_BYTES)?;
    zstd::bulk::decompress(data, size).ok()
}

/// Reads the data of a fact; `None` if it is not what was stored.
pub(super) fn unpack<T: for<'d> Decode<'d>>(data: &[u8]) -> Option<T> {
    bitcode::decode(&decompressed(data)?).ok()
}
