//! `manifest.json`: which generation the chunk files are, and what each of them must contain.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::layout::{MANIFEST, next_name};
use super::{Layout, Packing};
use crate::chunk::ChunkType;

/// Largest manifest that is read, in bytes: some four hundred million chunks.
const MAX_BYTES: u64 = 128 << 20;
/// Nobody has indexed so often; the next one must be a number, too.
const MAX_GENERATION: u64 = 1 << 53;

/// Renamed last, so that it makes the renames of four files one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Counts the changes of the chunk set; never falls.
    pub generation: u64,
    /// When it was written, RFC 3339.
    #[serde(default)]
    pub indexed_at: Option<String>,
    /// Files of the tree in which it differs from the generation before.
    #[serde(default)]
    pub n_changed: usize,
    /// By file name; a type without chunks may have no file.
    pub files: BTreeMap<String, FileEntry>,
    /// By file name: what its lines of chunks are made of, so that who knows most of them reads the rest only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<String, Vec<Block>>,
}

/// Some lines of a chunk file that follow one another. Where one ends is decided by the lines themselves, so that a change
/// leaves the blocks before and after it as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
pub struct Block {
    pub bytes: u32,
    /// As in [`FileEntry`].
    pub hash: String,
    /// What it takes in the file, where that is packed; else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub packed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What a file contains.
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
    /// The block of these bytes.
    pub(super) fn new(bytes: u32, hash: u128) -> Self {
        Self { bytes, hash: written(hash), packed: 0 }
    }

    /// What it takes in the file.
    pub(super) fn bytes_in_file(&self) -> u32 {
        if self.packed > 0 { self.packed } else { self.bytes }
    }

    /// Whether these bytes are the block.
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

    /// The entry of a file of whatever size.
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
    /// What the chunk file of a type must contain; `None`: there must be no such file.
    #[must_use]
    pub fn entry(&self, chunk_type: ChunkType) -> Option<&FileEntry> {
        self.files.get(&self.file_name(chunk_type))
    }

    /// Name of a type's chunk file.
    fn file_name(&self, chunk_type: ChunkType) -> String {
        let packed = Layout::chunk_file_name_as(chunk_type, Packing::Zstd);
        if self.files.contains_key(&packed) { packed } else { Layout::chunk_file_name(chunk_type).to_string() }
    }

    /// Where the chunk file of a type is.
    #[must_use]
    pub fn chunk_file(&self, layout: &Layout, chunk_type: ChunkType) -> PathBuf {
        layout.full(&self.chunk_name(chunk_type))
    }

    /// Its name below `.cortex`.
    pub(super) fn chunk_name(&self, chunk_type: ChunkType) -> String {
        let [plain, packed] = Layout::chunk_names(chunk_type);
        if self.files.contains_key(&Layout::chunk_file_name_as(chunk_type, Packing::Zstd)) { packed } else { plain }
    }

    /// The blocks of a type's chunk file; none when whoever wrote it does not say.
    pub(super) fn blocks(&self, chunk_type: ChunkType) -> &[Block] {
        self.blocks.get(&self.file_name(chunk_type)).map_or(&[], Vec::as_slice)
    }

    /// Whether the file of this name is the chunk file of its type in this generation.
    pub(super) fn states(&self, layout: &Layout, chunk_type: ChunkType, name: &str) -> bool {
        layout.open_file(name).and_then(|mut file| FileEntry::of_file(&mut file)).ok().as_ref() == self.entry(chunk_type)
    }

    /// Whether the chunk files are those of this generation, byte for byte.
    #[must_use]
    pub fn is_intact(&self, layout: &Layout) -> bool {
        ChunkType::ALL.par_iter().all(|t| self.states(layout, *t, &self.chunk_name(*t)))
    }

    /// Whether no chunk file is missing or cut, by size. (One that another program wrote over is served, with a warning.)
    #[must_use]
    pub fn is_whole(&self, layout: &Layout) -> bool {
        ChunkType::ALL.iter().all(|t| {
            let bytes = layout.stat(&self.chunk_name(*t)).ok().flatten().map(|stat| stat.bytes);
            bytes >= self.entry(*t).map(|e| e.bytes)
        })
    }

    /// Reads the manifest; `None` when there is none, or none that can be understood (then it is as good as absent:
    /// the chunk files speak for themselves and the next indexer writes a new one).
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(layout: &Layout) -> io::Result<Option<Self>> {
        Self::read_named(layout, MANIFEST)
    }

    /// The same of the generation that is about to be published.
    pub(super) fn read_next(layout: &Layout) -> io::Result<Option<Self>> {
        Self::read_named(layout, &next_name(MANIFEST))
    }

    fn read_named(layout: &Layout, name: &str) -> io::Result<Option<Self>> {
        match layout.read(name, MAX_BYTES) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok().filter(|manifest: &Self| manifest.generation <= MAX_GENERATION)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}
