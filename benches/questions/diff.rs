//! Time to compare two sets of chunks that were read independently: equal ones, and ones in which
//! one chunk of a hundred differs. 1 000, 10 000 and 100 000 generated chunks. Decides what a set
//! stores for comparisons.

use std::cell::LazyCell;

use cortex::bench::{change, diff, load};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let mut group = group(criterion, "diff");
    for (n, bed) in beds.from(0) {
        let read = || load(bed).expect("a load").0;
        let equal = LazyCell::new(|| (read(), read()));
        timed(&mut group, BenchmarkId::new("equal", n), &equal, |(old, new)| {
            diff(old, new, 0).expect("no difference")
        });
        let changed = LazyCell::new(|| {
            let old = read();
            let n_changed = old.len().div_ceil(100);
            change(bed, n_changed).expect("a generation");
            (old, read(), n_changed)
        });
        timed(&mut group, BenchmarkId::new("changed", n), &changed, |(old, new, n)| {
            diff(old, new, *n).expect("the changes")
        });
    }
}
