//! Says before a change what it touches: who uses it, which tests reach it, and which files usually
//! change with it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::freshness::AnswerState;
use crate::engine::door::paths;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::affected::{TEST_DEPTH, TestPlan, TestsByClass, reason};
use crate::engine::graph::changed::{
    FileChange, How, MAX_COMPARED, SymbolChange, changed, how_of, is_code, is_compared, shown,
    texts,
};
use crate::engine::graph::query::{GraphNode, GraphRow, NO_SOURCES, NameUse, steps};
use crate::engine::read::search::SearchRequest;
use crate::engine::{AskError, Call, is_zero};
use crate::graph::{
    CodeGraph, ImpactAnswer as Affected, ImpactQuery, ImpactTarget, Node, TestsAnswer,
};
use crate::languages::is_test_file;
use crate::search::ChangedTogether;
use crate::source::{self, DiffError, DiffFile, Difference};
use crate::text::{count, file_name, file_stem};
use crate::work::WorkBudget;

/// The arguments of a question about a change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ImpactRequest {
    /// A commit or range as git reads it: `HEAD~3`, `main..`. Default: the working tree against HEAD.
    pub range: Option<String>,
    /// Files or symbols that you are about to change, instead of a range.
    #[serde(default)]
    pub files: Vec<String>,
    /// Maximum number of steps to a user. Default: 2.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<usize>,
    /// Maximum number of users, and of tests. Default: 30.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
}

/// Defaults of the request.
const DEPTH: usize = 2;
const LIMIT: usize = 30;
/// Largest number of files that are proposed, and of files that change together with the change.
const MAX_FILES: usize = 10;
const MAX_TOGETHER: usize = 10;
/// Least number of commits with both files.
const LEAST_SUPPORT: usize = 2;
/// Largest number of deleted symbols whose uses are searched, and of uses of each.
const MAX_DELETED: usize = 10;
const MAX_USES: usize = 10;
/// Largest number of files of tests that only commits lead to, and the least share of the commits of
/// the changed file that changed them, too.
const MAX_TESTS_BY_HISTORY: usize = 3;
const LIKELY_TEST: f64 = 0.1;
/// Largest number of symbols that a search looks for.
const MAX_SEARCHED: usize = 8;
/// Largest number of reasons of a file.
const MAX_REASONS: usize = 3;

/// What a change may affect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImpactAnswer {
    /// What is changed: `working tree against HEAD`, the range, or `files`.
    pub of: String,
    /// The symbols that change, and the files of which no symbol does.
    pub changed: Vec<ChangedSymbol>,
    /// Number of these, listed or not.
    pub total_changed: usize,
    /// Number of files that change.
    pub changed_files: usize,
    /// The files to look at next, likeliest first.
    pub files: Vec<NextFile>,
    /// Lines that still use the name of a symbol that the change deletes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub deleted_uses: Vec<DeletedUse>,
    /// What uses the changed symbols, except tests; nearest first.
    pub users: Vec<GraphRow>,
    /// Possible users whose confidence is too low.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub candidates: Vec<GraphRow>,
    /// Number of all users.
    pub total_users: usize,
    /// Tests that reach the changed symbols, nearest first.
    pub tests: Vec<GraphRow>,
    /// Number of all tests.
    pub total_tests: usize,
    #[serde(flatten)]
    pub tests_by_class: TestsByClass,
    /// Commands that run the tests.
    pub commands: Vec<String>,
    /// Files that commits changed together with the changed ones.
    pub together: Vec<Together>,
    /// Whether rows were left out.
    pub truncated: bool,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A symbol or file that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedSymbol {
    #[serde(flatten)]
    pub node: GraphNode,
    /// changed, added, deleted, renamed (of a file) or planned.
    #[schemars(with = "String")]
    pub how: How,
    /// Whether the symbol is visible outside its module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

/// A file to look at, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextFile {
    /// Relative to the root.
    pub path: String,
    /// Where to begin; 0 for the whole file.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub line: u32,
    /// Why, the strongest reason first.
    pub reasons: Vec<String>,
    /// How likely it changes, too, 0 to 1.
    pub score: f64,
}

/// A line that uses the name of a deleted symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeletedUse {
    /// The deleted symbol.
    pub deleted: String,
    #[serde(flatten)]
    pub name_use: NameUse,
}

/// A file that usually changes together with a changed one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Together {
    /// Relative to the root.
    pub path: String,
    /// The changed file.
    pub with: String,
    /// Number of commits that changed both.
    pub support: usize,
    /// Share of the commits of `with` that changed both, 0 to 1.
    pub confidence: f64,
}

/// What changes, before the graph is asked.
#[derive(Default)]
struct Change {
    of: String,
    rows: Vec<ChangedSymbol>,
    /// The targets of the graph, each with the row that it belongs to.
    targets: Vec<(ImpactTarget, Option<usize>)>,
    /// All changed files, also by their paths before.
    paths: BTreeSet<String>,
    n_files: usize,
    /// Deleted symbols: name, path of names and file.
    deleted: Vec<(String, String, String)>,
    warnings: Vec<String>,
}

impl Engine {
    /// Says what a change touches.
    ///
    /// # Errors
    /// When the request is not valid, git does not answer, there are no source files, or the graph
    /// or the index cannot be read.
    pub fn impact(&self, request: &ImpactRequest, call: &Call) -> Result<ImpactAnswer, AskError> {
        let depth = steps(request.depth, DEPTH)?;
        let limit = request.limit.unwrap_or(LIMIT);
        let View { code, mut state } = self.view(call)?;
        let range = request.range.as_deref().map(str::trim).filter(|range| !range.is_empty());
        let mut change = match (range, &request.files[..]) {
            (range, []) => self.difference(range)?,
            (None, files) => self.planned(files, call)?,
            (Some(_), _) => {
                return Err(AskError::Arguments(
                    "a range and files are given: give one of them".into(),
                ));
            }
        };
        call.check()?;
        let targets: Vec<ImpactTarget> =
            change.targets.iter().map(|(target, _)| target.clone()).collect();
        let query = ImpactQuery { targets: &targets, depth, test_depth: TEST_DEPTH };
        let ask = |graph: &CodeGraph, work: &WorkBudget| graph.impact(query, work);
        let (mut found, has_sources, work) = self.ask_graph_in_time(call, ask)?;
        call.check()?;
        if !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        if found.is_cut {
            change.warnings.push("the search of the code graph was cut: there may be more".into());
        }
        change.take_lines(&found);
        let deleted_uses = self.uses_of_deleted(&change, &work, call)?;
        let changed_paths: Vec<&str> = change.paths.iter().map(|path| &**path).collect();
        let mut together = code.corpus.changed_together(&changed_paths);
        together.retain(|file| self.project.has_file(&file.path));
        let alike = self.found_by_search(&change, call)?;
        let mut all_tests = found.tests.clone();
        found.tests.limit(limit);
        let files = self.next_files(&change, &found, &deleted_uses, &together, &alike);
        add_by_history(&mut found.tests, &together);
        add_by_history(&mut all_tests, &together);
        let TestPlan { tests: tests_by_class, commands, warnings } =
            self.test_plan(&all_tests, std::iter::empty(), call)?;
        change.warnings.extend(warnings);
        let row = |user| self.graph_row(user, user.node.file.clone(), 0);
        let candidates = found.candidates.iter().take(limit.saturating_sub(found.users.len()));
        let mut candidates: Vec<GraphRow> = candidates.map(row).collect();
        let mut users: Vec<GraphRow> = found.users.iter().take(limit).map(row).collect();
        self.add_statements(users.iter_mut().chain(&mut candidates));
        let tests =
            found.tests.results.iter().map(|test| self.test_row(test, &found.tests, 0)).collect();
        state.warnings.append(&mut change.warnings);
        Ok(ImpactAnswer {
            of: change.of,
            total_changed: change.rows.len(),
            changed_files: change.n_files,
            changed: change.rows,
            files,
            deleted_uses,
            candidates,
            total_users: found.users.len(),
            truncated: found.users.len() > limit || found.tests.truncated,
            users,
            tests,
            total_tests: found.tests.total,
            tests_by_class,
            commands,
            together: together
                .into_iter()
                .filter(|file| file.support >= LEAST_SUPPORT)
                .take(MAX_TOGETHER)
                .map(Together::from)
                .collect(),
            state: state.in_brief(call),
        })
    }

    /// Returns the files and symbols that somebody is about to change.
    fn planned(&self, files: &[String], call: &Call) -> Result<Change, AskError> {
        let written: Vec<String> = files.iter().map(|file| self.graph_target(file, call)).collect();
        let (named, _) = self.ask_graph(call, |graph| graph.named(&written, &call.work()))?;
        let mut change = Change { of: "files".into(), ..Change::default() };
        for (file, mut nodes) in files.iter().zip(named) {
            self.project.drop_gone(&mut nodes);
            if nodes.is_empty() {
                // The graph does not hold documents, but the history does.
                let place = self.with_code(call, |view: View| {
                    paths::place(&self.project, &view.code.corpus, file)
                });
                match place {
                    Ok(place) => change.add_file(&place.path, How::Planned, false),
                    Err(AskError::NotFound(_)) => {
                        return Err(AskError::NotFound(self.unknown_symbol(file, call)?));
                    }
                    Err(e) => return Err(e),
                }
            }
            for node in nodes {
                change.add_node(&node);
            }
        }
        change.n_files = change.paths.len();
        Ok(change)
    }

    /// Returns what git says that differs.
    fn difference(&self, range: Option<&str>) -> Result<Change, AskError> {
        let root = self.project.layout.root();
        let difference = source::difference(root, range).map_err(unanswered)?;
        let mut change = Change {
            of: range.map_or_else(|| "working tree against HEAD".into(), String::from),
            ..Change::default()
        };
        if let Some(why) = &difference.cut {
            change.warnings.push(format!("the difference is not complete: {why}"));
        }
        self.warn_of_other_state(&difference, &mut change);
        let at_commit = difference.end.is_some();
        let (files, n_hidden) = shown(&self.project, difference.files);
        if n_hidden > 0 {
            change.warnings.push(format!(
                "{} that may not be read are left out: they are hidden or may hold secrets",
                count(n_hidden, "file")
            ));
        }
        change.n_files = files.len();
        let compared: Vec<&DiffFile> =
            files.iter().filter(|file| is_compared(&file.path)).take(MAX_COMPARED).collect();
        let texts = texts(&self.project, at_commit, &compared).map_err(unanswered)?;
        for file in &files {
            let (old, new) = texts.get(&file.path).cloned().unwrap_or_default();
            change.add(file, old.as_deref(), new.as_deref());
        }
        Ok(change)
    }

    /// Warns if the range does not end at the state that the graph describes.
    fn warn_of_other_state(&self, difference: &Difference, change: &mut Change) {
        let root = self.project.layout.root();
        let Some(end) = &difference.end else { return };
        if source::head(root).as_ref() != Some(end) {
            let end = &end[..12.min(end.len())];
            change.warnings.push(format!(
                "the range ends at {end}, which is not checked out: users and tests are those of the working tree"
            ));
        }
        let Ok(since) = source::changed_since(root, end) else { return };
        let n = difference.files.iter().filter(|file| since.contains(&file.path)).count();
        if n > 0 {
            change.warnings.push(format!(
                "{} of the range changed again since: their symbols are found by name",
                count(n, "file")
            ));
        }
    }

    /// Finds the lines that still use the names of deleted symbols.
    fn uses_of_deleted(
        &self,
        change: &Change,
        work: &WorkBudget,
        call: &Call,
    ) -> Result<Vec<DeletedUse>, AskError> {
        let mut seen = HashSet::new();
        let deleted: Vec<&(String, String, String)> = change
            .deleted
            .iter()
            .filter(|(name, ..)| seen.insert(name))
            .take(MAX_DELETED)
            .collect();
        if deleted.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = deleted.iter().map(|(name, ..)| &**name).collect();
        let (known, _) = self.ask_graph(call, |graph| graph.uses_of_names(&names, work))?;
        let mut uses = Vec::new();
        for ((_, symbol, near), known) in deleted.into_iter().zip(known) {
            let found = self.other_uses(&known, near, MAX_USES, work, call)?;
            let of_symbol = |name_use| DeletedUse { deleted: symbol.clone(), name_use };
            uses.extend(found.uses.into_iter().map(of_symbol));
        }
        Ok(uses)
    }

    /// Searches for the names of the change: the first changed file, and the symbols that change.
    fn found_by_search(&self, change: &Change, call: &Call) -> Result<Vec<String>, AskError> {
        let Some(first) = change.rows.first() else { return Ok(Vec::new()) };
        let mut words = vec![file_stem(&first.node.path)];
        for row in change.rows.iter().filter(|row| row.node.kind != "file") {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let name = row.node.symbol.rsplit(|c| !is_part(c)).next().unwrap_or_default();
            if name.chars().count() > 2 && !words.contains(&name) {
                words.push(name);
            }
        }
        words.truncate(1 + MAX_SEARCHED);
        let query = words.join(" ");
        if query.trim().is_empty() {
            return Ok(Vec::new());
        }
        let limit = change.n_files.min(MAX_FILES) + MAX_FILES;
        let request = SearchRequest { query, limit, one_per_file: true, ..Default::default() };
        // A name may have no words. Then nothing is found by it.
        let found = match self.search(&request, call) {
            Err(AskError::Arguments(_)) => return Ok(Vec::new()),
            found => found?,
        };
        let mut paths: Vec<String> = Vec::new();
        for path in found.results.into_iter().filter_map(|row| row.path) {
            if !change.paths.contains(&path) && !paths.contains(&path) {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// Ranks the files to look at: each kind of evidence counts as the chance that the file changes,
    /// too, and all kinds as independent.
    fn next_files(
        &self,
        change: &Change,
        found: &Affected,
        deleted_uses: &[DeletedUse],
        together: &[ChangedTogether],
        alike: &[String],
    ) -> Vec<NextFile> {
        let mut evidence = Evidence::default();
        for DeletedUse { deleted, name_use } in deleted_uses {
            let why = format!("still uses the deleted {deleted}");
            evidence.add(&name_use.path, Kind::Deleted, name_use.line, DELETED, why);
        }
        for user in &found.users {
            let chance = f64::from(user.confidence) * if user.depth == 1 { USES } else { USES_FAR };
            let line = user.sites.first().copied().unwrap_or(user.node.line);
            let why = if user.depth == 1 {
                format!("uses {}", user.via)
            } else {
                format!("uses {}, {} steps away", user.via, user.depth)
            };
            evidence.add(&user.node.file, Kind::Uses, line, chance, why);
        }
        for test in &found.tests.results {
            let node = &test.neighbour.node;
            let chance = match test.neighbour.depth {
                0 => TEST_BY_NAME,
                1 => TESTS,
                _ => TESTS_FAR,
            };
            let why = format!("test: {}", reason(test, &found.tests));
            evidence.add(&node.file, Kind::Tests, node.line, chance, why);
        }
        for file in together {
            let name = file_name(&file.with);
            let share = match (file.confidence * 100.0).round() {
                0.0 => String::new(),
                share => format!(" ({share}% of its commits)"),
            };
            let why = format!("changed with {name} in {}{share}", count(file.support, "commit"));
            evidence.add(&file.path, Kind::Together, 0, file.likelihood * TOGETHER, why);
        }
        for (rank, path) in (1_u32..).zip(alike) {
            let why = "found by the changed names".to_string();
            evidence.add(path, Kind::Search, 0, SEARCH / f64::from(rank), why);
        }
        let is_other = |path: &str| !change.paths.contains(path) && self.project.has_file(path);
        evidence.ranked(is_other)
    }
}

/// Adds files of tests that usually change with the change, though no step leads to them.
fn add_by_history(tests: &mut TestsAnswer, together: &[ChangedTogether]) {
    let is_likely = |file: &&ChangedTogether| {
        file.support >= LEAST_SUPPORT
            && file.likelihood >= LIKELY_TEST
            && is_test_file(&file.path)
            && is_code(&file.path)
            && !tests.files.contains(&file.path)
    };
    let likely: Vec<&ChangedTogether> =
        together.iter().filter(is_likely).take(MAX_TESTS_BY_HISTORY).collect();
    for ChangedTogether { path, with, support, .. } in likely {
        tests.add_by_history(path, with, *support);
    }
}

/// Chances that a file changes, by its kind of evidence. They were fitted to commits, given one of
/// their files (specs/graph.md): most users and tests of a file do not change with it.
const DELETED: f64 = 0.8;
const USES: f64 = 0.04;
const USES_FAR: f64 = 0.01;
const TEST_BY_NAME: f64 = 0.1;
const TESTS: f64 = 0.02;
const TESTS_FAR: f64 = 0.002;
const TOGETHER: f64 = 0.9;
/// Of the first file that a search finds; the next ones get a half, a third …
const SEARCH: f64 = 0.15;
/// Largest chance of all users, and of all tests.
const MOST_OF_GRAPH: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Deleted,
    Uses,
    Tests,
    Search,
    Together,
}

/// What speaks for one file: by kind, the chance that it does not change, and the best reason.
type OfFile = BTreeMap<Kind, (f64, f64, u32, String)>;

/// The evidence for files.
#[derive(Default)]
struct Evidence {
    files: HashMap<String, OfFile>,
}

impl Evidence {
    fn add(&mut self, path: &str, kind: Kind, line: u32, chance: f64, why: String) {
        let kinds = self.files.entry(path.to_string()).or_default();
        let (stays, best, at, reason) =
            kinds.entry(kind).or_insert_with(|| (1.0, 0.0, line, String::new()));
        *stays *= 1.0 - chance;
        if chance > *best {
            (*best, *at, *reason) = (chance, line, why);
        }
    }

    /// Returns the best files, likeliest first.
    fn ranked(self, keep: impl Fn(&str) -> bool) -> Vec<NextFile> {
        let mut files: Vec<NextFile> = self
            .files
            .into_iter()
            .filter(|(path, _)| keep(path))
            .map(|(path, kinds)| {
                let chance = |(kind, (stays, _, line, why)): (Kind, (f64, f64, u32, String))| {
                    let most = match kind {
                        Kind::Uses | Kind::Tests => MOST_OF_GRAPH,
                        Kind::Deleted | Kind::Together | Kind::Search => 1.0,
                    };
                    ((1.0 - stays).min(most), line, why)
                };
                let mut kinds: Vec<(f64, u32, String)> = kinds.into_iter().map(chance).collect();
                kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
                let stays: f64 = kinds.iter().map(|(chance, ..)| 1.0 - chance).product();
                let line = kinds.iter().map(|(_, line, _)| *line).find(|line| *line > 0);
                let reasons = kinds.into_iter().map(|(.., why)| why).take(MAX_REASONS);
                NextFile {
                    path,
                    line: line.unwrap_or(0),
                    reasons: reasons.collect(),
                    score: ((1.0 - stays) * 1000.0).round() / 1000.0,
                }
            })
            .collect();
        files.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        files.truncate(MAX_FILES);
        files
    }
}

impl Change {
    /// Adds a file of a difference, with its texts if they are compared.
    fn add(&mut self, file: &DiffFile, old: Option<&str>, new: Option<&str>) {
        self.paths.insert(file.path.clone());
        self.paths.extend(file.before.clone());
        let how = how_of(file);
        let is_moved = how == How::Renamed && file.hunks.is_empty();
        let found = if (old.is_none() && new.is_none()) || is_moved {
            FileChange::default()
        } else {
            changed(&file.path, old, new, &file.hunks)
        };
        if found.symbols.is_empty() || matches!(how, How::Renamed | How::Deleted) {
            // Everything that names the file has to follow its new name.
            let is_target = !found.has_symbols || is_moved;
            self.add_file(&file.path, how, is_target && file.exists);
        }
        for symbol in found.symbols {
            self.add_symbol(&file.path, symbol);
        }
    }

    fn add_file(&mut self, path: &str, how: How, is_target: bool) {
        self.paths.insert(path.to_string());
        if is_target {
            self.targets.push((ImpactTarget::File(path.into()), None));
        }
        let node = GraphNode::at(path, 0, path, "file");
        self.rows.push(ChangedSymbol { node, how, public: None });
    }

    fn add_symbol(&mut self, path: &str, symbol: SymbolChange) {
        let SymbolChange { name, symbol, kind, how, public, line, end_line, .. } = symbol;
        if how == How::Deleted {
            self.deleted.push((name, symbol.clone(), path.into()));
        } else {
            let target = ImpactTarget::Symbol { path: path.into(), name, line };
            self.targets.push((target, Some(self.rows.len())));
        }
        let kind = kind.as_str().to_string();
        let node = GraphNode { path: path.into(), line, end_line, symbol, kind };
        self.rows.push(ChangedSymbol { node, how, public: Some(public) });
    }

    /// Adds a symbol or file of the graph that somebody is about to change.
    fn add_node(&mut self, node: &Node) {
        self.paths.insert(node.file.clone());
        let target = if node.line == 0 {
            ImpactTarget::File(node.file.clone())
        } else {
            let (path, name) = (node.file.clone(), node.name.clone());
            ImpactTarget::Symbol { path, name, line: node.line }
        };
        self.targets.push((target, Some(self.rows.len())));
        let node = GraphNode::new(node);
        self.rows.push(ChangedSymbol { node, how: How::Planned, public: None });
    }

    /// Takes the lines that the graph knows: the text of a range may not be that of the tree.
    fn take_lines(&mut self, found: &Affected) {
        for ((_, row), nodes) in self.targets.iter().zip(&found.targets) {
            if let (Some(row), [node]) = (row, &nodes[..]) {
                let shown = &mut self.rows[*row].node;
                (shown.line, shown.end_line) = (node.line, node.end_line);
            }
        }
        // Another file of the change may have taken a symbol in: its uses are those of the new one.
        let known: HashSet<&str> = found.targets.iter().flatten().map(|node| &*node.name).collect();
        self.deleted.retain(|(name, ..)| !known.contains(&**name));
    }
}

impl From<ChangedTogether> for Together {
    fn from(file: ChangedTogether) -> Self {
        let ChangedTogether { path, with, support, confidence, .. } = file;
        Self { path, with, support, confidence: (confidence * 100.0).round() / 100.0 }
    }
}

/// Says why git has no difference, and what to do instead.
fn unanswered(e: DiffError) -> AskError {
    let instead = "give `files`: the files or symbols that you are about to change";
    match e {
        DiffError::Range(why) => AskError::Arguments(why),
        DiffError::NoRepository(why) => {
            AskError::Arguments(format!("there is nothing to compare with: {why}; {instead}"))
        }
        DiffError::Failed(why) => {
            AskError::Failed(format!("git cannot say what is changed: {why}; {instead}"))
        }
    }
}

impl ImpactAnswer {
    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// Returns a copy with at most `n` rows of each kind. The proposed files stay.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        fn first<T: Clone>(rows: &[T], n: usize) -> Vec<T> {
            rows.iter().take(n).cloned().collect()
        }
        let most = [
            self.changed.len(),
            self.users.len(),
            self.candidates.len(),
            self.tests.len(),
            self.deleted_uses.len(),
            self.together.len(),
        ];
        Self {
            changed: first(&self.changed, n.max(1)),
            users: first(&self.users, n),
            candidates: first(&self.candidates, n.saturating_sub(self.users.len())),
            tests: first(&self.tests, n),
            tests_by_class: self.tests_by_class.first(n),
            deleted_uses: first(&self.deleted_uses, n),
            together: first(&self.together, n),
            truncated: self.truncated || most.into_iter().any(|rows| rows > n),
            ..self.clone()
        }
    }

    /// Number of rows of the longest list.
    #[must_use]
    pub fn longest(&self) -> usize {
        let lists = [self.changed.len(), self.users.len(), self.tests.len(), self.together.len()];
        let others = [self.deleted_uses.len(), self.tests_by_class.test_groups.len()];
        lists.into_iter().chain(others).max().unwrap_or(0)
    }
}
