//! Who calls whom, and who depends on what.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::serving::{Engine, Upkeep};
use super::{AskError, Call};
use crate::graph::{self, CodeGraph, GraphError, GraphQuery, MAX_DEPTH, Neighbour, Operation};
use crate::index::IndexingService;
use crate::source::read_text;
use crate::store::SourceTable;

/// A question to the code graph.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct GraphRequest {
    /// path: how `target` leads to `to`; impact: what a change of it may touch.
    #[schemars(extend("enum" = operations()))]
    pub operation: String,
    /// A name, `Type::method`, `file.rs:line`, a chunk by its id, or a file.
    pub target: String,
    /// path: where it leads.
    pub to: Option<String>,
    /// Steps that are followed.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10))]
    pub depth: usize,
    /// Lines shown around the first use of each.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub context: usize,
    /// Most results.
    #[serde(default = "thirty")]
    #[schemars(range(min = 1, max = 500))]
    pub limit: usize,
}

fn one() -> usize {
    1
}

fn thirty() -> usize {
    30
}

fn operations() -> Vec<&'static str> {
    Operation::ALL.into_iter().map(Operation::as_str).collect()
}

/// What the code graph answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphAnswer {
    /// What was asked.
    #[schemars(with = "String")]
    pub operation: Operation,
    /// What the target was taken for; empty: there is nothing of that name.
    pub targets: Vec<GraphNode>,
    /// Nearest first; of a path in its order.
    pub results: Vec<GraphRow>,
    /// What may belong to the results, but is not sure enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub candidates: Vec<GraphRow>,
    /// Results there are.
    pub total: usize,
    /// Results were left out.
    pub truncated: bool,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A definition, or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Relative to the root.
    pub path: String,
    /// Of the definition; 0 for a file.
    pub line: u32,
    /// Its last line; 0 for a file.
    pub end_line: u32,
    /// The name with those around it.
    pub symbol: String,
    /// function, struct, file …
    pub kind: String,
}

/// A definition on the other side of a use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphRow {
    #[serde(flatten)]
    pub node: GraphNode,
    /// Lines of the uses, in the file of whoever uses.
    pub sites: Vec<u32>,
    /// 0 to 1.
    pub confidence: f64,
    /// Steps from the target.
    pub depth: usize,
    /// What it is a step from.
    pub via: String,
    /// Lines around the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The line at which `context` begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_start_line: Option<usize>,
    /// The file that the uses are in.
    #[serde(skip)]
    pub used_in: String,
}

/// Why there is nothing to ask the code graph.
pub(super) const NO_SOURCES: &str = "the code graph is made from source files, and none are known here: chunk files alone do not say who calls whom";

impl Engine {
    /// Asks the code graph.
    ///
    /// # Errors
    /// When the request cannot be used, there are no source files, or the graph cannot be read or
    /// written.
    pub fn graph(&self, request: &GraphRequest, call: &Call) -> Result<GraphAnswer, AskError> {
        let unknown = || {
            let known = operations().join(", ");
            AskError::Arguments(format!(
                "there is no operation `{}`: give one of {known}",
                request.operation
            ))
        };
        let operation = Operation::parse(&request.operation).ok_or_else(unknown)?;
        if (operation == Operation::Path) != request.to.is_some() {
            return Err(AskError::Arguments(
                "a path leads from `target` to `to`; the other operations have no `to`".into(),
            ));
        }
        if !(1..=MAX_DEPTH).contains(&request.depth) {
            return Err(AskError::Arguments(format!(
                "depth is {}, but must be from 1 to {MAX_DEPTH}",
                request.depth
            )));
        }
        let state = self.state(call)?;
        let (graph, has_sources) = self.code_graph()?;
        call.check()?;
        let (target, to) = (&*request.target, request.to.as_deref());
        let answer = graph.answer(GraphQuery {
            operation,
            target,
            to,
            depth: request.depth,
            limit: request.limit,
        })?;
        if answer.targets.is_empty() && !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        let root = self.project.layout.root();
        let row = |found: &Neighbour| {
            let used_in = answer.file_of_uses(found).to_string();
            let around = around(
                root,
                &used_in,
                found.sites.first().copied().unwrap_or(found.node.line),
                request.context,
            );
            GraphRow {
                node: GraphNode::new(&found.node),
                sites: found.sites.clone(),
                confidence: (f64::from(found.confidence) * 100.0).round() / 100.0,
                depth: found.depth,
                via: found.via.clone(),
                context_start_line: around.as_ref().map(|(first, _)| *first),
                context: around.map(|(_, lines)| lines),
                used_in,
            }
        };
        Ok(GraphAnswer {
            operation,
            targets: answer.targets.iter().map(GraphNode::new).collect(),
            results: answer.results.iter().map(row).collect(),
            candidates: answer.candidates.iter().map(row).collect(),
            total: answer.total,
            truncated: answer.truncated,
            state,
        })
    }

    /// The code graph, up to date with the source files that the index knows; beside chunk files of
    /// another program, with those of the tree. Whether there are any.
    pub(super) fn code_graph(&self) -> Result<(CodeGraph, bool), AskError> {
        let layout = &self.project.layout;
        let sources = match &self.upkeep {
            _ if !layout.is_foreign() => SourceTable::read(layout),
            Upkeep::Command(_) => Some(self.project.indexer(super::LONG_WAIT).look_at_sources()),
            // Nobody else looks at them.
            Upkeep::Server(server) => server
                .indexing
                .as_ref()
                .map(IndexingService::look_at_sources)
                .or_else(|| SourceTable::read(layout)),
        };
        let has_sources = sources.as_ref().is_some_and(|table| !table.files.is_empty());
        let unwritable = |source| GraphError::Unwritable { path: layout.code_graph(), source };
        let graph = CodeGraph::open(&layout.prepare_code_graph().map_err(unwritable)?)?;
        if let Some(table) = sources {
            let is_there =
                |entry: &crate::store::SourceEntry| entry.skipped.is_none() && !entry.deleted;
            let files = table
                .files
                .into_iter()
                .filter(|(_, entry)| is_there(entry))
                .map(|(path, entry)| (path, entry.sha256));
            graph.update(files, |path| read_text(layout.root(), path).ok())?;
        }
        Ok((graph, has_sources))
    }
}

/// So many lines around a use, and the first of them.
fn around(root: &Path, path: &str, at: u32, n_lines: usize) -> Option<(usize, String)> {
    let before = n_lines.checked_sub(1)? / 2;
    let text = read_text(root, path).ok()?;
    let first = (at as usize).saturating_sub(before).max(1);
    let lines: Vec<&str> = text.lines().skip(first - 1).take(n_lines).collect();
    Some((first, lines.join("\n")))
}

impl GraphNode {
    fn new(node: &graph::Node) -> Self {
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
    /// The same with so many of its results, and then of its candidates.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let n_all = self.results.len() + self.candidates.len();
        Self {
            results: self.results.iter().take(n).cloned().collect(),
            candidates: self
                .candidates
                .iter()
                .take(n.saturating_sub(self.results.len()))
                .cloned()
                .collect(),
            truncated: self.truncated || n < n_all,
            ..self.clone()
        }
    }
}
