//! `cortex eval`: measures search quality on sets of questions.

mod files;
mod graph;
mod open;
mod print;
mod set;
mod together;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use self::files::{JsonLinesWriter, read_file};
use self::open::EvaluatedProject;
use self::print::Report;
use self::set::Set;
use super::outcome::Outcome;
use super::progress::Bar;
use crate::engine::ResultRow;
use crate::eval::{self, EvalQuestion, FILES, FoundFile, Other, Scored};
use crate::search::Hit;

/// Measure search quality on questions made from the project itself, or on your own questions.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex eval --self                            make questions from this project
  cortex eval --self ../other --write /tmp/set  … and keep them for other programs
  echo '{\"query\": \"where are retries counted\", \"files\": [\"src/retry.rs\"]}' > mine.jsonl
  cortex eval --queries mine.jsonl --json
  cortex eval --queries a.jsonl b.jsonl --repos repos --save before.jsonl
  cortex eval --queries a.jsonl b.jsonl --repos repos --compare before.jsonl

Exit codes: 0 measured, 1 no questions, 2 error.")]
#[command(group(clap::ArgGroup::new("set").required(true).args(["own", "queries", "graph"])))]
pub(super) struct Args {
    /// Make the questions from this project; the text that each was made from is hidden from the
    /// search
    #[arg(long = "self", value_name = "PATH", num_args = 0..=1, default_missing_value = ".")]
    own: Option<PathBuf>,
    /// Read questions from these files, as JSON lines (format: specs/cli-json.md)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    queries: Vec<PathBuf>,
    /// Compare the inferred calls of the code graph with the SCIP indexes that this project imported
    #[arg(long, conflicts_with_all = ["baseline", "compare", "features", "tokens"])]
    graph: bool,
    /// Search the repositories in this directory that the questions name [default: search the
    /// current project]
    #[arg(long, value_name = "DIR", requires = "queries")]
    repos: Option<PathBuf>,
    /// Ask all repositories together: an answer must be the right file of the right repository
    #[arg(long, requires = "repos", conflicts_with_all = ["baseline", "features", "tokens"])]
    together: bool,
    /// Make at most this many questions of each kind
    #[arg(long, value_name = "N", default_value_t = 40, requires = "own")]
    count: usize,
    /// Write the questions (queries.jsonl) and the searched files (tree) to a new directory
    #[arg(long, value_name = "DIR", requires = "own")]
    write: Option<PathBuf>,
    /// Also measure a plain BM25 search (always on with --self)
    #[arg(long)]
    baseline: bool,
    /// Write each question with its measures to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with a file that --save wrote
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Write the features of each candidate to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Measure how many tokens of a reply a model reads until it has the file and the lines
    #[arg(long, conflicts_with_all = ["baseline", "save", "compare", "features"])]
    tokens: bool,
    #[command(flatten)]
    server: tokens::OtherServer,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    if args.graph {
        return graph::run(args.save.as_deref(), args.json);
    }
    // Wrong arguments fail before the work.
    let others = args.compare.as_deref().map(read_others).transpose()?;
    let features = args.features.as_deref().map(JsonLinesWriter::create).transpose()?;
    let save = args.save.as_deref().map(JsonLinesWriter::create).transpose()?;
    let set = match &args.own {
        Some(path) => Set::of_project(path, args.count, args.write.as_deref())?,
        None => Set::read(&args.queries, args.repos.as_deref())?,
    };
    if set.questions.is_empty() {
        tell!(
            "there are no questions: too few comments, commits and documents say what a file is for"
        );
        return Ok(Outcome::NothingFound);
    }
    if args.tokens {
        let own_files =
            args.queries.iter().filter_map(|f| fs::canonicalize(f).ok()).collect::<Vec<_>>();
        tokens::run(&set, &args.server, &own_files, args.json)?;
        return Ok(Outcome::Done);
    }
    let (scored, plain) = if args.together {
        (together::ask(&set)?, Vec::new())
    } else {
        ask_all(args, &set, features)?
    };
    if let Some(mut save) = save {
        scored.iter().try_for_each(|s| save.put(s))?;
        save.finish()?;
    }
    let compared = match (&others, &args.compare) {
        (Some(others), Some(file)) => Some(eval::compare(&scored, others).with_context(|| {
            format!("{} has none of these questions: it must be saved from a run with the same --queries or --self", file.display())
        })?),
        _ => None,
    };
    let report = Report::new(&scored, &plain, compared);
    if args.json {
        super::render::json(&report)?;
    } else {
        print::report(&report)?;
    }
    Ok(Outcome::Done)
}

/// Asks every question. Returns the scores of the search, and those of the baseline if it was
/// asked, too.
fn ask_all(
    args: &Args,
    set: &Set,
    mut features: Option<JsonLinesWriter>,
) -> Result<(Vec<Scored>, Vec<Scored>)> {
    // Files of questions and answers may be in the project, where they would match every question.
    let own_files =
        args.queries.iter().chain(&args.save).chain(&args.compare).chain(&args.features);
    let own_files: Vec<PathBuf> = own_files.filter_map(|f| fs::canonicalize(f).ok()).collect();
    let (mut scored, mut plain) = (Vec::new(), Vec::new());
    let bar = Bar::questions(set.questions.len());
    for (folder, questions) in set.by_folder() {
        bar.say(questions[0].repo.clone());
        let project = EvaluatedProject::open(&folder, &own_files)?;
        let baseline = (args.baseline || args.own.is_some()).then(|| project.baseline());
        for question in questions {
            let limit = if features.is_some() { usize::MAX } else { FILES };
            let (mut rows, ms) = project.ask(question, limit)?;
            if let Some(features) = &mut features {
                features.put(&Candidates::new(question, &rows))?;
                rows.truncate(FILES);
            }
            scored.push(eval::score(question, &found(&rows), ms));
            if let Some(baseline) = &baseline {
                plain.push(eval::score(question, &baseline.search(&question.query), 0.0));
            }
            bar.advance();
        }
    }
    bar.end();
    features.map(JsonLinesWriter::finish).transpose()?;
    Ok((scored, plain))
}

fn read_others(file: &Path) -> Result<Vec<Other>> {
    Ok(Other::parse(&file.display().to_string(), &read_file(file)?)?)
}

/// Converts rows to those that can be scored: the lines are those that the row names.
fn found(rows: &[ResultRow]) -> Vec<FoundFile> {
    let lines = |row: &ResultRow| row.chunk.start_line.zip(row.chunk.end_line);
    rows.iter().map(|r| FoundFile { path: r.hit.path.to_string(), lines: lines(r) }).collect()
}

/// All candidates of one question: a line of `--features`.
#[derive(Serialize)]
struct Candidates<'a> {
    id: &'a str,
    repo: &'a str,
    category: &'a str,
    language: &'a str,
    query: &'a str,
    n_targets: usize,
    files: Vec<Candidate<'a>>,
}

#[derive(Serialize)]
struct Candidate<'a> {
    path: &'a str,
    /// Indexes of the targets that it answers.
    targets: Vec<usize>,
    /// Each feature that is not 0.
    x: BTreeMap<&'static str, f64>,
}

impl<'a> Candidates<'a> {
    fn new(q: &'a EvalQuestion, rows: &'a [ResultRow]) -> Self {
        let candidate = |hit: &'a Hit| Candidate {
            path: &hit.path,
            targets: q
                .targets
                .iter()
                .enumerate()
                .filter(|(_, t)| eval::matches(&hit.path, &t.path))
                .map(|(i, _)| i)
                .collect(),
            x: hit.terms.iter().map(|t| (t.feature, t.value)).collect(),
        };
        // A file may have two places.
        let mut seen = BTreeSet::new();
        Self {
            id: &q.id,
            repo: &q.repo,
            category: &q.category,
            language: &q.language,
            query: &q.query,
            n_targets: q.targets.len(),
            files: (rows.iter().map(|row| &*row.hit))
                .filter(|hit| seen.insert(&hit.path))
                .map(candidate)
                .collect(),
        }
    }
}
