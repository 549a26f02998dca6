//! A project: a directory with its settings, and what composes the objects that work on it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::chunk::{Cancel, ChunkSet, Feed, FeedError, Loaded};
use crate::config::{self, Config, ConfigError, Location};
use crate::dir::OwnedDir;
use crate::embed::{Embedder, HttpEmbedder, StaticModel};
use crate::graph::GraphError;
use crate::index::{IndexError, Indexer, Mode, Progress, Summary};
use crate::live::ReloadError;
use crate::memory::{
    self, CaptureError, EventSettings, MDFileWatcher, Memories, MemoryFeed, MemoryHome, Recorder,
};
use crate::source::{self, Scope, WalkOptions};
use crate::store::{ChunkFiles, IndexCache, Layout, LeaderLock, Packing, RootError};

/// How long an index run waits for another one.
pub const LONG_WAIT: Duration = Duration::from_mins(1);
/// How long a question waits for it before it takes the index as it is.
pub const SHORT_WAIT: Duration = Duration::from_secs(3);

/// A project: where it is and how it is set up.
pub struct Project {
    pub layout: Layout,
    pub config: Config,
    pub(super) walk: WalkOptions,
    pub(super) embedder: Arc<dyn Embedder>,
    /// It is decided by looking into the database, once.
    memory_home: OnceLock<MemoryHome>,
}

/// Why something cannot be done with a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("the current directory cannot be had")]
    NoDirectory(#[source] io::Error),
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{} was not indexed", root.display())]
    Index { root: PathBuf, source: IndexError },
    #[error(
        "the files are indexed, but vectors are lacking, so some results are found by words alone"
    )]
    Embed(#[source] IndexError),
    #[error(transparent)]
    Feed(#[from] FeedError),
    #[error(transparent)]
    Reload(#[from] ReloadError),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Memory(#[from] CaptureError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Project {
    /// The project of a directory; by default of the current one.
    ///
    /// # Errors
    /// When there is no such directory, it is too much for a project, or settings cannot be used.
    pub fn open(path: Option<&Path>) -> Result<Self, ProjectError> {
        Self::opened(path, |place, user, env| Config::load(Some(place), user, env))
    }

    /// The same, also when the settings cannot be used.
    ///
    /// # Errors
    /// As [`Project::open`], but for settings.
    pub fn open_anyway(path: Option<&Path>) -> Result<Self, ProjectError> {
        Self::opened(path, |place, user, env| Config::load_or_default(Some(place), user, env))
    }

    fn opened(
        path: Option<&Path>,
        load: impl FnOnce(
            &OwnedDir,
            Option<&Path>,
            Vec<(String, String)>,
        ) -> Result<Config, ConfigError>,
    ) -> Result<Self, ProjectError> {
        let start = match path {
            Some(path) => path.to_path_buf(),
            None => std::env::current_dir().map_err(ProjectError::NoDirectory)?,
        };
        let layout = Layout::discover(&start, config::home().as_deref())?;
        // Variables that are not UTF-8 are none of ours.
        let env = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let config = load(&layout.own_place(), config::user_file().as_deref(), env.collect())?;
        for ignored in &config.ignored {
            tracing::warn!("{}", source::printable(ignored));
        }
        let layout = match config::cache_home() {
            Some(cache) if config.location == Location::Cache => layout.in_cache(&cache)?,
            // A checkout that may only be read is searched all the same.
            Some(cache) if !layout.is_writable() => {
                layout.clone().in_cache(&cache).unwrap_or(layout)
            }
            _ => layout,
        };
        Ok(Self::new(layout, config))
    }

    /// The project of this place with these settings.
    #[must_use]
    pub fn new(layout: Layout, config: Config) -> Self {
        let walk = WalkOptions {
            max_file_bytes: config.max_file_bytes,
            exclude: config.exclude.clone(),
            exclude_patterns: config.exclude_patterns.clone(),
        };
        let embedder: Arc<dyn Embedder> = match &config.remote_model {
            Some(model) => Arc::new(HttpEmbedder::new(model)),
            None => StaticModel::bundled(),
        };
        Self { layout, config, walk, embedder, memory_home: OnceLock::new() }
    }

    /// An indexer that waits so long for another process that indexes.
    #[must_use]
    pub fn indexer(&self, lock_wait: Duration) -> Indexer {
        Indexer {
            lock_wait,
            layout: self.layout.clone(),
            walk: self.walk.clone(),
            embedder: self.embedder.clone(),
            packing: if self.config.compress { Packing::Zstd } else { Packing::Plain },
            keep_deleted: self.config.keep_deleted,
            cancel: Arc::default(),
            journal: Some(Arc::new(self.memory_home().journal())),
        }
    }

    /// Whether files changed since they were indexed.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.indexer(SHORT_WAIT).look(&Scope::All).is_stale
    }

    /// Brings the index up to date, and says how far it is. An embedder that takes its time is not
    /// asked.
    ///
    /// # Errors
    /// When it cannot be written, or another process keeps it longer than `lock_wait`.
    pub fn index(
        &self,
        mode: Mode,
        lock_wait: Duration,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary, ProjectError> {
        let summary = self.indexer(lock_wait).run(mode, &Scope::All, tell);
        let summary = summary.map_err(|source| ProjectError::Index {
            root: self.layout.root().to_path_buf(),
            source,
        })?;
        if summary.changed && self.memory_home().is_in_use() && !LeaderLock::is_held(&self.layout) {
            // Nobody else does. What is not quiet yet is recorded by the next one.
            let recorded = self
                .memories_within(SHORT_WAIT)
                .and_then(|memories| Ok(self.recorder().record(&memories)?));
            let _ = recorded
                .inspect_err(|e| tracing::warn!("what happened to files is not recorded yet: {e}"));
        }
        Ok(summary)
    }

    pub(super) fn recorder(&self) -> Recorder {
        let Config { window, max_events: most, event_days: days, .. } = self.config;
        Recorder::new(self.memory_home(), EventSettings { window, most, days })
    }

    /// Has an embedder that takes its time make the vectors that are lacking, however long that
    /// takes. Returns how many were made; `None`: another process is at it.
    ///
    /// # Errors
    /// When the embedder fails.
    pub fn embed(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<Option<usize>, ProjectError> {
        if self.embedder.is_immediate() {
            return Ok(Some(0));
        }
        self.warn_of_plain_text();
        self.indexer(LONG_WAIT).embed_rest(tell).map_err(ProjectError::Embed)
    }

    /// What makes the vectors.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// How many passages wait for an embedder that takes its time.
    #[must_use]
    pub fn n_without_vectors(&self, chunks: &ChunkSet) -> usize {
        if self.embedder.is_immediate() {
            0
        } else {
            self.indexer(SHORT_WAIT).without_vectors(chunks).len()
        }
    }

    pub(super) fn warn_of_plain_text(&self) {
        if let Some(model) = self.config.remote_model.as_ref().filter(|m| m.is_plain && !m.is_local)
        {
            tracing::warn!(
                "what is indexed and what is asked goes to {} unencrypted: rather let it answer https",
                model.url
            );
        }
    }

    /// Whether a server should keep the index up to date by itself: in a git repository, and where
    /// there is an index.
    #[must_use]
    pub fn should_follow(&self) -> bool {
        let root = self.layout.root();
        root.ancestors().any(|d| d.join(".git").exists()) || self.layout.is_indexed()
    }

    /// Reads the chunk files, without an index over them.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn read_chunks(&self) -> Result<Loaded, ProjectError> {
        Ok(Feed::load(&mut self.chunk_files(), &Cancel::new(false))?)
    }

    /// The feed of code, documents and data.
    pub(super) fn chunk_files(&self) -> ChunkFiles {
        ChunkFiles::new(self.layout.clone(), self.embedder.id(), self.embedder.dimensions())
    }

    /// The feed of memories.
    pub(super) fn memory_feed(&self) -> MemoryFeed {
        let cache = IndexCache::of_memories(&self.layout, self.embedder.id());
        MemoryFeed::new(self.memory_home(), self.embedder.id(), Box::new(cache))
    }

    /// What is remembered; the database is made if there is none.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn memories(&self) -> Result<Memories, ProjectError> {
        self.memories_within(LONG_WAIT)
    }

    /// The same for one who waits so long at most while others write.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn memories_within(&self, busy: Duration) -> Result<Memories, ProjectError> {
        let home = self.memory_home();
        match self.layout.create() {
            // What is there is read from a disk that takes nothing more.
            Err(e) if !home.is_in_use() => Err(e.into()),
            _ => Ok(home.open(busy)?),
        }
    }

    /// Watches notes that are to be remembered, as soon as there are any and anything is
    /// remembered. Failing costs no more than the notes.
    pub(super) fn watch_notes(&self) -> Option<MDFileWatcher> {
        let root = self.layout.root();
        let notes: Vec<_> = match &*self.config.notes {
            [] => vec![memory::notes_of_agents(root, &config::home()?)],
            named => named.iter().map(|p| root.join(p)).collect(),
        };
        for missing in notes.iter().filter(|path| !self.config.notes.is_empty() && !path.exists()) {
            tracing::warn!(
                "{}: there are no notes yet; they are remembered when they come (memory.notes names it)",
                missing.display()
            );
        }
        let watcher = MDFileWatcher::new(notes, self.layout.tree().clone(), self.memory_home());
        watcher.start().inspect_err(|e| tracing::warn!("notes are not remembered: {e}")).ok()?;
        Some(watcher)
    }

    /// Where what is remembered is.
    #[must_use]
    pub fn memory_home(&self) -> MemoryHome {
        let decide = || {
            let (state, layout) = (config::state_home(), &self.layout);
            let (own, keep_out) = (layout.own_place(), layout.is_in_cache());
            let home = MemoryHome::of(
                layout.tree(),
                own,
                keep_out,
                state.as_deref(),
                layout.code_graph(),
                self.embedder.clone(),
            );
            let layout = layout.clone();
            home.counting_from(move || layout.compared_at())
        };
        self.memory_home.get_or_init(decide).clone()
    }
}
