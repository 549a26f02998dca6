//! Outlines the project: its most important files and symbols.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::graph::NO_SOURCES;
use super::search::SearchRequest;
use super::serving::Engine;
use super::{AskError, Call};
use crate::graph::Map;

/// Number of search results that become the focus, if the focus is a question.
const FOCUS: usize = 5;

/// The arguments of a map.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MapRequest {
    /// Maximum length in tokens.
    pub tokens: usize,
    /// Rank by closeness to this file (relative to the root), or to the files that answer this
    /// question.
    pub focus: Option<String>,
}

/// The map, with the index state behind it.
#[derive(Debug, Clone, Serialize)]
pub struct MapAnswer {
    #[serde(flatten)]
    pub map: Map,
    #[serde(flatten)]
    pub state: AnswerState,
}

impl Engine {
    /// Outlines the project within the requested number of tokens.
    ///
    /// # Errors
    /// When there are no source files, or the index or the graph cannot be read.
    pub fn map(&self, request: &MapRequest, call: &Call) -> Result<MapAnswer, AskError> {
        let state = self.state(call)?;
        let focus = match &request.focus {
            Some(file) if self.project.layout.tree().has_file(file) => vec![file.clone()],
            Some(question) => {
                let request = SearchRequest {
                    query: question.clone(),
                    limit: FOCUS,
                    ..SearchRequest::default()
                };
                self.search(&request, call)?
                    .results
                    .into_iter()
                    .filter_map(|row| row.path)
                    .collect()
            }
            None => Vec::new(),
        };
        let (map, has_sources) = self.ask_graph(call, |graph| graph.map(request.tokens, &focus))?;
        if map.files.is_empty() && !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        Ok(MapAnswer { map, state })
    }
}
