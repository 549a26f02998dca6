//! `cortex_search`: finds files that answer a question, ranked by words and meaning.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{Format, TokenBudget, fit};
use super::hits::row_lines;
use super::memory_reply::Remembrance;
use super::reply::{Look, Reply};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, Mentions, ResultRow, SearchAnswer, SearchMode,
    SearchRequest, SearchStats,
};
use crate::text::count;

/// The limit of a reply if the caller gives none. With 1 500 the right file was less often within
/// the first 1 000 tokens.
const TOKENS: usize = 1000;

/// Most results of a text that are named without their code, if the caller gives no limit.
const MAX_FURTHER: usize = 5;
/// Tokens of the budget for each result that the caller asks for by `limit`: a row without code takes
/// about half of them, and the rest is for code.
const TOKENS_OF_ROW: usize = 50;

/// The results of a search.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SearchReply {
    /// Best first.
    results: Vec<ResultRow>,
    /// Number of files that were ranked, or of matching chunks in an exact search.
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
    nothing: Option<String>,
}

impl Question for SearchRequest {
    const NAME: &'static str = "cortex_search";
    const TITLE: &'static str = "Search code and documents";
    const WHEN: &'static str = "a question, a concept or a name. Start here.";
    const DESCRIPTION: &'static str = "Find where something is done, defined or explained: files ranked by words and meaning, with the code that answers. Ask a plain question or give a name, before you grep or read files. For every occurrence of a text use cortex_grep.";
    const TOKENS: usize = TOKENS;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> =
        |q| Mentions::of(&mut q.filters.paths).and_repos(&mut q.repos);
    type Reply = SearchReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<SearchReply, AskError> {
        let is_json = budget.format() == Format::Json;
        let lists_all = self.mode == SearchMode::Exact || is_json || self.has_limit();
        let request = Self { one_per_file: !is_json, ..self };
        let answer = engine.with_lines_beside(engine.search_scoped(&request, call)?, call)?;
        let n_named = if is_json { 0 } else { request.limit.min(budget.limit() / TOKENS_OF_ROW) };
        Ok(reply(&answer, budget, n_named, if lists_all { usize::MAX } else { MAX_FURTHER }))
    }
}

/// Returns as much of an answer as fits: at least `n_named` results, if there are as many, and at most
/// `max_further` without code.
fn reply(
    answer: &SearchAnswer,
    budget: TokenBudget,
    n_named: usize,
    max_further: usize,
) -> SearchReply {
    let memories: Vec<String> =
        answer.memories.iter().map(|memory| Remembrance::new(memory).in_short()).collect();
    fit(budget, answer.excerpts.top(), |level| {
        let mut results = answer.at(level);
        let n_more = n_named.saturating_sub(results.len());
        results.extend(answer.results.iter().skip(results.len()).take(n_more).cloned());
        let n_left_out = answer.results.len() - results.len();
        let mut further = (0..results.len()).filter(|i| results[*i].excerpts.is_empty());
        results.truncate(further.nth(max_further).unwrap_or(results.len()));
        let n = results.len();
        let nothing = match n {
            0 if answer.page.offset > 0 => Some("no more results".to_string()),
            0 => Some(format!("nothing found in {}", count(answer.n_chunks, "chunk"))),
            _ => None,
        };
        let left_out = left_out(n_left_out).map(|note| note + ", or continue with next_cursor");
        SearchReply {
            next_cursor: answer.first(n).next_cursor,
            notes: answer.notes.iter().cloned().chain(left_out).collect(),
            memories: memories.clone(),
            stats: answer.stats.clone(),
            state: answer.state.clone(),
            total: answer.total,
            results,
            nothing,
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

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let mut lines: Vec<String> = self.nothing.iter().cloned().collect();
        lines.extend(self.results.iter().flat_map(|row| row_lines(look, row)));
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
