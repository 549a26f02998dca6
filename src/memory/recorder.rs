//! Records changes of a project's files, and tells changes by git apart from edits by hand.
//! The indexer stores which files changed ([`MemoryHome::journal`]), and the process that watches
//! the tree reads git's own files meanwhile. The recorder waits until nothing changes any more,
//! because git writes its log last. Only the recording waits, never the index.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use chrono::{TimeDelta, Utc};
use parking_lot::Mutex;
use uuid::Uuid;

use super::backup::back_up_if_due;
use super::events::{
    self, Batch, Edit, Event, GitEvent, coalesced, commit_id, commit_name, contexts, edit, events,
    time,
};
use super::sql::{Noted, Recorded};
use super::{CaptureError, Memories, Memory, MemoryHome, MemoryStore, StorageError};
use crate::source::{
    self, Attribution, ChangeWatcher, ChangedFile, Commit, GitWatch, OperationKind, TreeChange,
};
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
    trees: Arc<Mutex<Trees>>,
    recent: Vec<(Batch, Instant)>,
    /// Since when changes keep coming.
    waiting_since: Option<Instant>,
}

/// Work trees by their paths relative to the root.
type Trees = BTreeMap<String, Tree>;

/// A work tree: that of the project, or of a submodule.
struct Tree {
    /// `None`: the repository existed at the last recording and is gone.
    watch: Option<GitWatch>,
    /// When the last git operation was noticed.
    touched: Option<Instant>,
    /// Position in git's logs at the last recording.
    position: Option<String>,
    /// The same without the words of `told`, or where the logs were opened.
    start: String,
    /// Words in the position for the events after it that are recorded already. The position itself
    /// moves only when the files of all operations are known, because what git did tells who changed
    /// them.
    told: Vec<String>,
}

impl Tree {
    /// Returns the same position, with these events among those that are recorded.
    fn position_with(&self, told: impl Iterator<Item = Uuid>) -> String {
        let mut words: Vec<String> = self.told.iter().cloned().chain(told.map(told_word)).collect();
        words.drain(..words.len().saturating_sub(MAX_TOLD));
        words.insert(0, self.start.clone());
        words.join(" ")
    }
}

/// Begins the word in a position for an event that is recorded.
const TOLD: &str = "told=";
/// Most such words.
const MAX_TOLD: usize = 1_000;

fn told_word(id: Uuid) -> String {
    format!("{TOLD}{:016x}", id.as_u64_pair().0)
}

/// What a recording knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KnownChanges {
    /// Everything: this process follows the tree, and has waited.
    All,
    /// The changes of files up to this time; `None` if this process did not look at the tree.
    Until(Option<SystemTime>),
}

impl Recorder {
    #[must_use]
    pub fn new(home: MemoryHome, settings: EventSettings) -> Self {
        Self { home, settings, trees: Arc::default(), recent: Vec::new(), waiting_since: None }
    }

    /// Records in the background until the worker is dropped, while `is_responsible` returns true: in a
    /// process that watches the tree and has compared it with the index.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        mut self,
        is_responsible: impl Fn() -> bool + Send + 'static,
    ) -> std::io::Result<Worker> {
        let mut watching = Watching::default();
        let window = self.settings.window;
        let pause = (4 * window).max(LEAST_PAUSE);
        let mut backed_up: Option<Instant> = None;
        let job = move |handle: &WorkerHandle| {
            if !is_responsible() || !self.home.is_in_use() {
                watching = Watching::default();
                self.forget();
                // Another process may record changes before this one has looked at the tree.
                return window.max(LEAST_PAUSE);
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
        Ok(worker)
    }

    /// Records the stored changes, in the process that follows the tree. If some are so recent
    /// that git may still write its log, it records nothing and returns how long to wait.
    ///
    /// # Errors
    /// When the database fails. Nothing is lost then.
    pub fn record(&mut self, memories: &Memories) -> Result<Option<Duration>, CaptureError> {
        let trees = self.trees.clone();
        let mut trees = trees.lock();
        let noted = memories.store.noted_changes()?;
        let result = self.open(&mut trees, &noted, &memories.store).map_err(CaptureError::from);
        let result = result.and_then(|()| match self.must_wait(&noted, &trees) {
            Some(wait) => Ok((true, Some(wait))),
            None => Ok((self.record_as(KnownChanges::All, &mut trees, noted, memories)?, None)),
        });
        drop(trees);
        if !matches!(result, Ok((true, _))) {
            // Git's logs are read again from the last recorded position.
            self.forget();
        }
        result.map(|(_, wait)| wait)
    }

    /// Records what ended before this process began, where no process follows the tree. The times
    /// of files and git's logs show what that is; the rest is left to the next process.
    /// `compared_at` is when this process compared the index with the tree. Without it, changes by
    /// git stay stored, because their files are not known yet; operations are recorded all the same.
    ///
    /// # Errors
    /// When the database fails. Nothing is lost then.
    pub fn record_past(
        mut self,
        memories: &Memories,
        compared_at: Option<SystemTime>,
    ) -> Result<(), CaptureError> {
        let noted = memories.store.noted_changes()?;
        let mut trees = BTreeMap::new();
        self.open(&mut trees, &noted, &memories.store)?;
        if !trees.values().filter_map(|tree| tree.watch.as_ref()).any(GitWatch::is_at_work) {
            // If another process records at the same time, there is nothing left to do.
            self.record_as(KnownChanges::Until(compared_at), &mut trees, noted, memories)?;
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.trees.lock().clear();
        self.recent.clear();
    }

    /// Returns whether something happened so recently that more of it may follow.
    fn is_recent(&self, at: SystemTime) -> bool {
        let now = SystemTime::now();
        // A time in the future says nothing.
        now.duration_since(at)
            .or_else(|e| Ok::<_, ()>(e.duration()))
            .is_ok_and(|age| age < self.settings.window)
    }

    /// Reads git's logs: adds a batch for each operation, and returns the commits.
    fn happened(
        &mut self,
        trees: &mut Trees,
        store: &MemoryStore,
    ) -> Result<Vec<(String, source::Committed)>, StorageError> {
        let mut commits = Vec::new();
        for (name, tree) in trees.iter_mut() {
            let Some(watch) = &mut tree.watch else { continue };
            let happened = watch.operations();
            // The commits of a repository that has just appeared were not made here.
            if tree.position.is_some() || name.is_empty() {
                commits.extend(happened.commits.into_iter().map(|c| (name.clone(), c)));
            }
            for operation in happened.operations {
                let session = store.session_at(time(operation.at))?.unwrap_or_default();
                self.recent.push((Batch::new(name, operation, &session), Instant::now()));
            }
        }
        Ok(commits)
    }

    fn is_past(&self, known: KnownChanges, at: i64) -> bool {
        known == KnownChanges::All || !self.is_recent(time(at).into())
    }

    /// Returns whether the stored changes contain every file of every operation. Drops changes that
    /// are too recent to be recorded.
    fn is_complete(
        &self,
        known: KnownChanges,
        noted: &mut Vec<Noted>,
        commits: &[(String, source::Committed)],
        trees: &Trees,
    ) -> bool {
        let KnownChanges::Until(compared_at) = known else { return true };
        let n_noted = noted.len();
        noted
            .retain(|n| !self.home.written_at(&n.change.path).is_some_and(|at| self.is_recent(at)));
        let is_seen = |watch: &GitWatch| {
            watch.written_at().is_none_or(|at| compared_at.is_some_and(|seen| at <= seen))
        };
        n_noted == noted.len()
            && commits.iter().all(|(_, c)| self.is_past(known, c.at))
            && self.recent.iter().all(|(batch, _)| self.is_past(known, batch.operation.at))
            && trees.values().filter_map(|tree| tree.watch.as_ref()).all(is_seen)
    }

    /// Records changes and git operations. Returns false if another process recorded meanwhile.
    fn record_as(
        &mut self,
        known: KnownChanges,
        trees: &mut Trees,
        mut noted: Vec<Noted>,
        memories: &Memories,
    ) -> Result<bool, CaptureError> {
        let store = &memories.store;
        let n_before = self.recent.len();
        let mut commits = self.happened(trees, store)?;
        let is_complete = self.is_complete(known, &mut noted, &commits, trees);
        let is_past = |at: i64| self.is_past(known, at);
        let is_told = |tree: &str, id: Uuid| trees[tree].told.contains(&told_word(id));
        commits.retain(|(tree, c)| is_past(c.at) && !is_told(tree, commit_id(tree, &c.id)));
        let untold: Vec<usize> = (n_before..self.recent.len())
            .filter(|i| {
                let Batch { operation, tree, memory_id, .. } = &self.recent[*i].0;
                let is_new = trees[tree].position.is_some() || tree.is_empty();
                is_new && !operation.is_old && is_past(operation.at) && !is_told(tree, *memory_id)
            })
            .collect();

        let mut recorded = Recorded::default();
        let (mut by_git, mut new): (Vec<GitEvent>, Vec<Memory>) = (Vec::new(), Vec::new());
        let mut told: Vec<(String, Uuid)> =
            commits.iter().map(|(tree, c)| (tree.clone(), commit_id(tree, &c.id))).collect();
        for (tree, (commit, at)) in self.commits(&commits) {
            let session_id = store.session_at(time(at))?.unwrap_or_default();
            new.push(events::commit(&commit, &tree, &session_id, at));
            by_git.push(GitEvent { name: commit_name(&commit), at: time(at), session_id });
        }
        let mut touched = BTreeSet::new();
        let noted = attributed(noted, trees);
        let key = |path: &str, session: &str, whose| (path.to_string(), session.to_string(), whose);
        let numbers: Vec<(i64, ChangeKey)> = noted
            .iter()
            .map(|(n, whose)| (n.number, key(&n.change.path, &n.session_id, *whose)))
            .collect();
        let mut used: HashSet<ChangeKey> = HashSet::new();
        let mut moved: HashSet<String> = HashSet::new();
        for event in events(coalesced(noted, &self.home.root), |path| tree_of(path, trees)) {
            if event.whose == Attribution::Git {
                if is_complete {
                    let i = self.batch_of(&event, n_before, trees);
                    touched.insert(i);
                    new.push(self.recent[i].0.take(&event));
                }
                continue;
            }
            used.insert(key(&event.path, &event.session_id, event.whose));
            moved.extend(event.from.clone());
            let tree = self.home.root.join(tree_of(&event.path, trees).unwrap_or_default());
            match edit(&event, source::head(&tree), store)? {
                Edit::Kept(memory) => new.push(*memory),
                Edit::Undone(id) => recorded.undone.push(id),
            }
        }
        let uses = |key: &ChangeKey| is_complete || used.contains(key) || moved.contains(&key.0);
        recorded.changes =
            numbers.into_iter().filter(|(_, key)| uses(key)).map(|(number, _)| number).collect();
        self.ask_effects(&untold, trees, &mut touched);
        told.extend(untold.iter().map(|&i| {
            let Batch { tree, memory_id, .. } = &self.recent[i].0;
            (tree.clone(), *memory_id)
        }));
        for batch in touched.into_iter().map(|i| &self.recent[i].0) {
            by_git.push(batch.event());
            new.push(batch.memory());
        }
        new.extend(contexts(&by_git, store)?);
        self.recent.retain(|(_, since)| since.elapsed() < RECENT);
        let is_at_rest = |tree: &Tree| {
            tree.position.is_some()
                && tree.watch.is_some()
                && (tree.told.is_empty() || !is_complete)
        };
        if new.is_empty()
            && recorded.changes.is_empty()
            && told.is_empty()
            && trees.values().all(is_at_rest)
        {
            return Ok(true);
        }
        recorded.positions = trees
            .iter()
            .filter(|(name, tree)| is_complete || tree.position.is_some() || name.is_empty())
            .map(|(name, tree)| {
                let own = told.iter().filter(|(tree, _)| tree == name).map(|(_, id)| *id);
                let now = if is_complete {
                    tree.watch.as_ref().map(GitWatch::position)
                } else {
                    Some(tree.position_with(own))
                };
                (name.clone(), tree.position.clone(), now)
            })
            .collect();
        self.store(recorded, new, trees, memories)
    }

    /// Asks git for the files of operations, unless the index knows them, and adds those operations to
    /// `touched` that changed something.
    fn ask_effects(&mut self, untold: &[usize], trees: &Trees, touched: &mut BTreeSet<usize>) {
        for &i in untold {
            let Batch { operation, tree, .. } = &self.recent[i].0;
            // The index may have seen only some of the files that a reset restored.
            let is_known = touched.contains(&i) && !operation.is_restoring();
            let Some(watch) = trees[tree].watch.as_ref().filter(|_| !is_known) else { continue };
            let (n_changed, n_written) = watch.effect_of(operation);
            // A rebase that changes no file still replaces commits.
            let is_rebase = operation.kind == OperationKind::Rebase
                && operation.to.is_some()
                && operation.from != operation.to;
            if n_changed > 0 || is_rebase {
                touched.insert(i);
            }
            self.recent[i].0.n_by_git = n_written;
        }
    }

    /// Stores the result of a recording. Returns false if another process recorded meanwhile.
    fn store(
        &self,
        mut recorded: Recorded,
        new: Vec<Memory>,
        trees: &mut Trees,
        Memories { store, capture, .. }: &Memories,
    ) -> Result<bool, CaptureError> {
        let (episodes, n_secrets) = capture.prepared(new.into_iter())?;
        recorded.episodes = episodes;
        let since = Utc::now() - TimeDelta::days(self.settings.days.into());
        let is_done = store.record(&recorded, self.settings.most, since)?;
        if is_done {
            store.count_redacted(n_secrets)?;
            for (name, _, position) in recorded.positions {
                if let Some(tree) = trees.get_mut(&name) {
                    tree.position = position;
                    tree.told.clear();
                }
            }
        }
        Ok(is_done)
    }

    /// Opens every work tree that contains the project or a change, at its last recorded position.
    fn open(
        &self,
        trees: &mut Trees,
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
                let start = position.clone().or_else(|| Some(watch.as_ref()?.position()));
                let start = start.unwrap_or_default();
                let (told, start): (Vec<&str>, Vec<&str>) =
                    start.split(' ').partition(|word| word.starts_with(TOLD));
                let told = told.into_iter().map(String::from).collect();
                let start = start.join(" ");
                trees.insert(name, Tree { watch, position, start, told, touched: None });
            }
        }
        Ok(())
    }

    /// Returns how long to wait until git's logs are complete. Changes that never stop are recorded
    /// in between.
    fn must_wait(&mut self, noted: &[Noted], trees: &Trees) -> Option<Duration> {
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

    /// Returns the newest commits with their files and times, by work tree. A commit that git cannot
    /// show has no files, and its subject comes from git's log.
    fn commits(&self, made: &[(String, source::Committed)]) -> Vec<(String, (Commit, i64))> {
        let made = &made[made.len().saturating_sub(MAX_COMMITS)..];
        let mut known: HashMap<&str, Vec<Commit>> = HashMap::new();
        for own in made.chunk_by(|a, b| a.0 == b.0) {
            let (tree, ids): (_, Vec<&str>) =
                (&own[0].0, own.iter().map(|(_, c)| &*c.id).collect());
            let found = source::these_commits(&self.home.root.join(tree), &ids).unwrap_or_default();
            known.insert(tree, found);
        }
        let full = |(tree, c): &(String, source::Committed)| {
            let found = known[&**tree].iter().find(|k| k.id == c.id).cloned();
            let found = found.unwrap_or_else(|| Commit {
                id: c.id.clone(),
                at: c.at,
                subject: c.subject.clone(),
                body: String::new(),
                author: String::new(),
                files: Vec::new(),
            });
            (tree.clone(), (found, c.at))
        };
        made.iter().map(full).collect()
    }

    /// Returns the index of the operation in the same work tree that is nearest in time, the later
    /// of two in the same second. An operation before `n_before`, which was recorded earlier, is
    /// chosen only if it is near, and one without known files is preferred. If there is none, adds
    /// an operation of unknown kind.
    fn batch_of(&mut self, event: &Event, n_before: usize, trees: &Trees) -> usize {
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
fn tree_of(path: &str, trees: &Trees) -> Option<String> {
    let is_in = |name: &&String| {
        name.is_empty()
            || path.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    trees.keys().filter(is_in).max_by_key(|name| name.len()).cloned()
}

/// Identifies the stored changes that become one event: path, session, and who made them.
type ChangeKey = (String, String, Attribution);

/// Decides for each change whether git made it. The present content of a file tells who made its last
/// change. If that was git, earlier changes may still be by hand: their contents tell.
fn attributed(noted: Vec<Noted>, trees: &Trees) -> Vec<(Noted, Attribution)> {
    let mut whose = vec![Attribution::Hand; noted.len()];
    let path = |i: usize| noted[i].change.path.as_str();
    let last: HashMap<&str, usize> = (0..noted.len()).map(|i| (path(i), i)).collect();
    for (name, tree) in trees {
        let own = (0..noted.len()).filter(|i| tree_of(path(*i), trees).as_ref() == Some(name));
        let inside = |i: usize| PathBuf::from(path(i)[name.len()..].trim_start_matches('/'));
        let Some(watch) = &tree.watch else {
            // The whole tree disappeared at once.
            own.for_each(|i| whose[i] = Attribution::Git);
            continue;
        };
        let (newest, former): (Vec<usize>, Vec<usize>) = own.partition(|i| last[path(*i)] == *i);
        let exists = |i: usize| noted[i].change.after.is_some();
        let changed: Vec<ChangedFile> =
            newest.iter().map(|&i| ChangedFile { path: inside(i), exists: exists(i) }).collect();
        for (i, by) in newest.into_iter().zip(watch.classify(&changed)) {
            whose[i] = by;
        }
        let former: Vec<usize> =
            former.into_iter().filter(|i| whose[last[path(*i)]] == Attribution::Git).collect();
        let versions: Vec<(PathBuf, Option<String>)> =
            former.iter().map(|&i| (inside(i), noted[i].change.after.clone())).collect();
        for (i, by) in former.into_iter().zip(watch.classify_former(&versions)) {
            whose[i] = by;
        }
    }
    drop(last);
    noted.into_iter().zip(whose).collect()
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
    fn follow(&mut self, trees: &Arc<Mutex<Trees>>, window: Duration, handle: &WorkerHandle) {
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
