//! Stores the rows, and computes the cosine of a query to each of them (the exact tier).
//! Components are integers, so a cosine is the same on every processor and with any number of
//! threads.

use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use super::super::{Slot, cores};
use crate::chunk::{Quantized, SavedFile};

/// Rows in one block. An update copies the blocks that it changes and shares the others.
const BLOCK_ROWS: usize = 1024;
/// From this many blocks on, a scan uses all cores if no other query runs.
const PARALLEL_BLOCKS: usize = 32;

/// One quantised vector for each slot; all zero if the slot has none.
#[derive(Debug, Clone, Default)]
pub(super) struct QuantizedRows {
    dimensions: usize,
    blocks: Vec<Arc<RowBatch>>,
}

/// Rows that are adjacent in memory.
#[derive(Debug, Clone)]
pub(super) struct RowBatch {
    dimensions: usize,
    /// By row.
    scales: Vec<f32>,
    /// `[i8; rows × dimensions]`, row by row.
    components: Vec<i8>,
}

/// A vector: component i is `scale · components[i]`.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct QuantizedRow<'a> {
    pub(super) scale: f32,
    pub(super) components: &'a [i8],
}

/// A query's vector, rounded: component i is `step · components[i]`.
#[derive(Debug)]
pub(super) struct QueryVector {
    step: f32,
    components: Vec<i16>,
}

impl QuantizedRows {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, blocks: Vec::new() }
    }

    /// Length of a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Serialises each block: its scales and its components.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.blocks.len() * BLOCK_ROWS * (4 + self.dimensions));
        for block in &self.blocks {
            bytes.extend(block.scales.iter().flat_map(|s| s.to_le_bytes()));
            bytes.extend(block.components.iter().map(|c| c.cast_unsigned()));
        }
        bytes
    }

    /// Reads the bytes of [`QuantizedRows::to_bytes`]; `None` if the dimensions differ or the file
    /// cannot be read.
    pub(super) fn read(dimensions: usize, file: &dyn SavedFile) -> Option<Self> {
        let (of_scales, of_block) = (4 * BLOCK_ROWS as u64, ((4 + dimensions) * BLOCK_ROWS) as u64);
        let block = |at: u64| {
            let [start, end] = [at * of_block, (at + 1) * of_block];
            let scales = file.read(start..start + of_scales).ok()?;
            let scales = scales.as_chunks::<4>().0.iter().map(|s| f32::from_le_bytes(*s)).collect();
            // Reuses the memory of the read bytes.
            let components =
                file.read(start + of_scales..end).ok()?.into_iter().map(u8::cast_signed).collect();
            Some(Arc::new(RowBatch { dimensions, scales, components }))
        };
        if !file.n_bytes().is_multiple_of(of_block) {
            return None;
        }
        let blocks =
            (0..file.n_bytes() / of_block).into_par_iter().map(block).collect::<Option<_>>()?;
        Some(Self { dimensions, blocks })
    }

    /// See [`super::VectorTable::set`].
    pub(super) fn set(&mut self, slot: Slot, vector: Option<&Quantized>) {
        let (block, row) = place(slot);
        while self.blocks.len() <= block {
            let empty = RowBatch::new(self.dimensions, BLOCK_ROWS);
            self.blocks.push(Arc::new(empty));
        }
        let block = Arc::make_mut(&mut self.blocks[block]);
        let components = &mut block.components[row * self.dimensions..][..self.dimensions];
        let vector = vector.filter(|vector| vector.components.len() == components.len());
        match vector {
            Some(vector) => components.copy_from_slice(&vector.components),
            None => components.fill(0),
        }
        block.scales[row] = vector.map_or(0.0, |vector| vector.scale);
    }

    /// Returns the vector of a slot and the block that holds it; `None` if it has none.
    pub(super) fn get(&self, slot: Slot) -> Option<(&Arc<RowBatch>, QuantizedRow<'_>)> {
        let block = self.blocks.get(place(slot).0)?;
        let row = block.row(slot);
        (row.scale != 0.0).then_some((block, row))
    }

    /// Returns whether a slot has the same vector here as in `block`.
    pub(super) fn has_row_of(&self, block: &Arc<RowBatch>, slot: Slot) -> bool {
        self.get(slot).is_some_and(|(own, row)| Arc::ptr_eq(own, block) || row == block.row(slot))
    }

    /// Returns the slots that have a vector, in order.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        (0..)
            .zip(self.blocks.iter().flat_map(|b| &b.scales))
            .filter(|(_, scale)| **scale != 0.0)
            .map(|(slot, _)| slot)
    }

    /// Quantises a query (L2-normalised) for comparison with rows; `None` if it is zero or of
    /// another length.
    pub(super) fn question(&self, query: &[f32]) -> Option<QueryVector> {
        let largest = query.iter().fold(0f32, |m, x| m.max(x.abs()));
        if query.len() != self.dimensions || largest == 0.0 {
            return None;
        }
        // Sixteen bits make the query's rounding negligible, and 127 · 32767 · 516 dimensions fit
        // in an i32.
        let step = largest / self.query_limit();
        #[expect(clippy::cast_possible_truncation, reason = "rounded values lie within the limit")]
        let components = query.iter().map(|x| (x / step).round() as i16).collect();
        Some(QueryVector { step, components })
    }

    /// Returns the largest query component for which sums of products fit in an i32.
    fn query_limit(&self) -> f32 {
        let limit = i32::MAX as f32 / (127.0 * self.dimensions as f32);
        limit.min(f32::from(i16::MAX)).floor()
    }

    /// Returns the cosine of the query to every slot; 0 where there is no vector.
    pub(super) fn cosines(&self, question: &QueryVector) -> Vec<f32> {
        let mut cosines = vec![0f32; self.blocks.len() * BLOCK_ROWS];
        let one = |(block, out): (&Arc<RowBatch>, &mut [f32])| {
            scan(&block.components, &block.scales, &question.components, question.step, out);
        };
        if self.blocks.len() < PARALLEL_BLOCKS || !cores::are_free() {
            self.blocks.iter().zip(cosines.chunks_exact_mut(BLOCK_ROWS)).for_each(one);
        } else {
            self.blocks.par_iter().zip(cosines.par_chunks_exact_mut(BLOCK_ROWS)).for_each(one);
        }
        cosines
    }

    /// Returns the cosine to one slot.
    pub(super) fn cosine(&self, question: &QueryVector, slot: Slot) -> f32 {
        let mut cosine = [0.0];
        if let Some((_, row)) = self.get(slot) {
            scan(row.components, &[row.scale], &question.components, question.step, &mut cosine);
        }
        cosine[0]
    }
}

impl QueryVector {
    /// Returns a block with only this vector, in slot 0, rounded further to the eight bits of a
    /// row.
    pub(super) fn to_block(&self) -> RowBatch {
        let largest = self.components.iter().fold(1, |m, x| x.unsigned_abs().max(m));
        let ratio = f32::from(i8::MAX) / f32::from(largest);
        #[expect(clippy::cast_possible_truncation, reason = "rounded values lie within ±127")]
        let components: Vec<i8> =
            self.components.iter().map(|x| (f32::from(*x) * ratio).round() as i8).collect();
        RowBatch { dimensions: components.len(), scales: vec![self.step / ratio], components }
    }
}

impl RowBatch {
    fn new(dimensions: usize, n_rows: usize) -> Self {
        Self { dimensions, scales: vec![0.0; n_rows], components: vec![0; n_rows * dimensions] }
    }

    /// Returns the row of a slot that lies in this block.
    pub(super) fn row(&self, slot: Slot) -> QuantizedRow<'_> {
        let (_, row) = place(slot);
        QuantizedRow {
            scale: self.scales[row],
            components: &self.components[row * self.dimensions..][..self.dimensions],
        }
    }
}

impl QuantizedRow<'_> {
    /// Returns the cosine of two vectors.
    pub(super) fn cosine(self, other: Self) -> f32 {
        dot(self.components, other.components) as f32 * self.scale * other.scale
    }
}

/// Returns the block of a slot, and its row within the block.
fn place(slot: Slot) -> (usize, usize) {
    (slot as usize / BLOCK_ROWS, slot as usize % BLOCK_ROWS)
}

/// Returns the cosine of `query`, whose unit is `step`, to each row of `components`, whose units
/// are `scales`. It is compiled for each kind of processor and chosen at run time.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn scan(components: &[i8], scales: &[f32], query: &[i16], step: f32, out: &mut [f32]) {
    for ((row, scale), out) in components.chunks_exact(query.len()).zip(scales).zip(out) {
        let products = row.iter().zip(query).map(|(a, b)| i32::from(*a) * i32::from(*b));
        *out = products.sum::<i32>() as f32 * scale * step;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}
