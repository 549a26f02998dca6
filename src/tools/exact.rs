//! `cortex_exact`: finds all chunks that contain exact words.

use schemars::JsonSchema;
use serde::Deserialize;

use super::search::{SearchReply, reply};
use super::tool::Question;
use crate::engine::{AskError, Call, Engine, Filters, SearchMode, SearchRequest, default_limit};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Words (all must occur), "a phrase", OR, +word, -word, (groups), field:word; fields: name
    /// path signature comment parent body.
    query: String,
    /// Maximum number of results, one per file.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    #[serde(flatten)]
    filters: Filters,
    /// `next_cursor` of the previous reply.
    cursor: Option<String>,
}

impl Question for Args {
    const NAME: &'static str = "cortex_exact";
    const TITLE: &'static str = "Search for exact words";
    const DESCRIPTION: &'static str = "Find all places that contain exact words, a \"phrase\" or an identifier: callers, error messages, settings. \
Matches are marked «word»; total counts all matching chunks. Case does not matter, and identifiers match by their parts (loadFile = load_file). For questions use \
cortex_search.";
    type Reply = SearchReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<SearchReply, AskError> {
        let Self { query, limit, filters, cursor } = self;
        let request = SearchRequest {
            query,
            mode: SearchMode::Exact,
            limit,
            filters,
            cursor,
            ..SearchRequest::default()
        };
        let answer = engine.search(&request, call)?;
        Ok(reply(&request, &answer, max_tokens))
    }
}
