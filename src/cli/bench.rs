//! `cortex bench`: measures speed and memory.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::args::Form;
use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{count, json, line};
use crate::bench::{
    Bed, BedOrigin, BenchReport, Change, Figure, Timing, Unit, Verdict, compare, run as measure,
};
use crate::engine::{LONG_WAIT, Project};

/// With fewer rounds, intervals of equal figures are often apart: in one of three cases with two
/// rounds, in one of ten with three, in one of 126 with five.
const SURE_RUNS: usize = 5;

/// Measure the speed of indexing, loading and searching, and the memory of a server.
///
/// Searches are also measured with 8 and 32 clients at once, after `cortex index`, and with files
/// that are not in memory.
///
/// Measures a copy of the current project, a generated project, or given chunk files, in a
/// temporary directory. Vectors come from the bundled model, or are those that the given chunks
/// contain.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex bench
  cortex bench --chunks 10000 --json
  cortex bench --compare before.json
  cortex bench --chunks-dir .cortex/chunks")]
pub(super) struct Args {
    /// Measure a generated project of about this many chunks; it is the same each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..), conflicts_with = "chunks_dir")]
    chunks: Option<u32>,
    /// Measure the chunk files in this directory
    #[arg(long, value_name = "DIR")]
    chunks_dir: Option<PathBuf>,
    /// Repeat each measurement this often; slow ones are repeated less
    #[arg(long, value_name = "N", default_value_t = 9)]
    runs: usize,
    /// Compare with an earlier run: a file with the output of `cortex bench --json`. The table shows
    /// the ratio of both medians, and whether the difference is larger than the noise: the interval
    /// of the median (of 19 in 20 cases) in one run does not overlap with that in the other
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let then = args.compare.as_deref().map(BenchReport::read).transpose()?;
    let program = std::env::current_exe().context("this program cannot be found")?;
    let bar = Bar::preparing(false);
    bar.say("preparing");
    let (bed, given) = match (args.chunks, &args.chunks_dir) {
        (Some(n), _) => (Bed::generated(n as usize)?, None),
        (_, Some(dir)) => (Bed::of_chunks(dir)?, Some(dir.clone())),
        _ => {
            let project = Project::open(None)?;
            let layout = &project.layout;
            if layout.is_foreign() {
                (Bed::of_chunks(&layout.chunks_dir())?, Some(layout.chunks_dir()))
            } else {
                (Bed::copy_of(layout.root(), &project.indexer(LONG_WAIT).walk)?, None)
            }
        }
    };
    let report = measure(&bed, &program, given.as_deref(), args.runs, &|name| {
        bar.say(format!("measuring {name}"));
    })?;
    bar.end();
    let changes = then.as_ref().map(|then| compare(then, &report));
    if args.form.json {
        json(&WithChanges { report: &report, changes })?;
        return Ok(Outcome::Done);
    }
    head(&report)?;
    match (&then, changes) {
        (Some(then), Some(changes)) => {
            print_changes(then, &report, &changes)?;
            if args.runs < SURE_RUNS {
                line("")?;
                line(&format!(
                    "With fewer than {SURE_RUNS} runs (--runs), a change may be chance."
                ))?;
            }
        }
        _ => print(&report)?,
    }
    for left_out in &report.left_out {
        line(&format!("not measured: {} ({})", meaning(&left_out.name), left_out.why))?;
    }
    Ok(Outcome::Done)
}

/// A report, and what changed since another one.
#[derive(serde::Serialize)]
struct WithChanges<'a> {
    #[serde(flatten)]
    report: &'a BenchReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Change>>,
}

/// Prints the corpus and the machine. This and all other parts take at most 80 columns.
fn head(report: &BenchReport) -> Result<()> {
    line(&corpus(report))?;
    let machine = &report.machine;
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    let installed =
        machine.memory_bytes.map(|b| format!(", {:.0} MB", b as f64 / 1e6)).unwrap_or_default();
    line(&format!("{cpu}, {}{installed}, {}", count(machine.cores, "core"), machine.os))?;
    line("")
}

fn corpus(report: &BenchReport) -> String {
    let corpus = &report.corpus;
    let origin = match corpus.origin {
        BedOrigin::Generated => "generated",
        BedOrigin::Project => "this project",
        BedOrigin::Chunks => "given chunks",
    };
    let (chunks, files) = (count(corpus.n_chunks, "chunk"), count(corpus.n_files, "file"));
    format!(
        "{origin}: {chunks} in {files}, {:.0} MB of text, {} dimensions",
        corpus.text_bytes as f64 / 1e6,
        corpus.dimensions
    )
}

fn print(report: &BenchReport) -> Result<()> {
    line(&format!("{:<40} {:>4} {:>9} {:>9} {:>9}  ms", "", "n", "p50", "p95", "p99"))?;
    for Timing { name, n, p50, p95, p99, .. } in &report.times {
        line(&format!("{:<40} {n:>4} {p50:>9.2} {p95:>9.2} {p99:>9.2}", meaning(name)))?;
    }
    line("")?;
    line(&format!("{:<38} {:>4} {:>8} {:>8} {:>8}", "", "n", "median", "from", "to"))?;
    for Figure { name, unit, n, median, interval } in &report.figures {
        let at = |value| shown(*unit, value);
        let row = format!(
            "{:<38} {n:>4} {:>8} {:>8} {:>8}  {}",
            meaning(name),
            at(*median),
            at(interval[0]),
            at(interval[1]),
            unit_name(*unit)
        );
        line(row.trim_end())?;
    }
    line("")?;
    if let Some(recall) = report.recall_10 {
        line(&format!("the ten nearest by f32 vectors, found with eight bits: {recall:.4}"))?;
    }
    Ok(())
}

/// Prints the changes since another run. A change within the noise has no word.
fn print_changes(then: &BenchReport, now: &BenchReport, changes: &[Change]) -> Result<()> {
    if then.corpus != now.corpus {
        line(&format!("The corpus was another one then: {}", corpus(then)))?;
    }
    if then.machine != now.machine {
        line("The machine was another one then. Only ratios within a run count.")?;
    }
    line(&format!("{:<40} {:>9} {:>9} {:>6}", "", "then", "now", "ratio"))?;
    for Change { name, unit, then, now, ratio, verdict, .. } in changes {
        let verdict = match verdict {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Same => "",
        };
        let (then, now) = (shown(*unit, *then), shown(*unit, *now));
        let row = format!("{:<40} {then:>9} {now:>9} {ratio:>6.2}  {verdict}", meaning(name));
        line(row.trim_end())?;
    }
    Ok(())
}

/// Returns a value in its unit, which [`unit_name`] returns.
fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ms | Unit::Share => format!("{value:.2}"),
        Unit::Bytes => format!("{:.1}", value / 1e6),
        Unit::BytesPerChunk | Unit::QueriesPerSecond => format!("{value:.0}"),
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Ms => "ms",
        Unit::Bytes => "MB",
        Unit::BytesPerChunk => "bytes",
        Unit::QueriesPerSecond => "/s",
        Unit::Share => "",
    }
}

/// Returns the description of a name in the JSON.
fn meaning(name: &str) -> String {
    if let Some(name) = name.strip_suffix("_p99") {
        return format!("{}, p99", meaning(name));
    }
    let known = match name {
        "search_first" => "first cortex search after cortex index",
        "search_cold" => "cortex search, files not in memory",
        "edit_found" => "server: one file changed to found",
        "index_full" => "index from scratch",
        "index_one" => "one file changed, noticed to found",
        "search_once" => "cortex search, start to end",
        "server_start" => "server, start to first answer",
        "load_given" => "load the given files as they are",
        "load_given_saved" => "the same in the next process",
        "reload_given" => "reload, one chunk of the largest changed",
        "load" => "load chunks",
        "open_saved" => "open saved indexes",
        "diff_equal" => "compare with an equal set",
        "diff_changed" => "compare, 1 % changed",
        "load_open_diff" => "load + open + compare",
        "build" => "load and build all indexes",
        "build_saved" => "the same from saved ones",
        "query_first" => "first query after that",
        "query_text" => "query by words",
        "query_vector" => "query by meaning",
        "query_hybrid" => "query by both",
        "clients_1" => "1 client: query by both",
        "clients_8" => "8 clients at once: query by both",
        "clients_32" => "32 clients at once: query by both",
        "one_thread" => "queries of one thread",
        "clients_1_of_cores" => "  1 client, by one thread on each core",
        "clients_8_of_cores" => "  8 clients, the same",
        "clients_32_of_cores" => "  32 clients, the same",
        "saved_index" => "saved index, for each chunk",
        "server_loaded" => "memory of a server, loaded",
        "server_resident" => "memory of a server, after the queries",
        "server_peak" => "memory of a server, at its peak",
        _ => "",
    };
    match name
        .strip_prefix("reload_")
        .filter(|_| known.is_empty())
        .map(|rest| rest.split_once('_').unwrap_or((rest, "")))
    {
        Some((n, "")) => format!("reload, chunks changed: {n}"),
        Some((_, step)) => format!("  {step}"),
        None => known.to_string(),
    }
}
