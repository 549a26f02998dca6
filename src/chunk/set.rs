//! An immutable collection of chunks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Chunk, ChunkId, ChunkType};

/// All chunks of one generation, by id and by file. Immutable; shared by every reader.
#[derive(Debug, Default)]
pub struct ChunkSet {
    chunks: Vec<Arc<Chunk>>,
    by_id: FxHashMap<ChunkId, u32>,
    by_file: FxHashMap<Arc<str>, Vec<u32>>,
}

/// An id that stood twice in a set; the later chunk won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub id: ChunkId,
}

impl ChunkSet {
    /// Collects chunks in order. Of chunks with one id the last wins, everywhere, at the first one's place.
    #[must_use]
    pub fn new(chunks: impl IntoIterator<Item = Arc<Chunk>>) -> (Self, Vec<Duplicate>) {
        let chunks = chunks.into_iter();
        let mut set = Self {
            chunks: Vec::with_capacity(chunks.size_hint().0),
            by_id: FxHashMap::with_capacity_and_hasher(chunks.size_hint().0, rustc_hash::FxBuildHasher),
            by_file: FxHashMap::default(),
        };
        let mut duplicates = Vec::new();
        for chunk in chunks {
            let next = as_index(set.chunks.len());
            match set.by_id.entry(chunk.id.clone()) {
                std::collections::hash_map::Entry::Occupied(at) => {
                    duplicates.push(Duplicate { id: chunk.id.clone() });
                    set.chunks[*at.get() as usize] = chunk;
                }
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(next);
                    set.chunks.push(chunk);
                }
            }
        }
        for (i, chunk) in set.chunks.iter().enumerate() {
            if let Some(path) = &chunk.metadata.file_path {
                match set.by_file.get_mut(path.as_str()) {
                    Some(list) => list.push(as_index(i)),
                    None => {
                        set.by_file.insert(path.as_str().into(), vec![as_index(i)]);
                    }
                }
            }
        }
        (set, duplicates)
    }

    /// Every chunk: by type, then in the order of the files.
    #[must_use]
    pub fn all(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// The chunk with this id, in O(1).
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&Arc<Chunk>> {
        self.by_id.get(id).map(|i| &self.chunks[*i as usize])
    }

    /// The chunks of a file, in O(1): those whose `metadata.file_path` is this path.
    pub fn by_file(&self, path: &str) -> impl Iterator<Item = &Arc<Chunk>> {
        self.by_file.get(path).into_iter().flatten().map(|i| &self.chunks[*i as usize])
    }

    /// Every file that has chunks, in no particular order.
    pub fn files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_file.keys()
    }

    /// Number of chunks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Number of chunks of a type.
    #[must_use]
    pub fn count(&self, chunk_type: ChunkType) -> usize {
        self.chunks.iter().filter(|c| c.chunk_type == chunk_type).count()
    }
}

/// Positions are 32-bit: four billion chunks do not fit in memory anyway.
fn as_index(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^32 chunks")
}
