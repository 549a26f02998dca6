//! The vector cache: embeddings of one embedder by the hash of what was embedded, in an append-only file.
//!
//! Written by whoever holds the write lock; read by everybody. A record carries a checksum: what a crash left half
//! written is ignored and embedded again. Compaction writes a new file and renames it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::layout::next_path;
use super::writer::at;
use super::{Layout, WriteLock};
use crate::chunk::Fingerprint;

/// Hash of the exact text that was embedded.
pub type VectorKey = Fingerprint;

/// "CXVEC", format version, three reserved bytes, dimensions (u32), four reserved bytes.
const MAGIC: [u8; 8] = *b"CXVEC\x01\0\0";
const HEADER: usize = 16;
/// Key and checksum before the numbers.
const PREFIX: usize = 16 + 8;

/// The vectors of one embedder, read at one moment.
#[derive(Debug, Default)]
pub struct VectorCache {
    bytes: Vec<u8>,
    /// Key → offset of the numbers.
    offsets: HashMap<VectorKey, usize>,
    dimensions: usize,
    n_records: usize,
}

impl VectorCache {
    /// Reads the cache of `embedder_id`. One that is missing, foreign or damaged is empty, or lacks the damaged part.
    #[must_use]
    pub fn read(layout: &Layout, embedder_id: &str, dimensions: usize) -> Self {
        let bytes = fs::read(layout.vectors(embedder_id)).unwrap_or_default();
        let mut cache = Self { bytes: Vec::new(), offsets: HashMap::new(), dimensions, n_records: 0 };
        if !bytes.starts_with(&header(dimensions)) {
            return cache;
        }
        let record = PREFIX + 4 * dimensions;
        cache.offsets.reserve((bytes.len() - HEADER) / record);
        for (i, r) in bytes[HEADER..].chunks_exact(record).enumerate() {
            let (key, rest) = r.split_at(16);
            let (check, numbers) = rest.split_at(8);
            cache.n_records += 1;
            if checksum(key, numbers).to_le_bytes() == check {
                let key = VectorKey::from_le_bytes(key.try_into().unwrap_or_default());
                cache.offsets.insert(key, HEADER + i * record + PREFIX);
            }
        }
        cache.bytes = bytes;
        cache
    }

    /// Copies the vector of `key` to `out` (its length: the dimensions); false when it is not here.
    pub fn copy_to(&self, key: VectorKey, out: &mut [f32]) -> bool {
        let Some(&offset) = self.offsets.get(&key) else { return false };
        let numbers = &self.bytes[offset..offset + 4 * self.dimensions];
        for (x, bytes) in out.iter_mut().zip(numbers.as_chunks::<4>().0) {
            *x = f32::from_le_bytes(*bytes);
        }
        true
    }

    /// Whether the vector of `key` is here.
    #[must_use]
    pub fn contains(&self, key: VectorKey) -> bool {
        self.offsets.contains_key(&key)
    }

    /// Number of records in the file, the unusable ones included.
    #[must_use]
    pub fn n_records(&self) -> usize {
        self.n_records
    }
}

fn header(dimensions: usize) -> [u8; HEADER] {
    let mut h = [0; HEADER];
    h[..8].copy_from_slice(&MAGIC);
    h[8..12].copy_from_slice(&u32::try_from(dimensions).unwrap_or(u32::MAX).to_le_bytes());
    h
}

fn checksum(key: &[u8], numbers: &[u8]) -> u64 {
    xxh3_64(numbers) ^ xxh3_64(key)
}

/// Appends vectors to the cache of one embedder.
#[derive(Debug)]
pub struct VectorWriter {
    out: BufWriter<File>,
    path: PathBuf,
    /// Renamed over `path` at the end, when this is a new file.
    aside: Option<PathBuf>,
    n_written: usize,
}

impl VectorWriter {
    /// Opens the cache for appending; makes a new file when there is none or it is foreign.
    ///
    /// # Errors
    /// When it cannot be opened or repaired.
    pub fn append(layout: &Layout, _lock: &WriteLock, embedder_id: &str, dimensions: usize) -> io::Result<Self> {
        let path = layout.vectors(embedder_id);
        let open = || {
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            let mut start = [0; HEADER];
            let known = io::Read::read_exact(&mut file, &mut start).is_ok() && start == header(dimensions);
            if !known {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&header(dimensions))?;
            }
            // A torn last record is cut off, so that the next ones stand where they are looked for.
            let record = (PREFIX + 4 * dimensions) as u64;
            let body = file.metadata()?.len() - HEADER as u64;
            file.set_len(HEADER as u64 + body / record * record)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| at(&path, &e))?;
        Ok(Self { out: BufWriter::new(file), path, aside: None, n_written: 0 })
    }

    /// Starts a new file that replaces the cache when it is finished.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn replace(layout: &Layout, _lock: &WriteLock, embedder_id: &str, dimensions: usize) -> io::Result<Self> {
        let path = layout.vectors(embedder_id);
        let aside = next_path(&path);
        let mut file = File::create(&aside).map_err(|e| at(&aside, &e))?;
        file.write_all(&header(dimensions))?;
        Ok(Self { out: BufWriter::new(file), path, aside: Some(aside), n_written: 0 })
    }

    /// Adds one vector.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put(&mut self, key: VectorKey, vector: &[f32]) -> io::Result<()> {
        let key = key.to_le_bytes();
        let numbers: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.n_written += 1;
        let check = checksum(&key, &numbers).to_le_bytes();
        [&key[..], &check, &numbers].into_iter().try_for_each(|part| self.out.write_all(part)).map_err(|e| at(&self.path, &e))
    }

    /// Syncs the file; a reader that comes later finds every vector.
    ///
    /// # Errors
    /// When it cannot be synced or renamed.
    pub fn finish(self) -> io::Result<usize> {
        let path: &Path = &self.path;
        let file = self.out.into_inner().map_err(|e| at(path, e.error()))?;
        if self.n_written > 0 || self.aside.is_some() {
            file.sync_all().map_err(|e| at(path, &e))?;
        }
        if let Some(aside) = &self.aside {
            fs::rename(aside, path).map_err(|e| at(path, &e))?;
        }
        Ok(self.n_written)
    }
}
