//! The reply of the tools that change files, and the functions that they share.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{MAX_TOKENS, TokenBudget, fit};
use super::reply::{Look, Reply, quoted, shown_place};
use crate::edit::Edit;
use crate::engine::{AnswerState, AskError, Call, Engine};
use crate::text::{cut, tokens};

/// Number of digits of a hash in the text form: enough to tell two versions apart.
const HASH_DIGITS: usize = 16;
/// A value of more than [`MAX_TOKENS`] tokens is cut to this many characters.
const SHOWN: usize = 40_000;

/// The current state of a file that was read or edited.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub(super) struct EditReply {
    /// Path relative to the root, with links followed.
    path: String,
    /// Hash of the current file: pass it as `expected_hash` of the next edit.
    hash: String,
    /// The outcome: created, changed, unchanged, viewed or read.
    done: &'static str,
    /// First line that was read or changed, 1-based; absent if nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    /// Last line, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// Number of lines of the file, if it was viewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    /// The lines or the value that was read; after an edit the changed lines and some around them,
    /// numbered.
    content: String,
    #[serde(flatten)]
    state: AnswerState,
}

/// Changes a file and returns its new state.
///
/// # Errors
/// Same as [`Engine::edit`].
pub(super) fn edit(
    engine: &Engine,
    path: &str,
    expected: Option<&str>,
    edit: &Edit,
    call: &Call,
) -> Result<EditReply, AskError> {
    let (edited, state) = engine.edit(path, expected, edit, call)?;
    let done = match (edited.created, edited.lines) {
        (true, _) => "created",
        (false, Some(_)) => "changed",
        (false, None) => "unchanged",
    };
    let (start_line, end_line) = edited.lines.unzip();
    Ok(EditReply {
        path: edited.path,
        hash: edited.hash,
        done,
        start_line,
        end_line,
        content: edited.preview,
        state,
        ..EditReply::default()
    })
}

/// Returns lines of a file, as many as fit.
pub(super) fn view(
    engine: &Engine,
    path: &str,
    lines: Option<&str>,
    budget: TokenBudget,
    call: &Call,
) -> Result<EditReply, AskError> {
    let (viewed, state) = engine.view_file(path, lines, call)?;
    let all: Vec<&str> = viewed.text.split('\n').collect();
    Ok(fit(budget, all.len(), |n| EditReply {
        path: viewed.path.clone(),
        hash: viewed.hash.clone(),
        done: if n < all.len() { "viewed in part: give lines to see more" } else { "viewed" },
        start_line: (n > 0).then_some(viewed.first_line),
        end_line: (n > 0).then(|| viewed.first_line + n - 1),
        total_lines: Some(viewed.n_lines),
        content: all[..n].join("\n"),
        state: state.clone(),
    }))
}

/// Returns the value that a JSON Pointer names.
pub(super) fn json_value(
    engine: &Engine,
    path: &str,
    pointer: &str,
    call: &Call,
) -> Result<EditReply, AskError> {
    let (found, state) = engine.json_value(path, pointer, call)?;
    let (content, done) = if tokens(&found.value) > MAX_TOKENS {
        (cut(&found.value, SHOWN), "read in part: give a longer pointer to see more")
    } else {
        (found.value, "read")
    };
    let (start_line, end_line) = (Some(found.first_line), Some(found.last_line));
    Ok(EditReply {
        path: found.path,
        hash: found.hash,
        done,
        start_line,
        end_line,
        content,
        state,
        total_lines: None,
    })
}

impl Reply for EditReply {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let lines = self
            .start_line
            .zip(self.end_line)
            .map(|(first, last)| format!(":{first}-{last}"))
            .unwrap_or_default();
        let of =
            self.total_lines.filter(|n| *n > 0).map(|n| format!(" of {n}")).unwrap_or_default();
        let head = format!(
            "{}{of}: {}, hash {}",
            shown_place(&format!("{}{lines}", self.path)),
            self.done,
            cut(&self.hash, HASH_DIGITS).trim_end_matches('…')
        );
        std::iter::once(head).chain(self.content.lines().map(quoted)).collect()
    }
}
