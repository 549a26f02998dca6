//! A project: a directory with its settings. It creates the objects that work on the directory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use crate::archives::{Archive, ArchiveError, Archives, Wanted};
use crate::chunk::{Cancel, ChunkSet, Feed, FeedError, Loaded};
use crate::config::{self, Config, ConfigError, Location};
use crate::dir::OwnedDir;
use crate::embed::{BundledModel, Embedder, HttpEmbedder};
use crate::engine::door::graph_rows::{GraphRows, RowsAhead, database_of};
use crate::engine::door::operation::FrontEnd;
use crate::graph::GraphError;
use crate::index::{Found, IndexError, Indexer, Mode, Progress, RelationsSink, Summary, TreeScan};
use crate::known::KnownStore;
use crate::live::ReloadError;
use crate::memory::{
    self, CaptureError, EventSettings, MDFileWatcher, Memories, MemoryFeed, MemoryHome, Recorder,
};
use crate::projects::{self, Projects};
use crate::source::{self, ReadError, Scope, SharedPlace, WalkOptions};
use crate::store::{
    self, ChunkFiles, IndexCache, Layout, LeaderLock, Packing, RootError, WriteLock,
};

/// How long an index run waits for the run of another process.
pub const LONG_WAIT: Duration = Duration::from_mins(1);
/// How long a question waits for another index run before it uses the index as it is.
pub const SHORT_WAIT: Duration = Duration::from_secs(3);

/// A project: its place, its settings and its embedder.
pub struct Project {
    pub layout: Layout,
    pub config: Config,
    /// The working directory of whoever asks, relative to the root; paths of requests may be
    /// relative to it.
    pub folder: PathBuf,
    /// The front end whose words errors use.
    pub front_end: FrontEnd,
    pub(in crate::engine) walk: WalkOptions,
    pub(in crate::engine) embedder: Arc<dyn Embedder>,
    /// The rows of the code graph that runs of this process have written.
    pub(in crate::engine) rows_ahead: Arc<RowsAhead>,
    /// The user's state directory, where the project is noted; `None` outside a real program.
    state: Option<PathBuf>,
    /// Why there is no project, if this stands in for one.
    absent: Option<String>,
    /// Set at the first use, because the choice needs a look into the database.
    memory_home: OnceLock<MemoryHome>,
}

/// Returns a directory, or the current one.
fn start(path: Option<&Path>) -> Result<PathBuf, ProjectError> {
    path.map_or_else(std::env::current_dir, |path| Ok(path.to_path_buf()))
        .map_err(ProjectError::NoDirectory)
}

fn archives_at(place: String) -> Option<Archives> {
    Some(Archives::new(place, config::cache_home()?))
}

/// Why an operation on a project failed.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("cannot determine the current directory")]
    NoDirectory(#[source] io::Error),
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(
        "{path} is not a project: neither it nor a folder above it holds .git or an index of yours; to index it, run `cortex index {path}`, or `git init` in it",
        path = .0.display()
    )]
    NoProject(PathBuf),
    #[error("{}: the project was moved, removed or replaced: start cortex again where it is now", .0.display())]
    Gone(PathBuf),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot index {}", root.display())]
    Index { root: PathBuf, source: IndexError },
    #[error(
        "the files are indexed, but vectors are missing, so some results are found by words alone"
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
    #[error("cannot leave the index for others")]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ProjectError {
    /// Whether nothing is wrong but that no project is there.
    #[must_use]
    pub fn is_no_project(&self) -> bool {
        matches!(self, Self::NoProject(_) | Self::Root(RootError::TooMuch { .. }))
    }
}

impl Project {
    /// Opens the project of a directory; `None` stands for the current directory.
    ///
    /// # Errors
    /// When the directory does not exist or is no project, or the settings are not valid.
    pub fn open(path: Option<&Path>) -> Result<Self, ProjectError> {
        let project = Self::open_as_project(path)?;
        if project.layout.is_project() {
            Ok(project)
        } else {
            Err(ProjectError::NoProject(project.layout.root().to_path_buf()))
        }
    }

    /// Opens a directory that the user names as a project, whether it is one or becomes one.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be a project, or the settings are not valid.
    pub fn open_as_project(path: Option<&Path>) -> Result<Self, ProjectError> {
        Self::opened(path, |place, user, env| Config::load(Some(place), user, env))
    }

    /// Stands in for the project of a directory that has none. Its engine answers no question, and
    /// writes nothing; it knows the other projects of the user. `why` is what it says.
    ///
    /// # Errors
    /// When the directory does not exist, or the settings of the user are not valid.
    pub fn absent(path: Option<&Path>, why: &ProjectError) -> Result<Self, ProjectError> {
        let start = start(path)?;
        let layout = Layout::absent(&start)?;
        let project = Self::new(layout, Self::user_config()?);
        Ok(Self { state: config::state_home(), absent: Some(why.to_string()), ..project })
    }

    /// Returns why there is no project, if this stands in for one.
    #[must_use]
    pub fn is_absent(&self) -> Option<&str> {
        self.absent.as_deref()
    }

    /// Returns the branch that is checked out; `None` outside a repository and on a detached commit.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        source::branch(self.layout.root())
    }

    /// Opens the project of a directory, or what would be one, and leaves out settings files that
    /// cannot be used.
    ///
    /// # Errors
    /// Same as [`Project::open_as_project`], except for settings.
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
        let start = start(path)?;
        let layout = Layout::discover(&start, config::home().as_deref())?;
        let config =
            load(&layout.own_place(), config::user_file().as_deref(), config::environment())?;
        for ignored in &config.ignored {
            tracing::warn!("{}", source::printable(ignored));
        }
        let layout = match config::cache_home() {
            Some(cache) if config.location == Location::Cache => layout.in_cache(&cache)?,
            // The index of a checkout that is read-only is kept in the cache.
            Some(cache) if !layout.is_writable() => {
                layout.clone().in_cache(&cache).unwrap_or(layout)
            }
            _ => layout,
        };
        Ok(Self { state: config::state_home(), ..Self::new(layout, config) })
    }

    /// Returns the settings of the user, without those of a project.
    ///
    /// # Errors
    /// When they are not valid.
    pub(in crate::engine) fn user_config() -> Result<Config, ConfigError> {
        Config::load(None, config::user_file().as_deref(), config::environment())
    }

    /// Counts the files that an index would hold, and the directories that are watched for changes.
    #[must_use]
    pub fn count_sources(&self) -> (usize, usize) {
        let tree = source::walk(self.layout.root(), &self.walk, &Scope::All);
        (tree.files.len(), tree.directories.len())
    }

    /// Returns the text of a file as Cortex shows it.
    ///
    /// # Errors
    /// When the file may not be read or cannot be read.
    pub(in crate::engine) fn read_text(&self, path: &str) -> Result<String, ReadError> {
        self.check_readable(path)?;
        source::read_text(self.layout.root(), path)
    }

    /// Returns the text of a file as Cortex shows it, and the hash of the file's content.
    ///
    /// # Errors
    /// When the file may not be read or cannot be read.
    pub(in crate::engine) fn read_hashed(&self, path: &str) -> Result<(String, String), ReadError> {
        self.check_readable(path)?;
        source::read_hashed(self.layout.root(), path)
    }

    fn check_readable(&self, path: &str) -> Result<(), ReadError> {
        if self.may_read(path) {
            return Ok(());
        }
        Err(ReadError::Forbidden(format!(
            "`{path}`: it is hidden, and no rule or setting includes it"
        )))
    }

    /// Whether an indexed file is still there. The chunk files of other programs may name files that
    /// never were.
    pub(in crate::engine) fn has_file(&self, path: &str) -> bool {
        self.layout.tree().has_file(path)
            || self.layout.is_foreign()
            || !self.layout.other_chunk_files().is_empty()
    }

    /// Whether the text of an indexed file may be read, whatever a chunk file says.
    pub(in crate::engine) fn may_read(&self, path: &str) -> bool {
        self.walk.may_read(self.layout.root(), path)
    }

    /// Notes that the user has this project, so that questions to several projects can name it. A
    /// failure costs only that.
    pub fn note(&self) {
        let Some(state) = &self.state else { return };
        if let Err(e) = projects::note(state, self.layout.root()) {
            tracing::debug!("cannot note the project: {e}");
        }
    }

    /// Returns the projects of the user, and this one.
    #[must_use]
    pub fn all(&self) -> Projects {
        let noted = self.state.as_deref().map(Projects::read).unwrap_or_default();
        if self.absent.is_some() { noted } else { noted.with(self.layout.root()) }
    }

    /// Creates a project from a place and settings.
    #[must_use]
    pub fn new(layout: Layout, config: Config) -> Self {
        let walk = WalkOptions {
            max_file_bytes: config.max_file_bytes,
            exclude: config.exclude.paths.clone(),
            exclude_patterns: config.exclude.patterns.clone(),
            included: source::Included {
                hidden: config.hidden,
                files: config.include.paths.clone(),
                folders: config.include.folders.clone(),
                patterns: config.include.patterns.clone(),
            },
            origins: source::OriginSettings {
                vendored: config.vendored.paths.clone(),
                ordinary: config.ordinary.paths.clone(),
            },
            package: None,
        };
        let embedder: Arc<dyn Embedder> = match &config.remote_model {
            Some(model) => Arc::new(HttpEmbedder::new(model)),
            None => Arc::new(BundledModel),
        };
        let (folder, front_end) = (PathBuf::new(), FrontEnd::default());
        let (rows_ahead, memory_home) = (Arc::default(), OnceLock::new());
        Self {
            layout,
            config,
            folder,
            front_end,
            walk,
            embedder,
            rows_ahead,
            state: None,
            absent: None,
            memory_home,
        }
    }

    /// Returns an indexer that waits up to `lock_wait` for the index run of another process.
    #[must_use]
    pub fn indexer(&self, lock_wait: Duration) -> Indexer {
        Indexer {
            journal: Some(Arc::new(self.memory_home().journal())),
            relations: Some(Arc::new(self.graph_rows(true))),
            ..self.indexer_alone(lock_wait)
        }
    }

    /// Returns an indexer that tells nobody what changed.
    pub(in crate::engine) fn indexer_alone(&self, lock_wait: Duration) -> Indexer {
        Indexer {
            lock_wait,
            layout: self.layout.clone(),
            walk: self.walk.clone(),
            embedder: self.embedder.clone(),
            packing: self.config.compress.map(
                |packed| {
                    if packed { Packing::Zstd } else { Packing::Plain }
                },
            ),
            keep_deleted: self.config.keep_deleted,
            history: self.config.history,
            cancel: Arc::default(),
            journal: None,
            relations: None,
            known: config::cache_home()
                .and_then(|cache| KnownStore::new(cache, self.config.known_bytes)),
            archives: self.config.cache_from.clone().and_then(archives_at),
        }
    }

    /// Leaves the index at a place for others, as an archive. Returns `None` if there is one of the
    /// same commit.
    ///
    /// # Errors
    /// When the index cannot be packed, or the place does not answer.
    pub fn leave_archive(&self, place: String) -> Result<Option<Archive>, ProjectError> {
        let no_cache = || io::Error::other("set XDG_CACHE_HOME or HOME: archives are packed there");
        let archives = archives_at(place).ok_or_else(no_cache)?;
        let aside = archives.aside(&self.layout)?;
        let lock = WriteLock::acquire(&aside.layout, Duration::ZERO).map_err(io::Error::other)?;
        if !store::take_over(&aside.layout, &self.layout, &lock)? {
            let why = "the index is not complete, or is being written: try again";
            return Err(io::Error::other(why).into());
        }
        let rows = GraphRows { layout: aside.layout.clone(), ..self.graph_rows(true) };
        rows.take_over(&self.layout, false);
        drop(lock);
        let rules = self.indexer_alone(LONG_WAIT).rules();
        Ok(archives.leave(Wanted { layout: &self.layout, rules: &rules }, &aside)?)
    }

    /// Writes the rows of the code graph of the files that are indexed. `waits` says whether a run
    /// waits for them.
    pub(in crate::engine) fn graph_rows(&self, waits: bool) -> GraphRows {
        GraphRows { layout: self.layout.clone(), ahead: self.rows_ahead.clone(), waits }
    }

    /// Whether files or the commit changed since the index was made.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.look().is_stale
    }

    /// Compares the files and the commit with the index.
    pub(in crate::engine) fn look(&self) -> TreeScan {
        self.indexer(SHORT_WAIT).look(&Scope::All)
    }

    /// Compares the files with the index. Calls `update` with what was found if they differ, and
    /// records edits, which an index run does itself.
    ///
    /// # Errors
    /// Those of `update`.
    pub(in crate::engine) fn bring_up_to_date<E>(
        &self,
        update: impl FnOnce(Option<Found>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = SystemTime::now();
        let look = self.look();
        if look.is_stale {
            return update(look.found);
        }
        self.record_past(Some(start));
        Ok(())
    }

    /// Updates the index and reports progress to `tell`. A slow embedder is not asked for vectors;
    /// [`Project::embed`] asks it. `found` is what a look found to do, if there was one.
    ///
    /// # Errors
    /// When the index cannot be written, or another process holds its lock longer than `lock_wait`.
    pub fn index(
        &self,
        found: Option<Found>,
        mode: Mode,
        lock_wait: Duration,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary, ProjectError> {
        let start = SystemTime::now();
        let summary = self.indexer(lock_wait).run_after(found, mode, &Scope::All, tell);
        let summary = summary.map_err(|source| ProjectError::Index {
            root: self.layout.root().to_path_buf(),
            source,
        })?;
        self.record_past(Some(start));
        Ok(summary)
    }

    /// Records edits and git operations that ended before this process began, after this process
    /// compared the index with the tree.
    pub(in crate::engine) fn record_past(&self, compared_at: Option<SystemTime>) {
        if self.memory_home().is_in_use() {
            match self.memories(SHORT_WAIT) {
                Ok(memories) => self.record_past_in(&memories, compared_at),
                Err(e) => tracing::warn!("cannot record changes of files yet: {e}"),
            }
        }
    }

    /// Records in an open memory what happened before this process began, unless a server records.
    /// `compared_at` is `None` in a process that does not look at the tree. A failure is left to the
    /// next process.
    pub fn record_past_in(&self, memories: &Memories, compared_at: Option<SystemTime>) {
        if !LeaderLock::is_held(&self.layout) {
            self.record_past_now(memories, compared_at);
        }
    }

    /// Records what happened before this process began, also beside a server. A server knows more about who changed a file, but it
    /// waits until nothing changes, and a session that starts cannot wait for that. Recording is one
    /// transaction, so nothing is recorded twice.
    pub(in crate::engine) fn record_past_now(
        &self,
        memories: &Memories,
        compared_at: Option<SystemTime>,
    ) {
        if memories.store.read_only().is_some() {
            return;
        }
        if let Err(e) = self.recorder().record_past(memories, compared_at) {
            tracing::warn!("cannot record changes of files yet, a later run tries again: {e}");
        }
    }

    pub(in crate::engine) fn recorder(&self) -> Recorder {
        let Config { window, max_events: most, event_days: days, .. } = self.config;
        Recorder::new(self.memory_home(), EventSettings { window, most, days })
    }

    /// Makes the missing vectors with a slow embedder, without a time limit. Returns how many were
    /// made, or `None` if another process makes them.
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

    /// Returns the embedder of the vectors.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// Returns how many passages wait for a slow embedder; 0 for an immediate one.
    #[must_use]
    pub fn n_without_vectors(&self, chunks: &ChunkSet) -> usize {
        if self.embedder.is_immediate() {
            0
        } else {
            self.indexer(SHORT_WAIT).without_vectors(chunks).len()
        }
    }

    pub(in crate::engine) fn warn_of_plain_text(&self) {
        if let Some(model) = self.config.remote_model.as_ref().filter(|m| m.is_plain && !m.is_local)
        {
            tracing::warn!(
                "indexed text and queries go to {} unencrypted: set embed.url to an https address",
                model.url
            );
        }
    }

    /// Reads the chunk files, without building an index over them.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn read_chunks(&self) -> Result<Loaded, ProjectError> {
        Ok(Feed::load(&mut self.chunk_files(), &Cancel::new(false))?)
    }

    /// The feed of code, documents and data.
    pub(in crate::engine) fn chunk_files(&self) -> ChunkFiles {
        ChunkFiles::new(self.layout.clone(), self.embedder.id(), self.embedder.dimensions())
    }

    /// The feed of memories.
    pub(in crate::engine) fn memory_feed(&self) -> MemoryFeed {
        let cache = IndexCache::of_memories(&self.layout, self.embedder.id());
        MemoryFeed::new(self.memory_home(), self.embedder.id(), Box::new(cache))
    }

    /// Opens the memory database, and creates it if it is missing. Waits at most `busy` while another
    /// process writes.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn memories(&self, busy: Duration) -> Result<Memories, ProjectError> {
        let home = self.memory_home();
        let shared = self.shared_memory().filter(|(_, keep_out, _)| !keep_out);
        let made = self.layout.create();
        match made.and_then(|()| shared.map_or(Ok(()), |(layout, ..)| layout.create())) {
            // An existing database can be read although nothing can be written.
            Err(e) if !home.is_in_use() => Err(e.into()),
            _ => Ok(home.open(busy)?),
        }
    }

    /// Returns the project that holds the memories, whether nothing may be written there, and the name
    /// of this working tree, if it is a linked one: it shares the memories with its siblings, and they
    /// stay when it is removed.
    fn shared_memory(&self) -> Option<(Layout, bool, String)> {
        let SharedPlace { root, is_bare, worktree } = source::shared_place(self.layout.root())?;
        let layout = Layout::at(&root).ok()?;
        let is_elsewhere = is_bare || self.config.location == Location::Cache;
        let keep_out = is_elsewhere || !layout.is_writable();
        Some((layout, keep_out, worktree))
    }

    /// Starts a watcher that stores notes as memories, once there are notes and any other memory.
    /// A failure costs only the notes.
    #[expect(clippy::disallowed_methods, reason = "asks whether notes that the user named exist")]
    pub(in crate::engine) fn watch_notes(&self) -> Option<MDFileWatcher> {
        let root = self.layout.root();
        let notes: Vec<_> = match &*self.config.notes {
            [] => vec![memory::notes_of_agents(root, &config::home()?)],
            named => named.iter().map(|p| root.join(p)).collect(),
        };
        for missing in notes.iter().filter(|path| !self.config.notes.is_empty() && !path.exists()) {
            tracing::warn!(
                "{} (in memory.notes) does not exist yet: its notes are remembered when it does",
                missing.display()
            );
        }
        let watcher = MDFileWatcher::new(notes, self.layout.tree().clone(), self.memory_home());
        watcher
            .start()
            .inspect_err(|e| tracing::warn!("cannot watch notes, so they are not remembered: {e}"))
            .ok()?;
        Some(watcher)
    }

    /// Returns the place of the memory database.
    #[must_use]
    pub fn memory_home(&self) -> MemoryHome {
        let decide = || {
            let (state, layout) = (config::state_home(), &self.layout);
            let place = |owner: &Layout, keep_out: bool| {
                MemoryHome::of(
                    owner.tree(),
                    owner.own_place(),
                    keep_out,
                    state.as_deref(),
                    database_of(layout),
                    self.embedder.clone(),
                )
            };
            let home = match self.shared_memory() {
                Some((owner, keep_out, worktree)) => {
                    let (tree, own) = (layout.tree(), layout.own_place());
                    place(&owner, keep_out).seen_from(tree, worktree, own, state.as_deref())
                }
                None => place(layout, layout.is_in_cache()),
            };
            let layout = layout.clone();
            home.counting_from(move || layout.compared_at())
        };
        self.memory_home.get_or_init(decide).clone()
    }
}
