//! `cortex_explore`: the code that answers a call of several entries, in one reply.

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Plain, Reply, printable, quoted, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, ExcerptRow, ExploreAnswer, ExploreRequest, FileLines,
    GraphNode, Mentions, NameUse, ShownFile, Subject, TextLines,
};
use crate::text::{MAX_LINE, count, cut};

/// The limit of a reply if the caller gives none.
const TOKENS: usize = 7000;
/// Rows of users of each named symbol in the smallest reply, and in the largest.
const FEW_USERS: usize = 4;
const MANY_USERS: usize = 16;
/// Of more lines with a text, only their numbers are shown.
const MANY_LINES: usize = 60;
/// The code of a reply grows by this many bytes.
const STEP: usize = 256;
/// A reply names one place without its code for this many tokens, within these bounds.
const TOKENS_OF_PLACE: usize = 400;
const MIN_LEFT_OUT: usize = 6;
const MAX_LEFT_OUT: usize = 30;
/// Most names in a line of names.
const MAX_NAMES: usize = 15;

impl Question for ExploreRequest {
    const NAME: &'static str = "cortex_explore";
    const TITLE: &'static str = "Explore code";
    const WHEN: &'static str = "the code that answers a question. Start here.";
    const DESCRIPTION: &'static str = "Answer a question about the code in one call. In `about`, pass the question and, as entries of their own, five to seven names, keys and messages that you guess: together they find the code and what is around it. Symbols come with all their users (and tests, if asked for), keys with all their lines.";
    const TOKENS: usize = TOKENS;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> =
        |q| Mentions::of(q.about.iter_mut().chain(&mut q.filters.paths));
    type Reply = ExploreAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ExploreAnswer, AskError> {
        Ok(fitted(&engine.explore(&self, call)?, budget))
    }
}

/// Returns as much of an answer as fits.
fn fitted(answer: &ExploreAnswer, budget: TokenBudget) -> ExploreAnswer {
    let top = answer.top().div_ceil(STEP) + 1;
    let n_users = if budget.limit() < TOKENS { FEW_USERS } else { MANY_USERS };
    let n_left_out = (budget.limit() / TOKENS_OF_PLACE).clamp(MIN_LEFT_OUT, MAX_LEFT_OUT);
    fit(budget, top, |level| answer.at(level * STEP, n_users, n_left_out))
}

impl Reply for ExploreAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let mut text: Vec<String> =
            self.subjects.iter().flat_map(|one| self.subject(one)).collect();
        text.extend(self.past.iter().flat_map(super::history::row_lines));
        text.extend(self.code.iter().flat_map(file));
        if !self.more.is_empty() {
            text.push("further places, without their code:".into());
            text.extend(by_file(&self.more));
        }
        text
    }
}

impl ExploreAnswer {
    fn subject(&self, subject: &Subject) -> Vec<String> {
        let mut text = Vec::new();
        let about = printable(&cut(&subject.about, 80));
        text.extend(subject.note.as_deref().map(|note| format!("{about}: {}", printable(note))));
        text.extend(
            subject.read.iter().flat_map(|place| super::read::place_lines(&Plain, place, &[])),
        );
        if let Some(users) = &subject.users {
            let target = users.targets.first();
            text.extend(target.map(|node| super::graph::place(&Plain, node)));
            let shows = |path: &str, line| self.shows(path, line);
            if users.results.is_empty() && users.candidates.is_empty() && users.tests.is_empty() {
                text.push("no users are known".into());
            } else {
                text.extend(users.users(&Plain, &shows));
            }
            if users.unresolved_in.is_empty() {
                let others = users.unresolved.iter().filter(|one| !shows(&one.path, one.line));
                text.extend(others.map(|one| super::graph::unresolved(&Plain, one)));
            }
            if self.wants_tests {
                text.extend(users.tests_to_run(&Plain));
            }
        }
        text.extend(subject.lines.iter().flat_map(|lines| self.lines_with(&about, lines)));
        if !subject.others.is_empty() {
            text.push(format!("also named {about}: {}", by_file(&subject.others).join("; ")));
        }
        text
    }

    /// Shows the lines with a text: where they are in the code below, and the others; of many, only how many
    /// each file has.
    fn lines_with(&self, about: &str, of: &TextLines) -> Vec<String> {
        let (lines, files) = (count(of.total, "line"), count(of.total_files, "file"));
        let mut text = vec![format!("{about}: {lines} in {files}")];
        let rows = if of.total > MANY_LINES { &[] } else { &*of.lines };
        let (below, others): (Vec<&NameUse>, Vec<&NameUse>) =
            rows.iter().partition(|one| self.shows(&one.path, one.line));
        if !below.is_empty() {
            let at = |one: &NameUse| shown_place(&format!("{}:{}", one.path, one.line));
            let below: Vec<String> = below.into_iter().map(at).collect();
            text.push(format!("in the code below: {}", below.join(", ")));
        }
        let shown = |one| super::graph::unresolved(&Plain, one);
        text.extend(others.into_iter().map(shown));
        if rows.len() < of.total {
            let is_left = |file: &&FileLines| rows.iter().all(|row| row.path != file.path);
            let file = |file: &FileLines| format!("{} {}", shown_place(&file.path), file.lines);
            let named: Vec<String> =
                of.files.iter().filter(is_left).take(MAX_NAMES).map(file).collect();
            let n = of.total - rows.len();
            text.push(
                format!("{n} more: {}", named.join(", ")).trim_end_matches([':', ' ']).into(),
            );
        }
        text
    }

    /// Whether the code has a line.
    fn shows(&self, path: &str, line: u32) -> bool {
        let file = self.code.iter().find(|file| file.path == path);
        let mut windows = file.iter().flat_map(|f| &f.excerpts).flat_map(|e| &e.windows);
        windows.any(|w| (w.start_line..=w.end_line()).contains(&line))
    }
}

fn file(file: &ShownFile) -> Vec<String> {
    let mut text = Vec::new();
    for (i, excerpt) in file.excerpts.iter().enumerate() {
        if i == 0 {
            text.push(format!("## {}", shown_place(&file.path)));
        }
        text.extend(code(excerpt));
    }
    text
}

/// Shows the lines of a region with their numbers.
fn code(excerpt: &ExcerptRow) -> Vec<String> {
    let name = printable(&excerpt.symbol);
    let mut text = vec![
        format!("{}-{} {} {name}", excerpt.start_line, excerpt.end_line, excerpt.kind)
            .trim_end()
            .to_string(),
    ];
    for (i, window) in excerpt.windows.iter().enumerate() {
        text.extend((i > 0).then(|| " …".to_string()));
        let lines = (window.start_line..).zip(window.text.lines());
        let said = lines.filter(|(_, line)| !line.trim().is_empty());
        text.extend(said.map(|(n, line)| quoted(&format!("{n} {}", cut(line, MAX_LINE)))));
    }
    text
}

/// Names symbols with their lines, a line for each file.
fn by_file(nodes: &[GraphNode]) -> Vec<String> {
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for node in nodes {
        let name = format!("{}-{} {}", node.line, node.end_line, printable(&node.symbol));
        match files.iter_mut().find(|(path, _)| *path == node.path) {
            Some((_, names)) => names.push(name.trim_end().to_string()),
            None => files.push((&node.path, vec![name.trim_end().to_string()])),
        }
    }
    let file = |(path, names): &(&str, Vec<String>)| {
        let shown = &names[..names.len().min(MAX_NAMES)];
        format!("{}: {}", shown_place(path), shown.join(", "))
    };
    files.iter().map(file).collect()
}
