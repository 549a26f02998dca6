//! Which work is divided among the cores.
//!
//! A query that is answered alone uses all of them. Of many, each keeps to its own thread: shared
//! among all cores, each would wait for parts of the others, and a reload for all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Queries that are being answered in this process.
static N_QUERIES: AtomicUsize = AtomicUsize::new(0);

/// Held while a query is answered.
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

/// Whether the cores are free for more than one thread of a query.
pub(super) fn are_free() -> bool {
    N_QUERIES.load(Ordering::Relaxed) <= 1
}

/// Does both, beside each other where that pays.
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if are_free() { rayon::join(a, b) } else { (a(), b()) }
}

/// Does the same with each, in order of the results, beside each other where that pays.
pub(super) fn map<T: Sync, R: Send>(all: &[T], one: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    if are_free() { all.par_iter().map(one).collect() } else { all.iter().map(one).collect() }
}
