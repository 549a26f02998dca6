//! Decides when to reload: on request, after a failure, and at intervals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{ChunkManager, resident_bytes};
use crate::chunk::Cancel;
use crate::search::HNSW_FROM;
use crate::worker::{Backoff, Worker, WorkerHandle};

/// Pause after a failure. It doubles with each further failure.
const RETRY: Duration = Duration::from_millis(100);
/// The share of chunks that must have changed before a server saves its indexes. A process that
/// starts later indexes the remaining changes itself.
const WORTH_SAVING: f64 = 0.1;
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Interval of unrequested looks for a missing HNSW graph. It is long, since only a reload can make
/// a graph necessary.
const NO_GRAPH: Duration = Duration::from_hours(24);

/// How much memory this process may use.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBudget {
    /// Limit of the resident bytes.
    pub bytes: u64,
    /// How long the resident bytes must exceed the limit before something is given up: freed memory
    /// returns to the system with a delay.
    pub patience: Duration,
}

/// Reloads a [`ChunkManager`] on its own thread. One reload runs, and at most one is pending. A
/// second thread builds the HNSW graphs of vectors, for which a reload must not wait.
pub struct Reloader {
    worker: Worker,
    _hnsw_builder: Worker,
    cancel: Arc<Cancel>,
    budget: Option<MemoryBudget>,
}

impl Reloader {
    /// Interval of unrequested reloads where file events wake the reloader. They make up for lost
    /// events, and read no chunk file that did not change.
    pub const RESCAN: Duration = Duration::from_secs(30);

    /// Starts the thread and the first reload. `after` is called after each reload with a handle
    /// that can request another one. It returns the time until the next unrequested reload.
    /// `budget` is the memory budget of this process.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        manager: Arc<ChunkManager>,
        budget: Option<MemoryBudget>,
        after: impl FnMut(&WorkerHandle) -> Duration + Send + 'static,
    ) -> io::Result<Self> {
        Self::with_hnsw_from(HNSW_FROM, manager, budget, after)
    }

    /// Starts the thread, and builds HNSW graphs from `n_vectors` vectors on.
    pub(super) fn with_hnsw_from(
        n_vectors: usize,
        manager: Arc<ChunkManager>,
        budget: Option<MemoryBudget>,
        mut after: impl FnMut(&WorkerHandle) -> Duration + Send + 'static,
    ) -> io::Result<Self> {
        let cancel = Arc::new(Cancel::new(false));
        let (served, reloaded, cancelled) = (manager.clone(), manager.clone(), cancel.clone());
        let hnsw_builder = Worker::spawn("graphs", move |_| {
            served.build_hnsw(n_vectors, &cancelled);
            NO_GRAPH
        })?;
        let hnsw_handle = hnsw_builder.handle().clone();
        let mut reloading = Reloading::new(manager, cancel.clone(), budget);
        let job = move |handle: &WorkerHandle| {
            let published = || {
                hnsw_handle.request();
            };
            reloading.run(published, || after(handle))
        };
        let worker = Worker::spawn("reloader", job)?;
        reloaded.reload_with(worker.handle().clone());
        worker.handle().request();
        Ok(Self { worker, _hnsw_builder: hnsw_builder, cancel, budget })
    }

    /// Returns the memory budget of this process in bytes.
    #[must_use]
    pub fn budget(&self) -> Option<u64> {
        self.budget.map(|budget| budget.bytes)
    }

    /// Returns the handle that requests a reload and waits until its result is served.
    #[must_use]
    pub fn handle(&self) -> &WorkerHandle {
        self.worker.handle()
    }
}

/// The state that the thread of a [`Reloader`] keeps from one reload to the next.
pub(super) struct Reloading {
    manager: Arc<ChunkManager>,
    cancel: Arc<Cancel>,
    budget: Option<MemoryBudget>,
    backoff: Backoff,
    /// The error that was logged last, unless a reload has succeeded since.
    told: Option<String>,
    over_since: Option<Instant>,
}

impl Reloading {
    pub(super) fn new(
        manager: Arc<ChunkManager>,
        cancel: Arc<Cancel>,
        budget: Option<MemoryBudget>,
    ) -> Self {
        Self {
            manager,
            cancel,
            budget,
            backoff: Backoff::new(RETRY, LONGEST_RETRY),
            told: None,
            over_since: None,
        }
    }

    /// Reloads, and returns the time until the next unrequested reload: `rescan`, or less after a
    /// failure. Calls `published` if the reload published a snapshot.
    pub(super) fn run(
        &mut self,
        published: impl FnOnce(),
        rescan: impl FnOnce() -> Duration,
    ) -> Duration {
        let result = self.manager.reload(&self.cancel);
        self.manager.save(WORTH_SAVING);
        let error = result.as_ref().err().map(ToString::to_string);
        if let Some(e) = error.as_ref().filter(|e| self.told.as_ref() != Some(e)) {
            tracing::warn!("{e}; what was loaded before is still served");
        } else if error.is_none() && self.told.is_some() {
            tracing::info!("the chunk files can be used again");
        }
        self.told = error;
        if result.as_ref().is_ok_and(|reload| reload.published) {
            published();
        }
        let rescan = rescan().min(self.keep_budget());
        if result.is_err() {
            return self.backoff.failed().min(rescan);
        }
        self.backoff.reset();
        rescan
    }

    /// Gives something up if the resident bytes exceeded the budget for long. Returns the longest
    /// time until the next check.
    fn keep_budget(&mut self) -> Duration {
        let over = self.budget.zip(resident_bytes());
        let over = over.filter(|(budget, resident)| *resident > budget.bytes);
        let Some((MemoryBudget { bytes, patience }, resident)) = over else {
            self.over_since = None;
            return Duration::MAX;
        };
        if self.over_since.get_or_insert_with(Instant::now).elapsed() < patience {
            return patience;
        }
        self.over_since = None;
        match self.manager.give_up(&self.cancel) {
            Ok(true) => {
                let without = self.manager.metrics().given_up.names().join(" and ");
                tracing::warn!(
                    "{} MB are held, and {} may be: going on without {without}",
                    resident >> 20,
                    bytes >> 20
                );
                patience
            }
            Ok(false) => Duration::MAX,
            Err(e) => {
                tracing::warn!("{e}");
                Duration::MAX
            }
        }
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
