//! `cortex outline`: lists the symbols of a file or the files of a directory.

use anyhow::Result;
use console::style;

use super::args::{self, OfAnyProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, fitted, line, printable};
use crate::engine::{AnswerFrom, Call, OutlineRequest, Outlined};

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
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut path = args.path.clone();
    let engine = args.project.engine(AnswerFrom::Tree, [&mut path])?;
    let mut answer = engine.outline(&OutlineRequest { path }, &Call::default())?;
    let prefix = if answer.path.is_empty() { 0 } else { answer.path.len() + 1 };
    let is_shown = |depth: usize| args.depth.is_none_or(|most| depth <= most);
    match &mut answer.outline {
        Outlined::File(symbols) => symbols.retain(|symbol| is_shown(symbol.depth)),
        Outlined::Directory(files) => {
            files.retain(|file| is_shown(file.path[prefix..].matches('/').count()));
        }
    }
    if args.json {
        render::json(&answer)?;
        return Ok(args::end(engine, Outcome::Done));
    }
    render::warnings(&answer.state);
    match &answer.outline {
        Outlined::File(symbols) => {
            for symbol in symbols {
                let lines = format!("{}-{}", symbol.start_line, symbol.end_line);
                let name = style(printable(&symbol.name)).green();
                line(&fitted(&format!(
                    "{lines:>11}  {}{} {name}",
                    "  ".repeat(symbol.depth),
                    symbol.kind
                )))?;
            }
        }
        Outlined::Directory(files) => {
            let paths = Paths::of(&engine.project);
            for file in files {
                let symbols = if file.symbols.is_empty() {
                    String::new()
                } else {
                    format!("  {}", file.symbols.join(", "))
                };
                line(&fitted(&format!(
                    "{}{}",
                    paths.linked(&file.path, None, style(paths.shown(&file.path)).cyan()),
                    style(printable(&symbols)).dim()
                )))?;
            }
        }
    }
    Ok(args::end(engine, Outcome::Done))
}
