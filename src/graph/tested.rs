//! Finds the tests that reach a symbol: by uses, by fixtures, and by the names of tests and files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::answer::{GraphQuery, LEAST_CONFIDENCE, MAX_DEPTH, Neighbour, Node};
use super::error::GraphError;
use super::rows::{FileId, SymbolId, SymbolRow};
use super::traversal::{Edge, Follow, MAX_DRAWN, MAX_TARGETS, Traversal, USES, add};
use crate::languages::{
    TestRole, has_test_blocks, is_named_after, is_test_file, is_test_named_after, nearness,
};
use crate::syntax::SymbolKind;

/// Confidence that a test which names a fixture gets this one.
const BY_FIXTURE: f32 = 0.95;
/// Confidence of what only has the name of the target.
const BY_NAME: f32 = 0.5;
/// Largest number of symbols of a file or a type that one query follows.
const MAX_PARTS: usize = 200;
/// Largest number of candidates that are listed.
const MAX_CANDIDATES: usize = 10;
/// Largest number of tests, and of files of tests, that are listed for their names alone.
const MAX_NAMED: usize = 5;
/// Largest number of callers that are looked at for those that no test reaches.
const MAX_CALLERS: usize = 200;

/// Why a test is in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The test uses the target itself.
    Direct,
    /// The test uses this symbol, from which so many steps lead to the target.
    Through { symbol: String, steps: usize },
    /// The test receives the value of this function.
    Fixture(String),
    /// Its name is that of the target or of its file.
    Name,
    /// The tests are in the file of the target.
    SameFile,
    /// The test uses something of the target's name, whose type is unknown.
    UnknownReceiver,
    /// So many commits changed it together with this file.
    History { with: String, commits: usize },
}

/// A test, or a file of tests.
#[derive(Debug, Clone)]
pub struct FoundTest {
    pub neighbour: Neighbour,
    pub reason: Reason,
}

impl FoundTest {
    /// A test that no step leads to.
    fn without_step(node: Node, reason: Reason) -> Self {
        let neighbour = Neighbour::new(node, Vec::new(), BY_NAME, 0);
        Self { neighbour: Neighbour { is_test: true, ..neighbour }, reason }
    }
}

/// The tests that reach the target of a query.
#[derive(Debug, Clone)]
pub struct TestsAnswer {
    pub targets: Vec<Node>,
    /// Nearest first, those that are found only by their names last.
    pub results: Vec<FoundTest>,
    /// Tests that may reach it, likeliest first.
    pub candidates: Vec<FoundTest>,
    /// Functions outside of tests that lead to the targets and that no test reaches, nearest first.
    /// The farthest ones are not among them, because the query does not follow them.
    pub untested: Vec<Node>,
    /// Largest number of steps that were followed.
    pub depth: usize,
    /// Number of results before the limit.
    pub total: usize,
    /// The files of all results, also of those beyond the limit.
    pub files: Vec<String>,
    /// Number of files of tests in the project.
    pub n_test_files: usize,
    pub truncated: bool,
    /// Whether the search stopped early.
    pub is_cut: bool,
}

impl TestsAnswer {
    /// Keeps at most `limit` results, the first ones of as many files as possible, and as many
    /// candidates as there is room for beside them.
    pub fn limit(&mut self, limit: usize) {
        self.truncated |= self.results.len() > limit;
        spread(&mut self.results, limit);
        self.candidates.truncate(limit.saturating_sub(self.results.len()));
    }

    /// Adds a file of tests that is found by commits.
    pub fn add_by_history(&mut self, path: &str, with: &str, commits: usize) {
        let reason = Reason::History { with: with.to_string(), commits };
        self.results.push(FoundTest::without_step(Node::of_file(path), reason));
        self.files.push(path.to_string());
        self.total += 1;
    }
}

impl Traversal {
    /// Finds the tests that reach the target of a query.
    pub(super) fn tests(&mut self, query: GraphQuery) -> Result<TestsAnswer, GraphError> {
        let targets = self.resolver.scopes.targets(query.target)?;
        let mut answer = self.tests_of(targets, query.depth)?;
        answer.limit(query.limit);
        Ok(answer)
    }

    /// Finds all tests that reach any of the targets.
    pub(super) fn tests_of(
        &mut self,
        mut targets: Vec<SymbolId>,
        depth: usize,
    ) -> Result<TestsAnswer, GraphError> {
        let too_many = targets.len() > MAX_TARGETS;
        targets.truncate(MAX_TARGETS);
        let nodes: Vec<Node> = targets
            .iter()
            .map(|target| self.resolver.scopes.node(*target))
            .collect::<Result<_, _>>()?;
        let parts = self.parts(&targets)?;
        let depth = depth.clamp(1, MAX_DEPTH);
        // Those that another walk noted: three questions about one symbol must have one answer.
        self.unresolved_uses()?;
        let drawn = self.steps.replace(BTreeMap::new());
        let (reached, unsure) = self.walk(&parts, Follow::Tested, depth)?;
        let steps = std::mem::replace(&mut self.steps, drawn).unwrap_or_default();
        let is_target: HashSet<SymbolId> = targets.iter().copied().collect();
        let mut untested = self.untested(&reached, &steps, depth)?;
        untested.retain(|node| !nodes.contains(node));
        let mut results = self.only_tests(reached, &is_target)?;
        let known: HashSet<Node> = results.iter().map(|test| test.neighbour.node.clone()).collect();
        let mut candidates = self.only_tests(unsure, &is_target)?;
        let is_common = is_common(self, &parts)?;
        for neighbour in self.unresolved_uses()? {
            if !is_common && self.is_test(&neighbour.node)? {
                candidates.push(FoundTest { neighbour, reason: Reason::UnknownReceiver });
            }
        }
        results.extend(self.named_like(&targets, &results)?);
        let mut listed = known;
        listed.extend(results.iter().map(|test| test.neighbour.node.clone()));
        candidates.retain(|test| listed.insert(test.neighbour.node.clone()));
        let is_near = |test: &FoundTest| {
            nodes.iter().any(|node| is_named_after(&test.neighbour.node.file, &node.file))
        };
        results.sort_by_cached_key(|test| {
            let node = &test.neighbour.node;
            let steps = if test.neighbour.depth == 0 { usize::MAX } else { test.neighbour.depth };
            (steps, !is_near(test), node.file.clone(), node.line)
        });
        candidates.sort_by(|a, b| {
            let place =
                |test: &FoundTest| (test.neighbour.node.file.clone(), test.neighbour.node.line);
            let likely = b.neighbour.confidence.total_cmp(&a.neighbour.confidence);
            is_near(b).cmp(&is_near(a)).then(likely).then_with(|| place(a).cmp(&place(b)))
        });
        let total = results.len();
        let mut files: Vec<String> =
            results.iter().map(|test| test.neighbour.node.file.clone()).collect();
        files.sort_unstable();
        files.dedup();
        let is_cut = self.resolver.work.is_spent();
        candidates.truncate(MAX_CANDIDATES);
        Ok(TestsAnswer {
            targets: nodes,
            truncated: is_cut || too_many,
            results,
            candidates,
            untested,
            depth,
            total,
            files,
            n_test_files: self.test_files().count(),
            is_cut,
        })
    }

    /// Returns the functions outside of tests that the walk followed and from which no step leads to a
    /// test. `steps` are those of the walk.
    fn untested(
        &mut self,
        reached: &[Neighbour],
        steps: &BTreeMap<SymbolId, BTreeMap<SymbolId, Edge>>,
        depth: usize,
    ) -> Result<Vec<Node>, GraphError> {
        // Some steps are not noted then.
        if steps.len() >= MAX_DRAWN || self.resolver.work.is_spent() {
            return Ok(Vec::new());
        }
        let mut tested: HashSet<SymbolId> = HashSet::new();
        for to in steps.values().flat_map(BTreeMap::keys) {
            if self.is_run(*to)? {
                tested.insert(*to);
            }
        }
        loop {
            let n_before = tested.len();
            for (from, edges) in steps {
                let is_led =
                    |edge: &Edge| edge.confidence >= LEAST_CONFIDENCE && tested.contains(&edge.to);
                if edges.values().any(is_led) {
                    tested.insert(*from);
                }
            }
            if tested.len() == n_before {
                break;
            }
        }
        let mut out = Vec::new();
        let followed =
            |neighbour: &&Neighbour| neighbour.depth < depth && neighbour.node.is_function();
        for neighbour in reached.iter().filter(followed).take(MAX_CALLERS) {
            let is_tested = self.id_of(&neighbour.node)?.is_none_or(|id| tested.contains(&id));
            if !is_tested && !self.is_of_tests(&neighbour.node)? {
                out.push(neighbour.node.clone());
            }
        }
        Ok(out)
    }

    /// Whether a node belongs to tests: it is in a file of tests, is a test, or is in a module that has
    /// tests, as in Rust.
    pub(super) fn is_of_tests(&mut self, node: &Node) -> Result<bool, GraphError> {
        if is_test_file(&node.file) {
            return Ok(true);
        }
        let Some(id) = self.id_of(node)? else { return Ok(false) };
        let scope = self.resolver.scopes.scope_of(id.file)?;
        let has_tests = |outer: &SymbolRow| {
            let is_inside = |s: &SymbolRow| s.parent == outer.id.n && s.role == TestRole::Test;
            outer.kind == SymbolKind::Module && scope.symbols.iter().any(is_inside)
        };
        Ok(scope.around(id).any(|s| s.role == TestRole::Test || has_tests(s)))
    }

    fn test_files(&self) -> impl Iterator<Item = FileId> {
        let files = self.resolver.scopes.files.iter();
        files.filter(|file| is_test_file(&file.row.path)).map(|file| file.row.id)
    }

    /// Returns the targets with the members of types and the symbols of files.
    fn parts(&mut self, targets: &[SymbolId]) -> Result<Vec<SymbolId>, GraphError> {
        let mut parts = Vec::new();
        for target in targets {
            parts.push(*target);
            let scope = self.resolver.scopes.scope_of(target.file)?;
            let whole = scope.around(*target).next();
            if whole.is_some_and(|symbol| !symbol.is_type()) {
                continue;
            }
            let is_part = |s: &&SymbolRow| match whole {
                Some(of) => s.kind.is_callable() && s.owner == of.name,
                None => s.is_of_file(),
            };
            let inner = scope.symbols.iter().filter(|s| s.role == TestRole::Other);
            parts.extend(inner.filter(is_part).map(|s| s.id).take(MAX_PARTS));
        }
        parts.sort_unstable();
        parts.dedup();
        Ok(parts)
    }

    /// Returns the steps from a symbol towards the tests that reach it. They end at tests, and at
    /// code outside of all symbols: everything that imports such a file is not nearer to the target.
    pub(super) fn towards_tests(
        &mut self,
        from: SymbolId,
        is_target: bool,
    ) -> Result<Vec<Edge>, GraphError> {
        let symbol = self.resolver.scopes.symbol(from)?;
        let role = symbol.as_ref().map_or(TestRole::Other, |symbol| symbol.role);
        if !is_target && (from.n < 0 || role == TestRole::Test) {
            return Ok(Vec::new());
        }
        let mut edges = if from.n < 0 {
            self.users_of_file(from.file, USES)?
        } else {
            self.incoming(from, USES, is_target)?
        };
        match (role, &symbol) {
            (TestRole::Fixture, Some(fixture)) => edges.extend(self.tests_with_fixture(fixture)?),
            (TestRole::Setup, Some(setup)) => edges.extend(self.tests_beside(setup)?),
            _ => {}
        }
        let mut counted = BTreeMap::new();
        for edge in edges {
            let to = self.counted_for(edge.to)?;
            if to != from {
                add(&mut counted, to, &edge.lines, edge.confidence);
            }
        }
        Ok(counted.into_values().collect())
    }

    /// Returns the symbol that a use counts for: the test around it, else the function around it,
    /// else the file if its tests are blocks.
    fn counted_for(&mut self, user: SymbolId) -> Result<SymbolId, GraphError> {
        let scope = self.resolver.scopes.scope_of(user.file)?;
        let test = scope.around(user).find(|s| s.role == TestRole::Test);
        let function = || scope.around(user).find(|s| s.kind.is_callable());
        if let Some(symbol) = test.or_else(function) {
            return Ok(symbol.id);
        }
        let has_blocks = self.resolver.scopes.file(user.file).is_some_and(|file| {
            has_test_blocks(&file.row.language) && is_test_file(&file.row.path)
        });
        Ok(if has_blocks { SymbolId { n: -1, ..user } } else { user })
    }

    /// Returns the tests and fixtures that name a fixture as a parameter, in its file or, for a
    /// fixture of a `conftest.py`, below its directory.
    fn tests_with_fixture(&mut self, fixture: &SymbolRow) -> Result<Vec<Edge>, GraphError> {
        let Some(file) = self.resolver.scopes.file(fixture.id.file) else { return Ok(Vec::new()) };
        let (path, language) = (file.row.path.clone(), file.row.language.clone());
        let below = path.strip_suffix("conftest.py").map(str::to_string);
        let mut edges = Vec::new();
        for symbol in self.resolver.scopes.tables.symbols_of_tests()? {
            let Some(file) = self.resolver.scopes.file(symbol.id.file) else { continue };
            let sees = symbol.id.file == fixture.id.file
                || below
                    .as_ref()
                    .map_or(language == "rust", |below| file.row.path.starts_with(&**below));
            if sees
                && file.row.language == language
                && symbol.id != fixture.id
                && has_parameter(&symbol.signature, &fixture.name)
            {
                edges.push(Edge {
                    to: symbol.id,
                    lines: vec![symbol.line],
                    confidence: BY_FIXTURE,
                });
            }
        }
        Ok(edges)
    }

    /// Returns the tests of the same type as a function that runs before them.
    fn tests_beside(&mut self, setup: &SymbolRow) -> Result<Vec<Edge>, GraphError> {
        let scope = self.resolver.scopes.scope_of(setup.id.file)?;
        let beside = scope.symbols.iter().filter(|s| {
            s.role == TestRole::Test && s.parent == setup.parent && s.owner == setup.owner
        });
        let edge = |s: &SymbolRow| Edge { to: s.id, lines: vec![s.line], confidence: BY_FIXTURE };
        Ok(beside.map(edge).collect())
    }

    /// Keeps what a runner runs: tests, and files of tests where the use is outside of all tests.
    fn only_tests(
        &mut self,
        reached: Vec<Neighbour>,
        targets: &HashSet<SymbolId>,
    ) -> Result<Vec<FoundTest>, GraphError> {
        let mut fixtures: HashMap<String, String> = HashMap::new();
        for symbol in self.resolver.scopes.tables.symbols_of_tests()? {
            if symbol.role == TestRole::Fixture {
                fixtures.insert(self.resolver.scopes.node(symbol.id)?.symbol, symbol.name);
            }
        }
        let mut out = Vec::new();
        for neighbour in reached {
            if !self.is_test(&neighbour.node)? {
                continue;
            }
            let id = self.id_of(&neighbour.node)?;
            if id.is_some_and(|id| targets.contains(&id)) {
                continue;
            }
            let reason = match (neighbour.depth, fixtures.get(&neighbour.via)) {
                (_, Some(fixture)) => Reason::Fixture(fixture.clone()),
                (1, None) => Reason::Direct,
                (steps, None) => Reason::Through { symbol: neighbour.via.clone(), steps },
            };
            out.push(FoundTest { neighbour, reason });
        }
        // A test says more than the file or the class around it.
        let with_functions: HashSet<String> = out
            .iter()
            .filter(|test| test.neighbour.node.is_function())
            .map(|test| test.neighbour.node.file.clone())
            .collect();
        out.retain(|test| {
            test.neighbour.node.is_function() || !with_functions.contains(&test.neighbour.node.file)
        });
        Ok(out)
    }

    /// Whether a node is a test, or a file or a class of tests.
    pub(super) fn is_test(&mut self, node: &Node) -> Result<bool, GraphError> {
        let Some(id) = self.id_of(node)? else { return Ok(false) };
        self.is_run(id)
    }

    /// Whether a runner runs a symbol: a test, or a file or a class of tests.
    fn is_run(&mut self, id: SymbolId) -> Result<bool, GraphError> {
        let with_tests = self.files_with_tests()?;
        Ok(match self.resolver.scopes.symbol(id)? {
            Some(symbol) if symbol.kind.is_callable() => symbol.role == TestRole::Test,
            _ => self.may_hold_tests(id.file, &with_tests),
        })
    }

    /// Returns the files in which a symbol is a test.
    fn files_with_tests(&mut self) -> Result<Arc<HashSet<FileId>>, GraphError> {
        if let Some(files) = &self.with_tests {
            return Ok(files.clone());
        }
        let all = self.resolver.scopes.tables.symbols_of_tests()?;
        let tests = all.iter().filter(|symbol| symbol.role == TestRole::Test);
        let files: Arc<HashSet<FileId>> = Arc::new(tests.map(|symbol| symbol.id.file).collect());
        self.with_tests = Some(files.clone());
        Ok(files)
    }

    /// Whether a file of tests holds any: as symbols or, in some languages, as blocks.
    fn may_hold_tests(&self, file: FileId, with_tests: &HashSet<FileId>) -> bool {
        let row = self.resolver.scopes.file(file).map(|file| &file.row);
        row.is_some_and(|row| {
            is_test_file(&row.path)
                && (has_test_blocks(&row.language) || with_tests.contains(&file))
        })
    }

    pub(super) fn id_of(&mut self, node: &Node) -> Result<Option<SymbolId>, GraphError> {
        let Some(file) = self.resolver.scopes.file_at(&node.file) else { return Ok(None) };
        if node.line == 0 {
            return Ok(Some(SymbolId { file, n: -1 }));
        }
        let scope = self.resolver.scopes.scope_of(file)?;
        let is_it = |s: &&SymbolRow| s.line == node.line && s.name == node.name;
        Ok(scope.symbols.iter().find(is_it).map(|s| s.id))
    }

    /// Returns tests and files of tests that are named after the targets or their files, and that no
    /// step found. A file counts only if none of its tests was found.
    fn named_like(
        &mut self,
        targets: &[SymbolId],
        known: &[FoundTest],
    ) -> Result<Vec<FoundTest>, GraphError> {
        let mut candidates: Vec<SymbolId> = Vec::new();
        let known_files: HashSet<&str> = known.iter().map(|t| &*t.neighbour.node.file).collect();
        let known_nodes: HashSet<&Node> = known.iter().map(|t| &t.neighbour.node).collect();
        let all = self.resolver.scopes.tables.symbols_of_tests()?;
        let is_test: HashSet<SymbolId> =
            all.iter().filter(|s| s.role == TestRole::Test).map(|s| s.id).collect();
        let with_tests = self.files_with_tests()?;
        for target in targets {
            let Some(file) = self.resolver.scopes.file(target.file) else { continue };
            let (path, names) = (file.row.path.clone(), file.names);
            if let Some(symbol) = self.resolver.scopes.symbol(*target)?
                && !names.is_common_method(&symbol.name)
            {
                let is_named = |s: &&SymbolRow| {
                    is_test.contains(&s.id) && is_test_named_after(&s.name, &symbol.name)
                };
                let mut named: Vec<(usize, SymbolId)> = Vec::new();
                for test in all.iter().filter(is_named) {
                    let Some(file) = self.resolver.scopes.file(test.id.file) else { continue };
                    // One word alone may name anything.
                    let is_clear = has_words(&symbol.name) || is_named_after(&file.row.path, &path);
                    if file.names.family == names.family && is_clear {
                        named.push((usize::MAX - nearness(&file.row.path, &path), test.id));
                    }
                }
                named.sort_unstable();
                candidates.extend(named.into_iter().map(|(_, id)| id).take(MAX_NAMED));
            }
            let files = self.resolver.scopes.files.iter();
            let named = files.filter(|file| {
                is_named_after(&file.row.path, &path)
                    && self.may_hold_tests(file.row.id, &with_tests)
            });
            let named: Vec<(usize, FileId)> =
                named.map(|file| (nearness(&file.row.path, &path), file.row.id)).collect();
            let most = named.iter().map(|(near, _)| *near).max();
            let nearest = named.into_iter().filter(|(near, _)| Some(*near) == most);
            candidates.extend(nearest.map(|(_, file)| SymbolId { file, n: -1 }).take(MAX_NAMED));
            // Tests in the same file, as in Rust.
            let own = all.iter().find(|s| s.id.file == target.file && is_test.contains(&s.id));
            candidates.extend(own.map(|s| SymbolId { n: s.parent, ..s.id }));
        }
        let mut out: Vec<FoundTest> = Vec::new();
        candidates.sort_unstable();
        candidates.dedup();
        let listed: HashSet<FileId> =
            candidates.iter().filter(|id| is_test.contains(id)).map(|id| id.file).collect();
        for id in candidates {
            let node = self.resolver.scopes.node(id)?;
            let has_listed = known_files.contains(&*node.file) || listed.contains(&id.file);
            let is_whole = !is_test.contains(&id);
            if known_nodes.contains(&node) || targets.contains(&id) || (is_whole && has_listed) {
                continue;
            }
            let is_beside = is_whole && targets.iter().any(|target| target.file == id.file);
            let reason = if is_beside { Reason::SameFile } else { Reason::Name };
            out.push(FoundTest::without_step(node, reason));
        }
        Ok(out)
    }
}

/// Keeps `limit` tests in their order, the first ones of as many files as possible: the tests of one
/// file often outnumber all others.
fn spread(tests: &mut Vec<FoundTest>, limit: usize) {
    if tests.len() <= limit {
        return;
    }
    let mut of_file: HashMap<String, usize> = HashMap::new();
    let mut turns: Vec<(usize, usize)> = tests
        .iter()
        .enumerate()
        .map(|(i, test)| {
            let n = of_file.entry(test.neighbour.node.file.clone()).or_default();
            *n += 1;
            (*n, i)
        })
        .collect();
    turns.sort_unstable();
    let kept: HashSet<usize> = turns.into_iter().take(limit).map(|(_, i)| i).collect();
    let mut i = 0..;
    tests.retain(|_| i.next().is_some_and(|i| kept.contains(&i)));
}

/// Whether all of these symbols have names that standard libraries use, too.
fn is_common(traversal: &mut Traversal, symbols: &[SymbolId]) -> Result<bool, GraphError> {
    for id in symbols {
        let names = traversal.resolver.scopes.names(id.file);
        let symbol = traversal.resolver.scopes.symbol(*id)?;
        if let (Some(names), Some(symbol)) = (names, symbol)
            && !names.is_common_method(&symbol.name)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a name consists of several words.
fn has_words(name: &str) -> bool {
    let name = name.trim_matches('_');
    let is_lower = name.starts_with(char::is_lowercase);
    name.contains('_') || name.chars().skip(1 - usize::from(is_lower)).any(char::is_uppercase)
}

/// Whether the declaration of a function has a parameter of this name.
fn has_parameter(signature: &str, name: &str) -> bool {
    let Some((_, parameters)) = signature.split_once('(') else { return false };
    let is_part = |c: char| !(c.is_alphanumeric() || c == '_');
    parameters.split(',').any(|parameter| {
        parameter.trim_start().trim_start_matches("mut ").split(is_part).next() == Some(name)
    })
}
