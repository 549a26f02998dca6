//! `cortex changes`: tells what happened since a commit, a date or the last session.

use anyhow::Result;

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use super::render::{json, told};
use crate::engine::{AnswerFrom, Call, ChangesRequest};

/// Tell what happened since a commit, a date or the last session: by area and symbol, with what lost
/// its last use, what got new callers, and the commits
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex changes HEAD~1
  cortex changes 3d --tokens 500
  cortex changes HEAD~1 --path src/store")]
pub(super) struct Args {
    /// A commit (HEAD~3, v1.2, main), a date (2026-01-31) or an age (12h, 3d, 2w); uncommitted changes
    /// count, too [default: the end of the last session, otherwise the last day with commits]
    since: Option<String>,
    /// Only files below this folder, or that match this glob
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Limit the text to about this many tokens
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tokens: usize,
    /// With --json: show at most this many rows of each list
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one, default_value_t = 30)]
    limit: usize,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    project: OfProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let request = ChangesRequest {
        since: args.since.clone(),
        path: args.path.clone(),
        limit: Some(args.limit),
    };
    let answer = engine.changes(&request, &Call::default())?;
    if args.form.json {
        json(&answer)?;
    } else {
        told(&answer.state, &answer.lines_within(args.tokens), !answer.is_empty())?;
    }
    Ok(args::end(engine, Outcome::of(!answer.is_empty())))
}
