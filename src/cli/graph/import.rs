//! `cortex graph import`: reads SCIP indexes.

use std::path::PathBuf;

use anyhow::Result;

use super::super::args::OfProject;
use super::super::outcome::Outcome;
use super::super::render::{count, json, line, printable};
use crate::engine::{AnswerFrom, Call};

/// Read a SCIP index, which a compiler or a language server wrote.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  rust-analyzer scip . && cortex graph import index.scip
  scip-python index . && cortex graph import index.scip --json

Files that have not changed since the index was made are resolved by it; the others by the rules of Cortex.
Exit codes: 0 imported, 1 no file of the index is as it was, 2 error.")]
pub(super) struct Args {
    /// The index file
    file: PathBuf,
    /// Print the result as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: OfProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let imported = engine.import_scip(&args.file, &Call::default())?;
    if args.json {
        json(&imported)?;
    } else {
        line(&format!("{} by {}", count(imported.n_files, "file"), printable(&imported.tool)))?;
        if !imported.outdated.is_empty() {
            tell!(
                "{} changed since: {}",
                count(imported.outdated.len(), "file"),
                printable(
                    &imported.outdated.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
                )
            );
        }
    }
    let is_empty = imported.n_files == 0;
    Ok(super::super::args::end(
        engine,
        if is_empty { Outcome::NothingFound } else { Outcome::Done },
    ))
}
