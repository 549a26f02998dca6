//! `add_memory`: something to be remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Reply;
use super::tool::{Effect, Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, RememberRequest};
use crate::memory::{EpisodeSource, Operation};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    secrets_redacted: Option<usize>,
    #[serde(flatten)]
    state: AnswerState,
}

impl Question for Args {
    const NAME: &'static str = "add_memory";
    const TITLE: &'static str = "Remember";
    const DESCRIPTION: &'static str = "Remember a decision, a convention or a preference of this project for later sessions: one thing in each memory, with the \
reason, naming the files it is about. Not for what the code or the documents say already.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const EFFECT: Effect = Effect::Adds;
    const WAITS: bool = false;
    const HAS_BUDGET: bool = false;
    type Reply = Added;

    fn answer(self, engine: &Engine, call: &Call, _: usize) -> Result<Added, AskError> {
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
        };
        let answer = engine.remember(&request, call)?;
        let secrets_redacted = Some(answer.secrets_redacted).filter(|n| *n > 0);
        Ok(Added { id: answer.memory.id.to_string(), secrets_redacted, state: answer.state })
    }
}

impl Reply for Added {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let redacted = self.secrets_redacted.map(|n| format!("secrets taken out: {n}"));
        std::iter::once(format!("remembered {}", self.id)).chain(redacted).collect()
    }
}
