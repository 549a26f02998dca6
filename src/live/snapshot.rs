//! What a query sees: one generation, whole.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::resident::GivenUp;
use crate::search::Corpus;

/// Everything that is served at one moment. A query takes one and uses nothing else.
pub struct Snapshot {
    /// One for each feed, in the order in which the feeds were given; a corpus that did not change is shared with the
    /// snapshot before. Never empty: a [`ChunkManager`](super::ChunkManager) has at least one feed.
    pub corpora: Vec<Arc<Served>>,
    pub loaded_at: DateTime<Utc>,
}

impl Snapshot {
    /// What the feed of that name gave; `None` when there is no such feed.
    #[must_use]
    pub fn feed(&self, name: &str) -> Option<&Arc<Served>> {
        self.corpora.iter().find(|served| served.name == name)
    }

    /// Why a saved index that is served can no longer be read; it is being rebuilt from the chunks.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        let damage = |served: &Arc<Served>| {
            let why = served.corpus.damage()?;
            Some(format!("the saved index of the {} is damaged and is being rebuilt from the chunks: {why}", served.name))
        };
        self.corpora.iter().find_map(damage)
    }
}

/// One corpus of one generation. Each has its own statistics: what is in one never changes how another ranks.
#[derive(Clone)]
pub struct Served {
    /// The feed's.
    pub name: &'static str,
    /// The feed's; counted by this process when nobody else counts (`local`).
    pub generation: u64,
    /// The generation is this process's own count.
    pub local: bool,
    /// When the generation was written, RFC 3339; `None` when nobody said.
    pub indexed_at: Option<String>,
    pub corpus: Corpus,
    /// Chunks that are found by their words alone until their vectors are made.
    pub n_without_vectors: usize,
    /// For people: what was odd about the source.
    pub warnings: Vec<String>,
}

/// How reloading went so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Reloads that were tried, and how they ended.
    pub n_reloads: u64,
    pub n_successful: u64,
    pub n_failed: u64,
    /// Of the successful: those that found something new.
    pub n_published: u64,
    /// Files parsed in all: one for each that changed, however many indexes are fed from it.
    pub n_files_parsed: u64,
    pub last_duration: Duration,
    /// What is done without, for want of memory.
    pub given_up: GivenUp,
    /// Of the last reload, if it failed.
    pub last_error: Option<String>,
    pub last_reload_at: Option<DateTime<Utc>>,
}
