//! `cortex graph`: answers questions about calls and dependencies.

mod impact;
mod import;
mod rename;
mod routes;

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;

use super::args::{self, OfAnyProject};
use super::elsewhere::opening;
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{json, line, printable, warnings};
use crate::drawing::DrawingFormat;
use crate::engine::{
    AnswerFrom, AnswerState, AroundRequest, Call, DrawingRequest, Engine, GraphAnswer, OpenProject,
    TargetRows, TestsRequest, UnusedRequest,
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
        Question::Tests(of) => return args.tests(of),
        Question::Unused(of) => return args.unused(of),
        Question::Routes(of) => return routes::run(of, args),
        Question::Rename(of) => return rename::run(of, args),
        Question::Import(of) => return import::run(of, args),
    };
    args.around(operation, &of.target, None, &of.around)
}

impl Rows {
    /// Returns the target with this much of the answer, or with a default of the number of results.
    fn of(&self, target: &str, limit: Option<usize>) -> TargetRows {
        TargetRows {
            target: target.to_string(),
            limit: self.limit.or(limit),
            context: self.context,
        }
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
        let mut request = AroundRequest {
            operation,
            of: rows.of(target, limit),
            to: to.cloned(),
            depth: steps.depth,
            unresolved: *unresolved,
        };
        let places = std::iter::once(&mut request.of.target).chain(&mut request.to);
        let engine = self.engine(places)?;
        let others: Arc<dyn OpenProject> = Arc::new(opening(AnswerFrom::Tree));
        let answer = engine.around(&request, &Call { others: Some(others), ..Call::default() })?;
        self.answered(engine, &request.of.target, &answer)
    }

    fn tests(&self, of: &Tests) -> Result<Outcome> {
        let mut request = TestsRequest { of: of.rows.of(&of.target, None), depth: of.steps.depth };
        let engine = self.engine([&mut request.of.target])?;
        let answer = engine.tests_of(&request, &Call::default())?;
        self.answered(engine, &request.of.target, &answer)
    }

    fn unused(&self, of: &Unused) -> Result<Outcome> {
        let mut request =
            UnusedRequest { of: of.rows.of(&of.target, Some(LIMIT)), public: of.public };
        let engine = self.engine([&mut request.of.target])?;
        let answer = engine.unused(&request, &Call::default())?;
        self.answered(engine, &request.of.target, &answer)
    }

    /// Prints the answer to a question about a target.
    fn answered(&self, engine: Engine, target: &str, answer: &GraphAnswer) -> Result<Outcome> {
        // Lines of tests with the name are no tests of it.
        let is_empty = answer.results.is_empty()
            && answer.candidates.is_empty()
            && answer.outside.is_empty()
            && (answer.unresolved.is_empty() || answer.test_files.is_some());
        if self.json {
            json(answer)?;
        } else if answer.targets.is_empty() && !answer.is_routes() {
            tell!("{}", printable(&engine.unknown_symbol(target, &Call::default())?));
        } else {
            let is_found = !is_empty || !answer.unresolved.is_empty() || !answer.unknown.is_empty();
            told(&answer.state, &answer.shown(&Paths::of(&engine.project)), is_found)?;
        }
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

/// Prints an answer after its warnings: on stdout what is found, on stderr why nothing is.
fn told(state: &AnswerState, lines: &[String], is_found: bool) -> Result<()> {
    warnings(state);
    for text in lines {
        if is_found {
            line(text)?;
        } else {
            tell!("{text}");
        }
    }
    Ok(())
}
