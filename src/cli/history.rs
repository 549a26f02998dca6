//! `cortex history`: finds the commits that answer a question.

use anyhow::Result;

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use super::render;
use crate::engine::{AnswerFrom, Call, HistoryRequest};
use crate::tools::printed;

/// Find the commits that say why the code is as it is, and when it was changed
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex history \"why is the file replaced by a rename\"
  cortex history --changed MAX_COMMITS -n 3
  cortex history --path 'src/store/**' --since 2w")]
pub(super) struct Args {
    /// A question, or words of the message; without one, the newest commits that the options allow
    query: Vec<String>,
    /// Instead of a question: part of a line that the commit removed or added
    #[arg(long, value_name = "TEXT", conflicts_with = "query")]
    changed: Option<String>,
    /// TEXT is a regular expression
    #[arg(short = 'E', long, requires = "changed")]
    regex: bool,
    /// TEXT is code of a shape, as in `cortex pattern`: 'retry($$$)'
    #[arg(long, requires = "changed", conflicts_with = "regex")]
    pattern: bool,
    /// Ask git for commits beyond the newest 5000, too, for at most ten seconds
    #[arg(long, requires = "changed")]
    older: bool,
    /// Only commits that changed a file that matches GLOB (repeatable; ! excludes)
    #[arg(short, long = "path", value_name = "GLOB")]
    paths: Vec<String>,
    /// Only commits of authors whose name holds NAME
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Only since this time or age: 2026-01-31, 12h, 3d, 2w
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time or age
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show at most this many commits [default: up to 5 that surely answer]
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one)]
    limit: Option<usize>,
    /// Continue an earlier answer from the cursor at its end
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Index)?;
    let request = HistoryRequest {
        query: args.query.join(" "),
        changed: args.changed.clone(),
        regex: args.regex,
        pattern: args.pattern,
        older: args.older,
        paths: args.paths.clone(),
        author: args.author.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
        limit: args.limit,
        cursor: args.cursor.clone(),
    };
    let answer = engine.history(&request, &Call::default())?;
    let is_found = !answer.commits.is_empty();
    if args.form.json {
        render::json(&answer)?;
    } else {
        render::told(&answer.state, &printed(&answer), is_found)?;
    }
    Ok(args::end(engine, Outcome::of(is_found)))
}
