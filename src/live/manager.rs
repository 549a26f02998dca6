//! Load, compare, update, publish: one reload.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arc_swap::ArcSwap;
use chrono::Utc;

use super::snapshot::{Metrics, Snapshot};
use super::vectors::Vectors;
use crate::chunk::{ChunkDelta, ChunkSet};
use crate::embed::{EmbedError, Embedder};
use crate::search::{CorpusBuilder, SearchError};
use crate::store::{self, Cancel, Layout, LoadError, LoadedFiles, LoadedSet, VectorCache};

/// Serves the chunk files of one project. Readers take [`ChunkManager::current`] and never wait.
pub struct ChunkManager {
    layout: Layout,
    embedder: Arc<dyn Embedder>,
    current: ArcSwap<Snapshot>,
    /// What a reload changes; held for one reload.
    state: Mutex<State>,
    metrics: Mutex<Metrics>,
}

struct State {
    /// `None` after a failed update: the next reload builds everything anew.
    builder: Option<CorpusBuilder>,
    files: LoadedFiles,
    n_local: u64,
}

/// What a reload did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reload {
    pub generation: u64,
    pub n_added: usize,
    pub n_updated: usize,
    pub n_deleted: usize,
    /// A new snapshot was published.
    pub published: bool,
}

/// Why nothing was published; what was served still is.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Index(#[from] SearchError),
}

impl ChunkManager {
    /// Serves an empty set until the first [`ChunkManager::reload`].
    ///
    /// # Errors
    /// When the text index cannot be made.
    pub fn new(layout: Layout, embedder: Arc<dyn Embedder>) -> Result<Self, ReloadError> {
        let mut builder = CorpusBuilder::new(embedder.dimensions())?;
        let nothing = Vectors::prepare(&ChunkDelta::default(), VectorCache::default(), &*embedder)?;
        let code = builder.update(Arc::new(ChunkSet::default()), &ChunkDelta::default(), &nothing)?;
        let empty = Snapshot { generation: 0, local: true, code, warnings: Vec::new(), loaded_at: Utc::now() };
        Ok(Self {
            layout,
            embedder,
            current: ArcSwap::from_pointee(empty),
            state: Mutex::new(State { builder: Some(builder), files: LoadedFiles::default(), n_local: 0 }),
            metrics: Mutex::default(),
        })
    }

    /// What is served now.
    #[must_use]
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The embedder of the vectors.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// How reloading went so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        locked(&self.metrics).clone()
    }

    /// Reads the chunk files and publishes them if they changed: loaded once, compared once, both indexes updated,
    /// one swap. Reloads of several threads follow one another.
    ///
    /// # Errors
    /// When a file cannot be used, the embedder fails, or an index refuses: nothing is published then.
    pub fn reload(&self, cancel: &Cancel) -> Result<Reload, ReloadError> {
        let start = Instant::now();
        let mut state = locked(&self.state);
        let result = self.try_reload(&mut state, cancel);
        let mut metrics = locked(&self.metrics);
        metrics.n_reloads += 1;
        metrics.last_duration = start.elapsed();
        metrics.last_reload_at = Some(Utc::now());
        match &result {
            Ok((reload, n_parsed)) => {
                metrics.n_successful += 1;
                metrics.n_files_parsed += *n_parsed as u64;
                metrics.last_error = None;
                let Reload { generation, n_added, n_updated, n_deleted, .. } = *reload;
                let ms = start.elapsed().as_millis();
                tracing::info!(
                    generation,
                    n_added,
                    n_updated,
                    n_deleted,
                    ms,
                    "reloaded {} chunks",
                    self.current.load().code.chunks().len()
                );
            }
            Err(e) => {
                metrics.n_failed += 1;
                metrics.last_error = Some(e.to_string());
            }
        }
        result.map(|(reload, _)| reload)
    }

    fn try_reload(&self, state: &mut State, cancel: &Cancel) -> Result<(Reload, usize), ReloadError> {
        let LoadedSet { set, generation, warnings, n_parsed, files } =
            store::load(&self.layout, (self.embedder.id(), self.embedder.dimensions()), &state.files, cancel)?;
        let before = self.current();
        let rebuild = state.builder.is_none();
        let delta = if rebuild { ChunkDelta::everything(&set) } else { ChunkDelta::between(before.code.chunks(), &set) };
        let known = generation.map_or(before.local, |g| g == before.generation && !before.local);
        if delta.is_empty() && !rebuild && known && warnings == before.warnings {
            state.files = files;
            let reload = Reload { generation: before.generation, n_added: 0, n_updated: 0, n_deleted: 0, published: false };
            return Ok((reload, n_parsed));
        }
        let cache = VectorCache::read(&self.layout, self.embedder.id(), self.embedder.dimensions());
        let vectors = Vectors::prepare(&delta, cache, &*self.embedder)?;
        let mut builder = match state.builder.take() {
            Some(builder) => builder,
            None => CorpusBuilder::new(self.embedder.dimensions())?,
        };
        // A builder whose update fails is dropped here, and the next reload starts with a new one.
        let code = builder.update(Arc::new(set), &delta, &vectors)?;
        state.builder = Some(builder);
        state.files = files;
        state.n_local += 1;
        let snapshot = Snapshot {
            generation: generation.unwrap_or(state.n_local),
            local: generation.is_none(),
            code,
            warnings,
            loaded_at: Utc::now(),
        };
        let reload = Reload {
            generation: snapshot.generation,
            n_added: delta.added.len(),
            n_updated: delta.updated.len(),
            n_deleted: delta.deleted.len(),
            published: true,
        };
        self.current.store(Arc::new(snapshot));
        Ok((reload, n_parsed))
    }
}

/// A panic in another thread's reload leaves old or new state, each complete: the lock may be taken over.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
