//! `cortex bench`: measures speed and memory.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{count, json, line};
use crate::bench::{Bed, BedOrigin, BenchReport, run as measure};
use crate::engine::{LONG_WAIT, Project};

/// Measure the speed of indexing, loading and searching, and the memory of a server.
///
/// Measures a copy of the current project, a generated project, or given chunk files, in a
/// temporary directory. Vectors come from the bundled model, or are those that the given chunks
/// contain.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex bench
  cortex bench --chunks 10000 --json
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
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
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
    if args.json {
        json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(Outcome::Done)
}

/// Prints the report in at most 80 columns.
fn print(report: &BenchReport) -> Result<()> {
    let BenchReport { machine, corpus, times, memory, recall_10 } = report;
    let origin = match corpus.origin {
        BedOrigin::Generated => "generated",
        BedOrigin::Project => "this project",
        BedOrigin::Chunks => "given chunks",
    };
    let (chunks, files) = (count(corpus.n_chunks, "chunk"), count(corpus.n_files, "file"));
    line(&format!(
        "{origin}: {chunks} in {files}, {} MB of text, {} dimensions",
        mb(corpus.text_bytes as u64),
        corpus.dimensions
    ))?;
    let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
    let installed = machine.memory_bytes.map(|b| format!(", {} MB", mb(b))).unwrap_or_default();
    line(&format!("{cpu}, {}{installed}, {}", count(machine.cores, "core"), machine.os))?;
    line("")?;
    line(&format!("{:<40} {:>4} {:>9} {:>9} {:>9}  ms", "", "n", "p50", "p95", "p99"))?;
    for row in times {
        line(&format!(
            "{:<40} {:>4} {:>9.2} {:>9.2} {:>9.2}",
            meaning(&row.name),
            row.n,
            row.p50,
            row.p95,
            row.p99
        ))?;
    }
    line("")?;
    if let Some(memory) = memory {
        let (resident, peak) = (mb(memory.server_resident_bytes), mb(memory.server_peak_bytes));
        line(&format!("memory of a server: {resident} MB resident, {peak} MB at its peak"))?;
    }
    if let Some(recall) = recall_10 {
        line(&format!("the ten nearest by f32 vectors, found with eight bits: {recall:.4}"))?;
    }
    Ok(())
}

fn mb(bytes: u64) -> u64 {
    (bytes + 500_000) / 1_000_000
}

/// Returns the description of a name in the JSON.
fn meaning(name: &str) -> String {
    let known = match name {
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
