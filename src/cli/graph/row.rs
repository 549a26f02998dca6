//! Prints rows of answers of the code graph.

use anyhow::Result;
use console::style;

use crate::cli::paths::Paths;
use crate::cli::render::{count, fitted, line, print_lines, printable};
use crate::engine::{GraphRow, TestsByClass, UsesInFile};

pub(super) fn print_row(row: &GraphRow, paths: &Paths) -> Result<()> {
    let at = paths.place(Some((row.node.line, row.node.line)).filter(|l| l.0 > 0), &row.node.path);
    let sites: Vec<String> = row.sites.iter().take(12).map(u32::to_string).collect();
    let uses = if sites.is_empty() { String::new() } else { format!("  at {}", sites.join(", ")) };
    let via = match &row.reason {
        Some(reason) => format!("  {}", printable(reason)),
        None if row.depth > 1 => format!("  via {}", printable(&row.via)),
        None => String::new(),
    };
    let sure =
        if row.confidence < 0.9 { format!("  {:.2}", row.confidence) } else { String::new() };
    let level = if row.reason.is_some() { 0 } else { row.depth.saturating_sub(1) };
    let indent = "  ".repeat(level);
    // A file is named by its path alone.
    let symbol = match row.node.line {
        0 => String::new(),
        _ => format!("  {}", style(printable(&row.node.symbol)).green()),
    };
    line(&fitted(&format!(
        "{indent}{}{symbol}{}",
        paths.linked(
            &row.node.path,
            Some(row.node.line.into()).filter(|line| *line > 0),
            style(at).cyan()
        ),
        style(format!("{sure}{uses}{via}")).dim()
    )))?;
    print_context(row)
}

/// Prints a user: the line of its first use, the symbol around that, and the statement.
pub(super) fn print_user(row: &GraphRow, paths: &Paths) -> Result<()> {
    let first = row.sites.first().copied().unwrap_or(row.node.line);
    let at = paths.place(Some((first, first)).filter(|l| l.0 > 0), &row.node.path);
    let notes = printable(&row.notes().join("  "));
    let notes = if notes.is_empty() { String::new() } else { format!("  {notes}") };
    // The lines around the use have the statement.
    let text = row.text.as_deref().filter(|_| row.context.is_none());
    let text = text.map(|text| format!("  {}", printable(text))).unwrap_or_default();
    // A file is named by its path alone.
    let symbol = match row.node.line {
        0 => String::new(),
        _ => format!("  {}", style(printable(&row.node.symbol)).green()),
    };
    line(&fitted(&format!(
        "{}{symbol}{}{text}",
        paths.linked(
            &row.node.path,
            Some(u64::from(first)).filter(|line| *line > 0),
            style(at).cyan()
        ),
        style(notes).dim()
    )))?;
    print_context(row)
}

/// Prints the tests by class or file, and the commands that run them.
pub(super) fn print_tests(tests: &TestsByClass, commands: &[String], paths: &Paths) -> Result<()> {
    if !tests.is_empty() {
        line(&style(tests.heading()).dim().to_string())?;
    }
    for (heading, groups) in tests.parts() {
        line(&style(heading).dim().to_string())?;
        for group in groups {
            let class = match &*group.class {
                "" => String::new(),
                class => format!("  {}", style(printable(class)).green()),
            };
            let first = group.lines.first().map(|line| u64::from(*line));
            let at = paths.place(None, &group.path);
            line(&fitted(&format!(
                "{}{class}  {}",
                paths.linked(&group.path, first, style(at).cyan()),
                printable(&group.summary())
            )))?;
        }
    }
    if let Some(note) = tests.more_note() {
        tell!("{note}");
    }
    if let Some(note) = tests.untested_note() {
        line(&style(printable(&note)).dim().to_string())?;
    }
    if !commands.is_empty() {
        line(&style("to run these tests:").dim().to_string())?;
        commands.iter().try_for_each(|command| line(&printable(command)))?;
    }
    Ok(())
}

/// Prints the lines of one file that use a name with an unknown meaning.
pub(super) fn print_uses_in_file(file: &UsesInFile, paths: &Paths) -> Result<()> {
    let at = file.shown_lines().map(|lines| format!("  {lines}")).unwrap_or_default();
    let first = file.lines.first().map(|line| u64::from(*line));
    line(&fitted(&format!(
        "{}  {}{at}",
        paths.linked(&file.path, first, style(paths.place(None, &file.path)).cyan()),
        count(file.uses, "line")
    )))
}

fn print_context(row: &GraphRow) -> Result<()> {
    let text = row.context.as_deref().unwrap_or_default();
    print_lines(row.context_start_line.unwrap_or(1), text)
}
