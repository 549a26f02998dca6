//! `cortex_read`: reads the current lines of a file. Only indexed files can be read.

use super::budget::{TokenBudget, fit};
use super::reply::{Reply, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, PublishedRepository, ReadAnswer, ReadRequest,
};

/// Number of lines of a range or a symbol that are given whatever they cost, unless the caller sets
/// `max_tokens`.
const MAX_GIVEN: usize = 400;
/// A range is not cut this few lines before its end.
const FEW: usize = 10;

impl Question for ReadRequest {
    const NAME: &'static str = "cortex_read";
    const TITLE: &'static str = "Read lines of a file";
    const WHEN: &'static str =
        "lines of a file. Read what a search found instead of the whole file.";
    const DESCRIPTION: &'static str = "Read lines of an indexed file as it is on disk, or a chunk by its id. Read the lines that a result names, not whole files. Secrets are shown as [REDACTED:rule].";
    type Reply = ReadAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ReadAnswer, AskError> {
        Ok(fitted(&engine.read(&self, call)?, budget))
    }

    fn answer_published(
        self,
        repository: &PublishedRepository,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ReadAnswer, AskError> {
        Ok(fitted(&repository.read(&self, call)?, budget))
    }
}

/// Returns as much of an answer as fits.
fn fitted(answer: &ReadAnswer, budget: TokenBudget) -> ReadAnswer {
    // A single line must not exceed the budget, so each line is cut to this many characters.
    let room = budget.limit();
    let n_lines = answer.n_lines();
    // A cut range would cost the agent a second call.
    let least = match n_lines {
        _ if !budget.is_default() || answer.is_whole_file() => 1,
        n if n <= MAX_GIVEN + FEW => n,
        _ => MAX_GIVEN,
    };
    fit(budget, n_lines.saturating_sub(least), |level| answer.first(level + least, room))
}

impl Reply for ReadAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let what = self.path.as_deref().or(self.chunk_id.as_deref()).unwrap_or_default();
        let place = shown_place(&format!("{what}:{}-{}", self.start_line, self.end_line));
        let cut = self.next_start_line.map(|next| format!(", cut: lines {next}- are left out"));
        let mut lines =
            vec![format!("{place} of {} lines{}", self.total_lines, cut.unwrap_or_default())];
        let numbered = |first: usize, content: &str| -> Vec<String> {
            let rows = (first..).zip(content.split('\n'));
            rows.map(|(number, line)| format!("{number:>5} {line}")).collect()
        };
        if self.total_lines > 0 {
            lines.extend(numbered(self.start_line, &self.content));
            for range in &self.more {
                lines.push("    …".into());
                lines.extend(numbered(range.start_line, &range.content));
            }
        }
        lines
    }
}
