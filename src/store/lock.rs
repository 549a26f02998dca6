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
    file: File,
}

/// Held by the one process that has vectors made of an embedder that takes its time, so that no text is sent twice.
#[derive(Debug)]
pub struct EmbedLock {
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
        let path = layout.write_lock();
        let file = open(layout, &path)?;
        let start = Instant::now();
        loop {
            if has_locked(&file, &path)? {
                // What one that died at its work said of it.
                let _ = fs::remove_file(layout.run());
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
        let path = layout.leader_lock();
        let file = open(layout, &path)?;
        if !has_locked(&file, &path)? {
            return Ok(None);
        }
        let _ = fs::remove_file(layout.queue());
        Ok(Some(Self { file }))
    }

    /// Whether the lock is still the one that others would try to take: not when `.cortex` was removed meanwhile.
    #[must_use]
    pub fn is_current(&self, layout: &Layout) -> bool {
        use std::os::unix::fs::MetadataExt;
        let of = |m: fs::Metadata| (m.dev(), m.ino());
        fs::metadata(layout.leader_lock()).ok().map(of) == self.file.metadata().ok().map(of)
    }

    /// Whether some process leads.
    #[must_use]
    pub fn is_held(layout: &Layout) -> bool {
        is_held(&layout.leader_lock())
    }
}

impl EmbedLock {
    /// Takes the lock; `None` when another process makes vectors.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn try_acquire(layout: &Layout) -> Result<Option<Self>, LockError> {
        let path = layout.embed_lock();
        let file = open(layout, &path)?;
        Ok(has_locked(&file, &path)?.then_some(Self { _file: file }))
    }
}

fn open(layout: &Layout, path: &Path) -> Result<File, LockError> {
    fs::create_dir_all(layout.dot_cortex()).map_err(|source| LockError::Unusable { path: layout.dot_cortex(), source })?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    file.map_err(|source| LockError::Unusable { path: path.to_path_buf(), source })
}

fn has_locked(file: &File, path: &Path) -> Result<bool, LockError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(LockError::Unusable { path: path.to_path_buf(), source }),
    }
}

fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
