//! A depot that asks again. A call that only reads is tried three times if the engine does not answer.
//! After several failures in a row, calls fail at once for some seconds: a question that can be answered
//! without the depot must not wait for it each time, and an engine that is overloaded gets a pause.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    At, Depot, DepotError, Fact, FactName, Found, Meter, Record, Result, Row, Size, Wanted,
};

/// Most times that a call is made.
const TRIES: u32 = 3;
/// The wait before the second time, about; it doubles with each one.
const PAUSE: Duration = Duration::from_millis(50);
/// Number of calls in a row without an answer after which the engine counts as down.
const FAILURES: u32 = 4;
/// How long it counts as down.
const DOWN: Duration = Duration::from_secs(5);

/// The depot.
pub struct Patient<D> {
    depot: D,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Calls in a row without an answer.
    failures: u32,
    /// What the last of them ended with.
    why: String,
    down_until: Option<Instant>,
    meters: BTreeMap<&'static str, Meter>,
}

impl<D: Depot> Patient<D> {
    /// Wraps a depot.
    pub fn new(depot: D) -> Self {
        Self { depot, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long the engine still counts as down; `None` if it does not.
    fn down_for(&self) -> Option<Duration> {
        self.state().down_until.and_then(|end| end.checked_duration_since(Instant::now()))
    }

    /// Makes a call once, unless the engine counts as down.
    fn once<T>(&self, name: &'static str, call: impl FnOnce(&D) -> Result<T>) -> Result<T> {
        if let Some(left) = self.down_for() {
            return Err(DepotError::Unavailable(format!(
                "it did not answer several times; asked again in {} s; last: {}",
                left.as_secs() + 1,
                self.state().why
            )));
        }
        let start = Instant::now();
        let answer = call(&self.depot);
        let mut state = self.state();
        let meter = state.meters.entry(name).or_insert(Meter { call: name, ..Meter::default() });
        meter.n += 1;
        meter.failed += u64::from(answer.is_err());
        meter.seconds += start.elapsed().as_secs_f64();
        if let Err(DepotError::Unavailable(why)) = &answer {
            state.why.clone_from(why);
            state.failures += 1;
            if state.failures >= FAILURES {
                // The first call after the pause decides.
                state.failures = FAILURES - 1;
                state.down_until = Some(Instant::now() + DOWN);
            }
        } else {
            (state.failures, state.down_until) = (0, None);
        }
        answer
    }

    /// Makes a call that may be made again.
    fn again<T>(&self, name: &'static str, call: impl Fn(&D) -> Result<T>) -> Result<T> {
        let mut n = 1;
        loop {
            match self.once(name, &call) {
                Err(DepotError::Unavailable(_)) if n < TRIES && self.down_for().is_none() => {
                    // Many clients must not come back at the same moment.
                    let random = RandomState::new().build_hasher().finish() % 1_000;
                    let share = 0.5 + random as f64 / 1_000.0;
                    std::thread::sleep((PAUSE * 2u32.pow(n - 1)).mul_f64(share));
                    n += 1;
                }
                answer => return answer,
            }
        }
    }
}

impl<D: Depot> Depot for Patient<D> {
    fn prepare(&self, dimensions: usize) -> Result<()> {
        self.again("prepare", |depot| depot.prepare(dimensions))
    }

    fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>> {
        self.again("records", |depot| depot.records(names))
    }

    // What was written before the answer got lost would make a second try fail.
    fn replace(&self, record: &Record) -> Result<bool> {
        self.once("replace", |depot| depot.replace(record))
    }

    fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<Found>> {
        self.again("propose", |depot| depot.propose(at, wanted))
    }

    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
        self.again("facts", |depot| depot.facts(at, kind, keys))
    }

    fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>> {
        self.again("names", |depot| depot.names(at, kind))
    }

    // A second try would store the rows twice.
    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()> {
        self.once("insert", |depot| depot.insert(at, rows, facts))
    }

    fn retire(&self, at: At, facts: &[FactName]) -> Result<()> {
        self.again("retire", |depot| depot.retire(at, facts))
    }

    fn undo(&self, at: At) -> Result<()> {
        self.again("undo", |depot| depot.undo(at))
    }

    fn collect(&self, at: At) -> Result<u64> {
        self.again("collect", |depot| depot.collect(at))
    }

    fn remove(&self, repository: i64, name: &str) -> Result<()> {
        self.again("remove", |depot| depot.remove(repository, name))
    }

    fn size(&self, repository: i64) -> Result<Size> {
        self.again("size", |depot| depot.size(repository))
    }

    fn meters(&self) -> Vec<Meter> {
        self.state().meters.values().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::shelf::Shelf;

    /// A depot whose first calls get no answer.
    #[derive(Default)]
    struct Failing {
        shelf: Shelf,
        calls: AtomicU32,
        lost: u32,
    }

    impl Failing {
        fn call<T>(&self, call: impl FnOnce(&Shelf) -> Result<T>) -> Result<T> {
            if self.calls.fetch_add(1, Ordering::Relaxed) < self.lost {
                return Err(DepotError::Unavailable("lost".into()));
            }
            call(&self.shelf)
        }
    }

    impl Depot for Failing {
        fn prepare(&self, n: usize) -> Result<()> {
            self.call(|d| d.prepare(n))
        }
        fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>> {
            self.call(|d| d.records(names))
        }
        fn replace(&self, record: &Record) -> Result<bool> {
            self.call(|d| d.replace(record))
        }
        fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<Found>> {
            self.call(|d| d.propose(at, wanted))
        }
        fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
            self.call(|d| d.facts(at, kind, keys))
        }
        fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>> {
            self.call(|d| d.names(at, kind))
        }
        fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()> {
            self.call(|d| d.insert(at, rows, facts))
        }
        fn retire(&self, at: At, facts: &[FactName]) -> Result<()> {
            self.call(|d| d.retire(at, facts))
        }
        fn undo(&self, at: At) -> Result<()> {
            self.call(|d| d.undo(at))
        }
        fn collect(&self, at: At) -> Result<u64> {
            self.call(|d| d.collect(at))
        }
        fn remove(&self, repository: i64, name: &str) -> Result<()> {
            self.call(|d| d.remove(repository, name))
        }
        fn size(&self, repository: i64) -> Result<Size> {
            self.call(|d| d.size(repository))
        }
    }

    fn failing(lost: u32) -> Patient<Failing> {
        Patient::new(Failing { lost, ..Failing::default() })
    }

    #[test]
    fn a_call_that_reads_is_made_again_and_one_that_inserts_is_not() {
        let depot = failing(2);
        assert_eq!(depot.records(None).unwrap(), []);
        let depot = failing(1);
        let at = At { repository: 1, generation: 1 };
        assert!(matches!(depot.insert(at, &[], &[]), Err(DepotError::Unavailable(_))));
        assert_eq!(depot.depot.calls.load(Ordering::Relaxed), 1);
        assert!(depot.insert(at, &[], &[]).is_ok());
    }

    #[test]
    fn an_engine_that_is_down_is_not_asked_for_some_seconds() {
        let depot = failing(u32::MAX);
        for _ in 0..20 {
            assert!(matches!(depot.records(None), Err(DepotError::Unavailable(_))));
        }
        assert_eq!(depot.depot.calls.load(Ordering::Relaxed), FAILURES);
    }
}
