//! `cortex_read`: reads the current lines of a file. Only indexed files can be read.

use super::budget::{MAX_TOKENS, MIN_TOKENS, fit};
use super::reply::{Reply, printable};
use super::tool::Question;
use crate::engine::{AnswerState, AskError, Call, Engine, ReadAnswer, ReadRequest};

impl Question for ReadRequest {
    const NAME: &'static str = "cortex_read";
    const TITLE: &'static str = "Read lines of a file";
    const DESCRIPTION: &'static str = "Read a chunk by its chunk_id, or lines of an indexed file (path with lines), from the current file on disk, with \
secrets as [REDACTED:rule]. The reply says whether the file changed since it was indexed, and where to continue. Read the lines that a result names rather than whole files.";
    type Reply = ReadAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<ReadAnswer, AskError> {
        let answer = engine.read(&self, call)?;
        // A single line must not exceed the budget, so each line is cut to this many characters.
        let room = max_tokens.clamp(MIN_TOKENS, MAX_TOKENS);
        let n_lines = answer.content.split('\n').count();
        Ok(fit(max_tokens, n_lines.saturating_sub(1), |level| answer.first(level + 1, room)))
    }
}

impl Reply for ReadAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let what = self.path.as_deref().or(self.chunk_id.as_deref()).unwrap_or_default();
        let mut lines = vec![format!(
            "{}:{}-{} of {} lines",
            printable(what),
            self.start_line,
            self.end_line,
            self.total_lines
        )];
        if self.total_lines > 0 {
            lines.extend(
                (self.start_line..)
                    .zip(self.content.split('\n'))
                    .map(|(number, line)| format!("{number:>5} {line}")),
            );
        }
        lines.extend(self.next_start_line.map(|next| format!("more: lines {next}-")));
        lines
    }
}
