//! The limits of the work for one call: how much it is, and whether somebody still waits for it.
//!
//! Sizes come from outside: a repository may define one name ten thousand times, and an index or a
//! graph may be forged. Every loop over such sizes asks the budget of its call, and ends with what
//! it has when the budget is spent.
//!
//! Work over many files runs in slices on threads of its own, and clients take turns ([`turns`]), so
//! that one of them does not hold up the others.

pub mod turns;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

use self::turns::{ClientId, Turns};
use crate::platform::thread_time;

/// How long one call works, in time of processors. Other programs on the machine take time from the
/// call, and must not change its answer.
const TIME: Duration = Duration::from_secs(10);
/// How long one call lasts in any case. Clients of MCP wait about as long.
const LONGEST: Duration = Duration::from_mins(1);
/// How many times as long the same work takes in a build without optimisation, as tests run it. It has
/// as many times the time of processors, so that it gives the same answers.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 4 } else { 1 };
/// How long a thread works between two looks at its time, which cost a system call.
const BETWEEN: Duration = Duration::from_millis(1);
/// Bytes of the stack of every thread that works on text from outside. The recursion of parsers and
/// matchers is limited so that it needs less than half of it.
pub const STACK_BYTES: usize = 16 << 20;

/// Starts the threads that compute in parallel. Without this, rayon makes them, with smaller stacks.
pub fn compute_threads() {
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
}

thread_local! {
    /// The budget that this thread last worked for, and when it looked at its time.
    static WORKING: Cell<Option<(u64, Instant, Duration)>> = const { Cell::new(None) };
}

/// Tells budgets apart. Clones of a budget have its number.
static N_BUDGETS: AtomicU64 = AtomicU64::new(0);

/// Files of one slice of bulk work: some milliseconds on all cores.
const SLICE: usize = 64;

/// The turns of slices. One slice uses all cores.
static SLICES: LazyLock<Turns> = LazyLock::new(|| Turns::new(1, LONGEST));

/// The threads of bulk work. Those of rayon's global pool answer searches meanwhile.
static BULK: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES);
    threads.thread_name(|n| format!("bulk {n}")).build().ok()
});

/// The budget of one call. Clones share it.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    id: u64,
    client: ClientId,
    cancel: Arc<AtomicBool>,
    /// The time of processors that the threads of the call took, in nanoseconds.
    taken: Arc<AtomicU64>,
    /// Most nanoseconds of it.
    most: u64,
    end: Instant,
    is_spent: Arc<AtomicBool>,
}

impl WorkBudget {
    /// Starts a budget that also ends when `cancel` is set.
    #[must_use]
    pub fn new(cancel: Arc<AtomicBool>) -> Self {
        Self {
            id: N_BUDGETS.fetch_add(1, Ordering::Relaxed),
            client: 0,
            cancel,
            taken: Arc::default(),
            most: nanoseconds(TIME * SLOWNESS),
            end: Instant::now() + LONGEST,
            is_spent: Arc::default(),
        }
    }

    /// Returns the same budget for a call of this client.
    #[must_use]
    pub fn of_client(self, client: ClientId) -> Self {
        Self { client, ..self }
    }

    /// Maps all elements in parallel and keeps their order. The work is done in slices, between which
    /// other clients have their turn. Elements are `None` that the budget has no room for.
    pub fn map<T: Sync, S: Default + Send, R: Send>(
        &self,
        all: &[T],
        one: impl Fn(&mut S, &T) -> R + Send + Sync,
    ) -> Vec<Option<R>> {
        let one = |state: &mut S, element: &T| self.goes_on().then(|| one(state, element));
        let slice =
            |part: &[T]| -> Vec<Option<R>> { part.par_iter().map_init(S::default, one).collect() };
        let mut out = Vec::with_capacity(all.len());
        for part in all.chunks(SLICE) {
            let turn = SLICES.take(self.client, || self.goes_on());
            match (&turn, &*BULK) {
                (None, _) => out.extend(part.iter().map(|_| None)),
                (Some(_), Some(threads)) => out.extend(threads.install(|| slice(part))),
                (Some(_), None) => out.extend(slice(part)),
            }
        }
        out
    }

    /// Returns the same budget, but with at most this much time of processors from now on.
    #[must_use]
    pub fn at_most(self, time: Duration) -> Self {
        let most = self.taken.load(Ordering::Relaxed) + nanoseconds(time * SLOWNESS);
        Self { most: self.most.min(most), ..self }
    }

    /// Returns the same budget with this much time from now on, for work that no call waits for.
    #[must_use]
    pub fn lasting(self, time: Duration) -> Self {
        let most = self.taken.load(Ordering::Relaxed) + nanoseconds(time * SLOWNESS);
        Self { most, end: Instant::now() + time.max(LONGEST), ..self }
    }

    /// Whether work may go on. When it returns false, the answer is not complete.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        let goes_on = !self.cancel.load(Ordering::Relaxed) && self.has_time();
        if !goes_on {
            self.is_spent.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// Counts the time that this thread worked since it last asked.
    fn has_time(&self) -> bool {
        let now = Instant::now();
        let last = WORKING.get().filter(|(id, ..)| *id == self.id);
        match last {
            Some((_, at, _)) if now - at < BETWEEN => {}
            Some((_, _, before)) => {
                let time = thread_time();
                self.taken.fetch_add(nanoseconds(time.saturating_sub(before)), Ordering::Relaxed);
                WORKING.set(Some((self.id, now, time)));
            }
            None => WORKING.set(Some((self.id, now, thread_time()))),
        }
        now < self.end && self.taken.load(Ordering::Relaxed) < self.most
    }

    /// Whether some work ended early.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    /// Notes that some work was left out because of its size.
    pub fn spend(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_when_it_is_cancelled_or_its_time_is_over() {
        let cancel = Arc::new(AtomicBool::new(false));
        let budget = WorkBudget::new(cancel.clone());
        assert!(budget.goes_on() && !budget.is_spent());
        cancel.store(true, Ordering::Relaxed);
        assert!(!budget.clone().goes_on() && budget.is_spent());
        let late = WorkBudget { end: Instant::now(), ..WorkBudget::new(Arc::default()) };
        assert!(!late.goes_on());
    }

    #[test]
    fn a_budget_counts_the_time_of_processors_and_not_that_of_the_clock() {
        let budget = WorkBudget::new(Arc::default()).at_most(Duration::from_millis(50));
        assert!(budget.goes_on());
        // As a program that is stopped, or waits for a processor.
        std::thread::sleep(Duration::from_millis(200));
        assert!(budget.goes_on());
        let n = std::thread::scope(|s| {
            let work = || (0..u64::MAX).take_while(|_| budget.goes_on()).count();
            let threads = [s.spawn(work), s.spawn(work)];
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(budget.is_spent() && n.iter().all(|n| *n > 0), "{n:?}");
    }
}
