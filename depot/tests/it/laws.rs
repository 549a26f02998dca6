//! What holds for every depot. Each law uses repositories and names of its own, so that all of them
//! run over one engine.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cortex_depot::shelf::Shelf;
use cortex_depot::{
    At, DIMENSIONS, Depot, DepotError, FILE, Fact, FactName, Found, Record, Row, Sparse, Wanted,
};

/// Length of the laws' vectors.
pub const VECTOR: usize = 16;

/// How exact the scores of an engine are: the largest error of a score.
#[derive(Clone, Copy)]
pub struct Precision {
    pub words: f32,
    pub vector: f32,
}

/// Checks all laws that need no control over the server.
pub fn all(depot: &dyn Depot, precision: Precision) {
    depot.prepare(VECTOR).unwrap();
    depot.prepare(VECTOR).unwrap();
    generations_are_isolated(depot);
    undo_brings_a_generation_back(depot);
    collect_removes_what_no_one_sees(depot);
    a_row_born_at_a_generation_is_not_retired_from_it(depot);
    one_of_several_publishers_replaces_a_record(depot);
    records_are_found_by_name(depot);
    proposals_are_those_of_a_shelf(depot, precision, &|| ());
    facts_of_all_sizes_come_back(depot);
    extreme_keys_are_keys(depot);
    repositories_do_not_see_each_other(depot);
    a_writer_that_comes_back_is_not_seen_under_the_next_number(depot);
    remove_leaves_nothing(depot);
    nothing_asked_is_nothing_proposed(depot);
}

/// Returns why a call was refused.
pub fn refusal<T: std::fmt::Debug>(answer: Result<T, DepotError>) -> String {
    match answer {
        Err(DepotError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

/// The engine is new. Nothing of a refused insertion is stored, and vectors are of 4 dimensions then.
pub fn what_is_not_valid_is_refused(depot: &dyn Depot, too_long: usize, longest: &str) {
    let at = At { repository: 1, generation: 1 };
    assert!(refusal(depot.names(at, 0)).contains("publish a repository first"));
    assert!(refusal(depot.prepare(too_long)).contains(longest));
    // Several publishers at once create what is needed once.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| depot.prepare(4).unwrap());
        }
    });
    assert!(refusal(depot.prepare(5)).contains("of 4 dimensions, not 5"));
    let row = |words, vector| Row { file: 1, words, vector, keys: vec![] };
    for words in
        [vec![(2, 1.0), (1, 1.0)], vec![(1, 0.0)], vec![(1, f32::NAN)], vec![(u32::MAX, 1.0)]]
    {
        refusal(depot.insert(at, &[row(vec![], vec![]), row(words, vec![])], &[]));
    }
    refusal(depot.insert(at, &[row(vec![], vec![]), row(vec![], vec![1.0; 5])], &[]));
    refusal(depot.insert(At { generation: u64::MAX, ..at }, &[], &[]));
    refusal(depot.names(At { generation: i64::MAX as u64, ..at }, 0));
    assert_eq!(depot.size(1).unwrap().rows, 0, "part of a refused insertion is stored");
    depot.insert(at, &[row(vec![], vec![1.0; 4])], &[]).unwrap();
    refusal(depot.propose(at, &Wanted { vector: vec![1.0; 5], limit: 1, ..Wanted::default() }));
}

fn at(repository: i64, generation: u64) -> At {
    At { repository, generation }
}

fn fact(kind: u8, key: i64, data: &[u8]) -> Fact {
    Fact { kind, key, hash: key ^ data.len() as i64, data: data.to_vec() }
}

fn name(kind: u8, key: i64) -> FactName {
    FactName { kind, key }
}

/// A row of a file that is found by one word, one direction and one key.
fn row(file: i64, word: u32, key: i32) -> Row {
    let mut vector = vec![0.0; VECTOR];
    vector[word as usize % VECTOR] = 1.0;
    Row { file, words: vec![(word, 1.0)], vector, keys: vec![key] }
}

fn by_word(word: u32) -> Wanted {
    Wanted { words: vec![vec![(word, 1.0)]], limit: 10, ..Wanted::default() }
}

fn by_key(key: i32) -> Wanted {
    Wanted { keys: vec![vec![key]], limit: 10, ..Wanted::default() }
}

fn found(depot: &dyn Depot, at: At, wanted: &Wanted) -> Vec<Found> {
    let mut found = depot.propose(at, wanted).unwrap();
    assert!(found.iter().all(|found| found.born <= at.generation), "{found:?}");
    found.sort_unstable();
    found
}

/// The keys of the proposed files.
fn proposed(depot: &dyn Depot, at: At, wanted: &Wanted) -> Vec<i64> {
    found(depot, at, wanted).iter().map(|found| found.file).collect()
}

fn names(depot: &dyn Depot, at: At, kind: u8) -> Vec<(FactName, i64)> {
    let mut names = depot.names(at, kind).unwrap();
    names.sort_unstable();
    names
}

/// Everything of a repository that a question can see at a generation.
fn all_seen(depot: &dyn Depot, at: At) -> (Vec<(FactName, i64)>, Vec<i64>, Vec<i64>) {
    let files = proposed(depot, at, &by_word(5));
    (names(depot, at, FILE), files, proposed(depot, at, &by_key(50)))
}

/// Stores two files at generation 1, and replaces the second and adds a third at generation 2.
fn publish_two(depot: &dyn Depot, repository: i64) {
    let first = at(repository, 1);
    depot
        .insert(first, &[row(1, 5, 50), row(2, 5, 50)], &[fact(FILE, 1, b"1"), fact(FILE, 2, b"2")])
        .unwrap();
    let second = at(repository, 2);
    depot.retire(second, &[name(FILE, 2), name(FILE, 99)]).unwrap();
    depot
        .insert(
            second,
            &[row(2, 6, 60), row(3, 5, 50)],
            &[fact(FILE, 2, b"two"), fact(FILE, 3, b"3")],
        )
        .unwrap();
}

fn generations_are_isolated(depot: &dyn Depot) {
    publish_two(depot, 101);
    assert_eq!(all_seen(depot, at(101, 0)), (vec![], vec![], vec![]));
    let [one, two, three] = [1, 2, 3].map(|key| (name(FILE, key), key ^ 1));
    assert_eq!(all_seen(depot, at(101, 1)), (vec![one, two], vec![1, 2], vec![1, 2]));
    let two = (name(FILE, 2), 2 ^ 3);
    assert_eq!(all_seen(depot, at(101, 2)), (vec![one, two, three], vec![1, 3], vec![1, 3]));
    assert_eq!(all_seen(depot, at(101, 9)), all_seen(depot, at(101, 2)));
    assert_eq!(depot.facts(at(101, 1), FILE, &[2, 3]).unwrap(), [fact(FILE, 2, b"2")]);
    assert_eq!(depot.facts(at(101, 2), FILE, &[2]).unwrap(), [fact(FILE, 2, b"two")]);
}

fn undo_brings_a_generation_back(depot: &dyn Depot) {
    publish_two(depot, 102);
    let before = all_seen(depot, at(102, 1));
    depot.undo(at(102, 1)).unwrap();
    assert_eq!(all_seen(depot, at(102, 1)), before);
    assert_eq!(all_seen(depot, at(102, 2)), before);
    assert_eq!(depot.size(102).unwrap().rows, 2);
    depot.undo(at(102, 1)).unwrap();
    depot.retire(at(102, 2), &[name(FILE, 1)]).unwrap();
    assert_eq!(proposed(depot, at(102, 2), &by_word(5)), [2]);
}

fn collect_removes_what_no_one_sees(depot: &dyn Depot) {
    publish_two(depot, 103);
    let now = all_seen(depot, at(103, 2));
    assert_eq!(depot.collect(at(103, 1)).unwrap(), 0);
    assert_eq!(depot.collect(at(103, 2)).unwrap(), 2);
    assert_eq!(depot.collect(at(103, 2)).unwrap(), 0);
    assert_eq!(all_seen(depot, at(103, 2)), now);
    let size = depot.size(103).unwrap();
    assert_eq!((size.rows, size.facts, size.bytes), (3, 3, 5));
}

fn a_row_born_at_a_generation_is_not_retired_from_it(depot: &dyn Depot) {
    publish_two(depot, 104);
    depot.retire(at(104, 2), &[name(FILE, 1), name(FILE, 2), name(FILE, 3)]).unwrap();
    assert_eq!(proposed(depot, at(104, 2), &by_word(5)), [3]);
    assert_eq!(names(depot, at(104, 2), FILE).len(), 2);
    // A fact of another kind takes no rows with it.
    depot.insert(at(104, 2), &[], &[fact(1, 3, b"")]).unwrap();
    depot.retire(at(104, 3), &[name(1, 3)]).unwrap();
    assert_eq!(proposed(depot, at(104, 3), &by_word(5)), [3]);
    assert_eq!(names(depot, at(104, 3), 1), []);
    assert_eq!(names(depot, at(104, 2), 1).len(), 1);
    depot.retire(at(104, 3), &[]).unwrap();
}

fn one_of_several_publishers_replaces_a_record(depot: &dyn Depot) {
    let record = |version, text: &str| Record { name: "raced".into(), version, text: text.into() };
    for version in 1..=5 {
        let winners = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for publisher in 0..8 {
                let (winners, record) = (&winners, record(version, &publisher.to_string()));
                scope.spawn(move || {
                    if depot.replace(&record).unwrap() {
                        winners.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(winners.into_inner(), 1, "at version {version}");
        let stored = depot.records(Some(&["raced".into()])).unwrap();
        assert_eq!((stored.len(), stored[0].version), (1, version));
    }
    for version in [0, 1, 5, 7, 1 << 40] {
        assert!(!depot.replace(&record(version, "late")).unwrap());
    }
}

fn records_are_found_by_name(depot: &dyn Depot) {
    let names = ["a/b", "A'\"; --", "größe-ß", "B", "no/such"].map(str::to_owned);
    for name in &names[..4] {
        let text = format!("text of {name} {}", "x".repeat(100_000));
        let record = Record { name: name.clone(), version: 1, text };
        assert!(depot.replace(&record).unwrap());
        assert_eq!(depot.records(Some(std::slice::from_ref(name))).unwrap(), [record]);
    }
    let found = |records: Vec<Record>| {
        let known = records.into_iter().map(|record| record.name);
        known.filter(|name| names.contains(name)).collect::<Vec<_>>()
    };
    let sorted = ["A'\"; --", "B", "a/b", "größe-ß"];
    assert_eq!(found(depot.records(Some(&names)).unwrap()), sorted);
    assert_eq!(found(depot.records(None).unwrap()), sorted);
    assert_eq!(depot.records(Some(&[])).unwrap(), []);
}

/// Returns the vector of this direction whose norm is 1.
pub fn normal(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    for v in &mut vector {
        *v /= norm;
    }
    vector
}

/// Numbers that look random and are the same each time (Steele and others, `SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    /// Above 0 and at most 1.
    pub fn unit(&mut self) -> f32 {
        (self.below(1 << 20) + 1) as f32 / (1 << 20) as f32
    }

    /// Words of which small ones are frequent.
    fn words(&mut self, n: u32) -> Sparse {
        let word = |random: &mut Self| {
            let rank = 1 + random.below(100) * random.below(100) / 100;
            rank.wrapping_mul(987_654_321) % DIMENSIONS
        };
        let words: BTreeSet<u32> = (0..n).map(|_| word(self)).chain([DIMENSIONS - 1]).collect();
        words.into_iter().map(|word| (word, self.unit())).collect()
    }

    fn vector(&mut self) -> Vec<f32> {
        normal((0..VECTOR).map(|_| self.unit() - 0.5).collect())
    }

    fn keys(&mut self, n: u32) -> Vec<i32> {
        let keys: BTreeSet<i32> = (0..n).map(|_| self.below(12) as i32 - 6).collect();
        keys.into_iter().collect()
    }

    fn row(&mut self, file: i64) -> Row {
        let vector = if self.below(10) == 0 { vec![] } else { self.vector() };
        Row { file, words: self.words(20), vector, keys: self.keys(3) }
    }

    fn wanted(&mut self, limit: usize) -> Wanted {
        let mut wanted = Wanted { limit, ..Wanted::default() };
        for _ in 0..self.below(3) {
            wanted.words.push(self.words(4));
        }
        if self.below(2) == 0 {
            wanted.vector = self.vector();
        }
        for _ in 0..self.below(3) {
            wanted.keys.push(self.keys(2));
        }
        for _ in 0..self.below(3) {
            wanted.only.push(self.keys(5));
        }
        wanted
    }
}

/// Returns the parts of a question as questions of their own, each with the error of its scores.
fn parts(wanted: &Wanted, precision: Precision) -> Vec<(Wanted, f32)> {
    let alone = Wanted { only: wanted.only.clone(), limit: wanted.limit, ..Wanted::default() };
    let words = wanted
        .words
        .iter()
        .map(|words| (Wanted { words: vec![words.clone()], ..alone.clone() }, precision.words));
    let keys = wanted.keys.iter();
    let keys = keys.map(|keys| (Wanted { keys: vec![keys.clone()], ..alone.clone() }, 0.0));
    let vector = Wanted { vector: wanted.vector.clone(), ..alone.clone() };
    words.chain(keys).chain([(vector, precision.vector)]).collect()
}

/// Returns the scores of the rows that a question of one part proposes without a limit.
fn scores<'a>(rows: &[&'a Row], part: &Wanted) -> Vec<(f32, &'a Row)> {
    let weight = |row: &Row, word: u32| row.words.iter().find(|at| at.0 == word).map(|at| at.1);
    let mut scored = Vec::new();
    for &row in rows {
        let words = part.words.first().into_iter().flatten();
        let words: f32 = words.map(|(word, w)| w * weight(row, *word).unwrap_or(0.0)).sum();
        let vector: f32 = row.vector.iter().zip(&part.vector).map(|(a, b)| a * b).sum();
        let keys = part.keys.iter().flatten().any(|key| row.keys.contains(key));
        let may = part.only.iter().all(|set| set.iter().any(|key| row.keys.contains(key)));
        let score = words + vector + f32::from(u8::from(keys));
        if may {
            scored.push((score, row));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored
}

/// `settle` is called after each change.
pub fn proposals_are_those_of_a_shelf(depot: &dyn Depot, precision: Precision, settle: &dyn Fn()) {
    let random = &mut Random(43);
    let shelf = Shelf::default();
    let old: Vec<Row> = (0..150).map(|n| random.row(n / 3)).collect();
    let new: Vec<Row> = (0..150).map(|n| random.row(40 + n / 3)).collect();
    let retired: Vec<FactName> = (40..50).map(|key| name(FILE, key)).collect();
    for depot in [depot, &shelf] {
        depot.insert(at(105, 1), &old, &[]).unwrap();
        depot.insert(at(106, 1), &new, &[]).unwrap();
        settle();
        depot.retire(at(105, 2), &retired).unwrap();
        settle();
        depot.insert(at(105, 2), &new, &[]).unwrap();
        settle();
    }
    let seen: Vec<&Row> = old.iter().filter(|row| row.file < 40).chain(&new).collect();
    for _ in 0..30 {
        // Without a limit: the same files, except for vectors that are nearly orthogonal.
        let mut wanted = random.wanted(1_000);
        if precision.vector > 0.0 {
            wanted.vector.clear();
        }
        for generation in [1, 2] {
            let at = at(105, generation);
            assert_eq!(found(depot, at, &wanted), found(&shelf, at, &wanted), "{wanted:?}");
        }
    }
    for _ in 0..60 {
        // With one: the best, except for those whose scores the engine cannot tell from the last.
        let wanted = random.wanted(20);
        let (mut must, mut may, mut most) = (BTreeSet::new(), BTreeSet::new(), 0);
        for (part, error) in parts(&wanted, precision) {
            let scored = scores(&seen, &part);
            let last = scored.get(wanted.limit - 1).map_or(0.0, |last| last.0);
            let error = error.max(last * 1e-5);
            let files = |least: f32, open: bool| {
                let fits = move |score: f32| if open { score > least } else { score >= least };
                scored.iter().filter(move |at| fits(at.0)).map(|at| at.1.file)
            };
            must.extend(files((last + error).max(error), true));
            may.extend(files((last - error).max(f32::MIN_POSITIVE - error), false));
            most += wanted.limit;
        }
        let got = proposed(depot, at(105, 2), &wanted);
        let unique: BTreeSet<i64> = got.iter().copied().collect();
        assert_eq!(unique.len(), got.len(), "a file is proposed twice");
        assert!(got.len() <= most);
        assert!(must.is_subset(&unique), "{:?} are missing: {wanted:?}", &must - &unique);
        assert!(unique.is_subset(&may), "{:?} are too many: {wanted:?}", &unique - &may);
    }
}

fn facts_of_all_sizes_come_back(depot: &dyn Depot) {
    let random = &mut Random(7);
    let mut facts = Vec::new();
    for (key, size) in [0, 1, 1 << 20, 5 << 20].into_iter().enumerate() {
        let data: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
        facts.push(fact(255, key as i64, &data));
    }
    depot.insert(at(107, 1), &[], &facts).unwrap();
    let mut got = depot.facts(at(107, 1), 255, &[3, 2, 1, 0, 77]).unwrap();
    got.sort_by_key(|fact| fact.key);
    assert!(got == facts, "a fact is changed");
    let size = depot.size(107).unwrap();
    assert_eq!((size.rows, size.facts, size.bytes), (0, 4, 1 + (6 << 20)));
    assert_eq!(depot.facts(at(107, 1), 255, &[]).unwrap(), []);
}

fn extreme_keys_are_keys(depot: &dyn Depot) {
    let repository = i64::MAX;
    let keys = [i64::MIN, -1, 0, i64::MAX];
    let facts: Vec<Fact> =
        keys.iter().map(|&key| Fact { hash: key, ..fact(3, key, b"x") }).collect();
    let mut rows: Vec<Row> = keys.iter().map(|&file| row(file, DIMENSIONS - 1, i32::MIN)).collect();
    rows.push(row(5, 0, i32::MAX));
    depot.insert(at(repository, 1), &rows, &facts).unwrap();
    let mut got = depot.facts(at(repository, 1), 3, &keys).unwrap();
    got.sort_by_key(|fact| fact.key);
    assert_eq!(got, facts);
    assert_eq!(proposed(depot, at(repository, 1), &by_word(DIMENSIONS - 1)), keys);
    assert_eq!(proposed(depot, at(repository, 1), &by_key(i32::MIN)), keys);
    assert_eq!(proposed(depot, at(repository, 1), &by_key(i32::MAX)), [5]);
    assert_eq!(proposed(depot, at(repository, 1), &by_word(0)), [5]);
    depot.remove(repository, "none").unwrap();
}

fn repositories_do_not_see_each_other(depot: &dyn Depot) {
    for repository in 110..114 {
        let file = repository * 10;
        depot.insert(at(repository, 1), &[row(file, 5, 50)], &[fact(FILE, file, b"f")]).unwrap();
    }
    for repository in 110..114 {
        let only = vec![repository * 10];
        let seen = all_seen(depot, at(repository, 1));
        assert_eq!(seen.0.len(), 1);
        assert_eq!((seen.1, seen.2), (only.clone(), only));
        assert_eq!(
            depot.facts(at(repository, 1), FILE, &[1100, 1110, 1120]).unwrap().len(),
            usize::from(repository < 113)
        );
    }
    depot.retire(at(111, 2), &[name(FILE, 1100), name(FILE, 1110)]).unwrap();
    depot.undo(at(112, 0)).unwrap();
    assert_eq!(proposed(depot, at(110, 2), &by_word(5)), [1100]);
    assert_eq!(depot.collect(at(110, 9)).unwrap(), 0);
    assert_eq!(depot.size(111).unwrap().rows, 1);
    assert_eq!(depot.size(112).unwrap().rows, 0);
}

/// A publisher takes over from one that was interrupted: it stores under another number. The other
/// one comes back and goes on, with whatever it may still do.
fn a_writer_that_comes_back_is_not_seen_under_the_next_number(depot: &dyn Depot) {
    publish_two(depot, 120);
    publish_two(depot, 121);
    let now = [1, 2].map(|generation| all_seen(depot, at(121, generation)));
    let size = depot.size(121).unwrap();
    for generation in [2, 3] {
        let late = at(120, generation);
        depot.insert(late, &[row(1, 5, 50), row(9, 5, 50)], &[fact(FILE, 9, b"late")]).unwrap();
        depot.retire(late, &[1, 2, 3].map(|key| name(FILE, key))).unwrap();
        depot.collect(late).unwrap();
        depot.undo(at(120, generation - 1)).unwrap();
    }
    assert_eq!([1, 2].map(|generation| all_seen(depot, at(121, generation))), now);
    assert_eq!(depot.size(121).unwrap(), size);
    // All of it goes when nobody uses the number any more.
    depot.undo(at(120, 0)).unwrap();
    let left = depot.size(120).unwrap();
    assert_eq!((left.rows, left.facts, left.bytes), (0, 0, 0));
    assert_eq!(depot.size(121).unwrap(), size);
}

fn remove_leaves_nothing(depot: &dyn Depot) {
    publish_two(depot, 115);
    publish_two(depot, 116);
    let record = Record { name: "removed".into(), version: 1, text: String::new() };
    assert!(depot.replace(&record).unwrap());
    depot.remove(115, "removed").unwrap();
    assert_eq!(depot.records(Some(&["removed".into()])).unwrap(), []);
    let size = depot.size(115).unwrap();
    assert_eq!((size.rows, size.facts, size.bytes), (0, 0, 0));
    assert_eq!(all_seen(depot, at(115, 2)), (vec![], vec![], vec![]));
    assert_eq!(all_seen(depot, at(116, 2)).1, [1, 3]);
    depot.remove(115, "removed").unwrap();
    assert!(depot.replace(&record).unwrap());
}

fn nothing_asked_is_nothing_proposed(depot: &dyn Depot) {
    publish_two(depot, 117);
    let now = at(117, 2);
    assert_eq!(found(depot, now, &Wanted { limit: 10, ..Wanted::default() }), []);
    assert_eq!(found(depot, now, &Wanted { limit: 0, ..by_word(5) }), []);
    assert_eq!(found(depot, now, &Wanted { only: vec![vec![]], ..by_word(5) }), []);
    let empty = Wanted { words: vec![vec![]], keys: vec![vec![]], limit: 10, ..Wanted::default() };
    assert_eq!(found(depot, now, &empty), []);
    depot.insert(now, &[], &[]).unwrap();
}

/// Checks that calls fail as [`DepotError::Unavailable`] while the server is down, and succeed
/// once it is back, with the same client.
#[cfg_attr(not(any(feature = "milvus", feature = "postgres")), allow(dead_code))]
pub fn a_depot_survives_its_server(depot: &dyn Depot, kill: impl FnOnce(), start: impl FnOnce()) {
    depot.prepare(VECTOR).unwrap();
    publish_two(depot, 118);
    // As many calls at once as there may be connections, so that several are idle.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| all_seen(depot, at(118, 2)));
        }
    });
    kill();
    for _ in 0..3 {
        let begun = Instant::now();
        let answer = depot.propose(at(118, 2), &by_word(5));
        assert!(matches!(answer, Err(DepotError::Unavailable(_))), "{answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    start();
    assert_eq!(proposed(depot, at(118, 2), &by_word(5)), [1, 3]);
    assert_eq!(all_seen(depot, at(118, 1)).1, [1, 2]);
}
