//! `cortex map`: a ranked outline of the project.

use std::path::PathBuf;

use anyhow::Result;

use super::Outcome;
use super::render::{json, line, printable};
use super::wire::Project;

/// Show what matters most in the project: the symbols that most others refer to.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex map --tokens 2000 --focus src/store/cache.rs")]
pub(super) struct Args {
    /// How long it may be
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tokens: usize,
    /// Seen from this file, relative to the root
    #[arg(long, value_name = "FILE")]
    focus: Option<String>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let map = Project::open(args.path.as_deref())?.graph()?.map(args.tokens, args.focus.as_deref())?;
    if args.json {
        json(&map)?;
    } else {
        map.text().lines().try_for_each(|l| line(&printable(l)))?;
    }
    Ok(if map.files.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}
