//! `cortex pattern`: finds code by its syntactic structure.

use anyhow::Result;

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use crate::engine::{AnswerFrom, Call, PatternRequest};

/// Find code by its syntactic structure, whatever its names and line breaks
#[derive(clap::Args)]
#[command(
    after_help = "Example: cortex pattern '$A.lock()' src --languages rust\n\nWithout --languages, every language in which the pattern parses is searched. $NAME matches one syntax node, $$$NAME any number of nodes. A name that occurs twice matches the same code twice."
)]
pub(super) struct Args {
    /// Code in which $NAME stands for one node and $$$NAME for any number of nodes
    pattern: String,
    /// Search only files that match one of these globs
    #[arg(value_name = "GLOB")]
    paths: Vec<String>,
    #[command(flatten)]
    excluded: args::Excluded,
    #[command(flatten)]
    languages: args::Languages,
    /// Show this many lines before and after each match
    #[arg(short = 'C', long, default_value_t = 0, value_name = "N")]
    context: u32,
    /// Show at most this many matches
    #[arg(short = 'n', long, default_value_t = 100, value_name = "N", value_parser = args::at_least_one)]
    limit: usize,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let Args { pattern, languages, paths, context, limit, .. } = args;
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let request = PatternRequest {
        pattern: pattern.clone(),
        languages: languages.wanted(),
        paths: args.excluded.with(paths, Some(&engine.project)),
        context: *context,
        limit: *limit,
    };
    let found = engine.pattern(&request, &Call::default())?;
    args::answered(engine, args.form.json, &found, found.total > 0)
}
