//! Asks all questions of the benchmark, and collects the numbers.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::bed::{Bed, BedOrigin, change};
use super::clients::{ask_at_once, rate_of_one_thread};
use super::given::Given;
use super::index::{OneFile, index_from_scratch};
use super::load::{build, diff, load, open_saved};
use super::process::{Server, index_all, kilobytes, search_once};
use super::query::{Questions, SearchKind};
use super::recall::recall_10;
use super::reload::{STEPS, Steps, reload};
use super::spread::{Spread, percentile, sorted};
use crate::chunk::{Cancel, ChunkSet};
use crate::live::ChunkManager;

/// Most runs of a question that takes long.
const FEW: usize = 5;
/// Number of different queries for each run, and at most. Each round asks all of them.
const QUESTIONS_OF_A_RUN: usize = 40;
const QUESTIONS: usize = 300;
/// Numbers of chunks that change before a reload.
const CHANGES: [usize; 3] = [1, 100, 1000];
/// Numbers of clients that ask at once.
const CLIENTS: [usize; 3] = [1, 8, 32];

/// All results of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    pub machine: Machine,
    pub corpus: Shape,
    pub times: Vec<Timing>,
    /// Everything that is no time.
    #[serde(default)]
    pub figures: Vec<Figure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Share of the ten nearest chunks by `f32` vectors that the quantised vectors find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_10: Option<f64>,
}

/// The machine on which the benchmark ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub os: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    pub cores: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// The size and origin of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub name: String,
    /// Number of measurements.
    pub n: usize,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    /// The interval of [`Spread`] for the median. Reports of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_interval: Option<[f64; 2]>,
    /// The same for the 99th percentile, of questions that are asked in rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_interval: Option<[f64; 2]>,
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    Bytes,
    BytesPerChunk,
    QueriesPerSecond,
    /// Between 0 and 1.
    Share,
}

impl Unit {
    /// Whether a larger number is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::QueriesPerSecond | Self::Share)
    }
}

/// A measured number: the median of `n` rounds, with the interval of [`Spread`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub name: String,
    pub unit: Unit,
    pub n: usize,
    pub median: f64,
    pub interval: [f64; 2],
}

/// A question that cannot be measured here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
}

impl BenchReport {
    /// Reads a report that was saved as JSON.
    ///
    /// # Errors
    /// When the file cannot be read, or is not such a report.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| {
            format!(
                "{} is not a saved run: give a file with the output of `cortex bench --json`",
                path.display()
            )
        })
    }

    /// Returns all numbers that can be compared with those of another run: the median of each
    /// time, the 99th percentile of those that have an interval for it, and all figures.
    pub(super) fn all_figures(&self) -> Vec<Figure> {
        let time = |row: &Timing, name: String, median: f64, interval: Option<[f64; 2]>| Figure {
            name,
            unit: Unit::Ms,
            n: row.n,
            median,
            interval: interval.unwrap_or([median; 2]),
        };
        let mut all = Vec::new();
        for row in &self.times {
            all.push(time(row, row.name.clone(), row.p50, row.p50_interval));
            if row.p99_interval.is_some() {
                all.push(time(row, format!("{}_p99", row.name), row.p99, row.p99_interval));
            }
        }
        all.extend(self.figures.iter().cloned());
        all
    }
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
    /// Summarises rounds of measurements. The intervals are those of the percentiles of each round.
    fn new(name: String, rounds: &[Vec<Duration>]) -> Self {
        let ms = |times: &Vec<Duration>| {
            sorted(&times.iter().map(|t| t.as_secs_f64() * 1000.0).collect::<Vec<_>>())
        };
        let rounds: Vec<Vec<f64>> = rounds.iter().map(ms).collect();
        let of_rounds = |percent| {
            let values: Vec<f64> = rounds.iter().map(|ms| percentile(ms, percent)).collect();
            Some(Spread::new(&values).interval)
        };
        let all = sorted(&rounds.concat());
        Self {
            name,
            n: all.len(),
            p50: percentile(&all, 50),
            p95: percentile(&all, 95),
            p99: percentile(&all, 99),
            p50_interval: of_rounds(50),
            p99_interval: rounds.iter().any(|r| r.len() > 1).then(|| of_rounds(99)).flatten(),
        }
    }
}

/// What was measured so far, and the function that is called before each question.
struct Results<'a> {
    times: Vec<Timing>,
    figures: Vec<Figure>,
    left_out: Vec<LeftOut>,
    told: &'a dyn Fn(&str),
}

impl Results<'_> {
    fn add(&mut self, name: impl Into<String>, times: &[Duration]) {
        let rounds: Vec<Vec<Duration>> = times.iter().map(|t| vec![*t]).collect();
        self.times.push(Timing::new(name.into(), &rounds));
    }

    /// Adds the figure of one value for each round. Without values, it adds none.
    fn figure(&mut self, name: impl Into<String>, unit: Unit, rounds: &[f64]) {
        if !rounds.is_empty() {
            let Spread { n, median, interval } = Spread::new(rounds);
            self.figures.push(Figure { name: name.into(), unit, n, median, interval });
        }
    }

    fn measure(
        &mut self,
        name: impl Into<String>,
        n: usize,
        mut once: impl FnMut(usize) -> Result<Duration>,
    ) -> Result<()> {
        self.rounds(name, n, |i| Ok(vec![once(i)?]))
    }

    /// Measures a question that is asked many times in each round.
    fn rounds(
        &mut self,
        name: impl Into<String>,
        n: usize,
        once: impl FnMut(usize) -> Result<Vec<Duration>>,
    ) -> Result<()> {
        let name = name.into();
        (self.told)(&name);
        let rounds: Vec<Vec<Duration>> = (0..n)
            .map(once)
            .collect::<Result<_>>()
            .with_context(|| format!("{name} was not measured"))?;
        self.times.push(Timing::new(name, &rounds));
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
    let mut results =
        Results { times: Vec::new(), figures: Vec::new(), left_out: Vec::new(), told };
    // Questions that change chunks come last, since a command would index the files again.
    if bed.has_tree() {
        after_index(&mut results, bed, program, few)?;
        let paths = bed.source_files()?;
        let mut server = Server::start_watching(bed, program)?;
        // The first change waits until the server has begun to watch.
        server.edit(bed, paths.first().context("there is no source file to change")?, 0)?;
        results.measure("edit_found", runs, |i| {
            server.edit(bed, &paths[(i + 1) * 7919 % paths.len()], i + 1)
        })?;
        drop(server);
        results.measure("index_full", few, |_| index_from_scratch(bed))?;
        let mut one = OneFile::new(bed)?;
        results.measure("index_one", runs, |_| one.change())?;
    }
    let old = bed.load()?;
    let corpus = Shape::new(bed, &old);
    let n_questions = (runs * QUESTIONS_OF_A_RUN).min(QUESTIONS).min(old.len());
    let questions = Questions::new(&old, n_questions);
    if bed.can_be_served() {
        processes(&mut results, bed, program, &questions, runs)?;
    }
    if let Some(dir) = given {
        let mut given = Given::new(dir)?;
        results.measure("load_given", runs, |_| given.load())?;
        results.measure("load_given_saved", runs, |_| given.load_saved())?;
        let manager = given.serve()?;
        results.measure("reload_given", runs, |_| given.reload(&manager))?;
    }
    loading(&mut results, bed, &old, runs)?;
    asking(&mut results, bed, &questions, few)?;
    told("recall_10");
    let recall_10 = recall_10(bed, &old, &questions)?;
    drop(old);
    reloading(&mut results, bed, corpus.n_chunks, runs)?;
    let Results { times, figures, left_out, .. } = results;
    Ok(BenchReport { machine: Machine::this(), corpus, times, figures, left_out, recall_10 })
}

/// Measures what users do after `cortex index`: the first search, and one after the files of the
/// index left the memory of the system. Each command is a process of its own.
fn after_index(results: &mut Results, bed: &Bed, program: &Path, few: usize) -> Result<()> {
    let questions = Questions::new(&*bed.load()?, few);
    let some: Vec<&str> = questions.iter().collect();
    let question = |i: usize| some.get(i % some.len().max(1)).copied().unwrap_or_default();
    let (mut bytes, mut cold, mut failed) = (Vec::new(), Vec::new(), None);
    results.measure("search_first", few, |i| {
        index_all(bed, program)?;
        let time = search_once(bed, program, question(i))?;
        // The first search may have saved what it built.
        bytes.push(bed.saved_bytes()? as f64);
        match bed.cool() {
            Ok(true) => cold.push(search_once(bed, program, question(i))?),
            Ok(false) => failed = Some("the file system keeps them".to_string()),
            Err(e) => failed = Some(format!("{e:#}")),
        }
        Ok(time)
    })?;
    match failed {
        None => results.add("search_cold", &cold),
        Some(why) => results.left_out.push(LeftOut { name: "search_cold".into(), why }),
    }
    let n_chunks = bed.load()?.len() as f64;
    let each: Vec<f64> = bytes.iter().map(|b| b / n_chunks).collect();
    results.figure("saved_index", Unit::BytesPerChunk, &each);
    Ok(())
}

fn processes(
    results: &mut Results,
    bed: &Bed,
    program: &Path,
    questions: &Questions,
    runs: usize,
) -> Result<()> {
    let some: Vec<&str> = questions.iter().collect();
    results.measure("search_once", runs, |i| search_once(bed, program, some[i % some.len()]))?;
    let (mut loaded, mut resident, mut peak) = (Vec::new(), Vec::new(), Vec::new());
    results.measure("server_start", runs.min(FEW), |i| {
        let (mut server, time) = Server::start(bed, program, some[i % some.len()])?;
        loaded.extend(server.memory().map(|m| m.resident_bytes as f64));
        server.ask_all(questions)?;
        if let Some(memory) = server.memory() {
            resident.push(memory.resident_bytes as f64);
            peak.push(memory.peak_bytes as f64);
        }
        Ok(time)
    })?;
    results.figure("server_loaded", Unit::Bytes, &loaded);
    results.figure("server_resident", Unit::Bytes, &resident);
    results.figure("server_peak", Unit::Bytes, &peak);
    Ok(())
}

fn loading(results: &mut Results, bed: &Bed, old: &ChunkSet, runs: usize) -> Result<()> {
    (results.told)("load");
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
        results.add(name, &times);
    }
    Ok(())
}

fn asking(results: &mut Results, bed: &Bed, questions: &Questions, few: usize) -> Result<()> {
    let (mut manager, mut first) = (bed.manager()?, Vec::new());
    let some = questions.iter().next().context("there is nothing to ask")?;
    results.measure("build", few, |_| {
        let (built, time) = build(bed, false)?;
        first.push(Questions::ask(&built, some, SearchKind::Hybrid)?);
        manager = built;
        Ok(time)
    })?;
    results.measure("build_saved", few, |_| Ok(build(bed, true)?.1))?;
    results.add("query_first", &first);
    for kind in SearchKind::ALL {
        results.rounds(format!("query_{}", kind.name()), few, |_| {
            questions.iter().map(|q| Questions::ask(&manager, q, kind)).collect()
        })?;
    }
    at_once(results, &manager, questions, few)
}

/// Measures [`CLIENTS`] that ask at once, and compares their rate with that of one thread on each
/// core.
fn at_once(
    results: &mut Results,
    manager: &ChunkManager,
    questions: &Questions,
    few: usize,
) -> Result<()> {
    (results.told)("one_thread");
    let alone: Vec<f64> =
        (0..few).map(|_| rate_of_one_thread(manager, questions)).collect::<Result<_>>()?;
    let ideal = Spread::new(&alone).median * Machine::this().cores as f64;
    results.figure("one_thread", Unit::QueriesPerSecond, &alone);
    for n_clients in CLIENTS {
        let name = format!("clients_{n_clients}");
        // Enough for each client to ask several times.
        let n = questions.len().max(n_clients * 4);
        let mut rates = Vec::new();
        results.rounds(name.clone(), few, |_| {
            let round = ask_at_once(manager, questions, n_clients, n)?;
            rates.push(round.queries_per_second);
            Ok(round.times)
        })?;
        results.figure(name.clone(), Unit::QueriesPerSecond, &rates);
        let shares: Vec<f64> = rates.iter().map(|rate| rate / ideal).collect();
        results.figure(format!("{name}_of_cores"), Unit::Share, &shares);
    }
    Ok(())
}

fn reloading(results: &mut Results, bed: &Bed, n_chunks: usize, runs: usize) -> Result<()> {
    let before = bed.load()?;
    let n = n_chunks.div_ceil(100);
    change(bed, n)?;
    let after = bed.load()?;
    results.measure("diff_changed", runs, |_| diff(&before, &after, n))?;
    drop((before, after));
    let (manager, _) = build(bed, false)?;
    let mut steps = Steps::new(bed)?;
    for n in CHANGES.into_iter().filter(|n| *n <= n_chunks) {
        results.measure(format!("reload_{n}"), runs, |_| reload(bed, &manager, n))?;
        // Without this, the first run would find more changes than the others.
        steps.catch_up()?;
        let times = (0..runs).map(|_| steps.reload(n)).collect::<Result<Vec<_>>>()?;
        for (i, step) in STEPS.iter().enumerate() {
            results
                .add(format!("reload_{n}_{step}"), &times.iter().map(|t| t[i]).collect::<Vec<_>>());
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
        let row = Timing::new("x".into(), std::slice::from_ref(&times));
        assert_eq!((row.n, row.p50, row.p95, row.p99), (200, 100.0, 190.0, 198.0));
        let each: Vec<Vec<Duration>> = times[..3].iter().map(|t| vec![*t]).collect();
        let row = Timing::new("x".into(), &each);
        assert_eq!((row.p50, row.p95, row.p99), (2.0, 3.0, 3.0), "of few, the longest");
        assert_eq!((row.p50_interval, row.p99_interval), (Some([1.0, 3.0]), None));
    }

    #[test]
    fn proc_counts_in_kilobytes() {
        assert_eq!(kilobytes("VmPeak:\t   9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1234 * 1024));
        assert_eq!(kilobytes("", "VmRSS:"), None);
    }
}
