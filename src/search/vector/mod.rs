//! Vectors of chunks, and what is near a query among them.
//!
//! Two tiers behind one type. The exact one looks at every vector; inserts and deletes are free,
//! and what it finds is a function of the vectors alone. The approximate one asks a HNSW graph,
//! once somebody built and attached one: what it finds also depends on the vectors that were there
//! then. Which tier pays from where on was measured: `specs/vector-search.md`.

mod hnsw;
mod scan;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use super::Slot;
use crate::chunk::SavedFile;
pub use hnsw::Hnsw;
use scan::{QuantizedRows, QueryVector};

/// From this many vectors on a HNSW graph is worth its building.
pub const HNSW_FROM: usize = 500_000;
/// A HNSW graph is built anew when more than one in so many of its vectors changed, or as many
/// came.
const STALE: usize = 10;

/// One quantised vector for each slot that has one. A copy shares what neither of the two writes.
#[derive(Clone)]
pub struct VectorTable {
    rows: QuantizedRows,
    hnsw: Option<Attached>,
}

#[derive(Clone)]
struct Attached {
    hnsw: Arc<Hnsw>,
    /// Slots whose vectors came, changed or went since the HNSW graph was built: what it says of
    /// them counts no more, and those that have one are looked at one by one.
    changed: BTreeSet<Slot>,
}

impl VectorTable {
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self { rows: QuantizedRows::new(dimensions), hnsw: None }
    }

    /// Length of a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.rows.dimensions()
    }

    /// The vectors, without a HNSW graph.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.rows.to_bytes()
    }

    /// What [`VectorTable::to_bytes`] gave; `None` when it is of other dimensions, or cannot be
    /// read.
    pub(super) fn read(dimensions: usize, file: &dyn SavedFile) -> Option<Self> {
        Some(Self { rows: QuantizedRows::read(dimensions, file)?, hnsw: None })
    }

    /// Lets `write` fill in the components of a slot and give their scale; `None` leaves the slot
    /// without a vector.
    pub fn set(&mut self, slot: Slot, write: impl FnOnce(&mut [i8]) -> Option<f32>) {
        self.rows.set(slot, write);
        if let Some(attached) = &mut self.hnsw {
            attached.changed.insert(slot);
        }
    }

    /// Takes the vector of a slot away.
    pub fn clear(&mut self, slot: Slot) {
        self.set(slot, |_| None);
    }

    /// The vector of a slot, `[f32; dimensions]`, L2-normalised but for rounding; `None` where
    /// there is none.
    #[must_use]
    pub fn get(&self, slot: Slot) -> Option<Vec<f32>> {
        let (_, row) = self.rows.get(slot)?;
        Some(row.components.iter().map(|c| f32::from(*c) * row.scale).collect())
    }

    /// What is near `query` (L2-normalised); nothing is when that is zero or of another length.
    #[must_use]
    pub fn ask(&self, query: &[f32]) -> Nearness<'_> {
        let asked =
            Nearness { table: self, question: self.rows.question(query), all: OnceLock::new() };
        if self.hnsw.is_none() {
            asked.all();
        }
        asked
    }

    /// The HNSW graph that answers, if one does.
    #[must_use]
    pub fn hnsw(&self) -> Option<&Hnsw> {
        self.hnsw.as_ref().map(|attached| &*attached.hnsw)
    }

    /// Whether a graph should be built: there are at least `from` vectors ([`HNSW_FROM`], where it
    /// is not a test that asks), and no HNSW graph, or too much changed since.
    #[must_use]
    pub fn wants_hnsw(&self, from: usize) -> bool {
        let stale = |a: &Attached| a.changed.len() * STALE > a.hnsw.n_vectors();
        self.hnsw.as_ref().is_none_or(stale) && self.rows.slots().count() >= from.max(1)
    }

    /// Builds the HNSW graph of what is here now. Takes minutes, of one core; `None` when it was
    /// cancelled.
    #[must_use]
    pub fn build_hnsw(&self, cancel: &AtomicBool) -> Option<Hnsw> {
        Hnsw::build(&self.rows, cancel)
    }

    /// The HNSW graph that [`Hnsw::to_bytes`] wrote, if most of its vectors are still here, at
    /// whatever slots.
    #[must_use]
    pub fn read_hnsw(&self, bytes: &[u8]) -> Option<Hnsw> {
        Hnsw::from_bytes(bytes, &self.rows)
    }

    /// Lets a HNSW graph of this table, as it was once, answer from now on.
    pub fn attach(&mut self, hnsw: Arc<Hnsw>) {
        let (same, other): (Vec<_>, Vec<_>) =
            hnsw.rows().partition(|(slot, block)| self.rows.has_row_of(block, *slot));
        let same: FxHashSet<Slot> = same.into_iter().map(|row| row.0).collect();
        let gone = other.into_iter().map(|row| row.0);
        let changed = self.rows.slots().filter(|slot| !same.contains(slot)).chain(gone).collect();
        self.hnsw = Some(Attached { hnsw, changed });
    }
}

/// The cosines of one query to the vectors of a table.
pub struct Nearness<'a> {
    table: &'a VectorTable,
    question: Option<QueryVector>,
    /// By slot. Filled by the exact tier at once, by the other when it does not get on without.
    all: OnceLock<Vec<f32>>,
}

impl Nearness<'_> {
    /// The cosine of a slot; 0 where there is no vector.
    #[must_use]
    pub fn cosine(&self, slot: Slot) -> f32 {
        match (self.all.get(), &self.question) {
            (Some(all), _) => all.get(slot as usize).copied().unwrap_or(0.0),
            (None, Some(question)) => self.table.rows.cosine(question, slot),
            (None, None) => 0.0,
        }
    }

    /// All cosines by slot, 0 where there is no vector; empty when the query has none.
    pub fn all(&self) -> &[f32] {
        let scan = || self.question.as_ref().map_or_else(Vec::new, |q| self.table.rows.cosines(q));
        self.all.get_or_init(scan)
    }

    /// Slots with their cosines, at least `min`: those of the `n` nearest that are `allowed`, and
    /// others. The `n` nearest without exception in the exact tier.
    pub fn near(
        &self,
        n: usize,
        min: f32,
        allowed: impl Fn(Slot) -> bool,
    ) -> impl Iterator<Item = (Slot, f32)> {
        let near = move |(slot, cosine): &(Slot, f32)| *cosine >= min && allowed(*slot);
        let found = self.near_in_hnsw(n, min, &near);
        let all = if found.is_some() { &[] } else { self.all() };
        found.into_iter().flatten().chain((0..).zip(all.iter().copied()).filter(near))
    }

    /// The same by the HNSW graph, where there is one and it finds enough.
    fn near_in_hnsw(
        &self,
        n: usize,
        min: f32,
        near: impl Fn(&(Slot, f32)) -> bool,
    ) -> Option<Vec<(Slot, f32)>> {
        let (attached, question) = self
            .table
            .hnsw
            .as_ref()
            .zip(self.question.as_ref())
            .filter(|_| self.all.get().is_none())?;
        let with_cosine = |slot: Slot| (slot, self.table.rows.cosine(question, slot));
        let found = attached.hnsw.nearest(question);
        let unchanged =
            found.iter().filter(|s| !attached.changed.contains(s)).map(|s| with_cosine(*s));
        let mut found: Vec<(Slot, f32)> = unchanged.collect();
        let reaches_min = found.last().is_some_and(|last| last.1 < min);
        found.retain(&near);
        // Where a filter or deletions took too many of them, others may be nearer than what is
        // left.
        (found.len() >= n || reaches_min).then(|| {
            found.extend(attached.changed.iter().map(|s| with_cosine(*s)).filter(near));
            found
        })
    }
}

#[cfg(test)]
mod tests;
