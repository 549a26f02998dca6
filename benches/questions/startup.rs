//! Time from the start of a process to its first answer: for `cortex search` with an up-to-date
//! index, and for a server. 1 000, 10 000 and 100 000 generated chunks. Decides what is kept on
//! disk ready for use.

use std::cell::LazyCell;
use std::path::Path;

use cortex::bench::{Questions, Server, load, search_once};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let program = Path::new(env!("CARGO_BIN_EXE_cortex"));
    let mut group = group(criterion, "startup");
    for (n, bed) in beds.from(0) {
        let asked = LazyCell::new(|| {
            let questions = Questions::new(&load(bed).expect("a load").0, 1);
            (LazyCell::force(bed), questions.iter().next().expect("a question").to_string())
        });
        timed(&mut group, BenchmarkId::new("search", n), &asked, |(bed, question)| {
            search_once(bed, program, question).expect("an answer")
        });
        timed(&mut group, BenchmarkId::new("server", n), &asked, |(bed, question)| {
            Server::start(bed, program, question).expect("an answer").1
        });
    }
}
