//! `cortex graph`: answers questions about calls and dependencies.

mod impact;
mod import;
mod rename;
mod routes;
mod row;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use console::style;

use self::import::Import;
use self::row::{print_row, print_tests, print_user, print_uses_in_file};
use super::args::{self, OfAnyProject};
use super::elsewhere::Others;
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{count, fitted, json, line, printable, warnings};
use crate::drawing::DrawingFormat;
use crate::engine::{
    AnswerFrom, Call, DrawingRequest, GraphAnswer, GraphRequest, ImpactRequest, NameUse, Namesake,
    OpenProject, OutsideName, RenameRequest, TestsByClass,
};
use crate::graph::Operation;

/// Show callers, callees, dependents, tests, implementations, unused code, HTTP routes, or the impact of a change.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex graph callers ChunkManager::reload
  cortex graph impact WriteLock::acquire --depth 2
  cortex graph impact --diff
  cortex graph impact --diff HEAD~1..
  cortex graph impact --files src/store/lock.rs,ChunkManager::reload
  cortex graph implementations Embedder --json
  cortex graph tests ChunkManager::reload
  cortex graph path Engine::search Searcher::search --depth 4
  cortex graph callees ChunkManager::reload --draw mermaid
  cortex graph impact WriteLock::acquire --depth 3 --draw svg
  cortex graph rename ChunkManager::reload reload_all
  cortex graph unused src/syntax
  cortex graph routes 'GET /healthz'

Results are resolved by scopes, imports and the types in the source text. Less certain matches are listed as candidates. import reads a SCIP index (rust-analyzer scip, scip-typescript, scip-python …), and files that are as they were then are resolved by it. rename shows the places that would change; --apply writes all of them or none, and refuses while a place is uncertain, until --also names it or --skip-uncertain leaves it. unused lists symbols whose name no other code has, and counts those that a library, a framework or a test may need. routes lists HTTP routes with their handlers, and of few routes what requests them, also in the projects that --clients names.
Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    operation: OperationArg,
    /// A symbol name, `Type::method`, `file:line`, or a file; with unused also a folder; with routes `GET /users/{id}`
    target: Option<String>,
    /// With path: the symbol at the end of the path; with rename: the new name
    to: Option<String>,
    /// With impact: ask about the working tree against HEAD, or about a commit or range (HEAD~3, main..)
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["target", "files"])]
    diff: Option<String>,
    /// With impact: ask about files and symbols that you plan to change (repeat or separate with commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "target")]
    files: Vec<String>,
    /// With import: run the indexer of this project that is installed, and import what it writes
    #[arg(long, conflicts_with = "target")]
    run: bool,
    /// With import: delete an imported index (without FILE and flags, import lists them)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["target", "run"])]
    forget: Option<String>,
    /// With routes: look for requests in another project, too (repeat)
    #[arg(long, value_name = "DIR")]
    clients: Vec<PathBuf>,
    /// With rename: write the files [default: show what would change]
    #[arg(long)]
    apply: bool,
    /// With rename: rename an uncertain place, too (repeat or separate with commas)
    #[arg(long, value_name = "PATH:LINE", value_delimiter = ',')]
    also: Vec<String>,
    /// With rename: leave uncertain places as they are
    #[arg(long)]
    skip_uncertain: bool,
    /// Follow at most this many steps (1 to 10) [default: 1, with callers and tests 3, with --diff and --files 2]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Show at most this many results [default: 50, with callers, dependents, type usages and impact 30 and all direct users, with tests 20, with --diff and --files 30]
    #[arg(short = 'n', long, value_name = "N", value_parser = args::at_least_one)]
    limit: Option<usize>,
    /// Show this many lines around the first use in each result
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    context: usize,
    /// With unused: list public symbols of libraries, too
    #[arg(long)]
    public: bool,
    /// List up to -n uses of the name whose meaning is unknown [default: the first five or ten]
    #[arg(long)]
    unresolved: bool,
    /// Draw the answer of one target: print a Graphviz graph (dot), a Mermaid diagram or a picture (svg)
    #[arg(long, alias = "format", value_name = "FORMAT", conflicts_with_all = ["json", "diff", "files"])]
    draw: Option<Draw>,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: OfAnyProject,
}

/// Default of `--limit`, except of operations whose default depends on the answer.
const LIMIT: usize = 50;

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum OperationArg {
    /// Functions that call the target
    Callers,
    /// Functions that the target calls
    Callees,
    /// Everything that the target uses
    Dependencies,
    /// Everything that uses the target
    Dependents,
    /// Places that use the target type
    #[value(alias = "type-usages")]
    TypeUsages,
    /// Types and methods that implement, extend or override the target
    Implementations,
    /// The shortest chain of calls from TARGET to TO
    Path,
    /// Everything that a change of the target may affect
    Impact,
    /// Tests that reach the target, and the commands that run them
    Tests,
    /// Symbols of TARGET (default: the project) that nothing seems to use
    Unused,
    /// Read a SCIP index (TARGET is its file), so that its files are resolved as its compiler does
    Import,
    /// Rename the target to TO in all files, with its uses, imports and overrides
    Rename,
    /// HTTP routes, their handlers and what requests them; TARGET is a path, a handler, a file or `.`
    Routes,
}

impl OperationArg {
    /// Returns the limit of results without `-n`; `None` if the engine decides it.
    fn limit(self) -> Option<usize> {
        let operation = Operation::parse(&self.name());
        let is_open = |one: Operation| one.lists_users() || one == Operation::Tests;
        (!operation.is_some_and(is_open)).then_some(LIMIT)
    }

    /// Returns the name of the operation.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}

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
    if let Some(draw) = args.draw {
        return drawn(args, draw);
    }
    if matches!(args.operation, OperationArg::Import) {
        let what = match (&args.target, &args.forget) {
            _ if args.run => Import::Run,
            (_, Some(name)) => Import::Forget(name),
            (Some(file), None) => Import::File(file),
            (None, None) => Import::List,
        };
        return import::run(&what, args.project.engine(AnswerFrom::Tree, None)?, args.json);
    }
    ensure!(
        !args.run && args.forget.is_none(),
        "--run and --forget belong to `cortex graph import`"
    );
    if matches!(args.operation, OperationArg::Rename) {
        let (Some(target), Some(new_name)) = (&args.target, &args.to) else {
            bail!("give the symbol and its new name: cortex graph rename TARGET NEW_NAME");
        };
        let mut request = RenameRequest {
            target: target.clone(),
            new_name: new_name.clone(),
            apply: args.apply,
            also: args.also.clone(),
            skip_uncertain: args.skip_uncertain,
        };
        let engine = args.project.engine(AnswerFrom::Tree, [&mut request.target])?;
        return rename::run(&request, engine, args.json);
    }
    ensure!(
        !args.apply && !args.skip_uncertain && args.also.is_empty(),
        "--apply, --also and --skip-uncertain belong to `cortex graph rename`"
    );
    ensure!(
        args.clients.is_empty() || matches!(args.operation, OperationArg::Routes),
        "--clients belongs to `cortex graph routes`"
    );
    ensure!(args.limit != Some(0), "-n is 0, but must be 1 or more");
    let operation = args.operation;
    let name = operation.name();
    let Args { to, depth, context, limit, .. } = args;
    let is_unused = matches!(operation, OperationArg::Unused);
    ensure!(!args.public || is_unused, "--public belongs to `cortex graph unused`");
    let target = args.target.as_deref().or(is_unused.then_some("."));
    let Some(target) = target else {
        ensure!(
            args.diff.is_some() || !args.files.is_empty(),
            "give a target: cortex graph {name} TARGET (a name, Type::method, file:line or a file)"
        );
        ensure!(
            matches!(operation, OperationArg::Impact),
            "--diff and --files belong to `cortex graph impact`, but the operation is {name}"
        );
        let mut request = ImpactRequest {
            range: args.diff.clone(),
            files: args.files.clone(),
            depth: args.depth,
            limit: args.limit,
        };
        let engine = args.project.engine(AnswerFrom::Tree, &mut request.files)?;
        return impact::run(&request, engine, args.json);
    };
    let (mut target, mut to) = (target.to_string(), to.clone());
    let engine =
        args.project.engine(AnswerFrom::Tree, std::iter::once(&mut target).chain(&mut to))?;
    let request = GraphRequest {
        operation: name,
        target,
        to,
        depth: *depth,
        context: *context,
        limit: limit.or_else(|| operation.limit()),
        without_tests: false,
        unresolved: args.unresolved,
        public: args.public,
    };
    if matches!(operation, OperationArg::Routes) {
        return routes::run(engine, &request, &args.clients, args.json);
    }
    let others: Arc<dyn OpenProject> = Arc::new(Others::new(AnswerFrom::Tree, Vec::new()));
    let answer = engine.graph(&request, &Call { others: Some(others), ..Call::default() })?;
    if args.json {
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
fn drawn(args: &Args, draw: Draw) -> Result<Outcome> {
    let operation = args.operation.name();
    let Some(mut target) = args.target.clone() else {
        bail!("give a target: cortex graph {operation} TARGET --draw FORMAT");
    };
    let mut to = args.to.clone();
    let engine =
        args.project.engine(AnswerFrom::Tree, std::iter::once(&mut target).chain(&mut to))?;
    let request = DrawingRequest {
        operation,
        target,
        to,
        depth: args.depth,
        limit: args.limit,
        candidates: None,
        format: Some(draw.into()),
    };
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
