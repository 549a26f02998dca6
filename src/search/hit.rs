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
    /// What it adds to the score.
    #[must_use]
    pub fn contribution(&self) -> f64 {
        self.value * self.weight
    }
}

/// A file that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its path; the id of a chunk that has none.
    pub path: Arc<str>,
    /// The chunk that answers best.
    pub chunk: Arc<Chunk>,
    /// First and last line of the function or section that it is a part of; its own where there is
    /// none.
    pub lines: Option<(u32, u32)>,
    /// Further chunks of the file that match, best first; to be read by whoever shows them.
    pub others: Vec<Arc<Entry>>,
    /// The sum of the terms' contributions.
    pub score: f64,
    /// In the order of [`FEATURES`](super::FEATURES); features of value 0 are left out.
    pub terms: Vec<Term>,
    /// Share of the query's words that the chunk holds in any field, weighted by how rare each is,
    /// 0–1. It takes no part in ranking.
    pub coverage: f64,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Best first; one a file.
    pub hits: Vec<Hit>,
    /// Files that match; in an exact search chunks that do.
    pub total: usize,
    /// What the query's words weigh: about how many rare words they are worth; a common word weighs
    /// little.
    pub query_weight: f64,
    /// What whoever asked should know: how the query was read where it was not taken as it stands.
    pub notes: Vec<String>,
}
