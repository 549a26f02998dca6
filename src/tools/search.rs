//! `cortex_search`: what answers a question, ranked by words and meaning.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens, fit};
use super::exact::search_exact;
use super::filters::{Filters, unknown_languages};
use super::hits::{Hits, Page, Row, Show};
use super::{Asked, Question, Reply, State, Taken, ToolError, Wait, count};
use crate::search::{Filter, Highlighter, Query, Results};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// A question, some words, or an identifier.
    query: String,
    /// hybrid: words and meaning; semantic: meaning alone; exact: the syntax of `cortex_exact`.
    #[serde(default)]
    mode: Mode,
    /// Most results, one a file.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    #[serde(flatten)]
    filters: Filters,
    /// `next_cursor` of the reply before.
    cursor: Option<String>,
    /// Also tell so many memories of earlier sessions that answer it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    memories: usize,
    /// Tell the time taken and how much was searched.
    #[serde(default)]
    include_stats: bool,
    /// Tell what each score is made of.
    #[serde(default)]
    explain: bool,
    /// Most tokens of the reply, text and JSON together: snippets shrink to fit.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Hybrid,
    Semantic,
    Exact,
}

pub(super) fn default_limit() -> usize {
    15
}

/// What a search found; the reply of `cortex_exact` too.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchReply {
    /// Best first.
    results: Vec<Row>,
    /// Files that match; in exact searches chunks that do.
    total: usize,
    /// There are more: pass it as `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What earlier sessions knew of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    memories: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
    /// What was left out to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    state: State,
    #[serde(skip)]
    head: String,
}

/// What a search took.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Stats {
    /// Chunks in the index.
    chunks: usize,
    /// Files or chunks that were ranked.
    candidates: usize,
    /// Of the search, without waiting.
    milliseconds: f64,
}

impl Question for Args {
    const NAME: &'static str = "cortex_search";
    const TITLE: &'static str = "Search code and documents";
    const DESCRIPTION: &'static str = "Find where something is done, defined or explained in this repository: ranks files by words and meaning, so a \
plain question works as well as an identifier. Use it first, before reading files or grep. For every place of an exact word or phrase use cortex_exact.";
    type Reply = SearchReply;

    fn answer(self, asked: Asked) -> Result<SearchReply, ToolError> {
        let Search { mut taken, filter, page } = Search::begin(&asked, &self.wait, &self.filters, self.cursor.as_deref(), self.limit)?;
        let snapshot = taken.snapshot.clone();
        let corpus = &snapshot.code().corpus;
        let is_exact = self.mode == Mode::Exact;
        let query = if is_exact { Query::default() } else { corpus.query(&self.query)? };
        let start = Instant::now();
        let vector = if is_exact { Ok(Vec::new()) } else { asked.context.manager.embedder().embed_query(&query.text) };
        let by_words = vector.is_err();
        let vector = vector.unwrap_or_else(|e| {
            taken.warnings.push(format!("the query has no vector, so this is found by words alone: {e}"));
            Vec::new()
        });
        let results = match self.mode {
            Mode::Semantic if !by_words => corpus.search_by_meaning(&vector, &filter, page.n_wanted())?,
            Mode::Hybrid | Mode::Semantic => corpus.search(&query, &vector, &filter, page.n_wanted())?,
            Mode::Exact => search_exact(&mut taken, &self.query, &filter, page.n_wanted())?,
        };
        taken.warnings.extend(results.notes.iter().cloned());
        let milliseconds = (start.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
        asked.call.check()?;
        let words = if is_exact { Highlighter::exact(&self.query) } else { Highlighter::new(&self.query) };
        let stats = self.include_stats.then(|| Stats { chunks: corpus.chunks().len(), candidates: results.total, milliseconds });
        taken.warnings.extend(asked.notice().filter(|_| self.memories > 0));
        let memories = asked.recall_in_short(&self.query, self.memories)?;
        Ok(Found { results, words, exact: is_exact, explain: self.explain, memories, stats }.reply(&page, self.max_tokens, taken))
    }
}

/// What `cortex_search` and `cortex_exact` begin with.
pub(super) struct Search {
    pub(super) taken: Taken,
    pub(super) filter: Filter,
    pub(super) page: Page,
}

impl Search {
    pub(super) fn begin(asked: &Asked, wait: &Wait, filters: &Filters, cursor: Option<&str>, limit: usize) -> Result<Self, ToolError> {
        let filter = filters.filter()?;
        let mut taken = asked.take(wait)?;
        let (page, changed) = Page::new(cursor, limit, taken.index.generation)?;
        taken.warnings.extend(changed);
        taken.warnings.extend(unknown_languages(taken.snapshot.code().corpus.chunks(), &filter));
        Ok(Self { taken, filter, page })
    }
}

/// What they end with.
pub(super) struct Found {
    pub(super) results: Results,
    pub(super) words: Highlighter,
    /// Chunks were matched, and the words are marked in the snippets.
    pub(super) exact: bool,
    pub(super) explain: bool,
    pub(super) memories: Vec<String>,
    pub(super) stats: Option<Stats>,
}

impl Found {
    /// As much of a page as fits.
    pub(super) fn reply(mut self, page: &Page, max_tokens: usize, taken: Taken) -> SearchReply {
        let (hits, total) = (page.hits(&self.results), self.results.total);
        let unit = if self.exact { "chunk" } else { "file" };
        let snapshot = taken.snapshot.clone();
        let set = snapshot.code().corpus.chunks();
        let n_chunks = set.len();
        let state = State::new(taken.index, taken.warnings);
        let details = Hits::new(hits, set, &mut self.words, Show { explain: self.explain, mark: self.exact });
        fit(max_tokens, details.top(), |level| {
            let results = details.rows(level);
            let n = results.len();
            let head = match n {
                0 if page.offset() > 0 => "no more results".to_string(),
                0 => format!("nothing found in {}", count(n_chunks, "chunk")),
                _ => format!("{}, {} match", count(n, "result"), count(total, unit)),
            };
            let left_out = left_out(hits.len() - n).map(|note| note + ", or go on with next_cursor");
            SearchReply {
                next_cursor: page.next(&self.results, n),
                note: left_out,
                memories: self.memories.clone(),
                stats: self.stats.clone(),
                state: state.clone(),
                results,
                total,
                head,
            }
        })
    }
}

/// What is said when rows did not fit.
pub(super) fn left_out(n: usize) -> Option<String> {
    (n > 0).then(|| format!("{} left out to fit max_tokens: raise it", count(n, "result")))
}

impl Reply for SearchReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.head.clone()];
        lines.extend(self.results.iter().flat_map(Row::lines));
        lines.extend(self.memories.iter().map(|memory| format!("> remembered: {memory}")));
        lines.extend(self.note.clone());
        lines.extend(self.next_cursor.as_ref().map(|cursor| format!("more: cursor {cursor}")));
        lines.extend(
            self.stats
                .as_ref()
                .map(|s| format!("searched {} in {} ms, {} candidates", count(s.chunks, "chunk"), s.milliseconds, s.candidates)),
        );
        lines
    }
}
