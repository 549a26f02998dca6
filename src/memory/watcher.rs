//! Markdown files outside the index (an agent's own notes) as memories: chunked anew when they change, forgotten when they go.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use uuid::Uuid;

use super::{CaptureError, Episode, EpisodeSource, Memory, MemoryCaptureService, MemorySource, Operation};
use crate::source::DirectoryWatcher;
use crate::worker::{Asking, Worker, locked};

/// How long a folder must be quiet.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// How often it is looked at unasked.
const RESCAN: Duration = Duration::from_mins(5);
/// How deep folders are looked into.
const MAX_DEPTH: usize = 8;

/// Watches folders and files; remembers every `.md` in them.
pub struct MDFileWatcher {
    paths: Vec<PathBuf>,
    capture: MemoryCaptureService,
    worker: Option<Worker>,
    statistics: Arc<Mutex<Statistics>>,
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
    #[error("{}: cannot be read: {source}", path.display())]
    ReadFailed { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    CaptureFailed { path: PathBuf, source: CaptureError },
}

impl MDFileWatcher {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// When a path is not there.
    pub fn new(paths: Vec<PathBuf>, capture: MemoryCaptureService) -> Result<Self, WatcherError> {
        let paths = paths.into_iter().map(|path| fs::canonicalize(&path).map_err(|_| WatcherError::PathNotFound { path }));
        Ok(Self { paths: paths.collect::<Result<_, _>>()?, capture, worker: None, statistics: Arc::default() })
    }

    /// Looks at all files now, on a thread of its own, and whenever something changes. What goes wrong is logged and ends nothing.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(&mut self) -> Result<(), WatcherError> {
        let this = Self { paths: self.paths.clone(), capture: self.capture.clone(), worker: None, statistics: self.statistics.clone() };
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
        let statistics = *locked(&self.statistics);
        tracing::debug!(?statistics, "notes are no longer watched");
        statistics
    }

    /// Remembers a file, if its content is not the one that is remembered. Returns the new memories.
    ///
    /// # Errors
    /// When it cannot be read, is no text, or cannot be stored: then what was remembered of it stays.
    pub fn process_file(&self, path: &Path) -> Result<Vec<Uuid>, WatcherError> {
        let bytes = fs::read(path).map_err(|source| WatcherError::ReadFailed { path: path.into(), source })?;
        let captured = self.capture.capture_file(&path.to_string_lossy(), &bytes, "");
        let new = captured.map_err(|source| WatcherError::CaptureFailed { path: path.into(), source })?;
        if new.is_some() {
            self.count(|s| s.processed += 1);
        }
        Ok(new.unwrap_or_default())
    }

    fn count(&self, add: impl FnOnce(&mut Statistics)) {
        add(&mut locked(&self.statistics));
    }

    /// Compares everything that is there with everything that is remembered.
    pub fn scan(&self) {
        let files = self.files();
        for file in &files {
            if let Err(e) = self.process_file(file) {
                self.count(|s| s.failed += 1);
                tracing::warn!("{e}");
            }
        }
        let known = self.capture.store().file_hashes().unwrap_or_default();
        let is_ours = |path: &Path| self.paths.iter().any(|p| path.starts_with(p));
        for path in known.keys().filter(|p| is_ours(Path::new(p)) && !files.contains(Path::new(p)) && !Path::new(p).exists()) {
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
        for path in &self.paths {
            if path.is_dir() {
                walk(path, 0, &mut |directory, is_directory| {
                    if is_directory {
                        all.insert(directory.to_path_buf());
                    }
                });
            } else if let Some(parent) = path.parent() {
                all.insert(parent.to_path_buf());
            }
        }
        all
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::new();
        for path in &self.paths {
            walk(path, 0, &mut |file, is_directory| {
                if !is_directory && file.extension().is_some_and(|e| e.eq_ignore_ascii_case("md")) {
                    all.insert(file.to_path_buf());
                }
            });
        }
        all
    }
}

/// Everything at and below a path, but for links.
fn walk(path: &Path, depth: usize, visit: &mut impl FnMut(&Path, bool)) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    visit(path, metadata.is_dir());
    if metadata.is_dir() && depth < MAX_DEPTH {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), depth + 1, visit);
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
