//! A ranked outline of the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::graph::NO_SOURCES;
use super::search::SearchRequest;
use super::serving::Engine;
use super::{AskError, Call};
use crate::graph::Map;

/// Files that a question puts in focus.
const FOCUS: usize = 5;

/// How long an outline may be, and from where it is seen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MapRequest {
    /// How long it may be.
    pub tokens: usize,
    /// Seen from this file, relative to the root, or from the files that answer this question.
    pub focus: Option<String>,
}

/// The outline.
#[derive(Debug, Clone, Serialize)]
pub struct MapAnswer {
    #[serde(flatten)]
    pub map: Map,
    #[serde(flatten)]
    pub state: AnswerState,
}

impl Engine {
    /// Outlines the project.
    ///
    /// # Errors
    /// When the index or the graph cannot be read.
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
        let (graph, has_sources) = self.code_graph()?;
        let map = graph.map(request.tokens, &focus)?;
        if map.files.is_empty() && !has_sources {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        Ok(MapAnswer { map, state })
    }
}
