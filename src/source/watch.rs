//! Watches directories for changes. This is the only module that names notify.
//!
//! An event says that something changed somewhere; the receiver looks at the tree to find out what.
//! Reading does not count as a change: the system reports opened files too, so a process that reads
//! what it watches would wake itself for ever.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use notify_debouncer_mini::notify::{
    self, Event, EventHandler, EventKind, RecommendedWatcher, RecursiveMode, Watcher, WatcherKind,
    event::{AccessKind, AccessMode},
};
use notify_debouncer_mini::{Config, DebounceEventResult, Debouncer, new_debouncer_opt};

use crate::platform::FileIdentity;

/// A change in a watched directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeChange {
    /// These paths were created, written, renamed or removed, or their metadata changed.
    Paths(Vec<PathBuf>),
    /// Events were lost, so anything may have changed.
    Unknown,
}

/// Why a directory is not watched.
#[derive(Debug, thiserror::Error)]
pub enum NotWatched {
    /// This directory cannot be watched, for example because it cannot be read.
    #[error("{0}")]
    This(String),
    /// The system allows no further watches.
    #[error("{0}")]
    Any(String),
}

/// Watches directories, each without those below it, and reports every change at once.
pub struct ChangeWatcher {
    watcher: RecommendedWatcher,
}

/// Watches one directory, and reports changes after it has been quiet for a while. The directory
/// may be missing, or be removed and created again: [`DirectoryWatcher::renew`] finds the new one.
pub struct DirectoryWatcher {
    directory: PathBuf,
    quiet: Duration,
    tell: Arc<dyn Fn() + Send + Sync>,
    /// The watched directory, as the system identifies it.
    watching: Option<(Identity, Debouncer<WriteWatcher>)>,
}

/// Identifies a directory among those that had one path: device, inode and time of creation.
type Identity = ((u64, u64), Option<SystemTime>);

impl ChangeWatcher {
    /// Creates a watcher of no directories. `tell` runs on the watcher's thread.
    ///
    /// # Errors
    /// When the system gives no more watchers. The message says what to do.
    pub fn new(mut tell: impl FnMut(TreeChange) + Send + 'static) -> Result<Self, String> {
        let handler = move |event: notify::Result<Event>| match event {
            Ok(event) if event.need_rescan() => tell(TreeChange::Unknown),
            Ok(event) if is_write(&event) => tell(TreeChange::Paths(event.paths)),
            Ok(_) => {}
            Err(_) => tell(TreeChange::Unknown),
        };
        let watcher =
            RecommendedWatcher::new(handler, notify::Config::default().with_follow_symlinks(false))
                .map_err(|e| explain(&e))?;
        Ok(Self { watcher })
    }

    /// Watches one more directory.
    ///
    /// # Errors
    /// When the system does not let this directory be watched, or allows no more watches. The
    /// message says what to do.
    #[expect(clippy::disallowed_methods, reason = "watchers take paths; nothing is read")]
    pub fn watch(&mut self, directory: &Path) -> Result<(), NotWatched> {
        match self.watcher.watch(directory, RecursiveMode::NonRecursive) {
            // The directory was removed since it was listed, so there is nothing to watch.
            Err(_) if !directory.exists() => Ok(()),
            result => result.map_err(|e| NotWatched::new(&e)),
        }
    }

    /// Stops watching a directory.
    pub fn unwatch(&mut self, directory: &Path) {
        // The system forgets removed directories by itself.
        let _ = self.watcher.unwatch(directory);
    }
}

impl DirectoryWatcher {
    /// Creates a watcher that watches nothing yet. `tell` runs on a thread of the
    /// watcher, after nothing in the directory changed for `quiet`, or after each `quiet`
    /// while it continues to change.
    pub fn new(directory: &Path, quiet: Duration, tell: impl Fn() + Send + Sync + 'static) -> Self {
        Self { directory: directory.to_path_buf(), quiet, tell: Arc::new(tell), watching: None }
    }

    /// Watches the directory that is at the path now. If it is the watched
    /// one, this costs a `stat`.
    ///
    /// # Errors
    /// When there is no directory, or the system allows no more watchers. The
    /// message says what to do.
    #[expect(clippy::disallowed_methods, reason = "watchers take paths; nothing is read")]
    pub fn renew(&mut self) -> Result<(), String> {
        let found = fs::metadata(&self.directory).map_err(|e| e.to_string());
        let found = found.inspect_err(|_| self.watching = None)?;
        // A new directory may have the inode of the removed one.
        let identity = (FileIdentity::of(&found).id, found.created().ok());
        if self.watching.as_ref().is_some_and(|(watched, _)| *watched == identity) {
            return Ok(());
        }
        self.watching = None;
        let tell = self.tell.clone();
        let handler = move |_: DebounceEventResult| tell();
        let config = Config::default().with_timeout(self.quiet);
        let mut debouncer =
            new_debouncer_opt::<_, WriteWatcher>(config, handler).map_err(|e| explain(&e))?;
        debouncer
            .watcher()
            .watch(&self.directory, RecursiveMode::NonRecursive)
            .map_err(|e| explain(&e))?;
        self.watching = Some((identity, debouncer));
        // Changes before the watch began were not reported.
        (self.tell)();
        Ok(())
    }
}

/// Whether the event means that something may have changed.
fn is_write(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

impl NotWatched {
    fn new(e: &notify::Error) -> Self {
        match &e.kind {
            notify::ErrorKind::Io(io) if io.kind() != io::ErrorKind::OutOfMemory => {
                Self::This(explain(e))
            }
            _ => Self::Any(explain(e)),
        }
    }
}

fn explain(e: &notify::Error) -> String {
    use notify::ErrorKind;
    let advice = match &e.kind {
        ErrorKind::MaxFilesWatch => "; raise the limit: sysctl fs.inotify.max_user_watches=524288",
        // EMFILE: too many instances.
        ErrorKind::Io(io) if io.raw_os_error() == Some(24) => {
            "; raise the limit: sysctl fs.inotify.max_user_instances=1024"
        }
        _ => "",
    };
    format!("{e}{advice}")
}

/// The system's watcher without events of reading. Lost events are passed on as
/// an error, without delay.
#[derive(Debug)]
struct WriteWatcher(RecommendedWatcher);

impl Watcher for WriteWatcher {
    fn new<F: EventHandler>(mut handler: F, config: notify::Config) -> notify::Result<Self> {
        let filter = move |event: notify::Result<Event>| match event {
            Ok(event) if event.need_rescan() => {
                handler.handle_event(Err(notify::Error::generic("events were lost")));
            }
            Ok(event) if !is_write(&event) => {}
            event => handler.handle_event(event),
        };
        RecommendedWatcher::new(filter, config).map(Self)
    }

    fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
        self.0.watch(path, mode)
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        self.0.unwatch(path)
    }

    fn kind() -> WatcherKind {
        RecommendedWatcher::kind()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn writing_is_told_and_reading_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (file, marker) = (dir.path().join("a"), dir.path().join("marker"));
        std::fs::write(&file, "x").unwrap();
        let (tx, rx) = mpsc::channel();
        let mut watcher = ChangeWatcher::new(move |change| tx.send(change).unwrap()).unwrap();
        watcher.watch(dir.path()).unwrap();
        std::fs::read(&file).unwrap();
        std::fs::write(&marker, "y").unwrap();
        let TreeChange::Paths(paths) = rx.recv_timeout(LONG).unwrap() else {
            panic!("nothing was lost")
        };
        assert_eq!(paths, [marker], "reading `a` came before it and was not told");
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_told_from_having_too_many() {
        let io = |kind: io::ErrorKind| NotWatched::new(&notify::Error::io(kind.into()));
        assert!(matches!(io(io::ErrorKind::PermissionDenied), NotWatched::This(_)));
        assert!(matches!(io(io::ErrorKind::OutOfMemory), NotWatched::Any(_)));
        let e = NotWatched::new(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        assert!(matches!(e, NotWatched::Any(message) if message.contains("max_user_watches")));
    }

    #[test]
    fn a_directory_that_is_read_stays_quiet_and_one_that_is_written_tells() {
        let base = tempfile::tempdir().unwrap();
        let dir = base.path().join("chunks");
        let file = dir.join("a");
        let (tx, rx) = mpsc::channel();
        let read = file.clone();
        let tell = move || {
            // The reloader does the same: it reads what it watches.
            let _ = std::fs::read(&read);
            tx.send(()).unwrap();
        };
        let mut watcher = DirectoryWatcher::new(&dir, Duration::from_millis(20), tell);
        assert!(watcher.renew().is_err(), "it is not there yet");
        for _ in 0..2 {
            std::fs::create_dir(&dir).unwrap();
            watcher.renew().unwrap();
            rx.recv_timeout(LONG).expect("something may have happened before it was watched");
            std::fs::write(&file, "y").unwrap();
            rx.recv_timeout(LONG).expect("it was written");
            // One write may be reported more than once, but its own reading would wake it for ever.
            assert!(
                (0..50).any(|_| rx.recv_timeout(Duration::from_millis(300)).is_err()),
                "its own reading wakes it again"
            );
            watcher.renew().unwrap();
            // The directory is removed, and created again in the next round.
            std::fs::remove_dir_all(&dir).unwrap();
            rx.recv_timeout(LONG).expect("it was removed");
            while rx.recv_timeout(Duration::from_millis(100)).is_ok() {}
        }
    }
}
