//! An immutable collection of chunks.

use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::entry::hash_of_id;
use super::{Chunk, ChunkId, ChunkType, Entry, Fingerprint};

/// All chunks of one generation, by id and by file. The set is immutable and shared by all readers.
///
/// A reload makes a set from thousands of chunks, most of which were in the previous one. Its cost
/// is the memory that it touches. So the names are hashed on all cores, and the tables hold
/// positions instead of names.
#[derive(Debug, Default)]
pub struct ChunkSet {
    entries: Vec<Arc<Entry>>,
    /// The chunks of type history.
    commits: Vec<Arc<Entry>>,
    tables: OnceLock<Tables>,
}

/// The positions of entries, computed on first use.
#[derive(Debug, Default)]
struct Tables {
    by_id: HashTable<u32>,
    /// Positions of each file's chunks, in order.
    files: Vec<Vec<u32>>,
    /// Positions in `files`.
    by_file: HashTable<u32>,
}

/// An id that occurred more than once. The last chunk with it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub id: ChunkId,
}

/// Returns the fingerprint of a path. Two paths with the same fingerprint are treated as equal.
fn fingerprint(path: &str) -> Fingerprint {
    xxh3_128(path.as_bytes())
}

/// The hash of a fingerprint in hash tables.
#[expect(clippy::cast_possible_truncation, reason = "any half of a hash is a hash")]
fn short(fingerprint: Fingerprint) -> u64 {
    fingerprint as u64
}

/// Returns for each entry the hash of its id and the fingerprint of its path.
fn hashes(entries: &[Arc<Entry>]) -> impl Iterator<Item = (u64, Option<Fingerprint>)> {
    let mut last: Option<(&Arc<str>, Fingerprint)> = None;
    entries.iter().map(move |e| {
        let of_path = |path| {
            // Neighbours mostly share their path; then its text is not read.
            let (_, fingerprint) = *last.insert(
                last.filter(|(p, _)| Arc::ptr_eq(p, path))
                    .unwrap_or_else(|| (path, fingerprint(path))),
            );
            fingerprint
        };
        (e.id_hash(), e.file_path.as_ref().map(of_path))
    })
}

impl Tables {
    /// Builds the tables. If several entries have the same id, only the last one is kept, at the
    /// position of the first.
    fn new(all: &mut Vec<Arc<Entry>>) -> (Self, Vec<Duplicate>) {
        let mut hashes: Vec<(u64, Option<Fingerprint>)> =
            all.par_chunks(1024).flat_map_iter(hashes).collect();
        let (mut by_id, mut duplicates, mut kept) =
            (HashTable::with_capacity(all.len()), Vec::new(), 0);
        for i in 0..all.len() {
            let is_it = |at: &u32| {
                hashes[*at as usize].0 == hashes[i].0 && all[*at as usize].id == all[i].id
            };
            let found = by_id.find(hashes[i].0, is_it).copied();
            let at = found.map_or(kept, |at| at as usize);
            if found.is_some() {
                duplicates.push(Duplicate { id: all[i].id.clone() });
            } else {
                by_id.insert_unique(hashes[i].0, as_index(kept), |at| hashes[*at as usize].0);
                kept += 1;
            }
            hashes[at] = hashes[i];
            all.swap(at, i);
        }
        all.truncate(kept);
        let (mut files, mut by_file) = (Vec::<Vec<u32>>::new(), HashTable::new());
        let mut paths: Vec<Fingerprint> = Vec::new();
        for (i, (_, path)) in (0u32..).zip(&hashes[..kept]) {
            let Some(path) = *path else { continue };
            match by_file.find(short(path), |f: &u32| paths[*f as usize] == path) {
                Some(&f) => files[f as usize].push(i),
                None => {
                    by_file.insert_unique(short(path), as_index(files.len()), |f: &u32| {
                        short(paths[*f as usize])
                    });
                    paths.push(path);
                    files.push(vec![i]);
                }
            }
        }
        (Self { by_id, files, by_file }, duplicates)
    }
}

impl ChunkSet {
    /// Collects entries in order. If several entries have the same id, only the last one is kept,
    /// at the position of the first.
    #[must_use]
    pub fn new(all: Vec<Arc<Entry>>) -> (Self, Vec<Duplicate>) {
        let mut set = Self::of_unique(all);
        let (tables, duplicates) = Tables::new(&mut set.entries);
        set.tables = OnceLock::from(tables);
        (set, duplicates)
    }

    /// Collects entries whose ids are known to be distinct.
    #[must_use]
    pub fn of_unique(all: Vec<Arc<Entry>>) -> Self {
        let (commits, entries) = all.into_iter().partition(|entry| !entry.chunk_type.is_searched());
        Self { entries, commits, tables: OnceLock::new() }
    }

    fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| Tables::new(&mut self.entries.clone()).0)
    }

    /// Returns all entries that can be found: by type, then in the order of the files.
    #[must_use]
    pub fn all(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Returns the chunks of type history, in the order of their files: messages of commits. They
    /// are not among [`ChunkSet::all`] and not counted.
    #[must_use]
    pub fn commits(&self) -> &[Arc<Entry>] {
        &self.commits
    }

    /// Finds the entry with this id, in O(1).
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Arc<Entry>> {
        let at =
            self.tables().by_id.find(hash_of_id(id), |at| &*self.entries[*at as usize].id == id)?;
        Some(&self.entries[*at as usize])
    }

    /// Iterates over the entries of a file, found in O(1): those whose `metadata.file_path` is this
    /// path.
    pub fn by_file(&self, path: &str) -> impl Iterator<Item = &Arc<Entry>> {
        let Tables { files, by_file, .. } = self.tables();
        let is_it = |f: &u32| self.path(&files[*f as usize]) == path;
        let file = by_file.find(short(fingerprint(path)), is_it).map(|f| &files[*f as usize]);
        file.into_iter().flatten().map(|i| &self.entries[*i as usize])
    }

    /// Returns the 0-based position of a chunk among the chunks of its file, in the order of this
    /// set, and how many chunks the file has. Returns `None` for an unknown id or a chunk without a
    /// file.
    #[must_use]
    pub fn place_in_file(&self, id: &str) -> Option<(usize, usize)> {
        let path = self.by_id(id)?.file_path.as_deref()?;
        let at = self.by_file(path).position(|entry| &*entry.id == id)?;
        Some((at, self.by_file(path).count()))
    }

    /// Reads the chunks of a file, and leaves out those that cannot be read.
    #[must_use]
    pub fn read_file(&self, path: &str) -> Vec<Arc<Chunk>> {
        self.by_file(path).filter_map(|entry| entry.chunk()).collect()
    }

    /// Iterates over the files that have chunks, in the order of their first chunks.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.tables().files.iter().map(|file| self.path(file))
    }

    /// Iterates over the same files, each with its language (empty if it has none).
    pub fn written_in(&self) -> impl Iterator<Item = (&str, &str)> {
        let language = |file: &[u32]| {
            file.first()
                .and_then(|i| self.entries[*i as usize].language.as_deref())
                .unwrap_or_default()
        };
        self.tables().files.iter().map(move |file| (self.path(file), language(file)))
    }

    fn path(&self, file: &[u32]) -> &str {
        let first = file.first().map(|i| &self.entries[*i as usize]);
        first.and_then(|e| e.file_path.as_deref()).unwrap_or_default()
    }

    /// Number of chunks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of chunks of a type.
    #[must_use]
    pub fn count(&self, chunk_type: ChunkType) -> usize {
        self.entries.iter().filter(|c| c.chunk_type == chunk_type).count()
    }
}

/// Converts a position to 32 bits. Four billion chunks do not fit in memory anyway.
fn as_index(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^32 chunks")
}
