//! `cortex related`: finds code and documents that are similar to a place in the code.

use anyhow::Result;
use console::style;

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, fitted, line, printable};
use crate::chunk::ChunkType;
use crate::engine::{AnswerFrom, Call, Kinds, RelatedRequest};

/// Find code and documents that are similar in meaning to a file, a line or a chunk
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex related src/store/lock.rs --line 40
  cortex related README.md --types definitions")]
pub(super) struct Args {
    /// A file, relative to the working directory or the project root
    #[arg(required_unless_present = "chunk_id")]
    path: Option<String>,
    /// A line of that file [default: the whole file]
    #[arg(long, value_name = "N")]
    line: Option<u32>,
    /// Start from the chunk with this id instead (search --json shows the ids)
    #[arg(long, value_name = "ID", conflicts_with = "path")]
    chunk_id: Option<String>,
    /// Show at most this many files
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one, default_value_t = 10)]
    limit: usize,
    /// Show only chunks of these types (repeat, or separate with commas)
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = args::one_of::<ChunkType>(args::TYPES))]
    types: Vec<ChunkType>,
    #[command(flatten)]
    languages: args::Languages,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let request = RelatedRequest {
        chunk_id: args.chunk_id.clone(),
        path: args.path.clone(),
        line: args.line,
        limit: args.limit,
        kinds: Kinds { types: args.types.clone(), languages: args.languages.wanted() },
    };
    let answer = engine.related(&request, &Call::default())?;
    if args.form.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.state.warnings);
        let paths = Paths::of(&engine.project);
        for row in &answer.results {
            let (chunk, path) = (&row.chunk, &row.hit.path);
            let at = style(paths.place(chunk.start_line.zip(chunk.end_line), path)).cyan();
            let at = paths.linked(path, chunk.start_line.map(u64::from), at);
            let what = chunk.symbol.as_deref().or(chunk.title.as_deref()).unwrap_or_default();
            let text = format!("{:.2}  {at}  {}", row.score, style(printable(what)).green());
            line(&fitted(text.trim_end()))?;
        }
    }
    Ok(args::end(engine, Outcome::of(!answer.results.is_empty())))
}
