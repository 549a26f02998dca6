//! `cortex_grep`: finds lines by literal text or a regular expression.

use super::budget::{Format, TokenBudget, fit};
use super::reply::{Look, Reply, printable};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, Fold, GrepAnswer, GrepFile, GrepLines, GrepRequest,
    Mentions, PublishedRepository,
};
use crate::text::{count, cut_around};

/// Maximum number of characters of a line that are shown.
const MAX_LINE: usize = 240;
/// Maximum number of files or folders of a kind that are named.
const MAX_PARTS: usize = 5;

impl Question for GrepRequest {
    const NAME: &'static str = "cortex_grep";
    const TITLE: &'static str = "Find lines by text or regular expression";
    const WHEN: &'static str = "every line with a text or a pattern, with totals.";
    const DESCRIPTION: &'static str = "Find every line with a text or a regular expression, source files first, under the symbol around it, with exact totals. Lines of tests, locales, migrations, snapshots, generated and vendored files are counted; name these in `paths` to list them.";
    const UNLISTED: &'static [&'static str] = &["count", "files_only", "symbols"];
    // Who asks for every line asks again if half of them are cut.
    const TOKENS: usize = 4000;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.paths);
    type Reply = GrepAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GrepAnswer, AskError> {
        let answer = engine.grep(&self.in_form(budget), call)?;
        Ok(fit(budget, answer.found.n_units(), |n| answer.first(n)))
    }

    fn answer_published(
        self,
        repository: &PublishedRepository,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GrepAnswer, AskError> {
        let answer = repository.grep(&self.in_form(budget), call)?;
        Ok(fit(budget, answer.found.n_units(), |n| answer.first(n)))
    }
}

impl GrepRequest {
    /// Returns the request for a reply in the form of the budget: a program gets every line.
    fn in_form(self, budget: TokenBudget) -> Self {
        Self { folds: budget.format() == Format::Text, ..self }
    }
}

impl Reply for GrepAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let mut lines = vec![head(&self.found)];
        lines.extend(listed(look, &self.found));
        lines.extend(end(look, &self.found));
        lines
    }
}

/// Says how many lines match.
pub(super) fn head(found: &GrepLines) -> String {
    if found.total == 0 {
        return format!("no line matches in {}", count(found.searched, "file"));
    }
    let shown: usize = found.n_units();
    let part = if found.next_cursor.is_some() { format!(", {shown} shown") } else { String::new() };
    format!("{} in {}{part}", count(found.total, "matching line"), count(found.total_files, "file"))
}

/// Returns the lines below their files, and the files that are counted.
pub(super) fn listed(look: &dyn Look, found: &GrepLines) -> Vec<String> {
    let mut lines: Vec<String> =
        found.files.iter().flat_map(|file| file_lines(look, file)).collect();
    lines.extend(found.folded.iter().map(|fold| fold_line(look, fold)));
    lines
}

/// Says that nothing is missing, or how to get the rest. Warnings say what was not searched.
pub(super) fn end(look: &dyn Look, found: &GrepLines) -> Option<String> {
    if let Some(cursor) = &found.next_cursor {
        return Some(look.advice(&format!("more: cursor {cursor}"), "more: raise -n").to_string());
    }
    if found.left_out > 0 {
        let (n, limit) = (count(found.left_out, "line"), look.advice("max_per_file", "-m"));
        return Some(format!("{n} left out by {limit}: raise it"));
    }
    (found.is_whole && found.total > 0).then(|| {
        let (lines, files) = (count(found.total, "line"), count(found.total_files, "file"));
        format!("complete: {lines} in {files}")
    })
}

/// Returns the line of files that are counted: `tests: 3 lines in 2 files: tests/a.py 2, tests/b.py 1`.
fn fold_line(look: &dyn Look, fold: &Fold) -> String {
    let named: Vec<String> = match &*fold.parts {
        [(one, _)] => vec![look.at(one, 0)],
        parts => {
            let shown = parts.iter().take(MAX_PARTS);
            shown.map(|(part, n)| format!("{} {n}", look.at(part, 0))).collect()
        }
    };
    let before = if fold.are_files { ": " } else { " under " };
    let more = if fold.parts.len() > MAX_PARTS { ", …" } else { "" };
    let (lines, files) = (count(fold.lines, "line"), count(fold.files, "file"));
    format!("{}: {lines} in {files}{before}{}{more}", fold.kind, named.join(", "))
}

/// Returns the path of a file, and below it the lines under the names of their symbols.
fn file_lines(look: &dyn Look, file: &GrepFile) -> Vec<String> {
    let path = look.at(&file.path, 0);
    if file.lines.is_empty() {
        return vec![format!("{path}: {}", file.matches)];
    }
    let mut lines = vec![path];
    let (mut symbol, mut last) = (None, None);
    for line in &file.lines {
        if let Some(n) = line.matches {
            let name = line.symbol.as_deref().map_or("outside of symbols".into(), printable);
            lines.push(look.row(format!(" {name}: {} from {}", count(n, "line"), line.line)));
            continue;
        }
        if line.symbol != symbol {
            let name = line.symbol.as_ref();
            lines.extend(name.map(|name| look.aside(&format!(" in {}", printable(name)))));
            symbol.clone_from(&line.symbol);
        } else if last.is_some_and(|last| line.line > last + 1) && file.has_context() {
            lines.push(" …".into());
        }
        last = Some(line.line);
        let mark = if line.is_match { ':' } else { '-' };
        let text = cut_around(line.text.trim_end(), line.match_at, MAX_LINE);
        lines.push(look.found(&file.path, line.line, mark, &text));
    }
    lines
}
