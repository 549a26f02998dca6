//! The forms in which a repository is stored: its manifest, and the facts about its files and words.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use chrono::DateTime;
use cortex_depot::At;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

use super::{Result, TeamError};
use crate::chunk::{Chunk, ChunkType, Quantized};
use crate::search::Whole;

/// Grows with each change of what is stored.
pub(super) const SCHEMA: u32 = 3;

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
/// How long a namespace is cleared again after it was left, in seconds: a publisher that was stopped
/// may go on to write into it.
const LEFT: i64 = 86_400;
/// Most namespaces that a record names as left.
const MAX_LEFT: usize = 100;
/// Number of blocks of names.
pub(super) const NAME_BLOCKS: usize = 16;
/// Level at which what is stored is compressed.
const LEVEL: i32 = 3;
/// Largest unpacked fact.
const MAX_BYTES: usize = 256 << 20;

/// What a record says of its repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RepositoryManifest {
    pub schema: u32,
    /// 0 before the first one is published.
    pub generation: u64,
    /// Where the generation is stored: see [`Lease::namespace`].
    pub(super) namespace: u64,
    /// Namespaces that no publisher uses any more.
    pub(super) left: Vec<Left>,
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
    /// Where it stores: a random number. A publisher goes on in the namespace of the last generation if
    /// the publication before it has ended; otherwise it begins a new one, so it never shares one with a
    /// publisher that may wake up and write.
    pub(super) namespace: u64,
    /// When another may take over, in seconds since 1970; 0 if its publication was given up.
    pub until: i64,
}

/// A namespace that no publisher uses any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Left {
    pub(super) namespace: u64,
    /// Until when questions may read it, in seconds since 1970.
    until: i64,
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

impl RepositoryManifest {
    /// Returns the manifest of a repository of which nothing is published.
    pub(super) fn new(embedder: &str) -> Self {
        Self { schema: SCHEMA, embedder: embedder.into(), ..Self::default() }
    }

    /// Returns the oldest generation that a question may still see at `now`, in seconds since 1970: a
    /// question that began before the next one was published.
    pub(super) fn oldest_in_use(&self, now: i64) -> u64 {
        let before = self.published.iter().rev().find(|(_, when)| now.saturating_sub(*when) > KEPT);
        before.or(self.published.first()).map_or(0, |(generation, _)| *generation)
    }

    /// Reads the text of a repository's record.
    ///
    /// # Errors
    /// When a newer or an older version of this program wrote it, or it is damaged.
    pub fn read(name: &str, text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Schema {
            schema: u32,
        }
        let damaged = |_| TeamError::Damaged("the record", name.into());
        let Schema { schema } = serde_json::from_str(text).map_err(damaged)?;
        match schema.cmp(&SCHEMA) {
            Ordering::Less => Err(TeamError::Older { name: name.into(), schema, known: SCHEMA }),
            Ordering::Equal => serde_json::from_str(text).map_err(damaged),
            Ordering::Greater => Err(TeamError::Newer { name: name.into(), schema, known: SCHEMA }),
        }
    }

    /// Returns where the generation of a repository is stored.
    pub(super) fn at(&self, name: &str) -> At {
        at(name, self.namespace, self.generation)
    }

    /// Returns the last generation that is whole where a publisher stores: nothing in a new namespace.
    pub(super) fn before(&self, lease: &Lease, name: &str) -> At {
        let is_new = self.generation == 0 || lease.namespace != self.namespace;
        at(name, lease.namespace, if is_new { 0 } else { self.generation })
    }

    /// Notes that no publisher will use a namespace any more; questions may, until then.
    pub(super) fn leave(&mut self, namespace: u64, now: i64, is_seen: bool) {
        let until = if is_seen { now + KEPT } else { now };
        self.left.retain(|left| now.saturating_sub(left.until) <= LEFT);
        if self.left.len() >= MAX_LEFT {
            self.left.remove(0);
        }
        self.left.push(Left { namespace, until });
    }

    /// Returns the namespaces that no publisher uses and no question reads.
    pub(super) fn cleared(&self, now: i64) -> impl Iterator<Item = u64> {
        let left = self.left.iter().take(MAX_LEFT);
        left.filter(move |left| left.until <= now).map(|left| left.namespace)
    }

    /// Returns the number of each namespace that may hold something of the repository.
    pub(super) fn numbers(&self, name: &str) -> BTreeSet<i64> {
        let lease = self.lease.iter().map(|lease| lease.namespace);
        let left = self.left.iter().take(MAX_LEFT).map(|left| left.namespace);
        lease.chain(left).chain([self.namespace]).map(|space| number(name, space)).collect()
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

/// Returns the number under which a depot keeps a namespace of a repository.
pub(super) fn number(name: &str, namespace: u64) -> i64 {
    i64::try_from(xxh3_64_with_seed(name.as_bytes(), namespace) >> 1).unwrap_or(0)
}

fn at(name: &str, namespace: u64, generation: u64) -> At {
    At { repository: number(name, namespace), generation }
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
