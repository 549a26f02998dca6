//! The vectors of chunks, and nearest-neighbour search among them.
//! There are two tiers behind one type. The exact tier scans every vector; inserts and deletes are
//! free, and its results depend on the vectors alone. The approximate tier queries an HNSW graph,
//! once one is built and attached; its results also depend on the vectors at the time of the build.
//! `specs/vector-search.md` has the measurements behind the limit.

mod hnsw;
mod scan;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use super::Slot;
use crate::chunk::{Quantized, SavedFile};
pub use hnsw::Hnsw;
use scan::{QuantizedRows, QueryVector};

/// Number of vectors from which an HNSW graph is worth building.
pub const HNSW_FROM: usize = 500_000;
/// An HNSW graph is built again when more than one in this many of its vectors changed, or as many
/// were added.
const STALE: usize = 10;

/// A quantised vector for each slot that has one. Copies share the blocks that neither of them
/// changes.
#[derive(Clone)]
pub struct VectorTable {
    rows: QuantizedRows,
    hnsw: Option<Attached>,
}

#[derive(Clone)]
struct Attached {
    hnsw: Arc<Hnsw>,
    /// Slots whose vectors were added, changed or removed since the HNSW graph was built: its
    /// results for them are ignored, and those with a vector are compared one by one.
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

    /// Serialises the vectors, without an HNSW graph.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.rows.to_bytes()
    }

    /// Reads the bytes of [`VectorTable::to_bytes`]; `None` if the dimensions differ or the file
    /// cannot be read.
    pub(super) fn read(dimensions: usize, file: &dyn SavedFile) -> Option<Self> {
        Some(Self { rows: QuantizedRows::read(dimensions, file)?, hnsw: None })
    }

    /// Sets the vector of a slot. The slot has none afterwards if there is none, or it has another
    /// length.
    pub fn set(&mut self, slot: Slot, vector: Option<&Quantized>) {
        self.rows.set(slot, vector);
        if let Some(attached) = &mut self.hnsw {
            attached.changed.insert(slot);
        }
    }

    /// Removes the vector of a slot.
    pub fn clear(&mut self, slot: Slot) {
        self.set(slot, None);
    }

    /// Returns the vector of a slot, `[f32; dimensions]`, L2-normalised except for rounding; `None`
    /// if it has none.
    #[must_use]
    pub fn get(&self, slot: Slot) -> Option<Vec<f32>> {
        let (_, row) = self.rows.get(slot)?;
        Some(row.components.iter().map(|c| f32::from(*c) * row.scale).collect())
    }

    /// Returns the vector of a slot as it is stored.
    pub(super) fn quantized(&self, slot: Slot) -> Option<Quantized> {
        let (_, row) = self.rows.get(slot)?;
        Some(Quantized { scale: row.scale, components: row.components.to_vec() })
    }

    /// Compares vectors with `query` (L2-normalised): all of them at once, unless there is an HNSW
    /// graph. Nothing is near a query that is zero or of another length.
    #[must_use]
    pub fn ask(&self, query: &[f32]) -> Nearness<'_> {
        let asked =
            Nearness { table: self, question: self.rows.question(query), all: OnceLock::new() };
        if self.hnsw.is_none() {
            asked.all();
        }
        asked
    }

    /// Returns the HNSW graph in use, if any.
    #[must_use]
    pub fn hnsw(&self) -> Option<&Hnsw> {
        self.hnsw.as_ref().map(|attached| &*attached.hnsw)
    }

    /// Returns whether an HNSW graph should be built: there are at least `from` vectors
    /// ([`HNSW_FROM`] except in tests), and there is no graph or too much changed since it was
    /// built.
    #[must_use]
    pub fn wants_hnsw(&self, from: usize) -> bool {
        let stale = |a: &Attached| a.changed.len() * STALE > a.hnsw.n_vectors();
        self.hnsw.as_ref().is_none_or(stale) && self.rows.slots().count() >= from.max(1)
    }

    /// Builds the HNSW graph of the present vectors. It takes minutes of one core; `None` if it was
    /// cancelled.
    #[must_use]
    pub fn build_hnsw(&self, cancel: &AtomicBool) -> Option<Hnsw> {
        Hnsw::build(&self.rows, cancel)
    }

    /// Reads an HNSW graph that [`Hnsw::to_bytes`] wrote, if most of its vectors are still here, in
    /// any slots.
    #[must_use]
    pub fn read_hnsw(&self, bytes: &[u8]) -> Option<Hnsw> {
        Hnsw::from_bytes(bytes, &self.rows)
    }

    /// Makes later queries use an HNSW graph that was built from former vectors of this table.
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
    /// By slot. The exact tier fills it at once, the approximate one only if it needs all cosines.
    all: OnceLock<Vec<f32>>,
}

impl Nearness<'_> {
    /// Returns the cosine of a slot; 0 if it has no vector.
    #[must_use]
    pub fn cosine(&self, slot: Slot) -> f32 {
        match (self.all.get(), &self.question) {
            (Some(all), _) => all.get(slot as usize).copied().unwrap_or(0.0),
            (None, Some(question)) => self.table.rows.cosine(question, slot),
            (None, None) => 0.0,
        }
    }

    /// Returns all cosines by slot, 0 for slots without a vector; empty if the query is zero or of
    /// another length.
    pub fn all(&self) -> &[f32] {
        let scan = || self.question.as_ref().map_or_else(Vec::new, |q| self.table.rows.cosines(q));
        self.all.get_or_init(scan)
    }

    /// Returns `allowed` slots with a cosine of at least `min`, with their cosines, in no order.
    /// The `n` nearest are among them; the approximate tier may miss some of these.
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

    /// Returns the near slots that the HNSW graph finds; `None` if there is none or it finds too few.
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
        // If a filter or deletions removed too many, vectors that the graph did not return may be
        // nearer than the rest.
        (found.len() >= n || reaches_min).then(|| {
            found.extend(attached.changed.iter().map(|s| with_cosine(*s)).filter(near));
            found
        })
    }
}

#[cfg(test)]
mod tests;
