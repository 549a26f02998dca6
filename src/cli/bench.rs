//! `cortex bench`: how fast loading, comparing and searching are, on given chunk files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde::Serialize;

use super::Outcome;
use super::render::{json, line};
use crate::chunk::{Cancel, Chunk, ChunkDelta, ChunkSet, ChunkType, Quantized};
use crate::embed::{EmbedError, Embedder, Passage, StaticModel, passage};
use crate::live::ChunkManager;
use crate::search::{Filter, Query};
use crate::store::{ChunkFiles, ChunkWriter, Header, Layout, VectorCache, VectorWriter, WriteLock, parse_chunk_file};

/// Measure loading, comparing and searching a set of chunk files. The set is first copied into Cortex's own layout,
/// which is not timed; inline vectors go to the vector cache.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex bench --chunks-dir .cortex/chunks --json")]
pub(super) struct Args {
    /// Directory with the four chunk files
    #[arg(long, value_name = "DIR")]
    chunks_dir: PathBuf,
    /// Repetitions of each measurement; the median is printed
    #[arg(long, value_name = "N", default_value_t = 9)]
    runs: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Medians in milliseconds.
#[derive(Serialize)]
struct Report {
    n_chunks: usize,
    dimensions: usize,
    runs: usize,
    /// Read, parse and index by id and file: the given files as they are.
    load_given_ms: f64,
    /// The same for Cortex's own layout of the same chunks.
    load_ms: f64,
    /// Read the vectors of all chunks from the cache.
    vectors_ms: f64,
    /// Compare with an equal set.
    diff_equal_ms: f64,
    /// Compare with a set of which one chunk in a hundred differs.
    diff_changed_ms: f64,
    /// Everything above but the given files: what a reload does that reuses nothing.
    load_vectors_diff_ms: f64,
    /// Build text index, vectors and files of all chunks.
    build_ms: f64,
    query_words: Percentiles,
    query_hybrid: Percentiles,
}

/// Milliseconds.
#[derive(Serialize)]
struct Percentiles {
    p50: f64,
    p95: f64,
    p99: f64,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let work = Workspace::new()?;
    let report = measure(&args.chunks_dir, &work.layout, args.runs.max(1))?;
    if args.json {
        json(&report)?;
        return Ok(Outcome::Done);
    }
    line(&format!("{} chunks, {} dimensions, medians of {} runs", report.n_chunks, report.dimensions, report.runs))?;
    for (what, ms) in [
        ("load the given files", report.load_given_ms),
        ("load own layout", report.load_ms),
        ("load vectors", report.vectors_ms),
        ("diff, equal set", report.diff_equal_ms),
        ("diff, 1 % changed", report.diff_changed_ms),
        ("load + vectors + diff", report.load_vectors_diff_ms),
        ("build all indexes", report.build_ms),
        ("query, words: p50", report.query_words.p50),
        ("query, words: p99", report.query_words.p99),
        ("query, hybrid: p50", report.query_hybrid.p50),
        ("query, hybrid: p99", report.query_hybrid.p99),
    ] {
        line(&format!("{what:<24} {ms:>9.2} ms"))?;
    }
    Ok(Outcome::Done)
}

/// A directory of its own that is removed at the end.
struct Workspace {
    layout: Layout,
}

impl Workspace {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("cortex-bench-{}", std::process::id()));
        let layout = Layout::at(&dir);
        layout.create().with_context(|| format!("{} cannot be written", dir.display()))?;
        Ok(Self { layout })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // Nothing can be done about a temporary directory that stays.
        let _ = std::fs::remove_dir_all(self.layout.root());
    }
}

/// Stands for the embedder of the given vectors: it can make none itself.
struct GivenVectors {
    dimensions: usize,
}

impl Embedder for GivenVectors {
    #[expect(clippy::unnecessary_literal_bound, reason = "the trait's other embedders own their id")]
    fn id(&self) -> &str {
        "given"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![vec![0.0; self.dimensions]; passages.len()])
    }

    fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(vec![1.0 / (self.dimensions as f32).sqrt(); self.dimensions])
    }
}

fn measure(dir: &Path, layout: &Layout, runs: usize) -> Result<Report> {
    let given = read_given(dir)?;
    let all: Vec<&Chunk> = given.iter().flat_map(|(_, chunks)| chunks.iter().map(|c| &**c)).collect();
    if all.is_empty() {
        bail!("{} holds no chunks: give a directory with code-definitions.json and the like", dir.display());
    }
    let embedder: Arc<dyn Embedder> = match all.iter().find_map(|c| c.embedding.as_ref()) {
        Some(v) => Arc::new(GivenVectors { dimensions: v.len() }),
        None => StaticModel::bundled(),
    };
    convert(&given, layout, &*embedder)?;
    let (id, dimensions) = (embedder.id(), embedder.dimensions());
    let cancel = Cancel::new(false);
    let chunk_files = || ChunkFiles::new(layout.clone(), id, dimensions);
    let load = || chunk_files().load(&cancel);
    let old = load()?.set;
    let changed = with_changes(&given);

    let (mut load_ms, mut vectors_ms, mut equal_ms, mut changed_ms, mut total_ms) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..runs {
        let start = Instant::now();
        let new = load()?.set;
        let loaded = ms(start);
        let vectors = read_vectors(&new, layout, id, dimensions);
        let with_vectors = ms(start);
        let equal = ChunkDelta::between(&old, &new);
        let total = ms(start);
        anyhow::ensure!(equal.is_empty() && vectors.len() == new.len() * dimensions, "the copy of the chunks differs from itself");
        let start = Instant::now();
        let delta = ChunkDelta::between(&changed, &new);
        changed_ms.push(ms(start));
        anyhow::ensure!(
            delta.updated.len() == new.len().div_ceil(100),
            "one chunk in a hundred should differ, not {}",
            delta.updated.len()
        );
        load_ms.push(loaded);
        vectors_ms.push(with_vectors - loaded);
        equal_ms.push(total - with_vectors);
        total_ms.push(total);
    }
    let load_given_ms = repeat(runs, || read_given(dir).map(|_| ()))?;
    let mut manager = ChunkManager::new(vec![Box::new(chunk_files())], embedder.clone())?;
    let build_ms = repeat(3.min(runs), || {
        manager = ChunkManager::new(vec![Box::new(chunk_files())], embedder.clone())?;
        manager.reload(&cancel)?;
        Ok(())
    })?;
    Ok(Report {
        n_chunks: old.len(),
        dimensions,
        runs,
        load_given_ms,
        load_ms: median(&mut load_ms),
        vectors_ms: median(&mut vectors_ms),
        diff_equal_ms: median(&mut equal_ms),
        diff_changed_ms: median(&mut changed_ms),
        load_vectors_diff_ms: median(&mut total_ms),
        build_ms,
        query_words: queries(&manager, false)?,
        query_hybrid: queries(&manager, true)?,
    })
}

type Given = Vec<(ChunkType, Vec<Arc<Chunk>>)>;

fn read_given(dir: &Path) -> Result<Given> {
    let read = |t: ChunkType| {
        let path = dir.join(Layout::chunk_file_name(t));
        match std::fs::read(&path) {
            Ok(bytes) => Ok((t, parse_chunk_file(&path, &bytes, t, None)?.entries.iter().filter_map(|e| e.chunk()).collect())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((t, Vec::new())),
            Err(e) => Err(anyhow::Error::new(e).context(path.display().to_string())),
        }
    };
    ChunkType::ALL.into_par_iter().map(read).collect()
}

/// Writes the chunks in our layout, their vectors to the cache.
fn convert(given: &Given, layout: &Layout, embedder: &dyn Embedder) -> Result<()> {
    let lock = WriteLock::acquire(layout, std::time::Duration::ZERO)?;
    let mut writer = ChunkWriter::create(layout, &lock, &Header::ours(embedder.id(), embedder.dimensions()))?;
    let mut vectors = VectorWriter::append(layout, &lock, embedder.id(), embedder.dimensions())?;
    for (t, chunks) in given {
        let passages: Vec<Passage> = chunks.iter().map(|c| passage(c)).collect();
        let made = embedder.embed_passages(&passages)?;
        for ((chunk, passage), made) in chunks.iter().zip(&passages).zip(made) {
            vectors.put(passage.key(), &Quantized::new(chunk.embedding.as_deref().unwrap_or(&made)))?;
            writer.put(*t, &Chunk { embedding: None, ..(**chunk).clone() }.to_json())?;
        }
    }
    vectors.finish()?;
    writer.publish(None, 0)?;
    Ok(())
}

/// The set with every hundredth chunk older.
fn with_changes(given: &Given) -> ChunkSet {
    let chunks = given.iter().flat_map(|(_, c)| c).enumerate().map(|(i, c)| {
        let mut chunk = Chunk { embedding: None, ..(**c).clone() };
        if i % 100 == 0 {
            chunk.updated_at -= chrono::TimeDelta::seconds(1);
        }
        Arc::new(chunk.into())
    });
    ChunkSet::new(chunks.collect::<Vec<_>>()).0
}

fn read_vectors(set: &ChunkSet, layout: &Layout, id: &str, dimensions: usize) -> Vec<i8> {
    let cache = VectorCache::read(layout, id, dimensions);
    let mut out = vec![0; set.len() * dimensions];
    set.all().par_iter().zip(out.par_chunks_exact_mut(dimensions)).with_min_len(256).for_each(|(entry, row)| {
        cache.copy_to(entry.chunk().map(|c| passage(&c).key()).unwrap_or_default(), row);
    });
    out
}

fn queries(manager: &ChunkManager, hybrid: bool) -> Result<Percentiles> {
    const N: usize = 200;
    let snapshot = manager.current();
    let chunks = snapshot.code().corpus.chunks().all();
    let mut times = Vec::new();
    for i in 0..N {
        // Words of chunks spread over the set, from their middles.
        let text = chunks[i * chunks.len() / N].chunk().map(|c| c.text.clone()).unwrap_or_default();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2).skip(5).take(5).collect();
        let query = words.join(" ");
        let start = Instant::now();
        let parsed = Query::new(&query);
        let vector = if hybrid { manager.embedder().embed_query(&query)? } else { Vec::new() };
        snapshot.code().corpus.search(&parsed, &vector, &Filter::default(), 10)?;
        times.push(ms(start));
    }
    times.sort_by(f64::total_cmp);
    let at = |p: usize| times[(times.len() - 1) * p / 100];
    Ok(Percentiles { p50: at(50), p95: at(95), p99: at(99) })
}

fn repeat(runs: usize, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        f()?;
        times.push(ms(start));
    }
    Ok(median(&mut times))
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
