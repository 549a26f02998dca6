//! `cortex_grep`: finds lines by literal text or a regular expression.

use super::budget::{TokenBudget, fit};
use super::reply::{Reply, printable, printable_code, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, GrepAnswer, GrepFile, GrepRequest, PublishedRepository,
};
use crate::text::{count, cut_around};

/// Maximum number of characters of a line that are shown.
const MAX_LINE: usize = 240;

impl Question for GrepRequest {
    const NAME: &'static str = "cortex_grep";
    const TITLE: &'static str = "Find lines by text or regular expression";
    const WHEN: &'static str = "every line with a text or a pattern, with totals.";
    const DESCRIPTION: &'static str = "Find every line that holds a text or matches a regular expression, as ripgrep does, source files first, under the symbol around it, with exact totals. For a concept use cortex_search, for callers cortex_graph.";
    type Reply = GrepAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GrepAnswer, AskError> {
        let answer = engine.grep(&self, call)?;
        Ok(fit(budget, answer.n_units(), |n| answer.first(n)))
    }

    fn answer_published(
        self,
        repository: &PublishedRepository,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<GrepAnswer, AskError> {
        let answer = repository.grep(&self, call)?;
        Ok(fit(budget, answer.n_units(), |n| answer.first(n)))
    }
}

impl Reply for GrepAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![head(self)];
        for file in &self.files {
            lines.extend(file_lines(file));
        }
        lines.extend(self.next_cursor.as_ref().map(|cursor| format!("more: cursor {cursor}")));
        lines
    }
}

fn head(answer: &GrepAnswer) -> String {
    if answer.total == 0 {
        return format!("no line matches in {}", count(answer.searched, "file"));
    }
    let shown: usize = answer.n_units();
    let part =
        if answer.next_cursor.is_some() { format!(", {shown} shown") } else { String::new() };
    format!(
        "{} in {}{part}",
        count(answer.total, "matching line"),
        count(answer.total_files, "file")
    )
}

/// Returns the path of a file, and below it the lines under the names of their symbols.
fn file_lines(file: &GrepFile) -> Vec<String> {
    if file.lines.is_empty() {
        return vec![format!("{}: {}", shown_place(&file.path), file.matches)];
    }
    let mut lines = vec![shown_place(&file.path)];
    let (mut symbol, mut last) = (None, None);
    for line in &file.lines {
        if let Some(n) = line.matches {
            let name = line.symbol.as_deref().map_or("outside of symbols".into(), printable);
            lines.push(format!(" {name}: {} from {}", count(n, "line"), line.line));
            continue;
        }
        if line.symbol != symbol {
            lines.extend(line.symbol.as_ref().map(|name| format!(" in {}", printable(name))));
            symbol.clone_from(&line.symbol);
        } else if last.is_some_and(|last| line.line > last + 1) && file.has_context() {
            lines.push(" …".into());
        }
        last = Some(line.line);
        let mark = if line.is_match { ':' } else { '-' };
        lines.push(format!(
            "{}{mark} {}",
            line.line,
            printable_code(&cut_around(line.text.trim_end(), line.match_at, MAX_LINE))
        ));
    }
    lines
}
