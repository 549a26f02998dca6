//! `cortex status`: shows the state of the index.

use anyhow::Result;

use super::args::{Form, OfProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::json;
use crate::engine::{AnswerFrom, Call, StatusRequest};

/// Show what is indexed, how old the index is, and what was skipped.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex status --json
  cortex status -v")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
    /// List every skipped file with its reason, what ignore files and hidden names leave out, by
    /// which rule, and the place of every redacted secret
    #[arg(long, short)]
    verbose: bool,
}

/// Number of secrets that are listed without `--verbose`.
const SECRETS_SHOWN: usize = 5;

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Index)?;
    let verbose = args.verbose || args.form.json;
    let mut status = engine.status(StatusRequest { verbose }, &Call::default())?;
    if args.form.json {
        json(&status)?;
    } else {
        if !verbose {
            status.secrets.first.truncate(SECRETS_SHOWN);
        }
        Paths::of(&engine.project).print(&status, true)?;
    }
    Ok(Outcome::of(status.chunks > 0))
}
