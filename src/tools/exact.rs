//! `cortex_exact`: every place where something is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens};
use super::filters::Filters;
use super::search::{Found, Search, SearchReply, default_limit};
use super::{Asked, Question, Taken, ToolError, Wait};
use crate::search::{Filter, Highlighter, Results, SearchError};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Words (all must occur), "a phrase", OR, +word, -word, (groups), name:word; fields: name path signature comment parent body.
    query: String,
    /// Most results, one a file.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    #[serde(flatten)]
    filters: Filters,
    /// `next_cursor` of the reply before.
    cursor: Option<String>,
    /// Most tokens of the reply, text and JSON together: snippets shrink to fit.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

impl Question for Args {
    const NAME: &'static str = "cortex_exact";
    const TITLE: &'static str = "Search for exact words";
    const DESCRIPTION: &'static str = "Find all places that contain exact words, a \"phrase\" or an identifier: callers, error messages, settings. \
Matches are marked «so», total counts all matching chunks. Case does not matter, and identifiers match by their parts (loadFile = load_file). For questions use \
cortex_search.";
    type Reply = SearchReply;

    fn answer(self, asked: Asked) -> Result<SearchReply, ToolError> {
        let Search { mut taken, filter, page } = Search::begin(&asked, &self.wait, &self.filters, self.cursor.as_deref(), self.limit)?;
        let results = search_exact(&mut taken, &self.query, &filter, page.n_wanted())?;
        asked.call.check()?;
        let words = Highlighter::exact(&self.query);
        Ok(Found { results, words, exact: true, explain: false, memories: Vec::new(), stats: None }.reply(&page, self.max_tokens, taken))
    }
}

/// Searches for all that an exact query matches. Agents write code as it stands, like `Lock::open(`, and that is seldom a query:
/// it is taken as a phrase, and they are told.
pub(super) fn search_exact(taken: &mut Taken, query: &str, filter: &Filter, n_wanted: usize) -> Result<Results, ToolError> {
    let corpus = &taken.snapshot.code().corpus;
    match corpus.search_exact(query, filter, n_wanted) {
        Err(SearchError::Exact(e)) if !query.contains('"') => {
            let results = corpus.search_exact(&format!("\"{}\"", query.replace('\\', " ")), filter, n_wanted)?;
            taken.warnings.push(format!("{}: it is taken as a phrase in quotes", e.message()));
            Ok(results)
        }
        result => Ok(result?),
    }
}
