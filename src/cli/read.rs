//! `cortex read`: prints lines of indexed files, and those that match patterns, as agents read them.

use anyhow::Result;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use crate::engine::{AnswerFrom, ReadRequest, Scope};

/// Print lines of indexed files from disk, and lines that match a pattern, with secrets redacted
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex read src/main.rs:1-5,8-12 'src/chunk/set.rs#ChunkSet::by_id' Engine::read_places
  cortex read src/main.rs:1-5 Engine::read_places '/MAX_PLACES|MAX_PATTERNS/'
  cortex read src/main.rs --whole
  cortex read --chunk-id 'src/main.rs#main'")]
pub(super) struct Args {
    /// Files, lines of files or symbols: src/a.rs, src/a.rs:10-40,80-90, src/a.rs#retry, retry. Files
    /// are relative to the working directory or the project root. '/REGEX/' prints the lines that match,
    /// up to 80 of each pattern
    #[arg(value_name = "PLACE", required_unless_present = "chunk_id")]
    places: Vec<String>,
    /// Print these lines of one file: 10-40, 10-, 10, or several: 10-40,80-90 [default: all]
    #[arg(long, value_name = "LINES")]
    lines: Option<String>,
    /// Print also the licence and the imports of whole files, which are left out of files of 60 lines
    /// or more
    #[arg(long)]
    whole: bool,
    /// Print the chunk with this id instead (search --json shows the ids)
    #[arg(long, value_name = "ID", conflicts_with = "places")]
    chunk_id: Option<String>,
    #[command(flatten)]
    project: OfAnyProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut places = args.places.clone();
    let reach = args.project.reach(AnswerFrom::Tree)?.with_team();
    let scope = reach.scope(&mut places)?;
    let request = ReadRequest {
        places,
        chunk_id: args.chunk_id.clone(),
        lines: args.lines.clone(),
        whole: args.whole,
        folds: !args.form.json,
        ..ReadRequest::default()
    };
    let engine = reach.engine(&scope);
    let answer = match &scope {
        Scope::Published(repository) => repository.read_places(&request, &reach.call)?,
        Scope::Here | Scope::Other(_) => engine.read_places(&request, &reach.call)?,
    };
    args::printed(&reach.paths(&scope), args.form.json, &answer, true)?;
    Ok(args::end(engine.clone(), Outcome::Done))
}
