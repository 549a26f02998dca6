//! Searches, adds and forgets memories, and lists sessions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::chunk::Cancel;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::{Engine, Upkeep};
use crate::engine::{AskError, Call, LONG_WAIT};
use crate::live::{Served, Snapshot};
use crate::memory::{
    self, BRIEFING_TOKENS, Episode, EpisodeSource, MAX_CONTENT_CHARS, Memories, Memory, MemoryFeed,
    MemoryFilter, MemorySource, Operation, Period, Recall, RecalledMemory, Session, Speaker,
    StorageError, forget_in_backups, now,
};

/// How long a call to a server waits for a write of another process, or for new memories to load.
const BUSY: Duration = Duration::from_secs(2);
/// Most vectors that a command asks of a slow embedder before it searches.
const AT_ONCE: usize = 64;
/// The warning of an answer in a project without memories.
const NOTHING_YET: &str = "nothing is remembered in this project yet: add_memory stores a decision, `cortex init` makes agents store sessions";

/// The arguments of a search in memories.
#[derive(Debug, Clone, Default)]
pub struct RecallRequest {
    /// A question, or some words. If it is empty, the newest memories are returned.
    pub query: String,
    /// Only from these sources; all when empty.
    pub sources: Vec<String>,
    pub exclude_sources: Vec<String>,
    pub exclude_operations: Vec<String>,
    /// Only in these groups; all when empty.
    pub group_ids: Vec<String>,
    /// Only since this time or age: 2026-01-31, 12h, 3d, 2w.
    pub since: Option<String>,
    /// Only before this time or age. A date includes its whole day.
    pub until: Option<String>,
    pub limit: usize,
}

/// The memories that were found.
#[derive(Debug, Clone, Serialize)]
pub struct RecallAnswer {
    /// Best first.
    pub results: Vec<RecalledMemory>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A memory to store.
#[derive(Debug, Clone, Default)]
pub struct RememberRequest {
    /// Title; may be empty.
    pub name: String,
    pub content: String,
    /// text, json, message …
    pub source: String,
    /// The change of a file that the memory describes.
    pub operation: Option<String>,
    /// The file that changed, relative to the root.
    pub origin_path: Option<String>,
    /// Id that all memories of one git operation share.
    pub git_batch_id: Option<String>,
    /// Group, for projects that keep the memories of several topics apart; may be empty.
    pub group_id: String,
    /// Whether the briefing of every session contains it.
    pub pinned: bool,
    /// The author; a person if none is given.
    pub said_by: Option<Speaker>,
}

/// The memory as it was stored.
#[derive(Debug, Clone)]
pub struct RememberAnswer {
    pub memory: Memory,
    /// Whether it was stored before, and this request changed nothing but that it may be pinned now.
    pub was_known: bool,
    /// Number of secrets that were removed before the memory was stored.
    pub secrets_redacted: usize,
    pub state: AnswerState,
}

/// The briefing of a session.
#[derive(Debug, Clone)]
pub struct BriefingAnswer {
    pub text: String,
    pub state: AnswerState,
}

/// The sessions of agents in this project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionsAnswer {
    /// Newest first.
    pub sessions: Vec<SessionRow>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// One session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionRow {
    /// Id that the agent gave it.
    pub id: String,
    /// Active, Completed or Abandoned.
    pub status: &'static str,
    /// When it began.
    pub started_at: String,
    /// When it ended or was abandoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Number of its memories.
    pub memories: u32,
}

impl SessionRow {
    pub(in crate::engine) fn of(session: Session) -> Self {
        Self {
            status: session.status.as_str(),
            started_at: written(session.started_at),
            ended_at: session.ended_at.map(written),
            memories: session.memory_count,
            id: session.id,
        }
    }
}

/// Returns a time as answers show it: in UTC, to the second.
pub(in crate::engine) fn written(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl RecallRequest {
    /// Asks for what is remembered about a question on code. Bulk changes by git say nothing about it.
    pub(in crate::engine) fn about(question: &str, limit: usize) -> Self {
        Self {
            query: question.to_string(),
            exclude_sources: vec![EpisodeSource::GitBulkUpdate.as_str().into()],
            limit,
            ..Self::default()
        }
    }

    /// Parses the restrictions of the request.
    ///
    /// # Errors
    /// When a source or an operation is unknown, or a time is not valid.
    pub fn filter(&self) -> Result<MemoryFilter, AskError> {
        let Self { sources, exclude_sources, exclude_operations, group_ids, .. } = self.clone();
        let period = Period::parse(self.since.as_deref(), self.until.as_deref(), now())
            .map_err(|e| AskError::Arguments(e.to_string()))?;
        let filter =
            MemoryFilter { sources, exclude_sources, exclude_operations, group_ids, period };
        let unknown = filter.unknown();
        if !unknown.is_empty() {
            let known = MemorySource::names().join(", ");
            return Err(AskError::Arguments(format!(
                "unknown source or operation: {}. The sources are {known}",
                unknown.join(", ")
            )));
        }
        Ok(filter)
    }
}

impl Engine {
    /// Finds the memories that answer a question, best first.
    ///
    /// # Errors
    /// When the request is not valid, or the memories cannot be read.
    pub fn recall(&self, request: &RecallRequest, call: &Call) -> Result<RecallAnswer, AskError> {
        let filter = request.filter()?;
        let Some(memories) = self.memories_so_far()? else {
            let (results, state) = (Vec::new(), self.state_without_memories(call));
            return Ok(RecallAnswer { results, state });
        };
        self.serve(&memories, call)?;
        let find = |snapshot: &Snapshot| match self.recall_in(snapshot, &memories) {
            Some(recall) => Ok(recall.search(&request.query, &filter, request.limit, now())?),
            None => Ok::<_, AskError>(Vec::new()),
        };
        let results = match &self.upkeep {
            Upkeep::Server(_) => find(&self.manager.current())?,
            Upkeep::Command(_) => self.manager.ask(find)?,
        };
        Ok(RecallAnswer { results, state: self.state_of_memories(&memories, call) })
    }

    /// Selects memories relevant to `prompt`, without those in `given`. Returns their text and ids.
    /// Searches the memories that are loaded.
    ///
    /// # Errors
    /// When the memories cannot be searched.
    pub fn for_prompt(
        &self,
        memories: &Memories,
        prompt: &str,
        given: &[Uuid],
    ) -> Result<(String, Vec<Uuid>), AskError> {
        let snapshot = self.manager.current();
        match self.recall_in(&snapshot, memories) {
            Some(recall) => Ok(memory::for_prompt(&recall, prompt, given, now())?),
            None => Ok(<_>::default()),
        }
    }

    /// Loads the memories for searches.
    pub(in crate::engine) fn load_memories(&self) -> Result<(), AskError> {
        self.manager.reload_feed(MemoryFeed::NAME, &Cancel::new(false))?;
        Ok(())
    }

    fn recall_in<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        memories: &'a Memories,
    ) -> Option<Recall<'a>> {
        let Served { corpus, .. } = &**snapshot.feed(MemoryFeed::NAME)?;
        let (embedder, root) = (self.manager.embedder(), self.project.layout.root());
        Some(Recall { corpus, facts: &self.facts, store: &memories.store, embedder, root })
    }

    /// Returns the briefing of a new session: pinned memories, decisions and recent work.
    ///
    /// # Errors
    /// When memories cannot be read.
    pub fn briefing(&self, call: &Call) -> Result<BriefingAnswer, AskError> {
        let Some(memories) = self.memories_so_far()? else {
            let (text, state) = (String::new(), self.state_without_memories(call));
            return Ok(BriefingAnswer { text, state });
        };
        let root = self.project.layout.root();
        let (text, _) = memory::briefing(&memories.store, root, &[], BRIEFING_TOKENS)?;
        let state = self.state_with(self.project.memory_home().notice(), call);
        Ok(BriefingAnswer { text, state })
    }

    /// Stores a memory.
    ///
    /// # Errors
    /// When the request is not valid, or the database cannot be written.
    pub fn remember(
        &self,
        request: &RememberRequest,
        call: &Call,
    ) -> Result<RememberAnswer, AskError> {
        let unknown =
            |what: &str, name: &str| AskError::Arguments(format!("there is no {what} `{name}`"));
        let source = EpisodeSource::parse(&request.source)
            .ok_or_else(|| unknown("source", &request.source))?;
        let operation = request
            .operation
            .as_deref()
            .map(|o| Operation::parse(o).ok_or_else(|| unknown("operation", o)))
            .transpose()?;
        let n_chars = request.content.chars().count();
        if n_chars > MAX_CONTENT_CHARS {
            // Refused before its secrets and names are looked for, which takes time.
            return Err(StorageError::ContentTooLong { n_chars }.into());
        }
        if source == EpisodeSource::Json {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&request.content);
            parsed.map_err(|e| {
                AskError::Arguments(format!(
                    "the source is json, but the content is not valid JSON: {e}"
                ))
            })?;
        }
        let memories = self.memories(self.patience())?;
        let session = memories.sessions.current_session().ok().flatten().unwrap_or_default();
        let (origin_path, git_batch_id) =
            (request.origin_path.clone(), request.git_batch_id.clone());
        let episode =
            MemorySource::Episode(Episode { source, operation, origin_path, git_batch_id });
        let memory = Memory {
            name: request.name.clone(),
            group_id: request.group_id.clone(),
            pinned: request.pinned,
            said_by: request.said_by,
            ..Memory::new(request.content.trim(), episode, &session)
        };
        let before = memories.store.redacted()?;
        let (id, was_known) = if source.is_event() {
            (memories.capture.capture(memory)?, false)
        } else {
            memories.capture.remember(memory)?
        };
        let secrets_redacted = memories.store.redacted()?.saturating_sub(before);
        let gone = || AskError::Failed("another process removed the memory: add it again".into());
        let memory = memories.store.get(id)?.ok_or_else(gone)?;
        self.serve_change(&memories, call)?;
        Ok(RememberAnswer {
            memory,
            was_known,
            secrets_redacted,
            state: self.state_of_memories(&memories, call),
        })
    }

    /// Returns the memory whose id begins or ends with `id`.
    ///
    /// # Errors
    /// When there is none, or several, or memories cannot be read.
    pub fn memory(&self, id: &str) -> Result<Memory, AskError> {
        let mut found = match self.memories_so_far()? {
            Some(memories) => memories.store.named(&id.to_lowercase())?,
            None => Vec::new(),
        };
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(AskError::NotFound(format!(
                "there is no memory {id}: `cortex memory list` shows the ids"
            ))),
            n => Err(AskError::Arguments(format!(
                "{id} is part of {n} ids or more: give more of the id"
            ))),
        }
    }

    /// Makes the memory with this id a part of every briefing, or of none but by its relevance.
    ///
    /// # Errors
    /// As [`Engine::memory`], or when the database cannot be written.
    pub fn pin(&self, id: &str, is_pinned: bool) -> Result<Memory, AskError> {
        let memory = Memory { pinned: is_pinned, ..self.memory(id)? };
        self.memories(self.patience())?.capture.capture(memory.clone())?;
        Ok(memory)
    }

    /// Replaces the text of a memory. Its links to code are made anew.
    ///
    /// # Errors
    /// When the text is too long, or the database cannot be written.
    pub fn reword(&self, memory: Memory, content: &str) -> Result<Memory, AskError> {
        let new = Memory::new(content, memory.source.clone(), &memory.session_id);
        let memory = Memory {
            content: new.content,
            word_count: new.word_count,
            updated_at: new.updated_at,
            code: Vec::new(),
            ..memory
        };
        self.memories(self.patience())?.capture.change(memory.clone())?;
        Ok(memory)
    }

    /// Deletes these memories from the database and from backups. If one does not exist, none is
    /// deleted.
    ///
    /// # Errors
    /// When one does not exist, or the database cannot be written. A failed backup is only logged.
    pub fn forget(&self, ids: &[Uuid], call: &Call) -> Result<AnswerState, AskError> {
        let unknown = |id: &Uuid| AskError::NotFound(format!("there is no memory {id}"));
        let Some(memories) = self.memories_so_far()? else {
            return Err(ids.first().map_or(AskError::NotFound(NOTHING_YET.into()), unknown));
        };
        for id in ids {
            if memories.store.get(*id)?.is_none() {
                return Err(unknown(id));
            }
        }
        for id in ids {
            memories.capture.forget(*id)?;
        }
        if let Err(e) = forget_in_backups(&memories.capture, ids) {
            tracing::warn!("forgotten memories are still in a backup: {e}");
        }
        self.serve_change(&memories, call)?;
        Ok(self.state_of_memories(&memories, call))
    }

    /// Lists up to `limit` sessions of agents, newest first.
    ///
    /// # Errors
    /// When memories cannot be read.
    pub fn sessions(&self, limit: usize, call: &Call) -> Result<SessionsAnswer, AskError> {
        let Some(memories) = self.memories_so_far()? else {
            let (sessions, state) = (Vec::new(), self.state_without_memories(call));
            return Ok(SessionsAnswer { sessions, state });
        };
        Ok(SessionsAnswer {
            sessions: memories.store.sessions(limit)?.into_iter().map(SessionRow::of).collect(),
            state: self.state_of_memories(&memories, call),
        })
    }

    /// Opens the memories of the project; `None` if nothing was ever remembered.
    pub(in crate::engine) fn memories_so_far(&self) -> Result<Option<Arc<Memories>>, AskError> {
        if self.remembers() { Ok(Some(self.memories(self.patience())?)) } else { Ok(None) }
    }

    /// How long to wait while another process writes to the database.
    fn patience(&self) -> Duration {
        if self.server().is_some() { BUSY } else { LONG_WAIT }
    }

    /// Loads everything that this process or another one stored before this call.
    fn serve(&self, memories: &Memories, call: &Call) -> Result<(), AskError> {
        match self.server() {
            Some(server) if self.is_behind(memories)? => {
                let handle = server.reloader.handle();
                let _ = handle.wait(handle.request(), Instant::now() + BUSY, &call.cancel);
            }
            Some(_) => {}
            None => {
                // A server makes them in the background. Without them, words find a memory.
                if let Err(e) = memories.capture.embed_rest(AT_ONCE) {
                    tracing::debug!("some memories have no vectors yet: {e}");
                }
                self.load_memories()?;
            }
        }
        call.check()
    }

    /// Serves a change of the memories, but only in a server: a command ends before it searches again.
    fn serve_change(&self, memories: &Memories, call: &Call) -> Result<(), AskError> {
        if self.server().is_some() { self.serve(memories, call) } else { Ok(()) }
    }

    fn is_behind(&self, memories: &Memories) -> Result<bool, AskError> {
        let wanted = memories.store.generation()?;
        let snapshot = self.manager.current();
        Ok(snapshot.feed(MemoryFeed::NAME).is_none_or(|served| served.generation < wanted))
    }

    /// The state of an answer that is empty because nothing was ever remembered.
    pub(in crate::engine) fn state_without_memories(&self, call: &Call) -> AnswerState {
        let notice = self.project.memory_home().notice();
        self.state_with(notice.or_else(|| Some(NOTHING_YET.into())), call)
    }

    /// The state of an answer that does not depend on which memories are loaded.
    fn state_with(&self, warnings: impl IntoIterator<Item = String>, call: &Call) -> AnswerState {
        let warnings = call.warnings.iter().cloned().chain(warnings).collect();
        AnswerState { index: self.freshness(), warnings, ..AnswerState::default() }.in_brief(call)
    }

    /// The state that an answer about memories describes.
    pub(in crate::engine) fn state_of_memories(
        &self,
        memories: &Memories,
        call: &Call,
    ) -> AnswerState {
        let is_late = self.server().is_some() && self.is_behind(memories).unwrap_or_default();
        let late = is_late.then(|| "not all memories are loaded yet: call again".to_string());
        self.state_with(self.project.memory_home().notice().into_iter().chain(late), call)
    }
}
