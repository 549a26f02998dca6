//! `cortex_search`: finds files that answer a question, ranked by words and meaning.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::fit;
use super::hits::{HitRow, Hits};
use super::memory_reply::Remembrance;
use super::reply::Reply;
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, SearchAnswer, SearchMode, SearchRequest, SearchStats,
};
use crate::search::Highlighter;
use crate::text::count;

/// The results of a search; also the reply of `cortex_exact`.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchReply {
    /// Best first.
    results: Vec<HitRow>,
    /// Number of matching files, or of matching chunks in an exact search.
    total: usize,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Relevant memories of earlier sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    memories: Vec<String>,
    /// Time taken and number of chunks searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<SearchStats>,
    /// Corrections of the query, and what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    notes: Vec<String>,
    #[serde(flatten)]
    state: AnswerState,
    #[serde(skip)]
    head: String,
}

impl Question for SearchRequest {
    const NAME: &'static str = "cortex_search";
    const TITLE: &'static str = "Search code and documents";
    const DESCRIPTION: &'static str = "Find where something is done, defined or explained in this repository: ranks files by words and meaning, so a \
plain question works as well as an identifier. Use it first, before reading files or grep. For every place of an exact word or phrase use cortex_exact.";
    type Reply = SearchReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<SearchReply, AskError> {
        let answer = engine.search(&self, call)?;
        Ok(reply(&self, &answer, max_tokens))
    }
}

/// Returns as much of an answer as fits.
pub(super) fn reply(
    request: &SearchRequest,
    answer: &SearchAnswer,
    max_tokens: usize,
) -> SearchReply {
    let is_exact = request.mode == SearchMode::Exact;
    let mut words = if is_exact {
        Highlighter::exact(&request.query)
    } else {
        Highlighter::new(&request.query)
    };
    let unit = if is_exact { "chunk" } else { "file" };
    let memories: Vec<String> =
        answer.memories.iter().map(|memory| Remembrance::new(memory).in_short()).collect();
    let hits = Hits::new(&answer.results, &mut words, is_exact);
    fit(max_tokens, hits.top(), |level| {
        let results = hits.rows(level);
        let n = results.len();
        let head = match n {
            0 if answer.page.offset > 0 => "no more results".to_string(),
            0 => format!("nothing found in {}", count(answer.n_chunks, "chunk")),
            _ => format!("{}, {} match", count(n, "result"), count(answer.total, unit)),
        };
        let left_out =
            left_out(answer.results.len() - n).map(|note| note + ", or continue with next_cursor");
        SearchReply {
            next_cursor: answer.first(n).next_cursor,
            notes: answer.notes.iter().cloned().chain(left_out).collect(),
            memories: memories.clone(),
            stats: answer.stats.clone(),
            state: answer.state.clone(),
            total: answer.total,
            results,
            head,
        }
    })
}

/// Returns a note about results that did not fit, if there are any.
pub(super) fn left_out(n: usize) -> Option<String> {
    (n > 0).then(|| format!("{} left out to fit max_tokens: raise it", count(n, "result")))
}

impl Reply for SearchReply {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.head.clone()];
        lines.extend(self.results.iter().flat_map(HitRow::lines));
        lines.extend(self.memories.iter().map(|memory| format!("> remembered: {memory}")));
        lines.extend(self.notes.clone());
        lines.extend(self.next_cursor.as_ref().map(|cursor| format!("more: cursor {cursor}")));
        lines.extend(self.stats.as_ref().map(|s| {
            format!(
                "searched {} in {} ms, {} candidates",
                count(s.chunks, "chunk"),
                s.milliseconds,
                s.candidates
            )
        }));
        lines
    }
}
