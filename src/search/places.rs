//! Puts the places that a question names before the ranked files.

use std::sync::Arc;

use super::corpus::Corpus;
use super::hit::{Hit, NAMED_PLACE, Term};
use crate::chunk::Chunk;

/// A place that a question names by file and line.
#[derive(Debug, Clone)]
pub struct NamedPlace {
    pub path: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// The chunk at the line.
    pub chunk: Arc<Chunk>,
}

/// Returns the named places, in their order, before the hits.
#[must_use]
pub fn places_first(corpus: &Corpus, places: Vec<NamedPlace>, hits: Vec<Hit>) -> Vec<Hit> {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let n = places.len();
    let hit = |(i, NamedPlace { path, line, chunk }): (usize, NamedPlace)| {
        let entry = corpus.chunks().by_id(&chunk.id).cloned()?;
        let value = best + (n - i) as f64 * NAMED_PLACE;
        Some(Hit {
            part: 0,
            path,
            lines: chunk.metadata.start_line.zip(chunk.metadata.end_line),
            chunk,
            line: Some(line),
            nth: 0,
            parts: vec![(entry, 0.0)],
            others: Vec::new(),
            score: value,
            terms: vec![Term { feature: "named_place", value, weight: 1.0 }],
            changed_by: None,
            coverage: 1.0,
        })
    };
    places.into_iter().enumerate().filter_map(hit).chain(hits).collect()
}
