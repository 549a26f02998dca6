//! `cortex graph`: answers questions about calls and dependencies.

mod impact;
mod import;
mod rename;
mod routes;
mod row;

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;
use console::style;

use self::row::{print_row, print_tests, print_user, print_uses_in_file};
use super::args::{self, OfAnyProject};
use super::elsewhere::opening;
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{count, fitted, json, line, printable, warnings};
use crate::drawing::DrawingFormat;
use crate::engine::{
    AnswerFrom, Call, DrawingRequest, Engine, GraphAnswer, GraphRequest, NameUse, Namesake,
    OpenProject, OutsideName, TestsByClass,
};
use crate::graph::Operation;

/// Show callers, callees, dependents, tests, implementations, unused code, HTTP routes, or the impact of a change.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex graph callers ChunkManager::reload
  cortex graph impact --diff

`cortex graph callers --help` and its like have more.

Results are resolved by scopes, imports and the types in the source text. Less certain matches are listed as candidates.
Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    #[command(subcommand)]
    question: Question,
    #[command(flatten)]
    project: OfAnyProject,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Question {
    /// Functions that call the target
    #[command(after_help = "Example: cortex graph callers ChunkManager::reload")]
    Callers(Target),
    /// Functions that the target calls
    #[command(after_help = "Examples:
  cortex graph callees ChunkManager::reload
  cortex graph callees ChunkManager::reload --draw mermaid")]
    Callees(Target),
    /// Everything that the target uses
    #[command(after_help = "Example: cortex graph dependencies src/store/lock.rs")]
    Dependencies(Target),
    /// Everything that uses the target
    #[command(after_help = "Example: cortex graph dependents src/store/lock.rs")]
    Dependents(Target),
    /// Places that use the target type
    #[command(
        name = "type_usages",
        alias = "type-usages",
        after_help = "Example: cortex graph type_usages WriteLock"
    )]
    TypeUsages(Target),
    /// Types and methods that implement, extend or override the target
    #[command(after_help = "Example: cortex graph implementations Embedder --json")]
    Implementations(Target),
    /// The shortest chain of calls from TARGET to TO
    #[command(after_help = "Example: cortex graph path Engine::search Searcher::search --depth 4")]
    Path(Path),
    /// Everything that a change of the target may affect, or what your change affects
    #[command(after_help = "Examples:
  cortex graph impact WriteLock::acquire --depth 2
  cortex graph impact WriteLock::acquire --depth 3 --draw svg
  cortex graph impact --diff
  cortex graph impact --diff HEAD~1..
  cortex graph impact --files src/store/lock.rs,ChunkManager::reload")]
    Impact(Impact),
    /// Tests that reach the target, and the commands that run them
    #[command(after_help = "Example: cortex graph tests ChunkManager::reload")]
    Tests(Tests),
    /// Symbols that nothing seems to use
    #[command(after_help = "Example: cortex graph unused src/syntax

It lists symbols whose name no other code has, and counts those that a library, a framework or a test may need.")]
    Unused(Unused),
    /// HTTP routes, their handlers and what requests them
    #[command(after_help = "Example: cortex graph routes 'GET /healthz'

Of few routes, it also lists what requests them, also in the projects that --clients names.")]
    Routes(routes::Routes),
    /// Rename the target in all files, with its uses, imports and overrides
    #[command(after_help = "Example: cortex graph rename ChunkManager::reload reload_all

It shows the places that would change. --apply writes all of them or none, and refuses while a place is uncertain, until --also names it or --skip-uncertain leaves it.")]
    Rename(rename::Rename),
    /// Read a SCIP index, so that its files are resolved as its compiler does
    #[command(after_help = "Examples:
  rust-analyzer scip . && cortex graph import index.scip
  cortex graph import --run

Many programs write such indexes: rust-analyzer scip, scip-typescript, scip-python … Files that are as they were then are resolved by the index. Without FILE and flags, it lists the imported ones.")]
    Import(import::Import),
}

#[derive(clap::Args)]
struct Target {
    /// A symbol name, `Type::method`, `file:line`, or a file
    target: String,
    #[command(flatten)]
    around: Around,
}

#[derive(clap::Args)]
struct Path {
    /// The symbol or file at the beginning: a name, `Type::method`, `file:line`, or a file
    target: String,
    /// The symbol or file at the end
    to: Option<String>,
    #[command(flatten)]
    around: Around,
}

#[derive(clap::Args)]
struct Impact {
    /// A symbol name, `Type::method`, `file:line`, or a file
    #[arg(required_unless_present_any = ["diff", "files"])]
    target: Option<String>,
    /// Ask about the working tree against HEAD, or about a commit or range (HEAD~3, main..)
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["target", "files", "draw"])]
    diff: Option<String>,
    /// Ask about files and symbols that you plan to change (repeat or separate with commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["target", "draw"])]
    files: Vec<String>,
    #[command(flatten)]
    around: Around,
}

#[derive(clap::Args)]
struct Tests {
    /// A symbol name, `Type::method`, `file:line`, or a file
    target: String,
    #[command(flatten)]
    steps: Steps,
    #[command(flatten)]
    rows: Rows,
}

#[derive(clap::Args)]
struct Unused {
    /// A file, a folder or a glob; `.` is the project
    #[arg(default_value = ".")]
    target: String,
    /// List public symbols of libraries, too
    #[arg(long)]
    public: bool,
    #[command(flatten)]
    rows: Rows,
}

/// Selects how far to go from the target, and the form of the answer.
#[derive(clap::Args)]
struct Around {
    #[command(flatten)]
    steps: Steps,
    #[command(flatten)]
    rows: Rows,
    /// List up to -n uses of the name whose meaning is unknown [default: the first five or ten]
    #[arg(long)]
    unresolved: bool,
    /// Draw the answer: print a Graphviz graph (dot), a Mermaid diagram or a picture (svg)
    #[arg(long, alias = "format", value_name = "FORMAT", conflicts_with = "json")]
    draw: Option<Draw>,
}

/// Selects how far to go from the target.
#[derive(clap::Args)]
struct Steps {
    /// Follow at most this many steps (1 to 10) [default: 1; of callers and tests 3; with --diff and
    /// --files 2]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// Selects how much of the answer is shown.
#[derive(clap::Args)]
struct Rows {
    /// Show at most this many results [default: 50; of users 30 and all direct ones; of tests 20; with
    /// --diff and --files 30]
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one)]
    limit: Option<usize>,
    /// Show this many lines around the first use in each result
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    context: usize,
}

/// Default of `--limit`, except of questions whose default depends on the answer.
const LIMIT: usize = 50;

/// Most other symbols of the target's name that are listed.
const MAX_NAMESAKES: usize = 4;

#[derive(Clone, Copy, ValueEnum)]
enum Draw {
    /// Graphviz
    Dot,
    Mermaid,
    /// A picture that is its own file, for light and dark pages
    Svg,
}

impl From<Draw> for DrawingFormat {
    fn from(draw: Draw) -> Self {
        match draw {
            Draw::Dot => Self::Dot,
            Draw::Mermaid => Self::Mermaid,
            Draw::Svg => Self::Svg,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let (operation, of) = match &args.question {
        Question::Callers(of) => (Operation::Callers, of),
        Question::Callees(of) => (Operation::Callees, of),
        Question::Dependencies(of) => (Operation::Dependencies, of),
        Question::Dependents(of) => (Operation::Dependents, of),
        Question::TypeUsages(of) => (Operation::TypeUsages, of),
        Question::Implementations(of) => (Operation::Implementations, of),
        Question::Path(of) => {
            return args.around(Operation::Path, &of.target, of.to.as_ref(), &of.around);
        }
        Question::Impact(of) => {
            return match &of.target {
                Some(target) => args.around(Operation::Impact, target, None, &of.around),
                None => impact::run(of, args),
            };
        }
        Question::Tests(Tests { target, steps, rows }) => {
            let request = GraphRequest { depth: steps.depth, ..request(target, rows, None) };
            return args.answered(Operation::Tests, request);
        }
        Question::Unused(Unused { target, public, rows }) => {
            let request = GraphRequest { public: *public, ..request(target, rows, Some(LIMIT)) };
            return args.answered(Operation::Unused, request);
        }
        Question::Routes(of) => return routes::run(of, args),
        Question::Rename(of) => return rename::run(of, args),
        Question::Import(of) => return import::run(of, args),
    };
    args.around(operation, &of.target, None, &of.around)
}

/// Returns a question about a target, with a default of the number of results.
fn request(target: &str, rows: &Rows, limit: Option<usize>) -> GraphRequest {
    GraphRequest {
        target: target.to_string(),
        limit: rows.limit.or(limit),
        context: rows.context,
        ..GraphRequest::default()
    }
}

impl Args {
    /// Opens the project that is asked, and takes its name off the places of the question.
    fn engine<'a>(&self, places: impl IntoIterator<Item = &'a mut String>) -> Result<Engine> {
        self.project.engine(AnswerFrom::Tree, places)
    }

    /// Shows what is around a target.
    fn around(
        &self,
        operation: Operation,
        target: &str,
        to: Option<&String>,
        around: &Around,
    ) -> Result<Outcome> {
        let Around { steps, rows, unresolved, draw } = around;
        if let Some(draw) = draw {
            return self.drawn(DrawingRequest {
                operation: operation.as_str().into(),
                target: target.to_string(),
                to: to.cloned(),
                depth: steps.depth,
                limit: rows.limit,
                candidates: None,
                format: Some((*draw).into()),
            });
        }
        let limit = (!operation.lists_users()).then_some(LIMIT);
        let request = GraphRequest {
            to: to.cloned(),
            depth: steps.depth,
            unresolved: *unresolved,
            ..request(target, rows, limit)
        };
        self.answered(operation, request)
    }

    /// Prints the answer to a question.
    fn answered(&self, operation: Operation, request: GraphRequest) -> Result<Outcome> {
        let mut request = GraphRequest { operation: operation.as_str().into(), ..request };
        let engine = self.engine(std::iter::once(&mut request.target).chain(&mut request.to))?;
        let others: Arc<dyn OpenProject> = Arc::new(opening(AnswerFrom::Tree));
        let answer = engine.graph(&request, &Call { others: Some(others), ..Call::default() })?;
        if self.json {
            json(&answer)?;
        } else if answer.targets.is_empty() {
            tell!("{}", printable(&engine.unknown_symbol(&request.target, &Call::default())?));
        } else {
            warnings(&answer.state);
            print(&answer, &Paths::of(&engine.project))?;
        }
        // Lines of tests with the name are no tests of it.
        let is_empty = answer.results.is_empty()
            && answer.candidates.is_empty()
            && answer.outside.is_empty()
            && (answer.unresolved.is_empty() || answer.test_files.is_some());
        Ok(args::end(engine, if is_empty { Outcome::NothingFound } else { Outcome::Done }))
    }

    /// Prints the drawing of an answer.
    fn drawn(&self, mut request: DrawingRequest) -> Result<Outcome> {
        let engine = self.engine(std::iter::once(&mut request.target).chain(&mut request.to))?;
        let answer = engine.drawing(&request, &Call::default())?;
        let is_empty = answer.drawing.edges.is_empty();
        if answer.drawing.nodes.is_empty() {
            tell!("{}", printable(&engine.unknown_symbol(&request.target, &Call::default())?));
        } else {
            warnings(&answer.state);
            line(answer.text.as_deref().unwrap_or_default())?;
        }
        Ok(args::end(engine, if is_empty { Outcome::NothingFound } else { Outcome::Done }))
    }
}

fn print(answer: &GraphAnswer, paths: &Paths) -> Result<()> {
    for target in answer.targets.iter().filter(|_| answer.operation != Operation::Unused) {
        let what = format!("{} {}", target.kind, target.symbol);
        let at = paths.place(Some((target.line, target.line)).filter(|l| l.0 > 0), &target.path);
        tell!("{} of {} ({at})", answer.operation.as_str(), printable(&what));
    }
    if answer.total_targets > answer.targets.len() {
        tell!("and of {} more", answer.total_targets - answer.targets.len());
    }
    let lists_users = answer.lists_users();
    let has_context = answer.results.iter().any(|row| row.context.is_some());
    if lists_users {
        print_users(answer, paths)?;
    } else if answer.operation == Operation::Tests && !has_context {
        print_tests(&answer.tests, &[], paths)?;
    } else {
        answer.results.iter().try_for_each(|row| print_row(row, paths))?;
    }
    if let Some(n) = answer.test_files.filter(|_| answer.results.is_empty()) {
        tell!("no test reaches it, of {}", count(n, "test file"));
    }
    let is_whole = lists_users || (answer.operation == Operation::Tests && !has_context);
    if answer.truncated && answer.total > 0 && !is_whole {
        tell!(
            "{} of {} are shown: -n shows more",
            answer.results.len(),
            count(answer.total, "result")
        );
    }
    for (n, row) in answer.further_candidates().enumerate() {
        if n == 0 {
            line(&style("may be, too:").dim().to_string())?;
        }
        if lists_users { print_user(row, paths)? } else { print_row(row, paths)? }
    }
    if let Some(left_out) = answer.left_out() {
        line(&style(left_out).dim().to_string())?;
    }
    print_beside(answer, paths)?;
    if lists_users {
        return Ok(());
    }
    print_tests(&TestsByClass::default(), &answer.commands, paths)
}

/// Prints who uses the target: code outside of tests by steps, then the tests.
fn print_users(answer: &GraphAnswer, paths: &Paths) -> Result<()> {
    let steps = answer.steps();
    for (step, rows) in &steps {
        if *step > 1 {
            line(&style(format!("step {step}:")).dim().to_string())?;
        }
        rows.iter().try_for_each(|row| print_user(row, paths))?;
    }
    if steps.is_empty() && !answer.results.is_empty() {
        tell!("none outside of tests");
    }
    let n_shown: usize = steps.iter().map(|(_, rows)| rows.len()).sum();
    if answer.total_users > n_shown {
        tell!("{}: -n shows more", answer.users_heading());
    }
    if let Some(said) = answer.completeness() {
        tell!("{}", printable(&said));
    }
    answer.unresolved_in.iter().try_for_each(|file| print_uses_in_file(file, paths))?;
    if answer.tests.is_empty() && !answer.results.is_empty() {
        tell!("{}", answer.tests.heading());
    }
    print_tests(&answer.tests, &answer.commands, paths)
}

/// Prints the uses of the target's name that are not among the results.
fn print_beside(answer: &GraphAnswer, paths: &Paths) -> Result<()> {
    let is_empty =
        answer.results.is_empty() && answer.candidates.is_empty() && answer.outside.is_empty();
    if answer.results.is_empty() && !answer.namesakes.is_empty() {
        line(&style("other symbols of that name that are used:").dim().to_string())?;
        for Namesake { node, uses } in answer.namesakes.iter().take(MAX_NAMESAKES) {
            let at = paths.place(Some((node.line, node.line)), &node.path);
            line(&fitted(&format!(
                "{}  {}  {}",
                style(at).cyan(),
                style(printable(&node.symbol)).green(),
                style(count(*uses, "use")).dim()
            )))?;
        }
    }
    // The users come with the files of these lines.
    if !answer.unresolved_in.is_empty() {
        return Ok(());
    }
    if answer.total_unresolved > 0 {
        let what = if answer.test_files.is_some() {
            "the name is in the text of tests:"
        } else {
            "use the name, and which symbol they mean is unknown:"
        };
        line(&style(what).dim().to_string())?;
    } else if is_empty && answer.is_about_uses() {
        tell!("{}", answer.nothing_found());
    } else if is_empty && answer.test_files.is_none() && !answer.truncated {
        tell!("none found");
    }
    for NameUse { path, line: number, symbol, text } in &answer.unresolved {
        let at = paths.place(Some((*number, *number)), path);
        let symbol = symbol.as_deref().map(|name| format!("  {}", style(printable(name)).green()));
        line(&fitted(&format!(
            "{}{}  {}",
            paths.linked(path, Some(u64::from(*number)), style(at).cyan()),
            symbol.unwrap_or_default(),
            printable(text)
        )))?;
    }
    if answer.total_unresolved > answer.unresolved.len() {
        tell!(
            "{} of {} are shown: --unresolved shows more",
            answer.unresolved.len(),
            count(answer.total_unresolved, "such line")
        );
    }
    for name in &answer.outside {
        let at = name.address.as_ref().unwrap_or(&name.package);
        let why = name.missing.as_ref().map(|why| format!("  {}", style(printable(why)).dim()));
        line(&fitted(&format!(
            "{}  {}:{}{}",
            style(printable(at)).cyan(),
            style(printable(&name.name)).green(),
            name.lines[0],
            why.unwrap_or_default()
        )))?;
    }
    if let Some(command) = OutsideName::command_for(&answer.outside) {
        tell!("`{command}` indexes packages, so that their definitions are shown");
    }
    if !answer.unknown.is_empty() {
        let names: Vec<String> = answer
            .unknown
            .iter()
            .map(|unknown| format!("{}:{}", printable(&unknown.name), unknown.lines[0]))
            .collect();
        line(&fitted(
            &style(format!("of unknown meaning: {}", names.join(", "))).dim().to_string(),
        ))?;
    }
    Ok(())
}
