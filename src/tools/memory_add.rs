//! `add_memory`: something to be remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::is_zero;
use super::{Asked, Effect, Group, Question, Reply, State, ToolError};
use crate::memory::{Episode, EpisodeSource, Memory, MemorySource, Operation};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// What it is called, in a few words.
    name: String,
    /// What is to be remembered, at most 10000 characters. Secrets are taken out.
    episode_body: String,
    /// What was said, or what happened.
    #[serde(default = "text")]
    #[schemars(extend("enum" = sources()))]
    source: String,
    #[serde(default)]
    metadata: Metadata,
    /// What it belongs to, where one project holds several things.
    #[serde(default)]
    group_id: String,
    /// Every session begins with it.
    #[serde(default)]
    pinned: bool,
}

/// Of what happened to a file.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Metadata {
    /// What happened to it.
    #[schemars(extend("enum" = operations()))]
    operation: Option<String>,
    /// The file, relative to the root.
    origin_path: Option<String>,
    /// What one git operation did has one.
    git_batch_id: Option<String>,
}

fn sources() -> Vec<&'static str> {
    EpisodeSource::ALL.iter().map(|s| s.as_str()).collect()
}

pub(super) fn operations() -> Vec<&'static str> {
    Operation::ALL.iter().map(|o| o.as_str()).collect()
}

fn text() -> String {
    EpisodeSource::Text.as_str().into()
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Added {
    /// For `delete_memory`.
    id: String,
    /// Secrets that were taken out before it was stored.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    secrets_redacted: usize,
    #[serde(flatten)]
    state: State,
}

impl Question for Args {
    const NAME: &'static str = "add_memory";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Remember a decision, a convention or a preference of this project for later sessions: one thing in each memory, with the \
reason, naming the files it is about. Not for what the code or the documents say already.";
    const GROUP: Group = Group::Memory;
    const EFFECT: Effect = Effect::Adds;
    type Reply = Added;

    fn answer(self, asked: Asked) -> Result<Added, ToolError> {
        // The schema has the names.
        let unknown = |what: &str, name: &str| ToolError::Arguments(format!("there is no {what} `{name}`"));
        let source = EpisodeSource::parse(&self.source).ok_or_else(|| unknown("source", &self.source))?;
        let operation =
            self.metadata.operation.as_deref().map(|o| Operation::parse(o).ok_or_else(|| unknown("operation", o))).transpose()?;
        if source == EpisodeSource::Json {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&self.episode_body);
            parsed.map_err(|e| ToolError::Arguments(format!("source is json, and episode_body is none: {e}")))?;
        }
        let memories = asked.memories()?;
        let session = memories.sessions.current_session().ok().flatten().unwrap_or_default();
        let Metadata { origin_path, git_batch_id, .. } = self.metadata;
        let episode = Episode { source, operation, origin_path, git_batch_id };
        let memory = Memory {
            name: self.name,
            group_id: self.group_id,
            pinned: self.pinned,
            ..Memory::new(self.episode_body, MemorySource::Episode(episode), &session)
        };
        let before = memories.store.redacted()?;
        let id = memories.capture.capture(memory)?;
        let secrets_redacted = memories.store.redacted()?.saturating_sub(before);
        asked.serving(&memories)?;
        Ok(Added { id: id.to_string(), secrets_redacted, state: asked.memory_state(&memories) })
    }
}

impl Reply for Added {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let redacted = (self.secrets_redacted > 0).then(|| format!("secrets taken out: {}", self.secrets_redacted));
        std::iter::once(format!("remembered {}", self.id)).chain(redacted).collect()
    }
}
