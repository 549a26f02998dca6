//! What the process that indexes is at, for all the others: a small file that counts only while that process lives.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::layout::next_path;
use super::lock::LeaderLock;
use super::{Layout, WriteLock};

/// How often the file is written while numbers change.
const INTERVAL: Duration = Duration::from_millis(100);

/// Files that the index does not hold yet as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Of the run that is under way: files that are parsed and embedded, of those that must be.
    pub done: usize,
    pub total: usize,
    /// Paths that changed and wait for the next run.
    pub queued: usize,
}

impl Activity {
    /// Files known to have changed since the generation that is served was written.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.total + self.queued
    }

    /// What a living process says; nothing to do when none says anything.
    #[must_use]
    pub fn read(layout: &Layout) -> Self {
        let Ok(bytes) = fs::read(layout.activity()) else { return Self::default() };
        if LeaderLock::is_held(layout) || WriteLock::is_held(layout) {
            // Somebody else's file, or half a one, says nothing.
            serde_json::from_slice(&bytes).unwrap_or_default()
        } else {
            Self::default()
        }
    }
}

/// Tells what this process is at.
#[derive(Debug)]
pub struct Announcer {
    layout: Layout,
    told: Mutex<(Activity, Option<Instant>)>,
}

impl Announcer {
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self { layout, told: Mutex::new((Activity::default(), None)) }
    }

    /// Says what changes. Failing to say it harms nobody.
    pub fn update(&self, change: impl FnOnce(&mut Activity)) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.0;
        change(&mut told.0);
        let now = told.0;
        if now == before {
            return;
        }
        let path = self.layout.activity();
        if now == Activity::default() {
            let _ = fs::remove_file(path);
            told.1 = None;
        } else if told.1.is_none_or(|at| at.elapsed() >= INTERVAL) {
            let json = serde_json::to_vec(&now).unwrap_or_default();
            let _ = fs::write(next_path(&path), json).and_then(|()| fs::rename(next_path(&path), &path));
            told.1 = Some(Instant::now());
        }
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        self.update(|a| *a = Activity::default());
    }
}
