//! `cortex files`: counts files, lines and bytes.

use anyhow::Result;

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use crate::engine::{AnswerFrom, Call, CountBy, CountSort, FilesRequest};

/// Count files, lines and bytes by language, directory or file
#[derive(clap::Args)]
#[command(after_help = "Example: cortex files --by directory --depth 2 'src/**'")]
pub(super) struct Args {
    /// Count only files that match one of these globs
    #[arg(value_name = "GLOB")]
    paths: Vec<String>,
    #[command(flatten)]
    excluded: args::Excluded,
    /// Group by this
    #[arg(long, default_value = "language", value_name = "WHAT", value_parser = args::one_of::<CountBy>(&["language", "directory", "file"]))]
    by: CountBy,
    /// With --by directory: group by this many levels
    #[arg(long, default_value_t = 1, value_name = "N")]
    depth: usize,
    /// Sort by this, largest first (names: A to Z)
    #[arg(long, default_value = "lines", value_name = "WHAT", value_parser = args::one_of::<CountSort>(&["lines", "bytes", "files", "name"]))]
    sort: CountSort,
    #[command(flatten)]
    languages: args::Languages,
    /// Show at most this many rows
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N", value_parser = args::at_least_one)]
    limit: usize,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let Args { paths, by, depth, sort, languages, limit, .. } = args;
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let request = FilesRequest {
        by: *by,
        depth: *depth,
        sort: *sort,
        limit: *limit,
        languages: languages.wanted(),
        paths: args.excluded.with(paths, Some(&engine.project)),
    };
    let found = engine.files(&request, &Call::default())?;
    args::answered(engine, args.form.json, &found, !found.rows.is_empty())
}
