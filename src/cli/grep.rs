//! `cortex grep`: prints lines that hold a text or match a regular expression.

use anyhow::Result;
use console::Term;

use super::args::{self, Form, OfAnyProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, line, printable, printable_code};
use crate::engine::{AnswerFrom, GrepLines, GrepRequest, Scope};

/// Find lines by text or regular expression in the indexed files, source files first
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex grep 'fn new('                    the text as it is
  cortex grep -e 'fn \\w+_test' src '*.rs'  a regular expression, in some files
  cortex grep -il todo -t rust             files that hold it in any case

On a terminal, lines are printed below their files and symbols; in a pipe, each line is
path:line:text. Exit codes: 0 found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    /// The text to find; with -e a regular expression
    pattern: String,
    /// Search only files that match one of these globs
    #[arg(value_name = "GLOB")]
    paths: Vec<String>,
    #[command(flatten)]
    excluded: args::Excluded,
    /// Read the pattern as a regular expression (syntax: docs.rs/regex)
    #[arg(short = 'e', long)]
    regex: bool,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Match whole words only
    #[arg(short, long)]
    word: bool,
    /// Let a match span several lines
    #[arg(short = 'U', long, requires = "regex")]
    multiline: bool,
    /// Print the lines that do not match
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only the paths of files with a match
    #[arg(short = 'l', long = "files", conflicts_with = "count")]
    files_only: bool,
    /// Print only the number of matching lines of each file
    #[arg(short, long)]
    count: bool,
    /// Print only the symbols around the lines, with the number of lines of each
    #[arg(short = 'S', long, conflicts_with_all = ["count", "files_only"])]
    symbols: bool,
    #[command(flatten)]
    languages: args::Languages,
    /// Show this many lines before and after each match
    #[arg(short = 'C', long, default_value_t = 0, value_name = "N")]
    context: usize,
    /// Show at most this many matching lines of each file [default: all]
    #[arg(short = 'm', long, value_name = "N", value_parser = args::at_least_one)]
    max_per_file: Option<usize>,
    /// Show at most this many lines (with -l or -c files) [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one)]
    limit: Option<usize>,
    #[command(flatten)]
    project: OfAnyProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut paths = args.paths.clone();
    let reach = args.project.reach(AnswerFrom::Tree)?.with_team();
    let scope = reach.scope(&mut paths)?;
    let engine = reach.engine(&scope);
    let here = match &scope {
        Scope::Published(_) => None,
        Scope::Here | Scope::Other(_) => Some(&*engine.project),
    };
    let request = GrepRequest {
        pattern: args.pattern.clone(),
        regex: args.regex,
        ignore_case: args.ignore_case,
        word: args.word,
        multiline: args.multiline,
        invert: args.invert,
        paths: args.excluded.with(&paths, here),
        languages: args.languages.wanted(),
        context: args.context,
        count: args.count,
        files_only: args.files_only,
        symbols: args.symbols,
        max_per_file: args.max_per_file,
        limit: args.limit.unwrap_or(usize::MAX),
        cursor: None,
        folds: false,
    };
    let answer = match &scope {
        Scope::Published(repository) => repository.grep(&request, &reach.call)?,
        Scope::Here | Scope::Other(_) => engine.grep(&request, &reach.call)?,
    };
    let shown = reach.paths(&scope);
    let is_found = answer.found.total > 0;
    let is_for_people = Term::stdout().is_term() && !args.files_only && !args.count;
    if args.form.json || is_for_people {
        args::printed(&shown, args.form.json, &answer, is_found)?;
    } else {
        render::warnings(&answer.state.warnings);
        for_programs(args, &answer.found, &shown)?;
    }
    Ok(args::end(engine.clone(), Outcome::of(is_found)))
}

/// Prints lines as other programs of this kind do: `path:line:text`.
fn for_programs(args: &Args, found: &GrepLines, paths: &Paths) -> Result<()> {
    for file in &found.files {
        let path = paths.linked(&file.path, None, paths.shown(&file.path));
        if args.files_only {
            line(&path)?;
        } else if args.count {
            line(&format!("{path}:{}", file.matches))?;
        }
        for found in &file.lines {
            if let Some(n) = found.matches {
                let name = printable(found.symbol.as_deref().unwrap_or_default());
                line(&format!("{path}:{}:{name}:{n}", found.line))?;
                continue;
            }
            let mark = if found.is_match { ':' } else { '-' };
            line(&format!("{path}{mark}{}{mark}{}", found.line, printable_code(&found.text)))?;
        }
    }
    Ok(())
}
