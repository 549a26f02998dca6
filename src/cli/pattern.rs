//! `cortex pattern`: finds code by its syntactic structure.

use anyhow::Result;
use console::style;

use super::args::{self, OfProject};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, count, line};
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
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let Args { pattern, languages, paths, context, limit, .. } = args;
    let engine = args.project.engine(AnswerFrom::Tree)?;
    let request = PatternRequest {
        pattern: pattern.clone(),
        languages: languages.wanted(),
        paths: args.excluded.with(paths, &engine.project),
        context: *context,
        limit: *limit,
    };
    let found = engine.pattern(&request, &Call::default())?;
    if args.json {
        render::json(&found)?;
    } else {
        render::warnings(&found.state);
        let paths = Paths::of(&engine.project);
        for place in &found.places {
            let at = format!("{}:{}", style(paths.shown(&place.path)).cyan(), place.start_line);
            line(&paths.linked(&place.path, Some(place.start_line.into()), at))?;
            for (n, text) in (place.first_line..).zip(place.text.lines()) {
                let number = format!("{n:>6} ");
                let number = if (place.start_line..=place.end_line).contains(&n) {
                    style(number)
                } else {
                    style(number).dim()
                };
                line(&format!(
                    "{number}{}",
                    render::code(text, render::width().saturating_sub(8))
                ))?;
            }
        }
        tell!("{} ({} looked at)", count(found.total, "place"), count(found.files, "file"));
        if let Some(note) = &found.note {
            tell!("{}", render::printable(note));
        }
    }
    Ok(args::end(engine, if found.total == 0 { Outcome::NothingFound } else { Outcome::Done }))
}
