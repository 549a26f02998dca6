use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use cortex_depot::shelf::Shelf;
use cortex_depot::{At, Fact, FactName, Found, Row, Wanted};

use super::stored::SCHEMA;
use super::*;
use crate::chunk::{Chunk, ChunkDelta, ChunkSet, ChunkType, Metadata, Quantized};
use crate::search::{Corpus, CorpusBuilder, Read, VectorSource};

struct NoVectors;

impl VectorSource for NoVectors {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        vec![None; chunks.len()]
    }
}

/// Returns a corpus of files of one chunk: path, text.
fn corpus(files: &[(&str, &str)]) -> Corpus {
    let chunk = |(path, text): &(&str, &str)| Chunk {
        title: (*path).into(),
        metadata: Metadata { file_path: Some((*path).into()), ..Metadata::default() },
        ..Chunk::new(*path, ChunkType::Definitions, *text)
    };
    let chunks: Vec<_> = files.iter().map(|file| Arc::new(chunk(file).into())).collect();
    let set = Arc::new(ChunkSet::new(chunks).0);
    let delta = ChunkDelta::everything(&set);
    CorpusBuilder::new(4).unwrap().update(set, &delta, &mut NoVectors).unwrap()
}

/// A depot that does something before one of the calls that write.
struct Stopping<'a> {
    depot: &'a Shelf,
    /// Number of calls that write until then.
    left: AtomicUsize,
    meanwhile: &'a (dyn Fn() + Sync),
}

impl Stopping<'_> {
    fn writing(&self) -> &Shelf {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            (self.meanwhile)();
        }
        self.depot
    }
}

type Answer<T> = std::result::Result<T, DepotError>;

impl Depot for Stopping<'_> {
    fn prepare(&self, n: usize) -> Answer<()> {
        self.depot.prepare(n)
    }
    fn records(&self, names: Option<&[String]>) -> Answer<Vec<Record>> {
        self.depot.records(names)
    }
    fn replace(&self, record: &Record) -> Answer<bool> {
        self.writing().replace(record)
    }
    fn propose(&self, at: At, wanted: &Wanted) -> Answer<Vec<Found>> {
        self.depot.propose(at, wanted)
    }
    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Answer<Vec<Fact>> {
        self.depot.facts(at, kind, keys)
    }
    fn names(&self, at: At, kind: u8) -> Answer<Vec<(FactName, i64)>> {
        self.depot.names(at, kind)
    }
    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Answer<()> {
        self.writing().insert(at, rows, facts)
    }
    fn retire(&self, at: At, facts: &[FactName]) -> Answer<()> {
        self.writing().retire(at, facts)
    }
    fn undo(&self, at: At) -> Answer<()> {
        self.writing().undo(at)
    }
    fn collect(&self, at: At) -> Answer<u64> {
        self.writing().collect(at)
    }
    fn remove(&self, repository: i64, name: &str) -> Answer<()> {
        self.writing().remove(repository, name)
    }
    fn size(&self, repository: i64) -> Answer<cortex_depot::Size> {
        self.depot.size(repository)
    }
}

type Files<'a> = &'a [(&'a str, &'a str)];

const FIRST: Files = &[("a", "first"), ("b", "first")];
const OF_THE_SLEEPER: Files = &[("a", "of the sleeper"), ("c", "of the sleeper")];
const SECOND: Files = &[("a", "first"), ("b", "first"), ("c", "second")];

fn publish(depot: &dyn Depot, clock: &AtomicI64, files: Files) -> Result<Published> {
    let (commit, embedder) = ("", "none");
    let publication =
        Publication { name: "x", commit, embedder, corpus: &corpus(files), who: "somebody" };
    let now = || clock.load(Ordering::Relaxed);
    Publisher::new(depot, &now, &|_, _| ()).publish(&publication)
}

/// Returns what a question can see of these files: each with its text and whether its words find it.
fn seen(depot: &dyn Depot) -> Vec<(String, String, bool)> {
    let cache = Cache::new(0);
    let shared = Shared::open(depot, &cache, "x").unwrap();
    let mut seen = Vec::new();
    for path in ["a", "b", "c"] {
        let Some(chunks) = shared.file(path).unwrap() else { continue };
        let found = shared.holding(&chunks[0].text, 10).unwrap();
        let is_found = found.chunks().all().iter().any(|entry| entry.id == chunks[0].id);
        seen.push((path.into(), chunks[0].text.clone(), is_found));
    }
    seen
}

fn fresh(files: Files) -> Vec<(String, String, bool)> {
    files.iter().map(|(path, text)| ((*path).into(), (*text).into(), true)).collect()
}

/// A publisher is stopped before each of its writes in turn, for longer than its lease lasts.
/// Meanwhile another one publishes, or what is left by the dead is removed.
#[test]
fn a_publisher_that_slept_changes_nothing_of_what_another_one_published() {
    for is_published in [true, false] {
        let mut n_stopped = 0;
        loop {
            let depot = Shelf::default();
            let clock = AtomicI64::new(1_000);
            publish(&depot, &clock, FIRST).unwrap();
            let meanwhile = || {
                clock.fetch_add(3_600, Ordering::Relaxed);
                if is_published {
                    publish(&depot, &clock, SECOND).unwrap();
                } else {
                    collect(&depot, clock.load(Ordering::Relaxed)).unwrap();
                }
            };
            let left = AtomicUsize::new(n_stopped + 1);
            let sleeper = Stopping { depot: &depot, left, meanwhile: &meanwhile };
            let done = publish(&sleeper, &clock, OF_THE_SLEEPER);
            if clock.load(Ordering::Relaxed) == 1_000 {
                break;
            }
            let now = if is_published {
                SECOND
            } else if done.is_ok() {
                OF_THE_SLEEPER
            } else {
                FIRST
            };
            assert_eq!(seen(&depot), fresh(now), "before write {n_stopped}: {done:?}");
            // The next publications send what changed, and nothing is left of this.
            for files in [SECOND, OF_THE_SLEEPER] {
                publish(&depot, &clock, files).unwrap();
                assert_eq!(seen(&depot), fresh(files), "after write {n_stopped}: {done:?}");
            }
            clock.fetch_add(3_600, Ordering::Relaxed);
            collect(&depot, clock.load(Ordering::Relaxed)).unwrap();
            let all = repositories(&depot, true).unwrap();
            assert_eq!(all[0].size.unwrap().rows, 2, "after write {n_stopped}: {done:?}");
            n_stopped += 1;
        }
        assert!(n_stopped > 8, "{n_stopped}");
    }
}

#[test]
fn a_publication_that_was_interrupted_costs_the_next_one_all_files_and_others_what_changed() {
    let (depot, clock) = (Shelf::default(), AtomicI64::new(1_000));
    assert_eq!(publish(&depot, &clock, FIRST).unwrap().stored, 2);
    assert_eq!(publish(&depot, &clock, SECOND).unwrap().stored, 1);
    assert_eq!(publish(&depot, &clock, SECOND).unwrap().stored, 0);
    // Nobody publishes for an hour after this one has begun.
    let never = || panic!("killed");
    let killed = Stopping { depot: &depot, left: AtomicUsize::new(3), meanwhile: &never };
    let publishing = || publish(&killed, &clock, OF_THE_SLEEPER);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(publishing)).unwrap_err();
    assert!(matches!(publish(&depot, &clock, FIRST), Err(TeamError::Busy { .. })));
    clock.fetch_add(3_600, Ordering::Relaxed);
    assert_eq!(seen(&depot), fresh(SECOND));
    assert_eq!(publish(&depot, &clock, SECOND).unwrap().stored, 3);
    assert_eq!(publish(&depot, &clock, FIRST).unwrap().stored, 0);
    assert_eq!(seen(&depot), fresh(FIRST));
}

#[test]
fn a_record_of_another_version_is_refused_and_says_what_to_do() {
    let (depot, clock) = (Shelf::default(), AtomicI64::new(1_000));
    publish(&depot, &clock, FIRST).unwrap();
    let cache = Cache::new(0);
    let errors = |schema: u32, rest: &str| {
        let record = depot.records(None).unwrap().remove(0);
        let text = format!("{{\"schema\":{schema}{rest}}}");
        let record = Record { version: record.version + 1, text: text.clone(), ..record };
        assert!(depot.replace(&record).unwrap());
        [
            Shared::open(&depot, &cache, "x").err().unwrap(),
            Shared::of_record(&depot, &cache, "x", &text).err().unwrap(),
            publish(&depot, &clock, FIRST).unwrap_err(),
        ]
        .map(|error| error.to_string())
    };
    let newer = format!(
        "`x` was published by a newer cortex (schema {} of its record, {SCHEMA} is",
        SCHEMA + 1
    );
    for error in errors(SCHEMA + 1, ",\"generation\":[1]") {
        assert!(error.contains(&newer) && error.contains("install that one"), "{error}");
    }
    // What a newer version stored is not removed in part.
    assert!(matches!(remove(&depot, "x"), Err(TeamError::Newer { .. })));
    for error in errors(SCHEMA - 1, "") {
        assert!(error.contains("publish it again after `cortex team remove x`"), "{error}");
    }
    assert!(remove(&depot, "x").unwrap());
    publish(&depot, &clock, SECOND).unwrap();
}
