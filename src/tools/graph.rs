//! `cortex_graph`: who calls whom, and who depends on what.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens, fit};
use super::{Asked, Group, Question, Reply, State, ToolError, Wait, count, printable};
use crate::graph::{self, CodeGraph, GraphError, Neighbour, Operation};
use crate::source::read_text;
use crate::store::{Layout, SourceTable};

/// Lines shown around a use.
const AROUND: usize = 1;
/// Uses of one result that are listed.
const MAX_SITES: usize = 10;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// path: how `target` leads to `to`; impact: what a change of it may touch.
    #[schemars(extend("enum" = operations()))]
    operation: String,
    /// A name, `Type::method`, `file.rs:line`, a chunk by its id, or a file.
    target: String,
    /// path: where it leads.
    to: Option<String>,
    /// Steps that are followed.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10))]
    depth: usize,
    /// Show the lines of the first use of each.
    #[serde(default)]
    include_context: bool,
    /// Most results.
    #[serde(default = "thirty")]
    #[schemars(range(min = 1, max = 500))]
    max_results: usize,
    /// Most tokens of the reply, text and JSON together.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
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

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct GraphReply {
    /// What the target was taken for.
    targets: Vec<Definition>,
    /// Nearest first; of a path in its order.
    results: Vec<Row>,
    /// What may belong to the results, but is not sure enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    candidates: Vec<Row>,
    /// Results there are.
    total: usize,
    /// Results were left out.
    truncated: bool,
    #[serde(flatten)]
    state: State,
}

/// A definition, or a file.
#[derive(Clone, Serialize, JsonSchema)]
struct Definition {
    /// Relative to the root.
    path: String,
    /// Of the definition; 0 for a file.
    line: u32,
    /// The name with those around it.
    symbol: String,
    /// function, struct, file …
    kind: String,
}

/// A definition on the other side of a use.
#[derive(Clone, Serialize, JsonSchema)]
struct Row {
    #[serde(flatten)]
    definition: Definition,
    /// Lines of the uses, in the file of whoever uses.
    sites: Vec<u32>,
    /// 0 to 1.
    confidence: f64,
    /// Steps from the target.
    depth: usize,
    /// What it is a step from, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Lines around the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

/// Why there is nothing to ask the code graph.
pub const NO_SOURCES: &str =
    "the code graph is made from source files, and none are known here: chunk files alone do not say who calls whom";

/// The code graph of a project, up to date with these source files; without them it stays as it is.
///
/// # Errors
/// When the graph cannot be written.
pub fn code_graph(layout: &Layout, sources: Option<SourceTable>) -> Result<CodeGraph, GraphError> {
    let unwritable = |source| GraphError::Unwritable { path: layout.code_graph(), source };
    let graph = CodeGraph::open(&layout.prepare_code_graph().map_err(unwritable)?)?;
    if let Some(table) = sources {
        let files = table
            .files
            .into_iter()
            .filter(|(_, entry)| entry.skipped.is_none() && !entry.deleted)
            .map(|(path, entry)| (path, entry.sha256));
        graph.update(files, |path| read_text(layout.root(), path).ok())?;
    }
    Ok(graph)
}

impl From<GraphError> for ToolError {
    fn from(e: GraphError) -> Self {
        Self::Failed(e.to_string())
    }
}

impl Question for Args {
    const NAME: &'static str = "cortex_graph";
    const TITLE: &'static str = "Ask who calls and uses what";
    const DESCRIPTION: &'static str = "Ask the code graph: who calls a function, what it calls, what depends on a file, where a type is used, what implements it, how one \
leads to another, what a change may touch. Told apart by scopes, imports and types in the text. Use it before changing a signature or deleting code.";
    const GROUP: Group = Group::Graph;
    type Reply = GraphReply;

    fn answer(self, asked: Asked) -> Result<GraphReply, ToolError> {
        // The schema has the names.
        let unknown = || ToolError::Arguments(format!("there is no operation `{}`", self.operation));
        let operation = Operation::parse(&self.operation).ok_or_else(unknown)?;
        if (operation == Operation::Path) != self.to.is_some() {
            return Err(ToolError::Arguments("a path leads from target to `to`; the other operations have no `to`".into()));
        }
        let taken = asked.take(&self.wait)?;
        let layout = &asked.context.layout;
        let sources = match &asked.context.indexing {
            // Nobody else looks at them.
            Some(indexing) if layout.is_foreign() => Some(indexing.look_at_sources()),
            _ => SourceTable::read(layout),
        };
        let has_sources = sources.as_ref().is_some_and(|table| !table.files.is_empty());
        let graph = code_graph(layout, sources)?;
        asked.call.check()?;
        let (target, to) = (&*self.target, self.to.as_deref());
        let answer = graph.answer(graph::GraphQuery { operation, target, to, depth: self.depth, limit: self.max_results })?;
        if answer.targets.is_empty() && !has_sources {
            return Err(ToolError::NotFound(NO_SOURCES.into()));
        }
        if answer.targets.is_empty() {
            return Err(ToolError::NotFound(format!(
                "there is no symbol or file `{}`: give a name, Type::method, file:line or a file; cortex_outline lists them",
                printable(target)
            )));
        }
        let root = asked.context.layout.root();
        let row = |found: &Neighbour| Row {
            definition: Definition::new(&found.node),
            sites: found.sites.iter().take(MAX_SITES).copied().collect(),
            confidence: (f64::from(found.confidence) * 100.0).round() / 100.0,
            depth: found.depth,
            via: (found.depth > 1).then(|| found.via.clone()),
            context: self.include_context.then(|| around(root, answer.file_of_uses(found), found)).flatten(),
        };
        let rows: Vec<Row> = answer.results.iter().map(row).collect();
        let candidates: Vec<Row> = answer.candidates.iter().map(row).collect();
        let state = State::new(taken.index.clone(), taken.warnings.clone());
        Ok(fit(self.max_tokens, rows.len() + candidates.len(), |n| GraphReply {
            targets: answer.targets.iter().map(Definition::new).collect(),
            results: rows.iter().take(n).cloned().collect(),
            candidates: candidates.iter().take(n.saturating_sub(rows.len())).cloned().collect(),
            total: answer.total,
            truncated: answer.truncated || n < rows.len() + candidates.len(),
            state: state.clone(),
        }))
    }
}

/// The lines around the first use.
fn around(root: &Path, file: &str, found: &Neighbour) -> Option<String> {
    let at = found.sites.first().copied().filter(|line| *line > 0)? as usize;
    let text = read_text(root, file).ok()?;
    let first = at.saturating_sub(AROUND).max(1);
    Some(text.lines().skip(first - 1).take(at + AROUND + 1 - first).collect::<Vec<_>>().join("\n"))
}

impl Definition {
    fn new(node: &graph::Node) -> Self {
        Self { path: node.file.clone(), line: node.line, symbol: node.symbol.clone(), kind: node.kind.clone() }
    }

    fn place(&self) -> String {
        let line = if self.line > 0 { format!(":{}", self.line) } else { String::new() };
        printable(&format!("{}{line} {} {}", self.path, self.kind, self.symbol))
    }
}

impl Row {
    fn lines(&self) -> Vec<String> {
        let sites: Vec<String> = self.sites.iter().map(u32::to_string).collect();
        let uses = if sites.is_empty() { String::new() } else { format!(", uses at {}", sites.join(", ")) };
        let via = self.via.as_ref().map(|via| format!(", {} steps, via {}", self.depth, printable(via))).unwrap_or_default();
        let head = format!("{}{uses}{via}, {:.2}", self.definition.place(), self.confidence);
        let context = self.context.iter().flat_map(|text| text.lines()).map(|line| format!("  {}", printable(&line.replace('\t', "    "))));
        std::iter::once(head).chain(context).collect()
    }
}

impl Reply for GraphReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.targets.iter().map(|target| format!("of {}", target.place())).collect();
        let cut = if self.truncated { format!(", {} shown", self.results.len()) } else { String::new() };
        lines.push(format!("{}{cut}", count(self.total, "result")));
        lines.extend(self.results.iter().flat_map(Row::lines));
        if !self.candidates.is_empty() {
            lines.push("may be, too:".into());
            lines.extend(self.candidates.iter().flat_map(Row::lines));
        }
        lines
    }
}
