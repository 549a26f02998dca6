//! `cortex_history`: finds the commits that say why the code is as it is.

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Reply, printable, quoted, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, HistoryAnswer, HistoryRequest, HistoryRow, Mentions,
    RevertNote,
};
use crate::text::count;

/// Room for a commit that the caller asked for by `limit`, in tokens.
const TOKENS_EACH: usize = 160;

impl Question for HistoryRequest {
    const NAME: &'static str = "cortex_history";
    const TITLE: &'static str = "Ask the past";
    const WHEN: &'static str = "the commits that say why something was changed, and when.";
    const DESCRIPTION: &'static str = "Find the commits whose messages say why something is as it is, and when it was changed. With `changed`: the commits that removed or added a text. Use it before you change a default, a limit or a workaround.";
    const UNLISTED: &'static [&'static str] = &["author", "older", "pattern", "regex"];
    const TOKENS: usize = 800;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.paths);
    type Reply = HistoryAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<HistoryAnswer, AskError> {
        let answer = engine.history(&self, call)?;
        let budget = budget.or_at_least(self.limit.unwrap_or(0).saturating_mul(TOKENS_EACH));
        Ok(fit(budget, answer.commits.len(), |n| answer.first(n)))
    }
}

impl Reply for HistoryAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let searched = count(self.searched, "commit");
        let mut lines = vec![match self.commits.len() {
            0 => format!("no commit answers, of {searched}"),
            n if n < self.total => {
                format!("{n} of {} that match, of {searched}; messages are quoted", self.total)
            }
            n => format!("{} of {searched}; messages are quoted", count(n, "commit")),
        }];
        lines.extend(self.commits.iter().flat_map(row_lines));
        lines.extend(self.next_cursor.as_ref().map(|cursor| format!("more: cursor {cursor}")));
        lines
    }
}

/// Returns the line of a commit that reverted another one, or that was reverted:
/// `reverted by 1a2b3c4 (2024-05-01): it lost rows`.
pub(super) fn revert_line(note: &RevertNote) -> String {
    let RevertNote { how, date, says, .. } = note;
    format!("  {how} {} ({date}): {}", printable(note.short_id()), printable(says))
}

/// Returns the lines of a commit in an answer of any tool: when, who and what, the lines of the message, the files.
pub(super) fn row_lines(row: &HistoryRow) -> Vec<String> {
    let (id, day) = (row.short_id(), row.day());
    let mut lines =
        vec![format!("{id} {day} {}: {}", printable(&row.author), printable(&row.subject))];
    lines.extend(row.reverts.iter().map(revert_line));
    lines.extend(row.message.iter().map(|line| quoted(line)));
    for place in &row.places {
        let at = format!("{}:{}", place.path, place.line);
        lines.push(format!("{} {}", shown_place(&at), printable(&place.symbol)).trim_end().into());
        let signed = [('-', &place.removed), ('+', &place.added)];
        let signed = signed.into_iter().flat_map(|(sign, texts)| {
            texts.iter().map(move |text| quoted(&format!("{sign}{text}")))
        });
        lines.extend(signed);
    }
    let files = row.named_files();
    if row.places.is_empty() && !files.is_empty() {
        lines.push(format!("  changed {files}"));
    }
    lines
}
