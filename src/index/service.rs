//! Keeps the index of a project up to date while a server runs.
//!
//! One of the processes that serve a project is the leader: it holds the leader lock and watches
//! the source tree. The others stand by, and one of them takes over when the leader is gone. Any
//! process can bring the index up to date on request ([`IndexingService::sync`]): the write lock
//! and the content hashes prevent that anything is indexed twice.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::indexer::{Found, IndexError, Indexer, Mode};
use crate::source::{
    self, ChangeWatcher, NotWatched, Scope, TreeChange, WalkOptions, is_rule_file,
};
use crate::store::{Announcement, LeaderLock, SourceTable};
use crate::text::chain;
use crate::work::STACK_BYTES;
use crate::worker::{Backoff, Pace, Ticket, Worker, WorkerHandle};

/// How often a process tries to become the leader.
const STANDBY: Duration = Duration::from_millis(500);
/// Shortest time between two looks of the leader at the whole tree, whatever the watcher reported.
const RESCAN: Duration = Duration::from_mins(1);
/// The same where directories cannot be watched.
const POLL: Duration = Duration::from_secs(2);
/// The time between two looks is at least this many times as long as a look takes.
const RESCAN_SHARE: u32 = 50;
/// The pause after a failure, which doubles with each further one.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_mins(1);
/// How often to check whether another process has made the vectors.
const ELSEWHERE: Duration = Duration::from_secs(5);
/// The pause of a worker that runs only on request.
const NEVER: Duration = Duration::from_hours(365 * 24);

/// Indexes in the background. Dropping it cancels the current run and gives up the leadership.
pub struct IndexingService {
    worker: Worker,
    /// Makes the vectors of a slow embedder.
    _embedding: Option<Worker>,
    shared: Arc<ServiceState>,
    indexer: Indexer,
}

/// The state of the service.
#[derive(Debug, Clone, Default)]
pub struct ServiceStatus {
    /// Whether this process watches the source tree.
    pub leads: bool,
    pub watching: Watching,
    /// Whether the tree was compared with the index at least once.
    pub has_looked: bool,
    /// Number of runs that wrote a new generation.
    pub n_runs: u64,
    /// The error of the last run, if it failed; the service tries again.
    pub last_error: Option<String>,
    /// Why this process cannot take the leader lock.
    pub lock_error: Option<String>,
    /// Why a slow embedder makes no vectors; the service tries again.
    pub embed_error: Option<String>,
}

/// A report of the service to its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexEvent {
    /// A run made progress, ended or failed.
    Progress,
    /// There are new chunk files or new vectors.
    Written,
}

/// How this process notices changes of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watching {
    /// Another process leads and watches.
    #[default]
    Elsewhere,
    /// By events from this number of directories.
    Events(usize),
    /// By looking at the tree from time to time, for this reason.
    Polling(String),
}

struct ServiceState {
    queue: Mutex<Queue>,
    status: Mutex<ServiceStatus>,
}

/// The part of the tree that may have changed since the last run.
#[derive(Debug, Default)]
struct Queue {
    all: bool,
    paths: BTreeSet<String>,
    /// Whether git changed its data, as it does with every commit.
    git: bool,
    /// Whether a reader found the chunk files damaged.
    repair: bool,
}

impl Queue {
    fn is_empty(&self) -> bool {
        !self.all && !self.git && self.paths.is_empty()
    }

    /// The number of paths that are known to wait.
    fn len(&self) -> usize {
        self.paths.len().max(usize::from(self.all))
    }

    fn add(&mut self, other: Self) {
        self.all |= other.all;
        self.git |= other.git;
        self.repair |= other.repair;
        self.paths.extend(other.paths);
    }

    fn scope(&self) -> Scope {
        if self.all { Scope::All } else { Scope::Paths(self.paths.clone()) }
    }
}

impl IndexingService {
    /// Starts the service in the background. Changes are indexed when the tree was quiet as long as
    /// `pace` says. `told` is called after each step that the owner may want to know about.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        indexer: Indexer,
        pace: Pace,
        told: impl Fn(IndexEvent) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(ServiceState { queue: Mutex::default(), status: Mutex::default() });
        // Leave one core free for searches.
        let n_threads =
            std::thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1));
        let pool = ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .stack_size(STACK_BYTES)
            .thread_name(|i| format!("index-{i}"))
            .build();
        let told: Arc<dyn Fn(IndexEvent) + Send + Sync> = Arc::new(told);
        let embedding = (!indexer.embedder.is_immediate())
            .then(|| embedding_worker(indexer.clone(), shared.clone(), told.clone()))
            .transpose()?;
        let mut job = Job {
            indexer: indexer.clone(),
            pace: Arc::new(pace),
            told,
            embedding: embedding.as_ref().map(|w| w.handle().clone()),
            shared: shared.clone(),
            pool: pool.map_err(io::Error::other)?,
            leader: None,
            backoff: Backoff::new(RETRY, LONGEST_RETRY),
        };
        let worker = Worker::spawn("indexing", move |handle| job.run(handle))?;
        worker.handle().request();
        Ok(Self { worker, _embedding: embedding, shared, indexer })
    }

    /// Requests a look at the whole tree. All changes until now are indexed when
    /// the run of the ticket ends.
    pub fn sync(&self) -> Ticket {
        self.shared.queue.lock().all = true;
        self.worker.handle().request()
    }

    /// Requests a run that compares the content of the chunk files with what was written, and writes
    /// them anew if it differs.
    pub fn repair(&self) {
        let mut queue = self.shared.queue.lock();
        (queue.all, queue.repair) = (true, true);
        drop(queue);
        self.worker.handle().request();
    }

    /// Requests a look at one file, relative to the root, that was just written or removed.
    pub fn on_file_changed(&self, path: &str) -> Ticket {
        self.shared.queue.lock().paths.insert(path.to_string());
        self.worker.handle().request()
    }

    /// Looks at the sources as [`Indexer::look_at_sources`] does.
    #[must_use]
    pub fn look_at_sources(&self) -> SourceTable {
        self.indexer.look_at_sources()
    }

    /// Returns the handle that waits for a run.
    #[must_use]
    pub fn handle(&self) -> &WorkerHandle {
        self.worker.handle()
    }

    /// Returns a function that tells whether this process watches the tree and has compared it with
    /// the index. It may outlive the service.
    pub fn is_leading(&self) -> impl Fn() -> bool + Send + 'static {
        let shared = self.shared.clone();
        move || {
            let status = shared.status.lock();
            status.leads && status.has_looked
        }
    }

    /// Returns the current state.
    #[must_use]
    pub fn status(&self) -> ServiceStatus {
        self.shared.status.lock().clone()
    }
}

impl Drop for IndexingService {
    fn drop(&mut self) {
        self.indexer.cancel.store(true, Ordering::Relaxed);
    }
}

/// Starts the worker that makes the vectors of a slow embedder, beside the indexing.
fn embedding_worker(
    indexer: Indexer,
    shared: Arc<ServiceState>,
    told: Arc<dyn Fn(IndexEvent) + Send + Sync>,
) -> io::Result<Worker> {
    let mut backoff = Backoff::new(RETRY, LONGEST_RETRY);
    Worker::spawn("embedding", move |_| {
        let result = indexer.embed_rest(&|_| told(IndexEvent::Written));
        if matches!(result, Err(IndexError::Cancelled)) {
            return NEVER;
        }
        let error = result.as_ref().err().map(|e| chain(e));
        let before = mem::replace(&mut shared.status.lock().embed_error, error.clone());
        if let Some(e) = error.filter(|e| before.as_ref() != Some(e)) {
            tracing::warn!("cannot make vectors, trying again later: {e}");
        }
        match result {
            Ok(Some(_)) => {
                told(IndexEvent::Progress);
                backoff.reset();
                NEVER
            }
            Ok(None) => {
                // Report the vectors of the other process, and check again,
                // since it may end too early.
                told(IndexEvent::Written);
                ELSEWHERE
            }
            Err(_) => {
                told(IndexEvent::Progress);
                backoff.failed()
            }
        }
    })
}

/// The state of the indexing thread.
struct Job {
    indexer: Indexer,
    pace: Arc<Pace>,
    told: Arc<dyn Fn(IndexEvent) + Send + Sync>,
    embedding: Option<WorkerHandle>,
    shared: Arc<ServiceState>,
    pool: ThreadPool,
    leader: Option<Leader>,
    backoff: Backoff,
}

/// The state of the leader.
struct Leader {
    lock: LeaderLock,
    /// Announces to other processes how much waits to be indexed.
    announcement: Arc<Announcement>,
    /// `None` if the tree is polled.
    watcher: Option<ChangeWatcher>,
    directories: Directories,
    next_look: Instant,
    /// When the directories that cannot be watched are next looked at.
    next_poll: Instant,
    /// The commit that was checked out at the last look.
    head: Option<String>,
}

/// The directories of the tree, relative to its root.
#[derive(Debug, Default)]
struct Directories {
    watched: HashSet<String>,
    /// Directories that cannot be watched because they cannot be read: only these are polled.
    polled: BTreeSet<String>,
}

impl Job {
    /// Does one run. Returns when the next one is due.
    fn run(&mut self, handle: &WorkerHandle) -> Duration {
        if self.leader.as_ref().is_some_and(|leader| !leader.lock.is_current(&self.indexer.layout))
        {
            // `.cortex` was removed, and with it the lock that other processes see.
            self.leader = None;
            let mut status = self.shared.status.lock();
            (status.leads, status.watching) = (false, Watching::Elsewhere);
        }
        if self.leader.is_none() {
            self.try_to_lead(handle);
        }
        let mut work = mem::take(&mut *self.shared.queue.lock());
        if let Some(leader) = &self.leader {
            work.all |= leader.next_look <= Instant::now();
            if leader.next_poll <= Instant::now() {
                work.paths.extend(leader.directories.polled.iter().cloned());
            }
            work.git &= self.indexer.head() != leader.head;
        }
        if !work.is_empty() {
            let begin = Instant::now();
            let updated = catch_unwind(AssertUnwindSafe(|| self.update(&work)));
            if !work.paths.is_empty() {
                self.pace.ran(begin);
            }
            match updated {
                Ok(Ok(())) => {
                    let mut status = self.shared.status.lock();
                    (status.last_error, status.has_looked) = (None, true);
                }
                Ok(Err(e)) => return self.failed(work, &e),
                Err(_) => return self.failed(Queue { all: true, ..work }, &IndexError::Panic),
            }
        }
        self.backoff.reset();
        self.announce_queue();
        match &self.leader {
            Some(leader) => leader.next().saturating_duration_since(Instant::now()),
            None => STANDBY,
        }
    }

    fn try_to_lead(&mut self, handle: &WorkerHandle) {
        let lock = match LeaderLock::try_acquire(&self.indexer.layout) {
            Ok(lock) => lock,
            Err(e) => {
                self.shared.status.lock().lock_error = Some(chain(&e));
                return;
            }
        };
        self.shared.status.lock().lock_error = None;
        let Some(lock) = lock else { return };
        let announcement = Arc::new(Announcement::of_queue(&self.indexer.layout, &lock));
        tracing::info!("this process watches {}", self.indexer.layout.root().display());
        let watcher = self.watcher(handle.clone(), announcement.clone());
        let mut status = self.shared.status.lock();
        status.leads = true;
        status.watching = match &watcher {
            Ok(_) => Watching::Events(0),
            Err(e) => Watching::Polling(e.clone()),
        };
        if let Err(e) = &watcher {
            tracing::warn!(
                "cannot watch the source tree, so it is compared with the index every {} s: {e}",
                POLL.as_secs()
            );
        }
        let now = Instant::now();
        let directories = Directories::default();
        self.leader = Some(Leader {
            lock,
            announcement,
            watcher: watcher.ok(),
            directories,
            next_look: now,
            next_poll: now,
            head: None,
        });
    }

    fn watcher(
        &self,
        handle: WorkerHandle,
        announcement: Arc<Announcement>,
    ) -> Result<ChangeWatcher, String> {
        let (shared, pace) = (self.shared.clone(), self.pace.clone());
        let root = self.indexer.layout.root().to_path_buf();
        let options = self.indexer.walk.clone();
        let git = source::git_directory(&root).filter(|_| self.indexer.history);
        let watched = git.clone();
        let mut watcher = ChangeWatcher::new(move |change| {
            let mut queue = shared.queue.lock();
            match change {
                // Treat this as a replaced root: look at everything, and
                // watch every directory again.
                TreeChange::Unknown => drop(queue.paths.insert(String::new())),
                TreeChange::Paths(paths) => {
                    queue.git |=
                        git.as_ref().is_some_and(|git| paths.iter().any(|p| p.starts_with(git)));
                    let to_look_at = |path: &PathBuf| to_look_at(&root, &options, path);
                    queue.paths.extend(paths.iter().filter_map(to_look_at));
                }
            }
            if queue.is_empty() {
                return;
            }
            let n = queue.len();
            drop(queue);
            announcement.queued(n);
            handle.when_quiet(pace.quiet());
        })?;
        if let Some(git) = watched {
            // Without it, commits are noticed with the next look at the tree.
            let _ = watcher.watch(&git);
        }
        Ok(watcher)
    }

    /// Indexes what changed. Directories that were not watched yet during the
    /// look are looked at again.
    fn update(&mut self, work: &Queue) -> Result<(), IndexError> {
        let mut scope = work.scope();
        if let (Some(leader), Scope::Paths(_)) = (&mut self.leader, &scope) {
            // A directory may be a new one by now, and the system still watches the old one.
            leader.forget(self.indexer.layout.root(), |d| scope.contains(d));
        }
        loop {
            let start = Instant::now();
            let head = self.indexer.head();
            let mut look = self.pool.install(|| self.indexer.look(&scope));
            let cost = start.elapsed();
            if look.is_stale || work.repair {
                self.index(look.found.take(), &scope)?;
            }
            // A process that wrote chunks requests their vectors. Without new chunks, only the
            // leader does so, after a look at the whole tree: a process that died may have
            // left some without vectors.
            if let Some(embedding) = self
                .embedding
                .as_ref()
                .filter(|_| look.is_stale || (self.leader.is_some() && scope == Scope::All))
            {
                embedding.request();
            }
            let Some(leader) = &mut self.leader else { return Ok(()) };
            leader.head = head;
            if scope == Scope::All {
                let at_least = if leader.watcher.is_some() { RESCAN } else { POLL };
                leader.next_look = Instant::now() + at_least.max(cost * RESCAN_SHARE);
            }
            leader.next_poll = Instant::now() + POLL.max(cost * RESCAN_SHARE);
            let new =
                leader.watch(self.indexer.layout.root(), &scope, &look.directories, &self.shared);
            if new.is_empty() {
                return Ok(());
            }
            scope = Scope::Paths(new);
        }
    }

    fn index(&self, found: Option<Found>, scope: &Scope) -> Result<(), IndexError> {
        let announcement = self.leader.as_ref().map(|l| &l.announcement);
        let progress = |_| {
            // The run announces its own files now: do not count the paths that caused it.
            if let Some(announcement) = announcement {
                announcement.queued(self.shared.queue.lock().len());
            }
            (self.told)(IndexEvent::Progress);
        };
        let run = || self.indexer.run_after(found, Mode::Incremental, scope, &progress);
        let summary = self.pool.install(run)?;
        let mut status = self.shared.status.lock();
        status.n_runs += u64::from(summary.changed);
        if summary.changed {
            tracing::info!(
                generation = summary.generation,
                ms = summary.ms,
                "indexed {} of {} files",
                summary.n_parsed,
                summary.n_files
            );
        }
        drop(status);
        (self.told)(if summary.changed { IndexEvent::Written } else { IndexEvent::Progress });
        Ok(())
    }

    fn failed(&mut self, work: Queue, e: &IndexError) -> Duration {
        if matches!(e, IndexError::Foreign { .. } | IndexError::Cancelled) {
            // Another program owns this index, or the process ends. Neither is a failure.
            return RESCAN;
        }
        let message = chain(e);
        tracing::warn!("the index was not brought up to date: {message}");
        self.shared.status.lock().last_error = Some(message);
        // The work is not lost: the next run does it.
        self.shared.queue.lock().add(work);
        self.announce_queue();
        (self.told)(IndexEvent::Progress);
        self.backoff.failed()
    }

    fn announce_queue(&self) {
        if let Some(leader) = &self.leader {
            leader.announcement.queued(self.shared.queue.lock().len());
        }
    }
}

impl Leader {
    /// Returns when the next look without an event is due.
    fn next(&self) -> Instant {
        if self.directories.polled.is_empty() {
            self.next_look
        } else {
            self.next_look.min(self.next_poll)
        }
    }

    fn forget(&mut self, root: &Path, is_gone: impl Fn(&str) -> bool) {
        for directory in self.directories.watched.extract_if(|d| is_gone(d)) {
            if let Some(watcher) = &mut self.watcher {
                watcher.unwatch(&root.join(directory));
            }
        }
    }

    /// Watches the existing directories in `scope`, and forgets those that are
    /// gone. Returns the new ones.
    fn watch(
        &mut self,
        root: &Path,
        scope: &Scope,
        there: &[String],
        shared: &ServiceState,
    ) -> BTreeSet<String> {
        let names: HashSet<&str> = there.iter().map(String::as_str).collect();
        let is_gone = |d: &str| scope.contains(d) && !names.contains(d);
        self.forget(root, is_gone);
        self.directories.polled.retain(|d| !is_gone(d));
        let Some(watcher) = &mut self.watcher else { return BTreeSet::new() };
        let new = self.directories.watch(there, |directory| watcher.watch(&root.join(directory)));
        match new {
            Ok(new) => {
                shared.status.lock().watching = Watching::Events(self.directories.watched.len());
                new
            }
            Err(e) => {
                tracing::warn!(
                    "cannot watch every directory, so the tree is compared with the index every {} s: {e}",
                    POLL.as_secs()
                );
                self.watcher = None;
                self.directories = Directories::default();
                self.next_look = Instant::now() + POLL;
                shared.status.lock().watching = Watching::Polling(e);
                BTreeSet::new()
            }
        }
    }
}

impl Directories {
    /// Watches the directories that are not watched yet. Returns those that are watched now.
    ///
    /// # Errors
    /// When no more directories can be watched.
    fn watch(
        &mut self,
        there: &[String],
        mut watch: impl FnMut(&str) -> Result<(), NotWatched>,
    ) -> Result<BTreeSet<String>, String> {
        let mut new = BTreeSet::new();
        for directory in there.iter().filter(|d| !self.watched.contains(*d)) {
            match watch(directory) {
                Ok(()) => {
                    self.polled.remove(directory);
                    new.insert(directory.clone());
                }
                Err(NotWatched::This(e)) => {
                    if self.polled.insert(directory.clone()) {
                        tracing::warn!(
                            "cannot watch `{directory}`, so it alone is checked every {} s: {e}",
                            POLL.as_secs()
                        );
                    }
                }
                Err(NotWatched::Any(e)) => return Err(e),
            }
        }
        self.watched.extend(new.iter().cloned());
        Ok(new)
    }
}

/// Returns the path to look at after a change of `path`, relative to the root; `None` for paths that
/// are not indexed, such as the temporary files of editors.
fn to_look_at(root: &Path, options: &WalkOptions, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(root).ok()?;
    let name = relative.file_name()?.to_string_lossy();
    let parent = relative.parent().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    if is_rule_file(&name) {
        return Some(parent);
    }
    let relative = relative.to_string_lossy().into_owned();
    // The next look decides about all others. Hidden files change too often for that.
    let is_hidden = relative.split('/').any(|part| part.starts_with('.'));
    let is_indexed =
        || [false, true].iter().any(|is_dir| options.would_reach(root, &relative, *is_dir));
    (!is_hidden || is_indexed()).then_some(relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_look_at() {
        let root = Path::new("/r");
        let options = WalkOptions {
            max_file_bytes: 0,
            exclude: globset::GlobSet::empty(),
            exclude_patterns: Vec::new(),
            included: crate::source::Included::default(),
            origins: crate::source::OriginSettings::default(),
            package: None,
        };
        for (path, want) in [
            ("/r/src/a.rs", Some("src/a.rs")),
            ("/r/src/.gitignore", Some("src")),
            ("/r/.gitignore", Some("")),
            ("/r/src/.gitattributes", Some("src")),
            ("/r/LICENSE", Some("")),
            ("/r/.git/index", None),
            ("/r/src/.a.rs.swp", None),
            ("/r", None),
            ("/elsewhere/a.rs", None),
        ] {
            assert_eq!(to_look_at(root, &options, Path::new(path)).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_polled_alone_and_watched_when_it_can() {
        let there = ["", "a", "locked"].map(String::from);
        let mut directories = Directories::default();
        let refuse = |d: &str| {
            if d == "locked" { Err(NotWatched::This("permission denied".into())) } else { Ok(()) }
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(directories.watch(&there, refuse).unwrap(), names(&["", "a"]));
        assert_eq!(directories.polled, names(&["locked"]));
        assert_eq!(
            directories.watch(&there, refuse).unwrap(),
            names(&[]),
            "a look at it alone goes on to be one"
        );
        assert_eq!(directories.watch(&there, |_| Ok(())).unwrap(), names(&["locked"]));
        assert!(directories.polled.is_empty() && directories.watched.len() == 3);
        assert!(
            directories.watch(&["b".into()], |_| Err(NotWatched::Any("too many".into()))).is_err()
        );
    }
}
