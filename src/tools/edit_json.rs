//! `json_editor`: reads and changes values of a JSON file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::TokenBudget;
use super::edit_reply::{EditReply, edit, json_value};
use super::tool::{Effect, Question, ToolGroup};
use crate::edit::Edit;
use crate::engine::{AskError, Call, Engine};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// get: a value; set: a value or a new key; delete: a key or an item; append: an item to an
    /// array.
    command: Command,
    /// Path relative to the root of the project.
    path: String,
    /// JSON Pointer, for example /scripts/build or /files/0; empty for the whole document.
    #[serde(default)]
    #[schemars(length(min = 0))]
    pointer: String,
    /// set, append: the value, as JSON: "text" in quotes, 1, {"a": []}
    #[serde(default)]
    #[schemars(extend("contentMediaType" = "application/json"))]
    value: String,
    /// Hash from get: the edit is refused if the file changed since then.
    expected_hash: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Command {
    Get,
    Set,
    Delete,
    Append,
}

impl Question for Args {
    const NAME: &'static str = "json_editor";
    const TITLE: &'static str = "Edit a JSON file";
    const WHEN: &'static str = "edit a JSON file; the next search finds the change.";
    const DESCRIPTION: &'static str = "Read and change values of a JSON file by JSON Pointer. Order, comments, indentation and all other values stay as they are. \
A change is indexed before the reply, so the next search finds it.";
    const GROUP: ToolGroup = ToolGroup::Edit;
    const EFFECT: Effect = Effect::Destroys;
    const WAITS: bool = false;
    type Reply = EditReply;

    fn answer(self, engine: &Engine, call: &Call, _: TokenBudget) -> Result<EditReply, AskError> {
        let Self { path, pointer, value, .. } = &self;
        let change = match self.command {
            Command::Get => return json_value(engine, path, pointer, call),
            Command::Set => Edit::Set { pointer, value },
            Command::Delete => Edit::Delete { pointer },
            Command::Append => Edit::Append { pointer, value },
        };
        edit(engine, path, self.expected_hash.as_deref(), &change, call)
    }
}
