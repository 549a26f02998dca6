//! `cortex_graph`: queries callers, dependencies, paths and impact in the code graph.

use super::budget::{TokenBudget, fit};
use super::reply::{Reply, printable, quoted, shown_place};
use super::tool::{Question, ToolGroup};
use crate::engine::{
    AnswerState, AskError, Call, Engine, GraphAnswer, GraphNode, GraphRequest, GraphRow, Mentions,
    NameUse, Namesake, OutsideName, TestsByClass, UsesInFile,
};
use crate::text::count;

/// Maximum number of uses that are listed for one result.
const MAX_SITES: usize = 10;
/// Maximum number of names of unknown meaning that are listed.
const MAX_UNKNOWN: usize = 12;
/// Maximum number of other symbols of the same name that are listed.
const MAX_NAMESAKES: usize = 4;

impl Question for GraphRequest {
    const NAME: &'static str = "cortex_graph";
    const TITLE: &'static str = "Query the code graph";
    const WHEN: &'static str = "callers, uses, tests, dependencies, impact, dead code, HTTP routes: before you change a signature or delete code.";
    const DESCRIPTION: &'static str = "Find what calls, uses, implements or depends on a symbol or file, what a change may affect, which tests to run after it, what nothing uses, and which code handles or requests an HTTP route. Use it before you change a signature or delete code; for text use cortex_grep.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> =
        |q| Mentions::of([&mut q.target].into_iter().chain(&mut q.to));
    type Reply = GraphAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GraphAnswer, AskError> {
        let mut answer = engine.graph(&self, call)?;
        if answer.targets.is_empty() && !answer.is_routes() {
            return Err(AskError::NotFound(engine.unknown_symbol(&self.target, call)?));
        }
        let rows = answer.results.iter_mut().chain(&mut answer.candidates);
        for row in rows {
            row.sites.truncate(MAX_SITES);
        }
        let n_rows = answer.results.len()
            + answer.tests.test_groups.len()
            + answer.candidates.len()
            + answer.unresolved.len();
        Ok(fit(budget, n_rows, |n| answer.first(n)))
    }
}

pub(super) fn place(node: &GraphNode) -> String {
    let line = if node.line > 0 { format!(":{}", node.line) } else { String::new() };
    let place = shown_place(&format!("{}{line}", node.path));
    if node.line == 0 && node.symbol == node.path {
        return place;
    }
    format!("{place} {} {}", node.kind, printable(&node.symbol))
}

/// Returns the last part of a qualified name.
fn last_name(symbol: &str) -> &str {
    symbol.rsplit([':', '.', '#', '/']).next().unwrap_or(symbol)
}

/// Shows a use of a name of which the graph does not know the meaning.
pub(super) fn unresolved(name_use: &NameUse) -> String {
    let NameUse { path, line, symbol, text } = name_use;
    let symbol = symbol.as_deref().map(|name| format!(" {}", printable(name))).unwrap_or_default();
    format!("{}{symbol}:{}", shown_place(&format!("{path}:{line}")), quoted(text))
}

/// Shows a route, or what requests it.
fn route_line(row: &GraphRow) -> String {
    let reason = printable(row.reason.as_deref().unwrap_or_default());
    let site = row.sites.first().copied().unwrap_or_default();
    let sure =
        if row.confidence < 0.9 { format!(", {:.2}", row.confidence) } else { String::new() };
    let handler = if row.node.symbol.is_empty() {
        shown_place(&format!("{}:{}", row.node.path, row.node.line)).clone()
    } else {
        place(&row.node)
    };
    if row.depth > 0 {
        let more: Vec<String> = row.sites.iter().skip(1).map(u32::to_string).collect();
        let more =
            if more.is_empty() { String::new() } else { format!(", also at {}", more.join(", ")) };
        return format!("  {handler} {reason}{sure}{more}");
    }
    let is_there = row.via == row.node.path;
    let at = match site {
        site if is_there && site == row.node.line => String::new(),
        site if is_there => format!(", registered at {site}"),
        site => format!(", registered at {}", shown_place(&format!("{}:{site}", row.via))),
    };
    format!("{reason}: {handler}{at}{sure}")
}

pub(super) fn row_lines(row: &GraphRow) -> Vec<String> {
    let sites: Vec<String> = row.sites.iter().map(u32::to_string).collect();
    let uses =
        if sites.is_empty() { String::new() } else { format!(", uses at {}", sites.join(", ")) };
    let via = if row.depth > 1 {
        format!(", {} steps, via {}", row.depth, printable(&row.via))
    } else {
        String::new()
    };
    let head = match &row.reason {
        Some(reason) => format!("{}, {}{uses}", place(&row.node), printable(reason)),
        None => format!("{}{uses}{via}, {:.2}", place(&row.node), row.confidence),
    };
    let context = row.context.iter().flat_map(|text| text.lines()).map(quoted);
    std::iter::once(head).chain(context).collect()
}

/// Shows a user: the line of its first use, the symbol around that, the statement, the other lines, and
/// over which symbol it reaches the target.
pub(super) fn user_lines(row: &GraphRow) -> Vec<String> {
    let GraphRow { node, sites, text, .. } = row;
    let line = sites.first().copied().unwrap_or(node.line);
    let at = if line > 0 { format!(":{line}") } else { String::new() };
    let place = shown_place(&format!("{}{at}", node.path));
    let symbol =
        if node.line > 0 { format!(" {}", printable(&node.symbol)) } else { String::new() };
    let notes = printable(&row.notes().join(", "));
    let notes = if notes.is_empty() { String::new() } else { format!(" ({notes})") };
    // The lines around the use have the statement.
    let text = text.as_deref().filter(|_| row.context.is_none());
    let text = text.map(|text| format!(":{}", quoted(text))).unwrap_or_default();
    let context = row.context.iter().flat_map(|text| text.lines()).map(quoted);
    std::iter::once(format!("{place}{symbol}{notes}{text}")).chain(context).collect()
}

/// Shows the tests by class or file.
pub(super) fn tests_lines(tests: &TestsByClass) -> Vec<String> {
    let mut text = vec![tests.heading()];
    for (heading, groups) in tests.parts() {
        text.push(heading.to_string());
        text.extend(groups.into_iter().map(|group| {
            let class = if group.class.is_empty() {
                String::new()
            } else {
                format!(" {}", printable(&group.class))
            };
            format!("{}{class}: {}", shown_place(&group.path), printable(&group.summary()))
        }));
    }
    text.extend(tests.more_note());
    text.extend(tests.untested_note().map(|note| printable(&note)));
    text
}

/// Shows the lines of one file that use a name with an unknown meaning.
fn uses_in_file(file: &UsesInFile) -> String {
    let at = file.shown_lines().map(|lines| format!(" ({lines})")).unwrap_or_default();
    format!("{} {}{at}", shown_place(&file.path), count(file.uses, "line"))
}

impl GraphAnswer {
    /// Says which uses of the target's name are not among the results.
    fn beside(&self) -> Vec<String> {
        let Some(target) = self.targets.first().filter(|_| self.is_about_uses()) else {
            return Vec::new();
        };
        let name = printable(last_name(&target.symbol));
        let mut text = Vec::new();
        if self.results.is_empty() && !self.namesakes.is_empty() {
            let namesake = |of: &Namesake| format!("{} ({})", place(&of.node), of.uses);
            let shown: Vec<String> =
                self.namesakes.iter().take(MAX_NAMESAKES).map(namesake).collect();
            let more = if self.namesakes.len() > shown.len() { " …" } else { "" };
            text.push(format!(
                "other symbols named {name} that are used: {}{more}",
                shown.join(", ")
            ));
        }
        match (self.total_unresolved, self.unresolved.len()) {
            (0, _) if self.results.is_empty() && self.candidates.is_empty() => {
                text.push(self.nothing_found());
            }
            (0, _) => {}
            // The users come with the files of these lines.
            _ if !self.unresolved_in.is_empty() => {}
            (n, shown) => {
                let more = if n > shown {
                    format!(", {shown} shown (cortex_grep with word: true lists all)")
                } else {
                    String::new()
                };
                text.push(format!(
                    "{} the name {name}, and the graph does not know which symbol it means{more}:",
                    if n == 1 { "1 more line uses".into() } else { format!("{n} more lines use") }
                ));
            }
        }
        text
    }
}

/// Says that an answer about tests has none.
fn tests(answer: &GraphAnswer) -> Vec<String> {
    let Some(n_files) = answer.test_files else { return Vec::new() };
    let mut text = Vec::new();
    if answer.results.is_empty() && answer.total == 0 {
        text.push(format!("no test reaches it, of {}", count(n_files, "test file")));
    }
    if !answer.unresolved.is_empty() {
        text.push("the name is in the text of tests:".into());
    }
    text
}

/// Returns the commands that run the tests of an answer.
pub(super) fn commands(commands: &[String]) -> Vec<String> {
    commands.iter().map(|command| format!("run: {}", printable(command))).collect()
}

/// One line for each name of a package or a tied project, and one for the packages without an index.
fn outside(answer: &GraphAnswer) -> Vec<String> {
    let mut text = Vec::new();
    if !answer.outside.is_empty() {
        text.push("outside of the project, with the line:".into());
    }
    text.extend(answer.outside.iter().map(|name| {
        let at = name.address.as_ref().unwrap_or(&name.package);
        let why = name.missing.as_ref().map(|why| format!(", {}", printable(why)));
        let why = why.unwrap_or_default();
        format!("{} {} {}{why}", printable(&name.name), name.lines[0], printable(at))
    }));
    let command = OutsideName::command_for(&answer.outside);
    text.extend(command.map(|command| format!("`{command}` indexes packages")));
    text
}

impl GraphAnswer {
    /// Shows who uses the target: code outside of tests by steps. `shown` tells the lines that the reply has
    /// anyway; of these only the places are named.
    pub(super) fn users(&self, shown: &dyn Fn(&str, u32) -> bool) -> Vec<String> {
        let mut text = vec![self.users_heading()];
        for (step, rows) in self.steps() {
            if step > 1 {
                text.push(format!("step {step}:"));
            }
            let is_shown =
                |row: &&GraphRow| row.sites.iter().all(|site| shown(&row.used_in, *site));
            let (below, others): (Vec<&GraphRow>, Vec<&GraphRow>) =
                rows.into_iter().partition(|row| !row.sites.is_empty() && is_shown(row));
            if !below.is_empty() {
                let name = |row: &GraphRow| {
                    let lines: Vec<String> = row.sites.iter().map(u32::to_string).collect();
                    format!("{} {}", printable(&row.node.symbol), lines.join(" "))
                };
                let below: Vec<String> = below.into_iter().map(name).collect();
                text.push(format!("in the code below: {}", below.join(", ")));
            }
            text.extend(others.into_iter().flat_map(user_lines));
        }
        text.extend(self.completeness().map(|said| printable(&said)));
        text.extend(self.unresolved_in.iter().map(uses_in_file));
        text
    }

    /// Shows the tests that reach the target, and how to run them.
    pub(super) fn tests_to_run(&self) -> Vec<String> {
        let mut text = tests_lines(&self.tests);
        text.extend(commands(&self.commands));
        text
    }
}

impl Reply for GraphAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut text: Vec<String> = self
            .targets
            .iter()
            .filter(|target| target.kind != "folder")
            .map(|target| format!("of {}", place(target)))
            .collect();
        if self.total_targets > self.targets.len() {
            text.push(format!("of {} more", self.total_targets - self.targets.len()));
        }
        if self.lists_users() {
            text.extend(self.users(&|_, _| false));
            text.extend(self.tests_to_run());
        } else if self.test_files.is_some() {
            if !self.tests.is_empty() {
                text.extend(tests_lines(&self.tests));
            }
            text.extend(commands(&self.commands));
        } else {
            let cut = if self.truncated {
                format!(", {} shown", self.results.len())
            } else {
                String::new()
            };
            text.push(format!("{}{cut}", count(self.total, "result")));
            let lines = |row: &GraphRow| {
                if self.is_routes() { vec![route_line(row)] } else { row_lines(row) }
            };
            text.extend(self.results.iter().flat_map(lines));
        }
        let candidates: Vec<&GraphRow> = self.further_candidates().collect();
        if !candidates.is_empty() {
            text.push("candidates, less certain:".into());
            let lines: fn(&GraphRow) -> Vec<String> =
                if self.lists_users() { user_lines } else { row_lines };
            text.extend(candidates.into_iter().flat_map(lines));
        }
        text.extend(self.left_out());
        text.extend(tests(self));
        text.extend(self.beside());
        if self.unresolved_in.is_empty() {
            text.extend(self.unresolved.iter().map(unresolved));
        }
        text.extend(outside(self));
        if !self.unknown.is_empty() {
            let names: Vec<String> = self
                .unknown
                .iter()
                .take(MAX_UNKNOWN)
                .map(|unknown| format!("{} {}", printable(&unknown.name), unknown.lines[0]))
                .collect();
            let n = self.unknown.len();
            let more = if n > names.len() { " …" } else { "" };
            text.push(format!(
                "{} of unknown meaning, with the line: {}{more}",
                count(n, "name"),
                names.join(", ")
            ));
        }
        text
    }
}
