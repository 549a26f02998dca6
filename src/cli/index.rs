//! `cortex index`: updates the index.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;

use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{self, count, duration, printable};
use crate::engine::{AnswerFrom, Engine, LONG_WAIT, Project};
use crate::index::{Mode, Summary};

/// Create or update the index. Unchanged files are not read again.
#[derive(clap::Args)]
#[command(
    visible_alias = "indexer",
    after_help = "Example: cortex index --verbose

To index hidden files or dependencies as well, set this in your own settings,
~/.config/cortex/config.toml. It holds for every later update:
  [index]
  hidden = true
  include = [\"node_modules/react/**\"]"
)]
pub(super) struct Args {
    /// Index the project of this directory [default: the current directory]
    project: Option<PathBuf>,
    /// Parse every file again, and replace chunk files of other programs
    #[arg(long)]
    full: bool,
    /// Print only errors
    #[arg(long, short)]
    quiet: bool,
    /// Print a JSON summary (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// List every skipped file with its reason
    #[arg(long, short)]
    verbose: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let project = Project::open(args.project.as_deref())?;
    let mode = if args.full { Mode::Full } else { Mode::Incremental };
    let quiet = args.quiet || args.json;
    let bar = Bar::indexing(quiet);
    let mut summary = project.index(mode, LONG_WAIT, &|progress| bar.show(progress))?;
    project.note();
    let start = Instant::now();
    let bar = Bar::embedding(quiet);
    match project.embed(&|progress| bar.show(progress))? {
        Some(n) => summary.n_embedded += n,
        None => tell!(
            "another cortex process is making the vectors: `cortex status` says how many are lacking"
        ),
    }
    // The command also prepares what the first search needs, so that the search need not wait.
    let bar = Bar::preparing(quiet);
    let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
    let prepared = engine.prepare(&|phase| bar.say(phase));
    bar.end();
    if let Err(e) = prepared {
        tell!("the first search has to prepare itself: {e}");
    }
    let bar = Bar::graph(quiet);
    if let Err(e) = engine.prepare_graph(&|progress| bar.show(progress)) {
        tell!("the first question about the code graph has to read the files: {e}");
    }
    engine.end();
    summary.ms += u64::try_from(start.elapsed().as_millis()).unwrap_or(0);
    if args.json {
        render::json(&summary)?;
    } else if !args.quiet {
        if args.verbose {
            for (path, reason) in &summary.skipped_files {
                render::line(&format!("skipped {}: {}", printable(path), printable(reason)))?;
            }
        }
        render::line(&one_line(&summary))?;
    }
    Ok(Outcome::Done)
}

/// Returns the summary as one line for people.
pub(super) fn one_line(s: &Summary) -> String {
    let verb = if s.changed { "indexed" } else { "up to date:" };
    let mut line =
        format!("{verb} {} in {}", count(s.n_files, "file"), count(s.n_chunks(), "chunk"));
    let mut notes = Vec::new();
    if s.n_parsed > 0 && s.n_parsed < s.n_files {
        notes.push(format!("{} parsed", s.n_parsed));
    }
    if s.n_known > 0 {
        notes.push(format!("{} known by content", s.n_known));
    }
    if s.n_removed > 0 {
        notes.push(format!("{} removed", s.n_removed));
    }
    let skipped: Vec<String> =
        s.skipped.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    if !skipped.is_empty() {
        notes.push(format!("skipped {}", skipped.join(", ")));
    }
    if !notes.is_empty() {
        line = format!("{line} ({})", notes.join("; "));
    }
    format!("{line}, {}", duration(s.ms))
}
