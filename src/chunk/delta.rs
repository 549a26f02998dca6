//! The changes between two sets.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::{ChunkId, ChunkSet, Entry};

/// The difference between two sets. Every chunk of the new set is the same entry as in the old one,
/// or is in exactly one of the lists.
#[derive(Debug, Default)]
pub struct ChunkDelta {
    pub added: Vec<Arc<Entry>>,
    pub updated: Vec<Change>,
    pub deleted: Vec<ChunkId>,
    /// Unchanged chunks with new entries. They replace the old entries, which have the same
    /// content.
    pub found_anew: Vec<Arc<Entry>>,
    /// Whether the commits differ.
    pub commits: bool,
}

/// A chunk that is in both sets but not the same.
#[derive(Debug)]
pub struct Change {
    pub new: Arc<Entry>,
    /// Whether the indexes hold the same for it as before: it only moved, or only its time stamps
    /// changed.
    pub metadata_only: bool,
}

enum Difference {
    Added(Arc<Entry>),
    Updated(Change),
    Anew(Arc<Entry>),
}

impl ChunkDelta {
    /// Compares two sets. A chunk is *updated* if its content differs from the loaded one, or if
    /// its `updated_at` is earlier or later. The comparison uses no clock, so it finds a chunk that
    /// was stamped before a reload and written after it.
    #[must_use]
    pub fn between(old: &ChunkSet, new: &ChunkSet) -> Self {
        if std::ptr::eq(old, new) {
            return Self::default();
        }
        // Most entries of a reload are the same objects. Comparing pointers finds them without
        // touching them.
        let same: FxHashSet<*const Entry> = old.all().iter().map(Arc::as_ptr).collect();
        let compare = |entry: &Arc<Entry>| match old.by_id(&entry.id) {
            None => Difference::Added(entry.clone()),
            Some(before) if before.is_same(entry) => Difference::Anew(entry.clone()),
            Some(before) => {
                let both = before.chunk().zip(entry.chunk());
                // Other spaces, or the same time with another offset, are no change.
                if both.as_ref().is_some_and(|(a, b)| a == b) {
                    return Difference::Anew(entry.clone());
                }
                let metadata_only = both
                    .is_some_and(|(a, b)| a.indexed() == b.indexed() && a.embedding == b.embedding);
                Difference::Updated(Change { new: entry.clone(), metadata_only })
            }
        };
        let mut delta = Self { commits: !is_same(old.commits(), new.commits()), ..Self::default() };
        let different: Vec<&Arc<Entry>> =
            new.all().iter().filter(|c| !same.contains(&Arc::as_ptr(c))).collect();
        for found in different.into_par_iter().with_min_len(256).map(compare).collect::<Vec<_>>() {
            match found {
                Difference::Added(chunk) => delta.added.push(chunk),
                Difference::Updated(change) => delta.updated.push(change),
                Difference::Anew(entry) => delta.found_anew.push(entry),
            }
        }
        // If nothing was added and the sizes are equal, nothing can be deleted.
        if old.len() + delta.added.len() != new.len() {
            delta.deleted.extend(
                old.all().iter().filter(|c| new.by_id(&c.id).is_none()).map(|c| c.id.clone()),
            );
        }
        delta
    }

    /// Returns a delta in which all chunks of `set` are added.
    #[must_use]
    pub fn everything(set: &ChunkSet) -> Self {
        let commits = !set.commits().is_empty();
        Self { added: set.all().to_vec(), commits, ..Self::default() }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.deleted.is_empty() && !self.commits
    }

    /// Number of added, updated and deleted chunks together. Commits are not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.added.len() + self.updated.len() + self.deleted.len()
    }
}

/// Whether these are the same chunks in the same order.
fn is_same(old: &[Arc<Entry>], new: &[Arc<Entry>]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(a, b)| Arc::ptr_eq(a, b) || (a.id == b.id && a.is_same(b)))
}
