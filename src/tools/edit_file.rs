//! `file_editor`: views and edits a file as text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::TokenBudget;
use super::edit_reply::{EditReply, edit, view};
use super::tool::{Effect, Question, ToolGroup};
use crate::edit::Edit;
use crate::engine::{AskError, Call, Engine};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// view: lines and hash; create: a new file; replace: a text that occurs once; insert: lines
    /// after a line.
    command: Command,
    /// Path relative to the root of the project.
    path: String,
    /// create: the whole file; replace: the new text; insert: the new lines.
    #[schemars(length(min = 0))]
    text: Option<String>,
    /// replace: the exact text to replace, with enough around it to occur only once.
    #[serde(default)]
    #[schemars(length(min = 0))]
    old_text: String,
    /// replace: change all occurrences.
    #[serde(default)]
    replace_all: bool,
    /// insert: the line to insert after, 1-based; 0 inserts at the top.
    #[schemars(range(min = 0))]
    line: Option<usize>,
    /// view: the lines to return, as 10-40, 10- or 10; all by default.
    lines: Option<String>,
    /// Hash from view: the edit is refused if the file changed since then. create overwrites only
    /// with it.
    expected_hash: Option<String>,
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
    const WHEN: &'static str = "edit a file; the next search finds the change.";
    const DESCRIPTION: &'static str = "View, create and change files of the project as text. A change is applied completely or not at all, keeps line endings and file mode, \
and is indexed before the reply, so the next search finds it.";
    const GROUP: ToolGroup = ToolGroup::Edit;
    const EFFECT: Effect = Effect::Destroys;
    const WAITS: bool = false;
    type Reply = EditReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<EditReply, AskError> {
        let Self { path, old_text, .. } = &self;
        let missing = |what: &str| AskError::Arguments(what.into());
        let text = |what: &str| self.text.as_deref().ok_or_else(|| missing(what));
        let change = match self.command {
            Command::View => return view(engine, path, self.lines.as_deref(), budget, call),
            Command::Create => Edit::Create {
                text: text("text is missing: give the whole file, \"\" for an empty one")?,
            },
            Command::Replace => Edit::Replace {
                old: old_text,
                new: text("text is missing: give the new text, \"\" to delete the old one")?,
                all: self.replace_all,
            },
            Command::Insert => Edit::Insert {
                after: self.line.ok_or_else(|| {
                    missing("line is missing: give the line to insert after, 0 for the top")
                })?,
                text: text("text is missing: give the lines to insert")?,
            },
        };
        edit(engine, path, self.expected_hash.as_deref(), &change, call)
    }
}
