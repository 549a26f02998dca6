//! Measures queries.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::chunk::ChunkSet;
use crate::live::ChunkManager;
use crate::search::{Filter, Searcher};
use crate::store::ChunkFiles;

/// Number of results that a query asks for.
const LIMIT: usize = 10;
/// Number of words of a question.
const WORDS: usize = 5;

/// The indexes that answer a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    Text,
    Vector,
    Hybrid,
}

impl SearchKind {
    pub const ALL: [Self; 3] = [Self::Text, Self::Vector, Self::Hybrid];

    /// The name in output and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Vector => "vector",
            Self::Hybrid => "hybrid",
        }
    }
}

/// Questions that have an answer: words from the middle of chunks that are spread over the set.
pub struct Questions(Vec<String>);

impl Questions {
    #[must_use]
    pub fn new(set: &ChunkSet, n: usize) -> Self {
        let chunks = set.all();
        let question = |i: usize| {
            let text =
                chunks[i * chunks.len() / n].chunk().map(|c| c.text.clone()).unwrap_or_default();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2);
            let words: Vec<&str> = words.collect();
            let from = words.len().saturating_sub(WORDS) / 2;
            words[from..].iter().take(WORDS).copied().collect::<Vec<_>>().join(" ")
        };
        Self((0..n).map(question).filter(|q| !q.is_empty()).collect())
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Measures one question, from its text to its results.
    ///
    /// # Errors
    /// When the index cannot be read, or the embedder fails.
    pub fn ask(manager: &ChunkManager, question: &str, kind: SearchKind) -> Result<Duration> {
        let start = Instant::now();
        let snapshot = manager.current();
        let searcher =
            Searcher::new(&snapshot.feed(ChunkFiles::NAME).context("nothing is served")?.corpus);
        let query = searcher.query(question, &crate::embed::StaticModel::knows)?;
        let vector = if kind == SearchKind::Text {
            Vec::new()
        } else {
            manager.embedder().embed_query(&query.text)?
        };
        let results = match kind {
            SearchKind::Text | SearchKind::Hybrid => {
                searcher.search(&query, &vector, &Filter::default(), LIMIT)?
            }
            SearchKind::Vector => searcher.by_meaning(&vector, &Filter::default(), LIMIT)?,
        };
        let time = start.elapsed();
        drop(results);
        Ok(time)
    }
}
