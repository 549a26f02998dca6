//! Finds the tests of a symbol, and the commands that run them.

use crate::engine::door::serving::Engine;
use crate::engine::graph::affected::{TEST_DEPTH, TestPlan, reason};
use crate::engine::graph::query::{
    GraphAnswer, GraphNode, GraphRow, NO_SOURCES, NameUse, TargetRows, steps,
};
use crate::engine::read::grep::GrepRequest;
use crate::engine::{AskError, Call};
use crate::graph::{FoundTest, GraphQuery, Operation, TestsAnswer};
use crate::languages::is_test_file;
use crate::text::{count, file_stem};

/// Default of the number of results.
const LIMIT: usize = 20;
/// Maximum number of lines of tests that name the target, if no test of it is found.
const MAX_MENTIONS: usize = 10;
/// Maximum number of matching lines that are looked at for these.
const MAX_MATCHES: usize = 5_000;

/// A question about the tests that reach a symbol.
#[derive(Debug, Clone)]
pub struct TestsRequest {
    /// The limit is 20 by default.
    pub of: TargetRows,
    /// Maximum number of steps. Default: 3.
    pub depth: Option<usize>,
}

impl Engine {
    /// Finds the tests that reach a symbol.
    ///
    /// # Errors
    /// When the request is not valid, there are no source files, or the graph or the index cannot be
    /// read.
    pub fn tests_of(&self, request: &TestsRequest, call: &Call) -> Result<GraphAnswer, AskError> {
        let of = &request.of;
        let depth = steps(request.depth, TEST_DEPTH)?;
        let target = &*self.graph_target(&of.target, call);
        let mut state = self.state(call)?;
        let query =
            GraphQuery { operation: Operation::Tests, target, to: None, depth, limit: usize::MAX };
        let (mut found, has_sources) =
            self.ask_graph(call, |graph| graph.tests(query, &call.work()))?;
        call.check()?;
        self.project.drop_gone(&mut found.targets);
        if found.targets.is_empty() && !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        if found.is_cut {
            state.warnings.push(format!(
                "the search of the code graph was cut after {}: there may be more",
                count(found.total, "test")
            ));
        }
        let TestPlan { tests, commands, warnings } =
            self.test_plan(&found, std::iter::empty(), call)?;
        state.warnings.extend(warnings);
        found.limit(of.limit.unwrap_or(LIMIT));
        let mentions = if found.results.is_empty() && found.candidates.is_empty() {
            self.mentions(&found, call)?
        } else {
            Vec::new()
        };
        let row = |test: &FoundTest| self.test_row(test, &found, of.context);
        Ok(GraphAnswer {
            targets: GraphNode::listed(&found.targets),
            total_targets: found.targets.len(),
            results: found.results.iter().map(row).collect(),
            candidates: found.candidates.iter().map(row).collect(),
            total_unresolved: mentions.len(),
            unresolved: mentions,
            total: found.total,
            truncated: found.truncated,
            tests,
            commands,
            test_files: Some(found.n_test_files),
            ..GraphAnswer::new(Operation::Tests, state)
        })
    }

    /// Returns the row of a test, with `context` lines around its first use.
    pub(in crate::engine) fn test_row(
        &self,
        test: &FoundTest,
        answer: &TestsAnswer,
        context: usize,
    ) -> GraphRow {
        let file = test.neighbour.node.file.clone();
        let mut row = self.graph_row(&test.neighbour, file, context);
        row.reason = Some(reason(test, answer));
        row.test = true;
        row
    }

    /// Returns lines of files of tests that have the name of a target as a word.
    fn mentions(&self, found: &TestsAnswer, call: &Call) -> Result<Vec<NameUse>, AskError> {
        let Some(target) = found.targets.first() else { return Ok(Vec::new()) };
        let name = if target.line > 0 { &*target.name } else { file_stem(&target.file) };
        let request = GrepRequest {
            pattern: name.to_string(),
            word: true,
            max_per_file: Some(3),
            limit: MAX_MATCHES,
            ..GrepRequest::default()
        };
        let files = self.grep(&request, call)?.found.files;
        let of_tests = files.into_iter().filter(|file| is_test_file(&file.path));
        Ok(of_tests.flat_map(NameUse::in_file).take(MAX_MENTIONS).collect())
    }
}
