//! `cortex map`: prints a ranked outline of the project.

use anyhow::Result;

use super::args::{self, OfProject};
use super::outcome::Outcome;
use super::render::{fitted, json, line, printable, warnings};
use crate::engine::{Call, Look, MapRequest};

/// Show the most important files and symbols: those that others refer to most.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex map --tokens 2000 --focus src/store/cache.rs
  cortex map --focus \"how are files locked\"")]
pub(super) struct Args {
    /// Limit the outline to about this many tokens
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tokens: usize,
    /// Rank as seen from this file (relative to the root), or from the files that match this
    /// question
    #[arg(long, value_name = "FILE|QUESTION")]
    focus: Option<String>,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: OfProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(Look::AtTree)?;
    let answer = engine
        .map(&MapRequest { tokens: args.tokens, focus: args.focus.clone() }, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        warnings(&answer.state);
        answer.map.text().lines().try_for_each(|l| line(&fitted(&printable(l))))?;
    }
    Ok(args::end(
        engine,
        if answer.map.files.is_empty() { Outcome::NothingFound } else { Outcome::Done },
    ))
}
