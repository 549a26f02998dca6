//! What the tools that change files have in common.

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{MAX_TOKENS, cut, fit, tokens};
use super::context::is_zero;
use super::{Asked, Reply, State, ToolError, Wait, printable};
use crate::edit::{Edit, EditError, Root, trusted};
use crate::source::may_hold_secrets;

/// Of a hash that a reader is shown: enough to tell two versions apart.
const HASH_DIGITS: usize = 16;
/// Characters of a value that is cut.
const SHOWN: usize = 40_000;

impl From<EditError> for ToolError {
    fn from(e: EditError) -> Self {
        match e {
            EditError::NotFound { .. } => Self::NotFound(e.to_string()),
            EditError::Io { .. } | EditError::Busy { .. } => Self::Failed(e.to_string()),
            e => Self::Arguments(e.to_string()),
        }
    }
}

/// A file as it is, or as it is after an edit.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub(super) struct EditReply {
    /// Relative to the root, links followed.
    path: String,
    /// Of the file as it is now: give it with the next edit.
    hash: String,
    /// What was done.
    done: &'static str,
    /// First and last line that `content` is about, 1-based; none: nothing was to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(usize, usize)>,
    /// Lines of the file, when it is viewed.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    total_lines: usize,
    /// The lines or the value asked for; after an edit the lines that changed and some around them, numbered.
    content: String,
    #[serde(flatten)]
    state: State,
}

impl Asked<'_> {
    /// The files that may be read: not those that may hold secrets.
    fn readable(&self) -> Result<Root, ToolError> {
        self.files(secret)
    }

    /// The files that may be changed: of those that may be read, not those that programs execute or trust, unless the user said so.
    fn changeable(&self) -> Result<Root, ToolError> {
        let is_allowed = self.context.edit_trusted;
        let trusted = move |path: &str| trusted(path).filter(|_| !is_allowed);
        self.files(move |path| {
            secret(path).or_else(|| {
                let why = trusted(path)?;
                Some(format!("it is not changed, because {why}: change it by hand, or start cortex with --edit-trusted-files"))
            })
        })
    }

    fn files(&self, refuse: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Result<Root, ToolError> {
        Root::new(self.context.layout.root(), refuse).map_err(|e| ToolError::Failed(e.to_string()))
    }

    /// Changes a file, and takes the change in.
    pub(super) fn edit(&self, path: &str, expected: Option<&str>, edit: &Edit) -> Result<EditReply, ToolError> {
        let edited = self.changeable()?.edit(path, expected, edit)?;
        // What is written is written: from here on there are warnings, and no errors.
        let late = edited.lines.and_then(|_| self.context.index_now(&edited.path, self.call));
        let mut reply = EditReply { state: self.now(late), lines: edited.lines, content: edited.preview, ..EditReply::default() };
        (reply.path, reply.hash) = (edited.path, edited.hash);
        reply.done = match (edited.created, edited.lines) {
            (true, _) => "created",
            (false, Some(_)) => "changed",
            (false, None) => "was so already",
        };
        Ok(reply)
    }

    /// Lines of a file, as many as fit.
    pub(super) fn view(&self, path: &str, lines: Option<(usize, usize)>, max_tokens: usize) -> Result<EditReply, ToolError> {
        let viewed = self.readable()?.view(path, lines)?;
        let all: Vec<&str> = viewed.text.split('\n').collect();
        let (state, total_lines) = (self.now(None), viewed.n_lines);
        Ok(fit(max_tokens, all.len(), |n| EditReply {
            path: viewed.path.clone(),
            hash: viewed.hash.clone(),
            done: if n < all.len() { "viewed, cut: give start_line to go on" } else { "viewed" },
            lines: (n > 0).then(|| (viewed.first_line, viewed.first_line + n - 1)),
            total_lines,
            content: all[..n].join("\n"),
            state: state.clone(),
        }))
    }

    /// The value that a JSON Pointer names.
    pub(super) fn json_value(&self, path: &str, pointer: &str) -> Result<EditReply, ToolError> {
        let found = self.readable()?.get(path, pointer)?;
        let lines = Some((found.first_line, found.last_line));
        let (content, done) = if tokens(&found.value) > MAX_TOKENS {
            (cut(&found.value, SHOWN), "read, cut: ask for a part of it")
        } else {
            (found.value, "read")
        };
        Ok(EditReply { path: found.path, hash: found.hash, done, lines, content, state: self.now(None), ..EditReply::default() })
    }

    /// The state of the index after what was done; with a warning, if there is one.
    fn now(&self, warning: Option<String>) -> State {
        // Nobody reads the reply to a call that was cancelled.
        let Ok(taken) = self.take(&Wait::default()) else { return State::default() };
        State::new(taken.index, warning.into_iter().chain(taken.warnings).collect())
    }
}

fn secret(path: &str) -> Option<String> {
    may_hold_secrets(path).then(|| "it may hold secrets: it is neither read nor edited".to_string())
}

impl Reply for EditReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let lines = self.lines.map(|(first, last)| format!(":{first}-{last}")).unwrap_or_default();
        let of = if self.total_lines > 0 { format!(" of {}", self.total_lines) } else { String::new() };
        let head =
            format!("{}{lines}{of}: {}, hash {}", printable(&self.path), self.done, cut(&self.hash, HASH_DIGITS).trim_end_matches('…'));
        std::iter::once(head).chain(self.content.lines().map(|line| line.replace('\t', "    ")).map(|line| printable(&line))).collect()
    }
}
