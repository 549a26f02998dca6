//! Finds what a change of symbols may affect: their users, and the tests that reach them.

use std::collections::HashSet;
use std::time::Duration;

use super::answer::{GraphAnswer, GraphQuery, LEAST_CONFIDENCE, Neighbour, Node, Operation};
use super::error::GraphError;
use super::rows::{SymbolId, SymbolRow};
use super::tested::TestsAnswer;
use super::traversal::{CALLS, Follow, MAX_TARGETS, Traversal, USES};
use crate::syntax::ReferenceKind;

/// How long users are looked for, in time of processors; tests have the rest of the budget.
const OF_USERS: Duration = Duration::from_secs(8);
/// Most targets whose overridden methods are looked at.
const MAX_OVERRIDING: usize = 8;
/// Most callers whose registrations are looked up.
const MAX_REGISTERED: usize = 100;

/// What changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImpactTarget {
    /// Somebody names a symbol or a file.
    Written(String),
    /// The symbol of this name that a file defines, at this line if it has several.
    Symbol { path: String, name: String, line: u32 },
    /// A file as a whole, by its path.
    File(String),
}

/// A query about a change.
#[derive(Debug, Clone, Copy)]
pub struct ImpactQuery<'a> {
    pub targets: &'a [ImpactTarget],
    /// Largest number of steps to users, and to tests.
    pub depth: usize,
    pub test_depth: usize,
}

/// What a change may affect.
#[derive(Debug, Clone)]
pub struct ImpactAnswer {
    /// The symbols and files of each target, in their order.
    pub targets: Vec<Vec<Node>>,
    /// Users that are neither targets nor in these tests; nearest first, helpers of tests last.
    pub users: Vec<Neighbour>,
    /// Those whose confidence is too low.
    pub candidates: Vec<Neighbour>,
    pub tests: TestsAnswer,
    /// Whether the search stopped early, or targets were left out.
    pub is_cut: bool,
}

/// What uses the target of a query, and the tests that reach it.
#[derive(Debug, Clone)]
pub struct Affected {
    /// Its results are not limited: code outside of tests comes first, nearest first, then the users
    /// in tests. The candidates have the same order.
    pub answer: GraphAnswer,
    /// Candidates that use a method which the target overrides, with the name of that method.
    pub through: Vec<(Node, String)>,
    /// `None` if they were not sought.
    pub tests: Option<TestsAnswer>,
}

impl Traversal {
    /// Answers a query about users, and finds the tests within so many steps; 0 seeks none.
    pub(super) fn affected(
        &mut self,
        query: GraphQuery,
        test_depth: usize,
    ) -> Result<Affected, GraphError> {
        let work = self.resolver.work.clone();
        self.resolver.work = work.clone().at_most(OF_USERS);
        let mut answer = self.answer(GraphQuery { limit: usize::MAX, ..query })?;
        let mut targets = self.resolver.scopes.targets(query.target)?;
        targets.truncate(MAX_TARGETS);
        let through = self.users_through(&targets, query.operation)?;
        if query.operation == Operation::Callers {
            let registrations = self.registrations(&answer.results, query.depth)?;
            answer.total += registrations.len();
            answer.results.extend(registrations);
        }
        self.resolver.work = work;
        let tests = match test_depth {
            0 => None,
            depth => Some(self.tests_of(targets, depth)?),
        };
        self.mark_tests(&mut answer.results)?;
        answer.results.sort_by_key(|one| (one.is_test, one.depth));
        self.mark_tests(&mut answer.candidates)?;
        answer.candidates.sort_by_key(|one| one.is_test);
        Ok(Affected { answer, through, tests })
    }

    /// Marks what belongs to tests.
    fn mark_tests(&mut self, found: &mut [Neighbour]) -> Result<(), GraphError> {
        for one in found {
            one.is_test = self.is_of_tests(&one.node)?;
        }
        Ok(())
    }

    /// Returns what takes callers as values, such as a table of routes, commands or subscribers, where
    /// calls begin. `depth` is the largest number of steps.
    fn registrations(
        &mut self,
        callers: &[Neighbour],
        depth: usize,
    ) -> Result<Vec<Neighbour>, GraphError> {
        let mut known: HashSet<Node> = callers.iter().map(|caller| caller.node.clone()).collect();
        let mut out = Vec::new();
        let is_followed = |caller: &&Neighbour| {
            caller.depth < depth && caller.node.is_function() && !caller.is_value
        };
        for caller in callers.iter().filter(is_followed).take(MAX_REGISTERED) {
            let Some(id) = self.id_of(&caller.node)? else { continue };
            for edge in self.incoming(id, &[ReferenceKind::Value], false)? {
                let confidence = edge.confidence * caller.confidence;
                if confidence < LEAST_CONFIDENCE || edge.to == id {
                    continue;
                }
                let node = self.resolver.scopes.node(edge.to)?;
                if known.insert(node.clone()) {
                    out.push(Neighbour {
                        via: caller.node.symbol.clone(),
                        is_value: true,
                        ..Neighbour::new(node, edge.lines, confidence, caller.depth + 1)
                    });
                }
            }
        }
        Ok(out)
    }

    /// Returns what uses a method that a target overrides, with the name of that method.
    fn users_through(
        &mut self,
        targets: &[SymbolId],
        operation: Operation,
    ) -> Result<Vec<(Node, String)>, GraphError> {
        let kinds = if operation == Operation::Callers { CALLS } else { USES };
        let mut out = Vec::new();
        for target in targets.iter().take(MAX_OVERRIDING) {
            let symbol = self.resolver.scopes.symbol(*target)?;
            let Some(symbol) = symbol.filter(|symbol| symbol.kind.is_callable()) else { continue };
            for above in self.overridden_above(&symbol)? {
                let method = self.resolver.scopes.node(above)?.symbol;
                for edge in self.incoming(above, kinds, false)? {
                    if edge.confidence >= LEAST_CONFIDENCE {
                        out.push((self.resolver.scopes.node(edge.to)?, method.clone()));
                    }
                }
            }
        }
        Ok(out)
    }

    pub(super) fn impact(&mut self, query: ImpactQuery) -> Result<ImpactAnswer, GraphError> {
        let mut targets = Vec::new();
        let mut all: Vec<SymbolId> = Vec::new();
        for target in query.targets {
            let found = self.changed(target)?;
            all.extend(&found);
            let nodes = found.into_iter().map(|id| self.resolver.scopes.node(id));
            targets.push(nodes.collect::<Result<Vec<_>, _>>()?);
        }
        let mut seen = HashSet::new();
        all.retain(|id| seen.insert(*id));
        let too_many = all.len() > MAX_TARGETS;
        all.truncate(MAX_TARGETS);
        // The budget is one: direct users come first, and neither further users nor tests have all of it.
        let work = self.resolver.work.clone();
        self.resolver.work = work.clone().at_most(OF_USERS);
        let (users, candidates) = self.walk(&all, Follow::Touched, query.depth)?;
        self.resolver.work = work;
        let tests = self.tests_of(all.clone(), query.test_depth)?;
        let with_found_tests: HashSet<&str> = tests.files.iter().map(|path| &**path).collect();
        let changed: HashSet<&Node> = targets.iter().flatten().collect();
        let mut without_tests = |found: Vec<Neighbour>| -> Result<Vec<Neighbour>, GraphError> {
            let mut kept = Vec::new();
            for mut user in found {
                user.is_test = self.is_of_tests(&user.node)?;
                // A helper is replaced by the tests that use it, if there are any.
                let is_listed = (user.is_test && with_found_tests.contains(&*user.node.file))
                    || self.is_test(&user.node)?;
                if !is_listed && !changed.contains(&user.node) {
                    kept.push(user);
                }
            }
            kept.sort_by_key(|user| user.is_test);
            Ok(kept)
        };
        let (users, candidates) = (without_tests(users)?, without_tests(candidates)?);
        let is_cut = too_many || self.resolver.work.is_spent();
        Ok(ImpactAnswer { targets, users, candidates, tests, is_cut })
    }

    fn changed(&mut self, target: &ImpactTarget) -> Result<Vec<SymbolId>, GraphError> {
        match target {
            ImpactTarget::Written(written) => self.resolver.scopes.targets(written),
            ImpactTarget::File(path) => {
                let file = self.resolver.scopes.file_at(path);
                Ok(file.map(|file| SymbolId { file, n: -1 }).into_iter().collect())
            }
            ImpactTarget::Symbol { path, name, line } => {
                let Some(file) = self.resolver.scopes.file_at(path) else { return Ok(Vec::new()) };
                let scope = self.resolver.scopes.scope_of(file)?;
                let named = |s: &&SymbolRow| s.name == *name;
                // The graph may be of a moment before or after.
                let nearest =
                    scope.symbols.iter().filter(named).min_by_key(|s| s.line.abs_diff(*line));
                Ok(nearest.map(|s| s.id).into_iter().collect())
            }
        }
    }
}
