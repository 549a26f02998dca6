#![expect(clippy::cast_possible_truncation, reason = "small numbers of a test")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::chunk::Quantized;

const DIMENSIONS: usize = 16;
/// Number of vectors. A query of an HNSW graph finds fewer, so the graph leaves some out.
const MANY: usize = 400;

fn put(t: &mut VectorTable, slot: Slot, v: &[f32]) {
    t.set(slot, Some(&Quantized::new(v)));
}

fn unit(v: &[f32]) -> Vec<f32> {
    let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
    v.iter().map(|x| x / norm).collect()
}

/// Returns a distinct vector for each seed, in one of sixteen directions, as texts have topics.
fn vector(seed: usize) -> Vec<f32> {
    let noise = |i: usize| {
        xxhash_rust::xxh3::xxh3_64_with_seed(&i.to_le_bytes(), seed as u64) as u32 as f32
            / u32::MAX as f32
            - 0.5
    };
    unit(
        &(0..DIMENSIONS)
            .map(|i| noise(i) + if i == seed % 16 { 1.0 } else { 0.0 })
            .collect::<Vec<_>>(),
    )
}

fn table_of(seeds: impl IntoIterator<Item = usize>) -> VectorTable {
    let mut table = VectorTable::new(DIMENSIONS);
    for (slot, seed) in (0..).zip(seeds) {
        put(&mut table, slot, &vector(seed));
    }
    table
}

/// The HNSW graph of `table_of(0..MANY)`.
static HNSW: LazyLock<Arc<Hnsw>> =
    LazyLock::new(|| Arc::new(table_of(0..MANY).build_hnsw(&AtomicBool::new(false)).unwrap()));

/// `table_of(0..MANY)` with its HNSW graph.
fn many() -> VectorTable {
    let mut table = table_of(0..MANY);
    table.attach(HNSW.clone());
    table
}

/// Returns the table with an HNSW graph of its present vectors.
fn with_hnsw(mut table: VectorTable) -> VectorTable {
    let hnsw = table.build_hnsw(&AtomicBool::new(false)).unwrap();
    table.attach(Arc::new(hnsw));
    table
}

/// Returns the `n` nearest, nearest first, ties by slot.
fn nearest(asked: &Nearness, n: usize, allowed: impl Fn(Slot) -> bool) -> Vec<(Slot, f32)> {
    let mut found = asked
        .near(n, -1.0, |slot| asked.table.get(slot).is_some() && allowed(slot))
        .collect::<Vec<_>>();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(n);
    found
}

fn is_scanned(asked: &Nearness) -> bool {
    asked.all.get().is_some()
}

#[test]
fn a_copy_shares_what_was_not_written() {
    let mut a = VectorTable::new(4);
    put(&mut a, 0, &[1.0, 0.0, 0.0, 0.0]);
    put(&mut a, 3000, &[0.0, 1.0, 0.0, 0.0]);
    let mut b = a.clone();
    b.clear(0);
    let x = [1.0, 0.0, 0.0, 0.0];
    assert!((a.ask(&x).cosine(0) - 1.0).abs() < 1e-3, "the old table is untouched");
    assert!(b.ask(&x).cosine(0).abs() < 1e-6);
    assert!(Arc::ptr_eq(a.rows.get(3000).unwrap().0, b.rows.get(3000).unwrap().0));
}

#[test]
fn a_query_without_a_vector_finds_nothing() {
    let table = table_of(0..3);
    for none in [&[][..], &[0.0; DIMENSIONS], &[1.0]] {
        let asked = table.ask(none);
        assert!(
            asked.all().is_empty()
                && asked.near(10, -1.0, |_| true).next().is_none()
                && asked.cosine(0) == 0.0
        );
    }
}

#[test]
fn a_graph_answers_without_looking_at_every_vector() {
    let table = many();
    for seed in 0..20 {
        let query = vector(MANY + seed);
        let asked = table.ask(&query);
        let found = nearest(&asked, 10, |_| true);
        assert!(!is_scanned(&asked));
        let all = table.ask(&query);
        all.all();
        assert!(
            found.iter().all(|(slot, cosine)| all.cosine(*slot).to_bits() == cosine.to_bits()),
            "its cosines are the exact ones"
        );
    }
}

/// If the results of the graph reach below `min`, nothing that counts was left out, so no scan is
/// needed.
#[test]
fn a_graph_answers_when_few_are_near_enough() {
    let table = many();
    let asked = table.ask(&vector(3));
    let n_near = asked.near(MANY, 0.9, |_| true).count();
    assert!(!is_scanned(&asked) && (1..MANY).contains(&n_near));
}

#[test]
fn neither_a_filter_nor_deletions_starve_a_graph() {
    let mut table = many();
    let query = vector(0);
    let order = nearest(&table.ask(&query), MANY, |_| true);
    let asked = table.ask(&query);
    let rare = nearest(&asked, 10, |slot| order[MANY - 20..].iter().any(|f| f.0 == slot));
    assert!(is_scanned(&asked));
    assert_eq!(rare, order[MANY - 20..MANY - 10]);
    order[..320].iter().for_each(|f| table.clear(f.0));
    assert_eq!(nearest(&table.ask(&query), 10, |_| true), order[320..330]);
}

#[test]
fn a_graph_is_wanted_by_many_and_again_when_a_tenth_changed() {
    let mut table = table_of(0..50);
    assert!(table.wants_hnsw(50) && !table.wants_hnsw(51));
    table = with_hnsw(table);
    assert!(!table.wants_hnsw(50));
    (0..5).for_each(|slot| table.clear(slot));
    assert!(!table.wants_hnsw(10));
    put(&mut table, 200, &vector(200));
    assert!(table.wants_hnsw(10));
}

#[test]
fn a_build_can_be_cancelled() {
    assert!(table_of(0..50).build_hnsw(&AtomicBool::new(true)).is_none());
}

#[test]
fn a_graph_comes_back_from_its_bytes_to_other_slots() {
    let bytes = HNSW.to_bytes().unwrap();
    // Some were added, some removed, all moved, and two are equal.
    let mut table = table_of((20..MANY + 20).rev().chain([100]));
    let exact = table.clone();
    let hnsw = table.read_hnsw(&bytes).unwrap();
    table.attach(Arc::new(hnsw));
    for seed in 0..20 {
        let query = vector(MANY + 100 + seed);
        let asked = table.ask(&query);
        let found = nearest(&asked, 10, |_| true);
        assert!(!is_scanned(&asked));
        assert_eq!(found, nearest(&exact.ask(&query), 10, |_| true));
    }
    for at in (0..bytes.len()).step_by(997) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(table.read_hnsw(&damaged).is_none() && table.read_hnsw(&bytes[..at]).is_none());
    }
}

#[derive(Debug, Clone)]
enum Op {
    /// Sets the vectors of a range of slots from this first seed, or removes them.
    Set(Slot, Slot, Option<usize>),
    Build,
    /// Attaches the last HNSW graph again, which does not know the changes since.
    Attach,
}

fn op() -> impl Strategy<Value = Op> {
    let from = 0..MANY as Slot + 50;
    let set = |n| {
        (from.clone(), prop::option::weighted(0.7, 0..4000usize))
            .prop_map(move |(from, seed)| Op::Set(from, n, seed))
    };
    prop_oneof![40 => set(1), 5 => set(30), 1 => Just(Op::Build), 2 => Just(Op::Attach)]
}

proptest! {
    // Building a graph takes a debug build long.
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("STRESS").is_some() { 64 } else { 4 }))]

    /// After any sequence of additions, updates, deletions and rebuilds the exact tier finds what
    /// brute force finds, and the approximate one at least 95 of 100 of it.
    #[test]
    fn both_tiers_find_what_brute_force_finds(ops in prop::collection::vec(op(), 1..80)) {
        let mut model: BTreeMap<Slot, usize> = (0..MANY).map(|i| (i as Slot, i)).collect();
        let mut exact = table_of(0..MANY);
        let mut approximate = many();
        let mut last = HNSW.clone();
        for op in ops {
            match op {
                Op::Set(from, n, seed) => for i in 0..n {
                    for table in [&mut exact, &mut approximate] {
                        match seed {
                            Some(seed) => put(table, from + i, &vector(seed + i as usize)),
                            None => table.clear(from + i),
                        }
                    }
                    model.remove(&(from + i));
                    model.extend(seed.map(|seed| (from + i, seed + i as usize)));
                },
                Op::Build => {
                    approximate = with_hnsw(approximate);
                    last = approximate.hnsw.as_ref().unwrap().hnsw.clone();
                }
                Op::Attach => approximate.attach(last.clone()),
            }
        }
        let (mut found, mut wanted) = (0, 0);
        for seed in 5000..5020 {
            let query = vector(seed);
            let cosine = |v: &[f32]| v.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
            let mut truth: Vec<(Slot, f32)> = model.iter().map(|(slot, seed)| (*slot, cosine(&vector(*seed)))).collect();
            truth.sort_by(|a, b| b.1.total_cmp(&a.1));
            truth.truncate(10);
            let least = truth.last().map_or(1.0, |t| t.1);
            // Eight bits change a cosine by less than this.
            let counts = |f: &&(Slot, f32)| model.get(&f.0).is_some_and(|seed| cosine(&vector(*seed)) >= least - 0.01);
            let all = nearest(&exact.ask(&query), 10, |_| true);
            prop_assert_eq!(all.iter().filter(counts).count(), truth.len());
            let near = nearest(&approximate.ask(&query), 10, |_| true);
            prop_assert!(near.iter().all(|f| model.contains_key(&f.0)), "what is gone is not found");
            wanted += all.len();
            found += near.iter().filter(|f| all.contains(f)).count();
        }
        prop_assert!(found * 100 >= wanted * 95, "{found} of {wanted}");
    }

    /// Eight bits are enough: every cosine is within 0.01 of the exact one.
    #[test]
    fn cosines_are_those_of_the_given_vectors(vectors in prop::collection::vec(prop::collection::vec(-1f32..1.0, 64), 1..20)) {
        let mut t = VectorTable::new(64);
        for (i, v) in vectors.iter().enumerate() { put(&mut t, i as Slot, v); }
        let query = unit(&vectors[0]);
        let asked = t.ask(&query);
        for (slot, v) in (0..).zip(&vectors) {
            let want: f32 = unit(v).iter().zip(&query).map(|(a, b)| a * b).sum();
            let got = asked.cosine(slot);
            prop_assert!((want - got).abs() < 0.01, "{want} is not {got}");
            let one = t.rows.cosine(asked.question.as_ref().unwrap(), slot);
            prop_assert_eq!(one.to_bits(), got.to_bits(), "one by one as all together");
        }
    }
}
