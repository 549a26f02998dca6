//! Queries the code graph: callers, callees, dependencies, paths and impact.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::Address;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::graph_rows::{BUSY, prepared_database};
use crate::engine::door::graph_upkeep::GraphState;
use crate::engine::door::paths;
use crate::engine::door::project::Project;
use crate::engine::door::serving::{Engine, Step, Upkeep, View};
use crate::engine::elsewhere::outside::OutsideName;
use crate::engine::graph::affected::{TEST_DEPTH, TestPlan, TestsByClass};
use crate::engine::read::grep::GrepFile;
use crate::engine::{AskError, Call, is_zero};
use crate::graph::{
    self, Affected, CodeGraph, GraphError, GraphQuery, MAX_DEPTH, Neighbour, Operation,
};
use crate::index::{IndexingService, Progress};
use crate::languages::{detect, implements_silently};
use crate::store::{SourceEntry, SourceTable};
use crate::text::{count, cut};
use crate::work::WorkBudget;

/// The target of a question to the code graph, and how much is shown of its answer.
#[derive(Debug, Clone, Default)]
pub struct TargetRows {
    /// A name, `Type::method`, `file.rs:line` or a file.
    pub target: String,
    /// Maximum number of results.
    pub limit: Option<usize>,
    /// Number of lines to show around the first use.
    pub context: usize,
}

/// A question about what is around a symbol or file.
#[derive(Debug, Clone)]
pub struct AroundRequest {
    /// What leads to the results: all operations but tests, unused and routes.
    pub operation: Operation,
    /// The limit is 30 and all direct users by default.
    pub of: TargetRows,
    /// The symbol or file at the end of a path.
    pub to: Option<String>,
    /// Maximum number of steps. Default: 1, of callers 3.
    pub depth: Option<usize>,
    /// Whether to list up to the limit of uses of the target's name whose meaning is unknown, not only
    /// the first.
    pub unresolved: bool,
}

/// Default of the number of results.
const LIMIT: usize = 30;
/// Default of [`AroundRequest::depth`] of callers: an entry point is seldom farther.
const CALLERS_DEPTH: usize = 3;
/// Most direct users that an answer lists without a limit of the request.
const MAX_DIRECT: usize = 200;
/// Most characters of a line that a use shows.
pub(in crate::engine) const MAX_TEXT: usize = 120;
/// Least number of groups of tests that a shortened answer keeps.
const LEAST_GROUPS: usize = 5;

/// The answer of the code graph.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct GraphAnswer {
    /// The operation of the request.
    #[schemars(with = "String")]
    pub operation: Operation,
    /// The symbols or files that the target matches, the first ten; empty if there is none, and for routes.
    pub targets: Vec<GraphNode>,
    /// Number of these, listed or not.
    pub total_targets: usize,
    /// Nearest first, tests after all other code; a path in its order.
    pub results: Vec<GraphRow>,
    /// Possible results whose confidence is too low.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub candidates: Vec<GraphRow>,
    /// Lines that use the target's name and whose meaning is unknown; calls and near ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub unresolved: Vec<NameUse>,
    /// Number of such lines, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_unresolved: usize,
    /// The files with most such lines, beside results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub unresolved_in: Vec<UsesInFile>,
    /// Whether the meaning of every line that uses the target's name is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Other symbols of the target's name that further lines use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub namesakes: Vec<Namesake>,
    #[serde(skip)]
    pub named: NamedLines,
    /// callees, dependencies: names that the target uses, and whose meaning is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub unknown: Vec<UnknownName>,
    /// callees, dependencies: names that the target uses, and that packages or tied projects define.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub outside: Vec<OutsideName>,
    /// Number of all results.
    pub total: usize,
    /// Number of those that do not belong to tests.
    #[serde(skip)]
    pub total_users: usize,
    /// Largest number of steps that were followed.
    #[serde(skip)]
    pub depth: usize,
    /// Whether results were left out.
    pub truncated: bool,
    #[serde(flatten)]
    pub tests: TestsByClass,
    /// The commands that run these tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub commands: Vec<String>,
    /// tests: number of files of tests in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_files: Option<usize>,
    /// unused: symbols without a use that are not listed, because something outside may use them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub not_listed: Vec<NotListed>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// The lines of the text that have the name of a target and are not in the answer, whatever they mean.
/// They decide whether an answer without results may say that nothing uses the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamedLines {
    /// Number of such lines of code.
    pub n: usize,
    /// Number of those that use a value whose type the project does not define. Beside results, they
    /// are not among the lines of unknown meaning.
    pub n_elsewhere: usize,
    /// Number of files whose lines were only counted.
    pub n_unread: usize,
    /// implementations: number of those that use the target, but neither implement nor extend it.
    pub n_plain: usize,
    /// Whether some lines were not searched.
    pub is_partial: bool,
}

/// A number of symbols that are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotListed {
    /// What they are.
    pub what: String,
    /// Number of these symbols.
    pub count: usize,
}

/// A definition, or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Relative to the root.
    pub path: String,
    /// First line of the definition; 0 for a file.
    pub line: u32,
    /// Last line of the definition; 0 for a file.
    pub end_line: u32,
    /// Name, qualified by the enclosing names.
    pub symbol: String,
    /// function, struct, file …
    pub kind: String,
}

/// A line that uses the name of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameUse {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// The innermost definition around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The line, without its indentation.
    pub text: String,
}

impl NameUse {
    /// Returns the matching lines of a file that a search for lines found.
    pub(in crate::engine) fn in_file(file: GrepFile) -> impl Iterator<Item = Self> {
        let GrepFile { path, lines, .. } = file;
        lines.into_iter().filter(|line| line.is_match).map(move |line| Self {
            path: path.clone(),
            line: u32::try_from(line.line).unwrap_or(u32::MAX),
            symbol: line.symbol,
            text: cut(line.text.trim(), MAX_TEXT),
        })
    }
}

/// Lines of one file that use the name of a target, and whose meaning is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsesInFile {
    /// Relative to the root.
    pub path: String,
    /// Number of these lines.
    pub uses: usize,
    /// The first of these lines; none if the file was not read.
    pub lines: Vec<u32>,
}

impl UsesInFile {
    /// Returns the lines as text, if any are known, with `…` if there are more.
    #[must_use]
    pub fn shown_lines(&self) -> Option<String> {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        let more = if self.uses > lines.len() { " …" } else { "" };
        (!lines.is_empty()).then(|| format!("{}{more}", lines.join(", ")))
    }
}

/// Another symbol of the same name, which further lines use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Namesake {
    #[serde(flatten)]
    pub node: GraphNode,
    /// Number of lines that use it.
    pub uses: usize,
}

/// A name that no symbol of the project has, or whose receiver is unknown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnknownName {
    /// The name as it is written.
    pub name: String,
    /// Lines of its uses in the target's file.
    pub lines: Vec<u32>,
}

impl UnknownName {
    /// Lists the uses of unknown names that are not uses of names of packages.
    fn all(unknown: &BTreeMap<String, Vec<u32>>, outside: &[OutsideName]) -> Vec<Self> {
        let is_outside = |name: &str, line: u32| {
            outside.iter().any(|outside| outside.name == name && outside.lines.contains(&line))
        };
        let rows = unknown.iter().map(|(name, lines)| Self {
            name: name.clone(),
            lines: lines.iter().copied().filter(|line| !is_outside(name, *line)).collect(),
        });
        rows.filter(|row| !row.lines.is_empty()).collect()
    }
}

/// A definition on the other side of a use.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct GraphRow {
    #[serde(flatten)]
    pub node: GraphNode,
    /// Lines of the uses, in the file that contains them.
    pub sites: Vec<u32>,
    /// How sure the step is, 0 to 1.
    pub confidence: f64,
    /// Number of steps from the target.
    pub depth: usize,
    /// The symbol that the last step comes from; of a route the file that registers it, of a request
    /// the path of the route.
    pub via: String,
    /// Why it is in the answer, if it does not call the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The statement at the first use, if the row uses the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it belongs to tests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub test: bool,
    /// Lines around the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The line at which `context` begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_start_line: Option<usize>,
    /// The file that contains the uses.
    #[serde(skip)]
    pub used_in: String,
}

/// Least confidence of a row that goes without saying.
const SURE: f64 = 0.9;
/// Most further lines of uses that the notes of a row name.
const MAX_MORE_LINES: usize = 12;

impl GraphRow {
    /// Says what else is to be known of a user of the target than its place and its statement. The
    /// notes quote names of the repository.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        if self.sites.is_empty() {
            notes.push("overrides or extends it".into());
        }
        notes.extend(self.reason.clone());
        if self.depth > 1 {
            notes.push(format!("via {}", self.via));
        }
        if self.confidence < SURE {
            notes.push(format!("{:.2}", self.confidence));
        }
        let more: Vec<String> =
            self.sites.iter().skip(1).take(MAX_MORE_LINES).map(u32::to_string).collect();
        if !more.is_empty() {
            notes.push(format!("also {}", more.join(", ")));
        }
        notes
    }
}

/// The reason of a result that takes the target as a value.
const AS_VALUE: &str = "takes it as a value";
/// Number of uses of unknown meaning that an answer lists without results, and beside results.
const USES_INSTEAD: usize = 10;
pub(in crate::engine) const USES_BESIDE: usize = 5;

/// The error of a project that has chunk files but no source files.
pub(in crate::engine) const NO_SOURCES: &str = "the code graph is built from source files, and this project has none: chunk files alone do not say which symbol calls which";

/// Checks that a path has an end, and that no other question has one.
///
/// # Errors
/// When that is not so.
pub fn check_end(operation: Operation, to: Option<&str>) -> Result<(), AskError> {
    if (operation == Operation::Path) == to.is_some() {
        return Ok(());
    }
    Err(AskError::Arguments(
        "path leads from `target` to `to`: give both; the other operations do not accept `to`"
            .into(),
    ))
}

/// Returns the number of steps that a question follows.
pub(in crate::engine) fn steps(depth: Option<usize>, default: usize) -> Result<usize, AskError> {
    let depth = depth.unwrap_or(default);
    if (1..=MAX_DEPTH).contains(&depth) {
        return Ok(depth);
    }
    Err(AskError::Arguments(format!("depth is {depth}, but must be from 1 to {MAX_DEPTH}")))
}

impl Engine {
    /// Answers a question about what is around a target from the updated code graph.
    ///
    /// # Errors
    /// When the request is not valid, there are no source files, or the graph cannot be read or
    /// written.
    pub fn around(&self, request: &AroundRequest, call: &Call) -> Result<GraphAnswer, AskError> {
        self.around_with_tests(request, TEST_DEPTH, call)
    }

    /// Answers a question about what is around a target. If it is about users, the answer says who is affected by a change: all
    /// code outside of tests comes first, then the tests that reach the target in `test_depth` steps.
    pub(in crate::engine) fn around_with_tests(
        &self,
        request: &AroundRequest,
        test_depth: usize,
        call: &Call,
    ) -> Result<GraphAnswer, AskError> {
        let (operation, of) = (request.operation, &request.of);
        check_end(operation, request.to.as_deref())?;
        let default_depth = if operation == Operation::Callers { CALLERS_DEPTH } else { 1 };
        let depth = steps(request.depth, default_depth)?;
        let target = &*self.graph_target(&of.target, call);
        let to = request.to.as_deref().map(|to| self.graph_target(to, call));
        let mut limit = of.limit.unwrap_or(LIMIT);
        let query = GraphQuery { operation, target, to: to.as_deref(), depth, limit };
        let mut state = self.state(call)?;
        let ask = |graph: &CodeGraph, work: &WorkBudget| answered(graph, query, test_depth, work);
        let (Affected { mut answer, through, tests }, has_sources, _) =
            self.ask_graph_in_time(call, ask)?;
        call.check()?;
        let (n_matched, n_followed) = (answer.n_matched, answer.targets.len());
        self.project.drop_gone(&mut answer.targets);
        if answer.targets.is_empty() && !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        if n_matched > n_followed {
            state.warnings.push(format!(
                "{n_matched} symbols are named {}, and {n_followed} of them were followed: give Type::method, file:line or a file",
                cut(target, 100)
            ));
        }
        if answer.is_cut {
            state.warnings.push(format!(
                "the search of the code graph was cut after {}: there may be more",
                count(answer.total, "result")
            ));
        }
        let n_direct = answer.results.iter().filter(|f| f.depth <= 1 && !f.is_test).count();
        if of.limit.is_none() && operation.lists_users() {
            limit = limit.max(n_direct.min(MAX_DIRECT));
        }
        let n_uses = match answer.results.len() {
            _ if request.unresolved => limit,
            0 => USES_INSTEAD,
            // Of a name that so many symbols have, they say nothing about one of them.
            _ if n_matched > n_followed => 0,
            _ => USES_BESIDE,
        };
        let near = answer.targets.first().map_or("", |target| &target.file);
        // Not what the graph left of its budget: a zero needs the text.
        let mut other = self.other_uses(&answer.name_uses, near, n_uses, &call.work(), call)?;
        let is_bare = answer.results.is_empty() && !operation.points_outward();
        if is_bare && operation != Operation::Implementations {
            let names = &answer.name_uses.names;
            let note =
                self.add_default_imports(&mut other, names, &answer.targets, n_uses, call)?;
            state.warnings.extend(note);
        }
        // The rest of the answer needs no packages.
        let outside = self.outside(&answer.imported, call).or_else(|e| {
            call.check()?;
            state.warnings.push(e.to_string());
            Ok::<_, AskError>(Vec::new())
        })?;
        let row = |found: &Neighbour| {
            self.graph_row(found, answer.file_of_uses(found).to_string(), of.context)
        };
        let mut results: Vec<GraphRow> = answer.results.iter().take(limit).map(row).collect();
        let mut candidates: Vec<GraphRow> = Vec::new();
        for (found, method) in with_methods(&answer.candidates, &through).into_iter().take(limit) {
            let reason = method.map(|method| format!("through {method}"));
            candidates.push(GraphRow { reason, ..row(found) });
        }
        let mut plan = TestPlan::default();
        if operation.lists_users() {
            self.add_statements(results.iter_mut().chain(&mut candidates));
        }
        if let Some(tests) = &tests {
            plan = self.test_plan(tests, answer.results.iter(), call)?;
            state.warnings.append(&mut plan.warnings);
        }
        let has_names = !answer.name_uses.names.is_empty();
        let is_looked_up = operation.lists_users() && n_uses > 0 && has_names;
        if answer.results.is_empty() || request.unresolved || !operation.lists_users() {
            other.in_files.clear();
        }
        Ok(GraphAnswer {
            targets: GraphNode::listed(&answer.targets),
            total_targets: n_matched,
            truncated: answer.truncated || answer.results.len() > results.len(),
            results,
            candidates,
            complete: is_looked_up.then_some(!answer.is_cut && other.is_complete()),
            unresolved: other.uses,
            total_unresolved: other.total,
            unresolved_in: other.in_files,
            tests: plan.tests,
            commands: plan.commands,
            depth,
            total_users: answer.results.iter().filter(|found| !found.is_test).count(),
            namesakes: other.namesakes,
            named: other.named,
            unknown: UnknownName::all(&answer.unknown, &outside),
            outside,
            total: answer.total,
            ..GraphAnswer::new(operation, state)
        })
    }

    /// Returns a row, with `context` lines around the first use in the file `used_in`.
    pub(in crate::engine) fn graph_row(
        &self,
        found: &Neighbour,
        used_in: String,
        context: usize,
    ) -> GraphRow {
        let first_use = found.sites.first().copied().unwrap_or(found.node.line);
        let around = around(&self.project, &used_in, first_use, context);
        GraphRow {
            node: GraphNode::new(&found.node),
            sites: found.sites.clone(),
            confidence: (f64::from(found.confidence) * 100.0).round() / 100.0,
            depth: found.depth,
            via: found.via.clone(),
            reason: found.is_value.then(|| AS_VALUE.to_string()),
            test: found.is_test,
            context_start_line: around.as_ref().map(|(first, _)| *first),
            context: around.map(|(_, lines)| lines),
            used_in,
            ..GraphRow::default()
        }
    }

    /// Returns a target as the graph knows it: an address with a line becomes `file:line`, and a path
    /// becomes that of the index.
    pub(in crate::engine) fn graph_target(&self, written: &str, call: &Call) -> String {
        let address = Address::parse(written);
        let Some((line, _)) = address.lines else {
            if !address.path.contains('/') {
                // The graph finds a file by the end of its path.
                let in_file = |symbol: String| format!("{}#{symbol}", address.path);
                return address.symbol.clone().map_or_else(|| written.to_string(), in_file);
            }
            let file = |view: View| {
                let file =
                    paths::written_file(&self.project, view.code.corpus.chunks(), &address.path);
                Ok(file.map(|file| match &address.symbol {
                    Some(symbol) => format!("{file}#{symbol}"),
                    None => file,
                }))
            };
            return self
                .with_code(call, file)
                .ok()
                .flatten()
                .unwrap_or_else(|| written.to_string());
        };
        let place = |view: View| paths::place(&self.project, &view.code.corpus, written);
        // What is no file may still be a symbol.
        self.with_code(call, place)
            .map_or_else(|_| written.to_string(), |place| format!("{}:{line}", place.path))
    }

    /// Asks the updated code graph. Damage that only the query meets is repaired by building the
    /// graph again. Also returns whether there are source files.
    pub(in crate::engine) fn ask_graph<T>(
        &self,
        call: &Call,
        ask: impl Fn(&CodeGraph) -> Result<T, GraphError>,
    ) -> Result<(T, bool), AskError> {
        let (graph, has_sources) = self.code_graph(call)?;
        call.check()?;
        match ask(&graph) {
            Err(GraphError::Damaged { .. }) => {
                graph.renew()?;
                let (graph, has_sources) = self.code_graph(call)?;
                Ok((ask(&graph)?, has_sources))
            }
            answer => Ok((answer?, has_sources)),
        }
    }

    /// The same for an answer that has a time limit, which begins when the graph is up to date. Also
    /// returns what is left of it.
    pub(in crate::engine) fn ask_graph_in_time<T>(
        &self,
        call: &Call,
        ask: impl Fn(&CodeGraph, &WorkBudget) -> Result<T, GraphError>,
    ) -> Result<(T, bool, WorkBudget), AskError> {
        let begun = OnceCell::new();
        let (answer, has_sources) =
            self.ask_graph(call, |graph| ask(graph, begun.get_or_init(|| call.work())))?;
        Ok((answer, has_sources, begun.into_inner().unwrap_or_else(|| call.work())))
    }

    /// Whether the code graph of a server lacks the rows of at most `n_files` files. Nothing is read
    /// into it.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(in crate::engine) fn lacks_rows_of_at_most(
        &self,
        n_files: usize,
    ) -> Result<bool, AskError> {
        let Some(server) = self.server() else { return Ok(false) };
        if self.project.layout.is_foreign() {
            return Ok(false);
        }
        let sources = SourceTable::read(&self.project.layout).unwrap_or_default();
        let known = server.graph.open(&self.project)?.hashes()?;
        let files = self.project.files_of_graph(sources);
        let n_missing = files.filter(|(path, hash)| known.get(path) != Some(hash)).count();
        Ok(n_missing <= n_files)
    }

    /// Adds the rows that the code graph lacks of the files of the index, in a command.
    ///
    /// # Errors
    /// When the graph cannot be read or written.
    pub fn prepare_graph(&self, tell: &dyn Fn(Progress)) -> Result<(), AskError> {
        let sources =
            SourceTable::read(&self.project.layout).filter(|_| !self.project.layout.is_foreign());
        let Some(sources) = sources else { return Ok(()) };
        let graph = CodeGraph::open_within(&prepared_database(&self.project.layout)?, BUSY)?;
        Ok(self.project.update_graph(&graph, sources, tell)?)
    }

    /// Updates the code graph and returns it, and whether there are source files. The source files
    /// are those of the index or, if another program writes the chunk files, those of the tree.
    pub(in crate::engine) fn code_graph(
        &self,
        call: &Call,
    ) -> Result<(Arc<CodeGraph>, bool), AskError> {
        let Upkeep::Server(server) = &self.upkeep else {
            let has_sources = self.bring_graph_up_to_date(call)?;
            return Ok((Arc::new(self.project.code_graph()?), has_sources));
        };
        let graph = server.graph.open(&self.project)?;
        let before = GraphState::of(&self.project, &graph);
        if let Some(has_sources) =
            before.as_ref().and_then(|state| server.graph.complete_in(&graph, state))
        {
            return Ok((graph, has_sources));
        }
        let has_sources = self.bring_graph_up_to_date(call)?;
        let graph = server.graph.open(&self.project)?;
        if let Some(state) =
            before.filter(|b| GraphState::of(&self.project, &graph).as_ref() == Some(b))
        {
            server.graph.note(&graph, state, has_sources);
        }
        Ok((graph, has_sources))
    }

    /// Updates the code graph. Returns whether there are source files.
    fn bring_graph_up_to_date(&self, call: &Call) -> Result<bool, AskError> {
        let layout = &self.project.layout;
        let sources = match &self.upkeep {
            _ if !layout.is_foreign() => SourceTable::read(layout),
            Upkeep::Command(_) => {
                Some(self.project.indexer(crate::engine::LONG_WAIT).look_at_sources())
            }
            // No index run looks at the source files of such a project.
            Upkeep::Server(server) => server
                .indexing
                .as_ref()
                .map(IndexingService::look_at_sources)
                .or_else(|| SourceTable::read(layout)),
        };
        let has_sources = sources.as_ref().is_some_and(|table| !table.files.is_empty());
        match (sources, &self.upkeep) {
            (Some(sources), Upkeep::Server(server)) => server.graph.update(sources, call)?,
            (Some(sources), Upkeep::Command(command)) => {
                self.project.update_code_graph(sources, &|p| (command.tell)(Step::Graph(p)))?;
            }
            (None, _) => {}
        }
        Ok(has_sources)
    }
}

/// Returns the candidates, each with the method through which it reaches the target if the target
/// overrides that. These come first, and tests after all other code.
fn with_methods<'a>(
    candidates: &'a [Neighbour],
    through: &'a [(graph::Node, String)],
) -> Vec<(&'a Neighbour, Option<&'a str>)> {
    let methods: HashMap<&graph::Node, &str> =
        through.iter().map(|(node, method)| (node, &**method)).collect();
    let method = |found: &Neighbour| methods.get(&found.node).copied().filter(|_| found.depth == 1);
    let mut all: Vec<(&Neighbour, Option<&str>)> =
        candidates.iter().map(|found| (found, method(found))).collect();
    all.sort_by_key(|(found, method)| (found.is_test, method.is_none()));
    all
}

/// Returns what the graph says to a query: if that is about users, also what reaches the target through
/// a method that it overrides, and the tests of the target.
fn answered(
    graph: &CodeGraph,
    query: GraphQuery,
    test_depth: usize,
    work: &WorkBudget,
) -> Result<Affected, GraphError> {
    if query.operation.lists_users() {
        return graph.affected(query, test_depth, work);
    }
    Ok(Affected { answer: graph.answer(query, work)?, through: Vec::new(), tests: None })
}

impl Project {
    pub(in crate::engine) fn code_graph(&self) -> Result<CodeGraph, GraphError> {
        CodeGraph::open(&prepared_database(&self.layout)?)
    }

    /// Drops the nodes of files that are gone, though nobody has indexed that yet.
    pub(in crate::engine) fn drop_gone(&self, nodes: &mut Vec<graph::Node>) {
        nodes.retain(|node| self.has_file(&node.file));
    }

    /// Updates the code graph for these source files.
    ///
    /// # Errors
    /// When the graph cannot be read or written.
    pub(in crate::engine) fn update_code_graph(
        &self,
        sources: SourceTable,
        tell: &dyn Fn(Progress),
    ) -> Result<(), GraphError> {
        self.update_graph(&self.code_graph()?, sources, tell)
    }

    fn update_graph(
        &self,
        graph: &CodeGraph,
        sources: SourceTable,
        tell: &dyn Fn(Progress),
    ) -> Result<(), GraphError> {
        let files = self.files_of_graph(sources);
        let read = |path: &str| self.read_hashed(path).ok();
        graph.update(files, read, |done, total| tell(Progress { done, total }))?;
        self.sync_scip(graph)
    }

    /// Returns the files whose rows the code graph is to have, each with the hash of its content.
    pub(in crate::engine) fn files_of_graph(
        &self,
        sources: SourceTable,
    ) -> impl Iterator<Item = (String, String)> {
        let is_there = |entry: &SourceEntry| entry.skipped.is_none() && !entry.deleted;
        let files = sources.files.into_iter().filter(move |(_, entry)| is_there(entry));
        files.map(move |(path, entry)| {
            let ahead = self.rows_ahead.hash(&path);
            (path, ahead.unwrap_or(entry.sha256))
        })
    }
}

/// Returns `n_lines` lines around line `at`, and the number of the first one. `None` if no line is
/// requested or the file cannot be read.
pub(in crate::engine) fn around(
    project: &Project,
    path: &str,
    at: u32,
    n_lines: usize,
) -> Option<(usize, String)> {
    let before = n_lines.checked_sub(1)? / 2;
    let text = project.read_text(path).ok()?;
    let first = (at as usize).saturating_sub(before).max(1);
    let lines: Vec<&str> = text.lines().skip(first - 1).take(n_lines).collect();
    Some((first, lines.join("\n")))
}

/// Most targets that an answer lists.
const LISTED_TARGETS: usize = 10;

impl GraphNode {
    /// Returns the targets that an answer lists.
    pub(in crate::engine) fn listed(targets: &[graph::Node]) -> Vec<Self> {
        targets.iter().take(LISTED_TARGETS).map(Self::new).collect()
    }

    /// Returns a node of one line; with line 0, a file or a folder as a whole.
    pub(in crate::engine) fn at(path: &str, line: u32, symbol: &str, kind: &str) -> Self {
        Self { path: path.into(), line, end_line: line, symbol: symbol.into(), kind: kind.into() }
    }

    pub(in crate::engine) fn new(node: &graph::Node) -> Self {
        Self {
            path: node.file.clone(),
            line: node.line,
            end_line: node.end_line,
            symbol: node.symbol.clone(),
            kind: node.kind.clone(),
        }
    }
}

impl GraphAnswer {
    /// Returns an answer without results.
    pub(in crate::engine) fn new(operation: Operation, state: AnswerState) -> Self {
        Self { operation, state, ..Self::default() }
    }

    /// Whether the answer lists HTTP routes, which have no target.
    #[must_use]
    pub fn is_routes(&self) -> bool {
        self.operation == Operation::Routes
    }

    /// Whether the answer lists what uses a symbol, so that it speaks of all uses of its name.
    #[must_use]
    pub fn is_about_uses(&self) -> bool {
        !self.operation.points_outward()
            && !matches!(self.operation, Operation::Tests | Operation::Unused | Operation::Routes)
            && self.targets.iter().any(|target| target.line > 0)
    }

    /// Says that an answer about uses found none, as far as that is known.
    #[must_use]
    pub fn nothing_found(&self) -> String {
        let NamedLines { n, n_plain, is_partial, .. } = self.named;
        if is_partial || self.truncated {
            return "none found, but not all lines were searched, so there may be some".into();
        }
        let lines = match n {
            1 => "1 more line has the name".to_string(),
            n => format!("{n} more lines have the name"),
        };
        let found = match n {
            0 => "none found: no other line of the indexed code uses the name".into(),
            n if n == n_plain => {
                format!("none found: {lines}, but none to implement or extend it")
            }
            _ if !self.namesakes.is_empty() => format!(
                "none found that is surely this one: {lines}, for the symbols above (a call through an interface, a base type or another overload may reach this one), in comments or in strings"
            ),
            1 => format!("none found: {lines}, in a comment or a string or for something else"),
            _ => format!("none found: {lines}, in comments or strings or for something else"),
        };
        let is_silent = |target: &GraphNode| {
            target.kind == "interface" && implements_silently(detect(&target.path, "").name)
        };
        if self.operation == Operation::Implementations && self.targets.iter().any(is_silent) {
            return format!(
                "{found}. A type may implement it without naming it: no type defines all its methods, but objects and fields may"
            );
        }
        found
    }

    /// Says how many symbols without a use are not listed, and what they are.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let group = |group: &NotListed| format!("{} {}", group.count, group.what);
        let groups: Vec<String> = self.not_listed.iter().map(group).collect();
        (!groups.is_empty()).then(|| format!("not listed: {}", groups.join(", ")))
    }

    /// Says whether the answer has all uses, and how that is known.
    #[must_use]
    pub fn completeness(&self) -> Option<String> {
        let target = self.targets.first()?;
        let name = target.symbol.rsplit([':', '.', '#', '/']).next().unwrap_or(&target.symbol);
        let elsewhere = match self.named.n_elsewhere {
            0 => String::new(),
            n => format!(
                "; {} with a value of a type from outside of the project may mean it only through an interface",
                count(n, "line")
            ),
        };
        let is_complete = self.complete.filter(|_| !self.results.is_empty())?;
        if is_complete {
            Some(format!(
                "complete: every line of code that uses the name {name} was resolved{elsewhere}"
            ))
        } else if self.total_unresolved == 0 {
            Some(format!(
                "not complete: some lines with the name {name} were not examined{elsewhere}"
            ))
        } else {
            let verb = if self.total_unresolved == 1 { "uses" } else { "use" };
            Some(format!(
                "not complete: {} {verb} the name {name} with an unknown meaning{elsewhere}",
                count(self.total_unresolved, "line")
            ))
        }
    }

    /// Returns the candidates that an answer in text shows: of users those outside of tests, because
    /// the tests are listed by class.
    pub fn further_candidates(&self) -> impl Iterator<Item = &GraphRow> {
        let lists_users = self.operation.lists_users();
        self.candidates.iter().filter(move |row| !(lists_users && row.test))
    }

    /// Returns the results outside of tests by their number of steps.
    #[must_use]
    pub fn steps(&self) -> Vec<(usize, Vec<&GraphRow>)> {
        let mut steps: BTreeMap<usize, Vec<&GraphRow>> = BTreeMap::new();
        for row in self.results.iter().filter(|row| !row.test) {
            steps.entry(row.depth).or_default().push(row);
        }
        steps.into_iter().collect()
    }

    /// Says how many results outside of tests there are, and how far they were followed.
    #[must_use]
    pub fn users_heading(&self) -> String {
        let what = match self.operation {
            Operation::Callers => "caller",
            _ => "user",
        };
        let shown = self.results.iter().filter(|row| !row.test).count();
        let cut = if self.total_users > shown {
            format!(", {shown} shown, nearest first")
        } else {
            String::new()
        };
        format!(
            "{} outside of tests, through at most {}{cut}",
            count(self.total_users, what),
            count(self.depth, "step")
        )
    }

    /// Returns a copy with the first `n` rows: the results come first, then the tests, then the
    /// candidates.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let n_users = self.results.iter().filter(|row| !row.test).count();
        let n_groups = n.saturating_sub(n_users).max(n.min(LEAST_GROUPS));
        let n_likely = self.results.len() + self.candidates.len();
        Self {
            results: self.results.iter().take(n).cloned().collect(),
            candidates: self
                .candidates
                .iter()
                .take(n.saturating_sub(self.results.len()))
                .cloned()
                .collect(),
            unresolved: self.unresolved.iter().take(n.saturating_sub(n_likely)).cloned().collect(),
            tests: self.tests.first(n_groups),
            truncated: self.truncated || n < n_likely,
            ..self.clone()
        }
    }
}
