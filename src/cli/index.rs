//! `cortex index`: updates the index.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, anyhow};

use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{self, count, duration, megabytes, printable};
use crate::archives::Archive;
use crate::engine::{AnswerFrom, Engine, LONG_WAIT, Project};
use crate::index::{Mode, Summary};

/// Create or update the index. Unchanged files are not read again.
#[derive(clap::Args)]
#[command(
    visible_alias = "indexer",
    after_help = "Example: cortex index --verbose

CI leaves the index for others after each merge, and each of them begins with it:
  cortex index --cache-to s3://builds/cortex
  cortex index --cache-from s3://builds/cortex

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
    /// Begin a project without an index with one that `--cache-to` left at this place: a folder, such
    /// as a mounted share, or an address such as `s3://bucket/folder` (`gs://`, `az://`). Every file is
    /// compared with it, and only what differs is indexed [default: the setting `index.cache_from`]
    #[arg(long, value_name = "PLACE", conflicts_with = "full")]
    cache_from: Option<String>,
    /// Leave the index at this place for others when it is up to date, unless there is one of the same
    /// commit. It holds the text of the indexed files, without secrets
    #[arg(long, value_name = "PLACE")]
    cache_to: Option<String>,
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
    // The command is the consent.
    let mut project = Project::open_as_project(args.project.as_deref())?;
    if let Some(from) = &args.cache_from {
        project.config.cache_from = Some(place(from)?);
    }
    let mode = if args.full { Mode::Full } else { Mode::Incremental };
    let quiet = args.quiet || args.json;
    let bar = Bar::indexing(quiet);
    let mut summary = project.index(None, mode, LONG_WAIT, &|progress| bar.show(progress))?;
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
    Arc::new(engine).end();
    if let Some(to) = &args.cache_to {
        // The engine owns the project that was indexed, and has let go of it.
        let project = Project::open(args.project.as_deref())?;
        summary.uploaded = project.leave_archive(place(to)?)?;
    }
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

/// Returns the place that the user named; a folder with its whole path.
fn place(named: &str) -> Result<String> {
    if named.contains("://") {
        return Ok(named.to_string());
    }
    let path = std::path::absolute(named)?;
    path.into_os_string().into_string().map_err(|path| anyhow!("{} is not UTF-8", path.display()))
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
    if let Some(Archive { commit, bytes }) = &s.downloaded {
        let commit = commit.get(..8).unwrap_or_default();
        notes.push(format!("begun with the index of {commit}, {} downloaded", megabytes(*bytes)));
    }
    if let Some(Archive { bytes, .. }) = &s.uploaded {
        notes.push(format!("{} uploaded", megabytes(*bytes)));
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
