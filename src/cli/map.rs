//! `cortex map`: a ranked outline of the project.

use anyhow::Result;

use super::Outcome;
use super::args::{self, OfProject};
use super::render::{fitted, json, line, printable, warnings};
use crate::engine::{Call, Look, MapRequest};

/// Show what matters most in the project: the symbols that most others refer to.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: cortex map --tokens 2000 --focus src/store/cache.rs\n          cortex map --focus \"how are files locked\""
)]
pub(super) struct Args {
    /// How long it may be
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tokens: usize,
    /// Seen from this file, relative to the root, or from the files that answer this question
    #[arg(long, value_name = "FILE|QUESTION")]
    focus: Option<String>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: OfProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(Look::AtTree)?;
    let answer = engine.map(&MapRequest { tokens: args.tokens, focus: args.focus.clone() }, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        warnings(&answer.state);
        answer.map.text().lines().try_for_each(|l| line(&fitted(&printable(l))))?;
    }
    Ok(args::end(engine, if answer.map.files.is_empty() { Outcome::NothingFound } else { Outcome::Done }))
}
