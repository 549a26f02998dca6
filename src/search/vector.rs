//! Vectors of chunks: an exact scan.
//!
//! At ten thousand chunks a scan takes about a tenth of a millisecond and finds everything; inserts and deletes are free.
//! Components are integers, so a cosine is the same on every processor and for every number of threads.

use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use super::Slot;

/// Rows in one block; an update copies the blocks that it touches and shares the others.
const BLOCK_ROWS: usize = 1024;
/// From this many blocks on a scan uses all cores.
const PARALLEL_BLOCKS: usize = 32;

/// One quantised vector for each slot; all zero where there is none.
#[derive(Debug, Clone, Default)]
pub(super) struct VectorTable {
    dimensions: usize,
    blocks: Vec<Arc<Block>>,
}

#[derive(Debug, Clone)]
struct Block {
    /// `BLOCK_ROWS`
    scales: Vec<f32>,
    /// `BLOCK_ROWS × dimensions`
    components: Vec<i8>,
}

impl VectorTable {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, blocks: Vec::new() }
    }

    /// Lets `write` fill in the components of a slot and give their scale; `None` leaves the slot without a vector.
    pub(super) fn set(&mut self, slot: Slot, write: impl FnOnce(&mut [i8]) -> Option<f32>) {
        let (block, row) = (slot as usize / BLOCK_ROWS, slot as usize % BLOCK_ROWS);
        while self.blocks.len() <= block {
            let empty = Block { scales: vec![0.0; BLOCK_ROWS], components: vec![0; BLOCK_ROWS * self.dimensions] };
            self.blocks.push(Arc::new(empty));
        }
        let block = Arc::make_mut(&mut self.blocks[block]);
        let components = &mut block.components[row * self.dimensions..][..self.dimensions];
        block.scales[row] = write(components).unwrap_or_else(|| {
            components.fill(0);
            0.0
        });
    }

    /// Length of a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Of each block its scales and its components.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.blocks.len() * BLOCK_ROWS * (4 + self.dimensions));
        for block in &self.blocks {
            bytes.extend(block.scales.iter().flat_map(|s| s.to_le_bytes()));
            bytes.extend(block.components.iter().map(|c| c.cast_unsigned()));
        }
        bytes
    }

    /// What [`VectorTable::to_bytes`] gave; `None` when it is of other dimensions.
    pub(super) fn from_bytes(dimensions: usize, bytes: &[u8]) -> Option<Self> {
        let blocks = bytes.par_chunks_exact(BLOCK_ROWS * (4 + dimensions));
        let block = |bytes: &[u8]| {
            let (scales, components) = bytes.split_at(4 * BLOCK_ROWS);
            let scales = scales.as_chunks::<4>().0.iter().map(|s| f32::from_le_bytes(*s)).collect();
            Arc::new(Block { scales, components: components.iter().map(|c| c.cast_signed()).collect() })
        };
        blocks.remainder().is_empty().then(|| Self { dimensions, blocks: blocks.map(block).collect() })
    }

    /// Takes the vector of a slot away.
    pub(super) fn clear(&mut self, slot: Slot) {
        self.set(slot, |_| None);
    }

    /// The vector of a slot, `[f32; dimensions]`, L2-normalised but for rounding; `None` where there is none.
    pub(super) fn get(&self, slot: usize) -> Option<Vec<f32>> {
        let (block, row) = (self.blocks.get(slot / BLOCK_ROWS)?, slot % BLOCK_ROWS);
        let scale = block.scales[row];
        let components = &block.components[row * self.dimensions..][..self.dimensions];
        (scale != 0.0).then(|| components.iter().map(|c| f32::from(*c) * scale).collect())
    }

    /// The cosine of `query` (L2-normalised) to every slot; 0 where there is no vector. Empty when the query has none.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<f32> {
        let largest = query.iter().fold(0f32, |m, x| m.max(x.abs()));
        if query.len() != self.dimensions || largest == 0.0 {
            return Vec::new();
        }
        // Sixteen bits: the query's rounding is not felt, and 127 · 32767 · 516 dimensions fit in an i32.
        let step = largest / self.query_limit();
        #[expect(clippy::cast_possible_truncation, reason = "rounded values lie within the limit")]
        let query: Vec<i16> = query.iter().map(|x| (x / step).round() as i16).collect();
        let mut cosines = vec![0f32; self.blocks.len() * BLOCK_ROWS];
        let one = |(block, out): (&Arc<Block>, &mut [f32])| scan(&block.components, &block.scales, &query, step, out);
        if self.blocks.len() < PARALLEL_BLOCKS {
            self.blocks.iter().zip(cosines.chunks_exact_mut(BLOCK_ROWS)).for_each(one);
        } else {
            self.blocks.par_iter().zip(cosines.par_chunks_exact_mut(BLOCK_ROWS)).for_each(one);
        }
        cosines
    }

    /// The largest query component whose sums of products stay within an i32.
    fn query_limit(&self) -> f32 {
        let limit = i32::MAX as f32 / (127.0 * self.dimensions as f32);
        limit.min(f32::from(i16::MAX)).floor()
    }
}

/// The cosine of `query`, whose unit is `step`, to each row of `components`, whose units are `scales`. Compiled for each kind of
/// processor; which one this is, is found out when the program runs.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn scan(components: &[i8], scales: &[f32], query: &[i16], step: f32, out: &mut [f32]) {
    for ((row, scale), out) in components.chunks_exact(query.len()).zip(scales).zip(out) {
        let products = row.iter().zip(query).map(|(a, b)| i32::from(*a) * i32::from(*b));
        *out = products.sum::<i32>() as f32 * scale * step;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Quantized;

    fn put(t: &mut VectorTable, slot: Slot, v: &[f32]) {
        let q = Quantized::new(v);
        t.set(slot, |row| {
            row.copy_from_slice(&q.components);
            Some(q.scale)
        });
    }

    #[test]
    fn a_copy_shares_what_was_not_written() {
        let mut a = VectorTable::new(4);
        put(&mut a, 0, &[1.0, 0.0, 0.0, 0.0]);
        put(&mut a, 3000, &[0.0, 1.0, 0.0, 0.0]);
        let mut b = a.clone();
        b.clear(0);
        let x = [1.0, 0.0, 0.0, 0.0];
        assert!((a.cosines(&x)[0] - 1.0).abs() < 1e-3, "the old table is untouched");
        assert!(b.cosines(&x)[0].abs() < 1e-6);
        assert!(Arc::ptr_eq(&a.blocks[2], &b.blocks[2]));
    }

    #[test]
    fn a_query_without_a_vector_finds_nothing() {
        let mut t = VectorTable::new(4);
        put(&mut t, 1, &[0.5; 4]);
        assert!(t.cosines(&[0.0; 4]).is_empty());
    }

    proptest! {
        /// Eight bits are enough: every cosine is within 0.01 of the exact one.
        #[test]
        fn cosines_are_those_of_the_given_vectors(vectors in prop::collection::vec(prop::collection::vec(-1f32..1.0, 64), 1..20)) {
            let unit = |v: &[f32]| { let n = v.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9); v.iter().map(|x| x / n).collect::<Vec<_>>() };
            let mut t = VectorTable::new(64);
            for (i, v) in vectors.iter().enumerate() { put(&mut t, Slot::try_from(i).unwrap(), v); }
            let query = unit(&vectors[0]);
            for (v, got) in vectors.iter().zip(t.cosines(&query)) {
                let want: f32 = unit(v).iter().zip(&query).map(|(a, b)| a * b).sum();
                prop_assert!((want - got).abs() < 0.01, "{want} is not {got}");
            }
        }
    }
}
