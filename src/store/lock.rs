//! File locks of the operating system, which releases them when the process that holds them ends.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{io, thread};

use super::Layout;
use super::layout::{EMBED_LOCK, LEADER_LOCK, QUEUE, RUN, WRITE_LOCK};
use crate::dir::Stat;

const POLL: Duration = Duration::from_millis(20);

/// The lock that a process holds while it writes chunk files. Dropping it releases the lock.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

/// The lock that the leader, the one process that watches the source tree, holds for life.
#[derive(Debug)]
pub struct LeaderLock {
    file: File,
}

/// The lock of the one process that requests vectors from a slow embedder, so that no text is sent
/// twice.
#[derive(Debug)]
pub struct EmbedLock {
    _file: File,
}

/// Why a lock could not be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "another cortex process is writing this index and did not finish within {waited_s} s: try again, or end that process"
    )]
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
        let file = open(layout, WRITE_LOCK)?;
        let start = Instant::now();
        loop {
            if has_locked(&file, layout, WRITE_LOCK)? {
                // A writer that died may have left its progress behind.
                let _ = layout.remove(RUN);
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
        is_held(layout, WRITE_LOCK)
    }
}

impl LeaderLock {
    /// Tries to take the lock; returns `None` when another process is the leader.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn try_acquire(layout: &Layout) -> Result<Option<Self>, LockError> {
        let file = open(layout, LEADER_LOCK)?;
        if !has_locked(&file, layout, LEADER_LOCK)? {
            return Ok(None);
        }
        let _ = layout.remove(QUEUE);
        Ok(Some(Self { file }))
    }

    /// Whether the lock file is still the one that other processes would open. It is not if
    /// `.cortex` was removed in the meantime.
    #[must_use]
    pub fn is_current(&self, layout: &Layout) -> bool {
        let there = layout.stat(LEADER_LOCK).ok().flatten().map(|stat| stat.id);
        there.is_some() && there == Stat::of(&self.file).ok().map(|stat| stat.id)
    }

    /// Whether some process is the leader.
    #[must_use]
    pub fn is_held(layout: &Layout) -> bool {
        is_held(layout, LEADER_LOCK)
    }
}

impl EmbedLock {
    /// Tries to take the lock; returns `None` when another process makes vectors.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn try_acquire(layout: &Layout) -> Result<Option<Self>, LockError> {
        let file = open(layout, EMBED_LOCK)?;
        Ok(has_locked(&file, layout, EMBED_LOCK)?.then_some(Self { _file: file }))
    }
}

fn open(layout: &Layout, name: &str) -> Result<File, LockError> {
    layout.lock_file(name).map_err(|source| LockError::Unusable { path: layout.full(name), source })
}

fn has_locked(file: &File, layout: &Layout, name: &str) -> Result<bool, LockError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => {
            Err(LockError::Unusable { path: layout.full(name), source })
        }
    }
}

fn is_held(layout: &Layout, name: &str) -> bool {
    layout
        .open_file(name)
        .is_ok_and(|f| matches!(f.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
