//! `cortex_graph`: queries callers, dependencies, paths and impact in the code graph.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Reply, printable, quoted};
use super::tool::{Question, ToolGroup};
use crate::engine::{
    AnswerState, AroundRequest, AskError, Call, Engine, GraphAnswer, GraphNode, GraphRow, Mentions,
    NameUse, Namesake, Operation, OutsideName, TargetRows, TestsByClass, TestsRequest,
    UnusedRequest, UsesInFile, check_end,
};
use crate::text::count;

/// Maximum number of uses that are listed for one result.
const MAX_SITES: usize = 10;
/// Maximum number of names of unknown meaning that are listed.
const MAX_UNKNOWN: usize = 12;
/// Maximum number of other symbols of the same name that are listed.
const MAX_NAMESAKES: usize = 4;

/// The arguments of all questions to the code graph.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// impact: what a change may affect; tests: which reach it; unused: dead code; routes: HTTP routes,
    /// handlers, clients.
    #[schemars(extend("enum" = operations()))]
    operation: String,
    /// A name, `Type::method`, `file.rs:line` or a file; unused: a folder, `.`; routes: `GET /users/{id}`, `.`.
    target: String,
    /// path: the symbol or file at its end.
    to: Option<String>,
    /// Maximum number of steps. Default: 1, of callers and tests 3.
    #[schemars(range(min = 1, max = 10))]
    depth: Option<usize>,
    /// Lines to show around the first use.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    context: usize,
    /// List up to `limit` uses of the target's name whose meaning is unknown, not only the first.
    #[serde(default)]
    unresolved: bool,
    /// unused: list public symbols of libraries, too.
    #[serde(default)]
    public: bool,
    /// Maximum number of results. Default: 30 and all direct users, of tests 20.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

fn operations() -> Vec<&'static str> {
    Operation::ALL.into_iter().map(Operation::as_str).collect()
}

impl Args {
    /// Asks the question that the operation names.
    fn ask(self, engine: &Engine, call: &Call) -> Result<GraphAnswer, AskError> {
        let Self { target, to, depth, context, unresolved, public, limit, .. } = self;
        let unknown = || {
            let known = operations().join(", ");
            AskError::Arguments(format!(
                "there is no operation `{}`: give one of {known}",
                self.operation
            ))
        };
        let operation = Operation::parse(&self.operation).ok_or_else(unknown)?;
        check_end(operation, to.as_deref())?;
        let of = TargetRows { target, limit, context };
        match operation {
            Operation::Tests => engine.tests_of(&TestsRequest { of, depth }, call),
            Operation::Unused => engine.unused(&UnusedRequest { of, public }, call),
            Operation::Routes => engine.routes(&of, &[], call),
            _ => engine.around(&AroundRequest { operation, of, to, depth, unresolved }, call),
        }
    }
}

impl Question for Args {
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
        let target = self.target.clone();
        let mut answer = self.ask(engine, call)?;
        if answer.targets.is_empty() && !answer.is_routes() {
            return Err(AskError::NotFound(engine.unknown_symbol(&target, call)?));
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

/// Shows a symbol or a file.
pub(super) fn place(look: &dyn Look, node: &GraphNode) -> String {
    let place = look.at(&node.path, node.line);
    if node.line == 0 && node.symbol == node.path {
        return place;
    }
    format!("{place} {} {}", printable(&node.kind), look.name(&node.symbol))
}

/// Returns the last part of a qualified name.
fn last_name(symbol: &str) -> &str {
    symbol.rsplit([':', '.', '#', '/']).next().unwrap_or(symbol)
}

/// Shows a use of a name of which the graph does not know the meaning.
pub(super) fn unresolved(look: &dyn Look, name_use: &NameUse) -> String {
    let NameUse { path, line, symbol, text } = name_use;
    let symbol = symbol.as_deref().map(|name| format!(" {}", look.name(name))).unwrap_or_default();
    look.row(format!("{}{symbol}:{}", look.at(path, *line), quoted(text)))
}

/// Shows a route, or what requests it, with the lines around it.
fn route_lines(look: &dyn Look, row: &GraphRow) -> Vec<String> {
    let GraphRow { node, sites, .. } = row;
    let reason = printable(row.reason.as_deref().unwrap_or_default());
    let sure =
        if row.confidence < 0.9 { format!(", {:.2}", row.confidence) } else { String::new() };
    let handler =
        if node.symbol.is_empty() { look.at(&node.path, node.line) } else { place(look, node) };
    let head = if row.depth > 0 {
        let more: Vec<String> = sites.iter().skip(1).take(MAX_SITES).map(u32::to_string).collect();
        let more =
            if more.is_empty() { String::new() } else { format!(", also at {}", more.join(", ")) };
        format!("  {handler} {}", look.aside(&format!("{reason}{sure}{more}")))
    } else {
        let is_there = row.via == node.path;
        let at = match sites.first().copied().unwrap_or_default() {
            site if is_there && site == node.line => String::new(),
            site if is_there => format!(", registered at {site}"),
            site => format!(", registered at {}", look.at(&row.via, site)),
        };
        format!("{reason}: {handler}{}", look.aside(&format!("{at}{sure}")))
    };
    std::iter::once(look.row(head)).chain(context(look, row)).collect()
}

fn row_lines(look: &dyn Look, row: &GraphRow) -> Vec<String> {
    let sites: Vec<String> = row.sites.iter().take(MAX_SITES).map(u32::to_string).collect();
    let uses =
        if sites.is_empty() { String::new() } else { format!(", uses at {}", sites.join(", ")) };
    let via = if row.depth > 1 {
        format!(", {} steps, via {}", row.depth, printable(&row.via))
    } else {
        String::new()
    };
    let notes = match &row.reason {
        Some(reason) => format!(", {}{uses}", printable(reason)),
        None => format!("{uses}{via}, {:.2}", row.confidence),
    };
    let head = look.row(format!("{}{}", place(look, &row.node), look.aside(&notes)));
    std::iter::once(head).chain(context(look, row)).collect()
}

/// Shows a user: the line of its first use, the symbol around that, the statement, the other lines, and
/// over which symbol it reaches the target.
pub(super) fn user_lines(look: &dyn Look, row: &GraphRow) -> Vec<String> {
    let GraphRow { node, sites, text, .. } = row;
    let line = sites.first().copied().unwrap_or(node.line);
    let symbol =
        if node.line > 0 { format!(" {}", look.name(&node.symbol)) } else { String::new() };
    let notes = printable(&row.notes().join(", "));
    let notes = if notes.is_empty() { String::new() } else { look.aside(&format!(" ({notes})")) };
    // The lines around the use have the statement.
    let text = text.as_deref().filter(|_| row.context.is_none());
    let text = text.map(|text| format!(":{}", quoted(text))).unwrap_or_default();
    let head = look.row(format!("{}{symbol}{notes}{text}", look.at(&node.path, line)));
    std::iter::once(head).chain(context(look, row)).collect()
}

/// Shows the lines around the first use.
fn context(look: &dyn Look, row: &GraphRow) -> Vec<String> {
    let text = row.context.as_deref().unwrap_or_default();
    look.code(row.context_start_line.unwrap_or(1), text)
}

/// Shows the tests by class or file.
pub(super) fn tests_lines(look: &dyn Look, tests: &TestsByClass) -> Vec<String> {
    let mut text = vec![look.aside(&tests.heading())];
    for (heading, groups) in tests.parts() {
        text.push(look.aside(heading));
        text.extend(groups.into_iter().map(|group| {
            let class = if group.class.is_empty() {
                String::new()
            } else {
                format!(" {}", look.name(&group.class))
            };
            let line = group.lines.first().copied().unwrap_or_default();
            let file = look.file(&group.path, line);
            look.row(format!("{file}{class}: {}", printable(&group.summary())))
        }));
    }
    text.extend(tests.more_note());
    text.extend(tests.untested_note().map(|note| look.aside(&printable(&note))));
    text
}

/// Shows the lines of one file that use a name with an unknown meaning.
fn uses_in_file(look: &dyn Look, file: &UsesInFile) -> String {
    let at = file.shown_lines().map(|lines| format!(" ({lines})")).unwrap_or_default();
    let line = file.lines.first().copied().unwrap_or_default();
    look.row(format!("{} {}{at}", look.file(&file.path, line), count(file.uses, "line")))
}

impl GraphAnswer {
    /// Says which uses of the target's name are not among the results.
    fn beside(&self, look: &dyn Look) -> Vec<String> {
        let Some(target) = self.targets.first().filter(|_| self.is_about_uses()) else {
            return Vec::new();
        };
        let name = printable(last_name(&target.symbol));
        let mut text = Vec::new();
        if self.results.is_empty() && !self.namesakes.is_empty() {
            let namesake = |of: &Namesake| format!("{} ({})", place(look, &of.node), of.uses);
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
                    let how = look
                        .advice("cortex_grep with word: true lists all", "--unresolved lists more");
                    format!(", {shown} shown ({how})")
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
fn outside(look: &dyn Look, answer: &GraphAnswer) -> Vec<String> {
    let mut text = Vec::new();
    if !answer.outside.is_empty() {
        text.push(look.aside("outside of the project, with the line:"));
    }
    text.extend(answer.outside.iter().map(|name| {
        let at = name.address.as_ref().unwrap_or(&name.package);
        let why = name.missing.as_ref().map(|why| format!(", {}", printable(why)));
        let why = why.unwrap_or_default();
        let name = format!("{} {}", look.name(&name.name), name.lines[0]);
        look.row(format!("{name} {}{}", printable(at), look.aside(&why)))
    }));
    let command = OutsideName::command_for(&answer.outside);
    text.extend(command.map(|command| format!("`{command}` indexes packages")));
    text
}

impl GraphAnswer {
    /// Shows who uses the target: code outside of tests by steps. `shown` tells the lines that the reply has
    /// anyway; of these only the places are named.
    pub(super) fn users(&self, look: &dyn Look, shown: &dyn Fn(&str, u32) -> bool) -> Vec<String> {
        let mut text = vec![self.users_heading()];
        for (step, rows) in self.steps() {
            if step > 1 {
                text.push(look.aside(&format!("step {step}:")));
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
            text.extend(others.into_iter().flat_map(|row| user_lines(look, row)));
        }
        text.extend(self.completeness().map(|said| printable(&said)));
        text.extend(self.unresolved_in.iter().map(|file| uses_in_file(look, file)));
        text
    }

    /// Shows the tests that reach the target, and how to run them.
    pub(super) fn tests_to_run(&self, look: &dyn Look) -> Vec<String> {
        let mut text = tests_lines(look, &self.tests);
        text.extend(commands(&self.commands));
        text
    }
}

impl Reply for GraphAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let lines: fn(&dyn Look, &GraphRow) -> Vec<String> = match self.operation {
            Operation::Routes => route_lines,
            operation if operation.lists_users() => user_lines,
            _ => row_lines,
        };
        let rows = |rows: &[&GraphRow]| -> Vec<String> {
            rows.iter().flat_map(|row| lines(look, row)).collect()
        };
        let results: Vec<&GraphRow> = self.results.iter().collect();
        let mut text: Vec<String> = self
            .targets
            .iter()
            .filter(|target| target.kind != "folder")
            .map(|target| format!("of {}", place(look, target)))
            .collect();
        if self.total_targets > self.targets.len() {
            text.push(format!("of {} more", self.total_targets - self.targets.len()));
        }
        if self.operation.lists_users() {
            text.extend(self.users(look, &|_, _| false));
            text.extend(self.tests_to_run(look));
        } else if self.test_files.is_some() {
            if results.iter().any(|row| row.context.is_some()) {
                text.extend(rows(&results));
            } else if !self.tests.is_empty() {
                text.extend(tests_lines(look, &self.tests));
            }
            text.extend(commands(&self.commands));
        } else {
            let cut =
                if self.truncated { format!(", {} shown", results.len()) } else { String::new() };
            text.push(format!("{}{cut}", count(self.total, "result")));
            text.extend(rows(&results));
        }
        let candidates: Vec<&GraphRow> = self.further_candidates().collect();
        if !candidates.is_empty() {
            text.push(look.aside("candidates, less certain:"));
            text.extend(rows(&candidates));
        }
        text.extend(self.left_out().map(|said| look.aside(&said)));
        text.extend(tests(self));
        text.extend(self.beside(look));
        if self.unresolved_in.is_empty() {
            text.extend(self.unresolved.iter().map(|of| unresolved(look, of)));
        }
        text.extend(outside(look, self));
        if !self.unknown.is_empty() {
            let names: Vec<String> = self
                .unknown
                .iter()
                .take(MAX_UNKNOWN)
                .map(|unknown| format!("{} {}", printable(&unknown.name), unknown.lines[0]))
                .collect();
            let n = self.unknown.len();
            let more = if n > names.len() { " …" } else { "" };
            text.push(look.aside(&format!(
                "{} of unknown meaning, with the line: {}{more}",
                count(n, "name"),
                names.join(", ")
            )));
        }
        text
    }
}
