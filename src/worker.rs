//! A thread that does one kind of work on request. One run serves all requests
//! that came before it began.
//!
//! While the worker runs, at most one more run is pending, however many requests come. A caller can
//! wait for the run that begins after its request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::work::STACK_BYTES;

/// How often a waiting thread checks whether it was cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(20);

/// A thread and its job. Dropping it ends the thread after the current run.
pub struct Worker {
    handle: WorkerHandle,
    thread: Option<JoinHandle<()>>,
}

/// Requests runs of a [`Worker`]. It is cheap to clone, and may outlive the worker.
#[derive(Clone)]
pub struct WorkerHandle {
    shared: Arc<WorkerShared>,
}

/// A request: the run that begins next, or a later one, fulfils it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

struct WorkerShared {
    state: Mutex<WorkerState>,
    changed: Condvar,
}

#[derive(Default)]
struct WorkerState {
    asked: u64,
    done: u64,
    /// When the next run starts without a request.
    due: Option<Instant>,
    /// The first [`WorkerHandle::when_quiet`] since the last run began.
    put_off_since: Option<Instant>,
    stop: bool,
}

impl Worker {
    /// Starts a thread. `job` runs on each request, and again after the time that it returns. Its
    /// argument lets it request runs itself.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn spawn(
        name: &str,
        mut job: impl FnMut(&WorkerHandle) -> Duration + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(WorkerShared { state: Mutex::default(), changed: Condvar::new() });
        let handle = WorkerHandle { shared };
        let own = handle.clone();
        let body = move || {
            while let Some(upto) = own.shared.next_run() {
                // A job that panicked runs again later, so that callers that wait for
                // it do not wait for ever.
                let again = catch_unwind(AssertUnwindSafe(|| job(&own))).unwrap_or(AFTER_PANIC);
                own.shared.finish(upto, again);
            }
        };
        let thread =
            std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(body)?;
        Ok(Self { handle, thread: Some(thread) })
    }

    /// Returns the handle that requests runs.
    #[must_use]
    pub fn handle(&self) -> &WorkerHandle {
        &self.handle
    }
}

const AFTER_PANIC: Duration = Duration::from_secs(5);

impl Drop for Worker {
    fn drop(&mut self) {
        self.handle.shared.state.lock().stop = true;
        self.handle.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The panics of the job were caught, so the result says nothing.
            let _ = thread.join();
        }
    }
}

impl WorkerHandle {
    /// Requests a run that begins after this call.
    pub fn request(&self) -> Ticket {
        let mut state = self.shared.state.lock();
        state.asked += 1;
        self.shared.changed.notify_all();
        Ticket(state.asked)
    }

    /// Requests a run for when this was not called for `quiet`, at the latest four times
    /// that after the first call.
    pub fn when_quiet(&self, quiet: Duration) {
        let mut state = self.shared.state.lock();
        let now = Instant::now();
        let first = *state.put_off_since.get_or_insert(now);
        state.due = Some((now + quiet).min(first + 4 * quiet));
        self.shared.changed.notify_all();
    }

    /// Waits until the run of `ticket` has ended. Returns false if the deadline passed, `cancel`
    /// was set or the worker was dropped before.
    #[must_use]
    pub fn wait(&self, ticket: Ticket, deadline: Instant, cancel: &AtomicBool) -> bool {
        let mut state = self.shared.state.lock();
        while state.done < ticket.0 {
            let now = Instant::now();
            if now >= deadline || state.stop || cancel.load(Ordering::Relaxed) {
                return false;
            }
            let nap = CANCEL_POLL.min(deadline - now);
            self.shared.changed.wait_for(&mut state, nap);
        }
        true
    }
}

impl WorkerShared {
    /// Waits for the next run. Returns the last request that the run fulfils; `None`
    /// when the worker is dropped.
    fn next_run(&self) -> Option<u64> {
        let mut state = self.state.lock();
        loop {
            if state.stop {
                return None;
            }
            let now = Instant::now();
            if state.asked > state.done || state.due.is_some_and(|due| due <= now) {
                (state.due, state.put_off_since) = (None, None);
                return Some(state.asked);
            }
            match state.due {
                Some(due) => {
                    self.changed.wait_until(&mut state, due);
                }
                None => self.changed.wait(&mut state),
            }
        }
    }

    fn finish(&self, upto: u64, again: Duration) {
        let mut state = self.state.lock();
        state.done = upto;
        let again = Instant::now() + again;
        // A run that was put off meanwhile may be due earlier.
        state.due = Some(state.due.map_or(again, |due| due.min(again)));
        self.changed.notify_all();
    }
}

/// Pauses between failing attempts; each is twice as long as the one before.
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Creates pauses that start with `first` and double up to `longest`.
    #[must_use]
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Returns how long to wait after one more failure.
    pub fn failed(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(self.longest);
        wait
    }

    /// Starts again with the first pause, after a success.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Shortest and longest wait for quiet before a run, unless the user sets one.
const SOON: Duration = Duration::from_millis(20);
const LATE: Duration = Duration::from_millis(500);
/// After this long without a run, the next change is one of its own.
const CALM: Duration = Duration::from_secs(1);

/// How long to wait until changes have ended before a run. A change after a calm is nearly always the
/// only one, and somebody waits for it. While changes go on, each wait is twice as long as the one
/// before, and no shorter than the last run took.
#[derive(Debug, Default)]
pub struct Pace {
    fixed: Option<Duration>,
    last: Mutex<Option<PacedRun>>,
}

#[derive(Debug, Clone, Copy)]
struct PacedRun {
    end: Instant,
    /// The wait if the next change comes before a calm.
    next: Duration,
}

impl Pace {
    /// Waits always this long, if it is set.
    #[must_use]
    pub fn new(fixed: Option<Duration>) -> Self {
        Self { fixed, last: Mutex::default() }
    }

    /// Returns how long to wait for quiet.
    #[must_use]
    pub fn quiet(&self) -> Duration {
        self.fixed.unwrap_or_else(|| self.quiet_at(Instant::now()))
    }

    fn quiet_at(&self, now: Instant) -> Duration {
        self.last.lock().map_or(SOON, |last| {
            let is_calm = now.saturating_duration_since(last.end) >= CALM;
            if is_calm { SOON } else { last.next }
        })
    }

    /// Notes a run that began then and has ended now.
    pub fn ran(&self, begin: Instant) {
        self.ran_until(begin, Instant::now());
    }

    fn ran_until(&self, begin: Instant, end: Instant) {
        let took = end.saturating_duration_since(begin);
        let next = (2 * self.quiet_at(begin)).max(took).min(LATE);
        *self.last.lock() = Some(PacedRun { end, next });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn deadline() -> Instant {
        Instant::now() + LONG
    }

    #[test]
    fn many_who_ask_during_a_run_get_one_more() {
        let (started, is_started) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let n_runs = Arc::new(AtomicUsize::new(0));
        let count = n_runs.clone();
        let worker = Worker::spawn("test", move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            started.send(()).unwrap();
            may_go_on.recv().unwrap();
            LONG
        })
        .unwrap();
        let first = worker.handle().request();
        is_started.recv().unwrap();
        let later: Vec<Ticket> = (0..100).map(|_| worker.handle().request()).collect();
        go_on.send(()).unwrap();
        assert!(worker.handle().wait(first, deadline(), &AtomicBool::new(false)));
        is_started.recv().unwrap();
        assert!(
            !worker.handle().wait(later[0], Instant::now(), &AtomicBool::new(false)),
            "the second run is not over"
        );
        go_on.send(()).unwrap();
        assert!(worker.handle().wait(later[99], deadline(), &AtomicBool::new(false)));
        assert_eq!(n_runs.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_panic_ends_the_run_and_not_the_worker() {
        let n_runs = Arc::new(AtomicUsize::new(0));
        let count = n_runs.clone();
        let worker = Worker::spawn("test", move |_| {
            assert!(count.fetch_add(1, Ordering::SeqCst) > 0, "the first run fails");
            LONG
        })
        .unwrap();
        for n in 1..=2 {
            let ticket = worker.handle().request();
            assert!(worker.handle().wait(ticket, deadline(), &AtomicBool::new(false)));
            assert_eq!(n_runs.load(Ordering::SeqCst), n);
        }
    }

    #[test]
    fn a_run_comes_unasked_when_it_is_due_and_when_it_is_quiet() {
        let (ran, has_run) = mpsc::channel();
        let worker = Worker::spawn("test", move |_| {
            ran.send(()).unwrap();
            Duration::from_millis(1)
        })
        .unwrap();
        worker.handle().when_quiet(Duration::from_millis(1));
        for _ in 0..3 {
            has_run.recv_timeout(LONG).unwrap();
        }
    }

    #[test]
    fn a_change_after_a_calm_is_soon_done_and_changes_that_go_on_are_gathered() {
        let pace = Pace::default();
        let mut now = Instant::now();
        let ms = Duration::from_millis;
        let mut change = |calm: Duration, took: Duration| {
            now += calm;
            let quiet = pace.quiet_at(now);
            let begin = now + quiet;
            now = begin + took;
            pace.ran_until(begin, now);
            quiet
        };
        assert_eq!(change(ms(0), ms(5)), ms(20));
        assert_eq!([0; 6].map(|_| change(ms(1), ms(5))), [40, 80, 160, 320, 500, 500].map(ms));
        assert_eq!(change(ms(1_000), ms(5)), ms(20));
        // Runs that are long take at most half of the time.
        assert_eq!(change(ms(1_000), ms(300)), ms(20));
        assert_eq!([change(ms(1), ms(2_000)), change(ms(1), ms(5))], [300, 500].map(ms));
        assert_eq!(change(ms(1_000), ms(5)), ms(20));
        assert_eq!(Pace::new(Some(ms(77))).quiet(), ms(77));
    }

    #[test]
    fn who_waits_can_be_cancelled() {
        let (_go_on, may_go_on) = mpsc::channel::<()>();
        let worker = Worker::spawn("test", move |_| {
            let _ = may_go_on.recv_timeout(Duration::from_millis(200));
            LONG
        })
        .unwrap();
        let ticket = worker.handle().request();
        assert!(!worker.handle().wait(ticket, deadline(), &AtomicBool::new(true)));
    }
}
