//! `cortex map`: a ranked outline of the project.

use std::path::PathBuf;

use anyhow::Result;

use super::Outcome;
use super::render::{fitted, json, line, printable};
use super::wire::Project;
use crate::search::Filter;

/// Files that a question puts in focus.
const FOCUS: usize = 5;

/// Show what matters most in the project: the symbols that most others refer to.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: cortex map --tokens 2000 --focus src/store/cache.rs\n          cortex map --focus \"how are files locked\""
)]
pub(super) struct Args {
    /// How long it may be
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tokens: usize,
    /// Seen from this file, relative to the root, or from the files that answer this question
    #[arg(long, value_name = "FILE|QUESTION")]
    focus: Option<String>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let project = Project::open(args.path.as_deref())?;
    let graph = project.graph()?;
    let focus = match &args.focus {
        Some(file) if project.layout.tree().has_file(file) => vec![file.clone()],
        Some(question) => answering(&project, question)?,
        None => Vec::new(),
    };
    let map = graph.map(args.tokens, &focus)?;
    if args.json {
        json(&map)?;
    } else {
        map.text().lines().try_for_each(|l| line(&fitted(&printable(l))))?;
    }
    Ok(if map.files.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// The files that answer a question best.
fn answering(project: &Project, question: &str) -> Result<Vec<String>> {
    let manager = project.load()?;
    let snapshot = manager.current();
    let corpus = &snapshot.code().corpus;
    let query = corpus.query(question)?;
    // Without a vector it goes by words alone.
    let vector = manager.embedder().embed_query(&query.text).unwrap_or_default();
    Ok(corpus.search(&query, &vector, &Filter::default(), FOCUS)?.hits.into_iter().map(|hit| hit.path.to_string()).collect())
}
