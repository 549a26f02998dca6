//! `cortex graph`: who calls whom, and who depends on what.

mod drawing;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use console::style;
use serde::Serialize;

use super::Outcome;
use super::render::{code, count, fitted, json, line, place, printable, width};
use super::wire::Project;
use crate::graph::{GraphAnswer, GraphQuery, MAX_DEPTH, Neighbour, Operation};
use crate::source::read_text;

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
    /// Lines shown around each use
    #[arg(long, short = 'C', value_name = "N")]
    context: Option<usize>,
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
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

impl From<OperationArg> for Operation {
    fn from(arg: OperationArg) -> Self {
        match arg {
            OperationArg::Callers => Self::Callers,
            OperationArg::Callees => Self::Callees,
            OperationArg::Dependencies => Self::Dependencies,
            OperationArg::Dependents => Self::Dependents,
            OperationArg::TypeUsages => Self::TypeUsages,
            OperationArg::Implementations => Self::Implementations,
            OperationArg::Path => Self::Path,
            OperationArg::Impact => Self::Impact,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let operation = args.operation.into();
    ensure!((1..=MAX_DEPTH).contains(&args.depth), "--depth is {}, but must be from 1 to {MAX_DEPTH}", args.depth);
    ensure!(args.limit > 0, "-n is 0, but must be 1 or more");
    if (operation == Operation::Path) != args.to.is_some() {
        bail!("a path leads from one symbol to another: `cortex graph path FROM TO`; other questions have one target");
    }
    let project = Project::open(args.path.as_deref())?;
    let graph = project.graph()?;
    let question = GraphQuery { operation, target: &args.target, to: args.to.as_deref(), depth: args.depth, limit: args.limit };
    let answer = graph.answer(question)?;
    let texts = Texts { root: project.layout.root().to_path_buf(), n_lines: args.context.unwrap_or(0) };
    if args.json {
        json(&Reply::new(&answer, &texts))?;
    } else if answer.targets.is_empty() {
        eprintln!("there is no symbol or file {}: give a name, Type::method, file:line or a file", printable(&args.target));
    } else {
        match args.format {
            Format::Text => print(&answer, &texts)?,
            Format::Dot => line(&drawing::dot(&answer))?,
            Format::Mermaid => line(&drawing::mermaid(&answer))?,
        }
    }
    let is_empty = answer.results.is_empty() && answer.candidates.is_empty();
    Ok(if is_empty { Outcome::NothingFound } else { Outcome::Done })
}

/// The lines of the files that are shown.
struct Texts {
    root: PathBuf,
    n_lines: usize,
}

impl Texts {
    /// The lines around a use, with their numbers.
    fn around(&self, file: &str, at: u32) -> Vec<(usize, String)> {
        let Some(before) = self.n_lines.checked_sub(1) else { return Vec::new() };
        let Ok(text) = read_text(&self.root, file) else { return Vec::new() };
        let first = (at as usize).saturating_sub(before / 2).max(1);
        text.lines().enumerate().skip(first - 1).take(self.n_lines).map(|(i, l)| (i + 1, l.to_string())).collect()
    }
}

fn print(answer: &GraphAnswer, texts: &Texts) -> Result<()> {
    for target in &answer.targets {
        let what = format!("{} {}", target.kind, target.symbol);
        eprintln!(
            "{} of {} ({})",
            answer.operation.as_str(),
            printable(&what),
            place(Some((target.line, target.line)).filter(|l| l.0 > 0), &target.file)
        );
    }
    answer.results.iter().try_for_each(|f| print_found(answer, f, texts))?;
    if answer.truncated {
        eprintln!("{} of {} are shown: -n shows more", answer.results.len(), count(answer.total, "result"));
    }
    if !answer.candidates.is_empty() {
        line(&style("may be, too:").dim().to_string())?;
        answer.candidates.iter().try_for_each(|f| print_found(answer, f, texts))?;
    }
    Ok(())
}

fn print_found(answer: &GraphAnswer, found: &Neighbour, texts: &Texts) -> Result<()> {
    let at = place(Some((found.node.line, found.node.line)).filter(|l| l.0 > 0), &found.node.file);
    let sites: Vec<String> = found.sites.iter().take(12).map(u32::to_string).collect();
    let uses = if sites.is_empty() { String::new() } else { format!("  at {}", sites.join(", ")) };
    let via = if found.depth > 1 { format!("  via {}", printable(&found.via)) } else { String::new() };
    let sure = if found.confidence < 0.9 { format!("  {:.2}", found.confidence) } else { String::new() };
    let indent = "  ".repeat(found.depth.saturating_sub(1));
    let symbol = style(printable(&found.node.symbol)).green();
    line(&fitted(&format!("{indent}{}  {symbol}{}", style(at).cyan(), style(format!("{sure}{uses}{via}")).dim())))?;
    for site in found.sites.iter().take(if texts.n_lines > 0 { 3 } else { 0 }) {
        for (number, text) in texts.around(answer.file_of_uses(found), *site) {
            line(&format!("{} {}", style(format!("{number:>6}")).dim(), code(&text, width().saturating_sub(8))))?;
        }
    }
    Ok(())
}

/// The JSON answer; documented in specs/cli-json.md.
#[derive(Serialize)]
struct Reply<'a> {
    #[serde(flatten)]
    answer: &'a GraphAnswer,
    /// By result: the lines around its first use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<SourceLines>,
}

#[derive(Serialize)]
struct SourceLines {
    file: String,
    start_line: usize,
    text: String,
}

impl<'a> Reply<'a> {
    fn new(answer: &'a GraphAnswer, texts: &Texts) -> Self {
        let lines = |found: &Neighbour| {
            let file = answer.file_of_uses(found).to_string();
            let around = texts.around(&file, found.sites.first().copied().unwrap_or(found.node.line));
            let text = around.iter().map(|(_, l)| l.as_str()).collect::<Vec<_>>().join("\n");
            SourceLines { file, start_line: around.first().map_or(0, |(n, _)| *n), text }
        };
        let context = if texts.n_lines > 0 { answer.results.iter().map(lines).collect() } else { Vec::new() };
        Self { answer, context }
    }
}
