//! An engine: a project, the snapshots that answer questions about it, and what keeps them fresh.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;

use crate::chunk::{Cancel, Chunk, Feed};
use crate::engine::door::commits::OpenCommits;
use crate::engine::door::freshness::{AnswerState, Freshness, Wait};
use crate::engine::door::gram_filters::OpenFilters;
use crate::engine::door::graph_upkeep::GraphUpkeep;
use crate::engine::door::project::{LONG_WAIT, Project, ProjectError, SHORT_WAIT};
use crate::engine::{AskError, Call};
use crate::graph::Map;
use crate::index::{
    Found, IndexError, IndexEvent, Indexer, IndexingService, Mode, Progress, Summary,
};
use crate::live::{ChunkManager, GivenUp, MemoryBudget, Reloader, Served, Snapshot};
use crate::memory::{Facts, MDFileWatcher, Memories, MemoryFeed};
use crate::source::{self, DirectoryWatcher, FileChange};
use crate::store::{Activity, ChunkFiles, Manifest};
use crate::text::chain;
use crate::worker::{Pace, Worker, WorkerHandle};

/// How long an answer waits for the first load of the index, or for a damaged one to be replaced.
const FIRST_LOAD: Duration = Duration::from_secs(5);
/// How long an answer waits until the files are compared with the index for the first time.
const FIRST_LOOK: Duration = Duration::from_secs(5);
/// How long the reply to an edit waits until the edit is indexed.
const AFTER_EDIT: Duration = Duration::from_secs(3);
/// Shortest time between two requests to write damaged files anew.
const REPAIR: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
/// How often a call that waits for a generation requests a reload.
const LOOK: Duration = Duration::from_millis(200);
/// Number of hexadecimal digits that identify a commit.
const COMMIT_DIGITS: usize = 12;
/// How long an index run of a server waits for another process before it fails; it is retried.
const SERVICE_WAIT: Duration = Duration::from_secs(10);
/// How often the chunk files are polled if they cannot be watched.
const POLL_CHUNKS: Duration = Duration::from_secs(2);

/// Most packages of others that an engine holds open.
const MAX_PACKAGES: usize = 16;

/// The engines of the packages that were asked last, the latest at the end, each with what identifies
/// its index.
#[derive(Default)]
pub(in crate::engine) struct OpenPackages(Mutex<Vec<(String, Arc<Engine>)>>);

impl OpenPackages {
    pub(in crate::engine) fn get(&self, id: &str) -> Option<Arc<Engine>> {
        let mut open = self.0.lock();
        let at = open.iter().position(|(known, _)| known == id)?;
        let found = open.remove(at);
        open.push(found.clone());
        Some(found.1)
    }

    pub(in crate::engine) fn put(&self, id: String, engine: Arc<Engine>) {
        let mut open = self.0.lock();
        open.push((id, engine));
        if open.len() > MAX_PACKAGES {
            open.remove(0);
        }
    }
}

/// A project that can be queried.
pub struct Engine {
    pub project: Arc<Project>,
    /// Serves the corpora of code and memories.
    pub manager: Arc<ChunkManager>,
    pub(in crate::engine) upkeep: Upkeep,
    /// The properties of the served memories that filters test.
    pub(in crate::engine) facts: Facts,
    /// The ranks of the files of a project, with the generation that they belong to.
    pub(in crate::engine) ranked: Mutex<Option<(u64, Arc<Map>)>>,
    /// The packages of others that are open.
    pub(in crate::engine) packages: OpenPackages,
    /// The index of commits, once a question about the past came.
    pub(in crate::engine) commits: OpenCommits,
    /// Which trigrams the indexed files hold, once a search for lines asked.
    pub(in crate::engine) filters: OpenFilters,
    /// The memory database that was opened last, with the inode number of its file.
    open: Mutex<Option<(u64, Arc<Memories>)>>,
}

/// How an engine is kept fresh: on request in a command, by threads in a server.
pub(in crate::engine) enum Upkeep {
    Command(Command),
    Server(Box<ServingState>),
}

/// The state of a command, which answers one question: it updates the index first, and loads only
/// what the question needs.
pub(in crate::engine) struct Command {
    look: AnswerFrom,
    pub(in crate::engine) tell: Box<Tell>,
    done: Mutex<Done>,
}

/// A callback that receives each [`Step`].
pub type Tell = dyn Fn(Step) + Send + Sync;

/// A step that a command takes before it answers.
pub enum Step<'a> {
    /// An index run makes progress.
    Indexing(Progress),
    /// The first index of the project was built.
    Indexed(&'a Summary),
    /// What was indexed is prepared for searches, or, if false, it is prepared.
    Preparing(bool),
    /// The commits are read for the first time.
    Commits,
    /// Files are read into the code graph.
    Graph(Progress),
}

/// The state that a command answers from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFrom {
    /// The current files: the index is updated first.
    Tree,
    /// The index as it is.
    Index,
}

/// The steps that a command has completed.
#[derive(Default)]
struct Done {
    is_up_to_date: bool,
    is_loaded: bool,
    early: Early,
    warnings: Vec<String>,
}

/// Whether a command answers a search before there is an index.
#[derive(Default, PartialEq, Eq)]
enum Early {
    #[default]
    No,
    /// The next search may be answered early.
    Allowed,
    /// A search was answered early, and the index is to be built after it.
    Answered,
}

/// The threads of a server's engine.
pub(in crate::engine) struct ServingState {
    pub(in crate::engine) reloader: Reloader,
    /// `None` if this process serves the index on disk but does not index.
    pub(in crate::engine) indexing: Option<IndexingService>,
    /// Updates the code graph until it is dropped.
    pub(in crate::engine) graph: GraphUpkeep,
    /// Whether what questions need is open, or is being opened before the first of them.
    pub(in crate::engine) is_warmed_up: AtomicBool,
    /// Watches notes until it is dropped; `None` if they are not followed or cannot be watched.
    notes: Option<MDFileWatcher>,
    /// When an answer last requested that damaged files are written anew.
    repaired_at: Mutex<Option<Instant>>,
    /// Records changes of files as memories until it is dropped.
    _recording: Option<Worker>,
}

impl ServingState {
    /// Requests an index run that writes damaged files anew, unless one was requested just now.
    fn repair(&self) {
        let mut last = self.repaired_at.lock();
        if last.is_none_or(|at| at.elapsed() > REPAIR)
            && let Some(indexing) = &self.indexing
        {
            *last = Some(Instant::now());
            indexing.repair();
        }
    }
}

/// The code corpus that is served at one moment. An answer from it describes one generation.
pub(in crate::engine) struct View {
    pub(in crate::engine) code: Arc<Served>,
    pub(in crate::engine) state: AnswerState,
}

/// Opens other projects of the user.
pub trait OpenProject: Send + Sync {
    /// Returns an engine of the project of `root`.
    ///
    /// # Errors
    /// When the project cannot be opened.
    fn engine(&self, root: &Path) -> Result<Arc<Engine>, ProjectError>;

    /// Returns the roots of projects that the caller may name beside those that are noted.
    fn roots(&self) -> &[PathBuf] {
        &[]
    }
}

impl Engine {
    fn new(
        project: Arc<Project>,
        manager: Arc<ChunkManager>,
        upkeep: Upkeep,
        facts: Facts,
    ) -> Self {
        let (ranked, open) = (Mutex::default(), Mutex::default());
        let (packages, commits) = (OpenPackages::default(), OpenCommits::default());
        let filters = OpenFilters::default();
        Self { project, manager, upkeep, facts, ranked, packages, commits, filters, open }
    }

    /// Creates the engine of one command. It loads nothing before the first question.
    ///
    /// # Errors
    /// When a text index cannot be created.
    pub fn for_command(
        project: Project,
        look: AnswerFrom,
        tell: Box<Tell>,
    ) -> Result<Self, ProjectError> {
        let memory = project.memory_feed();
        let facts = memory.facts();
        let feeds: Vec<Box<dyn Feed>> = vec![Box::new(project.chunk_files()), Box::new(memory)];
        let manager = Arc::new(ChunkManager::new(feeds, project.embedder.clone())?);
        let project = Arc::new(project);
        let upkeep = Upkeep::Command(Command { look, tell, done: Mutex::default() });
        Ok(Self::new(project, manager, upkeep, facts))
    }

    /// Creates and starts the engine of a server: it loads and watches the index and, with
    /// `follow`, also follows the tree and indexes it in the background. It calls `changed`, on any
    /// thread, when the index or its state may have changed.
    ///
    /// # Errors
    /// When a text index cannot be created, or a thread cannot be started.
    pub fn for_server(
        project: Project,
        follow: bool,
        changed: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, ProjectError> {
        project.warn_of_plain_text();
        let memory = project.memory_feed();
        let facts = memory.facts();
        let notes = if follow { project.watch_notes() } else { None };
        let chunk_files = project.chunk_files().debounced(quiet_of_others(&project));
        let feeds: Vec<Box<dyn Feed>> = vec![Box::new(chunk_files), Box::new(memory)];
        let manager = Arc::new(ChunkManager::new(feeds, project.embedder.clone())?);
        let created = if follow { project.layout.create() } else { Ok(()) };
        if let Err(e) = &created {
            tracing::warn!("cannot index, so only an existing index is served: {e}");
        }
        let reloader = Reloader::spawn(
            manager.clone(),
            project
                .config
                .memory_budget
                .map(|bytes| MemoryBudget { bytes, patience: project.config.memory_patience }),
            chunk_watch(&project, changed.clone()),
        )?;
        let handle = reloader.handle().clone();
        let told = move |told: IndexEvent| {
            if told == IndexEvent::Written {
                handle.request();
            }
            changed();
        };
        let (indexing, recording) = if follow && created.is_ok() {
            self::follow(&project, told).map(|(i, r)| (Some(i), Some(r)))?
        } else {
            (None, None)
        };
        if indexing.is_some() {
            project.note();
        }
        let project = Arc::new(project);
        let upkeep = Upkeep::Server(Box::new(ServingState {
            graph: GraphUpkeep::spawn(project.clone())?,
            reloader,
            indexing,
            is_warmed_up: AtomicBool::new(false),
            notes,
            repaired_at: Mutex::default(),
            _recording: recording,
        }));
        Ok(Self::new(project, manager, upkeep, facts))
    }

    pub(in crate::engine) fn server(&self) -> Option<&ServingState> {
        match &self.upkeep {
            Upkeep::Server(server) => Some(server),
            Upkeep::Command(_) => None,
        }
    }

    /// Returns the service that indexes in the background; `None` if this process does not index.
    #[must_use]
    pub fn indexing(&self) -> Option<&IndexingService> {
        self.server()?.indexing.as_ref()
    }

    /// The memory budget of this process in bytes; `None` if it has none.
    pub(in crate::engine) fn memory_budget(&self) -> Option<u64> {
        self.server()?.reloader.budget()
    }

    /// Whether the project has memories.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.project.memory_home().is_in_use()
    }

    /// Stops the watcher of notes. It logs its statistics when it stops.
    pub fn stop(&self) {
        if let Some(notes) = self.server().and_then(|server| server.notes.as_ref()) {
            notes.stop();
        }
    }

    /// Loads the code corpus as it is indexed and saves it, so that the next process searches at once.
    /// Tells the name of each phase.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn prepare(&self, tell: &dyn Fn(&'static str)) -> Result<(), AskError> {
        tell("preparing the search");
        self.manager.reload_feed(ChunkFiles::NAME, &Cancel::new(false))?;
        tell("saving the search index");
        self.manager.save_feed(ChunkFiles::NAME, 0.0);
        Ok(())
    }

    /// Saves the corpora that a command loaded, for the next one. Memories are saved only if at
    /// least this share of them (0–1) changed.
    pub fn save(&self, memories_from: f64) {
        self.manager.save_feed(ChunkFiles::NAME, 0.0);
        self.manager.save_feed(MemoryFeed::NAME, memories_from);
    }

    /// Ends the engine at the end of the process. An open memory database is closed, so that its
    /// file is complete. Otherwise nothing is dropped, because the system frees memory faster.
    pub fn end(self: Arc<Self>) {
        if self.open.lock().is_none() {
            std::mem::forget(self);
        }
    }

    /// Answers from the current snapshot, after the wait that the call requests. A command has no
    /// reloader, so it rebuilds an index that it finds damaged, and answers again.
    pub(in crate::engine) fn with_code<T>(
        &self,
        call: &Call,
        answer: impl Fn(View) -> Result<T, AskError>,
    ) -> Result<T, AskError> {
        match &self.upkeep {
            Upkeep::Server(_) => answer(self.view(call)?),
            Upkeep::Command(_) => {
                self.view(call)?;
                self.manager.ask(|_| answer(self.view(call)?))
            }
        }
    }

    /// Returns the code corpus that is served now, after the wait that the call requests.
    pub(in crate::engine) fn view(&self, call: &Call) -> Result<View, AskError> {
        if let Upkeep::Server(server) = &self.upkeep {
            self.wait_for_first_look(server, call);
        }
        self.view_now(call)
    }

    /// Returns the code corpus that is served now, also before the files were compared with the index
    /// for the first time.
    pub(in crate::engine) fn view_now(&self, call: &Call) -> Result<View, AskError> {
        let waited = match &self.upkeep {
            Upkeep::Server(server) => self.wait(server, call),
            Upkeep::Command(command) => self.load(command).map(|()| None)?,
        };
        call.check()?;
        let snapshot = self.manager.current();
        let code = snapshot.feed(ChunkFiles::NAME).ok_or_else(|| {
            AskError::Failed("no code is served (this is a bug of cortex)".into())
        })?;
        let (activity, n_unserved) = (Activity::read(&self.project.layout), self.unserved(code));
        let warnings = call
            .warnings
            .iter()
            .cloned()
            .chain(waited)
            .chain(self.troubles(&snapshot, code, activity, n_unserved));
        let state = AnswerState {
            index: self.freshness_of(code, activity.pending() + n_unserved),
            ..AnswerState::default()
        };
        Ok(View { code: code.clone(), state: state.warning_first(warnings).in_brief(call) })
    }

    /// Lets a command answer its first search by words alone if there is no index yet. Then
    /// [`Engine::complete`] builds the index.
    pub fn answer_early(&self) {
        if let Upkeep::Command(command) = &self.upkeep {
            command.done.lock().early = Early::Allowed;
        }
    }

    /// Whether a search may be answered early.
    pub(in crate::engine) fn may_answer_early(&self) -> bool {
        let Upkeep::Command(command) = &self.upkeep else { return false };
        let is_allowed = command.done.lock().early == Early::Allowed;
        is_allowed && self.lacks_index(command)
    }

    /// Notes that a search was answered early.
    pub(in crate::engine) fn answered_early(&self) {
        if let Upkeep::Command(command) = &self.upkeep {
            command.done.lock().early = Early::Answered;
        }
    }

    /// Builds and loads the index if a search was answered early.
    ///
    /// # Errors
    /// When the index cannot be written or loaded.
    pub fn complete(&self) -> Result<(), AskError> {
        let Upkeep::Command(command) = &self.upkeep else { return Ok(()) };
        let is_left = command.done.lock().early == Early::Answered;
        if is_left { self.load(command) } else { Ok(()) }
    }

    /// Whether a command would have to build the first index to answer.
    fn lacks_index(&self, command: &Command) -> bool {
        let (layout, is_up_to_date) = (&self.project.layout, command.done.lock().is_up_to_date);
        command.look == AnswerFrom::Tree
            && !is_up_to_date
            && !layout.is_indexed()
            && !layout.is_foreign()
    }

    /// Returns the view of a question that needs of the index only which files there are. A command
    /// in a large tree without an index lists the files instead of indexing them.
    pub(in crate::engine) fn files_view(&self, call: &Call) -> Result<View, AskError> {
        match self.listed(&|_| false, call)? {
            Some(view) => Ok(view),
            None => self.view(call),
        }
    }

    /// Lists the files of a large tree without an index, for a command, and reads those that `is_read`
    /// names. Returns `None` if there is an index, or it is made in a moment.
    pub(in crate::engine) fn listed(
        &self,
        is_read: &(dyn Fn(&str) -> bool + Sync),
        call: &Call,
    ) -> Result<Option<View>, AskError> {
        match &self.upkeep {
            // If the tree cannot be listed, the index run says why.
            Upkeep::Command(command) if self.lacks_index(command) => {
                let files = self.project.indexer_alone(SHORT_WAIT).list(is_read).ok().flatten();
                files.map(|files| self.view_without_index(files, call)).transpose()
            }
            _ => Ok(None),
        }
    }

    /// Returns a view of chunks that were read before there is an index.
    pub(in crate::engine) fn view_without_index(
        &self,
        chunks: Vec<Chunk>,
        call: &Call,
    ) -> Result<View, AskError> {
        let dimensions = self.project.embedder().dimensions();
        let code = Arc::new(Served::without_index(ChunkFiles::NAME, chunks, dimensions)?);
        call.check()?;
        let (index, warnings) = (self.freshness_of(&code, 0), call.warnings.clone());
        let state = AnswerState { index, warnings, ..AnswerState::default() };
        Ok(View { code, state: state.in_brief(call) })
    }

    /// Returns the state of an answer that does not need the code corpus.
    pub(in crate::engine) fn state(&self, call: &Call) -> Result<AnswerState, AskError> {
        match &self.upkeep {
            Upkeep::Server(_) => Ok(self.view(call)?.state),
            Upkeep::Command(command) => {
                self.bring_up_to_date(command)?;
                call.check()?;
                let index = self.freshness();
                let warnings =
                    call.warnings.iter().chain(&command.done.lock().warnings).cloned().collect();
                Ok(AnswerState { index, warnings, ..AnswerState::default() }.in_brief(call))
            }
        }
    }

    /// Loads the code corpus for a command, and updates the index first if that is needed.
    fn load(&self, command: &Command) -> Result<(), AskError> {
        if command.done.lock().is_loaded {
            return Ok(());
        }
        let all = Cancel::new(false);
        let load = || self.manager.reload_feed(ChunkFiles::NAME, &all);
        if command.look == AnswerFrom::Index || command.done.lock().is_up_to_date {
            load()?;
        } else {
            // Usually nothing has changed, so load the index while the tree is compared with it.
            let start = SystemTime::now();
            let (look, loaded) = rayon::join(|| self.project.look(), load);
            // A command that finds damaged chunk files runs the indexer, which writes them anew.
            let is_damaged = match &loaded {
                Ok(_) => {
                    self.manager.current().feed(ChunkFiles::NAME).is_some_and(|code| code.is_torn)
                }
                Err(_) => true,
            };
            if look.is_stale || is_damaged && !self.project.layout.is_foreign() {
                let first = !self.project.layout.is_indexed();
                self.index(command, look.found)?;
                // Afterwards, only what changed is prepared, which takes a moment.
                let tell = |begins| {
                    if first {
                        (command.tell)(Step::Preparing(begins));
                    }
                };
                tell(true);
                let loaded = load();
                tell(false);
                loaded?;
            } else {
                loaded?;
                self.project.record_past(Some(start));
            }
        }
        let mut done = command.done.lock();
        (done.is_loaded, done.is_up_to_date) = (true, true);
        Ok(())
    }

    fn bring_up_to_date(&self, command: &Command) -> Result<(), AskError> {
        if command.look == AnswerFrom::Tree && !command.done.lock().is_up_to_date {
            self.project.bring_up_to_date(|found| self.index(command, found))?;
        }
        command.done.lock().is_up_to_date = true;
        Ok(())
    }

    /// Updates the index. If it is locked or cannot be written, an existing index still answers,
    /// with a warning.
    fn index(&self, command: &Command, found: Option<Found>) -> Result<(), AskError> {
        let first = !self.project.layout.is_indexed();
        let tell = |progress| (command.tell)(Step::Indexing(progress));
        let lock_wait = if first { LONG_WAIT } else { SHORT_WAIT };
        match self.project.index(found, Mode::Incremental, lock_wait, &tell) {
            Ok(summary) => {
                self.project.note();
                if first {
                    (command.tell)(Step::Indexed(&summary));
                }
            }
            Err(
                e @ ProjectError::Index {
                    source: IndexError::Lock(_) | IndexError::Write(_) | IndexError::Read(_),
                    ..
                },
            ) if !first => {
                command
                    .done
                    .lock()
                    .warnings
                    .push(format!("{}; this is answered from the index as it was", chain(&e)));
            }
            Err(e) => return Err(e.into()),
        }
        Ok(())
    }

    /// Waits a while if the files were never compared with the index, unless the call says how long
    /// to wait: a question right after the start should find what is there.
    fn wait_for_first_look(&self, server: &ServingState, call: &Call) {
        let Call { wait: Wait { min_generation, wait_ms }, cancel, .. } = call;
        let unasked = min_generation.is_none() && wait_ms.is_none();
        if let Some(indexing) = server.indexing.as_ref().filter(|_| unasked)
            && !self.has_looked(indexing)
        {
            let deadline = Instant::now() + FIRST_LOOK;
            let reloading = server.reloader.handle();
            let _ = indexing.handle().wait(indexing.sync(), deadline, cancel)
                && reloading.wait(reloading.request(), deadline, cancel);
        }
    }

    /// Waits as the call requests. Returns a warning if the wait had no effect.
    fn wait(&self, server: &ServingState, call: &Call) -> Option<String> {
        let Call { wait: Wait { min_generation, wait_ms }, cancel, .. } = call;
        let reload_until = |deadline| {
            server.reloader.handle().wait(server.reloader.handle().request(), deadline, cancel)
        };
        if self.manager.metrics().n_reloads == 0 || self.manager.current().damage().is_some() {
            // Nothing is loaded yet, or the loaded index is damaged. A late answer is better than
            // an empty one.
            let _ = reload_until(Instant::now() + FIRST_LOAD);
        }
        if min_generation.is_none() && wait_ms.is_none() {
            return None;
        }
        let time = call.wait.time();
        let deadline = Instant::now() + time;
        let mut in_time = true;
        let mut in_vain = None;
        if wait_ms.is_some() {
            match &server.indexing {
                _ if self.project.layout.is_foreign() => {
                    in_vain =
                        Some("another program writes this index, and only that program updates it");
                }
                None => {
                    in_vain =
                        Some("this server does not index: run `cortex index` to update the index");
                }
                Some(indexing) => {
                    in_time = indexing.handle().wait(indexing.sync(), deadline, cancel);
                }
            }
        }
        in_time &= reload_until(deadline);
        let generation =
            || self.manager.current().feed(ChunkFiles::NAME).map_or(0, |code| code.generation);
        if let Some(wanted) = *min_generation {
            let mut next_look = Instant::now() + LOOK;
            while generation() < wanted && Instant::now() < deadline && call.check().is_ok() {
                std::thread::sleep(POLL);
                if Instant::now() >= next_look {
                    let _ = reload_until(deadline);
                    next_look = Instant::now() + LOOK;
                }
            }
            if generation() < wanted {
                let (ms, now) = (time.as_millis(), generation());
                return Some(format!(
                    "generation {wanted} was not reached within {ms} ms: this is generation {now}"
                ));
            }
        }
        if let Some(why) = in_vain {
            return Some(format!("wait_ms has no effect: {why}"));
        }
        (!in_time).then(|| {
            format!(
                "waited {} ms, and not every change is indexed yet: call again, or wait longer",
                time.as_millis()
            )
        })
    }

    /// Indexes a file that was just written, so that the next question finds its new content.
    /// Returns a warning if it may not.
    pub(in crate::engine) fn index_now(&self, paths: &[&str], call: &Call) -> Option<String> {
        let written =
            if paths.len() == 1 { "the file is written" } else { "the files are written" };
        match &self.upkeep {
            _ if self.project.layout.is_foreign() => {
                Some(format!("{written}, but only another program updates the index"))
            }
            Upkeep::Server(server) => match &server.indexing {
                Some(indexing) => index_written(paths, server, indexing, call),
                None => {
                    Some(format!("{written}, but this server does not index: run `cortex index`"))
                }
            },
            Upkeep::Command(_) => {
                let indexed = self.project.index(None, Mode::Incremental, SHORT_WAIT, &|_| ());
                indexed.err().map(|e| format!("{written}, but not indexed: {e}"))
            }
        }
    }

    /// Returns warnings about everything that is wrong or not ready, for people and agents.
    fn troubles(
        &self,
        snapshot: &Snapshot,
        code: &Served,
        activity: Activity,
        n_unserved: usize,
    ) -> Vec<String> {
        let moved = self.project.layout.tree().check_in_place().err().map(|e| e.to_string());
        let mut troubles: Vec<String> = moved.into_iter().chain(code.warnings.clone()).collect();
        match &self.upkeep {
            Upkeep::Command(command) => troubles.extend(command.done.lock().warnings.clone()),
            Upkeep::Server(server) => {
                self.troubles_of_server(
                    server, snapshot, code, activity, n_unserved, &mut troubles,
                );
            }
        }
        troubles
    }

    fn troubles_of_server(
        &self,
        server: &ServingState,
        snapshot: &Snapshot,
        code: &Served,
        activity: Activity,
        n_unserved: usize,
        troubles: &mut Vec<String>,
    ) {
        troubles.extend(snapshot.damage());
        let metrics = self.manager.metrics();
        if metrics.last_error.is_some() || code.is_torn {
            server.repair();
        }
        if let Some(e) = &metrics.last_error {
            troubles.push(format!(
                "{e}. The last good generation is served, and the server tries to repair the index"
            ));
        }
        let status = server.indexing.as_ref().map(IndexingService::status).unwrap_or_default();
        let has_looked = server.indexing.as_ref().is_some_and(|i| self.has_looked(i));
        let error = status.last_error.or(status.lock_error);
        troubles.extend(
            error.map(|e| format!("cannot update the index: {e}. `cortex doctor` says more")),
        );
        troubles.extend(status.embed_error.map(|e| {
            format!("vectors are not made, so some results are found by words alone: {e}. They are made when that server answers; without embed.url, the bundled model makes them")
        }));
        if metrics.given_up == GivenUp::Vectors {
            troubles.push("results are found by words alone, because the server exceeded its memory budget: raise live.memory_budget_mb".into());
        }
        if code.corpus.chunks().is_empty() {
            let (why, is_coming) = self.why_empty(activity, n_unserved);
            let advice = if is_coming { ". Call again, or pass wait_ms" } else { "" };
            troubles.push(why + advice);
        } else if server.indexing.is_some() && !has_looked {
            troubles.push("the files have not been compared with the index yet: they may have changed. Call again, or pass wait_ms".into());
        }
    }

    /// Returns why a server serves nothing, and whether an index is being made or loaded.
    fn why_empty(&self, activity: Activity, n_unserved: usize) -> (String, bool) {
        let Activity { done, total, .. } = activity;
        let is_loading = n_unserved > 0 || self.manager.metrics().n_reloads == 0;
        match self.indexing() {
            _ if total > 0 => {
                (format!("the index is being built: {done} of {total} files are done"), true)
            }
            _ if is_loading => ("the index is being loaded".into(), true),
            Some(indexing) if !self.has_looked(indexing) => {
                ("the index is being built".into(), true)
            }
            Some(_) => ("there is nothing to index here: `cortex status --verbose` says what is left out, and by which rule".into(), false),
            None => ("there is no index: run `cortex index`".into(), false),
        }
    }

    /// Returns the generation that a server answers from.
    ///
    /// # Errors
    /// With the reason, when it is damaged, or there is none yet.
    pub fn ready(&self) -> Result<u64, String> {
        let snapshot = self.manager.current();
        if let Some(damage) = snapshot.damage() {
            return Err(damage);
        }
        match self.freshness().generation {
            0 => Err(self.manager.metrics().last_error.unwrap_or_else(|| {
                let n_unserved = snapshot.feed(ChunkFiles::NAME).map_or(0, |c| self.unserved(c));
                self.why_empty(Activity::read(&self.project.layout), n_unserved).0
            })),
            generation => Ok(generation),
        }
    }

    /// Whether the files were compared with the index. A process that does not lead relies on the
    /// leader, unless there is no generation yet: then the leader is still building the first one.
    fn has_looked(&self, indexing: &IndexingService) -> bool {
        let status = indexing.status();
        let code = self.manager.current();
        let generation = code.feed(ChunkFiles::NAME).map_or(0, |code| code.generation);
        status.has_looked
            || !status.leads && generation > 0
            || status.last_error.is_some()
            || status.lock_error.is_some()
            || self.project.layout.is_foreign()
    }

    /// Returns the number of changed files in a generation that is written but not served yet.
    fn unserved(&self, code: &Served) -> usize {
        match Manifest::read(&self.project.layout) {
            Ok(Some(manifest)) if manifest.generation > code.generation || code.local => {
                manifest.n_changed
            }
            _ => 0,
        }
    }

    /// Returns the index state that is served now, or the one on disk in a command that has not
    /// loaded the code corpus.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        let layout = &self.project.layout;
        let is_loaded = match &self.upkeep {
            Upkeep::Server(_) => true,
            Upkeep::Command(command) => command.done.lock().is_loaded,
        };
        match self.manager.current().feed(ChunkFiles::NAME) {
            Some(code) if is_loaded => {
                self.freshness_of(code, Activity::read(layout).pending() + self.unserved(code))
            }
            _ => {
                let manifest = Manifest::read(layout).ok().flatten();
                Freshness {
                    generation: manifest.as_ref().map_or(0, |m| m.generation),
                    indexed_at: manifest.and_then(|m| m.indexed_at),
                    head: self.head(),
                    ..Freshness::default()
                }
            }
        }
    }

    fn freshness_of(&self, code: &Served, pending: usize) -> Freshness {
        Freshness {
            generation: code.generation,
            // The empty corpus before the first load counts as local, too.
            local: code.local && code.generation > 0,
            indexed_at: code.indexed_at.clone(),
            head: self.head(),
            pending,
            vectors_pending: code.n_without_vectors,
        }
    }

    /// The first digits of the commit that is checked out.
    fn head(&self) -> Option<String> {
        source::head(self.project.layout.root())
            .map(|head| head.chars().take(COMMIT_DIGITS).collect())
    }

    /// Returns the memory database, and creates it if it is missing. Waits at most `busy` while
    /// another process writes.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn memories(&self, busy: Duration) -> Result<Arc<Memories>, ProjectError> {
        let home = self.project.memory_home();
        let mut open = self.open.lock();
        let there = || home.identity();
        if let Some((_, memories)) =
            open.as_ref().filter(|(identity, _)| Some(*identity) == there())
        {
            return Ok(memories.clone());
        }
        let memories = Arc::new(self.project.memories(busy)?);
        *open = there().map(|identity| (identity, memories.clone()));
        Ok(memories)
    }
}

/// Starts the service that indexes for a server, and the worker that records changes as memories.
fn follow(
    project: &Project,
    told: impl Fn(IndexEvent) + Send + Sync + 'static,
) -> Result<(IndexingService, Worker), ProjectError> {
    let (journal, window) = (project.memory_home().journal(), project.config.window);
    let recording: Arc<OnceLock<WorkerHandle>> = Arc::default();
    let wake = recording.clone();
    let journal = move |changes: &[FileChange]| {
        journal(changes);
        if let Some(recording) = wake.get() {
            recording.when_quiet(window);
        }
    };
    let indexer = Indexer {
        journal: Some(Arc::new(journal)),
        relations: Some(Arc::new(project.graph_rows(false))),
        ..project.indexer(SERVICE_WAIT)
    };
    let indexing = IndexingService::spawn(indexer, Pace::new(project.config.debounce), told)?;
    let recorder = project.recorder().spawn(indexing.is_leading())?;
    // It is set only here.
    let _ = recording.set(recorder.handle().clone());
    Ok((indexing, recorder))
}

/// How long the chunk files of another program must stay unchanged before they are served, unless the
/// user sets it.
const QUIET_OF_OTHERS: Duration = Duration::from_millis(500);

fn quiet_of_others(project: &Project) -> Duration {
    project.config.debounce.unwrap_or(QUIET_OF_OTHERS)
}

/// Returns a function that keeps the chunk files watched, even if their directory is replaced. It
/// returns the time until the next check without an event.
fn chunk_watch(
    project: &Project,
    changed: Arc<dyn Fn() + Send + Sync>,
) -> impl FnMut(&WorkerHandle) -> Duration + Send + 'static {
    let (directory, quiet) = (project.layout.chunks_dir(), quiet_of_others(project));
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
            tracing::info!(
                "cannot watch {}, so it is polled every {} s: {why}",
                directory.display(),
                POLL_CHUNKS.as_secs()
            );
            told = Some(why);
        }
        POLL_CHUNKS
    }
}

/// Waits until files that were just written are indexed and served. Returns a warning if that takes
/// too long.
fn index_written(
    paths: &[&str],
    server: &ServingState,
    indexing: &IndexingService,
    call: &Call,
) -> Option<String> {
    let deadline = Instant::now() + AFTER_EDIT;
    let tickets: Vec<_> = paths.iter().map(|path| indexing.on_file_changed(path)).collect();
    let is_done =
        tickets.into_iter().all(|ticket| indexing.handle().wait(ticket, deadline, &call.cancel))
            && server.reloader.handle().wait(
                server.reloader.handle().request(),
                deadline,
                &call.cancel,
            );
    let late = || {
        format!(
            "written, but not indexed within {} ms: searches find the old text until then",
            AFTER_EDIT.as_millis()
        )
    };
    (!is_done).then(late)
}
