//! Says who is affected by a change of a symbol, for people who act on it: the statements that use
//! it, and the tests by class or file with the shortest command that runs them. Every operation of
//! the code graph that names users or tests shares these parts.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::door::serving::{Engine, View};
use crate::engine::{AskError, Call, is_zero};
use crate::graph::{FoundTest, Neighbour, Node, Reason, TestsAnswer};
use crate::overview::{self, TestPlace, Tree};
use crate::text::count;

/// Number of steps to the tests.
pub(in crate::engine) const TEST_DEPTH: usize = 3;
/// Most tests that a command names one by one. The classes or files of more run as a whole.
const MAX_NAMED: usize = 3;
/// Most groups of tests that an answer lists.
const MAX_GROUPS: usize = 40;
/// Most lines of uses that a group of tests keeps, and most that its text names.
const MAX_LINES: usize = 50;
const SHOWN_LINES: usize = 8;
/// Most callers without a test that an answer keeps, and most that its text names.
const MAX_UNTESTED: usize = 50;
const SHOWN_UNTESTED: usize = 8;

/// The tests of one class, or of one file outside of classes, that reach a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestGroup {
    /// Relative to the root.
    pub path: String,
    /// The class or module of the tests, or a helper that no test is known to use.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    pub class: String,
    /// Number of tests that reach the target; 0 for blocks without a name.
    pub tests: usize,
    /// Number of these that use the target themselves.
    pub direct: usize,
    /// Lines at which tests use the target themselves.
    pub lines: Vec<u32>,
    /// How the nearest other test reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Whether the target is called.
    #[serde(skip)]
    is_called: bool,
    /// Whether steps lead from the others to the target, and not only their names or commits.
    #[serde(skip)]
    is_reached: bool,
}

/// The tests that reach a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestsByClass {
    /// The first tests by class or file; those that use the target themselves come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub test_groups: Vec<TestGroup>,
    /// Number of groups, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_groups: usize,
    /// Callers outside of tests that no test is known to reach; nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub untested: Vec<String>,
    /// Number of tests.
    #[serde(skip)]
    n_tests: usize,
    /// Number of files of tests.
    #[serde(skip)]
    n_files: usize,
    /// Largest number of steps that were followed to tests.
    #[serde(skip)]
    depth: usize,
}

/// The tests that reach a target, and how to run them.
#[derive(Default)]
pub(in crate::engine) struct TestPlan {
    pub(in crate::engine) tests: TestsByClass,
    pub(in crate::engine) commands: Vec<String>,
    pub(in crate::engine) warnings: Vec<String>,
}

impl TestGroup {
    /// Whether tests of the group use the target themselves.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct > 0 || !self.lines.is_empty()
    }

    /// Says how many tests reach the target, and how.
    #[must_use]
    pub fn summary(&self) -> String {
        let how = self.how.as_deref().unwrap_or_default();
        if !self.is_direct() {
            return match self.tests {
                0 => how.to_string(),
                n => format!("{} {how}", count(n, "test")),
            };
        }
        let shown: Vec<String> = self.lines.iter().take(SHOWN_LINES).map(u32::to_string).collect();
        let more = if self.lines.len() > shown.len() { " …" } else { "" };
        let noun = if self.lines.len() == 1 { "line" } else { "lines" };
        let lines = if shown.is_empty() {
            String::new()
        } else {
            format!(" ({noun} {}{more})", shown.join(", "))
        };
        let verb = if self.is_called { "call" } else { "use" };
        match (self.tests, self.direct) {
            (0, _) => format!("{verb}s it{lines}"),
            (1, 1) => format!("1 test {verb}s it directly{lines}"),
            (tests, direct) if tests == direct => {
                format!("{tests} tests {verb} it directly{lines}")
            }
            (tests, direct) => {
                let verb = if direct == 1 { format!("{verb}s") } else { verb.to_string() };
                format!("{tests} tests, {direct} {verb} it directly{lines}, others {how}")
            }
        }
    }
}

impl TestsByClass {
    /// Whether no test reaches the target.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total_groups == 0
    }

    /// Says how many tests there are, and how far they were looked for.
    #[must_use]
    pub fn heading(&self) -> String {
        let what = match self.n_tests {
            _ if self.is_empty() => "none is known to reach it".to_string(),
            0 => format!("in {}", count(self.n_files, "file")),
            n => format!("{n} in {}", count(self.n_files, "file")),
        };
        let steps = count(self.depth, "step");
        format!("tests: {what}, through at most {steps} (deeper callers are not followed)")
    }

    /// Says which callers no test is known to reach.
    #[must_use]
    pub fn untested_note(&self) -> Option<String> {
        let shown: Vec<&str> =
            self.untested.iter().take(SHOWN_UNTESTED).map(|name| &**name).collect();
        let more = match self.untested.len() - shown.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let these = if self.untested.len() == 1 { "this caller" } else { "these callers" };
        (!shown.is_empty())
            .then(|| format!("no test is known to reach {these}: {}{more}", shown.join(", ")))
    }

    /// Returns the groups whose tests use the target themselves, those that reach it through others,
    /// and those that no step leads to; each with its heading, if it has any.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, Vec<&TestGroup>)> {
        let (direct, others): (Vec<&TestGroup>, Vec<&TestGroup>) =
            self.test_groups.iter().partition(|group| group.is_direct());
        let (reached, named) = others.into_iter().partition(|group| group.is_reached);
        [("directly:", direct), ("through callers:", reached), ("without a known step:", named)]
            .into_iter()
            .filter(|(_, groups)| !groups.is_empty())
    }

    /// Says how many groups are not listed.
    #[must_use]
    pub fn more_note(&self) -> Option<String> {
        let n_more = self.total_groups.saturating_sub(self.test_groups.len());
        (n_more > 0).then(|| format!("and {n_more} more classes or files of tests"))
    }

    /// Returns a copy with the first `n` groups.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let test_groups = self.test_groups.iter().take(n).cloned().collect();
        Self { test_groups, ..self.clone() }
    }

    /// Adds the users in files of tests of which no test is known to reach the target.
    fn add_helpers<'h>(&mut self, users: impl Iterator<Item = &'h Neighbour>) {
        let known: HashSet<String> =
            self.test_groups.iter().map(|group| group.path.clone()).collect();
        let is_helper =
            |user: &&Neighbour| user.is_test && user.depth <= 1 && !known.contains(&user.node.file);
        for Neighbour { node, sites, .. } in users.filter(is_helper) {
            self.test_groups.push(TestGroup {
                path: node.file.clone(),
                class: if node.line > 0 { node.symbol.clone() } else { String::new() },
                lines: sites.iter().copied().take(MAX_LINES).collect(),
                ..TestGroup::default()
            });
            self.total_groups += 1;
            self.n_files += 1;
        }
    }
}

impl Engine {
    /// Groups all tests of an answer by class or file, and returns the commands that run them. The
    /// `users` may be helpers of tests that no test is known to use.
    pub(in crate::engine) fn test_plan<'u>(
        &self,
        found: &TestsAnswer,
        users: impl Iterator<Item = &'u Neighbour>,
        call: &Call,
    ) -> Result<TestPlan, AskError> {
        let groups = grouped(found);
        let (commands, warnings) = self.test_commands(found, &groups, call)?;
        let untested = found.untested.iter().take(MAX_UNTESTED);
        let mut tests = TestsByClass {
            total_groups: groups.len(),
            n_tests: groups.iter().map(|group| group.tests).sum(),
            n_files: groups.iter().map(|group| &group.path).collect::<HashSet<_>>().len(),
            untested: untested.map(|node| node.symbol.clone()).collect(),
            depth: found.depth,
            test_groups: groups,
        };
        tests.add_helpers(users);
        tests.test_groups.truncate(MAX_GROUPS);
        Ok(TestPlan { tests, commands, warnings })
    }

    /// Returns the commands that run the tests: few tests by their names, more by their classes or
    /// files. Also returns warnings about what no command runs.
    fn test_commands(
        &self,
        found: &TestsAnswer,
        groups: &[TestGroup],
        call: &Call,
    ) -> Result<(Vec<String>, Vec<String>), AskError> {
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
        let (places, what): (Vec<TestPlace>, &str) = if found.results.len() <= MAX_NAMED {
            (found.results.iter().map(place_of).collect(), "of these tests")
        } else {
            (places_of(groups), "of these files of tests")
        };
        let commands = overview::test_commands(&tree, &places);
        let mut warnings = Vec::new();
        if commands.n_left_out > 0 {
            warnings.push(format!(
                "no command runs {} {what}: the runner is unknown, or the name is not safe in a shell",
                commands.n_left_out
            ));
        }
        if commands.n_more > 0 {
            warnings.push(format!(
                "{} that run these tests are not listed",
                count(commands.n_more, "further command")
            ));
        }
        Ok((commands.run, warnings))
    }
}

/// Returns one group for each class of tests, in the order of the results; those that use the target
/// themselves come first.
fn grouped(found: &TestsAnswer) -> Vec<TestGroup> {
    let is_called = found.targets.iter().any(Node::is_function);
    let mut groups: Vec<TestGroup> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for test in &found.results {
        let node = &test.neighbour.node;
        let class = class_of(node);
        let at = *known.entry((node.file.clone(), class.clone())).or_insert_with(|| {
            let path = node.file.clone();
            groups.push(TestGroup { path, class, is_called, ..TestGroup::default() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        let is_direct = test.reason == Reason::Direct;
        group.tests += usize::from(node.is_function());
        if is_direct {
            group.direct += usize::from(node.is_function());
            group.lines.extend(&test.neighbour.sites);
        } else if group.how.is_none() {
            group.how = Some(reason(test, found));
            group.is_reached = matches!(test.reason, Reason::Through { .. } | Reason::Fixture(_));
        }
    }
    for group in &mut groups {
        group.lines.sort_unstable();
        group.lines.dedup();
        group.lines.truncate(MAX_LINES);
    }
    groups.sort_by_key(|group| !group.is_direct());
    groups
}

/// Returns the names around a test; of a class of tests its own, and of a file none.
fn class_of(node: &Node) -> String {
    if node.line == 0 {
        return String::new();
    }
    if !node.is_function() {
        return node.symbol.clone();
    }
    let around = node.symbol.strip_suffix(&*node.name).unwrap_or_default();
    around.trim_end_matches(['.', ':', '#', '/', '\\']).to_string()
}

fn place_of(test: &FoundTest) -> TestPlace<'_> {
    let Neighbour { node, sites, .. } = &test.neighbour;
    TestPlace {
        path: &node.file,
        symbol: &node.symbol,
        line: node.line,
        is_function: node.is_function(),
        sites,
    }
}

/// Returns the class of each file whose tests are of one class, and the other files as a whole.
fn places_of(groups: &[TestGroup]) -> Vec<TestPlace<'_>> {
    let mut of_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in groups {
        of_file.entry(&group.path).or_default().push(&group.class);
    }
    let mut places = Vec::new();
    for (path, classes) in of_file {
        let (symbol, line) = match classes[..] {
            [class] if !class.is_empty() => (class, 1),
            _ => (path, 0),
        };
        places.push(TestPlace { path, symbol, line, is_function: false, sites: &[] });
    }
    places
}

/// Says in a few words why a test is in the answer.
pub(in crate::engine) fn reason(test: &FoundTest, answer: &TestsAnswer) -> String {
    let is_function = answer.targets.iter().any(Node::is_function);
    let it = match &*test.neighbour.via {
        // Of several targets, the answer names the one.
        via if answer.targets.len() > 1 && !via.is_empty() => format!("uses {via}"),
        _ if is_function => "calls it".into(),
        _ => "uses it".into(),
    };
    match &test.reason {
        Reason::Direct if test.neighbour.confidence < 0.5 => format!("may be: {it}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(tests: usize, direct: usize, lines: &[u32], how: Option<&str>) -> TestGroup {
        TestGroup {
            path: "tests/test_x.py".into(),
            class: "TestRetry".into(),
            tests,
            direct,
            lines: lines.to_vec(),
            how: how.map(str::to_string),
            is_called: true,
            is_reached: true,
        }
    }

    #[test]
    fn a_group_says_how_many_tests_reach_the_target_and_how() {
        let through = Some("through Client.get (2 steps)");
        for (group, summary) in [
            (group(1, 1, &[10], None), "1 test calls it directly (line 10)"),
            (group(3, 3, &[10, 44, 80], None), "3 tests call it directly (lines 10, 44, 80)"),
            (
                group(14, 3, &[10, 44, 80], through),
                "14 tests, 3 call it directly (lines 10, 44, 80), others through Client.get (2 steps)",
            ),
            (group(11, 0, &[], through), "11 tests through Client.get (2 steps)"),
            (group(0, 0, &[4, 9], None), "calls it (lines 4, 9)"),
            (group(0, 0, &[], Some("named like it")), "named like it"),
        ] {
            assert_eq!(group.summary(), summary);
        }
    }
}
