//! Vectors of chunks: an exact scan.
//!
//! At ten thousand chunks a scan takes about a millisecond and finds everything; inserts and deletes are free.

use std::sync::Arc;

use rayon::prelude::*;

use super::Slot;

/// Rows in one block; an update copies the blocks that it touches and shares the others.
const BLOCK_ROWS: usize = 1024;
/// From this many blocks on a scan uses all cores.
const PARALLEL_BLOCKS: usize = 16;

/// One vector of `dimensions` f32 for each slot; L2-normalised, or all zero where there is none.
#[derive(Debug, Clone, Default)]
pub(super) struct VectorTable {
    dimensions: usize,
    blocks: Vec<Arc<Vec<f32>>>,
}

impl VectorTable {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, blocks: Vec::new() }
    }

    /// The row of a slot, for writing.
    pub(super) fn row_mut(&mut self, slot: Slot) -> &mut [f32] {
        let (block, row) = (slot as usize / BLOCK_ROWS, slot as usize % BLOCK_ROWS);
        while self.blocks.len() <= block {
            self.blocks.push(Arc::new(vec![0.0; BLOCK_ROWS * self.dimensions]));
        }
        &mut Arc::make_mut(&mut self.blocks[block])[row * self.dimensions..][..self.dimensions]
    }

    /// The cosine of `query` (L2-normalised) to every slot; 0 where there is no vector.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<f32> {
        if query.len() != self.dimensions || query.iter().all(|x| *x == 0.0) {
            return Vec::new();
        }
        let scan = |block: &Arc<Vec<f32>>| block.chunks_exact(self.dimensions).map(|row| dot(row, query)).collect::<Vec<f32>>();
        if self.blocks.len() < PARALLEL_BLOCKS {
            self.blocks.iter().flat_map(scan).collect()
        } else {
            self.blocks.par_iter().map(scan).flatten_iter().collect()
        }
    }
}

/// Eight sums at a time, which the compiler turns into vector instructions; always in the same order.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0f32; 8];
    for (x, y) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_what_was_not_written() {
        let mut a = VectorTable::new(4);
        a.row_mut(0).copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        a.row_mut(3000).copy_from_slice(&[0.0, 1.0, 0.0, 0.0]);
        let mut b = a.clone();
        b.row_mut(0).fill(0.0);
        assert_eq!(a.cosines(&[1.0, 0.0, 0.0, 0.0])[0], 1.0, "the old table is untouched");
        assert_eq!(b.cosines(&[1.0, 0.0, 0.0, 0.0])[0], 0.0);
        assert_eq!(b.cosines(&[0.0, 1.0, 0.0, 0.0])[3000], 1.0);
        assert!(Arc::ptr_eq(&a.blocks[2], &b.blocks[2]));
    }

    #[test]
    fn a_query_without_a_vector_finds_nothing() {
        let mut t = VectorTable::new(4);
        t.row_mut(1).fill(0.5);
        assert!(t.cosines(&[0.0; 4]).is_empty());
    }
}
