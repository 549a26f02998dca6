//! `add_memory`: stores a memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::TokenBudget;
use super::reply::{Look, Reply};
use super::tool::{Effect, Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, RememberRequest};
use crate::memory::{EpisodeSource, Operation, Speaker};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Title, in a few words.
    name: String,
    /// The text to remember, at most 10000 characters. Secrets are redacted.
    episode_body: String,
    /// The kind of text or event.
    #[serde(default = "text")]
    #[schemars(extend("enum" = sources()))]
    source: String,
    #[serde(default)]
    metadata: Metadata,
    /// Group, if the project keeps the memories of several topics apart.
    #[serde(default)]
    group_id: String,
    /// Whether the briefing of every session contains it.
    #[serde(default)]
    pinned: bool,
}

/// The change of a file that the memory describes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Metadata {
    /// Kind of change.
    #[schemars(extend("enum" = operations()))]
    operation: Option<String>,
    /// Path of the file, relative to the root.
    origin_path: Option<String>,
    /// Id that all memories of one git operation share.
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
    /// Id of the memory, for `delete_memory`.
    id: String,
    /// Number of secrets that were redacted before the memory was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    secrets_redacted: Option<usize>,
    /// Whether it was stored before.
    #[serde(skip)]
    was_known: bool,
    #[serde(flatten)]
    state: AnswerState,
}

impl Question for Args {
    const NAME: &'static str = "add_memory";
    const TITLE: &'static str = "Store a memory";
    const WHEN: &'static str = "keep a decision and its reason for later sessions.";
    const DESCRIPTION: &'static str = "Store a decision, a convention or a preference of this project for later sessions: one per memory, with its reason and the names \
of the files it concerns. Do not store what the code or the documents already say.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const EFFECT: Effect = Effect::Adds;
    const WAITS: bool = false;
    type Reply = Added;

    fn answer(self, engine: &Engine, call: &Call, _: TokenBudget) -> Result<Added, AskError> {
        let Self { name, episode_body: content, source, group_id, pinned, metadata } = self;
        let Metadata { operation, origin_path, git_batch_id } = metadata;
        let request = RememberRequest {
            name,
            content,
            source,
            operation,
            origin_path,
            git_batch_id,
            group_id,
            pinned,
            said_by: Some(Speaker::Agent),
        };
        let answer = engine.remember(&request, call)?;
        let secrets_redacted = Some(answer.secrets_redacted).filter(|n| *n > 0);
        Ok(Added {
            id: answer.memory.id.to_string(),
            secrets_redacted,
            was_known: answer.was_known,
            state: answer.state,
        })
    }
}

impl Reply for Added {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let redacted = self.secrets_redacted.map(|n| format!("secrets redacted: {n}"));
        let what = if self.was_known { "already remembered as" } else { "remembered" };
        std::iter::once(format!("{what} {}", self.id)).chain(redacted).collect()
    }
}
