//! `cortex files`: how much there is of what.

use std::path::PathBuf;

use anyhow::{Context, Result};
use console::style;

use super::Outcome;
use super::render::{self, count, line, printable};
use super::wire::Project;
use crate::config::globs;
use crate::survey::{self, By, Group, Sort};

/// Count files, lines and bytes
#[derive(clap::Args)]
#[command(after_help = "Example: cortex files --by directory --depth 2 'src/**'")]
pub(super) struct Args {
    /// Only files that match one of these globs
    #[arg(value_name = "GLOB")]
    paths: Vec<String>,
    /// What is counted together
    #[arg(long, default_value = "language", value_parser = ["language", "directory", "file"])]
    by: String,
    /// Of directories: levels
    #[arg(long, default_value_t = 1, value_name = "N")]
    depth: usize,
    /// What comes first
    #[arg(long, default_value = "lines", value_parser = ["lines", "bytes", "files", "name"])]
    sort: String,
    /// Only this language; may be repeated
    #[arg(long = "lang", value_name = "LANGUAGE")]
    languages: Vec<String>,
    /// How many rows
    #[arg(short = 'n', default_value_t = 20, value_name = "N")]
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
    let is_wanted = |(path, written): &(String, String)| {
        (paths.is_empty() || paths.is_match(path)) && (args.languages.is_empty() || args.languages.contains(written))
    };
    let files: Vec<(String, String)> = project.files().into_iter().filter(is_wanted).collect();
    let sizes = survey::sizes(project.layout.root(), &files);
    let by = match &*args.by {
        "directory" => By::Directory(args.depth),
        "file" => By::File,
        _ => By::Language,
    };
    let sort = match &*args.sort {
        "bytes" => Sort::Bytes,
        "files" => Sort::Files,
        "name" => Sort::Name,
        _ => Sort::Lines,
    };
    let rows = survey::grouped(&sizes, by, sort);
    let shown = &rows[..args.limit.min(rows.len())];
    if args.json {
        render::json(&shown)?;
    } else {
        let row = |g: &Group| format!("{:>9} {:>11} {:>7}  {}", g.lines, g.bytes, g.files, printable(&g.name));
        line(&style(format!("{:>9} {:>11} {:>7}", "lines", "bytes", "files")).dim().to_string())?;
        shown.iter().try_for_each(|g| line(&row(g)))?;
        if shown.len() < rows.len() {
            line(&style(format!("{:>30} {}", "", count(rows.len() - shown.len(), "more row"))).dim().to_string())?;
        }
        line(&row(&survey::total(&rows)))?;
    }
    Ok(if rows.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}
