//! `cortex graph`: answers questions about calls and dependencies.

mod impact;
mod import;
mod rename;
mod routes;
mod shared;

use std::sync::Arc;

use anyhow::Result;

use self::shared::{Around, LIMIT, Rows, Shared, Steps};
use super::args;
use super::elsewhere::Others;
use super::outcome::Outcome;
use super::render::{line, printable, warnings};
use crate::engine::{
    AnswerFrom, AroundRequest, Call, DrawingRequest, OpenProject, Operation, TestsRequest,
    UnusedRequest,
};

/// Show callers, callees, dependents, tests, implementations, unused code, HTTP routes, or the impact of a change.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex graph callers ChunkManager::reload
  cortex graph impact --diff

`cortex graph callers --help` lists the options of a question.

Results are resolved by scopes, imports and the types in the source text. Less certain matches are listed as candidates.
Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    #[command(subcommand)]
    question: Question,
    #[command(flatten)]
    shared: Shared,
}

#[derive(clap::Subcommand)]
enum Question {
    /// List the functions that call the target
    #[command(after_help = "Example: cortex graph callers ChunkManager::reload")]
    Callers(Target),
    /// List the functions that the target calls
    #[command(after_help = "Examples:
  cortex graph callees ChunkManager::reload
  cortex graph callees ChunkManager::reload --draw mermaid")]
    Callees(Target),
    /// List everything that the target uses
    #[command(after_help = "Example: cortex graph dependencies src/store/lock.rs")]
    Dependencies(Target),
    /// List everything that uses the target
    #[command(after_help = "Example: cortex graph dependents src/store/lock.rs")]
    Dependents(Target),
    /// List the places that use a type
    #[command(
        name = "type_usages",
        alias = "type-usages",
        after_help = "Example: cortex graph type_usages WriteLock"
    )]
    TypeUsages(Target),
    /// List the types and methods that implement, extend or override the target
    #[command(after_help = "Example: cortex graph implementations Embedder --json")]
    Implementations(Target),
    /// Find the shortest chain of calls from TARGET to TO
    #[command(after_help = "Example: cortex graph path Engine::search Searcher::search --depth 4")]
    Path(Path),
    /// List everything that a change of the target may affect, or what your own change affects
    #[command(after_help = "Examples:
  cortex graph impact WriteLock::acquire --depth 2
  cortex graph impact WriteLock::acquire --depth 3 --draw svg
  cortex graph impact --diff
  cortex graph impact --diff HEAD~1..
  cortex graph impact --files src/store/lock.rs,ChunkManager::reload")]
    Impact(impact::Impact),
    /// List the tests that reach the target, and the commands that run them
    #[command(after_help = "Example: cortex graph tests ChunkManager::reload")]
    Tests(Tests),
    /// List symbols that nothing seems to use
    #[command(after_help = "Example: cortex graph unused src/syntax

It lists symbols whose name no other code has, and counts those that a library, a framework or a test may need.")]
    Unused(Unused),
    /// List HTTP routes, their handlers and what requests them
    #[command(after_help = "Example: cortex graph routes 'GET /healthz'

Of few routes, it also lists what requests them, also in the projects that --clients names.")]
    Routes(routes::Routes),
    /// Rename the target in all files, with its uses, imports and overrides
    #[command(after_help = "Example: cortex graph rename ChunkManager::reload reload_all

It shows the places that would change. --apply writes all of them or none, and refuses while a place is uncertain, until --also names it or --skip-uncertain leaves it.")]
    Rename(rename::Rename),
    /// Read a SCIP index, so that its files are resolved as its compiler does
    #[command(after_help = "Example: rust-analyzer scip . && cortex graph import index.scip

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

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let shared = &args.shared;
    let (operation, of) = match &args.question {
        Question::Callers(of) => (Operation::Callers, of),
        Question::Callees(of) => (Operation::Callees, of),
        Question::Dependencies(of) => (Operation::Dependencies, of),
        Question::Dependents(of) => (Operation::Dependents, of),
        Question::TypeUsages(of) => (Operation::TypeUsages, of),
        Question::Implementations(of) => (Operation::Implementations, of),
        Question::Path(of) => {
            return around(shared, Operation::Path, &of.target, of.to.as_ref(), &of.around);
        }
        Question::Impact(of) => {
            return match &of.target {
                Some(target) => around(shared, Operation::Impact, target, None, &of.around),
                None => impact::run(of, shared),
            };
        }
        Question::Tests(of) => return tests(shared, of),
        Question::Unused(of) => return unused(shared, of),
        Question::Routes(of) => return routes::run(of, shared),
        Question::Rename(of) => return rename::run(of, shared),
        Question::Import(of) => return import::run(of, shared),
    };
    around(shared, operation, &of.target, None, &of.around)
}

/// Shows what is around a target.
fn around(
    shared: &Shared,
    operation: Operation,
    target: &str,
    to: Option<&String>,
    around: &Around,
) -> Result<Outcome> {
    let Around { steps, rows, unresolved, draw } = around;
    if let Some(draw) = draw {
        let request = DrawingRequest {
            operation: operation.as_str().into(),
            target: target.to_string(),
            to: to.cloned(),
            depth: steps.depth,
            limit: rows.limit,
            candidates: None,
            format: Some((*draw).into()),
        };
        return drawn(shared, request);
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
    let engine = shared.engine(places)?;
    let others: Arc<dyn OpenProject> = Arc::new(Others::new(AnswerFrom::Tree, Vec::new()));
    let answer = engine.around(&request, &Call { others: Some(others), ..Call::default() })?;
    shared.answered(engine, &request.of.target, &answer)
}

fn tests(shared: &Shared, of: &Tests) -> Result<Outcome> {
    let mut request = TestsRequest { of: of.rows.of(&of.target, None), depth: of.steps.depth };
    let engine = shared.engine([&mut request.of.target])?;
    let answer = engine.tests_of(&request, &Call::default())?;
    shared.answered(engine, &request.of.target, &answer)
}

fn unused(shared: &Shared, of: &Unused) -> Result<Outcome> {
    let mut request = UnusedRequest { of: of.rows.of(&of.target, Some(LIMIT)), public: of.public };
    let engine = shared.engine([&mut request.of.target])?;
    let answer = engine.unused(&request, &Call::default())?;
    shared.answered(engine, &request.of.target, &answer)
}

/// Prints the drawing of an answer.
fn drawn(shared: &Shared, mut request: DrawingRequest) -> Result<Outcome> {
    let engine = shared.engine(std::iter::once(&mut request.target).chain(&mut request.to))?;
    let answer = engine.drawing(&request, &Call::default())?;
    let is_empty = answer.drawing.edges.is_empty();
    if answer.drawing.nodes.is_empty() {
        tell!("{}", printable(&engine.unknown_symbol(&request.target, &Call::default())?));
    } else {
        warnings(&answer.state.warnings);
        line(answer.text.as_deref().unwrap_or_default())?;
    }
    Ok(args::end(engine, Outcome::of(!is_empty)))
}
