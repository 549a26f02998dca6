//! What the process that indexes is at, for all the others: two small files, each of whoever holds a lock, and worth nothing
//! without it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::layout::{QUEUE, RUN};
use super::lock::LeaderLock;
use super::{Layout, WriteLock};

/// What such a file holds at most, in bytes.
const MAX_BYTES: u64 = 1 << 12;
/// How often a file is written while numbers change.
const INTERVAL: Duration = Duration::from_millis(100);

/// Files that the index does not hold yet as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Of the run that is under way: files that are parsed and embedded, of those that must be.
    pub done: usize,
    pub total: usize,
    /// Paths that changed and wait for the next run.
    pub queued: usize,
}

/// How far the run of the holder of the write lock is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    done: usize,
    total: usize,
}

impl Activity {
    /// Files known to have changed since the last generation was written.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.total + self.queued
    }

    /// What living processes say; nothing to do when none says anything.
    #[must_use]
    pub fn read(layout: &Layout) -> Self {
        // Half a file, or somebody else's, says nothing.
        let run = layout.read(RUN, MAX_BYTES).ok().filter(|_| WriteLock::is_held(layout));
        let Run { done, total } = run.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let queue = layout.read(QUEUE, MAX_BYTES).ok().filter(|_| LeaderLock::is_held(layout));
        let queued = queue.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { done, total, queued }
    }
}

/// Tells what this process is at, as long as it holds the lock that it was made with.
#[derive(Debug)]
pub struct Announcement {
    layout: Layout,
    name: &'static str,
    /// What was said last, and when it was written.
    said: Mutex<(Vec<u8>, Option<Instant>)>,
}

impl Announcement {
    /// Of an index run.
    #[must_use]
    pub fn of_run(layout: &Layout, _: &WriteLock) -> Self {
        Self::new(layout, RUN)
    }

    /// Of what waits to be indexed.
    #[must_use]
    pub fn of_queue(layout: &Layout, _: &LeaderLock) -> Self {
        Self::new(layout, QUEUE)
    }

    fn new(layout: &Layout, name: &'static str) -> Self {
        Self { layout: layout.clone(), name, said: Mutex::default() }
    }

    /// So many files of a run are done.
    pub fn progress(&self, done: usize, total: usize) {
        self.say(&Run { done, total });
    }

    /// So many paths wait.
    pub fn queued(&self, n: usize) {
        self.say(&n);
    }

    /// Failing to say it harms nobody.
    fn say<T: Serialize + Default + PartialEq>(&self, what: &T) {
        let json = if *what == T::default() { Vec::new() } else { serde_json::to_vec(what).unwrap_or_default() };
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
