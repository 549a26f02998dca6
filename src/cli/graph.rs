//! `cortex graph`: who calls whom, and who depends on what.

mod drawing;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use console::style;

use super::Outcome;
use super::args::{self, OfProject};
use super::render::{code, count, fitted, json, line, place, printable, warnings, width};
use crate::engine::{Call, GraphAnswer, GraphRequest, GraphRow, Look};

/// Ask the code graph: who calls a function, what it calls, what depends on it, what a change may touch.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex graph callers Store::get
  cortex graph impact src/store/cache.rs:42 --depth 3
  cortex graph implementations Embedder --json
  cortex graph path main parse_line
  cortex graph callees run --format mermaid

What is told apart by scopes, imports and types in the text is a result. What may be meant as well is listed as a candidate.
Exit codes: 0 found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    operation: OperationArg,
    /// A name, `Type::method`, `file:line` or a file
    target: String,
    /// Where a path is to lead
    to: Option<String>,
    /// Steps that are followed
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
    /// Most results
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Lines shown around the first use of each
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    context: usize,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: OfProject,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum OperationArg {
    /// Who calls it
    Callers,
    /// What it calls
    Callees,
    /// What it uses in any way
    Dependencies,
    /// What uses it in any way
    Dependents,
    /// Where a type is used
    #[value(alias = "type-usages")]
    TypeUsages,
    /// What implements, extends or overrides it
    Implementations,
    /// How one leads to another
    Path,
    /// What a change of it may touch
    Impact,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    /// For Graphviz
    Dot,
    Mermaid,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    ensure!(args.limit > 0, "-n is 0, but must be 1 or more");
    let operation = args.operation.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string());
    let Args { target, to, depth, context, limit, .. } = args;
    let request = GraphRequest { operation, target: target.clone(), to: to.clone(), depth: *depth, context: *context, limit: *limit };
    let engine = args.project.engine(Look::AtTree)?;
    let answer = engine.graph(&request, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else if answer.targets.is_empty() {
        eprintln!("there is no symbol or file {}: give a name, Type::method, file:line or a file", printable(&args.target));
    } else {
        warnings(&answer.state);
        match args.format {
            Format::Text => print(&answer)?,
            Format::Dot => line(&drawing::dot(&answer))?,
            Format::Mermaid => line(&drawing::mermaid(&answer))?,
        }
    }
    let is_empty = answer.results.is_empty() && answer.candidates.is_empty();
    Ok(args::end(engine, if is_empty { Outcome::NothingFound } else { Outcome::Done }))
}

fn print(answer: &GraphAnswer) -> Result<()> {
    for target in &answer.targets {
        let what = format!("{} {}", target.kind, target.symbol);
        let at = place(Some((target.line, target.line)).filter(|l| l.0 > 0), &target.path);
        eprintln!("{} of {} ({at})", answer.operation.as_str(), printable(&what));
    }
    answer.results.iter().try_for_each(print_row)?;
    if answer.truncated {
        eprintln!("{} of {} are shown: -n shows more", answer.results.len(), count(answer.total, "result"));
    }
    if !answer.candidates.is_empty() {
        line(&style("may be, too:").dim().to_string())?;
        answer.candidates.iter().try_for_each(print_row)?;
    }
    Ok(())
}

fn print_row(row: &GraphRow) -> Result<()> {
    let at = place(Some((row.node.line, row.node.line)).filter(|l| l.0 > 0), &row.node.path);
    let sites: Vec<String> = row.sites.iter().take(12).map(u32::to_string).collect();
    let uses = if sites.is_empty() { String::new() } else { format!("  at {}", sites.join(", ")) };
    let via = if row.depth > 1 { format!("  via {}", printable(&row.via)) } else { String::new() };
    let sure = if row.confidence < 0.9 { format!("  {:.2}", row.confidence) } else { String::new() };
    let indent = "  ".repeat(row.depth.saturating_sub(1));
    let symbol = style(printable(&row.node.symbol)).green();
    line(&fitted(&format!("{indent}{}  {symbol}{}", style(at).cyan(), style(format!("{sure}{uses}{via}")).dim())))?;
    let (first, text) = (row.context_start_line.unwrap_or(1), row.context.as_deref().unwrap_or_default());
    for (number, text) in (first..).zip(text.lines()) {
        line(&format!("{} {}", style(format!("{number:>6}")).dim(), code(text, width().saturating_sub(8))))?;
    }
    Ok(())
}
