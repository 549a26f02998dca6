//! A depot in the memory of the process: exact, and as slow as its size. It shows what an engine must
//! answer, and tests use it where no server runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{At, Depot, FILE, Fact, FactName, LIVING, Record, Result, Row, Size, Sparse, Wanted};

/// The depot.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    records: BTreeMap<String, Record>,
    rows: BTreeMap<i64, Vec<Kept<Row>>>,
    facts: BTreeMap<i64, Vec<Kept<Fact>>>,
}

#[derive(Debug)]
struct Kept<T> {
    what: T,
    born: u64,
    died: u64,
}

impl<T> Kept<T> {
    fn is_seen(&self, generation: u64) -> bool {
        self.born <= generation && generation < self.died
    }
}

/// Returns what a question sees of a repository.
fn seen<T>(all: &BTreeMap<i64, Vec<Kept<T>>>, at: At) -> impl Iterator<Item = &T> {
    let kept = all.get(&at.repository).into_iter().flatten();
    kept.filter(move |kept| kept.is_seen(at.generation)).map(|kept| &kept.what)
}

fn product(a: &Sparse, b: &Sparse) -> f32 {
    let weight = |(dimension, weight): &(u32, f32)| {
        b.binary_search_by_key(dimension, |entry| entry.0).map_or(0.0, |at| weight * b[at].1)
    };
    a.iter().map(weight).sum()
}

impl Shelf {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Depot for Shelf {
    fn prepare(&self, _dimensions: usize) -> Result<()> {
        Ok(())
    }

    fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>> {
        let held = self.held();
        let is_asked = |record: &&Record| names.is_none_or(|names| names.contains(&record.name));
        Ok(held.records.values().filter(is_asked).cloned().collect())
    }

    fn replace(&self, record: &Record) -> Result<bool> {
        let mut held = self.held();
        let stored = held.records.get(&record.name).map_or(0, |stored| stored.version);
        let fits = stored + 1 == record.version;
        if fits {
            held.records.insert(record.name.clone(), record.clone());
        }
        Ok(fits)
    }

    fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<i64>> {
        let held = self.held();
        let may =
            |row: &&Row| wanted.only.iter().all(|set| set.iter().any(|key| row.keys.contains(key)));
        let rows: Vec<&Row> = seen(&held.rows, at).filter(may).collect();
        let mut files = BTreeSet::new();
        let mut best = |score: &dyn Fn(&Row) -> f32| {
            let mut scored: Vec<(f32, i64)> =
                rows.iter().map(|row| (score(row), row.file)).filter(|row| row.0 > 0.0).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0));
            files.extend(scored.into_iter().take(wanted.limit).map(|row| row.1));
        };
        for words in &wanted.words {
            best(&|row| product(words, &row.words));
        }
        best(&|row| row.vector.iter().zip(&wanted.vector).map(|(a, b)| a * b).sum());
        for keys in &wanted.keys {
            best(&|row| if keys.iter().any(|key| row.keys.contains(key)) { 1.0 } else { 0.0 });
        }
        Ok(files.into_iter().collect())
    }

    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
        let held = self.held();
        let is_asked = |fact: &&Fact| fact.kind == kind && keys.contains(&fact.key);
        Ok(seen(&held.facts, at).filter(is_asked).cloned().collect())
    }

    fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>> {
        let held = self.held();
        let facts = seen(&held.facts, at).filter(|fact| fact.kind == kind);
        Ok(facts.map(|fact| (FactName { kind, key: fact.key }, fact.hash)).collect())
    }

    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()> {
        let held = &mut *self.held();
        let born = at.generation;
        let of = held.rows.entry(at.repository).or_default();
        of.extend(rows.iter().map(|row| Kept { what: row.clone(), born, died: LIVING }));
        let of = held.facts.entry(at.repository).or_default();
        of.extend(facts.iter().map(|fact| Kept { what: fact.clone(), born, died: LIVING }));
        Ok(())
    }

    fn retire(&self, at: At, facts: &[FactName]) -> Result<()> {
        let held = &mut *self.held();
        let names: BTreeSet<FactName> = facts.iter().copied().collect();
        let files: BTreeSet<i64> = facts.iter().filter(|f| f.kind == FILE).map(|f| f.key).collect();
        for fact in held.facts.entry(at.repository).or_default() {
            let name = FactName { kind: fact.what.kind, key: fact.what.key };
            if fact.died == LIVING && fact.born < at.generation && names.contains(&name) {
                fact.died = at.generation;
            }
        }
        for row in held.rows.entry(at.repository).or_default() {
            if row.died == LIVING && row.born < at.generation && files.contains(&row.what.file) {
                row.died = at.generation;
            }
        }
        Ok(())
    }

    fn undo(&self, at: At) -> Result<()> {
        fn back<T>(kept: Option<&mut Vec<Kept<T>>>, generation: u64) {
            let Some(kept) = kept else { return };
            kept.retain(|kept| kept.born <= generation);
            for kept in kept.iter_mut().filter(|kept| kept.died > generation) {
                kept.died = LIVING;
            }
        }
        let held = &mut *self.held();
        back(held.rows.get_mut(&at.repository), at.generation);
        back(held.facts.get_mut(&at.repository), at.generation);
        Ok(())
    }

    fn collect(&self, at: At) -> Result<u64> {
        fn rid<T>(kept: Option<&mut Vec<Kept<T>>>, generation: u64) -> usize {
            let Some(kept) = kept else { return 0 };
            let before = kept.len();
            kept.retain(|kept| kept.died > generation);
            before - kept.len()
        }
        let held = &mut *self.held();
        let n = rid(held.rows.get_mut(&at.repository), at.generation)
            + rid(held.facts.get_mut(&at.repository), at.generation);
        Ok(n as u64)
    }

    fn remove(&self, repository: i64, name: &str) -> Result<()> {
        let held = &mut *self.held();
        held.records.remove(name);
        held.rows.remove(&repository);
        held.facts.remove(&repository);
        Ok(())
    }

    fn size(&self, repository: i64) -> Result<Size> {
        let held = self.held();
        let facts = held.facts.get(&repository).map_or(&[][..], Vec::as_slice);
        Ok(Size {
            rows: held.rows.get(&repository).map_or(0, Vec::len) as u64,
            facts: facts.len() as u64,
            bytes: facts.iter().map(|fact| fact.what.data.len() as u64).sum(),
        })
    }
}
