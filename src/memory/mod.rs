//! Stores what was said, decided and done in this project, across sessions.
//! One SQLite table holds all memories, whatever their source. The search engine serves them as one
//! more corpus behind [`crate::chunk::Feed`]. Secrets are removed before anything is stored.

/// Defines an enum whose variants have stored names.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $(#[serde(rename = $text)] $variant),*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the stored name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),*
                }
            }

            /// Returns the variant with this stored name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == text)
            }
        }
    };
}

mod authority;
mod backup;
mod briefing;
mod capture;
mod chunk;
mod chunker;
mod code;
mod events;
mod feed;
mod folder;
mod home;
mod hook;
mod period;
mod question;
mod recall;
mod recorder;
mod redacted;
mod session;
mod sessions;
mod spool;
mod sql;
mod standing;
mod statements;
mod summary;
mod trust;
mod watcher;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use backup::{RestoreError, RestorePlan, back_up_if_due, forget_in_backups};
pub use briefing::briefing;
pub use capture::{CaptureError, MemoryCaptureService};
pub use chunker::{
    CHUNK_SIZE_WORDS, ChunkMetadata, ChunkerError, MIN_CHUNK_WORDS, OVERLAP_WORDS,
    SENTENCE_TERMINATORS, TextChunk, TextChunker,
};
pub use feed::{Facts, MemoryFeed, MemoryFilter};
pub use home::{Memories, MemoryHome};
pub use hook::{BRIEFING_TOKENS, for_file, for_prompt};
pub use period::{NoTime, Period};
pub(crate) use recall::quoted;
pub use recall::{Recall, RecallError, RecalledMemory, context, selected};
pub use recorder::{EventSettings, Recorder};
pub use redacted::RedactedMemory;
pub use session::{Session, SessionStatus};
pub use sessions::{SessionError, SessionManager};
pub use sql::{MemoryStore, Select, Stats, StorageError, Vector};
pub use summary::summary;
pub use trust::private_dir;

pub use watcher::{MDFileWatcher, Statistics, WatcherError, notes_of_agents};

/// Longest content of a memory, in characters.
pub const MAX_CONTENT_CHARS: usize = 10_000;

/// One stored text with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub id: Uuid,
    /// A name for people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// At most [`MAX_CONTENT_CHARS`].
    pub content: String,
    pub source: MemorySource,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub session_id: String,
    /// The group that it belongs to, if one project holds several subjects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group_id: String,
    /// Set for a piece of a file or of a long text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_metadata: Option<ChunkMetadata>,
    pub word_count: u32,
    /// The memory is part of every briefing.
    #[serde(default)]
    pub pinned: bool,
    /// The files and symbols that it names, in their state at that time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeReference>,
    /// Memories whose text it contains; it is deleted with any of them. A summary covers its whole
    /// session and names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<Uuid>,
    /// The author, if the source does not tell who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_by: Option<Speaker>,
    /// The memory that holds in its place. It is then neither in briefings nor told for a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<Uuid>,
}

/// Where a memory comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum MemorySource {
    HookDescription {
        hook_type: HookType,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// The file that the tool changed, relative to the root if it is below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_path: Option<String>,
    },
    ClaudeResponse {
        response_type: ResponseType,
    },
    MDFileChunk {
        file_path: String,
        chunk_index: u32,
        total_chunks: u32,
    },
    /// An event, or a text without a hook.
    Episode(Episode),
}

/// An event, or a text without a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    pub source: EpisodeSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// The file that it is about, relative to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_path: Option<String>,
    /// All events of one git operation have the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_batch_id: Option<String>,
}

impl Episode {
    /// Creates an episode of which nothing but the source is known.
    #[must_use]
    pub fn of(source: EpisodeSource) -> Self {
        Self { source, operation: None, origin_path: None, git_batch_id: None }
    }
}

/// A code location that a memory was true for, with its state then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeReference {
    /// Relative to the root.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The commit that was checked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hash of the named code: `xxh3:` and 32 hexadecimal digits. For an edit, the SHA-256 of the
    /// file before it; empty if there was none.
    pub hash: String,
}

names!(
    /// The author of a text, the one with less authority first.
    Speaker { Agent = "agent", Person = "person" }
);

names!(
    /// The source of an episode.
    EpisodeSource {
        FilesystemWatch = "filesystem_watch",
        GitBulkUpdate = "git_bulk_update",
        GitMetadata = "git_metadata",
        GitContext = "git_context",
        Text = "text",
        Json = "json",
        Message = "message",
    }
);

impl EpisodeSource {
    /// Returns whether it is an event and not a text.
    #[must_use]
    pub fn is_event(self) -> bool {
        !matches!(self, Self::Text | Self::Json | Self::Message)
    }
}

names!(
    /// The kind of change of a file.
    Operation { Create = "create", Update = "update", Delete = "delete", Move = "move", Rename = "rename" }
);

names!(
    /// The hook that delivered a text.
    HookType {
        SessionStart = "SessionStart",
        UserPromptSubmit = "UserPromptSubmit",
        PreToolUse = "PreToolUse",
        PostToolUse = "PostToolUse",
        Stop = "Stop",
        SessionEnd = "SessionEnd",
    }
);

names!(
    /// The kind of an agent's answer.
    ResponseType { SessionSummary = "SessionSummary", StopResponse = "StopResponse", SignificantResponse = "SignificantResponse" }
);

impl MemorySource {
    /// Returns the name that filters use: the source of an episode, or the kind of any other
    /// memory.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::HookDescription { .. } => "hook_description",
            Self::ClaudeResponse { .. } => "claude_response",
            Self::MDFileChunk { .. } => "md_file_chunk",
            Self::Episode(episode) => episode.source.as_str(),
        }
    }

    /// Returns the name that replies use: the stored name of its type or, for an episode, of its
    /// source.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::HookDescription { .. } => "HookDescription",
            Self::ClaudeResponse { .. } => "ClaudeResponse",
            Self::MDFileChunk { .. } => "MDFileChunk",
            Self::Episode(episode) => episode.source.as_str(),
        }
    }

    /// Returns every name that [`MemorySource::name`] can return.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let episodes = EpisodeSource::ALL.iter().map(|s| s.as_str());
        episodes.chain(["hook_description", "claude_response", "md_file_chunk"]).collect()
    }

    /// Returns the file that it is about.
    #[must_use]
    pub fn file_path(&self) -> Option<&str> {
        match self {
            Self::MDFileChunk { file_path, .. } => Some(file_path),
            Self::Episode(episode) => episode.origin_path.as_deref(),
            Self::HookDescription { file_path, .. } => file_path.as_deref(),
            Self::ClaudeResponse { .. } => None,
        }
    }

    /// Returns the kind of change of that file.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        match self {
            Self::Episode(episode) => episode.operation,
            _ => None,
        }
    }
}

impl Memory {
    /// Creates a memory with a new id and the current time.
    #[must_use]
    pub fn new(content: impl Into<String>, source: MemorySource, session_id: &str) -> Self {
        let (content, now) = (content.into(), now());
        Self {
            id: Uuid::now_v7(),
            name: String::new(),
            word_count: u32::try_from(content.split_whitespace().count()).unwrap_or(u32::MAX),
            content,
            source,
            created_at: now,
            updated_at: now,
            session_id: session_id.into(),
            group_id: String::new(),
            chunk_metadata: None,
            pinned: false,
            code: Vec::new(),
            derived_from: Vec::new(),
            said_by: None,
            superseded_by: None,
        }
    }

    /// Returns who said it.
    #[must_use]
    pub fn speaker(&self) -> Speaker {
        let by_source = match self.source {
            MemorySource::ClaudeResponse { .. } => Speaker::Agent,
            _ => Speaker::Person,
        };
        self.said_by.unwrap_or(by_source)
    }

    /// Returns whether it is what a user asked.
    fn is_prompt(&self) -> bool {
        let prompt = HookType::UserPromptSubmit;
        matches!(self.source, MemorySource::HookDescription { hook_type, .. } if hook_type == prompt)
    }

    /// Returns whether it is what an agent answered, and not the summary of a session.
    fn is_answer(&self) -> bool {
        let summary = ResponseType::SessionSummary;
        matches!(self.source, MemorySource::ClaudeResponse { response_type } if response_type != summary)
    }

    /// Returns the index of this piece of a long text, from 0, and the number of pieces; `None` if
    /// the memory is the whole text.
    #[must_use]
    pub fn piece(&self) -> Option<(u32, u32)> {
        self.chunk_metadata
            .as_ref()
            .filter(|m| m.total_chunks > 1)
            .map(|m| (m.chunk_index, m.total_chunks))
    }

    /// Returns whether it continues a text that another memory begins.
    #[must_use]
    pub fn is_continued(&self) -> bool {
        self.piece().is_some_and(|(index, _)| index > 0)
    }
}

/// Returns the current time in milliseconds, the precision that is stored.
#[must_use]
pub fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(Utc::now().timestamp_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
