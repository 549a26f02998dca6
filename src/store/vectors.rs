//! The vector cache: the vectors of one embedder in an append-only file, keyed by the hash of the
//! embedded text.
//!
//! Only the holder of the write lock writes it; any process reads it. Each record has a checksum: a
//! record that a crash left half written is ignored, and its text is embedded again. Compaction
//! writes a new file and renames it.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::at;
use super::layout::next_name;
use super::{Layout, WriteLock};
use crate::chunk::{Fingerprint, Quantized, StoredVectors};
use crate::dir::{OpenMode, SHARED_FILE};

/// Hash of the exact text that was embedded.
pub type VectorKey = Fingerprint;

/// "CXVEC", the format version and two reserved bytes. The rest of the header is the number of
/// dimensions (u32) and the mark of this user and place (i32).
const MAGIC: [u8; 8] = *b"CXVEC\x03\0\0";
const HEADER: usize = 16;
const MARK: usize = 12;
/// A record is the key (u128), a checksum of key and rest (u32), the scale (f32), and one i8 for
/// each dimension.
const KEY: usize = 16;
const PREFIX: usize = KEY + 4;

/// Largest cache that is read, in bytes: some four million vectors.
const MAX_BYTES: u64 = 1 << 30;

/// The kind of file that the mark is for.
const VECTORS: &str = "vectors";

/// Size of a record in bytes.
const fn record_bytes(dimensions: usize) -> usize {
    PREFIX + 4 + dimensions
}

/// The vectors of one embedder, read at one moment.
#[derive(Debug, Default)]
pub struct VectorCache {
    bytes: Vec<u8>,
    /// Offset of scale and components, by key.
    offsets: FxHashMap<VectorKey, usize>,
    dimensions: usize,
}

impl VectorCache {
    /// Reads the cache of `embedder_id`. A missing or foreign file gives an empty cache; damaged
    /// records are left out.
    #[must_use]
    pub fn read(layout: &Layout, embedder_id: &str, dimensions: usize) -> Self {
        Self::parse(
            layout.read(&Layout::vectors(embedder_id), MAX_BYTES).unwrap_or_default(),
            layout,
            dimensions,
        )
    }

    fn parse(bytes: Vec<u8>, layout: &Layout, dimensions: usize) -> Self {
        let mut cache = Self { bytes: Vec::new(), offsets: FxHashMap::default(), dimensions };
        if !bytes.starts_with(&header(layout, dimensions)) {
            return cache;
        }
        let record = record_bytes(dimensions);
        let records: Vec<&[u8]> = bytes[HEADER..].chunks_exact(record).collect();
        let read = |r: &&[u8]| {
            let (key, rest) = r.split_at(KEY);
            let (check, body) = rest.split_at(PREFIX - KEY);
            (checksum(key, body) == check)
                .then(|| VectorKey::from_le_bytes(key.try_into().unwrap_or_default()))
        };
        let keys: Vec<Option<VectorKey>> = records.par_iter().with_min_len(256).map(read).collect();
        cache.offsets = keys
            .into_iter()
            .enumerate()
            .filter_map(|(i, key)| Some((key?, HEADER + i * record + PREFIX)))
            .collect();
        cache.bytes = bytes;
        cache
    }

    /// Reads the cache only as far as needed to find `wanted`. It looks at the end first, since the
    /// latest changes were appended there.
    #[must_use]
    pub fn read_wanted(
        layout: &Layout,
        embedder_id: &str,
        dimensions: usize,
        wanted: &FxHashSet<VectorKey>,
    ) -> Self {
        let record = record_bytes(dimensions);
        let n_tail = wanted.len() * 2 + 64;
        if n_tail < Self::count_records(layout, embedder_id, dimensions) {
            let tail = layout
                .open_file(&Layout::vectors(embedder_id))
                .and_then(|file| read_tail(file, dimensions, n_tail * record));
            let cache = Self::parse(tail.unwrap_or_default(), layout, dimensions);
            if wanted.iter().all(|key| cache.contains(*key)) {
                return cache;
            }
        }
        Self::read(layout, embedder_id, dimensions)
    }

    /// Returns the vector of `key`, with `dimensions` components.
    #[must_use]
    pub fn get(&self, key: VectorKey) -> Option<Quantized> {
        let offset = *self.offsets.get(&key)?;
        let (scale, components) =
            self.bytes[offset..offset + 4 + self.dimensions].split_first_chunk::<4>()?;
        let components = components.iter().map(|byte| byte.cast_signed()).collect();
        Some(Quantized { scale: f32::from_le_bytes(*scale), components })
    }

    /// Whether the cache holds the vector of `key`.
    #[must_use]
    pub fn contains(&self, key: VectorKey) -> bool {
        self.offsets.contains_key(&key)
    }

    /// Returns how many records the file of an embedder holds, unusable ones included. It only
    /// looks at the size of the file.
    #[must_use]
    pub fn count_records(layout: &Layout, embedder_id: &str, dimensions: usize) -> usize {
        let bytes =
            layout.stat(&Layout::vectors(embedder_id)).ok().flatten().map_or(0, |stat| stat.bytes);
        usize::try_from(bytes).unwrap_or(usize::MAX) / record_bytes(dimensions)
    }
}

impl StoredVectors for VectorCache {
    fn contains(&self, passage: VectorKey) -> bool {
        self.contains(passage)
    }

    fn get(&self, passage: VectorKey) -> Option<Quantized> {
        self.get(passage)
    }
}

/// Reads the header and the last whole records, at most `n_bytes` of records.
fn read_tail(mut file: File, dimensions: usize, n_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    file.read_exact(&mut bytes)?;
    let record = record_bytes(dimensions) as u64;
    let n_records = file.metadata()?.len().saturating_sub(HEADER as u64) / record;
    let first = n_records.saturating_sub(n_bytes as u64 / record);
    file.seek(SeekFrom::Start(HEADER as u64 + first * record))?;
    file.take((n_records - first) * record).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether this user made a vector file at the place where it is.
pub(super) fn is_marked(layout: &Layout, name: &str) -> bool {
    let mut header = [0; HEADER];
    layout.open_file(name).and_then(|mut file| file.read_exact(&mut header)).is_ok()
        && header[MARK..] == layout.mark(VECTORS).to_le_bytes()
}

/// Makes a vector file that came from another place of the user one of this place.
pub(super) fn adopt(layout: &Layout, name: &str) -> io::Result<()> {
    let mut file = layout.data()?.file(name, OpenMode::Update, SHARED_FILE)?;
    file.seek(SeekFrom::Start(MARK as u64))?;
    file.write_all(&layout.mark(VECTORS).to_le_bytes())
}

fn header(layout: &Layout, dimensions: usize) -> [u8; HEADER] {
    let mut h = [0; HEADER];
    h[..8].copy_from_slice(&MAGIC);
    h[8..12].copy_from_slice(&u32::try_from(dimensions).unwrap_or(u32::MAX).to_le_bytes());
    h[MARK..].copy_from_slice(&layout.mark(VECTORS).to_le_bytes());
    h
}

fn checksum(key: &[u8], body: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = (xxh3_64(body) ^ xxh3_64(key)).to_le_bytes();
    [a, b, c, d]
}

/// How long the vectors of an embedder are kept after its last write: a user who tries another
/// embedder can go back without computing them again.
const KEEP_UNUSED: Duration = Duration::from_hours(30 * 24);

/// Removes the vectors of other embedders that have not been written for 30 days.
pub fn remove_unused_vectors(layout: &Layout, _lock: &WriteLock, embedder_id: &str) {
    let own = Layout::vectors(embedder_id);
    let is_unused = |name: &&String| {
        **name != own && matches!(layout.stat(name), Ok(Some(stat)) if stat.is_older(KEEP_UNUSED))
    };
    for name in layout.all_vectors().iter().filter(is_unused) {
        // A failure harms nothing: the next run tries again.
        let _ = layout.remove(name);
    }
}

/// Appends vectors to the cache of one embedder.
#[derive(Debug)]
pub struct VectorWriter {
    out: BufWriter<File>,
    layout: Layout,
    name: String,
    path: PathBuf,
    /// The temporary name of a new file, which is renamed to `name` at the end.
    aside: Option<String>,
    n_written: usize,
}

impl VectorWriter {
    /// Opens the cache for appending. Starts a new file if there is none or it is foreign.
    ///
    /// # Errors
    /// When it cannot be opened or repaired.
    pub fn append(
        layout: &Layout,
        _lock: &WriteLock,
        embedder_id: &str,
        dimensions: usize,
    ) -> io::Result<Self> {
        let name = Layout::vectors(embedder_id);
        let open = || {
            let mut file = layout.data()?.file(&name, OpenMode::Update, SHARED_FILE)?;
            let mut start = [0; HEADER];
            let known = file.read_exact(&mut start).is_ok() && start == header(layout, dimensions);
            if !known {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&header(layout, dimensions))?;
            }
            // Cut off a torn last record, so that the next ones are at the offsets where readers
            // look for them.
            let record = record_bytes(dimensions) as u64;
            let body = file.metadata()?.len() - HEADER as u64;
            file.set_len(HEADER as u64 + body / record * record)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| at(&layout.full(&name), &e))?;
        Ok(Self::of(layout, name, None, file))
    }

    /// Starts a new file that replaces the cache when it is finished.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn replace(
        layout: &Layout,
        _lock: &WriteLock,
        embedder_id: &str,
        dimensions: usize,
    ) -> io::Result<Self> {
        let name = Layout::vectors(embedder_id);
        let aside = next_name(&name);
        let mut file = layout.data()?.create(&aside, SHARED_FILE)?;
        file.write_all(&header(layout, dimensions))?;
        Ok(Self::of(layout, name, Some(aside), file))
    }

    fn of(layout: &Layout, name: String, aside: Option<String>, file: File) -> Self {
        let path = layout.full(&name);
        Self { out: BufWriter::new(file), layout: layout.clone(), name, path, aside, n_written: 0 }
    }

    /// Adds one vector.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put(&mut self, key: VectorKey, vector: &Quantized) -> io::Result<()> {
        let key = key.to_le_bytes();
        let mut body = vector.scale.to_le_bytes().to_vec();
        body.extend(vector.components.iter().map(|x| x.cast_unsigned()));
        self.n_written += 1;
        let check = checksum(&key, &body);
        [&key[..], &check, &body]
            .into_iter()
            .try_for_each(|part| self.out.write_all(part))
            .map_err(|e| at(&self.path, &e))
    }

    /// Syncs the file and returns how many vectors were written. A reader that comes later finds
    /// all of them.
    ///
    /// # Errors
    /// When it cannot be synced or renamed.
    pub fn finish(self) -> io::Result<usize> {
        let path = &*self.path;
        let file = self.out.into_inner().map_err(|e| at(path, e.error()))?;
        if self.n_written > 0 || self.aside.is_some() {
            file.sync_all().map_err(|e| at(path, &e))?;
        }
        if let Some(aside) = &self.aside {
            self.layout.data()?.rename(aside, &self.name)?;
        }
        Ok(self.n_written)
    }
}
