//! Time of a server's reload when 1, 100 or 1 000 chunks changed, as a whole and by step. 10 000
//! and 100 000 generated chunks. Decides what a reload may read, compare and rebuild. `load` reads
//! and parses; publishing is one pointer.

use std::cell::{LazyCell, RefCell};

use cortex::bench::{STEPS, Steps, build, reload};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let mut group = group(criterion, "reload");
    for (n, bed) in beds.from(10_000) {
        for n_changed in [1, 100, 1_000].into_iter().filter(|n_changed| n_changed <= n) {
            let id = |what: &str| BenchmarkId::new(format!("{n}/{n_changed}"), what);
            let manager =
                LazyCell::new(|| (LazyCell::force(bed), build(bed, false).expect("an index").0));
            timed(&mut group, id("whole"), &manager, |(bed, manager)| {
                reload(bed, manager, n_changed).expect("a reload")
            });
            let steps = LazyCell::new(|| RefCell::new(Steps::new(bed).expect("an index")));
            for (i, step) in STEPS.iter().enumerate() {
                timed(&mut group, id(step), &steps, |steps| {
                    steps.borrow_mut().reload(n_changed).expect("a reload")[i]
                });
            }
        }
    }
}
