//! The limits of the work for one call: how long it lasts, and whether somebody still waits for it.
//!
//! Sizes come from outside: a repository may define one name ten thousand times, and an index or a
//! graph may be forged. Every loop over such sizes asks the budget of its call, and ends with what
//! it has when the budget is spent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long one call works. Clients of MCP wait a minute or less, and other calls wait for a core.
const TIME: Duration = Duration::from_secs(10);
/// Bytes of the stack of every thread that works on text from outside. The recursion of parsers and
/// matchers is limited so that it needs less than half of it.
pub const STACK_BYTES: usize = 16 << 20;

/// Starts the threads that compute in parallel. Without this, rayon makes them, with smaller stacks.
pub fn compute_threads() {
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
}

/// The budget of one call. Clones share it.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    cancel: Arc<AtomicBool>,
    end: Instant,
    is_spent: Arc<AtomicBool>,
}

impl WorkBudget {
    /// Starts a budget that also ends when `cancel` is set.
    #[must_use]
    pub fn new(cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, end: Instant::now() + TIME, is_spent: Arc::default() }
    }

    /// Returns the same budget, but with at most this much time from now on.
    #[must_use]
    pub fn at_most(self, time: Duration) -> Self {
        Self { end: self.end.min(Instant::now() + time), ..self }
    }

    /// Returns the same budget with this much time from now on, for work that no call waits for.
    #[must_use]
    pub fn lasting(self, time: Duration) -> Self {
        Self { end: Instant::now() + time, ..self }
    }

    /// Whether work may go on. When it returns false, the answer is not complete.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        let goes_on = !self.cancel.load(Ordering::Relaxed) && Instant::now() < self.end;
        if !goes_on {
            self.is_spent.store(true, Ordering::Relaxed);
        }
        goes_on
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
}
