//! Searches the code corpus: ranked results for a question, or every match of an exact query.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::embed::{StaticModel, vector_of_question};
use crate::engine::door::filters::Filters;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::rows::ResultRow;
use crate::engine::door::serving::{Engine, View};
use crate::engine::read::beside::Lines;
use crate::engine::read::frames::with_places;
use crate::engine::read::grep::bad_cursor;
use crate::engine::read::named::NamedFacts;
use crate::engine::{AskError, Call, RecallRequest};
use crate::excerpt::{Compared, Excerpts, MAX_SPREAD};
use crate::live::Served;
use crate::memory::RecalledMemory;
use crate::search::{
    Filter, HiddenCommits, Hit, Query, Results, SearchError, Searcher, Statistics,
};
use crate::text::count;

/// The arguments of a search.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct SearchRequest {
    /// A question, some words, or an identifier.
    pub query: String,
    /// hybrid: words and meaning; semantic: meaning alone; exact: words (all must
    /// occur), "a phrase", OR, +word, -word, field:word.
    #[serde(default)]
    pub mode: SearchMode,
    /// Maximum number of results; in a text each is a file. Without it, a text names few without code.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100), default = "default_limit")]
    pub limit: usize,
    #[serde(flatten)]
    pub filters: Filters,
    /// Search these other projects of the user together, by names or globs; `["*"]` is all.
    #[serde(default)]
    pub repos: Vec<String>,
    /// `next_cursor` of the previous reply.
    pub cursor: Option<String>,
    /// Also return up to this many relevant memories of earlier sessions.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    pub memories: usize,
    /// Also return the time taken and the number of chunks searched.
    #[serde(default)]
    pub include_stats: bool,
    /// Also return the parts of each score.
    #[serde(default)]
    pub explain: bool,
    /// Also search the sources of the project's dependencies. Their paths begin with
    /// `name@version/`, and `cortex_read` reads them.
    #[serde(default)]
    pub deps: bool,
    /// Whether each file is one result, for a reply that shows several functions of a result.
    #[serde(skip)]
    pub one_per_file: bool,
    /// Whether the answer says what a named definition consists of and how much uses it, which takes a look
    /// at all files.
    #[serde(skip)]
    pub with_facts: bool,
    /// Commits that do not count, for measurements.
    #[serde(skip)]
    pub hidden_commits: Option<HiddenCommits>,
}

/// The kind of search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    #[default]
    Hybrid,
    Semantic,
    Exact,
}

/// The default of [`SearchRequest::limit`], which is then 0.
pub(crate) fn default_limit() -> usize {
    15
}

/// One page of results.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct SearchAnswer {
    /// Best first.
    pub results: Vec<ResultRow>,
    /// Number of files that were ranked, or of matching chunks in an exact search.
    pub total: usize,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the project has of the first result, if that is a definition which the query names, and the
    /// request wants it.
    #[serde(skip)]
    pub named: Option<NamedFacts>,
    /// Relevant memories of earlier sessions.
    #[serde(skip)]
    pub memories: Vec<RecalledMemory>,
    /// Time taken and number of chunks searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<SearchStats>,
    /// Corrections of the query, and what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub state: AnswerState,
    /// The code of the results.
    #[serde(skip)]
    pub excerpts: Arc<Excerpts>,
    /// What the code graph knows of the symbols that are shown first.
    #[serde(skip)]
    pub(in crate::engine) beside: Lines,
    /// Number of chunks in the index.
    #[serde(skip)]
    pub n_chunks: usize,
    /// Position of the page among all results.
    #[serde(skip)]
    pub page: Page,
}

/// The cost of a search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchStats {
    /// Number of chunks in the index.
    pub chunks: usize,
    /// Number of files or chunks that were ranked.
    pub candidates: usize,
    /// Duration of the search, without waiting for the index.
    pub milliseconds: f64,
}

/// The position of a page among all results, from which the next cursor is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Page {
    generation: u64,
    /// Number of results before this page.
    pub offset: usize,
    limit: usize,
    /// Number of hits found. It is greater than `offset + limit` if another page follows.
    n_found: usize,
}

impl SearchRequest {
    /// Returns the number of results of a page.
    pub(in crate::engine) fn n_results(&self) -> usize {
        if self.has_limit() { self.limit } else { default_limit() }
    }

    /// Whether the caller said how many results it wants.
    #[must_use]
    pub fn has_limit(&self) -> bool {
        self.limit > 0
    }

    /// Returns a query with what measurements set.
    #[must_use]
    pub fn refined(&self, query: Query) -> Query {
        match &self.hidden_commits {
            Some(hidden) => query.without_commits(hidden.clone()),
            None => query,
        }
    }
}

/// What a search ranked, in one corpus or in several.
pub(in crate::engine) struct Ranking {
    pub(in crate::engine) results: Results,
    /// Whether more hits than these may follow.
    pub(in crate::engine) is_cut: bool,
    /// Number of chunks that were searched.
    pub(in crate::engine) n_chunks: usize,
    pub(in crate::engine) took: Duration,
}

impl Ranking {
    /// Returns the page of what is shown, with its code. `row` makes the row of a hit.
    pub(in crate::engine) fn answer(
        self,
        request: &SearchRequest,
        mut page: Page,
        state: AnswerState,
        row: impl Fn(Hit) -> Option<ResultRow>,
    ) -> SearchAnswer {
        let Self { results, is_cut, n_chunks, took } = self;
        let Results { hits, total, notes, mut wanted, meant, wants_places, .. } = results;
        let nearest = hits.iter().map(Hit::meaning).fold(0.0, f64::max);
        let is_shown = |(i, hit): &(usize, Hit)| {
            *i == 0 || request.mode != SearchMode::Hybrid || hit.is_evident(nearest)
        };
        let hits: Vec<Hit> =
            hits.into_iter().enumerate().filter(is_shown).map(|(_, hit)| hit).collect();
        let mut compared = Compared::default();
        compared.add(hits.iter(), &meant, &mut wanted);
        let hits = compared.rows(hits, wants_places && !request.one_per_file, is_cut);
        page.n_found = hits.len();
        let of_page = hits.into_iter().skip(page.offset).take(page.limit);
        let rows: Vec<ResultRow> = of_page.filter_map(row).collect();
        let hits: Vec<&Hit> = rows.iter().map(|row| &*row.hit).collect();
        compared.add(hits.iter().copied(), &meant, &mut wanted);
        let excerpts =
            Excerpts::of(&hits, compared, &mut wanted).with_words_in_view(&request.query);
        let n = rows.len();
        SearchAnswer {
            next_cursor: page.next(n),
            results: ResultRow::best(rows, &excerpts, 0),
            total,
            named: None,
            memories: Vec::new(),
            stats: request.include_stats.then(|| SearchStats {
                chunks: n_chunks,
                candidates: total,
                milliseconds: (took.as_secs_f64() * 10_000.0).round() / 10.0,
            }),
            notes,
            state,
            excerpts: Arc::new(excerpts),
            beside: Lines::default(),
            n_chunks,
            page,
        }
    }
}

impl SearchAnswer {
    /// Returns the first results with their code in about `n_bytes`.
    #[must_use]
    pub fn at(&self, n_bytes: usize) -> Vec<ResultRow> {
        let mut rows = ResultRow::at(&self.results, &self.excerpts, n_bytes);
        for row in &mut rows {
            let Some(path) = &row.path else { continue };
            for excerpt in row.excerpts.iter_mut().filter(|excerpt| !excerpt.windows.is_empty()) {
                excerpt.beside = self.beside.get(&(path.clone(), excerpt.end_line)).cloned();
            }
        }
        rows
    }

    /// Returns a copy with the first `n` results. Its cursor continues after them.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let mut answer =
            Self { results: self.results[..n.min(self.results.len())].to_vec(), ..self.clone() };
        answer.next_cursor = self.page.next(answer.results.len());
        answer
    }
}

impl Engine {
    /// Searches code, documents and data, and also memories if the request asks for them.
    ///
    /// # Errors
    /// When the request is not valid, or the index cannot be read.
    pub fn search(&self, request: &SearchRequest, call: &Call) -> Result<SearchAnswer, AskError> {
        check_query(request)?;
        let filter = request.filters.filter(Some(&self.project))?;
        let answer = match self.search_early(request, &filter, call)? {
            Some(answer) => answer,
            None => self.with_code(call, |view| self.search_in(view, request, &filter, call))?,
        };
        self.with_memories(answer, request, call)
    }

    /// Adds memories of the project if the request asks for them.
    ///
    /// # Errors
    /// When the call is cancelled.
    pub(in crate::engine) fn with_memories(
        &self,
        mut answer: SearchAnswer,
        request: &SearchRequest,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        call.check()?;
        if request.memories > 0 {
            answer.state.warnings.extend(self.project.memory_home().notice());
            if self.remembers() {
                let recall = RecallRequest::about(&request.query, request.memories);
                answer.memories = self.recall(&recall, call)?.results;
            }
        }
        Ok(answer)
    }

    /// Adds what the code graph knows of the symbols that the answer shows first.
    ///
    /// # Errors
    /// When the call is cancelled.
    pub fn with_lines_beside(
        &self,
        answer: SearchAnswer,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        let beside = self.lines_beside(&answer.results, &answer.excerpts, call)?;
        Ok(SearchAnswer { beside, ..answer })
    }

    pub(in crate::engine) fn search_in(
        &self,
        mut view: View,
        request: &SearchRequest,
        filter: &Filter,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        let corpus = &view.code.corpus;
        let page = Page::new(request.cursor.as_deref(), request.n_results(), view.code.generation)?;
        if let Some(changed) = page.changed_from(request.cursor.as_deref()) {
            view.state.warnings.push(changed);
        }
        view.state.warnings.extend(request.filters.idle(&[(&*self.project, &**corpus.chunks())]));
        let start = Instant::now();
        let found = self.found(Searcher::new(corpus), request, filter, page.n_wanted())?;
        let took = start.elapsed();
        view.state.warnings.extend(found.warning);
        view.state.warnings.extend(self.lacking_vectors(&view.code, request.mode));
        let mut results = found.results;
        let is_cut = results.hits.len() >= page.n_wanted();
        if request.mode != SearchMode::Exact {
            let here = [(0, &*self.project, corpus)];
            results.hits = with_places(&here, &request.query, results.hits);
        }
        let row = |hit: Hit| {
            let row = ResultRow::new(Arc::new(hit), corpus.chunks(), request.explain);
            Some(row.unless_gone(&|path| self.project.has_file(path)))
        };
        let n_chunks = corpus.chunks().len();
        let ranking = Ranking { results, is_cut, n_chunks, took };
        let mut answer = ranking.answer(request, page, view.state.in_brief(call), row);
        if request.with_facts && page.offset == 0 {
            let first = answer.results.first();
            answer.named = first.and_then(|row| self.facts_of(row, corpus, call));
        }
        Ok(answer)
    }

    /// Returns a warning if chunks have no vectors and, as in every command, no thread makes them.
    pub(in crate::engine) fn lacking_vectors(
        &self,
        code: &Served,
        mode: SearchMode,
    ) -> Option<String> {
        let (n, all) = (code.n_without_vectors, code.corpus.chunks().len());
        let lacking = || {
            format!(
                "{} of {all} can be found by words alone until `cortex index` makes their vectors",
                count(n, "chunk")
            )
        };
        (n > 0 && mode != SearchMode::Exact && self.server().is_none()).then(lacking)
    }

    fn found(
        &self,
        searcher: Searcher,
        request: &SearchRequest,
        filter: &Filter,
        n: usize,
    ) -> Result<Found, AskError> {
        if request.mode == SearchMode::Exact {
            return Ok(exact(searcher, &request.query, filter, n)?);
        }
        let query = request.refined(searcher.query(&request.query, &StaticModel::knows)?);
        let (vector, warning) = vector_of_question(self.manager.embedder(), &query.meant);
        let is_semantic = request.mode == SearchMode::Semantic && warning.is_none();
        let results = ranked(searcher, &query, (&*vector, is_semantic), filter, n, None)?;
        Ok(Found { results, warning })
    }
}

/// Ranks the files of a corpus for a question, by its vector alone if `is_semantic`. `pooled` counts
/// the words in all corpora that answer together.
pub(in crate::engine) fn ranked(
    searcher: Searcher,
    query: &Query,
    (vector, is_semantic): (&[f32], bool),
    filter: &Filter,
    n: usize,
    pooled: Option<&Statistics>,
) -> Result<Results, SearchError> {
    if is_semantic {
        let found = searcher.by_meaning(vector, filter, n)?;
        return Ok(Results { notes: query.notes.clone(), ..found });
    }
    match pooled {
        Some(pooled) => searcher.search_among(query, vector, filter, n, pooled),
        None => searcher.search(query, vector, filter, n),
    }
}

/// Fails if a search has no words.
pub(in crate::engine) fn check_query(request: &SearchRequest) -> Result<(), AskError> {
    let is_blank = request.query.trim().is_empty();
    if is_blank || request.mode != SearchMode::Exact && Query::new(&request.query).is_empty() {
        let why = if is_blank { "is empty" } else { "has no words" };
        return Err(AskError::Arguments(format!(
            "the query {why}: ask a question, or give some words or an identifier"
        )));
    }
    Ok(())
}

pub(in crate::engine) struct Found {
    pub(in crate::engine) results: Results,
    pub(in crate::engine) warning: Option<String>,
}

impl From<Results> for Found {
    fn from(results: Results) -> Self {
        Self { results, warning: None }
    }
}

/// Finds everything that an exact query matches. Agents and people often paste code such as
/// `Lock::open(`, which is not a valid query: it is searched as a phrase, with a warning.
pub(in crate::engine) fn exact(
    searcher: Searcher,
    query: &str,
    filter: &Filter,
    n_wanted: usize,
) -> Result<Found, SearchError> {
    match searcher.exact(query, filter, n_wanted) {
        Err(SearchError::Exact(e)) if !query.contains('"') => Ok(Found {
            results: searcher.exact(
                &format!("\"{}\"", query.replace('\\', " ")),
                filter,
                n_wanted,
            )?,
            warning: Some(format!("{}: searched as a phrase in quotes", e.message())),
        }),
        results => Ok(results?.into()),
    }
}

impl Page {
    /// Returns the page that a cursor names, or the first page without a cursor.
    pub(in crate::engine) fn new(
        cursor: Option<&str>,
        limit: usize,
        generation: u64,
    ) -> Result<Self, AskError> {
        let offset = match cursor {
            None => 0,
            Some(cursor) => parse(cursor).ok_or_else(|| bad_cursor(cursor))?.1,
        };
        Ok(Self { generation, offset, limit, n_found: 0 })
    }

    /// Returns a warning if the index changed since the previous page.
    pub(in crate::engine) fn changed_from(&self, cursor: Option<&str>) -> Option<String> {
        let (then, now) = (parse(cursor?)?.0, self.generation);
        (then != now).then(|| {
            format!("the index changed since the previous page (generation {then}, now {now}): results may be missing or repeated")
        })
    }

    /// Returns the page of a list of `n` results.
    pub(in crate::engine) fn among(self, n: usize) -> Self {
        Self { n_found: n, ..self }
    }

    /// Returns the part of a list that is on this page.
    pub(in crate::engine) fn of<T>(&self, all: Vec<T>) -> impl Iterator<Item = T> + use<T> {
        all.into_iter().skip(self.offset).take(self.limit)
    }

    /// The number of hits to search for: one more than is shown, to learn whether a page follows; and all
    /// whose regions decide which is first, however few are shown.
    pub(in crate::engine) fn n_wanted(&self) -> usize {
        self.offset.saturating_add(self.limit).max(MAX_SPREAD).saturating_add(1)
    }

    /// Returns the cursor of the next page, if `n_shown` results of this page are shown.
    pub(in crate::engine) fn next(&self, n_shown: usize) -> Option<String> {
        let next = self.offset.saturating_add(n_shown);
        (next < self.n_found).then(|| format!("{:x}.{next:x}", self.generation))
    }
}

/// Parses a cursor into its generation and offset.
fn parse(cursor: &str) -> Option<(u64, usize)> {
    let (generation, offset) = cursor.trim().split_once('.')?;
    Some((u64::from_str_radix(generation, 16).ok()?, usize::from_str_radix(offset, 16).ok()?))
}
