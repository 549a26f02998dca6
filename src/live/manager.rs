//! Runs a reload: loads the feeds, compares, updates the indexes and publishes.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use chrono::Utc;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::checked::{Checked, Summing};
use super::log::{ReloadLog, ReloadRow, milliseconds, name_files};
use super::resident::GivenUp;
use super::snapshot::{Metrics, Served, Snapshot};
use super::vectors::{NoVectors, Vectors};
use crate::chunk::{
    Cancel, Change, ChunkDelta, ChunkSet, Entry, Feed, FeedError, Fingerprint, Loaded, SaveWriter,
    SavedFiles,
};
use crate::embed::{EmbedError, Embedder};
use crate::search::{Corpus, CorpusBuilder, Hnsw, SearchError, VectorSource, VectorTable};
use crate::text::panic_message;
use crate::worker::WorkerHandle;

/// The file in the cache that holds the HNSW graph of the vectors.
const HNSW_FILE: &str = "hnsw.bin";
/// Most bytes of a saved HNSW graph for each chunk that is served. A graph takes some 211 bytes a
/// vector, so a larger one belongs to an old corpus.
const MOST_GRAPH_BYTES: u64 = 1000;
/// The share of chunks that must have been indexed in memory before the index is saved and opened
/// again from its files.
const WORTH_DROPPING: f64 = 0.1;

/// Serves the chunks of one project. Readers take [`ChunkManager::current`] and never wait.
pub struct ChunkManager {
    embedder: Arc<dyn Embedder>,
    current: ArcSwap<Snapshot>,
    /// The state that reloads change. A reload holds the lock until it ends.
    state: Mutex<Vec<ServedFeed>>,
    metrics: Mutex<Metrics>,
    log: Mutex<ReloadLog>,
    /// Receives a request for a reload when a search finds a saved index damaged. It is empty in a
    /// process without a reloader.
    reloader: Arc<OnceLock<WorkerHandle>>,
}

/// A feed and the corpus that is built from it.
struct ServedFeed {
    feed: Box<dyn Feed>,
    /// Whether the saved corpus was looked for.
    is_restored: bool,
    /// Whether the builder reads saved files.
    reads_saved: bool,
    /// `None` after a failed update: the next reload builds everything again.
    builder: Option<CorpusBuilder>,
    n_local: u64,
    /// Number of chunks that changed since the corpus was saved.
    n_unsaved: usize,
    /// Number of chunks that were indexed in memory.
    n_in_memory: usize,
    given_up: GivenUp,
    /// Whether the cache holds the HNSW graph of the corpus.
    is_hnsw_saved: bool,
    /// Chunks that are served without their vectors, with the fingerprints of their passages.
    lacking: Vec<(Fingerprint, Arc<Entry>)>,
}

/// The result of a reload, over all feeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reload {
    pub n_added: usize,
    pub n_updated: usize,
    pub n_deleted: usize,
    /// Whether a new snapshot was published.
    pub published: bool,
}

/// Why nothing was published. The previous snapshot is still served.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error("nothing can be served: no feed was given (this is a bug of cortex)")]
    NoFeed,
    #[error(transparent)]
    Feed(#[from] FeedError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Index(#[from] SearchError),
    #[error(
        "a reload ended in a panic; this is a bug of cortex, and what was served still is: {0}"
    )]
    Panic(String),
}

impl ChunkManager {
    /// Creates a manager that serves an empty corpus for each feed until the first
    /// [`ChunkManager::reload`].
    ///
    /// # Errors
    /// When there is no feed, or a text index cannot be created.
    pub fn new(
        feeds: Vec<Box<dyn Feed>>,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, ReloadError> {
        if feeds.is_empty() {
            return Err(ReloadError::NoFeed);
        }
        let (mut corpora, mut sources) = (Vec::new(), Vec::new());
        for feed in feeds {
            let mut builder = CorpusBuilder::new(embedder.dimensions())?;
            let mut none = Vectors::new(&*feed, &*embedder);
            let corpus =
                builder.update(Arc::new(ChunkSet::default()), &ChunkDelta::default(), &mut none)?;
            corpora.push(Arc::new(Served::unloaded(feed.name(), corpus)));
            sources.push(ServedFeed {
                feed,
                is_restored: false,
                reads_saved: false,
                builder: Some(builder),
                n_local: 0,
                n_unsaved: 0,
                n_in_memory: 0,
                given_up: GivenUp::Nothing,
                is_hnsw_saved: false,
                lacking: Vec::new(),
            });
        }
        let empty = Snapshot { corpora, loaded_at: Utc::now() };
        Ok(Self {
            embedder,
            current: ArcSwap::from_pointee(empty),
            state: Mutex::new(sources),
            metrics: Mutex::default(),
            log: Mutex::default(),
            reloader: Arc::default(),
        })
    }

    /// Returns the snapshot that is served now.
    #[must_use]
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Answers a question from the current snapshot, in a process without a reloader. If the
    /// question finds a saved index damaged, that is rebuilt and the question is asked again.
    ///
    /// # Errors
    /// The errors of the question, and those of [`ChunkManager::reload`].
    pub fn ask<T, E: From<ReloadError>>(
        &self,
        question: impl Fn(&Snapshot) -> Result<T, E>,
    ) -> Result<T, E> {
        let snapshot = self.current();
        let answer = question(&snapshot);
        let damaged: Vec<&str> = snapshot
            .corpora
            .iter()
            .filter(|served| served.corpus.damage().is_some())
            .map(|served| served.name)
            .collect();
        if damaged.is_empty() {
            return answer;
        }
        self.reload_feeds(|feed| damaged.contains(&feed), &Cancel::new(false))?;
        question(&self.current())
    }

    /// Returns the embedder of the vectors.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// Returns the statistics of all reloads so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.metrics.lock().clone()
    }

    /// Returns what the last reloads did.
    #[must_use]
    pub fn log(&self) -> ReloadLog {
        self.log.lock().clone()
    }

    /// Sets the worker that gets a request for a reload when a search finds a saved index damaged.
    pub(super) fn reload_with(&self, reloader: WorkerHandle) {
        let _ = self.reloader.set(reloader);
    }

    /// Saves what is served for later processes, if at least this share of its chunks (0–1) changed
    /// since it was saved last. A corpus is not saved while some of its chunks wait for their
    /// vectors. A failure costs only the time of the next process.
    pub fn save(&self, at_least: f64) {
        self.save_feeds(|_| Some(at_least));
    }

    /// Saves what is served of one feed, under the same condition.
    pub fn save_feed(&self, name: &str, at_least: f64) {
        self.save_feeds(|feed| (feed == name).then_some(at_least));
    }

    fn save_feeds(&self, at_least: impl Fn(&str) -> Option<f64>) {
        let mut sources = self.state.lock();
        let snapshot = self.current();
        for (source, served) in sources.iter_mut().zip(&snapshot.corpora) {
            let share = source.n_unsaved as f64 / served.corpus.chunks().len().max(1) as f64;
            let is_worth_it = at_least(served.name).is_some_and(|at_least| share >= at_least);
            if source.n_unsaved > 0 && is_worth_it && source.is_complete() {
                let start = Instant::now();
                match source.save(served) {
                    Ok(()) => tracing::debug!(
                        ms = start.elapsed().as_millis(),
                        "saved the {} for the next start",
                        served.name
                    ),
                    Err(e) => {
                        tracing::debug!(
                            "the {} was not saved for the next start: {e}",
                            served.name
                        );
                    }
                }
            }
        }
    }

    /// Gives up the next thing that takes memory, and continues to serve without it. Returns false
    /// if nothing is left to give up, or nothing can be given up now.
    ///
    /// # Errors
    /// Same as [`ChunkManager::reload`].
    pub fn give_up(&self, cancel: &Cancel) -> Result<bool, ReloadError> {
        let mut sources = self.state.lock();
        let served = self.current().corpora.clone();
        let is_waiting = sources.iter().any(|s| !s.lacking.is_empty());
        let n_dropped = sources
            .iter_mut()
            .zip(&served)
            .map(|(source, served)| usize::from(source.drop_caches(served)))
            .sum::<usize>();
        if n_dropped == 0 {
            if is_waiting || sources.iter().all(|s| s.given_up == GivenUp::Vectors) {
                return Ok(false);
            }
            let corpora = sources
                .iter_mut()
                .zip(&served)
                .map(|(source, served)| Arc::new(source.without_vectors(served)))
                .collect();
            self.current.store(Arc::new(Snapshot { corpora, loaded_at: self.current().loaded_at }));
        }
        self.metrics.lock().given_up = sources.iter().map(|s| s.given_up).max().unwrap_or_default();
        drop(sources);
        if n_dropped > 0 {
            self.reload(cancel)?;
        }
        Ok(true)
    }

    /// Loads the feeds and publishes what changed: it loads and compares once, updates all indexes,
    /// and swaps the snapshot once. Reloads of several threads run one after the other. A feed that
    /// fails keeps its corpus, and does not delay the others.
    ///
    /// # Errors
    /// The first error: a feed cannot be used, the embedder fails, or an index cannot be updated.
    pub fn reload(&self, cancel: &Cancel) -> Result<Reload, ReloadError> {
        self.reload_feeds(|_| true, cancel)
    }

    /// Loads one feed and publishes what changed, for a command that needs only this feed.
    ///
    /// # Errors
    /// Same as [`ChunkManager::reload`].
    pub fn reload_feed(&self, name: &str, cancel: &Cancel) -> Result<Reload, ReloadError> {
        self.reload_feeds(|feed| feed == name, cancel)
    }

    fn reload_feeds(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        cancel: &Cancel,
    ) -> Result<Reload, ReloadError> {
        let start = Instant::now();
        let mut sources = self.state.lock();
        let mut corpora = self.current().corpora.clone();
        let (mut reload, mut n_parsed, mut failure) = (Reload::default(), 0, None);
        let mut files = Vec::new();
        for (source, served) in
            sources.iter_mut().zip(&mut corpora).filter(|(_, served)| is_wanted(served.name))
        {
            match source.reload_or_rebuild(served, &*self.embedder, cancel, &mut n_parsed) {
                Ok(None) => {}
                Ok(Some((new, delta))) => {
                    let reloader = self.reloader.clone();
                    new.corpus.on_damage(move || {
                        let _ = reloader.get().map(WorkerHandle::request);
                    });
                    *served = Arc::new(new);
                    reload.published = true;
                    reload.n_added += delta.added.len();
                    reload.n_updated += delta.updated.len();
                    reload.n_deleted += delta.deleted.len();
                    name_files(&delta, &mut files);
                }
                Err(e) => failure = failure.or(Some(e)),
            }
        }
        if reload.published {
            self.current.store(Arc::new(Snapshot { corpora, loaded_at: Utc::now() }));
        }
        let took = start.elapsed();
        let result = failure.map_or(Ok(reload), Err);
        if reload.published || result.is_err() {
            self.note(reload, took, files, result.as_ref().err());
        }
        let mut metrics = self.metrics.lock();
        metrics.n_reloads += 1;
        metrics.last_duration = took;
        metrics.last_reload_at = Some(Utc::now());
        metrics.n_files_parsed += n_parsed as u64;
        match &result {
            Ok(reload) => {
                metrics.n_successful += 1;
                metrics.n_published += u64::from(reload.published);
                metrics.last_error = None;
                if reload.published {
                    let Reload { n_added, n_updated, n_deleted, .. } = *reload;
                    let n_chunks: usize =
                        self.current.load().corpora.iter().map(|c| c.corpus.chunks().len()).sum();
                    let generation =
                        self.current.load().corpora.first().map(|served| served.generation);
                    let ms = start.elapsed().as_millis();
                    tracing::info!(
                        generation, n_added, n_updated, n_deleted, ms, "reloaded {n_chunks} chunks"
                    );
                }
            }
            Err(e) => {
                metrics.n_failed += 1;
                metrics.last_error = Some(e.to_string());
            }
        }
        result
    }

    /// Adds a reload to the log.
    fn note(
        &self,
        reload: Reload,
        took: Duration,
        files: Vec<String>,
        error: Option<&ReloadError>,
    ) {
        let current = self.current.load();
        let Some(code) = current.corpora.first() else { return };
        let Reload { n_added, n_updated, n_deleted, .. } = reload;
        let reload = ReloadRow {
            at: Utc::now(),
            milliseconds: milliseconds(took),
            generation: code.generation,
            added: n_added,
            updated: n_updated,
            deleted: n_deleted,
            files,
            error: error.map(ToString::to_string),
        };
        self.log.lock().add(reload, code);
    }

    /// Adds an HNSW graph to a corpus of at least `from` vectors that has no fresh one, and
    /// publishes the corpus with it. It uses the HNSW graph that another process saved, or builds
    /// and saves a new one, which takes minutes. Reloads continue meanwhile. Returns false if no
    /// corpus needs a graph, or the build was cancelled.
    pub fn build_hnsw(&self, from: usize, cancel: &Cancel) -> bool {
        let wanting = |(at, served): (usize, &Arc<Served>)| {
            let vectors = served.corpus.vectors();
            vectors.wants_hnsw(from).then(|| (at, vectors.clone()))
        };
        let Some((at, vectors)) = self.current().corpora.iter().enumerate().find_map(wanting)
        else {
            return false;
        };
        let saved =
            || if vectors.hnsw().is_none() { self.saved_hnsw(at, &vectors, from) } else { None };
        let (hnsw, is_saved) = match saved() {
            Some(hnsw) => (hnsw, true),
            None => match vectors.build_hnsw(cancel) {
                Some(hnsw) => (Arc::new(hnsw), false),
                None => return false,
            },
        };
        let mut sources = self.state.lock();
        let mut corpora = self.current().corpora.clone();
        let source = &mut sources[at];
        let Some(builder) = source.builder.as_mut().filter(|_| source.given_up == GivenUp::Nothing)
        else {
            return false;
        };
        let mut served = Served::clone(&corpora[at]);
        builder.attach(hnsw, &mut served.corpus);
        corpora[at] = Arc::new(served);
        source.is_hnsw_saved = is_saved;
        self.current.store(Arc::new(Snapshot {
            corpora: corpora.clone(),
            loaded_at: self.current().loaded_at,
        }));
        if !is_saved
            && source.is_complete()
            && let Err(e) = source.save(&corpora[at])
        {
            tracing::debug!("the graph of vectors was not saved for the next start: {e}");
        }
        true
    }

    /// Returns the HNSW graph in the cache of a corpus, if few of its vectors changed since it was
    /// built.
    fn saved_hnsw(&self, at: usize, vectors: &VectorTable, from: usize) -> Option<Arc<Hnsw>> {
        let saved = self.state.lock()[at].saved()?;
        let hnsw = Arc::new(vectors.read_hnsw(&saved.read(HNSW_FILE).ok()?)?);
        let mut with_hnsw = vectors.clone();
        with_hnsw.attach(hnsw.clone());
        (!with_hnsw.wants_hnsw(from)).then_some(hnsw)
    }
}

impl ServedFeed {
    /// Reloads the feed, and returns a panic as an error. If a saved index is damaged, it is abandoned
    /// and built again from the chunks.
    fn reload_or_rebuild(
        &mut self,
        before: &Served,
        embedder: &dyn Embedder,
        cancel: &Cancel,
        n_parsed: &mut usize,
    ) -> Result<Option<(Served, ChunkDelta)>, ReloadError> {
        if before.corpus.damage().is_some() {
            tracing::warn!(
                "the saved index of the {} is damaged and is rebuilt from the chunks",
                before.name
            );
            (self.builder, self.is_restored, self.reads_saved) = (None, true, false);
        }
        let mut reload = |this: &mut Self| {
            let tried =
                catch_unwind(AssertUnwindSafe(|| this.reload(before, embedder, cancel, n_parsed)));
            tried.unwrap_or_else(|panic| Err(ReloadError::Panic(panic_message(&*panic))))
        };
        match reload(self) {
            Err(e @ (ReloadError::Index(_) | ReloadError::Panic(_))) if self.reads_saved => {
                tracing::warn!(
                    "the saved index of the {} cannot be used and is rebuilt from the chunks: {e}",
                    before.name
                );
                (self.builder, self.reads_saved) = (None, false);
                reload(self)
            }
            result => result,
        }
    }

    /// Returns the corpus of the current chunks, and what changed. Returns `None` if exactly that
    /// is served already.
    fn reload(
        &mut self,
        before: &Served,
        embedder: &dyn Embedder,
        cancel: &Cancel,
        n_parsed_in_all: &mut usize,
    ) -> Result<Option<(Served, ChunkDelta)>, ReloadError> {
        let restored = if self.is_restored { None } else { self.restore(embedder.dimensions()) };
        let Loaded { set, generation, indexed_at, warnings, is_torn, n_parsed } =
            self.feed.load(cancel)?;
        *n_parsed_in_all += n_parsed;
        let rebuild = restored.is_none() && self.builder.is_none();
        let served = restored.as_ref().map_or(&before.corpus, |(_, corpus)| corpus).chunks();
        let mut delta =
            if rebuild { ChunkDelta::everything(&set) } else { ChunkDelta::between(served, &set) };
        if !rebuild {
            delta.updated.extend(self.arrived(&set, &delta));
        }
        let known = generation.map_or(before.local, |g| g == before.generation && !before.local);
        if delta.is_empty()
            && !rebuild
            && restored.is_none()
            && known
            && warnings == before.warnings
        {
            return Ok(None);
        }
        let mut vectors = Vectors::new(&*self.feed, embedder);
        let mut no_vectors = NoVectors;
        let source: &mut dyn VectorSource =
            if self.given_up == GivenUp::Vectors { &mut no_vectors } else { &mut vectors };
        // If the update fails, this builder is dropped, and the next reload starts with a new one.
        let (mut builder, restored) = match (restored, self.builder.take()) {
            (Some((builder, corpus)), _) => (builder, Some(corpus)),
            (None, Some(builder)) => (builder, None),
            (None, None) => (CorpusBuilder::new(embedder.dimensions())?, None),
        };
        let corpus = match restored {
            Some(corpus) if delta.is_empty() => corpus,
            _ => builder.update(set, &delta, source)?,
        };
        self.n_unsaved += delta.len();
        self.n_in_memory += delta.len();
        let lacking = vectors.finish()?;
        self.builder = Some(builder);
        let indexed = delta.updated.iter().filter(|c| !c.metadata_only);
        let replaced: FxHashSet<&str> = indexed.map(|c| &*c.new.id).collect();
        self.lacking.retain(|(_, e)| {
            !rebuild && !replaced.contains(&*e.id) && corpus.chunks().by_id(&e.id).is_some()
        });
        self.lacking.extend(lacking);
        self.n_local += 1;
        let (generation, local) = generation.map_or((self.n_local, true), |g| (g, false));
        let served = Served {
            name: before.name,
            generation,
            local,
            indexed_at,
            n_without_vectors: self.lacking.len(),
            corpus,
            warnings,
            is_torn,
        };
        Ok(Some((served, delta)))
    }

    /// Restores the corpus that was saved last, and the feed to the chunks of that corpus.
    fn restore(&mut self, dimensions: usize) -> Option<(CorpusBuilder, Corpus)> {
        // Set first, so that a restore that panics is not tried again.
        self.is_restored = true;
        let keep = self.given_up == GivenUp::Nothing;
        let restore = || {
            let saved = self.saved()?;
            let set = self.feed.restore(&*saved)?;
            CorpusBuilder::open(&saved, &set, dimensions, keep)
        };
        let restored = catch_unwind(AssertUnwindSafe(restore)).unwrap_or_default();
        self.reads_saved = restored.is_some();
        restored
    }

    /// Opens the saved files in the cache of the feed.
    fn saved(&self) -> Option<Arc<dyn SavedFiles>> {
        Checked::open(self.feed.cache()?.open()?)
    }

    /// Whether the corpus has everything that is worth saving: no chunk waits for its vector, and
    /// the vectors were not given up.
    fn is_complete(&self) -> bool {
        self.lacking.is_empty() && self.given_up < GivenUp::Vectors
    }

    /// Saves the corpus and makes the next reload serve from the saved files, with as little memory
    /// as possible. Returns false if that would free nothing, or the corpus cannot be saved.
    fn drop_caches(&mut self, served: &Served) -> bool {
        let share = self.n_in_memory as f64 / served.corpus.chunks().len().max(1) as f64;
        let is_grown = self.given_up == GivenUp::Nothing || share >= WORTH_DROPPING;
        if !is_grown || !self.is_complete() || self.save(served).is_err() {
            return false;
        }
        (self.builder, self.is_restored, self.n_in_memory) = (None, false, 0);
        self.given_up = GivenUp::Caches;
        true
    }

    /// Returns what is served, without its vectors.
    fn without_vectors(&mut self, served: &Served) -> Served {
        self.given_up = GivenUp::Vectors;
        let mut served = Served::clone(served);
        if let Some(builder) = &mut self.builder {
            builder.forget_vectors(&mut served.corpus);
        }
        served
    }

    /// Saves the served corpus for the next process.
    fn save(&mut self, served: &Served) -> io::Result<()> {
        // Reset even if saving fails: it is tried again when more has changed.
        self.n_unsaved = 0;
        let (Some(builder), Some(cache)) = (&self.builder, self.feed.cache()) else {
            return Err(io::Error::other("it cannot be"));
        };
        // Building an HNSW graph may take an hour. So a process that never used the saved graph
        // keeps it, too.
        let most_bytes = MOST_GRAPH_BYTES * served.corpus.chunks().len() as u64;
        let before = self
            .saved()
            .filter(|saved| saved.open(HNSW_FILE).is_ok_and(|file| file.n_bytes() <= most_bytes));
        let new = served.corpus.vectors().hnsw().filter(|_| !self.is_hnsw_saved);
        cache.save(&mut |saving| {
            let mut summing = Summing::new(saving);
            self.feed.save(&mut summing)?;
            builder.save(&served.corpus, &mut summing)?;
            match (new, &before) {
                (Some(new), _) => {
                    summing.put(
                        HNSW_FILE,
                        &new.to_bytes()
                            .ok_or_else(|| io::Error::other("the graph cannot be encoded"))?,
                    )?;
                }
                (None, Some(before)) => summing.keep(HNSW_FILE, &**before)?,
                (None, None) => {}
            }
            summing.finish()
        })?;
        self.is_hnsw_saved = served.corpus.vectors().hnsw().is_some();
        Ok(())
    }

    /// Returns the chunks that are served without their vectors although the feed has these vectors
    /// now.
    fn arrived(&self, set: &ChunkSet, delta: &ChunkDelta) -> Vec<Change> {
        if self.lacking.is_empty() {
            return Vec::new();
        }
        let changed: FxHashSet<&str> = delta.updated.iter().map(|c| &*c.new.id).collect();
        let waiting = self.lacking.iter().filter(|(_, e)| !changed.contains(&*e.id));
        let waiting: Vec<(Fingerprint, &Arc<Entry>)> =
            waiting.filter_map(|(key, e)| Some((*key, set.by_id(&e.id)?))).collect();
        let stored = self.feed.vectors(&waiting.iter().map(|(key, _)| *key).collect());
        let there = waiting.into_iter().filter(|(key, _)| stored.contains(*key));
        there.map(|(_, entry)| Change { new: entry.clone(), metadata_only: false }).collect()
    }
}
