//! An immutable collection of chunks.

use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::entry::hash_of_id;
use super::{Chunk, ChunkId, ChunkType, Entry, Fingerprint};

/// All chunks of one generation, by id and by file. Immutable; shared by every reader.
///
/// A reload makes one from thousands of chunks of which most were in the last one. What that costs is the memory that is
/// touched: names are hashed on all cores, and the tables hold positions, not names.
#[derive(Debug, Default)]
pub struct ChunkSet {
    entries: Vec<Arc<Entry>>,
    tables: OnceLock<Tables>,
}

/// Where entries stand, found when it is first asked for.
#[derive(Debug, Default)]
struct Tables {
    by_id: HashTable<u32>,
    /// Positions of each file's chunks, in order.
    files: Vec<Vec<u32>>,
    /// Positions in `files`.
    by_file: HashTable<u32>,
}

/// An id that stood twice in a set; the later chunk won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub id: ChunkId,
}

/// Two paths with one fingerprint are one path.
fn fingerprint(path: &str) -> Fingerprint {
    xxh3_128(path.as_bytes())
}

/// Where a fingerprint stands in a table.
#[expect(clippy::cast_possible_truncation, reason = "any half of a hash is a hash")]
fn short(fingerprint: Fingerprint) -> u64 {
    fingerprint as u64
}

/// Of each entry: the hash of its id, the fingerprint of its path.
fn hashes(entries: &[Arc<Entry>]) -> impl Iterator<Item = (u64, Option<Fingerprint>)> {
    let mut last: Option<(&Arc<str>, Fingerprint)> = None;
    entries.iter().map(move |e| {
        let of_path = |path| {
            // Neighbours mostly share their path: then it is not looked at.
            let (_, fingerprint) = *last.insert(last.filter(|(p, _)| Arc::ptr_eq(p, path)).unwrap_or_else(|| (path, fingerprint(path))));
            fingerprint
        };
        (e.id_hash(), e.file_path.as_ref().map(of_path))
    })
}

impl Tables {
    /// Of entries with one id only the last stays, at the first one's place.
    fn new(all: &mut Vec<Arc<Entry>>) -> (Self, Vec<Duplicate>) {
        let mut hashes: Vec<(u64, Option<Fingerprint>)> = all.par_chunks(1024).flat_map_iter(hashes).collect();
        let (mut by_id, mut duplicates, mut kept) = (HashTable::with_capacity(all.len()), Vec::new(), 0);
        for i in 0..all.len() {
            let is_it = |at: &u32| hashes[*at as usize].0 == hashes[i].0 && all[*at as usize].id == all[i].id;
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
                    by_file.insert_unique(short(path), as_index(files.len()), |f: &u32| short(paths[*f as usize]));
                    paths.push(path);
                    files.push(vec![i]);
                }
            }
        }
        (Self { by_id, files, by_file }, duplicates)
    }
}

impl ChunkSet {
    /// Collects entries in order. Of entries with one id the last wins, everywhere, at the first one's place.
    #[must_use]
    pub fn new(mut all: Vec<Arc<Entry>>) -> (Self, Vec<Duplicate>) {
        let (tables, duplicates) = Tables::new(&mut all);
        (Self { entries: all, tables: OnceLock::from(tables) }, duplicates)
    }

    /// Entries that are known to have different ids.
    #[must_use]
    pub fn of_unique(entries: Vec<Arc<Entry>>) -> Self {
        Self { entries, tables: OnceLock::new() }
    }

    fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| Tables::new(&mut self.entries.clone()).0)
    }

    /// Every chunk: by type, then in the order of the files.
    #[must_use]
    pub fn all(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The chunk with this id, in O(1).
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Arc<Entry>> {
        let at = self.tables().by_id.find(hash_of_id(id), |at| &*self.entries[*at as usize].id == id)?;
        Some(&self.entries[*at as usize])
    }

    /// The chunks of a file, in O(1): those whose `metadata.file_path` is this path.
    pub fn by_file(&self, path: &str) -> impl Iterator<Item = &Arc<Entry>> {
        let Tables { files, by_file, .. } = self.tables();
        let is_it = |f: &u32| self.path(&files[*f as usize]) == path;
        let file = by_file.find(short(fingerprint(path)), is_it).map(|f| &files[*f as usize]);
        file.into_iter().flatten().map(|i| &self.entries[*i as usize])
    }

    /// Which chunk of its file it is, from 0 and in the order of this set, and how many the file has; `None` for one without a file.
    #[must_use]
    pub fn place_in_file(&self, id: &str) -> Option<(usize, usize)> {
        let path = self.by_id(id)?.file_path.as_deref()?;
        let at = self.by_file(path).position(|entry| &*entry.id == id)?;
        Some((at, self.by_file(path).count()))
    }

    /// What can be read of the chunks of a file.
    #[must_use]
    pub fn read_file(&self, path: &str) -> Vec<Arc<Chunk>> {
        self.by_file(path).filter_map(|entry| entry.chunk()).collect()
    }

    /// Every file that has chunks, in the order of their first chunks.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.tables().files.iter().map(|file| self.path(file))
    }

    /// The same, each with the language that it is written in.
    pub fn written_in(&self) -> impl Iterator<Item = (&str, &str)> {
        let language = |file: &[u32]| file.first().and_then(|i| self.entries[*i as usize].language.as_deref()).unwrap_or_default();
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

/// Positions are 32-bit: four billion chunks do not fit in memory anyway.
fn as_index(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^32 chunks")
}
