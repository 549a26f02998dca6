//! Benchmarks, one file for each question: `cargo bench`, or `cargo bench -- reload/10000`. `cortex
//! bench` answers the same questions, with percentiles and memory, for a project of your own.
//! Corpora are generated (`cortex::bench`). `cargo test --benches` runs everything once, on a small
//! corpus.

mod diff;
mod index;
mod load;
mod query;
mod reload;
mod startup;

use std::cell::LazyCell;
use std::time::Duration;

use cortex::bench::Bed;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, measurement::WallTime};

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A corpus, generated at its first use.
type LazyBed = LazyCell<Bed, Box<dyn FnOnce() -> Bed>>;

/// Corpora by number of chunks, smallest first.
struct Beds(Vec<(usize, LazyBed)>);

impl Beds {
    fn new(sizes: &[usize]) -> Self {
        let lazy = |n: usize| LazyBed::new(Box::new(move || Bed::generated(n).expect("a corpus")));
        Self(sizes.iter().map(|n| (*n, lazy(*n))).collect())
    }

    /// Returns the corpora of at least `least` chunks; in a test run all of them.
    fn from(&self, least: usize) -> impl Iterator<Item = &(usize, LazyBed)> {
        self.0.iter().filter(move |(n, _)| *n >= least || self.0.len() == 1)
    }
}

/// Collects times that a question measures itself, without its preparation.
fn timed<T>(
    group: &mut BenchmarkGroup<WallTime>,
    id: BenchmarkId,
    on: &LazyCell<T, impl FnOnce() -> T>,
    once: impl Fn(&T) -> Duration,
) {
    group.bench_function(id, |b| {
        let on = LazyCell::force(on);
        b.iter_custom(|n| (0..n).map(|_| once(on)).sum());
    });
}

/// Creates a group of slow measurements.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group
}

fn main() {
    // As criterion decides it: cargo passes --bench when it measures.
    let is_given = |flag: &str| std::env::args().any(|a| a == flag);
    let is_test = is_given("--test") || !is_given("--bench");
    let beds = Beds::new(if is_test { &[60] } else { &[1_000, 10_000, 100_000] });
    let mut criterion = Criterion::default().configure_from_args();
    // Questions that change chunks come last.
    for question in
        [index::bench, startup::bench, load::bench, query::bench, diff::bench, reload::bench]
    {
        question(&mut criterion, &beds);
    }
    criterion.final_summary();
}
