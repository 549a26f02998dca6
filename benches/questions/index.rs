//! Time to index from scratch with vectors, and from a noticed change of a file until a search
//! finds it. 1 000, 10 000 and 100 000 generated chunks. Decides whether the index is written and
//! reloaded whole or in parts.

use std::cell::{LazyCell, RefCell};

use cortex::bench::{OneFile, index_from_scratch};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let mut group = group(criterion, "index");
    for (n, bed) in beds.from(0) {
        timed(&mut group, BenchmarkId::new("scratch", n), bed, |bed| {
            index_from_scratch(bed).expect("an index")
        });
        let one = LazyCell::new(|| RefCell::new(OneFile::new(bed).expect("an index")));
        timed(&mut group, BenchmarkId::new("one_file", n), &one, |one| {
            one.borrow_mut().change().expect("a change that is found")
        });
    }
}
