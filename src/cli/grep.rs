//! `cortex grep`: prints lines that hold a text or match a regular expression.

use anyhow::Result;
use console::{Term, style};

use super::args::{self, OfAnyProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, count, line, printable, printable_code};
use crate::engine::{AnswerFrom, Call, GrepFile, GrepLines, GrepRequest};

/// Find lines by text or regular expression in the indexed files, source files first
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of grep")]
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
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut paths = args.paths.clone();
    let engine = args.project.engine(AnswerFrom::Tree, &mut paths)?;
    let request = GrepRequest {
        pattern: args.pattern.clone(),
        regex: args.regex,
        ignore_case: args.ignore_case,
        word: args.word,
        multiline: args.multiline,
        invert: args.invert,
        paths: args.excluded.with(&paths, &engine.project),
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
    let answer = engine.grep(&request, &Call::default())?;
    let found = &answer.found;
    if args.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.state);
        let paths = Paths::of(&engine.project);
        if Term::stdout().is_term() {
            for_people(args, found, &paths)?;
        } else {
            for_programs(args, found, &paths)?;
        }
    }
    let outcome = if found.total == 0 { Outcome::NothingFound } else { Outcome::Done };
    Ok(args::end(engine, outcome))
}

/// Prints lines as other programs of this kind do: `path:line:text`.
fn for_programs(args: &Args, found: &GrepLines, paths: &Paths) -> Result<()> {
    for file in &found.files {
        let path = paths.shown(&file.path);
        if let Some(text) = of_file(args, file, paths) {
            line(&text)?;
            continue;
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

/// Prints lines below their files and symbols, cut to the width of the terminal.
fn for_people(args: &Args, found: &GrepLines, paths: &Paths) -> Result<()> {
    for file in &found.files {
        if let Some(text) = of_file(args, file, paths) {
            line(&text)?;
            continue;
        }
        let first = file.lines.iter().find(|line| line.is_match).map(|line| line.line);
        line(&paths.linked(&file.path, first, style(paths.shown(&file.path)).cyan()))?;
        let mut symbol = None;
        for found in &file.lines {
            if let Some(n) = found.matches {
                let name = printable(found.symbol.as_deref().unwrap_or("outside of symbols"));
                let number = style(format!("{:>6} ", found.line));
                line(&format!(
                    "{}{name}  {}",
                    paths.linked(&file.path, Some(found.line), number),
                    style(count(n, "line")).dim()
                ))?;
                continue;
            }
            if found.symbol != symbol {
                if let Some(name) = &found.symbol {
                    line(&format!("  {}", style(printable(name)).dim()))?;
                }
                symbol.clone_from(&found.symbol);
            }
            let number = style(format!("{:>6} ", found.line));
            let number = if found.is_match { number } else { number.dim() };
            let text = render::code(&found.text, render::width().saturating_sub(8));
            line(&format!("{}{text}", paths.linked(&file.path, Some(found.line), number)))?;
        }
    }
    tell!("{} in {}", count(found.total, "matching line"), count(found.total_files, "file"));
    Ok(())
}

/// Returns the one line of a file with `--files` or `--count`.
fn of_file(args: &Args, file: &GrepFile, paths: &Paths) -> Option<String> {
    let path = paths.linked(&file.path, None, paths.shown(&file.path));
    if args.files_only {
        Some(path)
    } else {
        args.count.then(|| format!("{path}:{}", file.matches))
    }
}
