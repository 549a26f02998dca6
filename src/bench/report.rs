//! Asks all questions of the benchmark, and collects the numbers.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::bed::{Bed, BedOrigin, change};
use super::given::Given;
use super::index::{OneFile, index_from_scratch};
use super::load::{build, diff, load, open_saved};
use super::process::{ServerMemory, kilobytes, search_once, start};
use super::query::{Questions, SearchKind};
use super::recall::recall_10;
use super::reload::{STEPS, Steps, reload};
use crate::chunk::{Cancel, ChunkSet};

/// Most runs of a question that takes long.
const FEW: usize = 3;
/// Number of search queries of each kind for each run, and at most.
const QUESTIONS_OF_A_RUN: usize = 40;
const QUESTIONS: usize = 300;
/// Numbers of chunks that change before a reload.
const CHANGES: [usize; 3] = [1, 100, 1000];

/// All results of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    pub machine: Machine,
    pub corpus: Shape,
    pub times: Vec<Timing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ServerMemory>,
    /// Share of the ten nearest chunks by `f32` vectors that the quantised vectors find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_10: Option<f64>,
}

/// The machine on which the benchmark ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub os: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    pub cores: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// The size and origin of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shape {
    pub origin: BedOrigin,
    pub n_chunks: usize,
    pub n_files: usize,
    /// Bytes of the texts of all chunks.
    pub text_bytes: usize,
    pub dimensions: usize,
}

/// The percentiles of the times of one question, in milliseconds, by nearest rank. With few
/// runs, p99 is the longest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timing {
    pub name: String,
    /// Number of runs.
    pub n: usize,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Machine {
    /// Returns a description of this machine.
    #[must_use]
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo").lines().find_map(|l| {
            Some(l.strip_prefix("model name")?.split_once(':')?.1.trim().to_string())
        });
        Self {
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cpu,
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kilobytes(&read("/proc/meminfo"), "MemTotal:"),
        }
    }
}

impl Shape {
    fn new(bed: &Bed, set: &ChunkSet) -> Self {
        Self {
            origin: bed.origin,
            n_chunks: set.len(),
            n_files: set.files().count(),
            text_bytes: set.all().iter().filter_map(|e| e.chunk()).map(|c| c.text.len()).sum(),
            dimensions: bed.embedder().dimensions(),
        }
    }
}

impl Timing {
    fn new(name: String, times: &[Duration]) -> Self {
        let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1000.0).collect();
        ms.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            ms.get((ms.len() * percent).div_ceil(100).saturating_sub(1))
                .copied()
                .unwrap_or_default()
        };
        Self { name, n: ms.len(), p50: at(50), p95: at(95), p99: at(99) }
    }
}

/// The rows so far, and the function that is called before each question.
struct Timings<'a> {
    rows: Vec<Timing>,
    told: &'a dyn Fn(&str),
}

impl Timings<'_> {
    fn add(&mut self, name: impl Into<String>, times: &[Duration]) {
        self.rows.push(Timing::new(name.into(), times));
    }

    fn measure(
        &mut self,
        name: impl Into<String>,
        n: usize,
        mut once: impl FnMut(usize) -> Result<Duration>,
    ) -> Result<()> {
        let name = name.into();
        (self.told)(&name);
        let times: Vec<Duration> = (0..n)
            .map(&mut once)
            .collect::<Result<_>>()
            .with_context(|| format!("{name} was not measured"))?;
        self.add(name, &times);
        Ok(())
    }
}

/// Asks every question `runs` times, or fewer times if it takes long. `program` is the path of this
/// program; `given` is a directory of chunk files that are measured unchanged; `told` is called
/// with the name of each question before it is measured.
///
/// # Errors
/// When a question cannot be measured.
pub fn run(
    bed: &Bed,
    program: &Path,
    given: Option<&Path>,
    runs: usize,
    told: &dyn Fn(&str),
) -> Result<BenchReport> {
    let (runs, few) = (runs.max(1), runs.clamp(1, FEW));
    let mut rows = Timings { rows: Vec::new(), told };
    // Questions that change chunks come last, since a command would index the files again.
    if bed.has_tree() {
        rows.measure("index_full", few, |_| index_from_scratch(bed))?;
        let mut one = OneFile::new(bed)?;
        rows.measure("index_one", runs, |_| one.change())?;
    }
    let old = bed.load()?;
    let corpus = Shape::new(bed, &old);
    let n_questions = (runs * QUESTIONS_OF_A_RUN).min(QUESTIONS).min(old.len());
    let questions = Questions::new(&old, n_questions);
    let memory = if bed.can_be_served() {
        processes(&mut rows, bed, program, &questions, runs)?
    } else {
        None
    };
    if let Some(dir) = given {
        let mut given = Given::new(dir)?;
        rows.measure("load_given", runs, |_| given.load())?;
        rows.measure("load_given_saved", runs, |_| given.load_saved())?;
        let manager = given.serve()?;
        rows.measure("reload_given", runs, |_| given.reload(&manager))?;
    }
    loading(&mut rows, bed, &old, runs)?;
    asking(&mut rows, bed, &questions, few)?;
    told("recall_10");
    let recall_10 = recall_10(bed, &old, &questions)?;
    drop(old);
    reloading(&mut rows, bed, corpus.n_chunks, runs)?;
    Ok(BenchReport { machine: Machine::this(), corpus, times: rows.rows, memory, recall_10 })
}

fn processes(
    rows: &mut Timings,
    bed: &Bed,
    program: &Path,
    questions: &Questions,
    runs: usize,
) -> Result<Option<ServerMemory>> {
    let some: Vec<&str> = questions.iter().collect();
    rows.measure("search_once", runs, |i| search_once(bed, program, some[i % some.len()]))?;
    let mut last = None;
    rows.measure("server_start", runs.min(FEW), |i| {
        let (server, time) = start(bed, program, some[i % some.len()])?;
        last = Some(server);
        Ok(time)
    })?;
    last.map_or(Ok(None), |mut server| server.memory(questions))
}

fn loading(rows: &mut Timings, bed: &Bed, old: &ChunkSet, runs: usize) -> Result<()> {
    (rows.told)("load");
    let (mut loads, mut opens, mut diffs, mut totals) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let (new, loaded) = load(bed)?;
        let (opened, compared) = (open_saved(bed)?, diff(old, &new, 0)?);
        loads.push(loaded);
        opens.push(opened);
        diffs.push(compared);
        totals.push(loaded + opened + compared);
    }
    for (name, times) in
        [("load", loads), ("open_saved", opens), ("diff_equal", diffs), ("load_open_diff", totals)]
    {
        rows.add(name, &times);
    }
    Ok(())
}

fn asking(rows: &mut Timings, bed: &Bed, questions: &Questions, few: usize) -> Result<()> {
    let (mut manager, mut first) = (bed.manager()?, Vec::new());
    let some = questions.iter().next().context("there is nothing to ask")?;
    rows.measure("build", few, |_| {
        let (built, time) = build(bed, false)?;
        first.push(Questions::ask(&built, some, SearchKind::Hybrid)?);
        manager = built;
        Ok(time)
    })?;
    rows.measure("build_saved", few, |_| Ok(build(bed, true)?.1))?;
    rows.add("query_first", &first);
    for kind in SearchKind::ALL {
        let mut all = questions.iter();
        rows.measure(format!("query_{}", kind.name()), questions.len(), |_| {
            Questions::ask(&manager, all.next().context("no question is left")?, kind)
        })?;
    }
    Ok(())
}

fn reloading(rows: &mut Timings, bed: &Bed, n_chunks: usize, runs: usize) -> Result<()> {
    let before = bed.load()?;
    let n = n_chunks.div_ceil(100);
    change(bed, n)?;
    let after = bed.load()?;
    rows.measure("diff_changed", runs, |_| diff(&before, &after, n))?;
    drop((before, after));
    let (manager, _) = build(bed, false)?;
    let mut steps = Steps::new(bed)?;
    for n in CHANGES.into_iter().filter(|n| *n <= n_chunks) {
        rows.measure(format!("reload_{n}"), runs, |_| reload(bed, &manager, n))?;
        // Without this, the first run would find more changes than the others.
        steps.catch_up()?;
        let times = (0..runs).map(|_| steps.reload(n)).collect::<Result<Vec<_>>>()?;
        for (i, step) in STEPS.iter().enumerate() {
            rows.add(format!("reload_{n}_{step}"), &times.iter().map(|t| t[i]).collect::<Vec<_>>());
        }
        manager.reload(&Cancel::new(false))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        let row = Timing::new("x".into(), &times);
        assert_eq!((row.n, row.p50, row.p95, row.p99), (200, 100.0, 190.0, 198.0));
        let row = Timing::new("x".into(), &times[..3]);
        assert_eq!((row.p50, row.p95, row.p99), (2.0, 3.0, 3.0), "of few, the longest");
    }

    #[test]
    fn proc_counts_in_kilobytes() {
        assert_eq!(kilobytes("VmPeak:\t   9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1234 * 1024));
        assert_eq!(kilobytes("", "VmRSS:"), None);
    }
}
