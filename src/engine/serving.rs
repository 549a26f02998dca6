//! An engine: a project with what answers questions about it, and what keeps that fresh.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::freshness::{AnswerState, Freshness, Wait};
use super::project::{LONG_WAIT, Project, ProjectError, SHORT_WAIT};
use super::{AskError, Call, chain};
use crate::chunk::{Cancel, Feed};
use crate::index::{IndexError, IndexEvent, Indexer, IndexingService, Mode, Progress, Summary};
use crate::live::{ChunkManager, GivenUp, Reloader, Served, Snapshot};
use crate::memory::{Facts, MDFileWatcher, Memories, MemoryFeed, Recording};
use crate::source::{self, DirectoryWatcher, FileChange};
use crate::store::{Activity, ChunkFiles, Manifest, SourceTable};
use crate::worker::WorkerHandle;

/// How long the first answers wait for an index that is being loaded.
const FIRST_LOAD: Duration = Duration::from_secs(5);
/// How long a call waits that names a generation and no time.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// How long an edit waits until it is indexed.
const AFTER_EDIT: Duration = Duration::from_secs(3);
/// Longest wait.
const MAX_WAIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);
/// How often one who waits for a generation looks at the files.
const LOOK: Duration = Duration::from_millis(200);
/// Hexadecimal digits of a commit: as many as tell it from all others.
const COMMIT_DIGITS: usize = 12;
/// How long a server's index run waits for another process; it is tried again.
const SERVICE_WAIT: Duration = Duration::from_secs(10);
/// How often chunk files are looked at that cannot be watched.
const POLL_CHUNKS: Duration = Duration::from_secs(2);

/// A project, open to questions.
pub struct Engine {
    pub project: Project,
    /// What serves its corpora.
    pub manager: Arc<ChunkManager>,
    pub(super) upkeep: Upkeep,
    /// What filters ask of the memories that are served.
    pub(super) facts: Facts,
    /// The memories that were opened last, and the number of their file.
    open: Mutex<Option<(u64, Arc<Memories>)>>,
}

/// What keeps an engine fresh.
pub(super) enum Upkeep {
    Command(Command),
    Server(Box<ServingState>),
}

/// A command answers one question: it brings the index up to date before that, and loads what the
/// question needs.
pub(super) struct Command {
    look: Look,
    tell: Box<Tell>,
    done: Mutex<Done>,
}

/// Called with what a command does before it answers.
pub type Tell = dyn Fn(Step) + Send + Sync;

/// What a command does before it answers.
pub enum Step<'a> {
    /// An index run goes on.
    Indexing(Progress),
    /// The first index was made.
    Indexed(&'a Summary),
}

/// From what a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// From the files as they are: the index is brought up to date first.
    AtTree,
    /// From the index as it is.
    AtIndex,
}

/// What a command has done already.
#[derive(Default)]
struct Done {
    is_up_to_date: bool,
    is_loaded: bool,
    warnings: Vec<String>,
}

/// A server's engine has threads of its own.
pub(super) struct ServingState {
    pub(super) reloader: Reloader,
    /// `None` when this process only serves what is on disk.
    pub(super) indexing: Option<IndexingService>,
    /// Watches notes, while this lives.
    notes: Option<MDFileWatcher>,
    /// Records what happens to files, while this lives.
    _recording: Option<Recording>,
}

/// What is served at one moment. Everything that is told of it is of one generation.
pub(super) struct View {
    pub(super) code: Arc<Served>,
    pub(super) state: AnswerState,
}

impl Engine {
    /// An engine for one command. Nothing is loaded before it is asked.
    ///
    /// # Errors
    /// When a text index cannot be made.
    pub fn for_command(
        project: Project,
        look: Look,
        tell: Box<Tell>,
    ) -> Result<Self, ProjectError> {
        let memory = project.memory_feed();
        let facts = memory.facts();
        let feeds: Vec<Box<dyn Feed>> = vec![Box::new(project.chunk_files()), Box::new(memory)];
        let manager = Arc::new(ChunkManager::new(feeds, project.embedder.clone())?);
        let upkeep = Upkeep::Command(Command { look, tell, done: Mutex::default() });
        Ok(Self { project, manager, upkeep, facts, open: Mutex::default() })
    }

    /// An engine for a server, started: it loads, watches and, if it is to `follow` the tree,
    /// indexes in the background. `changed` is called, on any thread, when there could be something
    /// new to tell.
    ///
    /// # Errors
    /// When a text index cannot be made, or no thread can be started.
    pub fn for_server(
        project: Project,
        follow: bool,
        changed: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, ProjectError> {
        project.warn_of_plain_text();
        let memory = project.memory_feed();
        let facts = memory.facts();
        let notes = if follow { project.watch_notes() } else { None };
        let feeds: Vec<Box<dyn Feed>> = vec![Box::new(project.chunk_files()), Box::new(memory)];
        let manager = Arc::new(ChunkManager::new(feeds, project.embedder.clone())?);
        let created = if follow { project.layout.create() } else { Ok(()) };
        if let Err(e) = &created {
            tracing::warn!("nothing is indexed, what is there is served: {e}");
        }
        let reloader = Reloader::spawn(
            manager.clone(),
            project.config.memory_budget,
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
        let upkeep = Upkeep::Server(Box::new(ServingState {
            reloader,
            indexing,
            notes,
            _recording: recording,
        }));
        Ok(Self { project, manager, upkeep, facts, open: Mutex::default() })
    }

    pub(super) fn server(&self) -> Option<&ServingState> {
        match &self.upkeep {
            Upkeep::Server(server) => Some(server),
            Upkeep::Command(_) => None,
        }
    }

    /// What indexes in the background; `None` when this process does not.
    #[must_use]
    pub fn indexing(&self) -> Option<&IndexingService> {
        self.server()?.indexing.as_ref()
    }

    /// Bytes of memory that this process may hold.
    pub(super) fn memory_budget(&self) -> Option<u64> {
        self.server()?.reloader.budget()
    }

    /// Whether anything is remembered of the project.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.project.memory_home().is_in_use()
    }

    /// Ends what is to say something at the end of the process: the watcher of notes.
    pub fn stop(&self) {
        if let Some(notes) = self.server().and_then(|server| server.notes.as_ref()) {
            notes.stop();
        }
    }

    /// Saves what a command loaded for the next one: memories only when this share of them changed.
    pub fn save(&self, memories_from: f64) {
        self.manager.save_feed(ChunkFiles::NAME, 0.0);
        self.manager.save_feed(MemoryFeed::NAME, memories_from);
    }

    /// Lets go of everything at the end of the process. A database is closed, so that all of it is
    /// in its file; the rest is the system's to free, at once.
    pub fn end(self) {
        if self.open.lock().is_none() {
            std::mem::forget(self);
        }
    }

    /// Answers from what is served now, after waiting as long as the caller wants to. In a command,
    /// which nobody else repairs: once more, if that was found to be damaged.
    pub(super) fn with_code<T>(
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

    /// What is served now.
    pub(super) fn view(&self, call: &Call) -> Result<View, AskError> {
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
            warnings: Vec::new(),
        };
        Ok(View { code: code.clone(), state: state.warning_first(warnings).in_brief(call) })
    }

    /// The state of an answer that needs no code loaded.
    pub(super) fn state(&self, call: &Call) -> Result<AnswerState, AskError> {
        match &self.upkeep {
            Upkeep::Server(_) => Ok(self.view(call)?.state),
            Upkeep::Command(command) => {
                self.bring_up_to_date(command)?;
                call.check()?;
                let index = self.freshness();
                let warnings =
                    call.warnings.iter().chain(&command.done.lock().warnings).cloned().collect();
                Ok(AnswerState { index, warnings }.in_brief(call))
            }
        }
    }

    /// Loads what a command asks, the index brought up to date first where that is needed.
    fn load(&self, command: &Command) -> Result<(), AskError> {
        if command.done.lock().is_loaded {
            return Ok(());
        }
        let all = Cancel::new(false);
        let load = || self.manager.reload_feed(ChunkFiles::NAME, &all);
        if command.look == Look::AtIndex || command.done.lock().is_up_to_date {
            load()?;
        } else {
            // Mostly nothing has changed: what is there is loaded while that is found out.
            let (is_stale, loaded) = rayon::join(|| self.project.is_stale(), load);
            if is_stale {
                self.index(command)?;
                load()?;
            } else {
                loaded?;
            }
        }
        let mut done = command.done.lock();
        (done.is_loaded, done.is_up_to_date) = (true, true);
        Ok(())
    }

    fn bring_up_to_date(&self, command: &Command) -> Result<(), AskError> {
        if command.look == Look::AtTree
            && !command.done.lock().is_up_to_date
            && self.project.is_stale()
        {
            self.index(command)?;
        }
        command.done.lock().is_up_to_date = true;
        Ok(())
    }

    /// Indexes. If that cannot be done, an index that is there is still asked.
    fn index(&self, command: &Command) -> Result<(), AskError> {
        let first = !self.project.layout.is_indexed();
        let tell = |progress| (command.tell)(Step::Indexing(progress));
        match self.project.index(
            Mode::Incremental,
            if first { LONG_WAIT } else { SHORT_WAIT },
            &tell,
        ) {
            Ok(summary) if first => (command.tell)(Step::Indexed(&summary)),
            Ok(_) => {}
            Err(
                e @ ProjectError::Index {
                    source: IndexError::Lock(_) | IndexError::Write(_), ..
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

    /// Waits as long as the caller wants to; says so if it was in vain.
    fn wait(&self, server: &ServingState, call: &Call) -> Option<String> {
        let Call { wait: Wait { min_generation, wait_ms }, cancel, .. } = call;
        let reload_until = |deadline| {
            server.reloader.handle().wait(server.reloader.handle().request(), deadline, cancel)
        };
        if self.manager.metrics().n_reloads == 0 || self.manager.current().damage().is_some() {
            // Nothing is loaded yet, or what is loaded cannot be searched: an answer from nothing
            // would be worse than one a moment later.
            let _ = reload_until(Instant::now() + FIRST_LOAD);
        }
        if min_generation.is_none() && wait_ms.is_none() {
            return None;
        }
        let time = wait_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_WAIT);
        let deadline = Instant::now() + time;
        let mut in_time = true;
        let mut in_vain = None;
        if wait_ms.is_some() {
            match &server.indexing {
                _ if self.project.layout.is_foreign() => {
                    in_vain = Some(
                        "another program writes this index, and it alone brings it up to date",
                    );
                }
                None => {
                    in_vain = Some(
                        "this server does not index: run `cortex index`, and changes are seen",
                    );
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

    /// Takes in a file that was just written, so that the next question finds what it is now; or
    /// says why that may not be so.
    pub(super) fn index_now(&self, path: &str, call: &Call) -> Option<String> {
        let server = self.server();
        let (server, indexing) = match server.map(|server| (server, &server.indexing)) {
            _ if self.project.layout.is_foreign() => {
                return Some(
                    "written; another program writes the index, and brings it up to date".into(),
                );
            }
            Some((server, Some(indexing))) => (server, indexing),
            _ => return Some(
                "written; this server does not index: run `cortex index`, and the change is found"
                    .into(),
            ),
        };
        let deadline = Instant::now() + AFTER_EDIT;
        let is_done =
            indexing.handle().wait(indexing.on_file_changed(path), deadline, &call.cancel)
                && server.reloader.handle().wait(
                    server.reloader.handle().request(),
                    deadline,
                    &call.cancel,
                );
        let late = || {
            format!(
                "written, but not indexed within {} ms: searches find it as it was until then",
                AFTER_EDIT.as_millis()
            )
        };
        (!is_done).then(late)
    }

    /// What is wrong, or not ready, for people and agents.
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
                    server,
                    snapshot,
                    code,
                    activity,
                    n_unserved,
                    &mut troubles,
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
        Activity { done, total, .. }: Activity,
        n_unserved: usize,
        troubles: &mut Vec<String>,
    ) {
        troubles.extend(snapshot.damage());
        let metrics = self.manager.metrics();
        if let Some(e) = &metrics.last_error {
            troubles.push(format!("{e}. The last good generation is served"));
        }
        let status = server.indexing.as_ref().map(IndexingService::status).unwrap_or_default();
        // Without a generation there was never anything to look at: whoever leads is at it.
        let has_looked = status.has_looked
            || (server.indexing.is_some() && !status.leads && code.generation > 0);
        let error = status.last_error.or(status.lock_error);
        troubles.extend(error.map(|e| format!("the index was not brought up to date: {e}")));
        troubles.extend(status.embed_error.map(|e| {
            format!("vectors are not made, so some results are found by words alone: {e}")
        }));
        if metrics.given_up == GivenUp::Vectors {
            troubles.push("results are found by words alone: the server was over its memory budget, live.memory_budget_mb".into());
        }
        if code.corpus.chunks().is_empty() {
            troubles.push(match &server.indexing {
                _ if total > 0 => format!("the index is being built: {done} of {total} files are done. Call again, or pass wait_ms"),
                _ if n_unserved > 0 || metrics.n_reloads == 0 => "the index is being loaded. Call again, or pass wait_ms".into(),
                Some(_) if !has_looked => "the index is being built. Call again, or pass wait_ms".into(),
                Some(_) => "there is nothing to index here".into(),
                None => "there is no index: run `cortex index`".into(),
            });
        } else if server.indexing.is_some() && !has_looked {
            troubles.push("the files have not been compared with the index yet: they may have changed. Call again, or pass wait_ms".into());
        }
    }

    /// Files of a generation that is written, and not served yet.
    fn unserved(&self, code: &Served) -> usize {
        match Manifest::read(&self.project.layout) {
            Ok(Some(manifest)) if manifest.generation > code.generation || code.local => {
                manifest.n_changed
            }
            _ => 0,
        }
    }

    /// Which state is served now; in a command that has loaded no code, which one is on disk.
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
                let indexed_at = SourceTable::read(layout)
                    .map(|table| table.indexed_at)
                    .filter(|at| !at.is_empty());
                Freshness {
                    generation: manifest.map_or(0, |m| m.generation),
                    indexed_at,
                    head: self.head(),
                    ..Freshness::default()
                }
            }
        }
    }

    fn freshness_of(&self, code: &Served, pending: usize) -> Freshness {
        Freshness {
            generation: code.generation,
            // Before anything is loaded nobody counts.
            local: code.local && code.generation > 0,
            indexed_at: code.indexed_at.clone(),
            head: self.head(),
            pending,
            vectors_pending: code.n_without_vectors,
        }
    }

    /// The commit that is checked out.
    fn head(&self) -> Option<String> {
        source::head(self.project.layout.root())
            .map(|head| head.chars().take(COMMIT_DIGITS).collect())
    }

    /// The memories that are there now; the database is made if there is none. `busy`: how long to
    /// wait at most while others write.
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
        let memories = Arc::new(self.project.memories_within(busy)?);
        *open = there().map(|identity| (identity, memories.clone()));
        Ok(memories)
    }
}

/// What keeps the index of a server up to date, and what records why it had to be.
fn follow(
    project: &Project,
    told: impl Fn(IndexEvent) + Send + Sync + 'static,
) -> Result<(IndexingService, Recording), ProjectError> {
    let (journal, window) = (project.memory_home().journal(), project.config.window);
    let recording: Arc<OnceLock<WorkerHandle>> = Arc::default();
    let wake = recording.clone();
    let journal = move |changes: &[FileChange]| {
        journal(changes);
        if let Some(recording) = wake.get() {
            recording.when_quiet(window);
        }
    };
    let indexer = Indexer { journal: Some(Arc::new(journal)), ..project.indexer(SERVICE_WAIT) };
    let indexing = IndexingService::spawn(indexer, project.config.debounce, told)?;
    let recorder = project.recorder().spawn(indexing.is_leading())?;
    // Nobody else sets it.
    let _ = recording.set(recorder.handle().clone());
    Ok((indexing, recorder))
}

/// Keeps the chunk files watched, whatever becomes of their directory; says how often to look at
/// them unasked.
fn chunk_watch(
    project: &Project,
    changed: Arc<dyn Fn() + Send + Sync>,
) -> impl FnMut(&WorkerHandle) -> Duration + Send + 'static {
    let (directory, quiet) = (project.layout.chunks_dir(), project.config.debounce);
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
                "{} cannot be watched, so it is looked at every {} s: {why}",
                directory.display(),
                POLL_CHUNKS.as_secs()
            );
            told = Some(why);
        }
        POLL_CHUNKS
    }
}
