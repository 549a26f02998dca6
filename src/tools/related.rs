//! `cortex_related`: finds code that is near in meaning to a given place.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{TokenBudget, fit};
use super::hits::{place, row_lines};
use super::reply::{Look, Reply};
use super::search::left_out;
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, Mentions, RelatedRequest, RelatedTo, ResultRow,
};
use crate::text::count;

#[derive(Serialize, JsonSchema)]
pub(crate) struct RelatedReply {
    /// The chunk that the results are related to.
    chunk: RelatedTo,
    /// Nearest first, without the chunk's own file. The score is the cosine similarity.
    results: Vec<ResultRow>,
    /// Number of related files.
    total: usize,
    /// What was left out to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    state: AnswerState,
}

impl Question for RelatedRequest {
    const NAME: &'static str = "cortex_related";
    const TITLE: &'static str = "Find similar code";
    const WHEN: &'static str = "code similar to a place: other implementations, tests, duplicates.";
    const DESCRIPTION: &'static str = "Find code and documents in other files that are near in meaning to a place: similar implementations, tests, duplicates. Use it to see what else a change touches; not for callers (cortex_graph).";
    const TOKENS: usize = 1000;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.path);
    type Reply = RelatedReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<RelatedReply, AskError> {
        let answer = engine.related(&self, call)?;
        Ok(fit(budget, answer.excerpts.top(), |level| {
            let results = ResultRow::at(&answer.results, &answer.excerpts, level);
            let note = left_out(answer.results.len() - results.len());
            RelatedReply {
                chunk: answer.chunk.clone(),
                results,
                total: answer.total,
                note,
                state: answer.state.clone(),
            }
        }))
    }
}

impl Reply for RelatedReply {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let place = place(look, &self.chunk.chunk, self.chunk.path.as_deref());
        let mut lines = vec![match self.results.len() {
            0 => format!("no code is related to {place}"),
            n => format!(
                "{} related to {place}, of {}",
                count(n, "result"),
                count(self.total, "file")
            ),
        }];
        lines.extend(self.results.iter().flat_map(|row| row_lines(look, row)));
        lines.extend(self.note.clone());
        lines
    }
}
