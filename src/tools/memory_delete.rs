//! `delete_memory`: deletes a memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::TokenBudget;
use super::reply::{Look, Reply};
use super::tool::{Effect, Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// `fingerprintId` of a search result.
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// Id of the deleted memory.
    id: String,
    #[serde(flatten)]
    state: AnswerState,
}

impl Question for Args {
    const NAME: &'static str = "delete_memory";
    const TITLE: &'static str = "Delete a memory";
    const WHEN: &'static str = "delete a memory that is wrong.";
    const DESCRIPTION: &'static str =
        "Delete one memory that is wrong or no longer true, by its fingerprintId.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const EFFECT: Effect = Effect::Destroys;
    const NEEDS_MEMORIES: bool = true;
    const WAITS: bool = false;
    type Reply = Deleted;

    fn answer(self, engine: &Engine, call: &Call, _: TokenBudget) -> Result<Deleted, AskError> {
        let id = self.id.parse().map_err(|_| {
            AskError::Arguments(format!("`{}` is not the id of a memory: give the fingerprintId of a result of search_memory_nodes", self.id))
        })?;
        let state = engine.forget(&[id], call)?;
        Ok(Deleted { id: id.to_string(), state })
    }
}

impl Reply for Deleted {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        vec![format!("forgot {}", self.id)]
    }
}
