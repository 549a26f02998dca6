//! `cortex map`: tells what the project is.

use anyhow::Result;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use super::render::{json, told};
use crate::engine::{AnswerFrom, Call, MapRequest};

/// Tell what this repository is: purpose, commands, entry points, modules, main types
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex map --tokens 2000 --focus src/store/cache.rs
  cortex map --focus \"how are files locked\"")]
pub(super) struct Args {
    /// Limit the map to about this many tokens
    #[arg(long, value_name = "N", default_value_t = 1500)]
    tokens: usize,
    /// Show only files, those first that are close to this file or to the files that answer this
    /// question
    #[arg(long, value_name = "FILE|QUESTION")]
    focus: Option<String>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    project: OfAnyProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut focus = args.focus.clone();
    let engine = args.project.engine(AnswerFrom::Tree, &mut focus)?;
    let answer = engine.map(&MapRequest { focus }, &Call::default())?;
    if args.form.json {
        json(&answer)?;
    } else {
        told(&answer.state, &answer.lines_within(args.tokens), true)?;
    }
    let is_found = answer.total_files > 0 || !answer.files.is_empty();
    Ok(args::end(engine, Outcome::of(is_found)))
}
