//! `cortex why`: says why lines are as they are.

use anyhow::Result;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use super::render::{self, line};
use crate::engine::{AnswerFrom, Call, WhyRequest};
use crate::tools::{WHY_TOKENS, why_lines};

/// Say why lines are as they are: the commits that wrote them, not those that formatted or moved them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex why src/store/lock.rs:40
  cortex why src/store/lock.rs:20-60 --json")]
pub(super) struct Args {
    /// Lines or a symbol: src/a.rs:12-20,40, src/a.rs#retry, retry
    at: String,
    #[command(flatten)]
    project: OfAnyProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut at = args.at.clone();
    let engine = args.project.engine(AnswerFrom::Tree, [&mut at])?;
    let answer = engine.why(&WhyRequest { at }, &Call::default())?;
    let is_found = !answer.commits.is_empty();
    if args.form.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.state.warnings);
        // A reason is shown whole, however long it is.
        why_lines(&answer, WHY_TOKENS).iter().try_for_each(|text| line(text))?;
    }
    Ok(args::end(engine, Outcome::of(is_found)))
}
