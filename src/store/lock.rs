//! The write lock: an operating-system lock, released by death.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use super::Layout;

const POLL: Duration = Duration::from_millis(20);

/// Held while chunk files are written; dropping it releases it.
#[derive(Debug)]
pub struct WriteLock {
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
        let unusable = |source| LockError::Unusable { path: path.clone(), source };
        fs::create_dir_all(layout.dot_cortex()).map_err(|source| LockError::Unusable { path: layout.dot_cortex(), source })?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(unusable)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() >= deadline => {
                    return Err(LockError::Busy { waited_s: deadline.as_secs() });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(POLL),
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
            }
        }
    }

    /// Whether some process holds the lock now.
    #[must_use]
    pub fn is_held(layout: &Layout) -> bool {
        File::open(layout.write_lock()).is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
