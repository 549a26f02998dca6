//! Prints a row of an answer of the code graph.

use anyhow::Result;
use console::style;

use crate::cli::paths::Paths;
use crate::cli::render::{code, fitted, line, printable, width};
use crate::engine::GraphRow;

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
    let (first, text) =
        (row.context_start_line.unwrap_or(1), row.context.as_deref().unwrap_or_default());
    for (number, text) in (first..).zip(text.lines()) {
        line(&format!(
            "{} {}",
            style(format!("{number:>6}")).dim(),
            code(text, width().saturating_sub(8))
        ))?;
    }
    Ok(())
}
