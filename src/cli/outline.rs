//! `cortex outline`: lists the symbols of a file or the files of a directory.

use anyhow::Result;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use super::render;
use crate::engine::{AnswerFrom, Call, OutlineRequest, Outlined};
use crate::tools::{OutlineArgs, whole};

/// List the symbols of a file, or the files below a directory
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex outline src/main.rs
  cortex outline specs --depth 0")]
pub(super) struct Args {
    /// A file or directory, relative to the working directory or the project root [default: the working directory]
    #[arg(default_value = "", hide_default_value = true)]
    path: String,
    /// Show this many levels of nested symbols or subdirectories [default: all]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    project: OfAnyProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut request = OutlineRequest { path: args.path.clone() };
    let engine = args.project.engine(AnswerFrom::Tree, [&mut request.path])?;
    if !args.form.json {
        let reply = whole(OutlineArgs { request, depth: args.depth }, &engine)?;
        return args::answered(engine, false, &reply, true);
    }
    let mut answer = engine.outline(&request, &Call::default())?;
    let prefix = if answer.path.is_empty() { 0 } else { answer.path.len() + 1 };
    let is_shown = |depth: usize| args.depth.is_none_or(|most| depth <= most);
    match &mut answer.outline {
        Outlined::File(symbols) => symbols.retain(|symbol| is_shown(symbol.depth)),
        Outlined::Directory(files) => {
            files.retain(|file| is_shown(file.path[prefix..].matches('/').count()));
        }
    }
    render::json(&answer)?;
    Ok(args::end(engine, Outcome::Done))
}
