//! `file_editor`: view and change a file as text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens};
use super::edit_reply::EditReply;
use super::{Asked, Effect, Group, Question, ToolError};
use crate::edit::Edit;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// view: lines and hash; create: a new file; replace: a text that stands there once; insert: lines after a line.
    command: Command,
    /// Relative to the root of the project.
    path: String,
    /// create: the whole file; replace: the new text; insert: the new lines.
    #[serde(default)]
    #[schemars(length(min = 0))]
    text: String,
    /// replace: what stands there now, exactly, with enough around it to be there once.
    #[serde(default)]
    #[schemars(length(min = 0))]
    old_text: String,
    /// replace: everywhere.
    #[serde(default)]
    replace_all: bool,
    /// insert: the line after which, 1-based; 0 for the top.
    #[schemars(range(min = 0))]
    line: Option<usize>,
    /// view: first line, 1-based.
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// view: last line, inclusive.
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
    /// The hash that view gave: refuses the edit when the file changed since. create overwrites only with it.
    expected_hash: Option<String>,
    /// view: most tokens of the reply, text and JSON together.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Command {
    View,
    Create,
    Replace,
    Insert,
}

impl Question for Args {
    const NAME: &'static str = "file_editor";
    const TITLE: &'static str = "View and edit a file";
    const DESCRIPTION: &'static str = "View, create and change files of the project as text. A change is whole or not at all, keeps line ends and mode, and is indexed \
before the reply, so that the next search finds it.";
    const GROUP: Group = Group::Edit;
    const EFFECT: Effect = Effect::Destroys;
    type Reply = EditReply;

    fn answer(self, asked: Asked) -> Result<EditReply, ToolError> {
        let Self { path, text, old_text, .. } = &self;
        let edit = match self.command {
            Command::View => {
                let lines = (self.start_line.unwrap_or(1), self.end_line.unwrap_or(usize::MAX));
                return asked.view(path, Some(lines), self.max_tokens);
            }
            Command::Create => Edit::Create { text },
            Command::Replace => Edit::Replace { old: old_text, new: text, all: self.replace_all },
            Command::Insert => {
                let after = self.line.ok_or_else(|| ToolError::Arguments("line is missing: the line after which, 0 for the top".into()))?;
                Edit::Insert { after, text }
            }
        };
        asked.edit(path, self.expected_hash.as_deref(), &edit)
    }
}
