//! What is remembered, as a person looks through it: memories with their sessions, and the text that
//! the next session is told.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::Engine;
use crate::engine::memory::recall::{RecallRequest, SessionRow, written};
use crate::engine::{AskError, Call};
use crate::memory::{BRIEFING_TOKENS, RecalledMemory, Select, Session, now, selected};
use crate::text::tokens;

/// Most memories that are compared with the code to find those that may no longer be true.
const COMPARED: usize = 1000;
/// What replaces a secret begins with this.
const HIDDEN: &str = "[REDACTED";

/// Selects memories.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MemoriesRequest {
    /// A question, or some words; best first. If it is empty, the newest come first.
    #[serde(default)]
    pub query: String,
    /// Only from these sources; all when empty.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Only memories of this session; empty for those outside of sessions.
    pub session: Option<String>,
    /// Only pinned ones.
    #[serde(default)]
    pub pinned: bool,
    /// Only those that may no longer be true, of the newest 1000.
    #[serde(default)]
    pub doubtful: bool,
    /// Only since this time or age: 2026-01-31, 12h, 3d, 2w.
    pub since: Option<String>,
    /// Only before this time or age. A date includes its whole day.
    pub until: Option<String>,
    /// Maximum number of memories.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: usize,
    /// Number of memories to skip.
    #[serde(default)]
    pub offset: usize,
}

fn fifty() -> usize {
    50
}

/// Memories with their sessions.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct MemoriesAnswer {
    pub memories: Vec<MemoryRow>,
    /// Whether there are more than these.
    pub more: bool,
    /// The sessions of these memories, newest first.
    pub sessions: Vec<SessionRow>,
    /// Number of all memories by source.
    pub sources: BTreeMap<String, usize>,
    /// Number of all pinned memories.
    pub pinned: usize,
    /// Number of secrets that were removed before texts were stored.
    pub redacted: usize,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// One memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryRow {
    /// Its name in requests.
    pub id: String,
    /// A name for people; may be empty.
    pub name: String,
    /// What is remembered.
    pub content: String,
    /// Where it comes from, such as text or `UserPromptSubmit`.
    pub source: &'static str,
    /// The file that it is about, relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Empty outside of sessions.
    pub session: String,
    /// When it was stored.
    pub created_at: String,
    /// Whether every session begins with it.
    pub pinned: bool,
    /// Why it may no longer be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Number of secrets that were removed from it.
    pub redacted: usize,
    /// Size of its text in tokens.
    pub tokens: usize,
}

/// Asks what the next session is told.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct BriefingRequest {}

/// The text that a session receives at its start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BriefingText {
    /// Empty if nothing is remembered.
    pub text: String,
    /// Its size in tokens.
    pub tokens: usize,
    /// Most tokens that it may have.
    pub max_tokens: usize,
}

/// Pins or unpins a memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct PinRequest {
    pub id: String,
    /// Whether every session begins with it.
    pub pinned: bool,
}

impl MemoryRow {
    pub(in crate::engine) fn new(found: &RecalledMemory) -> Self {
        let memory = &found.memory;
        Self {
            id: memory.id.to_string(),
            name: memory.name.clone(),
            content: memory.content.clone(),
            source: memory.source.name(),
            path: memory.source.file_path().map(String::from),
            session: memory.session_id.clone(),
            created_at: written(memory.created_at),
            pinned: memory.pinned,
            doubt: found.doubt(),
            redacted: memory.content.matches(HIDDEN).count(),
            tokens: tokens(&memory.content),
        }
    }
}

impl Engine {
    /// Returns memories, newest first or by how well they answer a question, with their sessions.
    ///
    /// # Errors
    /// When the request is not valid, or the memories cannot be read.
    pub fn timeline(
        &self,
        request: &MemoriesRequest,
        call: &Call,
    ) -> Result<MemoriesAnswer, AskError> {
        let wanted = RecallRequest {
            query: request.query.clone(),
            sources: request.sources.clone(),
            since: request.since.clone(),
            until: request.until.clone(),
            ..RecallRequest::default()
        };
        let filter = wanted.filter()?;
        let Some(memories) = self.memories_so_far()? else {
            let state = self.state_without_memories(call);
            return Ok(MemoriesAnswer { state, ..MemoriesAnswer::default() });
        };
        let is_wanted = |found: &RecalledMemory| {
            (!request.pinned || found.memory.pinned)
                && (!request.doubtful || found.doubt().is_some())
                && request.session.as_ref().is_none_or(|id| *id == found.memory.session_id)
        };
        let (skip, n) = (request.offset, request.limit + 1);
        // Doubts are not in the database, so they are looked for among the newest memories.
        let (limit, offset) = if request.doubtful { (COMPARED, 0) } else { (n, skip) };
        let (found, left) = if request.query.trim().is_empty() {
            let select = Select {
                pinned: request.pinned.then_some(true),
                session_id: request.session.clone(),
                limit,
                offset,
                ..Select::from(&filter)
            };
            let root = self.project.layout.root();
            (selected(&memories.store, root, &select, now())?, skip - offset)
        } else {
            let limit = limit.max(skip + n);
            (self.recall(&RecallRequest { limit, ..wanted }, call)?.results, skip)
        };
        let mut found: Vec<RecalledMemory> =
            found.into_iter().filter(is_wanted).skip(left).collect();
        let more = found.len() > request.limit;
        found.truncate(request.limit);
        let mut sessions: Vec<Session> = Vec::new();
        for id in found.iter().map(|found| &found.memory.session_id) {
            if !sessions.iter().any(|session| session.id == *id) {
                sessions.extend(memories.store.session(id)?);
            }
        }
        sessions.sort_by_key(|session| std::cmp::Reverse(session.started_at));
        let stats = memories.store.stats()?;
        Ok(MemoriesAnswer {
            memories: found.iter().map(MemoryRow::new).collect(),
            more,
            sessions: sessions.into_iter().map(SessionRow::of).collect(),
            sources: stats.sources,
            pinned: stats.pinned,
            redacted: stats.redacted,
            state: self.state_of_memories(&memories, call),
        })
    }

    /// Returns what the next session is told.
    ///
    /// # Errors
    /// When memories cannot be read.
    pub fn next_briefing(&self, call: &Call) -> Result<BriefingText, AskError> {
        let text = self.briefing(call)?.text;
        Ok(BriefingText { tokens: tokens(&text), max_tokens: BRIEFING_TOKENS, text })
    }
}
