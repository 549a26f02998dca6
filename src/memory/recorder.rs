//! Records changes of a project's files, and tells changes by git apart from edits by hand.
//! The indexer stores which files changed ([`MemoryHome::journal`]), and the process that watches
//! the tree reads git's own files meanwhile. The recorder waits until nothing changes any more,
//! because git writes its log last. Only the recording waits, never the index.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use chrono::{TimeDelta, Utc};
use parking_lot::Mutex;

use super::backup::back_up_if_due;
use super::events::{Batch, Edit, Event, coalesced, commit, commit_name, context, edit, events};
use super::sql::{EventLimits, Noted, Recorded};
use super::{CaptureError, Memories, Memory, MemoryHome, MemoryStore, StorageError};
use crate::source::{self, Attribution, ChangeWatcher, ChangedFile, Commit, GitWatch, TreeChange};
use crate::worker::{Worker, WorkerHandle};

/// Files that change later can still belong to an operation that was recorded this recently.
const RECENT: Duration = Duration::from_secs(30);
/// Shortest pause between two looks without an event.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Interval at which the age of the backup is checked.
const BACKUP_PAUSE: Duration = Duration::from_hours(1);
/// Most commits that are recorded from the time when no process looked.
const MAX_COMMITS: usize = 100;

/// Number of vectors requested at once from an embedder that is not immediate.
const BATCH: usize = 16;

/// How events are kept.
#[derive(Debug, Clone, Copy)]
pub struct EventSettings {
    /// A change of a file within this time before or after a git operation may belong to it.
    /// Nothing may change for this long before the recorder runs.
    pub window: Duration,
    /// Most events of each source.
    pub most: usize,
    /// Number of days that events are kept.
    pub days: u32,
}

/// Makes episodes of the stored changes.
pub struct Recorder {
    home: MemoryHome,
    settings: EventSettings,
    /// Work trees by their paths relative to the root.
    trees: Arc<Mutex<BTreeMap<String, Tree>>>,
    recent: Vec<(Batch, Instant)>,
    /// Since when changes keep coming.
    waiting_since: Option<Instant>,
}

/// A recorder that runs in the background until it is dropped.
pub struct Recording {
    worker: Worker,
}

impl Recording {
    /// Returns a handle that requests a look once nothing changes any more.
    #[must_use]
    pub fn handle(&self) -> &WorkerHandle {
        self.worker.handle()
    }
}

/// A work tree: that of the project, or of a submodule.
struct Tree {
    /// `None`: the repository existed at the last recording and is gone.
    watch: Option<GitWatch>,
    /// When the last git operation was noticed.
    touched: Option<Instant>,
    /// Position in git's logs at the last recording.
    position: Option<String>,
}

impl Recorder {
    #[must_use]
    pub fn new(home: MemoryHome, settings: EventSettings) -> Self {
        Self { home, settings, trees: Arc::default(), recent: Vec::new(), waiting_since: None }
    }

    /// Records in the background while `is_responsible` returns true: in a process that watches the
    /// tree and has compared it with the index.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        mut self,
        is_responsible: impl Fn() -> bool + Send + 'static,
    ) -> std::io::Result<Recording> {
        let mut watching = Watching::default();
        let window = self.settings.window;
        let pause = (4 * window).max(LEAST_PAUSE);
        let mut backed_up: Option<Instant> = None;
        let job = move |handle: &WorkerHandle| {
            if !is_responsible() || !self.home.is_in_use() {
                watching = Watching::default();
                self.forget();
                return pause;
            }
            let opened = self.home.open(window);
            let work = |memories: Memories| {
                if backed_up.is_none_or(|at| at.elapsed() > BACKUP_PAUSE) {
                    backed_up = Some(Instant::now());
                    if let Err(e) = back_up_if_due(&memories.store) {
                        tracing::warn!("cannot back up the memory database: {e}");
                    }
                }
                Ok((self.record(&memories)?, memories.capture.embed_rest(BATCH)?))
            };
            match opened.and_then(work) {
                Ok((wait, n_embedded)) => {
                    if n_embedded == BATCH {
                        handle.request();
                    } else if let Some(wait) = wait {
                        handle.when_quiet(wait);
                    }
                }
                Err(e) => tracing::warn!(
                    "cannot record changes of files or make vectors, trying again later: {e}"
                ),
            }
            watching.follow(&self.trees, window, handle);
            pause
        };
        let worker = Worker::spawn("recording", job)?;
        worker.handle().request();
        Ok(Recording { worker })
    }

    /// Records the stored changes. If some are so recent that git may still write its log, it
    /// records nothing and returns how long to wait.
    ///
    /// # Errors
    /// When the database fails. Nothing is lost then.
    pub fn record(&mut self, memories: &Memories) -> Result<Option<Duration>, CaptureError> {
        let result = self.try_to_record(memories);
        if !matches!(result, Ok((true, _))) {
            // Git's logs are read again from the last recorded position.
            self.forget();
        }
        result.map(|(_, wait)| wait)
    }

    fn forget(&mut self) {
        self.trees.lock().clear();
        self.recent.clear();
    }

    /// Returns the commits since the last call as memories, each with its name, and starts a batch
    /// for every other git operation.
    fn committed(
        &mut self,
        trees: &mut BTreeMap<String, Tree>,
        session: &str,
    ) -> Vec<(String, Memory)> {
        let mut new = Vec::new();
        for (name, tree) in trees.iter_mut() {
            let Some(watch) = &mut tree.watch else { continue };
            let happened = watch.operations();
            // The commits of a repository that has just appeared were not made here.
            let commits =
                if tree.position.is_some() || name.is_empty() { &*happened.commits } else { &[] };
            new.extend(
                self.commits(name, commits)
                    .into_iter()
                    .map(|(id, at)| (commit_name(&id), commit(&id, name, session, at))),
            );
            self.recent.extend(
                happened
                    .operations
                    .into_iter()
                    .map(|o| (Batch::new(name, o, session), Instant::now())),
            );
        }
        new
    }

    /// Returns false if another process recorded meanwhile.
    fn try_to_record(
        &mut self,
        memories: &Memories,
    ) -> Result<(bool, Option<Duration>), CaptureError> {
        let Memories { store, capture, sessions } = memories;
        let noted = store.noted_changes()?;
        let trees = self.trees.clone();
        let mut trees = trees.lock();
        self.open(&mut trees, &noted, store)?;
        if let Some(wait) = self.must_wait(&noted, &trees) {
            return Ok((true, Some(wait)));
        }
        let session = sessions.current_session().ok().flatten().unwrap_or_default();
        let mut recorded =
            Recorded { changes: noted.iter().map(|n| n.number).collect(), ..Recorded::default() };
        let n_before = self.recent.len();
        let (mut by_git, mut new): (Vec<String>, Vec<Memory>) =
            self.committed(&mut trees, &session).into_iter().unzip();
        let mut touched = BTreeSet::new();
        for event in events(classified(coalesced(noted, &self.home.root), &trees), |path| {
            tree_of(path, &trees)
        }) {
            if event.whose == Attribution::Git {
                let i = self.batch_of(&event, n_before, &trees);
                touched.insert(i);
                new.push(self.recent[i].0.take(&event));
            } else {
                match edit(&event, store)? {
                    Edit::Kept(memory) => new.push(*memory),
                    Edit::Undone(id) => recorded.undone.push(id),
                }
            }
        }
        for batch in touched.into_iter().map(|i| &self.recent[i].0) {
            by_git.push(batch.summary());
            new.push(batch.memory());
        }
        new.extend(context(&by_git, &session, store)?);
        self.recent.retain(|(_, since)| since.elapsed() < RECENT);
        if new.is_empty()
            && recorded.changes.is_empty()
            && trees.values().all(|tree| tree.position.is_some() && tree.watch.is_some())
        {
            return Ok((true, None));
        }
        let now = |tree: &Tree| tree.watch.as_ref().map(GitWatch::position);
        recorded.positions = trees
            .iter()
            .map(|(name, tree)| (name.clone(), tree.position.clone(), now(tree)))
            .collect();
        let (episodes, n_secrets) = capture.prepared(new.into_iter())?;
        recorded.episodes = episodes;
        let limits = EventLimits {
            most: self.settings.most,
            since: Utc::now() - TimeDelta::days(self.settings.days.into()),
        };
        let is_done = store.record(&recorded, &limits)?;
        if is_done {
            store.count_redacted(n_secrets)?;
            for (tree, (_, _, position)) in trees.values_mut().zip(recorded.positions) {
                tree.position = position;
            }
        }
        Ok((is_done, None))
    }

    /// Opens every work tree that contains the project or a change, at its last recorded position.
    fn open(
        &self,
        trees: &mut BTreeMap<String, Tree>,
        noted: &[Noted],
        store: &MemoryStore,
    ) -> Result<(), StorageError> {
        let positions = store.git_positions()?;
        let root = &self.home.root;
        let folders: BTreeSet<&str> = noted
            .iter()
            .flat_map(|n| Path::new(&n.change.path).ancestors().skip(1))
            .filter_map(Path::to_str)
            .collect();
        let nested = source::with_repository(root, folders).into_iter().map(String::from);
        let known = positions.keys().cloned();
        let names: BTreeSet<String> =
            nested.chain(source::submodules(root)).chain(known).chain([String::new()]).collect();
        let is_right = |name: &str, tree: &Tree| {
            tree.position.as_ref() == positions.get(name)
                && tree.watch.as_ref().is_some_and(GitWatch::is_there)
        };
        trees.retain(|name, tree| names.contains(name) && is_right(name, tree));
        for name in names {
            if trees.contains_key(&name) {
                continue;
            }
            let (at, position) = (root.join(&name), positions.get(&name).cloned());
            let watch = match &position {
                Some(position) => GitWatch::open_at(&at, position),
                // The repository is newer than the first memories, or an older version stored them.
                None if name.is_empty() => GitWatch::open_since(
                    &at,
                    store.began()?.map_or_else(SystemTime::now, SystemTime::from),
                ),
                // The first changes arrive together with the repository.
                None => GitWatch::open_new(&at),
            };
            // A folder without a repository of its own belongs to the repository around it.
            let watch = watch.filter(|watch| name.is_empty() || watch.is_of(&at));
            if watch.is_some() || position.is_some() {
                trees.insert(name, Tree { watch, position, touched: None });
            }
        }
        Ok(())
    }

    /// Returns how long to wait until git's logs are complete. Changes that never stop are recorded
    /// in between.
    fn must_wait(&mut self, noted: &[Noted], trees: &BTreeMap<String, Tree>) -> Option<Duration> {
        let window = self.settings.window;
        if trees.values().filter_map(|tree| tree.watch.as_ref()).any(GitWatch::is_at_work) {
            return Some(window);
        }
        let age = |n: &Noted| (Utc::now() - n.at).to_std().unwrap_or_default();
        let touched = trees.values().filter_map(|tree| tree.touched).map(|at| at.elapsed());
        let newest = noted.iter().map(age).chain(touched).min()?;
        let waited = self
            .waiting_since
            .map(|since| since.elapsed())
            .max(noted.iter().map(age).max())
            .unwrap_or_default();
        let wait = window.checked_sub(newest).filter(|wait| !wait.is_zero() && waited < 3 * window);
        self.waiting_since = wait.and(self.waiting_since.or_else(|| Some(Instant::now())));
        wait
    }

    /// Returns the newest commits with their files and times. A commit that git cannot show has no
    /// files, and its subject comes from git's log.
    fn commits(&self, tree: &str, made: &[source::Committed]) -> Vec<(Commit, i64)> {
        let made = &made[made.len().saturating_sub(MAX_COMMITS)..];
        if made.is_empty() {
            return Vec::new();
        }
        let ids: Vec<&str> = made.iter().map(|c| &*c.id).collect();
        let known = source::these_commits(&self.home.root.join(tree), &ids).unwrap_or_default();
        let full = |c: &source::Committed| {
            let found = known.iter().find(|k| k.id == c.id).cloned();
            let found = found.unwrap_or_else(|| Commit {
                id: c.id.clone(),
                at: c.at,
                subject: c.subject.clone(),
                body: String::new(),
                files: Vec::new(),
            });
            (found, c.at)
        };
        made.iter().map(full).collect()
    }

    /// Returns the index of the operation in the same work tree that is nearest in time, the later
    /// of two in the same second. An operation before `n_before`, which was recorded earlier, is
    /// chosen only if it is near, and one without known files is preferred. If there is none, adds
    /// an operation of unknown kind.
    fn batch_of(
        &mut self,
        event: &Event,
        n_before: usize,
        trees: &BTreeMap<String, Tree>,
    ) -> usize {
        let name = tree_of(&event.path, trees).unwrap_or_default();
        let is_there = trees.get(&name).is_some_and(|tree| tree.watch.is_some());
        let near = 2 * self.settings.window.as_secs().max(1);
        let may_be = |i: usize, batch: &Batch| {
            batch.tree == name && (i >= n_before || is_there && batch.distance(event) <= near)
        };
        let own = self.recent.iter().enumerate().rev().filter(|(i, (batch, _))| may_be(*i, batch));
        if let Some((i, _)) = own.min_by_key(|(i, (batch, _))| {
            (*i < n_before && !batch.is_empty(), batch.distance(event))
        }) {
            return i;
        }
        self.recent.push((Batch::untold(&name, event), Instant::now()));
        self.recent.len() - 1
    }
}

/// Returns the innermost work tree that contains a path.
fn tree_of(path: &str, trees: &BTreeMap<String, Tree>) -> Option<String> {
    let is_in = |name: &&String| {
        name.is_empty()
            || path.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    trees.keys().filter(is_in).max_by_key(|name| name.len()).cloned()
}

/// Decides for each change whether git made it.
fn classified(noted: Vec<Noted>, trees: &BTreeMap<String, Tree>) -> Vec<(Noted, Attribution)> {
    let mut whose: HashMap<String, Attribution> = HashMap::new();
    for (name, tree) in trees {
        let own: Vec<&Noted> = noted
            .iter()
            .filter(|n| tree_of(&n.change.path, trees).as_ref() == Some(name))
            .collect();
        let inside = |path: &str| PathBuf::from(path[name.len()..].trim_start_matches('/'));
        let changed: Vec<ChangedFile> = own
            .iter()
            .map(|n| ChangedFile { path: inside(&n.change.path), exists: n.change.after.is_some() })
            .collect();
        let by_whom = match &tree.watch {
            Some(watch) => watch.classify(&changed),
            // The whole tree disappeared at once.
            None => vec![Attribution::Git; changed.len()],
        };
        whose.extend(own.iter().map(|n| n.change.path.clone()).zip(by_whom));
    }
    noted
        .into_iter()
        .map(|n| (whose.get(&n.change.path).copied().unwrap_or(Attribution::Hand), n))
        .map(|(whose, n)| (n, whose))
        .collect()
}

/// The watched directories of git.
#[derive(Default)]
struct Watching {
    watcher: Option<ChangeWatcher>,
    directories: BTreeSet<PathBuf>,
}

impl Watching {
    /// Watches the directories that exist now. If that fails, most operations are still found in
    /// git's log.
    fn follow(
        &mut self,
        trees: &Arc<Mutex<BTreeMap<String, Tree>>>,
        window: Duration,
        handle: &WorkerHandle,
    ) {
        let wanted: BTreeSet<PathBuf> = trees
            .lock()
            .values()
            .filter_map(|tree| tree.watch.as_ref())
            .flat_map(GitWatch::directories)
            .collect();
        if self.watcher.is_none() {
            let (trees, handle) = (trees.clone(), handle.clone());
            let tell = move |change| {
                let mut is_git = false;
                for Tree { watch, touched, .. } in trees.lock().values_mut() {
                    let Some(watch) = watch else { continue };
                    let is_its = match &change {
                        TreeChange::Paths(paths) => {
                            paths.iter().any(|path| watch.is_relevant(path))
                        }
                        TreeChange::Unknown => true,
                    };
                    if is_its {
                        watch.note();
                        *touched = Some(Instant::now());
                        is_git = true;
                    }
                }
                if is_git {
                    handle.when_quiet(window);
                }
            };
            self.watcher = ChangeWatcher::new(tell)
                .inspect_err(|e| tracing::info!("cannot watch git, reading its logs instead: {e}"))
                .ok();
        }
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.directories.difference(&wanted) {
            watcher.unwatch(gone);
        }
        for new in wanted.difference(&self.directories) {
            if let Err(e) = watcher.watch(new) {
                tracing::info!("cannot watch {}, reading git's logs instead: {e}", new.display());
            }
        }
        self.directories = wanted;
    }
}
