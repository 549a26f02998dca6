//! The locks: operating-system locks on files, released by death.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use super::Layout;

const POLL: Duration = Duration::from_millis(20);

/// Held while chunk files are written; dropping it releases it.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

/// Held for life by the one process that watches the source tree.
#[derive(Debug)]
pub struct LeaderLock {
    _file: File,
}

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another cortex process is writing this index and did not finish within {waited_s} s: try again, or end that process")]
    Busy { waited_s: u64 },
    #[error("{}: the lock cannot be taken", path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl WriteLock {
    /// Waits for the lock until `deadline` has passed.
    ///
    /// # Errors
    /// When another process keeps it, or the lock file cannot be opened.
    pub fn acquire(layout: &Layout, deadline: Duration) -> Result<Self, LockError> {
        let start = Instant::now();
        loop {
            if let Some(file) = try_lock(layout, &layout.write_lock())? {
                return Ok(Self { _file: file });
            }
            if start.elapsed() >= deadline {
                return Err(LockError::Busy { waited_s: deadline.as_secs() });
            }
            thread::sleep(POLL);
        }
    }

    /// Whether some process holds the lock now.
    #[must_use]
    pub fn is_held(layout: &Layout) -> bool {
        is_held(&layout.write_lock())
    }
}

impl LeaderLock {
    /// Takes the lock; `None` when another process leads.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn try_acquire(layout: &Layout) -> Result<Option<Self>, LockError> {
        Ok(try_lock(layout, &layout.leader_lock())?.map(|file| Self { _file: file }))
    }

    /// Whether some process leads.
    #[must_use]
    pub fn is_held(layout: &Layout) -> bool {
        is_held(&layout.leader_lock())
    }
}

fn try_lock(layout: &Layout, path: &Path) -> Result<Option<File>, LockError> {
    fs::create_dir_all(layout.dot_cortex()).map_err(|source| LockError::Unusable { path: layout.dot_cortex(), source })?;
    let unusable = |source| LockError::Unusable { path: path.to_path_buf(), source };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
