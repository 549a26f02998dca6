//! `delete_memory`: something to be forgotten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, Effect, Group, Question, Reply, State, ToolError};
use crate::memory::forget_in_backups;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// `fingerprintId` of a result.
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// What was deleted.
    id: String,
    #[serde(flatten)]
    state: State,
}

impl Question for Args {
    const NAME: &'static str = "delete_memory";
    const TITLE: &'static str = "Forget";
    const DESCRIPTION: &'static str = "Delete one memory that is wrong or no longer true, by its fingerprintId.";
    const GROUP: Group = Group::Memory;
    const EFFECT: Effect = Effect::Destroys;
    const NEEDS_MEMORIES: bool = true;
    type Reply = Deleted;

    fn answer(self, asked: Asked) -> Result<Deleted, ToolError> {
        let id = self.id.parse().map_err(|_| ToolError::Arguments(format!("`{}` is no fingerprintId of a result", self.id)))?;
        let unknown = || ToolError::NotFound(format!("there is no memory {id}"));
        let memories = asked.memories_so_far()?.ok_or_else(unknown)?;
        if !memories.capture.forget(id)? {
            return Err(unknown());
        }
        if let Err(e) = forget_in_backups(&memories.capture, &[id]) {
            tracing::warn!("{id} is still in a backup: {e}");
        }
        asked.serving(&memories)?;
        Ok(Deleted { id: id.to_string(), state: asked.memory_state(&memories) })
    }
}

impl Reply for Deleted {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        vec![format!("forgot {}", self.id)]
    }
}
