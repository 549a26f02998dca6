//! Puts the places that a question names before the ranked files.

use std::sync::Arc;

use super::hit::{Hit, NAMED_PLACE, Term};
use crate::chunk::{Chunk, Entry};

/// A place that a question names by file and line.
#[derive(Debug, Clone)]
pub struct NamedPlace {
    /// Which of the corpora that are searched together holds it; see [`Hit::part`].
    pub part: usize,
    pub path: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// The chunk at the line.
    pub chunk: Arc<Chunk>,
    /// The entry of the chunk in its corpus.
    pub entry: Arc<Entry>,
}

/// Returns the named places, in their order, before the hits.
#[must_use]
pub fn places_first(places: Vec<NamedPlace>, hits: Vec<Hit>) -> Vec<Hit> {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let n = places.len();
    let hit = |(i, NamedPlace { part, path, line, chunk, entry }): (usize, NamedPlace)| {
        let value = best + (n - i) as f64 * NAMED_PLACE;
        Hit {
            part,
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
        }
    };
    places.into_iter().enumerate().map(hit).chain(hits).collect()
}
