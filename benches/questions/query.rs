//! Time of a query, from its text to ten results: by words, by meaning, by both. 10 000 and 100 000
//! generated chunks, alternating queries. Decides how much ranking may cost, and when vectors need
//! more than a scan.

use std::cell::{Cell, LazyCell};

use cortex::bench::{Questions, SearchKind, build, load};
use criterion::{BenchmarkId, Criterion};

use super::{Beds, group, timed};

const QUESTIONS: usize = 60;

pub fn bench(criterion: &mut Criterion, beds: &Beds) {
    let mut group = group(criterion, "query");
    for (n, bed) in beds.from(10_000) {
        let server = LazyCell::new(|| {
            let questions = Questions::new(&load(bed).expect("a load").0, QUESTIONS);
            (build(bed, false).expect("an index").0, questions, Cell::new(0))
        });
        for kind in SearchKind::ALL {
            timed(
                &mut group,
                BenchmarkId::new(kind.name(), n),
                &server,
                |(manager, questions, asked)| {
                    asked.set(asked.get() + 1);
                    let question =
                        questions.iter().nth(asked.get() % questions.len()).expect("a question");
                    Questions::ask(manager, question, kind).expect("an answer")
                },
            );
        }
    }
}
