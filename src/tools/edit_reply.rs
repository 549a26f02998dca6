//! What the tools that change files have in common.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{MAX_TOKENS, fit};
use super::reply::{Reply, printable};
use crate::edit::Edit;
use crate::engine::{AnswerState, AskError, Call, Engine};
use crate::text::{cut, tokens};

/// Of a hash that a reader is shown: enough to tell two versions apart.
const HASH_DIGITS: usize = 16;
/// Characters of a value that is cut.
const SHOWN: usize = 40_000;

/// A file as it is, or as it is after an edit.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub(super) struct EditReply {
    /// Relative to the root, links followed.
    path: String,
    /// Of the file as it is now: give it with the next edit.
    hash: String,
    /// What was done.
    done: &'static str,
    /// First line that `content` is about, 1-based; none: nothing was to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    /// Its last line, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// Lines of the file, when it is viewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    /// The lines or the value asked for; after an edit the lines that changed and some around them,
    /// numbered.
    content: String,
    #[serde(flatten)]
    state: AnswerState,
}

/// Changes a file, and tells what became of it.
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
        (false, None) => "was so already",
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

/// Lines of a file, as many as fit.
pub(super) fn view(
    engine: &Engine,
    path: &str,
    lines: Option<&str>,
    max_tokens: usize,
    call: &Call,
) -> Result<EditReply, AskError> {
    let (viewed, state) = engine.view_file(path, lines, call)?;
    let all: Vec<&str> = viewed.text.split('\n').collect();
    Ok(fit(max_tokens, all.len(), |n| EditReply {
        path: viewed.path.clone(),
        hash: viewed.hash.clone(),
        done: if n < all.len() { "viewed, cut: give lines to go on" } else { "viewed" },
        start_line: (n > 0).then_some(viewed.first_line),
        end_line: (n > 0).then(|| viewed.first_line + n - 1),
        total_lines: Some(viewed.n_lines),
        content: all[..n].join("\n"),
        state: state.clone(),
    }))
}

/// The value that a JSON Pointer names.
pub(super) fn json_value(
    engine: &Engine,
    path: &str,
    pointer: &str,
    call: &Call,
) -> Result<EditReply, AskError> {
    let (found, state) = engine.json_value(path, pointer, call)?;
    let (content, done) = if tokens(&found.value) > MAX_TOKENS {
        (cut(&found.value, SHOWN), "read, cut: ask for a part of it")
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

    fn lines(&self) -> Vec<String> {
        let lines = self
            .start_line
            .zip(self.end_line)
            .map(|(first, last)| format!(":{first}-{last}"))
            .unwrap_or_default();
        let of =
            self.total_lines.filter(|n| *n > 0).map(|n| format!(" of {n}")).unwrap_or_default();
        let head = format!(
            "{}{lines}{of}: {}, hash {}",
            printable(&self.path),
            self.done,
            cut(&self.hash, HASH_DIGITS).trim_end_matches('…')
        );
        std::iter::once(head)
            .chain(
                self.content
                    .lines()
                    .map(|line| line.replace('\t', "    "))
                    .map(|line| printable(&line)),
            )
            .collect()
    }
}
