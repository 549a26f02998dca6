//! What the tools over memories have in common.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Asked, Remembered, State, ToolError, budget, printable};
use crate::live::{Served, Snapshot};
use crate::memory::{
    CaptureError, EpisodeSource, Memories, MemoryFilter, MemorySource, Recall, RecallError, RecalledMemory, StorageError, now, quoted,
};

/// How long a call waits for another process's write, and for what was just stored to be found.
const BUSY: Duration = Duration::from_secs(2);
/// What a search says before anything is remembered.
const NOTHING_YET: &str =
    "nothing is remembered in this project yet: add_memory remembers a decision, `cortex hook install` whole sessions";
/// What of a memory's content a result shows, in bytes.
const SHOWN: usize = 1_000;
/// And what is shown of it on one line.
const SHORT: usize = 300;

impl From<CaptureError> for ToolError {
    fn from(e: CaptureError) -> Self {
        match e {
            CaptureError::EmptyContent | CaptureError::StorageFailed(StorageError::ContentTooLong { .. }) => Self::Arguments(e.to_string()),
            e => Self::Failed(e.to_string()),
        }
    }
}

impl From<StorageError> for ToolError {
    fn from(e: StorageError) -> Self {
        CaptureError::from(e).into()
    }
}

impl Asked<'_> {
    fn remembered(&self) -> Result<&Remembered, ToolError> {
        self.context.memory.as_ref().ok_or_else(|| ToolError::Failed("nothing is remembered here".into()))
    }

    /// The memories of the project; `None` before anything is remembered.
    pub(super) fn memories_so_far(&self) -> Result<Option<Arc<Memories>>, ToolError> {
        if self.remembered()?.home.is_in_use() { self.memories().map(Some) } else { Ok(None) }
    }

    /// The memories of the project. The database is made if there is none.
    pub(super) fn memories(&self) -> Result<Arc<Memories>, ToolError> {
        let remembered = self.remembered()?;
        match self.context.layout.create() {
            // What is there is read from a disk that takes nothing more.
            Err(e) if !remembered.home.is_in_use() => Err(ToolError::Failed(e.to_string())),
            _ => Ok(remembered.memories(BUSY)?),
        }
    }

    /// What is to be said beside memories.
    pub(super) fn notice(&self) -> Option<String> {
        self.context.memory.as_ref()?.home.notice()
    }

    /// What is served, with everything that this or another process stored before.
    pub(super) fn serving(&self, memories: &Memories) -> Result<Arc<Snapshot>, ToolError> {
        let wanted = memories.store.generation()?;
        if is_behind(&self.context.manager.current(), wanted) {
            let handle = self.context.reloader.handle();
            let _ = handle.wait(handle.request(), Instant::now() + BUSY, &self.call.cancel);
        }
        self.call.check()?;
        Ok(self.context.manager.current())
    }

    /// The state of a reply that finds nothing because nothing was ever remembered.
    pub(super) fn state_without_memories(&self) -> State {
        self.state_with(self.notice().or_else(|| Some(NOTHING_YET.into())))
    }

    /// The state of a reply that does not depend on which memories are loaded.
    pub(super) fn state_with(&self, warning: Option<String>) -> State {
        let warnings = self.warnings.iter().cloned().chain(warning).collect();
        State::new(self.context.freshness(&self.context.manager.current()), warnings)
    }

    /// The state that a reply about memories describes.
    pub(super) fn memory_state(&self, memories: &Memories) -> State {
        let snapshot = self.context.manager.current();
        let mut warnings = self.warnings.clone();
        warnings.extend(self.notice());
        if memories.store.generation().is_ok_and(|wanted| is_behind(&snapshot, wanted)) {
            warnings.push("not all memories are loaded yet: call again".into());
        }
        State::new(self.context.freshness(&snapshot), warnings)
    }

    /// Memories that answer a question, best first.
    pub(super) fn recall(&self, question: &str, filter: &MemoryFilter, limit: usize) -> Result<(Vec<Remembrance>, State), ToolError> {
        let unknown = filter.unknown();
        if !unknown.is_empty() {
            let known = MemorySource::names().join(", ");
            return Err(ToolError::Arguments(format!("unknown: {}. Sources are {known}", unknown.join(", "))));
        }
        let Some(memories) = self.memories_so_far()? else {
            return Ok((Vec::new(), self.state_without_memories()));
        };
        let snapshot = self.serving(&memories)?;
        let Some(Served { corpus, .. }) = snapshot.named("memory") else {
            return Ok((Vec::new(), self.memory_state(&memories)));
        };
        let (facts, embedder) = (&self.remembered()?.facts, self.context.manager.embedder());
        let found = Recall { corpus, facts, store: &memories.store, embedder, root: self.context.layout.root() }.search(
            question,
            filter,
            limit,
            now(),
        );
        let found = found.map_err(|e| match e {
            RecallError::Search(e) => e.into(),
            RecallError::Storage(e) => ToolError::from(e),
        })?;
        Ok((found.iter().map(Remembrance::new).collect(), self.memory_state(&memories)))
    }
}

impl Asked<'_> {
    /// Memories that answer a question, a line each; none where nothing is remembered. Files that git changed are none.
    pub(super) fn recall_in_short(&self, question: &str, limit: usize) -> Result<Vec<String>, ToolError> {
        if limit == 0 || !self.context.memory.as_ref().is_some_and(|remembered| remembered.home.is_in_use()) {
            return Ok(Vec::new());
        }
        let filter = MemoryFilter { exclude_sources: vec![EpisodeSource::GitBulkUpdate.as_str().into()], ..MemoryFilter::default() };
        let (found, _) = self.recall(question, &filter, limit)?;
        Ok(found.iter().map(Remembrance::in_short).collect())
    }
}

fn is_behind(snapshot: &Snapshot, wanted: u64) -> bool {
    snapshot.named("memory").is_none_or(|served| served.generation < wanted)
}

/// One memory that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Remembrance {
    /// For `delete_memory`.
    #[serde(rename = "fingerprintId")]
    fingerprint_id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    name: String,
    /// Its beginning, when it is long.
    content: String,
    /// Cosine of question and memory, 0 to 1.
    similarity: f64,
    /// The one of `retrievers` that adds most.
    #[serde(rename = "dominantEmbedder")]
    dominant_embedder: &'static str,
    /// What each retriever adds to its score.
    retrievers: BTreeMap<&'static str, f64>,
    source: Source,
    /// When it was remembered.
    created_at: String,
    /// Code that it speaks of and that changed since: it may no longer be true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    stale: Vec<String>,
}

/// Where a memory comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Source {
    /// `HookDescription`, `ClaudeResponse`, `MDFileChunk`, or the source of an episode.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Of a `HookDescription`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_type: Option<&'static str>,
    /// What the agent used.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// Of a `ClaudeResponse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_type: Option<&'static str>,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    /// Which piece of the file, or of a long text, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_index: Option<u32>,
    /// How many pieces that has.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_chunks: Option<u32>,
    /// First and last line of the piece, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(u32, u32)>,
    /// What happened to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
}

impl Remembrance {
    fn new(found: &RecalledMemory) -> Self {
        let memory = &found.memory;
        let (mut piece, mut hook, mut response_type) = (memory.piece(), None, None);
        match &memory.source {
            MemorySource::HookDescription { hook_type, tool_name, .. } => hook = Some((hook_type.as_str(), tool_name.clone())),
            MemorySource::ClaudeResponse { response_type: of } => response_type = Some(of.as_str()),
            MemorySource::MDFileChunk { chunk_index, total_chunks, .. } => piece = Some((*chunk_index, *total_chunks)),
            MemorySource::Episode(_) => {}
        }
        let rounded = |x: f64| (x * 1000.0).round() / 1000.0;
        Self {
            fingerprint_id: memory.id.to_string(),
            name: memory.name.clone(),
            content: budget::cut(memory.content.trim(), SHOWN),
            similarity: rounded(f64::from(found.similarity)),
            dominant_embedder: found.dominant,
            retrievers: found.retrievers.iter().map(|(name, adds)| (*name, rounded(*adds))).collect(),
            source: Source {
                kind: memory.source.type_name(),
                hook_type: hook.as_ref().map(|h| h.0),
                tool_name: hook.and_then(|h| h.1),
                response_type,
                file_path: memory.source.file_path().map(String::from),
                chunk_index: piece.map(|p| p.0),
                total_chunks: piece.map(|p| p.1),
                lines: memory.chunk_metadata.as_ref().map(|m| (m.start_line, m.end_line)),
                operation: memory.source.operation().map(crate::memory::Operation::as_str),
            },
            created_at: memory.created_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
            stale: found.stale.clone(),
        }
    }

    /// On one line.
    fn in_short(&self) -> String {
        let content = self.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let stale = if self.stale.is_empty() { "" } else { ", may be out of date" };
        format!("{} ({}, {}{stale})", printable(&budget::cut(&content, SHORT)), self.source.kind, &self.created_at[..10])
    }

    /// For a reader.
    pub(super) fn lines(&self) -> Vec<String> {
        let Source { kind, hook_type, tool_name, response_type, file_path, chunk_index, total_chunks, operation, .. } = &self.source;
        let piece = chunk_index.zip(*total_chunks).map(|(i, n)| format!(" ({}/{n})", i + 1)).unwrap_or_default();
        let of = [Some(*kind), *hook_type, tool_name.as_deref(), *response_type, *operation, file_path.as_deref()];
        let of: Vec<&str> = of.into_iter().flatten().collect();
        let head = format!(
            "{} {}{piece}, {}, similarity {:.2}, via {}",
            self.fingerprint_id,
            of.join(" "),
            self.created_at,
            self.similarity,
            self.dominant_embedder
        );
        let name = (!self.name.is_empty()).then(|| format!("> {}", printable(&self.name)));
        let stale = (!self.stale.is_empty()).then(|| printable(&format!("  may be out of date: {} changed since", self.stale.join(", "))));
        std::iter::once(printable(&head)).chain(name).chain(stale).chain(quoted(&self.content).lines().map(String::from)).collect()
    }
}
