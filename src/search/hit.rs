//! The results of a search.

use std::sync::Arc;

use crate::chunk::{Chunk, Entry};

/// One feature's part of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub feature: &'static str,
    pub value: f64,
    pub weight: f64,
}

impl Term {
    /// Returns its part of the score.
    #[must_use]
    pub fn contribution(&self) -> f64 {
        self.value * self.weight
    }
}

/// A file that a search found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Path, or the id of a chunk without one.
    pub path: Arc<str>,
    /// The best chunk.
    pub chunk: Arc<Chunk>,
    /// First and last line of the function or section around it, or of the chunk itself.
    pub lines: Option<(u32, u32)>,
    /// Other matching chunks of the file, best first. Callers that show them read their text.
    pub others: Vec<Arc<Entry>>,
    /// The sum of the terms' contributions.
    pub score: f64,
    /// In the order of [`FEATURES`](super::FEATURES); features of value 0 are left out.
    pub terms: Vec<Term>,
    /// Share of the query's words that the chunk holds in any field, weighted by how rare each is,
    /// 0–1. It takes no part in ranking.
    pub coverage: f64,
}

/// The results of a search.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Best first, one for each file.
    pub hits: Vec<Hit>,
    /// Number of matching files, or of matching chunks in an exact search.
    pub total: usize,
    /// Total weight of the query's words, in rare words: a word of one chunk counts 1, a common
    /// word little.
    pub query_weight: f64,
    /// Corrections of the query that the caller should show.
    pub notes: Vec<String>,
}
