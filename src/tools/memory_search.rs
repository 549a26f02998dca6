//! `search_memory_nodes` and `search_memory_facts`: search the memories.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::budget::TokenBudget;
use super::memory_add::operations;
use super::memory_reply::Remembrance;
use super::reply::{Look, Reply};
use super::tool::{Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, RecallRequest};
use crate::memory::MemorySource;

#[derive(Deserialize, JsonSchema)]
pub(super) struct NodeSearch {
    /// A question, or some words. If empty, the newest memories are returned.
    #[serde(default)]
    query: String,
    /// Return the briefing of a new session instead: pinned memories, decisions, recent work.
    #[serde(default)]
    briefing: bool,
    /// Only of these groups.
    #[serde(default)]
    group_ids: Vec<String>,
    #[serde(flatten)]
    when: When,
    /// Leave out these sources.
    #[serde(default)]
    #[schemars(schema_with = "sources")]
    exclude_sources: Vec<String>,
    /// Leave out these operations.
    #[serde(default)]
    #[schemars(schema_with = "some_operations")]
    exclude_operations: Vec<String>,
    /// Maximum number of results.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    max_nodes: usize,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct FactSearch {
    /// A question, or some words. If empty, the newest memories are returned.
    #[serde(default)]
    query: String,
    /// Only of these groups.
    #[serde(default)]
    group_ids: Vec<String>,
    #[serde(flatten)]
    when: When,
    /// Only these sources; if empty, all, including each file of a git operation.
    #[serde(default)]
    #[schemars(schema_with = "sources")]
    sources: Vec<String>,
    /// Maximum number of results.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    max_facts: usize,
}

/// The period in which a memory was stored.
#[derive(Default, Deserialize, JsonSchema)]
struct When {
    /// Only since this time or age: 2026-01-31, 12h, 3d, 2w.
    since: Option<String>,
    /// Only before this time or age. A date includes its whole day.
    until: Option<String>,
}

fn sources(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "enum": MemorySource::names()}})
}

fn some_operations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "enum": operations()}})
}

pub(super) fn ten() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MemoriesReply {
    /// Best first.
    results: Vec<Remembrance>,
    /// Text of the briefing, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    briefing: Option<String>,
    #[serde(flatten)]
    state: AnswerState,
}

impl Question for NodeSearch {
    const NAME: &'static str = "search_memory_nodes";
    const TITLE: &'static str = "Search memories";
    const WHEN: &'static str = "decisions and notes of earlier sessions. Begin a session with briefing: true, unless a hook gave you one.";
    const DESCRIPTION: &'static str = "Find what was decided, asked, answered or noted in earlier sessions. Use it before you decide something again.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const WAITS: bool = false;
    type Reply = MemoriesReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        _: TokenBudget,
    ) -> Result<MemoriesReply, AskError> {
        if self.briefing {
            let answer = engine.briefing(call)?;
            return Ok(MemoriesReply {
                results: Vec::new(),
                briefing: Some(answer.text),
                state: answer.state,
            });
        }
        let Self {
            query,
            group_ids,
            exclude_sources,
            exclude_operations,
            max_nodes,
            when: When { since, until },
            ..
        } = self;
        let request = RecallRequest {
            query,
            exclude_sources,
            exclude_operations,
            group_ids,
            since,
            until,
            limit: max_nodes,
            ..RecallRequest::default()
        };
        recall(engine, &request, call)
    }
}

impl Question for FactSearch {
    const NAME: &'static str = "search_memory_facts";
    const TITLE: &'static str = "Search events";
    const WHEN: &'static str = "what happened to files; git operations.";
    const DESCRIPTION: &'static str = "Find what happened in this project: files that were created, changed or deleted, and git operations with their files.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const WAITS: bool = false;
    type Reply = MemoriesReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        _: TokenBudget,
    ) -> Result<MemoriesReply, AskError> {
        let Self { query, group_ids, sources, max_facts, when: When { since, until } } = self;
        recall(
            engine,
            &RecallRequest {
                query,
                sources,
                group_ids,
                since,
                until,
                limit: max_facts,
                ..RecallRequest::default()
            },
            call,
        )
    }
}

fn recall(
    engine: &Engine,
    request: &RecallRequest,
    call: &Call,
) -> Result<MemoriesReply, AskError> {
    let answer = engine.recall(request, call)?;
    Ok(MemoriesReply {
        results: answer.results.iter().map(Remembrance::new).collect(),
        briefing: None,
        state: answer.state,
    })
}

impl Reply for MemoriesReply {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        if let Some(briefing) = self.briefing.as_ref().filter(|text| !text.is_empty()) {
            return briefing.lines().map(String::from).collect();
        }
        if self.results.is_empty() {
            return vec![
                if self.briefing.is_some() { "the briefing is empty" } else { "no memory matches" }
                    .into(),
            ];
        }
        self.results.iter().flat_map(Remembrance::lines).collect()
    }
}
