//! `cortex_graph`: queries callers, dependencies, paths and impact in the code graph.

use super::budget::{TokenBudget, fit};
use super::reply::{Reply, printable, quoted, shown_place};
use super::tool::{Question, ToolGroup};
use crate::engine::{
    AnswerState, AskError, Call, Engine, GraphAnswer, GraphNode, GraphRequest, GraphRow,
};
use crate::text::count;

/// Maximum number of uses that are listed for one result.
const MAX_SITES: usize = 10;

impl Question for GraphRequest {
    const NAME: &'static str = "cortex_graph";
    const TITLE: &'static str = "Query the code graph";
    const WHEN: &'static str =
        "callers, uses, tests, dependencies, impact: before you change a signature or delete code.";
    const DESCRIPTION: &'static str = "Find what calls, uses, implements or depends on a symbol or file, what a change may affect, and which tests to run after it. Use it before you change a signature or delete code; for text use cortex_grep.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    type Reply = GraphAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GraphAnswer, AskError> {
        let mut answer = engine.graph(&self, call)?;
        if answer.targets.is_empty() {
            return Err(AskError::NotFound(engine.unknown_symbol(&self.target, call)?));
        }
        let rows = answer.results.iter_mut().chain(&mut answer.candidates);
        for row in rows.chain(&mut answer.unresolved) {
            row.sites.truncate(MAX_SITES);
        }
        let n_rows = answer.results.len() + answer.candidates.len() + answer.unresolved.len();
        Ok(fit(budget, n_rows, |n| answer.first(n)))
    }
}

fn place(node: &GraphNode) -> String {
    let line = if node.line > 0 { format!(":{}", node.line) } else { String::new() };
    let place = shown_place(&format!("{}{line}", node.path));
    format!("{place} {} {}", node.kind, printable(&node.symbol))
}

/// Returns the last part of a qualified name.
fn last_name(symbol: &str) -> &str {
    symbol.rsplit([':', '.', '#', '/']).next().unwrap_or(symbol)
}

fn unresolved(row: &GraphRow) -> String {
    let sites: Vec<String> = row.sites.iter().map(u32::to_string).collect();
    format!("{} at {}", place(&row.node), sites.join(", "))
}

fn lines(row: &GraphRow) -> Vec<String> {
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

/// Returns how to run the tests of an answer; if there are none, where their text has the name.
fn tests(answer: &GraphAnswer) -> Vec<String> {
    let Some(n_files) = answer.test_files else { return Vec::new() };
    let mut text = Vec::new();
    if answer.results.is_empty() && answer.total == 0 {
        text.push(format!("no test reaches it, of {}", count(n_files, "test file")));
    }
    if !answer.mentions.is_empty() {
        text.push("the name is in the text of tests:".into());
    }
    text.extend(answer.mentions.iter().map(|mention| {
        let at = shown_place(&format!("{}:{}", mention.path, mention.line));
        format!("{at} {}", printable(&mention.text))
    }));
    let what = if answer.runs_files { "run the files of all tests" } else { "run" };
    text.extend(answer.commands.iter().map(|command| format!("{what}: {}", printable(command))));
    text
}

impl Reply for GraphAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut text: Vec<String> =
            self.targets.iter().map(|target| format!("of {}", place(target))).collect();
        let cut =
            if self.truncated { format!(", {} shown", self.results.len()) } else { String::new() };
        text.push(format!("{}{cut}", count(self.total, "result")));
        text.extend(self.results.iter().flat_map(lines));
        if !self.candidates.is_empty() {
            text.push("candidates, less certain:".into());
            text.extend(self.candidates.iter().flat_map(lines));
        }
        text.extend(tests(self));
        if self.total_unresolved > 0 {
            let name = self.targets.first().map_or("", |target| last_name(&target.symbol));
            let how =
                if self.unresolved.is_empty() { ": unresolved: true lists them" } else { ":" };
            text.push(format!(
                "{} use something named {} whose type is unknown{how}",
                count(self.total_unresolved, "more place"),
                printable(name)
            ));
            text.extend(self.unresolved.iter().map(unresolved));
        }
        text
    }
}
