//! Decides which work is divided among the cores.
//! A query that runs alone uses all of them. When many run at once, each stays on its own thread:
//! if they shared the cores, each would wait for parts of the others, and a reload for all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Number of queries that run in this process.
static N_QUERIES: AtomicUsize = AtomicUsize::new(0);

/// Counts a running query until it is dropped.
pub(super) struct Answering(());

impl Answering {
    pub(super) fn begin() -> Self {
        N_QUERIES.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        N_QUERIES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns whether cores are free for more than one thread of a query.
pub(super) fn are_free() -> bool {
    N_QUERIES.load(Ordering::Relaxed) <= 1
}

/// Runs both functions, in parallel if cores are free.
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if are_free() { rayon::join(a, b) } else { (a(), b()) }
}

/// Maps all elements and keeps their order, in parallel if cores are free.
pub(super) fn map<T: Sync, R: Send>(all: &[T], one: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    if are_free() { all.par_iter().map(one).collect() } else { all.iter().map(one).collect() }
}
