//! `cortex related`: what is near in meaning to a place in the code.

use anyhow::Result;
use console::style;

use super::Outcome;
use super::args::{self, OfProject};
use super::render::{self, fitted, line, place, printable};
use crate::chunk::ChunkType;
use crate::engine::{Call, Kinds, Look, RelatedRequest};

/// Find code and documents that are near in meaning to a file, a line of it, or a chunk
#[derive(clap::Args)]
#[command(after_help = "Examples: cortex related src/main.rs --line 12\n          cortex related docs/guide.md --types definitions")]
pub(super) struct Args {
    /// A file, relative to the root of the project
    #[arg(required_unless_present = "chunk_id")]
    path: Option<String>,
    /// A line of it [default: the whole file]
    #[arg(long, value_name = "N")]
    line: Option<u32>,
    /// A chunk instead, as a search names it (--json)
    #[arg(long, value_name = "ID", conflicts_with = "path")]
    chunk_id: Option<String>,
    /// How many files
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Only chunks of these types
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = args::one_of::<ChunkType>(args::TYPES))]
    types: Vec<ChunkType>,
    /// Only these languages (rust, python, markdown …)
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',')]
    languages: Vec<String>,
    #[command(flatten)]
    project: OfProject,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(Look::AtTree)?;
    let request = RelatedRequest {
        chunk_id: args.chunk_id.clone(),
        path: args.path.clone(),
        line: args.line,
        limit: args.limit,
        kinds: Kinds { types: args.types.clone(), languages: args.languages.clone() },
    };
    let answer = engine.related(&request, &Call::default())?;
    if args.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.state);
        for row in &answer.results {
            let at = style(place(row.chunk.start_line.zip(row.chunk.end_line), &row.hit.path)).cyan();
            let what = row.chunk.symbol.as_deref().or(row.chunk.title.as_deref()).unwrap_or_default();
            line(&fitted(&format!("{:.2}  {at}  {}", row.score, style(printable(what)).green())))?;
        }
    }
    Ok(args::end(engine, if answer.results.is_empty() { Outcome::NothingFound } else { Outcome::Done }))
}
