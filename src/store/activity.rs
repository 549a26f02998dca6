//! The progress of the indexing process, for all other processes: two small files. Each belongs to
//! the holder of a lock and is ignored unless that lock is held.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::layout::{QUEUE, RUN};
use super::lock::LeaderLock;
use super::{Layout, WriteLock};

/// Largest such file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 12;
/// Least time between two writes of a file while the numbers change.
const INTERVAL: Duration = Duration::from_millis(100);

/// Numbers of files whose current state is not in the index yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Files that the current run has parsed and embedded, out of `total`.
    pub done: usize,
    pub total: usize,
    /// Paths that changed and wait for the next run.
    pub queued: usize,
}

/// The progress of the run that holds the write lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    done: usize,
    total: usize,
}

impl Activity {
    /// Returns the number of files known to have changed since the last generation was written.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.total + self.queued
    }

    /// Reads what running processes announce. The numbers are 0 if no process announces anything.
    #[must_use]
    pub fn read(layout: &Layout) -> Self {
        // Ignore half a file, or one whose writer died.
        let run = layout.read(RUN, MAX_BYTES).ok().filter(|_| WriteLock::is_held(layout));
        let Run { done, total } =
            run.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let queue = layout.read(QUEUE, MAX_BYTES).ok().filter(|_| LeaderLock::is_held(layout));
        let queued =
            queue.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { done, total, queued }
    }
}

/// Announces the progress of this process, as long as it holds the lock that was given to the
/// constructor. Dropping it removes the file.
#[derive(Debug)]
pub struct Announcement {
    layout: Layout,
    name: &'static str,
    /// The last announcement, and when it was written.
    said: Mutex<(Vec<u8>, Option<Instant>)>,
}

impl Announcement {
    /// Announces an index run.
    #[must_use]
    pub fn of_run(layout: &Layout, _: &WriteLock) -> Self {
        Self::new(layout, RUN)
    }

    /// Announces what waits to be indexed.
    #[must_use]
    pub fn of_queue(layout: &Layout, _: &LeaderLock) -> Self {
        Self::new(layout, QUEUE)
    }

    fn new(layout: &Layout, name: &'static str) -> Self {
        Self { layout: layout.clone(), name, said: Mutex::default() }
    }

    /// Announces that `done` of the `total` files of a run are finished.
    pub fn progress(&self, done: usize, total: usize) {
        self.say(&Run { done, total });
    }

    /// Announces that `n` paths wait.
    pub fn queued(&self, n: usize) {
        self.say(&n);
    }

    /// Writes the file unless it was written less than [`INTERVAL`] ago, or removes it if there is
    /// nothing to announce. Errors are ignored, since they harm nothing.
    fn say<T: Serialize + Default + PartialEq>(&self, what: &T) {
        let json = if *what == T::default() {
            Vec::new()
        } else {
            serde_json::to_vec(what).unwrap_or_default()
        };
        let mut said = self.said.lock();
        if said.0 == json {
            return;
        }
        if json.is_empty() {
            let _ = self.layout.remove(self.name);
            *said = (json, None);
        } else if said.1.is_none_or(|at| at.elapsed() >= INTERVAL) {
            let _ = self.layout.replace(self.name, &json);
            *said = (json, Some(Instant::now()));
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = self.layout.remove(self.name);
    }
}
