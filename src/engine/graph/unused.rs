//! Finds symbols that nothing in the project seems to use.

use crate::chunk::Origin;
use crate::engine::door::filters::{idle_paths, of_paths};
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::query::{
    GraphAnswer, GraphNode, GraphRow, NO_SOURCES, NotListed, TargetRows,
};
use crate::engine::{AskError, Call};
use crate::graph::{Exempt, Neighbour, Operation, UnusedQuery, UnusedSymbol, WhyUnused};
use crate::overview::{self, Tree};

/// Default of the number of results.
const LIMIT: usize = 30;
/// Ends of files that only declare what is elsewhere.
const DECLARATIONS: &[&str] = &[".d.ts", ".d.mts", ".d.cts", ".pyi"];

/// A question about code that nothing seems to use.
#[derive(Debug, Clone)]
pub struct UnusedRequest {
    /// The target is a file, a folder, a glob, or `.` for the whole project. The limit is 30 by default.
    pub of: TargetRows,
    /// Whether to list public symbols of libraries, too.
    pub public: bool,
}

impl Engine {
    /// Finds the symbols of the target that nothing seems to use.
    ///
    /// # Errors
    /// When no indexed file matches, or the graph or the index cannot be read.
    pub fn unused(&self, request: &UnusedRequest, call: &Call) -> Result<GraphAnswer, AskError> {
        let UnusedRequest { of, public } = request;
        let target = of.target.trim().trim_start_matches("./").trim_end_matches('/');
        let is_whole = matches!(target, "" | ".");
        let patterns: Vec<String> = (!is_whole).then(|| target.to_string()).into_iter().collect();
        let wanted = of_paths(Some(&self.project), &patterns)?;
        let View { code, mut state } = self.view(call)?;
        let chunks = code.corpus.chunks();
        let mut files: Vec<&str> =
            chunks.files().filter(|path| self.project.may_read(path)).collect();
        files.sort_unstable();
        files.dedup();
        if !files.iter().any(|path| wanted.is_match(path)) {
            let idle = idle_paths(&[(&*self.project, &**chunks)], &patterns);
            return Err(AskError::NotFound(idle.unwrap_or_else(|| NO_SOURCES.into())));
        }
        let is_written = |path: &str| {
            let mut of_file = chunks.by_file(path);
            let first = of_file.next().and_then(|entry| entry.chunk());
            first.is_none_or(|chunk| chunk.metadata.origin() == Origin::Ordinary)
                && !DECLARATIONS.iter().any(|end| path.ends_with(end))
        };
        let is_asked = |path: &str| wanted.is_match(path) && is_written(path);
        let read = |path: &str| self.project.read_text(path).ok();
        let root = self.project.layout.tree();
        let libraries = overview::libraries(&Tree {
            paths: &files,
            is_source: &|_| true,
            has: &|path| root.has_file(path),
            read: &read,
        });
        let query = UnusedQuery {
            files: &files,
            read: &read,
            is_asked: &is_asked,
            is_library: &|path, language| libraries.has(path, language),
            with_public: *public,
        };
        let (found, has_sources, _) =
            self.ask_graph_in_time(call, |graph, work| graph.unused(query, work))?;
        call.check()?;
        if !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        if found.is_cut {
            state.warnings.push(
                "the search took too long, so nothing is listed: a use may not have been seen"
                    .into(),
            );
        }
        let total = found.results.len();
        let limit = of.limit.unwrap_or(LIMIT);
        let results: Vec<GraphRow> = (found.results.iter().take(limit))
            .map(|symbol| self.unused_row(symbol, of.context))
            .collect();
        let path = if is_whole { "." } else { target };
        let is_file = files.binary_search(&path).is_ok();
        let asked = GraphNode::at(path, 0, path, if is_file { "file" } else { "folder" });
        // Nobody looks for unused code among tests.
        let left_out = found.exempt.iter().filter(|(why, _)| **why != Exempt::Test);
        let not_listed =
            left_out.map(|(why, count)| NotListed { what: what(*why).into(), count: *count });
        Ok(GraphAnswer {
            targets: vec![asked],
            total_targets: 1,
            truncated: found.is_cut || total > results.len(),
            results,
            total,
            not_listed: not_listed.collect(),
            ..GraphAnswer::new(Operation::Unused, state)
        })
    }

    fn unused_row(&self, symbol: &UnusedSymbol, context: usize) -> GraphRow {
        let (confidence, reason) = judged(&symbol.why);
        let found = Neighbour::new(symbol.node.clone(), Vec::new(), confidence, 0);
        let row = self.graph_row(&found, symbol.node.file.clone(), context);
        GraphRow { reason: Some(reason), ..row }
    }
}

/// Says how sure it is that a symbol is unused, and in a few words why.
fn judged(why: &WhyUnused) -> (f32, String) {
    let (confidence, reason) = match why {
        WhyUnused::Nowhere => (0.98, "its name is nowhere else in the project"),
        WhyUnused::OnlyItself => (0.95, "only itself uses it"),
        WhyUnused::OnlyNamesakes => (0.9, "its name is elsewhere only defined, and not used"),
        WhyUnused::OnlyComments => (0.8, "its name is elsewhere only in comments or documents"),
        WhyUnused::OnlyUnused(root) => return (0.8, format!("only unused code uses it ({root})")),
        WhyUnused::OnlyTests => (0.6, "only tests or examples use it"),
    };
    (confidence, reason.into())
}

/// Names a group of symbols that are not listed.
fn what(why: Exempt) -> &'static str {
    match why {
        Exempt::Public => "public symbols of a library",
        Exempt::Test => "symbols of tests and examples",
        Exempt::Entry => "entry points",
        Exempt::Language => "names that the language calls",
        Exempt::Framework => "symbols found by attribute or folder",
        Exempt::Overrides => "overrides of what may be declared elsewhere",
        Exempt::Built => "names that code may build",
    }
}
