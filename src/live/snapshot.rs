//! The state that a query works on: one whole generation.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::resident::GivenUp;
use super::vectors::NoVectors;
use crate::chunk::{Chunk, ChunkDelta, ChunkSet, Entry};
use crate::search::{Corpus, CorpusBuilder, SearchError};

/// Everything that is served at one moment. A query takes one snapshot and uses nothing else.
pub struct Snapshot {
    /// One corpus for each feed, in the order of the feeds. A corpus that did not change is shared
    /// with the previous snapshot. The list is never empty: a [`ChunkManager`](super::ChunkManager)
    /// has at least one feed.
    pub corpora: Vec<Arc<Served>>,
    pub loaded_at: DateTime<Utc>,
}

impl Snapshot {
    /// Returns the corpus of the feed with this name; `None` if there is no such feed.
    #[must_use]
    pub fn feed(&self, name: &str) -> Option<&Arc<Served>> {
        self.corpora.iter().find(|served| served.name == name)
    }

    /// Says why a saved index that is served can no longer be read. It is being rebuilt from the
    /// chunks.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        let damage = |served: &Arc<Served>| {
            let why = served.corpus.damage()?;
            Some(format!(
                "the saved index of the {} is damaged and is being rebuilt from the chunks, so nothing needs to be done: {why}",
                served.name
            ))
        };
        self.corpora.iter().find_map(damage)
    }
}

/// One corpus of one generation. Each corpus has its own statistics, so the chunks of one never
/// change the ranking in another.
#[derive(Clone)]
pub struct Served {
    /// Name of the feed.
    pub name: &'static str,
    /// Generation that the feed reports. If it reports none, this process counts (`local`).
    pub generation: u64,
    /// Whether the generation is a count of this process.
    pub local: bool,
    /// When the generation was written, in RFC 3339; `None` if the feed does not say.
    pub indexed_at: Option<String>,
    pub corpus: Corpus,
    /// Number of chunks that are found only by their words until their vectors are made.
    pub n_without_vectors: usize,
    /// Messages for people about oddities of the source.
    pub warnings: Vec<String>,
    /// Whether the files are not those that their writer finished.
    pub is_torn: bool,
}

impl Served {
    /// Returns a corpus of chunks that no feed has, without vectors. It belongs to no generation.
    ///
    /// # Errors
    /// When the text index cannot be made.
    pub fn without_index(
        name: &'static str,
        chunks: Vec<Chunk>,
        dimensions: usize,
    ) -> Result<Self, SearchError> {
        let entries = chunks.into_iter().map(|chunk| Arc::new(Entry::from(chunk))).collect();
        let (set, _) = ChunkSet::new(entries);
        let delta = ChunkDelta::everything(&set);
        let mut builder = CorpusBuilder::new(dimensions)?;
        Ok(Self::unloaded(name, builder.update(Arc::new(set), &delta, &mut NoVectors)?))
    }

    /// Returns a corpus that no reload has made. It belongs to no generation.
    pub(super) fn unloaded(name: &'static str, corpus: Corpus) -> Self {
        Self {
            name,
            generation: 0,
            local: true,
            indexed_at: None,
            corpus,
            n_without_vectors: 0,
            warnings: Vec::new(),
            is_torn: false,
        }
    }
}

/// Statistics of all reloads so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Number of attempted reloads; the next two fields count how they ended.
    pub n_reloads: u64,
    pub n_successful: u64,
    pub n_failed: u64,
    /// Number of successful reloads that found a change.
    pub n_published: u64,
    /// Number of files parsed. A changed file counts once, however many indexes use it.
    pub n_files_parsed: u64,
    pub last_duration: Duration,
    /// The features that the process gave up to save memory.
    pub given_up: GivenUp,
    /// The error of the last reload, if it failed.
    pub last_error: Option<String>,
    pub last_reload_at: Option<DateTime<Utc>>,
}
