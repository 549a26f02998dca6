//! Markdown files outside the index (an agent's own notes) as memories: chunked anew when they change, forgotten when they go.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use uuid::Uuid;

use super::{CaptureError, Episode, EpisodeSource, Memory, MemoryCaptureService, MemorySource, Operation};
use crate::dir::{Dir, Kind, SharedDir};
use crate::source::DirectoryWatcher;
use crate::worker::{Asking, Worker};

/// How long a folder must be quiet.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// How often it is looked at unasked.
const RESCAN: Duration = Duration::from_mins(5);
/// How deep folders are looked into.
const MAX_DEPTH: usize = 8;
/// A larger file is no note.
const MAX_NOTE: u64 = 8 << 20;

/// Watches folders and files; remembers every `.md` in them.
pub struct MDFileWatcher {
    notes: Vec<Notes>,
    capture: MemoryCaptureService,
    worker: Option<Worker>,
    statistics: Arc<Mutex<Statistics>>,
}

/// A folder or file of notes, and all below it. No link at or below it is followed.
#[derive(Debug, Clone)]
struct Notes {
    base: SharedDir,
    /// Relative to `base`.
    path: PathBuf,
}

/// What a watcher did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Files that were chunked, because they were new or had changed.
    pub processed: usize,
    /// Files that were gone.
    pub deleted: usize,
    /// Files that could not be read or stored.
    pub failed: usize,
}

/// Why files are not watched, or one of them is not remembered.
#[derive(Debug, thiserror::Error)]
pub enum WatcherError {
    #[error("{}: there is nothing to watch", path.display())]
    PathNotFound { path: PathBuf },
    #[error("files cannot be watched: {message}")]
    WatchFailed { message: String },
    #[error("a note cannot be read: {source}")]
    ReadFailed { source: io::Error },
    #[error("{}: {source}", path.display())]
    CaptureFailed { path: PathBuf, source: CaptureError },
}

impl MDFileWatcher {
    /// Watches nothing yet. Paths below `root` are the project's, and no link among their names is followed; the user named all others.
    ///
    /// # Errors
    /// When a path is not there, or a link of the project.
    pub fn new(paths: Vec<PathBuf>, root: &SharedDir, capture: MemoryCaptureService) -> Result<Self, WatcherError> {
        let notes = paths.into_iter().map(|path| Notes::new(&path, root).map_err(|source| Self::not_watched(path, source)));
        Ok(Self { notes: notes.collect::<Result<_, _>>()?, capture, worker: None, statistics: Arc::default() })
    }

    fn not_watched(path: PathBuf, source: io::Error) -> WatcherError {
        if source.kind() == ErrorKind::NotFound { WatcherError::PathNotFound { path } } else { WatcherError::ReadFailed { source } }
    }

    /// Looks at all files now, on a thread of its own, and whenever something changes. What goes wrong is logged and ends nothing.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(&mut self) -> Result<(), WatcherError> {
        let this = Self { notes: self.notes.clone(), capture: self.capture.clone(), worker: None, statistics: self.statistics.clone() };
        let mut watched: Vec<(PathBuf, DirectoryWatcher)> = Vec::new();
        let job = move |asking: &Asking| {
            let directories = this.directories();
            watched.retain(|(directory, _)| directories.contains(directory));
            for directory in directories {
                if watched.iter().all(|(known, _)| *known != directory) {
                    let wake = asking.clone();
                    let tell = move || {
                        wake.now();
                    };
                    watched.push((directory.clone(), DirectoryWatcher::new(&directory, DEBOUNCE, tell)));
                }
            }
            for (directory, watcher) in &mut watched {
                if let Err(e) = watcher.renew() {
                    tracing::debug!("{} is looked at now and then: {e}", directory.display());
                }
            }
            this.scan();
            RESCAN
        };
        let worker = Worker::spawn("notes", job).map_err(|e| WatcherError::WatchFailed { message: e.to_string() })?;
        worker.asking().now();
        self.worker = Some(worker);
        Ok(())
    }

    /// Ends the thread after what it is doing, and returns what was done in all.
    pub fn stop(&mut self) -> Statistics {
        self.worker = None;
        let statistics = *self.statistics.lock();
        tracing::debug!(?statistics, "notes are no longer watched");
        statistics
    }

    /// Remembers a file, if its content is not the one that is remembered. Returns the new memories; none when it is gone.
    ///
    /// # Errors
    /// When it cannot be read, is no text, or cannot be stored: then what was remembered of it stays.
    fn process_file(&self, notes: &Notes, path: &Path) -> Result<Vec<Uuid>, WatcherError> {
        let bytes = match notes.base.read(path, MAX_NOTE) {
            // It was there when its folder was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes.map_err(|source| WatcherError::ReadFailed { source })?,
        };
        let path = notes.base.full(path);
        let captured = self.capture.capture_file(&path.to_string_lossy(), &bytes, "");
        let new = captured.map_err(|source| WatcherError::CaptureFailed { path, source })?;
        if new.is_some() {
            self.count(|s| s.processed += 1);
        }
        Ok(new.unwrap_or_default())
    }

    fn count(&self, add: impl FnOnce(&mut Statistics)) {
        add(&mut self.statistics.lock());
    }

    /// Compares everything that is there with everything that is remembered.
    pub fn scan(&self) {
        let files = self.files();
        for (notes, file) in files.values() {
            if let Err(e) = self.process_file(notes, file) {
                self.count(|s| s.failed += 1);
                tracing::warn!("{e}");
            }
        }
        let known = self.capture.store().file_hashes().unwrap_or_default();
        let is_gone = |path: &Path| {
            let inside = self.notes.iter().filter(|notes| path.starts_with(notes.base.full(&notes.path)));
            let mut there = inside.map(|notes| path.strip_prefix(notes.base.path()).is_ok_and(|p| notes.base.has_file(p))).peekable();
            there.peek().is_some() && !there.any(|there| there)
        };
        for path in known.keys().filter(|p| !files.contains_key(Path::new(p)) && is_gone(Path::new(p))) {
            let episode = Episode {
                source: EpisodeSource::FilesystemWatch,
                operation: Some(Operation::Delete),
                origin_path: Some(path.clone()),
                git_batch_id: None,
            };
            let event = Memory::new(format!("delete {path}"), MemorySource::Episode(episode), "");
            match self.capture.delete_by_file_path(path).and_then(|_| self.capture.capture(event)) {
                Ok(_) => self.count(|s| s.deleted += 1),
                Err(e) => tracing::warn!("{path}: {e}"),
            }
        }
    }

    fn directories(&self) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::new();
        for notes in &self.notes {
            let full = notes.base.full(&notes.path);
            if !matches!(notes.base.stat(&notes.path), Ok(Some(stat)) if stat.kind == Kind::Directory) {
                all.extend(full.parent().map(Path::to_path_buf));
                continue;
            }
            notes.walk(&mut |path, kind| {
                if kind == Kind::Directory {
                    all.insert(notes.base.full(path));
                }
            });
        }
        all
    }

    /// Every note that is there, by its full path.
    fn files(&self) -> BTreeMap<PathBuf, (&Notes, PathBuf)> {
        let mut all = BTreeMap::new();
        for notes in &self.notes {
            notes.walk(&mut |path, kind| {
                if kind == Kind::File && path.extension().is_some_and(|e| e.eq_ignore_ascii_case("md")) {
                    all.insert(notes.base.full(path), (notes, path.to_path_buf()));
                }
            });
        }
        all
    }
}

impl Notes {
    fn new(path: &Path, root: &SharedDir) -> io::Result<Self> {
        let notes = match path.strip_prefix(root.path()) {
            // A path with `..` is not a project's to name.
            Ok(inside) if inside.file_name().is_some() && inside.components().all(|c| c != Component::ParentDir) => {
                Self { base: root.clone(), path: inside.to_path_buf() }
            }
            _ => {
                let path = std::fs::canonicalize(path)?;
                let (above, name) = path.parent().zip(path.file_name()).ok_or(ErrorKind::NotFound)?;
                Self { base: Arc::new(Dir::open(above)?), path: name.into() }
            }
        };
        match notes.base.stat(&notes.path)?.ok_or(ErrorKind::NotFound)?.kind {
            Kind::Directory => drop(notes.base.dir(&notes.path)?),
            // Opening a link says why it is not followed.
            _ => drop(notes.base.open_file(&notes.path)?),
        }
        Ok(notes)
    }

    /// Everything at and below it, but for links, pipes and devices.
    fn walk(&self, visit: &mut impl FnMut(&Path, Kind)) {
        if let Ok(Some(stat)) = self.base.stat(&self.path) {
            self.walk_from(&self.path, stat.kind, 0, visit);
        }
    }

    fn walk_from(&self, path: &Path, kind: Kind, depth: usize, visit: &mut impl FnMut(&Path, Kind)) {
        visit(path, kind);
        if kind == Kind::Directory && depth < MAX_DEPTH {
            for (name, kind) in self.base.dir(path).and_then(|dir| dir.list()).unwrap_or_default() {
                self.walk_from(&path.join(name), kind, depth + 1, visit);
            }
        }
    }
}

/// Where an agent keeps its own notes of a project, as far as that is there: Claude Code's, below the user's home.
#[must_use]
pub fn notes_of_agents(root: &Path, home: &Path) -> Vec<PathBuf> {
    let project: String = root.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let notes = home.join(".claude/projects").join(project).join("memory");
    Some(notes).filter(|p| p.is_dir()).into_iter().collect()
}
