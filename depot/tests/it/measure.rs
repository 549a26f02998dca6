//! Measures a depot in Postgres:
//! `cargo test --release -p cortex-depot --features postgres -- --ignored --nocapture measure`

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cortex_depot::postgres::{Options, Postgres};
use cortex_depot::{At, Depot, FILE, Fact, FactName, Record, Row, Sparse, Wanted};

use crate::laws::{Random, normal};
use crate::server::Server;

/// Words of all rows, and the dimensions of their vectors.
const VOCABULARY: u32 = 60_000;
const DIMENSIONS: usize = 256;
/// Chunks of a file.
const CHUNKS: usize = 5;
/// Rows of an insertion.
const BATCH: usize = 2_000;
/// Proposals of a part of a question.
const LIMIT: usize = 300;

/// Words that are as frequent as the reciprocal of their rank.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new() -> Self {
        let mut sum = 0.0;
        let add = |rank: u32| {
            sum += 1.0 / f64::from(rank);
            sum
        };
        Self((1..=VOCABULARY).map(add).collect())
    }

    fn word(&self, random: &mut Random) -> u32 {
        let at = f64::from(random.unit()) * self.0[self.0.len() - 1];
        let rank = self.0.partition_point(|sum| *sum < at) as u32;
        rank.wrapping_mul(2_654_435_761) % cortex_depot::DIMENSIONS
    }

    fn row(&self, random: &mut Random, file: i64) -> Row {
        let n = 100 + random.below(101) as usize;
        let words: std::collections::BTreeSet<u32> =
            (0..n * 8 / 5).map(|_| self.word(random)).collect();
        let words: Sparse =
            words.into_iter().take(n).map(|word| (word, 0.3 + 0.7 * random.unit())).collect();
        let vector = (0..DIMENSIONS).map(|_| random.unit() + random.unit() - 1.0).collect();
        let vector = normal(vector);
        // The first key is a language.
        let mut keys = vec![random.below(20) as i32];
        keys.extend((0..random.below(8)).map(|_| 100 + random.below(1 << 30) as i32));
        Row { file, words, vector, keys }
    }
}

/// Returns questions of some words of a row, weighted by their rarity.
fn questions(rows: &[Row], random: &mut Random) -> Vec<Sparse> {
    let mut frequency = std::collections::HashMap::<u32, f32>::new();
    for row in rows {
        for word in &row.words {
            *frequency.entry(word.0).or_default() += 1.0;
        }
    }
    let total = rows.len() as f32;
    let question = |_| {
        let mut words = rows[random.below(rows.len() as u32) as usize].words.clone();
        let n = 3 + random.below(10) as usize;
        while words.len() > n {
            words.swap_remove(random.below(words.len() as u32) as usize);
        }
        for word in &mut words {
            let holds = frequency[&word.0];
            word.1 = (1.0 + (total - holds + 0.5) / (holds + 0.5)).ln();
        }
        words.sort_by_key(|word| word.0);
        words
    };
    (0..60).map(question).collect()
}

/// Returns the files of the best rows, best first, by all rows.
fn best(rows: &[Row], question: &Sparse) -> Vec<(f32, i64)> {
    let weight = |row: &Row, word: &(u32, f32)| {
        row.words
            .binary_search_by_key(&word.0, |at| at.0)
            .map_or(0.0, |at| word.1 * row.words[at].1)
    };
    let score = |row: &Row| question.iter().map(|word| weight(row, word)).sum::<f32>();
    let mut scored: Vec<(f32, i64)> = rows.iter().map(|row| (score(row), row.file)).collect();
    scored.retain(|row| row.0 > 0.0);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(LIMIT);
    scored
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    (work(), begun.elapsed())
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    println!("    {what}: p50 {:.1?}, p95 {:.1?}, {} calls", at(50), at(95), times.len());
}

fn measure(depot: &Postgres, repository: i64, rows: &[Row], random: &mut Random) {
    let first = At { repository, generation: 1 };
    let facts: Vec<Fact> = (0..rows.len() / CHUNKS)
        .map(|file| Fact {
            kind: FILE,
            key: file as i64,
            hash: 1,
            data: (0..4_000).map(|_| random.below(256) as u8).collect(),
        })
        .collect();
    let ((), time) = timed(|| {
        for batch in rows.chunks(BATCH) {
            depot.insert(first, batch, &[]).unwrap();
        }
    });
    println!("{} rows: inserted in {time:.1?}, {BATCH} a call", rows.len());
    let ((), time) =
        timed(|| facts.chunks(BATCH).for_each(|f| depot.insert(first, &[], f).unwrap()));
    println!("    insert {} facts of 4000 bytes: {time:.1?}", facts.len());

    let questions = questions(rows, random);
    let (mut recall, mut top, mut worst) = (0.0, 0.0, 1.0_f32);
    let mut times = Vec::new();
    for question in &questions {
        let wanted = Wanted { words: vec![question.clone()], limit: LIMIT, ..Wanted::default() };
        let (found, time) = timed(|| depot.propose(first, &wanted).unwrap());
        let files: Vec<i64> = found.iter().map(|found| found.file).collect();
        times.push(time);
        let best = best(rows, question);
        let share = |best: &[(f32, i64)]| {
            best.iter().filter(|row| files.contains(&row.1)).count() as f32 / best.len() as f32
        };
        recall += share(&best);
        worst = worst.min(share(&best));
        top += share(&best[..best.len().min(20)]);
    }
    let n = questions.len() as f32;
    let share = format!("{:.4} of the best {LIMIT} (worst {worst:.3})", recall / n);
    println!("    words propose {share}, {:.4} of the best 20", top / n);
    show("propose by words", times);
    let ask = |what: &str, wanted: &dyn Fn(&Sparse, &Row) -> Wanted| {
        let asked = questions.iter().zip(rows);
        let call = |(words, row)| timed(|| depot.propose(first, &wanted(words, row)).unwrap()).1;
        show(what, asked.map(call).collect());
    };
    let none = Wanted { limit: LIMIT, ..Wanted::default() };
    let only =
        |words: &Sparse| Wanted { words: vec![words.clone()], only: vec![vec![7]], ..none.clone() };
    let vector = |row: &Row| Wanted { vector: row.vector.clone(), ..none.clone() };
    let keys = |row: &Row| Wanted { keys: vec![row.keys.clone()], ..none.clone() };
    ask("propose by words, only a 20th", &|words, _| only(words));
    ask("propose by vector", &|_, row| vector(row));
    ask("propose by vector, only a 20th", &|w, r| Wanted {
        words: vec![],
        vector: r.vector.clone(),
        ..only(w)
    });
    ask("propose by keys", &|_, row| keys(row));
    ask("propose by 2 × words, vector, keys", &|words, row| Wanted {
        words: vec![words.clone(), words[..1].to_vec()],
        vector: row.vector.clone(),
        ..keys(row)
    });
    let some = |random: &mut Random| -> Vec<i64> {
        (0..100).map(|_| i64::from(random.below(facts.len() as u32))).collect()
    };
    let times =
        (0..30).map(|_| some(random)).map(|keys| timed(|| depot.facts(first, FILE, &keys)).1);
    show("100 facts of 4000 bytes", times.collect());
    show("names", (0..10).map(|_| timed(|| depot.names(first, FILE).unwrap()).1).collect());
    show("size", (0..10).map(|_| timed(|| depot.size(repository).unwrap()).1).collect());

    let (mut retire, mut insert) = (Vec::new(), Vec::new());
    for generation in 2..12 {
        let at = At { repository, generation };
        let files: Vec<i64> = (0..10).map(|n| (generation * 10 + n) as i64).collect();
        let names: Vec<FactName> = files.iter().map(|&key| FactName { kind: FILE, key }).collect();
        retire.push(timed(|| depot.retire(at, &names).unwrap()).1);
        let new: Vec<Row> = rows.iter().filter(|row| files.contains(&row.file)).cloned().collect();
        insert.push(timed(|| depot.insert(at, &new, &facts[..10]).unwrap()).1);
    }
    show("retire 10 files of 50 rows", retire);
    show("insert 10 files of 50 rows", insert);
    let last = At { repository, generation: 10 };
    println!("    undo a generation: {:.1?}", timed(|| depot.undo(last).unwrap()).1);
    let (n, time) = timed(|| depot.collect(last).unwrap());
    println!("    collect {n}: {time:.1?}");
}

#[test]
#[ignore = "takes minutes, and measures"]
fn measure_postgres() {
    let Some(server) = Server::start("postgres") else { return };
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port);
    let depot = Postgres::new(&address, &Options::default()).unwrap();
    depot.prepare(DIMENSIONS).unwrap();
    let (zipf, random) = (Zipf::new(), &mut Random(1));
    for (repository, n) in (0..10).map(|r| (r, 10_000)).chain([(100, 100_000)]) {
        let rows: Vec<Row> = (0..n).map(|row| zipf.row(random, (row / CHUNKS) as i64)).collect();
        if repository < 9 {
            // Others, so that the engine has more than one repository.
            let at = At { repository, generation: 1 };
            rows.chunks(BATCH).for_each(|batch| depot.insert(at, batch, &[]).unwrap());
        } else {
            measure(&depot, repository, &rows, random);
        }
    }
    let sizes = "SELECT relname, pg_table_size(oid), reltuples::bigint FROM pg_class
        WHERE relnamespace = 'cortex'::regnamespace ORDER BY relname";
    crate::postgres::sql(&server, "VACUUM ANALYZE");
    for row in crate::postgres::sql(&server, sizes) {
        println!("{row}");
    }
    let record = |version| Record { name: "r".into(), version, text: "x".repeat(10_000) };
    let replace = |version| timed(|| assert!(depot.replace(&record(version)).unwrap())).1;
    show("replace", (1..50).map(replace).collect());
    show("records", (0..50).map(|_| timed(|| depot.records(None).unwrap()).1).collect());
    println!("    remove 100000 rows: {:.1?}", timed(|| depot.remove(100, "r").unwrap()).1);
}

/// Forwards a connection, and counts how often the client waits for the server.
fn counting(to: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let pipe = |mut from: TcpStream, mut into: TcpStream, seen: Box<dyn Fn() + Send>| {
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 14];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                seen();
                into.write_all(&buffer[..n]).unwrap();
            }
        });
    };
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) =
                (client.unwrap(), TcpStream::connect(("127.0.0.1", to)).unwrap());
            let answered = Arc::new(AtomicBool::new(true));
            let (count, asks) = (counted.clone(), answered.clone());
            let asked = Box::new(move || {
                if asks.swap(false, Ordering::SeqCst) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
            let twice = |stream: &TcpStream| stream.try_clone().unwrap();
            pipe(twice(&client), twice(&server), asked);
            pipe(server, client, Box::new(move || answered.store(true, Ordering::SeqCst)));
        }
    });
    (port, count)
}

#[test]
fn a_question_is_one_round_trip() {
    let Some(server) = Server::start("postgres") else { return };
    let (port, count) = counting(server.port);
    let address = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    let depot = Postgres::new(&address, &Options::default()).unwrap();
    depot.prepare(DIMENSIONS).unwrap();
    let at = At { repository: 1, generation: 1 };
    let (zipf, random) = (Zipf::new(), &mut Random(1));
    let rows: Vec<Row> = (0..10).map(|file| zipf.row(random, file)).collect();
    let fact = Fact { kind: FILE, key: 1, hash: 1, data: vec![1; 100] };
    let name = FactName { kind: FILE, key: 1 };
    let wanted = Wanted {
        words: vec![rows[0].words.clone(), rows[1].words.clone()],
        vector: rows[2].vector.clone(),
        keys: vec![rows[3].keys.clone()],
        only: vec![vec![1, 2], vec![3]],
        limit: 10,
    };
    let record = Record { name: "r".into(), version: 3, text: "x".into() };
    let calls: [(&str, usize, &dyn Fn()); 11] = [
        ("prepare", 2, &|| depot.prepare(DIMENSIONS).unwrap()),
        ("records", 1, &|| drop(depot.records(None).unwrap())),
        ("replace", 1, &|| assert!(!depot.replace(&record).unwrap())),
        ("propose", 1, &|| drop(depot.propose(at, &wanted).unwrap())),
        ("facts", 1, &|| drop(depot.facts(at, FILE, &[1]).unwrap())),
        ("names", 1, &|| drop(depot.names(at, FILE).unwrap())),
        ("insert", 6, &|| depot.insert(at, &rows, std::slice::from_ref(&fact)).unwrap()),
        ("retire", 1, &|| depot.retire(at, &[name]).unwrap()),
        ("undo", 1, &|| depot.undo(at).unwrap()),
        ("collect", 1, &|| assert_eq!(depot.collect(at).unwrap(), 0)),
        ("size", 1, &|| assert!(depot.size(1).unwrap().rows > 0)),
    ];
    for (what, most, call) in calls {
        let trips = || {
            let before = count.load(Ordering::SeqCst);
            call();
            count.load(Ordering::SeqCst) - before
        };
        let (first, second) = (trips(), trips());
        println!("{what}: {first} round trips the first time, then {second}");
        assert!(second <= most, "{what}: {second} round trips");
    }
}
