//! Finds the tests of a symbol, and the commands that run them.

use super::graph::{GraphAnswer, GraphNode, GraphRequest, GraphRow, NO_SOURCES, NameUse};
use super::grep::GrepRequest;
use super::serving::{Engine, View};
use super::{AskError, Call};
use crate::graph::{FoundTest, GraphQuery, Node, Operation, Reason, TestsAnswer};
use crate::languages::is_test_file;
use crate::overview::{self, TestPlace, Tree};
use crate::text::{count, cut};

/// Default of the number of steps.
const DEPTH: usize = 3;
/// Default of the number of results.
const LIMIT: usize = 20;
/// Maximum number of lines of tests that name the target, if no test of it is found.
const MAX_MENTIONS: usize = 10;
/// Maximum number of matching lines that are looked at for these.
const MAX_MATCHES: usize = 5_000;
/// Maximum number of characters of such a line.
const MAX_CHARS: usize = 120;

impl Engine {
    /// Finds the tests that reach a symbol.
    ///
    /// # Errors
    /// When there are no source files, or the graph or the index cannot be read.
    pub(super) fn tests_of(
        &self,
        target: &str,
        request: &GraphRequest,
        call: &Call,
    ) -> Result<GraphAnswer, AskError> {
        let mut state = self.state(call)?;
        let query = GraphQuery {
            operation: Operation::Tests,
            target,
            to: None,
            depth: request.depth.unwrap_or(DEPTH),
            limit: request.limit.unwrap_or(LIMIT),
        };
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
        let (commands, n_left_out) = self.test_commands(&found, call)?;
        if n_left_out > 0 {
            state.warnings.push(format!(
                "no command runs {n_left_out} of these tests: the runner is unknown, or the name is not safe in a shell"
            ));
        }
        let mentions = if found.results.is_empty() && found.candidates.is_empty() {
            self.mentions(&found, call)?
        } else {
            Vec::new()
        };
        let row = |test: &FoundTest| self.test_row(test, &found, request.context);
        Ok(GraphAnswer {
            targets: GraphNode::listed(&found.targets),
            total_targets: found.targets.len(),
            results: found.results.iter().map(row).collect(),
            candidates: found.candidates.iter().map(row).collect(),
            total_unresolved: mentions.len(),
            unresolved: mentions,
            total: found.total,
            truncated: found.truncated,
            commands,
            runs_files: found.total > found.results.len(),
            test_files: Some(found.n_test_files),
            ..GraphAnswer::new(Operation::Tests, state)
        })
    }

    /// Returns the row of a test, with `context` lines around its first use.
    pub(super) fn test_row(
        &self,
        test: &FoundTest,
        answer: &TestsAnswer,
        context: usize,
    ) -> GraphRow {
        let file = test.found.node.file.clone();
        let mut row = self.graph_row(&test.found, file, context);
        row.reason = Some(reason(test, answer));
        row
    }

    /// Returns the commands that run the results (of more results than are listed, their files), and
    /// the number of those that no command runs.
    pub(super) fn test_commands<'f>(
        &self,
        found: &'f TestsAnswer,
        call: &Call,
    ) -> Result<(Vec<String>, usize), AskError> {
        let View { code, .. } = self.view(call)?;
        let mut paths: Vec<&str> =
            code.corpus.chunks().written_in().map(|(path, _)| path).collect();
        paths.sort_unstable();
        let root = self.project.layout.tree();
        let tree = Tree {
            paths: &paths,
            is_source: &|_| true,
            has: &|path| root.has_file(path),
            read: &|path| self.project.read_text(path).ok(),
        };
        let place = |test: &'f FoundTest| TestPlace {
            path: &test.found.node.file,
            symbol: &test.found.node.symbol,
            line: test.found.node.line,
            is_function: test.found.node.is_function(),
            sites: &test.found.sites,
        };
        let whole = |path: &'f String| TestPlace {
            path,
            symbol: path,
            line: 0,
            is_function: false,
            sites: &[],
        };
        // Of tests that are not listed, the files run as a whole.
        let places: Vec<TestPlace> = if found.total > found.results.len() {
            found.files.iter().map(whole).collect()
        } else {
            found.results.iter().map(place).collect()
        };
        let commands = overview::test_commands(&tree, &places);
        Ok((commands.run, commands.n_left_out))
    }

    /// Returns lines of files of tests that have the name of a target as a word.
    fn mentions(&self, found: &TestsAnswer, call: &Call) -> Result<Vec<NameUse>, AskError> {
        let Some(target) = found.targets.first() else { return Ok(Vec::new()) };
        let file_stem = || {
            let name = target.file.rsplit('/').next().unwrap_or(&target.file);
            name.split('.').next().unwrap_or(name)
        };
        let name = if target.line > 0 { &*target.name } else { file_stem() };
        let request = GrepRequest {
            pattern: name.to_string(),
            word: true,
            max_per_file: Some(3),
            limit: MAX_MATCHES,
            ..GrepRequest::default()
        };
        let files = self.grep(&request, call)?.files;
        let lines = files.into_iter().filter(|file| is_test_file(&file.path)).flat_map(|file| {
            file.lines.into_iter().map(move |line| NameUse {
                path: file.path.clone(),
                line: u32::try_from(line.line).unwrap_or(u32::MAX),
                symbol: line.symbol,
                text: cut(line.text.trim(), MAX_CHARS),
            })
        });
        Ok(lines.take(MAX_MENTIONS).collect())
    }
}

/// Says in a few words why a test is in the answer.
pub(super) fn reason(test: &FoundTest, answer: &TestsAnswer) -> String {
    let is_function = answer.targets.iter().any(Node::is_function);
    let it = match &*test.found.via {
        // Of several targets, the answer names the one.
        via if answer.targets.len() > 1 && !via.is_empty() => format!("uses {via}"),
        _ if is_function => "calls it".into(),
        _ => "uses it".into(),
    };
    match &test.reason {
        Reason::Direct if test.found.confidence < 0.5 => format!("may be: {it}"),
        Reason::Direct => it,
        Reason::Through { symbol, steps } => format!("through {symbol} ({steps} steps)"),
        Reason::Fixture(name) => format!("fixture {name}"),
        Reason::SameFile => "tests of its file".into(),
        Reason::Name => "named like it".into(),
        Reason::History { with, commits } => {
            format!("changed with {with} in {}", count(*commits, "commit"))
        }
        Reason::UnknownReceiver => "uses the name, of an unknown type".into(),
    }
}
