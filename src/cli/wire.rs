//! Composes the objects of one project from a directory and the environment.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::chunk::{Cancel, ChunkSet, Feed, Loaded};
use crate::config::{self, Config, ConfigError, Location};
use crate::dir::OwnedDir;
use crate::embed::{Embedder, HttpEmbedder, StaticModel};
use crate::graph::CodeGraph;
use crate::index::{IndexEvent, Indexer, IndexingService, Mode, Progress, Summary};
use crate::live::{ChunkManager, Reloader};
use crate::memory::{self, EventSettings, Facts, MDFileWatcher, Memories, MemoryFeed, MemoryHome, Recorder, Recording};
use crate::source::{self, DirectoryWatcher, FileChange, Scope, WalkOptions};
use crate::store::{ChunkFiles, IndexCache, Layout, LeaderLock, Packing, SourceTable};
use crate::syntax;
use crate::tools::{self, Context as Tools, Remembered};
use crate::worker::WorkerHandle;

/// How long an index run waits for another one.
pub(super) const LONG_WAIT: Duration = Duration::from_mins(1);
/// How long a search waits before it takes the index as it is.
pub(super) const SHORT_WAIT: Duration = Duration::from_secs(3);

/// How long a server's index run waits; it is tried again.
const SERVICE_WAIT: Duration = Duration::from_secs(10);
/// How often chunk files are looked at that cannot be watched.
const POLL: Duration = Duration::from_secs(2);

/// A project: where it is and how it is set up.
pub(super) struct Project {
    pub(super) layout: Layout,
    pub(super) config: Config,
    walk: WalkOptions,
    embedder: Arc<dyn Embedder>,
    /// It is decided by looking into the database, once.
    memory_home: OnceLock<MemoryHome>,
}

impl Project {
    /// The project of a directory; by default of the current one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        Self::opened(path, |place, user, env| Config::load(Some(place), user, env))
    }

    /// The same, also when the settings cannot be used.
    pub(super) fn open_anyway(path: Option<&Path>) -> Result<Self> {
        Self::opened(path, |place, user, env| Config::load_or_default(Some(place), user, env))
    }

    fn opened(
        path: Option<&Path>,
        load: impl FnOnce(&OwnedDir, Option<&Path>, Vec<(String, String)>) -> Result<Config, ConfigError>,
    ) -> Result<Self> {
        let start = match path {
            Some(path) => path.to_path_buf(),
            None => std::env::current_dir().context("the current directory cannot be had")?,
        };
        let layout = Layout::discover(&start, config::home().as_deref())?;
        // Variables that are not UTF-8 are none of ours.
        let env = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let config = load(&layout.own_place(), config::user_file().as_deref(), env.collect())?;
        for ignored in &config.ignored {
            tracing::warn!("{}", tools::printable(ignored));
        }
        let layout = match config::cache_home() {
            Some(cache) if config.location == Location::Cache => layout.in_cache(&cache)?,
            // A checkout that may only be read is searched all the same.
            Some(cache) if !layout.is_writable() => layout.clone().in_cache(&cache).unwrap_or(layout),
            _ => layout,
        };
        let walk = WalkOptions {
            max_file_bytes: config.max_file_bytes,
            exclude: config.exclude.clone(),
            exclude_patterns: config.exclude_patterns.clone(),
        };
        let embedder: Arc<dyn Embedder> = match &config.remote_model {
            Some(model) => Arc::new(HttpEmbedder::new(model)),
            None => StaticModel::bundled(),
        };
        Ok(Self { layout, config, walk, embedder, memory_home: OnceLock::new() })
    }

    /// An indexer that waits so long for another process that indexes.
    pub(super) fn indexer(&self, lock_wait: Duration) -> Indexer {
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
    pub(super) fn is_stale(&self) -> bool {
        self.indexer(SHORT_WAIT).look(&Scope::All).is_stale
    }

    /// The files that are for indexing, each with its language by name.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let files = source::walk(self.layout.root(), &self.walk, &Scope::All).files.into_iter();
        files.map(|f| (syntax::detect(&f.path, "").name.to_string(), f.path)).map(|(language, path)| (path, language)).collect()
    }

    fn chunk_files(&self) -> ChunkFiles {
        ChunkFiles::new(self.layout.clone(), self.embedder.id(), self.embedder.dimensions())
    }

    /// Runs the indexer, with a progress bar on a terminal. An embedder that takes its time is not asked.
    pub(super) fn index(&self, mode: Mode, quiet: bool, lock_wait: Duration) -> Result<Summary> {
        let bar = Bar::new("indexing {wide_bar} {pos}/{len} files {elapsed}", quiet);
        let summary = self.indexer(lock_wait).run(mode, &Scope::All, &|p| bar.show(p));
        let summary = summary.with_context(|| format!("{} was not indexed", self.layout.root().display()))?;
        if summary.changed && self.memory_home().is_in_use() && !LeaderLock::is_held(&self.layout) {
            // Nobody else does. What is not quiet yet is recorded by the next one.
            let recorded = self.memories_within(SHORT_WAIT).and_then(|memories| Ok(self.recorder().record(&memories)?));
            let _ = recorded.inspect_err(|e| tracing::warn!("what happened to files is not recorded yet: {e:#}"));
        }
        Ok(summary)
    }

    fn recorder(&self) -> Recorder {
        let Config { window, max_events: most, event_days: days, .. } = self.config;
        Recorder::new(self.memory_home(), EventSettings { window, most, days })
    }

    /// Has an embedder that takes its time make the vectors that are lacking, however long that takes. Returns how many were
    /// made; `None`: another process is at it.
    pub(super) fn embed(&self, quiet: bool) -> Result<Option<usize>> {
        if self.embedder.is_immediate() {
            return Ok(Some(0));
        }
        self.warn_of_plain_text();
        let bar = Bar::new("vectors {wide_bar} {pos}/{len} chunks {elapsed}", quiet);
        let made = self.indexer(LONG_WAIT).embed_rest(&|p| bar.show(p));
        made.context("the files are indexed, but vectors are lacking, so some results are found by words alone")
    }

    /// What makes the vectors.
    pub(super) fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// How many passages wait for an embedder that takes its time.
    pub(super) fn n_without_vectors(&self, chunks: &ChunkSet) -> usize {
        if self.embedder.is_immediate() { 0 } else { self.indexer(SHORT_WAIT).without_vectors(chunks).len() }
    }

    fn warn_of_plain_text(&self) {
        if let Some(model) = self.config.remote_model.as_ref().filter(|m| m.is_plain && !m.is_local) {
            tracing::warn!("what is indexed and what is asked goes to {} unencrypted: rather let it answer https", model.url);
        }
    }

    /// Whether a server should keep the index up to date by itself: in a git repository, and where there is an index.
    pub(super) fn should_follow(&self) -> bool {
        let root = self.layout.root();
        root.ancestors().any(|d| d.join(".git").exists()) || self.layout.is_indexed()
    }

    /// Everything that serves this project, started: it loads, watches and, if it is to `follow` the tree, indexes in the
    /// background. `changed` is called, on any thread, when there could be something new to tell.
    pub(super) fn serve(&self, follow: bool, changed: Arc<dyn Fn() + Send + Sync>) -> Result<Tools> {
        self.warn_of_plain_text();
        let memory = self.memory_feed();
        let mut remembered = Remembered::new(self.memory_home(), memory.facts(), if follow { self.watch_notes() } else { None });
        let feeds: Vec<Box<dyn Feed>> = vec![Box::new(self.chunk_files()), Box::new(memory)];
        let manager = Arc::new(ChunkManager::new(feeds, self.embedder.clone())?);
        let created = if follow { self.layout.create() } else { Ok(()) };
        if let Err(e) = &created {
            tracing::warn!("nothing is indexed, what is there is served: {e}");
        }
        let reloader = Reloader::spawn(manager.clone(), self.config.memory_bytes, self.chunk_watch(changed.clone()))?;
        let handle = reloader.handle().clone();
        let told = move |told: IndexEvent| {
            if told == IndexEvent::Written {
                handle.request();
            }
            changed();
        };
        let follow = follow && created.is_ok();
        let indexing = if follow {
            let (indexing, recording) = self.follow(told)?;
            remembered.recording = Some(recording);
            Some(indexing)
        } else {
            None
        };
        Ok(Tools {
            layout: self.layout.clone(),
            manager,
            reloader,
            indexing,
            memory: Some(remembered),
            edit_trusted: self.config.edit_trusted,
        })
    }

    /// What keeps the index up to date, and what records why it had to be.
    fn follow(&self, told: impl Fn(IndexEvent) + Send + Sync + 'static) -> Result<(IndexingService, Recording)> {
        let (journal, window) = (self.memory_home().journal(), self.config.window);
        let recording: Arc<OnceLock<WorkerHandle>> = Arc::default();
        let wake = recording.clone();
        let journal = move |changes: &[FileChange]| {
            journal(changes);
            if let Some(recording) = wake.get() {
                recording.when_quiet(window);
            }
        };
        let indexer = Indexer { journal: Some(Arc::new(journal)), ..self.indexer(SERVICE_WAIT) };
        let indexing = IndexingService::spawn(indexer, self.config.debounce, told)?;
        let recorder = self.recorder().spawn(indexing.is_leading())?;
        // Nobody else sets it.
        let _ = recording.set(recorder.handle().clone());
        Ok((indexing, recorder))
    }

    /// Keeps the chunk files watched, whatever becomes of their directory; says how often to look at them unasked.
    fn chunk_watch(&self, changed: Arc<dyn Fn() + Send + Sync>) -> impl FnMut(&WorkerHandle) -> Duration + Send + 'static {
        let (directory, quiet) = (self.layout.chunks_dir(), self.config.debounce);
        let (mut watcher, mut told) = (None, None);
        move |handle| {
            changed();
            let wake = handle.clone();
            let tell = move || {
                wake.request();
            };
            let watcher = watcher.get_or_insert_with(|| DirectoryWatcher::new(&directory, quiet, tell));
            let Err(why) = watcher.renew() else {
                told = None;
                return Reloader::RESCAN;
            };
            if told.as_ref() != Some(&why) {
                tracing::info!("{} cannot be watched, so it is looked at every {} s: {why}", directory.display(), POLL.as_secs());
                told = Some(why);
            }
            POLL
        }
    }

    /// Reads the chunk files, without an index over them.
    pub(super) fn read_chunks(&self) -> Result<Loaded> {
        Ok(self.chunk_files().load(&Cancel::new(false))?)
    }

    /// What serves this project; nothing is loaded yet.
    pub(super) fn manager(&self) -> Result<ChunkManager> {
        Ok(ChunkManager::new(vec![Box::new(self.chunk_files())], self.embedder.clone())?)
    }

    /// What is remembered; the database is made if there is none.
    pub(super) fn memories(&self) -> Result<Memories> {
        self.memories_within(LONG_WAIT)
    }

    /// The same for one who waits so long at most while others write.
    pub(super) fn memories_within(&self, busy: Duration) -> Result<Memories> {
        let home = self.memory_home();
        match self.layout.create() {
            // What is there is read from a disk that takes nothing more.
            Err(e) if !home.is_in_use() => Err(e.into()),
            _ => Ok(home.open(busy)?),
        }
    }

    /// Watches notes that are to be remembered, as soon as there are any and anything is remembered. Failing costs no more than the notes.
    fn watch_notes(&self) -> Option<MDFileWatcher> {
        let root = self.layout.root();
        let notes: Vec<_> = match &*self.config.notes {
            [] => vec![memory::notes_of_agents(root, &config::home()?)],
            named => named.iter().map(|p| root.join(p)).collect(),
        };
        for missing in notes.iter().filter(|path| !self.config.notes.is_empty() && !path.exists()) {
            tracing::warn!("{}: there are no notes yet; they are remembered when they come (memory.notes names it)", missing.display());
        }
        let watcher = MDFileWatcher::new(notes, self.layout.tree().clone(), self.memory_home());
        watcher.start().inspect_err(|e| tracing::warn!("notes are not remembered: {e}")).ok()?;
        Some(watcher)
    }

    /// Where what is remembered is.
    pub(super) fn memory_home(&self) -> MemoryHome {
        let decide = || {
            let (state, layout) = (config::state_home(), &self.layout);
            let (own, keep_out) = (layout.own_place(), layout.is_in_cache());
            let home = MemoryHome::of(layout.tree(), own, keep_out, state.as_deref(), layout.code_graph(), self.embedder.clone());
            let layout = layout.clone();
            home.counting_from(move || layout.compared_at())
        };
        self.memory_home.get_or_init(decide).clone()
    }

    fn memory_feed(&self) -> MemoryFeed {
        let cache = IndexCache::of_memories(&self.layout, self.embedder.id());
        MemoryFeed::new(self.memory_home(), self.embedder.id(), Box::new(cache))
    }

    /// What serves memories alone; nothing is loaded yet.
    pub(super) fn memory_manager(&self) -> Result<(ChunkManager, Facts)> {
        let feed = self.memory_feed();
        let facts = feed.facts();
        Ok((ChunkManager::new(vec![Box::new(feed)], self.embedder.clone())?, facts))
    }

    /// The code graph, up to date with the index, and that with the tree; beside chunk files of another program with the tree alone.
    pub(super) fn graph(&self) -> Result<CodeGraph> {
        let sources = if self.layout.is_foreign() {
            Some(self.indexer(LONG_WAIT).look_at_sources())
        } else {
            self.index(Mode::Incremental, false, LONG_WAIT)?;
            SourceTable::read(&self.layout)
        };
        if self.layout.is_foreign() && sources.as_ref().is_none_or(|table| table.files.is_empty()) {
            anyhow::bail!("{}: {}", self.layout.root().display(), tools::NO_SOURCES);
        }
        Ok(tools::code_graph(&self.layout, sources)?)
    }

    /// Loads the index of the project as it is on disk, to be searched.
    pub(super) fn load(&self) -> Result<ChunkManager> {
        let manager = self.manager()?;
        manager.reload(&Cancel::new(false))?;
        Ok(manager)
    }
}

/// A progress bar, on a terminal.
struct Bar(indicatif::ProgressBar);

impl Bar {
    fn new(template: &str, quiet: bool) -> Self {
        let bar = if quiet { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new(0) };
        let style = indicatif::ProgressStyle::with_template(template);
        Self(bar.with_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar())))
    }

    fn show(&self, p: Progress) {
        self.0.set_length(p.total as u64);
        self.0.set_position(p.done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
