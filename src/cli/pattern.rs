//! `cortex pattern`: where code has a given shape.

use std::path::PathBuf;

use anyhow::{Context, Result};
use console::style;
use serde_json::json;

use super::Outcome;
use super::render::{self, count, line, printable};
use super::wire::Project;
use crate::chunk::Cancel;
use crate::config::globs;
use crate::survey;

/// Find code by its structure
#[derive(clap::Args)]
#[command(
    after_help = "Example: cortex pattern '$A.unwrap()' src --lang rust\n\n$NAME stands for one part, $$$NAME for any number of them; what occurs twice is the same twice."
)]
pub(super) struct Args {
    /// Code with $NAME for one part and $$$NAME for any number
    pattern: String,
    /// Only files that match one of these globs
    #[arg(value_name = "GLOB")]
    paths: Vec<String>,
    /// Of which language [default: all in which it is code]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// Lines shown around each place
    #[arg(short = 'C', long, default_value_t = 0, value_name = "N")]
    context: u32,
    /// How many places
    #[arg(short = 'n', default_value_t = 100, value_name = "N")]
    limit: usize,
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let project = Project::open(args.path.as_deref())?;
    let paths = globs(&args.paths).map_err(anyhow::Error::msg).context("the paths")?;
    let files: Vec<(String, String)> = project.files().into_iter().filter(|(path, _)| paths.is_empty() || paths.is_match(path)).collect();
    let patterns = survey::patterns(&args.pattern, args.lang.as_deref(), files.iter().map(|(_, language)| &**language))?;
    let found = survey::find(project.layout.root(), &files, &patterns, args.context, args.limit, &Cancel::new(false));
    if args.json {
        render::json(&json!({ "places": found.places, "total": found.total, "files": found.n_files }))?;
    } else {
        for place in &found.places {
            line(&format!("{}:{}", style(printable(&place.path)).cyan(), place.start_line))?;
            for (n, text) in (place.first_line..).zip(place.text.lines()) {
                let number = format!("{n:>6} ");
                let number = if (place.start_line..=place.end_line).contains(&n) { style(number) } else { style(number).dim() };
                line(&format!("{number}{}", render::code(text, render::width().saturating_sub(8))))?;
            }
        }
        eprintln!("{} ({} looked at)", count(found.total, "place"), count(found.n_files, "file"));
    }
    if found.n_left > 0 {
        eprintln!("warning: {} were left out, because it took too long: name paths", count(found.n_left, "file"));
    }
    Ok(if found.total == 0 { Outcome::NothingFound } else { Outcome::Done })
}
