//! `cortex_exact`: every place where something is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens};
use super::filters::Filters;
use super::search::{Found, Search, SearchReply, default_limit};
use super::{Asked, Question, ToolError, Wait};
use crate::search::Highlighter;

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
        let Search { taken, filter, page } = Search::begin(&asked, &self.wait, &self.filters, self.cursor.as_deref(), self.limit)?;
        let results = taken.snapshot.code().corpus.search_exact(&self.query, &filter, page.n_wanted())?;
        asked.call.check()?;
        let words = Highlighter::exact(&self.query);
        Ok(Found { results, words, exact: true, explain: false, stats: None }.reply(&page, self.max_tokens, taken))
    }
}
