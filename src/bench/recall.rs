//! Measures the loss of quantisation: compares the nearest chunks by quantised vectors with
//! those by exact vectors.

use anyhow::Result;
use rayon::prelude::*;

use super::bed::Bed;
use super::query::Questions;
use crate::chunk::{ChunkSet, Quantized};
use crate::embed::passage;

const NEAREST: usize = 10;
/// Cosines that differ by less are equal: chunks with equal words have equal vectors,
/// and either is right.
const EQUAL: f32 = 1e-6;

/// Returns the share of the ten nearest chunks by `f32` vectors that are among the ten nearest
/// by quantised vectors, over all questions, with an exact scan of both. `None` if the exact
/// vectors cannot be computed.
///
/// # Errors
/// When the embedder fails.
pub fn recall_10(bed: &Bed, set: &ChunkSet, questions: &Questions) -> Result<Option<f64>> {
    if !bed.can_be_served() {
        return Ok(None);
    }
    let chunks: Vec<_> = set.all().iter().filter_map(|e| e.chunk()).collect();
    let passages: Vec<_> = chunks.iter().map(|c| passage(c)).collect();
    let exact = bed.embedder().embed_passages(&passages)?;
    let rounded: Vec<Vec<f32>> = exact.par_iter().map(|v| as_kept(v)).collect();
    let queries: Vec<Vec<f32>> =
        questions.iter().map(|q| bed.embedder().embed_query(q)).collect::<Result<_, _>>()?;
    let found: Vec<usize> = queries
        .par_iter()
        .map(|query| {
            let (exact, rounded) = (cosines(&exact, query), cosines(&rounded, query));
            let Some(&last) = nearest(&exact).last() else { return 0 };
            nearest(&rounded).iter().filter(|i| exact[**i] >= exact[last] - EQUAL).count()
        })
        .collect();
    let wanted = queries.len() * NEAREST.min(set.len());
    Ok((wanted > 0).then(|| found.iter().sum::<usize>() as f64 / wanted as f64))
}

/// Quantises a vector and converts it back to `f32`.
fn as_kept(vector: &[f32]) -> Vec<f32> {
    let kept = Quantized::new(vector);
    kept.components.iter().map(|c| f32::from(*c) * kept.scale).collect()
}

fn cosines(vectors: &[Vec<f32>], query: &[f32]) -> Vec<f32> {
    vectors.iter().map(|v| v.iter().zip(query).map(|(a, b)| a * b).sum()).collect()
}

/// Returns the positions of the largest cosines, best first.
fn nearest(cosines: &[f32]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..cosines.len()).collect();
    let by_cosine = |a: &usize, b: &usize| cosines[*b].total_cmp(&cosines[*a]);
    if all.len() > NEAREST {
        all.select_nth_unstable_by(NEAREST, by_cosine);
        all.truncate(NEAREST);
    }
    all.sort_by(by_cosine);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_moves_is_seen() {
        let cosines = [0.1, 0.9, 0.5];
        assert_eq!(nearest(&cosines), [1, 2, 0]);
        let many: Vec<f32> = (0..40u8).map(|i| f32::from(i) / 40.0).collect();
        assert_eq!(nearest(&many), [39, 38, 37, 36, 35, 34, 33, 32, 31, 30]);
        let kept = as_kept(&[0.6, 0.8]);
        let error = (kept[0] - 0.6).abs();
        assert!(error > 1e-5 && error < 0.01, "it is rounded: {kept:?}");
    }
}
