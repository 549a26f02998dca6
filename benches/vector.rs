//! How fast, and how completely, are the nearest of many vectors found? Decides how vectors are
//! kept (f32, eight bits, or bits first), whether a HNSW graph beside the scan pays, from how many
//! vectors on, and how many it should find. What came of it: `specs/vector-search.md`; the plots
//! there: `benches/vector_plots.py`.
//!
//! Corpus: generated, 256 dimensions, each vector a sum of a few of 2 000 topics, of which some are
//! frequent, and noise; chosen so that cosines to the 10th, 100th and 300th neighbour, and what
//! bits lose, are about those of real code. Or, in the order of their hashes, all paragraphs of the
//! texts below the directory `CORTEX_TEXTS`, embedded by the bundled model.
//!
//! Time: one query. Recall: the share of the 10 and of the 100 best that count among the exact
//! ones, which f32 brute force gives; of equal cosines each counts.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::inline_always,
    reason = "numbers of a benchmark"
)]
#![expect(clippy::disallowed_methods, reason = "texts below a directory that the caller names")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cortex::chunk::Quantized;
use cortex::embed::{Embedder, StaticModel};
use cortex::search::VectorTable;
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use multiversion::multiversion;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const DIMENSIONS: usize = 256;
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
/// The HNSW graph of more vectors takes too long to build.
const LARGEST_GRAPH: usize = 100_000;
/// Numbers of vectors that an HNSW query finds, and that are rescored after a first pass over bits.
const FOUND: [usize; 4] = [100, 200, 300, 600];
/// The number that Cortex uses.
const PRODUCT: usize = 300;
const RESCORED: [usize; 4] = [200, 500, 1_000, 2_000];
const N_QUERIES: usize = 200;
/// Number of further chunks, in candidate files, whose cosines ranking needs.
const LOOKED_AT: usize = 3_000;

fn main() {
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let given = std::env::var_os("CORTEX_TEXTS").map(|dir| texts(dir.into()));
    // As criterion decides it: cargo passes --bench when it measures. (A whole number of blocks,
    // because an empty row has a random distance.)
    let is_given = |flag: &str| std::env::args().any(|a| a == flag);
    let is_test = is_given("--test") || !is_given("--bench");
    for &n in if is_test { &[1_024][..] } else { &SIZES } {
        let mut vectors = match &given {
            Some(all) => all.iter().take(n + N_QUERIES).cloned().collect(),
            None => generated(n + N_QUERIES),
        };
        let queries = vectors.split_off(vectors.len() - N_QUERIES.min(vectors.len() / 2));
        let n = vectors.len();
        measure(&mut criterion, &vectors, &queries);
        if given.as_ref().is_some_and(|all| all.len() <= n + N_QUERIES) {
            break;
        }
    }
}

fn measure(criterion: &mut Criterion, vectors: &[Vec<f32>], queries: &[Vec<f32>]) {
    let n = vectors.len();
    let flat: Vec<f32> = vectors.concat();
    let mut table = VectorTable::new(DIMENSIONS);
    for (slot, v) in (0..).zip(vectors) {
        table.set(slot, Some(&Quantized::new(v)));
    }
    let truth: Vec<Vec<f32>> = queries
        .par_iter()
        .map(|q| flat.chunks_exact(DIMENSIONS).map(|v| dot(v, q)).collect())
        .collect();
    for k in [10, 100, 300] {
        let mean = truth.iter().map(|all| kth(all, k)).sum::<f32>() / truth.len() as f32;
        println!("{n}: mean cosine of neighbour {k}: {mean:.2}");
    }
    let mut group = criterion.benchmark_group(n.to_string());
    let recall = |method: &str, find: &dyn Fn(&[f32]) -> Vec<u32>| {
        let found: Vec<Vec<u32>> = queries.iter().map(|q| find(q)).collect();
        let of = |k: usize| {
            let counts = |(all, found): (&Vec<f32>, &Vec<u32>)| {
                let least = kth(all, k) - 1e-6;
                found.iter().take(k).filter(|slot| all[**slot as usize] >= least).count()
            };
            truth.iter().zip(&found).map(counts).sum::<usize>() as f32 / (k * queries.len()) as f32
        };
        println!("{n}/{method} recall: {:.4} {:.4}", of(10), of(100));
    };

    time(&mut group, "f32", queries, |q| {
        flat.par_chunks(DIMENSIONS << 10).map(|part| cosines_f32(part, q)).collect::<Vec<_>>()
    });
    recall("int8", &|q| best(table.ask(q).all().iter().copied(), 100));
    time(&mut group, "int8", queries, |q| table.ask(q).all().len());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    time(&mut group, "int8, one core", queries, |q| one.install(|| table.ask(q).all().len()));
    let scales: Vec<f32> = vectors.iter().map(|v| Quantized::new(v).scale).collect();
    let rows: Vec<i8> = vectors.iter().flat_map(|v| Quantized::new(v).components).collect();
    time(&mut group, "int8, one core, AVX2", queries, |q| products_avx2(&rows, &rounded(q)));
    time(&mut group, "int8, one core, SSE2", queries, |q| products(&rows, &rounded(q)));

    let codes: Vec<Bits> = vectors.iter().map(|v| bits(v)).collect();
    for n_rescored in RESCORED.into_iter().filter(|r| *r < n) {
        let find = |q: &[f32]| {
            let (first, q) = (nearest_bits(&codes, bits(q), n_rescored), rounded(q));
            let row = |slot: usize| &rows[slot * DIMENSIONS..][..DIMENSIONS];
            let mut scored: Vec<(f32, u32)> = first
                .iter()
                .map(|slot| {
                    (product(row(*slot as usize), &q) as f32 * scales[*slot as usize], *slot)
                })
                .collect();
            scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            scored.iter().map(|s| s.1).take(100).collect()
        };
        let method = format!("bits, {n_rescored} rescored");
        recall(&method, &find);
        time(&mut group, &method, queries, find);
    }
    if n <= LARGEST_GRAPH {
        let start = Instant::now();
        let bytes =
            table.build_hnsw(&AtomicBool::new(false)).and_then(|g| g.to_bytes()).expect("a graph");
        println!(
            "{n}/graph: built in {:.0} s, {} bytes",
            start.elapsed().as_secs_f32(),
            bytes.len()
        );
        let start = Instant::now();
        let read = table.read_hnsw(&bytes).expect("a graph");
        table.clone().attach(Arc::new(read));
        println!("{n}/graph: read and attached in {:.0} ms", start.elapsed().as_secs_f32() * 1e3);
        for n_found in FOUND {
            let hnsw = table.read_hnsw(&finding(&bytes, n_found)).expect("a graph");
            let mut table = table.clone();
            table.attach(Arc::new(hnsw));
            let find = |q: &[f32]| {
                let mut near = table.ask(q).near(100, -1.0, |_| true).collect::<Vec<_>>();
                near.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
                near.iter().map(|(slot, _)| *slot).take(100).collect::<Vec<_>>()
            };
            let method = format!("graph, {n_found} found");
            recall(&method, &find);
            time(&mut group, &method, queries, find);
            if n_found == PRODUCT {
                time(&mut group, "looking at chunks", queries, |q| {
                    let asked = table.ask(q);
                    // Ten adjacent rows stand for a file.
                    let slots = (0..LOOKED_AT / 10)
                        .flat_map(|file| (0..10).map(move |i| file * 7919 * 37 % (n - 10) + i));
                    slots
                        .map(|slot| asked.cosine(u32::try_from(slot).expect("a slot")))
                        .sum::<f32>()
                });
            }
        }
    }
    group.finish();
}

fn time<T>(
    group: &mut BenchmarkGroup<WallTime>,
    method: &str,
    queries: &[Vec<f32>],
    mut ask: impl FnMut(&[f32]) -> T,
) {
    let mut next = queries.iter().cycle();
    group.bench_function(method, |b| b.iter(|| next.next().map(|q| ask(q))));
}

/// Generates sums of normally distributed topics, the first of which are frequent, and noise;
/// L2-normalised.
fn generated(n: usize) -> Vec<Vec<f32>> {
    let mut random = Random(7);
    let topics: Vec<Vec<f32>> =
        (0..2000).map(|_| (0..DIMENSIONS).map(|_| random.normal()).collect()).collect();
    let one = |i: usize| {
        let mut random = Random(i as u64 + 1000);
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| 0.5 * random.normal()).collect();
        for _ in 0..2 + random.below(4) {
            let rank = 2000f32.powf(random.uniform());
            let weight = 0.3 + random.uniform();
            let topic = &topics[(rank as usize).min(1999)];
            vector.iter_mut().zip(topic).for_each(|(x, y)| *x += weight * y);
        }
        normalised(vector)
    };
    (0..n).into_par_iter().map(one).collect()
}

/// Embeds all paragraphs of a minimum length below a directory, each text once.
fn texts(dir: PathBuf) -> Vec<Vec<f32>> {
    let (mut left, mut paragraphs) = (vec![dir], std::collections::BTreeMap::new());
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let (kind, path) = (entry.file_type().expect("a file type"), entry.path());
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                left.push(path);
            } else if let Some(text) =
                kind.is_file().then(|| std::fs::read_to_string(path).ok()).flatten()
            {
                let long = text.split("\n\n").filter(|p| (200..4000).contains(&p.len()));
                paragraphs.extend(long.map(|p| (xxh3_64(p.as_bytes()), p.to_string())));
            }
        }
    }
    let model = StaticModel::bundled();
    let texts: Vec<String> = paragraphs.into_values().collect();
    let vectors = texts.par_iter().map(|t| model.embed_query(t).expect("the bundled model"));
    vectors.filter(|v| v.iter().any(|x| *x != 0.0)).collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        xxh3_64(&self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns a number between 0 and 1.
    fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Returns approximately a normal distribution: mean 0, variance 1.
    fn normal(&mut self) -> f32 {
        ((0..6).map(|_| self.uniform()).sum::<f32>() - 3.0) * 2f32.sqrt()
    }
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for x in &mut vector {
        *x /= norm;
    }
    vector
}

/// Returns the `k`-th largest number.
fn kth(all: &[f32], k: usize) -> f32 {
    let mut all = all.to_vec();
    *all.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1
}

/// Returns the slots of the `n` largest scores, largest first.
fn best(scores: impl Iterator<Item = f32>, n: usize) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> = scores.zip(0..).collect();
    scored.select_nth_unstable_by(n - 1, |a, b| b.0.total_cmp(&a.0));
    scored.truncate(n);
    scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|s| s.1).collect()
}

/// Replaces the number that a query finds in an HNSW graph's bytes: the first number after the
/// fingerprints.
fn finding(bytes: &[u8], n: usize) -> Vec<u8> {
    let (fingerprints, rest): (Vec<u64>, &[u8]) =
        postcard::take_from_bytes(&bytes[16..]).expect("fingerprints");
    let (_, links): (usize, &[u8]) = postcard::take_from_bytes(rest).expect("a number");
    let body = [&*postcard::to_allocvec(&(fingerprints, n)).expect("bytes"), links].concat();
    [&bytes[..8], &xxh3_64(&body).to_le_bytes(), &*body].concat()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma", "aarch64+neon"))]
fn cosines_f32(vectors: &[f32], query: &[f32]) -> Vec<f32> {
    vectors.chunks_exact(DIMENSIONS).map(|v| dot(v, query)).collect()
}

/// Sixteen sums, which a processor adds at once.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    sums.iter().sum()
}

fn rounded(query: &[f32]) -> Vec<i16> {
    query.iter().map(|x| (x * 32767.0) as i16).collect()
}

#[inline(always)]
fn product(row: &[i8], query: &[i16]) -> i32 {
    row.iter().zip(query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

fn products(rows: &[i8], query: &[i16]) -> Vec<i32> {
    rows.chunks_exact(DIMENSIONS).map(|row| product(row, query)).collect()
}

#[multiversion(targets("x86_64+avx2"))]
fn products_avx2(rows: &[i8], query: &[i16]) -> Vec<i32> {
    rows.chunks_exact(DIMENSIONS).map(|row| product(row, query)).collect()
}

/// The signs of a vector's components.
type Bits = [u64; DIMENSIONS / 64];

fn bits(vector: &[f32]) -> Bits {
    let mut bits = Bits::default();
    for (i, _) in vector.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        bits[i / 64] |= 1 << (i % 64);
    }
    bits
}

/// Returns at least `n` slots: those that differ from the query in no more bits than the `n`-th
/// does.
fn nearest_bits(codes: &[Bits], query: Bits, n: usize) -> Vec<u32> {
    let differing: Vec<u16> =
        codes.par_chunks(1 << 14).flat_map_iter(|part| hamming(part, query)).collect();
    let mut counts = [0usize; DIMENSIONS + 1];
    for d in &differing {
        counts[usize::from(*d)] += 1;
    }
    let (mut most, mut below) = (0, 0);
    while below < n {
        below += counts[most];
        most += 1;
    }
    (0..).zip(differing).filter(|(_, d)| usize::from(*d) < most).map(|(slot, _)| slot).collect()
}

#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq",
    "x86_64+avx2+popcnt",
    "aarch64+neon"
))]
fn hamming(codes: &[Bits], query: Bits) -> Vec<u16> {
    let differing =
        |code: &Bits| code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as u16;
    codes.iter().map(differing).collect()
}
