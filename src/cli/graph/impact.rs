//! `cortex graph impact --diff` and `--files`: says what a change touches.

use anyhow::Result;
use console::style;

use super::row::{print_tests, print_user};
use super::{Args, Impact};
use crate::cli::args::end;
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::{count, fitted, json, line, printable, warnings};
use crate::engine::{
    Call, ChangedSymbol, DeletedUse, ImpactAnswer, ImpactRequest, NextFile, Together,
};

pub(super) fn run(of: &Impact, args: &Args) -> Result<Outcome> {
    let mut request = ImpactRequest {
        range: of.diff.clone(),
        files: of.files.clone(),
        depth: of.around.steps.depth,
        limit: of.around.rows.limit,
    };
    let engine = args.engine(&mut request.files)?;
    let answer = engine.impact(&request, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        warnings(&answer.state);
        if answer.is_empty() {
            tell!(
                "nothing is changed ({}): give a range, for example --diff HEAD~1, or --files",
                printable(&answer.of)
            );
        } else {
            print(&answer, &Paths::of(&engine.project))?;
        }
    }
    let outcome = if answer.is_empty() { Outcome::NothingFound } else { Outcome::Done };
    Ok(end(engine, outcome))
}

fn heading(text: &str) -> Result<()> {
    line(&style(text).dim().to_string())
}

/// Prints a place, a name, and what there is to say about it.
fn row(paths: &Paths, path: &str, at: u32, name: &str, what: &str) -> Result<()> {
    let at = Some(at).filter(|at| *at > 0);
    let shown = style(paths.place(at.map(|at| (at, at)), path)).cyan();
    let name = if name.is_empty() { String::new() } else { format!("  {}", style(name).green()) };
    line(&fitted(&format!(
        "{}{name}  {}",
        paths.linked(path, at.map(u64::from), shown),
        style(what).dim()
    )))
}

fn print(answer: &ImpactAnswer, paths: &Paths) -> Result<()> {
    tell!(
        "{} in {} ({})",
        count(answer.total_changed, "change"),
        count(answer.changed_files, "file"),
        printable(&answer.of)
    );
    for ChangedSymbol { node, how, public } in &answer.changed {
        let public = if *public == Some(true) { ", public" } else { "" };
        let name = if node.line > 0 { printable(&node.symbol) } else { String::new() };
        row(paths, &node.path, node.line, &name, &format!("{}{public}", how.as_str()))?;
    }
    if !answer.deleted_uses.is_empty() {
        heading("still used, though the change deletes it:")?;
        for DeletedUse { deleted, name_use } in &answer.deleted_uses {
            let what = printable(&name_use.text);
            row(paths, &name_use.path, name_use.line, &printable(deleted), &what)?;
        }
    }
    if !answer.files.is_empty() {
        heading("look at next, likeliest first:")?;
        for NextFile { path, line, reasons, .. } in &answer.files {
            row(paths, path, *line, "", &printable(&reasons.join("; ")))?;
        }
    }
    if !answer.users.is_empty() {
        heading("users:")?;
        answer.users.iter().try_for_each(|user| print_user(user, paths))?;
    }
    if !answer.candidates.is_empty() {
        heading("may use it, too:")?;
        answer.candidates.iter().try_for_each(|user| print_user(user, paths))?;
    }
    if answer.total_users > answer.users.len() {
        tell!(
            "{} of {} are shown: -n shows more",
            answer.users.len(),
            count(answer.total_users, "user")
        );
    }
    if !answer.together.is_empty() {
        heading("often changed together:")?;
        for Together { path, with, support, confidence } in &answer.together {
            let (with, n) = (printable(with), count(*support, "commit"));
            let what = format!("with {with} in {n}, {:.0}% of its commits", confidence * 100.0);
            row(paths, path, 0, "", &what)?;
        }
    }
    print_tests(&answer.tests_by_class, &answer.commands, paths)
}
