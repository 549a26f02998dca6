//! Computes how near the words of a query are to each other in a chunk.

use std::collections::BTreeMap;

use super::bm25::Lexical;
use super::query::Query;
use super::text::{DocAddress, TextError, TextReader};

/// Largest distance, in positions, of two words that count as near.
const MAX_DISTANCE: u32 = 8;

/// Returns for each of `chunks`, in their order, Σ over pairs of near words of min(idf)/√distance,
/// as a share of the query's idf.
pub(super) fn closeness(
    query: &Query,
    lexical: &Lexical,
    text: &TextReader,
    chunks: &[DocAddress],
) -> Result<Vec<f64>, TextError> {
    // For each chunk, the (position, term) of each occurrence.
    let mut places: Vec<Vec<(u32, usize)>> = vec![Vec::new(); chunks.len()];
    for (at, term) in query.terms.iter().enumerate().filter(|(_, t)| !t.is_whole) {
        for variant in &term.variants {
            text.positions(variant, chunks, |i, found| {
                places[i].extend(found.iter().map(|p| (*p, at)));
            })?;
        }
    }
    let idf = |term: usize| f64::from(lexical.terms[term].idf);
    let of_chunk = |mut places: Vec<(u32, usize)>| {
        places.sort_unstable();
        let mut near: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for pair in places.windows(2) {
            let ((p, a), (q, b)) = (pair[0], pair[1]);
            let distance = q - p;
            if a == b || distance == 0 || distance > MAX_DISTANCE {
                continue;
            }
            let worth = idf(a).min(idf(b)) / f64::from(distance).sqrt();
            let best = near.entry((a.min(b), a.max(b))).or_default();
            *best = best.max(worth);
        }
        near.values().sum::<f64>() / lexical.total_idf
    };
    Ok(places.into_iter().map(of_chunk).collect())
}
