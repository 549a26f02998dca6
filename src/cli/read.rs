//! `cortex read`: prints lines of an indexed file, as agents read them.

use anyhow::Result;
use console::style;

use super::args::{self, OfAnyProject};
use super::outcome::Outcome;
use super::render::{self, code, line, width};
use crate::engine::{AnswerFrom, Call, ReadRequest};

/// Print lines of an indexed file from disk, with secrets redacted
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex read src/main.rs --lines 1-20
  cortex read --chunk-id 'src/main.rs#main'")]
pub(super) struct Args {
    /// A file, relative to the working directory or the project root
    #[arg(required_unless_present = "chunk_id")]
    path: Option<String>,
    /// Print these lines: 10-40, 10-, 10, or several: 10-40,80-90 [default: all]
    #[arg(long, value_name = "LINES")]
    lines: Option<String>,
    /// Print the chunk with this id instead (search --json shows the ids)
    #[arg(long, value_name = "ID", conflicts_with = "path")]
    chunk_id: Option<String>,
    #[command(flatten)]
    project: OfAnyProject,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut path = args.path.clone();
    let engine = args.project.engine(AnswerFrom::Tree, &mut path)?;
    let request = ReadRequest {
        chunk_id: args.chunk_id.clone(),
        path,
        lines: args.lines.clone(),
        ..ReadRequest::default()
    };
    let answer = engine.read(&request, &Call::default())?;
    if args.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.state);
        let first = (answer.start_line, &*answer.content);
        let others = answer.more.iter().map(|range| (range.start_line, &*range.content));
        for (start_line, lines) in std::iter::once(first).chain(others) {
            if start_line != answer.start_line {
                line(&style("     …").dim().to_string())?;
            }
            for (number, text) in (start_line..).zip(lines.lines()) {
                line(&format!(
                    "{} {}",
                    style(format!("{number:>6}")).dim(),
                    code(text, width().saturating_sub(8))
                ))?;
            }
        }
    }
    Ok(args::end(engine, Outcome::Done))
}
