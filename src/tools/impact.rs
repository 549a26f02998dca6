//! `cortex_impact`: says before a change what it touches.

use super::budget::{TokenBudget, fit};
use super::graph::{commands, place, tests_lines, unresolved, user_lines};
use super::reply::{Look, Reply, printable};
use super::tool::{Question, ToolGroup};
use crate::engine::{
    AnswerState, AskError, Call, ChangedSymbol, Engine, ImpactAnswer, ImpactRequest, Mentions,
    NextFile, Together,
};
use crate::text::count;

/// Maximum number of lines of uses that a row names.
const MAX_SITES: usize = 5;

impl Question for ImpactRequest {
    const NAME: &'static str = "cortex_impact";
    const TITLE: &'static str = "See what a change touches";
    const WHEN: &'static str =
        "before or after a change: what it touches, users, tests, files that change with it.";
    const DESCRIPTION: &'static str = "See what your uncommitted change, a range of commits or files that you plan to change touch: users of the changed symbols, tests with commands, files that usually change together, and which files to look at next. Use it before an edit, and before you finish.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    const TOKENS: usize = 1200;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.files);
    type Reply = ImpactAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ImpactAnswer, AskError> {
        let mut answer = engine.impact(&self, call)?;
        for row in answer.users.iter_mut().chain(&mut answer.candidates).chain(&mut answer.tests) {
            row.sites.truncate(MAX_SITES);
        }
        Ok(fit(budget, answer.longest(), |n| answer.first(n)))
    }
}

fn changed(look: &dyn Look, symbol: &ChangedSymbol) -> String {
    let public = if symbol.public == Some(true) { ", public" } else { "" };
    let how = look.aside(&format!(", {}{public}", symbol.how.as_str()));
    look.row(format!("{}{how}", place(look, &symbol.node)))
}

fn next(look: &dyn Look, file: &NextFile) -> String {
    let reasons = look.aside(&printable(&file.reasons.join("; ")));
    look.row(format!("{} {reasons}", look.at(&file.path, file.line)))
}

fn together(look: &dyn Look, file: &Together) -> String {
    let percent = file.confidence * 100.0;
    let with = printable(&file.with);
    let n = count(file.support, "commit");
    let what = look.aside(&format!("with {with} in {n}, {percent:.0}%"));
    look.row(format!("{} {what}", look.at(&file.path, 0)))
}

/// Returns a heading, which says how many rows are left out.
fn heading(what: &str, total: usize, shown: usize) -> String {
    if total > shown {
        format!("{what}: {total}, {shown} shown")
    } else {
        format!("{what}: {total}")
    }
}

impl Reply for ImpactAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        if self.is_empty() {
            return vec![format!(
                "nothing is changed ({}): give a range (HEAD~1, main..), or files that you are about to change",
                printable(&self.of)
            )];
        }
        let mut text = vec![format!(
            "{}, in {} ({})",
            heading("changed", self.total_changed, self.changed.len()),
            count(self.changed_files, "file"),
            printable(&self.of)
        )];
        text.extend(self.changed.iter().map(|of| changed(look, of)));
        if !self.deleted_uses.is_empty() {
            text.push(look.aside("still used, though the change deletes it:"));
            text.extend(self.deleted_uses.iter().map(|row| unresolved(look, &row.name_use)));
        }
        if !self.files.is_empty() {
            text.push(look.aside("look at next, likeliest first:"));
            text.extend(self.files.iter().map(|file| next(look, file)));
        }
        text.push(look.aside(&heading("users", self.total_users, self.users.len())));
        text.extend(self.users.iter().flat_map(|row| user_lines(look, row)));
        if !self.candidates.is_empty() {
            text.push(look.aside("may use it, less certain:"));
            text.extend(self.candidates.iter().flat_map(|row| user_lines(look, row)));
        }
        text.extend(tests_lines(look, &self.tests_by_class));
        text.extend(commands(&self.commands));
        // The list above names most of them, with the same reason.
        let is_new = |file: &&Together| !self.files.iter().any(|next| next.path == file.path);
        let rest: Vec<&Together> = self.together.iter().filter(is_new).collect();
        if !rest.is_empty() {
            text.push(look.aside("often changed together, too:"));
            text.extend(rest.into_iter().map(|file| together(look, file)));
        }
        text
    }
}
