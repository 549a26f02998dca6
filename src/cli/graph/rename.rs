//! `cortex graph rename`: renames a symbol everywhere.

use anyhow::Result;
use console::style;

use super::Args;
use crate::cli::args::end;
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::{count, fitted, json, line, printable, warnings};
use crate::engine::{Call, LineOfText, RenameAnswer, RenameRequest};

#[derive(clap::Args)]
pub(super) struct Rename {
    /// A symbol name, `Type::method` or `file:line`
    target: String,
    /// The new name
    new_name: String,
    /// Write the files [default: show what would change]
    #[arg(long)]
    apply: bool,
    /// Rename an uncertain place, too (repeat or separate with commas)
    #[arg(long, value_name = "PATH:LINE", value_delimiter = ',')]
    also: Vec<String>,
    /// Leave uncertain places as they are
    #[arg(long)]
    skip_uncertain: bool,
}

pub(super) fn run(of: &Rename, args: &Args) -> Result<Outcome> {
    let mut request = RenameRequest {
        target: of.target.clone(),
        new_name: of.new_name.clone(),
        apply: of.apply,
        also: of.also.clone(),
        skip_uncertain: of.skip_uncertain,
    };
    let engine = args.engine([&mut request.target])?;
    let answer = engine.rename(&request, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        warnings(&answer.state);
        print(&answer, &Paths::of(&engine.project))?;
    }
    Ok(end(engine, Outcome::Done))
}

fn print_line(paths: &Paths, of: &LineOfText, what: &str) -> Result<()> {
    let at = style(paths.place(Some((of.line, of.line)), &of.path)).cyan();
    let place = paths.linked(&of.path, Some(u64::from(of.line)), at);
    let what = style(format!("({what})")).dim();
    line(&fitted(&format!("{place}  {}  {what}", printable(&of.text))))
}

fn heading(text: &str) -> Result<()> {
    line(&style(text).dim().to_string())
}

fn print(answer: &RenameAnswer, paths: &Paths) -> Result<()> {
    for file in &answer.files {
        heading(&format!("{}: {}", printable(&file.path), count(file.places, "place")))?;
        for change in &file.lines {
            let number = change.line;
            line(&fitted(&format!(
                "{number:>5} {}",
                style(format!("- {}", printable(&change.old))).red()
            )))?;
            line(&fitted(&format!(
                "{number:>5} {}",
                style(format!("+ {}", printable(&change.new))).green()
            )))?;
        }
    }
    if answer.total_uncertain > 0 {
        heading("uncertain, not renamed:")?;
        answer.uncertain.iter().try_for_each(|of| print_line(paths, &of.place, &of.why))?;
    }
    if answer.total_mentions > 0 {
        heading("something else, not renamed:")?;
        answer.mentions.iter().try_for_each(|of| print_line(paths, &of.place, &of.what))?;
        if answer.total_mentions > answer.mentions.len() {
            tell!(
                "{} of {} are shown",
                answer.mentions.len(),
                count(answer.total_mentions, "line")
            );
        }
    }
    let how = if answer.applied { "renamed" } else { "would rename" };
    tell!(
        "{how} {} to {}: {} in {}{}",
        printable(&answer.old_name),
        printable(&answer.new_name),
        count(answer.total_places, "place"),
        count(answer.total_files, "file"),
        if answer.applied { "" } else { " (--apply writes)" }
    );
    Ok(())
}
