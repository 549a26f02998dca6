//! When to reload: when somebody says that something changed, after a failure, and now and then.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{ChunkManager, Reload, ReloadError};
use crate::chunk::Cancel;
use crate::worker::{Asking, Worker};

/// Rescues lost events; costs five `stat`s.
const RESCAN_MS: u64 = 30_000;
/// After a failure; doubled with each further one.
const RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Reloads a [`ChunkManager`] on a thread of its own: one reload runs, at most one is pending.
pub struct Reloader {
    worker: Worker,
    cancel: Arc<Cancel>,
    /// How often to look unasked, in milliseconds.
    rescan_ms: Arc<AtomicU64>,
}

impl Reloader {
    /// Starts the thread and the first reload. `after` is told how each ended.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(manager: Arc<ChunkManager>, after: impl Fn(&Result<Reload, ReloadError>) + Send + 'static) -> io::Result<Self> {
        let cancel = Arc::new(Cancel::new(false));
        let rescan_ms = Arc::new(AtomicU64::new(RESCAN_MS));
        let (cancelled, rescan, mut retry) = (cancel.clone(), rescan_ms.clone(), RETRY);
        let mut told: Option<String> = None;
        let job = move |_: &Asking| {
            let result = manager.reload(&cancelled);
            let error = result.as_ref().err().map(ToString::to_string);
            if let Some(e) = error.as_ref().filter(|e| told.as_ref() != Some(e)) {
                tracing::warn!("{e}; what was loaded before is still served");
            } else if error.is_none() && told.is_some() {
                tracing::info!("the chunk files can be used again");
            }
            told = error;
            after(&result);
            if result.is_ok() {
                retry = RETRY;
                return Duration::from_millis(rescan.load(Ordering::Relaxed));
            }
            retry = (retry * 2).min(LONGEST_RETRY);
            retry / 2
        };
        let worker = Worker::spawn("reloader", job)?;
        worker.asking().now();
        Ok(Self { worker, cancel, rescan_ms })
    }

    /// Looks so often unasked from now on: where nothing wakes it.
    pub fn look_every(&self, interval: Duration) {
        self.rescan_ms.store(u64::try_from(interval.as_millis()).unwrap_or(RESCAN_MS), Ordering::Relaxed);
        self.asking().now();
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
