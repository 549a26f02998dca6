//! `cortex explore`: prints the code that answers a question, found by everything that one guesses.

use anyhow::Result;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use super::render;
use crate::engine::{AnswerFrom, Call, ExploreRequest, Filters};
use crate::tools::{Format, limited};

/// Answer a question about the code in one reply: give the question and all names, keys and messages
/// that you guess
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex explore \"how is an index written\" ChunkWriter publish manifest \"lock\"
  cortex explore ChunkWriter::publish src/store/lock.rs:20-60,80-90
  cortex explore \"who retries a write\" retry backoff -p 'src/**' --tokens 3000
  cargo test 2>&1 | cortex explore - \"why does the reload fail\"

Ask twice. First give the question and, as arguments of their own, five to seven names, keys and messages that may be in the code: a guess that is wrong costs nothing. Then name everything that is still missing in one more call: symbols, and places such as src/a.rs:10-40,80-90. Named symbols come with their users and tests. For every line with one exact text use `cortex grep`.

Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    /// The question, names, keys, messages, files and places: src/a.rs:10-40, src/a.rs#retry; - reads
    /// one from standard input
    #[arg(value_name = "ENTRY", required = true)]
    about: Vec<String>,
    /// Print at most about this many tokens, from 200 to 20000 [default: 7000]
    #[arg(long, value_name = "N", value_parser = args::at_least_one)]
    tokens: Option<usize>,
    /// Search only in files that match GLOB (repeatable; ! excludes)
    #[arg(short, long = "path", alias = "paths", value_name = "GLOB")]
    paths: Vec<String>,
    #[command(flatten)]
    excluded: args::Excluded,
    #[command(flatten)]
    project: OfAnyProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut about = args.about.clone();
    for entry in about.iter_mut().filter(|entry| **entry == "-") {
        *entry = args::standard_input()?;
    }
    let engine = args.project.engine(AnswerFrom::Tree, &mut about)?;
    let paths = args.excluded.with(&args.paths, Some(&engine.project));
    let request = ExploreRequest { about, filters: Filters { paths, ..Filters::default() } };
    let format = if args.form.json { Format::Json } else { Format::Text };
    let told = limited(request, &engine, &Call::default(), args.tokens, format)?;
    let answer = &told.reply;
    let is_found =
        !answer.subjects.is_empty() || !answer.code.is_empty() || !answer.more.is_empty();
    if args.form.json {
        render::json(&told.json()?)?;
    } else {
        render::told(&answer.state, &told.lines(), is_found)?;
    }
    Ok(args::end(engine, Outcome::of(is_found)))
}
