//! Stores Markdown files outside the index (an agent's own notes) as memories: a changed file is
//! chunked again, and the pieces of a deleted file are deleted.
//! Each look searches again for the folders to follow, because the memory database or a folder may
//! appear while a server runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

use super::{
    CaptureError, Episode, EpisodeSource, Memory, MemoryCaptureService, MemoryHome, MemorySource,
    Operation,
};
use crate::dir::{Dir, FileKind, SharedDir};
use crate::source::DirectoryWatcher;
use crate::worker::{Backoff, Worker, WorkerHandle};

/// How long a folder must be unchanged before it is read.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Interval at which all notes are looked at without an event.
const RESCAN: Duration = Duration::from_mins(5);
/// Interval at which a missing folder, or a missing memory database, is looked for; that costs one
/// `stat` each.
const POLL: Duration = Duration::from_secs(2);
/// Depth to which folders are searched.
const MAX_DEPTH: usize = 8;
/// Size limit of a file in bytes; larger files are reported and not stored.
const MAX_NOTE: u64 = 8 << 20;

/// Watches existing and future folders and files, and stores every `.md` file in them.
pub struct MDFileWatcher {
    follower: Arc<Mutex<Follower>>,
    worker: Mutex<Option<Worker>>,
}

/// The state of a watcher's thread.
struct Follower {
    named: Vec<FollowedPath>,
    root: SharedDir,
    home: MemoryHome,
    /// Set once the project has a memory database.
    capture: Option<MemoryCaptureService>,
    /// Delays the next try after the database could not be opened.
    backoff: Backoff,
    watched: Vec<(PathBuf, DirectoryWatcher)>,
    /// Set when something in a watched directory changed.
    is_told: Arc<AtomicBool>,
    /// When all notes are looked at without an event.
    rescan_at: Option<Instant>,
    statistics: Statistics,
}

/// A path to follow.
struct FollowedPath {
    path: PathBuf,
    /// The folder as it was last seen; when it disappears, its pieces are deleted.
    notes: Option<Notes>,
    is_there: bool,
    /// Why it is not followed, as last logged.
    told: Option<String>,
}

/// A folder or file of notes, with everything below it. No link at or below it is followed.
#[derive(Debug, Clone)]
struct Notes {
    base: SharedDir,
    /// Relative to `base`.
    path: PathBuf,
}

/// What a watcher did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Files that were chunked because they were new or changed.
    pub processed: usize,
    /// Files that were deleted.
    pub deleted: usize,
    /// Files that could not be read or stored.
    pub failed: usize,
}

/// Why files are not watched, or one of them is not stored.
#[derive(Debug, thiserror::Error)]
pub enum WatcherError {
    #[error("{}: does not exist yet, and is stored when it appears", path.display())]
    PathNotFound { path: PathBuf },
    #[error("cannot start the thread: {message}")]
    WatchFailed { message: String },
    #[error("cannot read notes: {source} (correct this, or change memory.notes)")]
    ReadFailed { source: io::Error },
    #[error("cannot store the notes in {}: {source}", path.display())]
    CaptureFailed { path: PathBuf, source: CaptureError },
}

impl MDFileWatcher {
    /// Creates a watcher that does not watch yet. The paths need not exist. Paths below `root`
    /// belong to the project, and no link in their names is followed; the user named all others.
    #[must_use]
    pub fn new(paths: Vec<PathBuf>, root: SharedDir, home: MemoryHome) -> Self {
        let named = |path| FollowedPath { path, notes: None, is_there: false, told: None };
        let follower = Follower {
            named: paths.into_iter().map(named).collect(),
            root,
            home,
            capture: None,
            backoff: Backoff::new(POLL, RESCAN),
            watched: Vec::new(),
            is_told: Arc::default(),
            rescan_at: None,
            statistics: Statistics::default(),
        };
        Self { follower: Arc::new(Mutex::new(follower)), worker: Mutex::default() }
    }

    /// Starts a thread that looks at all files now and after each change. Errors are logged and do
    /// not stop it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(&self) -> Result<(), WatcherError> {
        let follower = self.follower.clone();
        let job = move |handle: &WorkerHandle| follower.lock().look(Some(handle));
        let worker = Worker::spawn("notes", job)
            .map_err(|e| WatcherError::WatchFailed { message: e.to_string() })?;
        worker.handle().request();
        *self.worker.lock() = Some(worker);
        Ok(())
    }

    /// Stops the thread after its current work, logs the statistics, and returns them.
    pub fn stop(&self) -> Statistics {
        let was_running = self.worker.lock().take().is_some();
        let statistics = self.follower.lock().statistics;
        let Statistics { processed, deleted, failed } = statistics;
        if was_running && statistics == Statistics::default() {
            tracing::debug!("notes are no longer watched, and none had changed");
        } else if was_running {
            tracing::info!(processed, deleted, failed, "notes are no longer watched");
        }
        statistics
    }

    /// Compares all existing notes with the stored ones.
    pub fn scan(&self) {
        let mut follower = self.follower.lock();
        follower.rescan_at = None;
        follower.look(None);
    }
}

impl Drop for MDFileWatcher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Follower {
    /// Finds the folders to follow and compares them with the stored notes if anything may have
    /// changed. Returns the time until the next look without an event. Without `handle` no
    /// directory is watched.
    fn look(&mut self, handle: Option<&WorkerHandle>) -> Duration {
        if !self.home.is_in_use() {
            self.capture = None;
            return POLL;
        }
        if self.capture.is_none() {
            match self.home.open(POLL) {
                Ok(memories) => self.capture = Some(memories.capture),
                Err(e) => {
                    let again = self.backoff.failed();
                    tracing::warn!(
                        "cannot open the memory database to store notes, trying again in {} s: {e}",
                        again.as_secs()
                    );
                    return again;
                }
            }
            self.backoff.reset();
            self.rescan_at = None;
        }
        let root = &self.root;
        let has_changed =
            self.named.iter_mut().filter_map(|named| named.find(root).then_some(())).count() > 0;
        let is_due = self.rescan_at.is_none_or(|at| at <= Instant::now());
        if self.is_told.swap(false, Ordering::Relaxed) || has_changed || is_due {
            if let Some(handle) = handle {
                self.watch(handle);
            }
            self.compare();
            self.rescan_at = Some(Instant::now() + RESCAN);
        }
        if self.named.iter().all(|named| named.is_there) { RESCAN } else { POLL }
    }

    /// Watches the directories that exist now.
    fn watch(&mut self, handle: &WorkerHandle) {
        let directories = self.directories();
        self.watched.retain(|(directory, _)| directories.contains(directory));
        for directory in directories {
            if self.watched.iter().all(|(known, _)| *known != directory) {
                let (wake, is_told) = (handle.clone(), self.is_told.clone());
                let tell = move || {
                    is_told.store(true, Ordering::Relaxed);
                    wake.request();
                };
                self.watched
                    .push((directory.clone(), DirectoryWatcher::new(&directory, DEBOUNCE, tell)));
            }
        }
        for (directory, watcher) in &mut self.watched {
            if let Err(e) = watcher.renew() {
                tracing::debug!("cannot watch {}, polling instead: {e}", directory.display());
            }
        }
    }

    /// Stores a file if its content differs from the stored one. Returns the new memories; none if
    /// the file is gone.
    ///
    /// # Errors
    /// When the file cannot be read, is not text, or cannot be stored. Its stored pieces stay then.
    fn process_file(
        capture: &MemoryCaptureService,
        notes: &Notes,
        path: &Path,
    ) -> Result<Option<Vec<Uuid>>, WatcherError> {
        let bytes = match notes.base.read(path, MAX_NOTE) {
            // The file was deleted after its folder was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|source| WatcherError::ReadFailed { source })?,
        };
        let path = notes.base.full(path);
        let captured = capture.capture_file(&path.to_string_lossy(), &bytes, "");
        captured.map_err(|source| WatcherError::CaptureFailed { path, source })
    }

    /// Compares all existing notes with the stored ones.
    fn compare(&mut self) {
        let Some(capture) = self.capture.clone() else { return };
        let mut done = self.statistics;
        let files = self.files();
        for (notes, file) in files.values() {
            match Self::process_file(&capture, notes, file) {
                Ok(new) => done.processed += usize::from(new.is_some()),
                Err(e) => {
                    done.failed += 1;
                    tracing::warn!("{e}");
                }
            }
        }
        let known = capture.store().file_hashes().unwrap_or_default();
        let is_gone = |path: &Path| {
            let inside =
                self.notes().filter(|notes| path.starts_with(notes.base.full(&notes.path)));
            let mut there = inside
                .map(|notes| {
                    path.strip_prefix(notes.base.path()).is_ok_and(|p| notes.base.has_file(p))
                })
                .peekable();
            there.peek().is_some() && !there.any(|there| there)
        };
        for path in
            known.keys().filter(|p| !files.contains_key(Path::new(p)) && is_gone(Path::new(p)))
        {
            let episode = Episode {
                operation: Some(Operation::Delete),
                origin_path: Some(path.clone()),
                ..Episode::of(EpisodeSource::FilesystemWatch)
            };
            let event = Memory::new(format!("delete {path}"), MemorySource::Episode(episode), "");
            let deleted = capture.store().delete_by_file_path(path).map_err(CaptureError::from);
            match deleted.and_then(|_| capture.capture(event)) {
                Ok(_) => done.deleted += 1,
                Err(e) => tracing::warn!("cannot record that {path} was deleted: {e}"),
            }
        }
        self.statistics = done;
    }

    /// Returns the followed folders and files.
    fn notes(&self) -> impl Iterator<Item = &Notes> {
        self.named.iter().filter_map(|named| named.notes.as_ref())
    }

    fn directories(&self) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::new();
        for notes in self.notes() {
            let full = notes.base.full(&notes.path);
            if !matches!(notes.base.stat(&notes.path), Ok(Some(stat)) if stat.kind == FileKind::Directory)
            {
                all.extend(full.parent().map(Path::to_path_buf));
                continue;
            }
            notes.walk(&mut |path, kind| {
                if kind == FileKind::Directory {
                    all.insert(notes.base.full(path));
                }
            });
        }
        all
    }

    /// Returns every existing note by its full path.
    fn files(&self) -> BTreeMap<PathBuf, (&Notes, PathBuf)> {
        let mut all = BTreeMap::new();
        for notes in self.notes() {
            notes.walk(&mut |path, kind| {
                if kind == FileKind::File
                    && path.extension().is_some_and(|e| e.eq_ignore_ascii_case("md"))
                {
                    all.insert(notes.base.full(path), (notes, path.to_path_buf()));
                }
            });
        }
        all
    }
}

impl FollowedPath {
    /// Looks for the folder; returns true if it appeared or disappeared since the last look.
    fn find(&mut self, root: &SharedDir) -> bool {
        let was_there = self.is_there;
        let why = match Notes::new(&self.path, root) {
            Ok(notes) => {
                (self.notes, self.is_there) = (Some(notes), true);
                None
            }
            Err(source) => {
                self.is_there = false;
                Some(match source.kind() {
                    ErrorKind::NotFound => WatcherError::PathNotFound { path: self.path.clone() },
                    _ => WatcherError::ReadFailed { source },
                })
            }
        };
        let told = why.as_ref().map(ToString::to_string);
        match &why {
            Some(why) if self.told == told => tracing::trace!("{why}"),
            // Most projects have no notes.
            Some(why @ WatcherError::PathNotFound { .. }) => tracing::debug!("{why}"),
            Some(why) => tracing::warn!("{}: {why}", self.path.display()),
            None => {}
        }
        self.told = told;
        was_there != self.is_there
    }
}

impl Notes {
    #[expect(clippy::disallowed_methods, reason = "notes that the user named")]
    fn new(path: &Path, root: &SharedDir) -> io::Result<Self> {
        let notes = match path.strip_prefix(root.path()) {
            // A path with `..` is not inside the project.
            Ok(inside)
                if inside.file_name().is_some()
                    && inside.components().all(|c| c != Component::ParentDir) =>
            {
                Self { base: root.clone(), path: inside.to_path_buf() }
            }
            _ => {
                let path = std::fs::canonicalize(path)?;
                let (above, name) =
                    path.parent().zip(path.file_name()).ok_or(ErrorKind::NotFound)?;
                Self { base: Arc::new(Dir::open(above)?), path: name.into() }
            }
        };
        match notes.base.stat(&notes.path)?.ok_or(ErrorKind::NotFound)?.kind {
            FileKind::Directory => drop(notes.base.dir(&notes.path)?),
            // Opening a link gives the reason why it is not followed.
            _ => drop(notes.base.open_file(&notes.path)?),
        }
        Ok(notes)
    }

    /// Visits everything at and below it except links, pipes and devices.
    fn walk(&self, visit: &mut impl FnMut(&Path, FileKind)) {
        if let Ok(Some(stat)) = self.base.stat(&self.path) {
            self.walk_from(&self.path, stat.kind, 0, visit);
        }
    }

    fn walk_from(
        &self,
        path: &Path,
        kind: FileKind,
        depth: usize,
        visit: &mut impl FnMut(&Path, FileKind),
    ) {
        visit(path, kind);
        if kind == FileKind::Directory && depth < MAX_DEPTH {
            for (name, kind) in self.base.dir(path).and_then(|dir| dir.list()).unwrap_or_default() {
                self.walk_from(&path.join(name), kind, depth + 1, visit);
            }
        }
    }
}

/// Returns the folder where Claude Code keeps its notes on a project, below the user's home.
#[must_use]
pub fn notes_of_agents(root: &Path, home: &Path) -> PathBuf {
    let project: String = root
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    home.join(".claude/projects").join(project).join("memory")
}
