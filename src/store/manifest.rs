//! `manifest.json`: states the generation of the chunk files, and the content of each of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::layout::{MANIFEST, in_chunks, next_name};
use super::{Layout, Packing};
use crate::chunk::ChunkType;
use crate::dir::if_there;

/// Largest manifest that is read, in bytes: enough for some four hundred million chunks.
const MAX_BYTES: u64 = 128 << 20;
/// Largest valid generation. No real index reaches it, and the next generation must also be a
/// number.
const MAX_GENERATION: u64 = 1 << 53;

/// The manifest of a generation. It is renamed last, so the renames of all chunk files count as
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Number of the generation. It grows with each change of the chunk set; only `cortex clean`
    /// starts anew.
    pub generation: u64,
    /// When this generation was written, in RFC 3339.
    #[serde(default)]
    pub indexed_at: Option<String>,
    /// Number of files of the tree that changed since the previous generation.
    #[serde(default)]
    pub n_changed: usize,
    /// The chunk files by name. A type without chunks may have no file.
    pub files: BTreeMap<String, FileEntry>,
    /// The blocks of each chunk file, by its name. A reader that knows most of them reads only the
    /// rest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, Vec<Block>>,
}

/// A run of lines of a chunk file. The lines themselves decide where a block ends, so a change
/// leaves the blocks before and after it as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
pub struct Block {
    pub bytes: u32,
    /// In the same form as in [`FileEntry`].
    pub hash: String,
    /// Bytes that it takes in a packed file; 0 in a plain file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub packed: u32,
    /// Number of its lines; 0 if the writer did not count them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
pub struct FileEntry {
    pub bytes: u64,
    /// `xxh3:` and 32 hexadecimal digits.
    pub hash: String,
}

fn written(hash: u128) -> String {
    format!("xxh3:{hash:032x}")
}

impl Block {
    /// The block with these bytes, in a plain file.
    pub(super) fn new(bytes: u32, lines: u32, hash: u128) -> Self {
        Self { bytes, hash: written(hash), packed: 0, lines }
    }

    /// Bytes that it takes in the file.
    pub(super) fn bytes_in_file(&self) -> u32 {
        if self.packed > 0 { self.packed } else { self.bytes }
    }

    /// Whether the block consists of these bytes.
    pub(super) fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.bytes as usize && self.hash == written(xxh3_128(bytes))
    }
}

impl FileEntry {
    /// The entry of a file with this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self::new(content.len() as u64, xxh3_128(content))
    }

    /// Returns the entry of a file of any size, which is read in parts.
    pub(super) fn of_file(file: &mut File) -> io::Result<Self> {
        let (mut hash, mut bytes) = (Xxh3::new(), 0);
        let mut buffer = vec![0; 1 << 18];
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok(Self::new(bytes, hash.digest128()));
            }
            hash.update(&buffer[..n]);
            bytes += n as u64;
        }
    }

    pub(super) fn new(bytes: u64, hash: u128) -> Self {
        Self { bytes, hash: written(hash) }
    }
}

impl Manifest {
    /// Returns what the chunk file of a type must contain; `None` if there must be no such file.
    #[must_use]
    pub fn entry(&self, chunk_type: ChunkType) -> Option<&FileEntry> {
        self.files.get(&self.file_name(chunk_type))
    }

    /// Returns how its chunk files are written; `None` without chunk files.
    #[must_use]
    pub fn packing(&self) -> Option<Packing> {
        self.files.keys().map(|name| Packing::of(name)).next()
    }

    /// The name of a type's chunk file.
    fn file_name(&self, chunk_type: ChunkType) -> String {
        let packed = Layout::chunk_file_name_as(chunk_type, Packing::Zstd);
        if self.files.contains_key(&packed) {
            packed
        } else {
            Layout::chunk_file_name(chunk_type).to_string()
        }
    }

    /// The path of a type's chunk file.
    #[must_use]
    pub fn chunk_file(&self, layout: &Layout, chunk_type: ChunkType) -> PathBuf {
        layout.full(&self.chunk_name(chunk_type))
    }

    /// The name of a type's chunk file below `.cortex`.
    pub(super) fn chunk_name(&self, chunk_type: ChunkType) -> String {
        in_chunks(&self.file_name(chunk_type))
    }

    /// Returns the blocks of a type's chunk file. There are none if the writer did not state them.
    pub(super) fn blocks(&self, chunk_type: ChunkType) -> &[Block] {
        self.blocks.get(&self.file_name(chunk_type)).map_or(&[], Vec::as_slice)
    }

    /// Whether the next generation can be counted: the number may come from a clone.
    #[must_use]
    pub fn is_plausible(&self) -> bool {
        self.generation <= MAX_GENERATION
    }

    /// Whether the file `name` is the chunk file of this type in this generation.
    pub(super) fn states(&self, layout: &Layout, chunk_type: ChunkType, name: &str) -> bool {
        layout.open_file(name).and_then(|mut file| FileEntry::of_file(&mut file)).ok().as_ref()
            == self.entry(chunk_type)
    }

    /// Whether the chunk files are those of this generation, byte for byte.
    #[must_use]
    pub fn is_intact(&self, layout: &Layout) -> bool {
        ChunkType::ALL.par_iter().all(|t| self.states(layout, *t, &self.chunk_name(*t)))
    }

    /// Whether no chunk file is missing or truncated, judged by size. (A file that another program
    /// overwrote is served, with a warning.)
    #[must_use]
    pub fn is_whole(&self, layout: &Layout) -> bool {
        ChunkType::ALL.iter().all(|t| {
            let bytes = layout.stat(&self.chunk_name(*t)).ok().flatten().map(|stat| stat.bytes);
            bytes >= self.entry(*t).map(|e| e.bytes)
        })
    }

    /// Reads the manifest. Returns `None` if there is none, if it cannot be understood, or if this
    /// user did not write it here. It is then ignored, and the next indexer writes a new one.
    ///
    /// # Errors
    /// When the manifest exists but cannot be read.
    pub fn read(layout: &Layout) -> io::Result<Option<Self>> {
        Self::read_named(layout, MANIFEST)
    }

    /// Reads the manifest of the generation that is about to be published.
    pub(super) fn read_next(layout: &Layout) -> io::Result<Option<Self>> {
        Self::read_named(layout, &next_name(MANIFEST))
    }

    fn read_named(layout: &Layout, name: &str) -> io::Result<Option<Self>> {
        let read = if_there(layout.read(name, MAX_BYTES))?;
        Ok(read.and_then(|mut bytes| layout.unsealed(MANIFEST, &mut bytes).and_then(parse)))
    }

    /// Reads a manifest that need not be of this user. What it says of chunk files counts only after
    /// they were compared with the sources.
    #[must_use]
    pub fn read_unsealed(layout: &Layout) -> Option<Self> {
        parse(&layout.read(MANIFEST, MAX_BYTES).ok()?)
    }

    /// Returns the content of the file.
    pub(super) fn to_sealed(&self, layout: &Layout) -> io::Result<Vec<u8>> {
        Ok(layout.sealed(MANIFEST, &serde_json::to_vec(self)?))
    }
}

fn parse(bytes: &[u8]) -> Option<Manifest> {
    serde_json::from_slice(bytes).ok().filter(Manifest::is_plausible)
}

impl Layout {
    /// Whether the project has an index that this user made here.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        matches!(Manifest::read(self), Ok(Some(_)))
    }
}
