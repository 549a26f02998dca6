//! When to reload: when somebody says that something changed, after a failure, and now and then.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{ChunkManager, resident_bytes};
use crate::chunk::Cancel;
use crate::search::GRAPH_FROM;
use crate::worker::{Asking, Backoff, Worker};

/// After a failure; doubled with each further one.
const RETRY: Duration = Duration::from_millis(100);
/// The share of chunks that must have changed for a server to save its indexes: whoever starts later makes up for the rest.
const WORTH_SAVING: f64 = 0.1;
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// How long more memory must be held than may be before something is given up: what was freed is given back to the system with a delay.
const PATIENCE: Duration = Duration::from_secs(12);

/// Nobody has to look for a graph unasked: only a reload makes one due.
const NO_GRAPH: Duration = Duration::from_hours(24);

/// Reloads a [`ChunkManager`] on a thread of its own: one reload runs, at most one is pending. Beside it a thread that
/// builds what a reload is not to wait for: graphs of vectors.
pub struct Reloader {
    worker: Worker,
    _graphs: Worker,
    cancel: Arc<Cancel>,
    budget: Option<u64>,
}

impl Reloader {
    /// How often to look unasked where events wake it: rescues lost ones, and costs five `stat`s.
    pub const RESCAN: Duration = Duration::from_secs(30);

    /// Starts the thread and the first reload. `after` is called after each, with the means to ask for another, and says when to
    /// look next unasked. `budget`: bytes of memory that this process may hold.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        manager: Arc<ChunkManager>,
        budget: Option<u64>,
        after: impl FnMut(&Asking) -> Duration + Send + 'static,
    ) -> io::Result<Self> {
        Self::with_graphs_from(GRAPH_FROM, manager, budget, after)
    }

    /// The same; graphs are built from so many vectors on.
    pub(super) fn with_graphs_from(
        n_vectors: usize,
        manager: Arc<ChunkManager>,
        budget: Option<u64>,
        mut after: impl FnMut(&Asking) -> Duration + Send + 'static,
    ) -> io::Result<Self> {
        let cancel = Arc::new(Cancel::new(false));
        let (served, reloaded, cancelled) = (manager.clone(), manager.clone(), cancel.clone());
        let graphs = Worker::spawn("graphs", move |_| {
            served.build_graph(n_vectors, &cancelled);
            NO_GRAPH
        })?;
        let graphs_asking = graphs.asking().clone();
        let (cancelled, mut backoff) = (cancel.clone(), Backoff::new(RETRY, LONGEST_RETRY));
        let (mut told, mut over_since): (Option<String>, Option<Instant>) = (None, None);
        let job = move |asking: &Asking| {
            let result = manager.reload(&cancelled);
            manager.save(WORTH_SAVING);
            let error = result.as_ref().err().map(ToString::to_string);
            if let Some(e) = error.as_ref().filter(|e| told.as_ref() != Some(e)) {
                tracing::warn!("{e}; what was loaded before is still served");
            } else if error.is_none() && told.is_some() {
                tracing::info!("the chunk files can be used again");
            }
            told = error;
            if result.as_ref().is_ok_and(|reload| reload.published) {
                graphs_asking.now();
            }
            let mut rescan = after(asking);
            match budget.zip(resident_bytes()).filter(|(budget, resident)| resident > budget) {
                None => over_since = None,
                Some((budget, resident)) if over_since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE => {
                    over_since = None;
                    match manager.give_up(&cancelled) {
                        Ok(true) => {
                            let without = manager.metrics().given_up.names().join(" and ");
                            tracing::warn!("{} MB are held, and {} may be: going on without {without}", resident >> 20, budget >> 20);
                            rescan = rescan.min(PATIENCE);
                        }
                        Ok(false) => {}
                        Err(e) => tracing::warn!("{e}"),
                    }
                }
                Some(_) => rescan = rescan.min(PATIENCE),
            }
            if result.is_err() {
                return backoff.failed().min(rescan);
            }
            backoff.reset();
            rescan
        };
        let worker = Worker::spawn("reloader", job)?;
        reloaded.reload_with(worker.asking().clone());
        worker.asking().now();
        Ok(Self { worker, _graphs: graphs, cancel, budget })
    }

    /// Bytes of memory that this process may hold.
    #[must_use]
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// To say that something changed, and to wait until it is served.
    #[must_use]
    pub fn asking(&self) -> &Asking {
        self.worker.asking()
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
