//! Time to read all chunks, and to open a saved index with vectors. 1 000, 10 000 and 100 000
//! generated chunks. Decides the layout of chunk files and saved indexes on disk.

use cortex::bench::{load, open_saved};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let mut group = group(criterion, "load");
    for (n, bed) in beds.from(0) {
        timed(&mut group, BenchmarkId::new("chunks", n), bed, |bed| load(bed).expect("a load").1);
        timed(&mut group, BenchmarkId::new("saved", n), bed, |bed| {
            open_saved(bed).expect("what was saved")
        });
    }
}
