//! `cortex_related`: finds code that is near in meaning to a given place.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::fit;
use super::hits::{HitRow, Hits, place};
use super::reply::Reply;
use super::search::left_out;
use super::tool::Question;
use crate::engine::{AnswerState, AskError, Call, Engine, RelatedRequest, RelatedTo};
use crate::search::Highlighter;
use crate::text::count;

#[derive(Serialize, JsonSchema)]
pub(super) struct RelatedReply {
    /// The chunk that the results are related to.
    chunk: RelatedTo,
    /// Nearest first, without the chunk's own file. The score is the cosine similarity.
    results: Vec<HitRow>,
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
    const DESCRIPTION: &'static str = "Given a place in the code (chunk_id of a result, or path and line), find the nearest code and documents in other \
files by meaning: similar implementations, tests, documentation, duplicates. Use it after a search, to see what else a change touches.";
    type Reply = RelatedReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<RelatedReply, AskError> {
        let answer = engine.related(&self, call)?;
        let mut words =
            Highlighter::new(answer.of.metadata.symbol.as_deref().unwrap_or(&answer.of.title));
        let hits = Hits::new(&answer.results, &mut words, false);
        Ok(fit(max_tokens, hits.top(), |level| {
            let results = hits.rows(level);
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

    fn lines(&self) -> Vec<String> {
        let place = place(&self.chunk.chunk, self.chunk.path.as_deref());
        let mut lines = vec![match self.results.len() {
            0 => format!("no code is related to {place}"),
            n => format!(
                "{} related to {place}, of {}",
                count(n, "result"),
                count(self.total, "file")
            ),
        }];
        lines.extend(self.results.iter().flat_map(HitRow::lines));
        lines.extend(self.note.clone());
        lines
    }
}
