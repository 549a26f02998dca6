//! Changes of files, taken in at once.

use super::freshness::AnswerState;
use super::serving::Engine;
use super::{AskError, Call};
use crate::edit::{Edit, Edited, JsonValue, Root, ViewedLines, trusted};
use crate::source::may_hold_secrets;

impl Engine {
    /// Changes a file, and takes the change in. The change, and the state of the index after it.
    ///
    /// # Errors
    /// When the file cannot be changed so, or must not be.
    pub fn edit(
        &self,
        path: &str,
        expected: Option<&str>,
        edit: &Edit,
        call: &Call,
    ) -> Result<(Edited, AnswerState), AskError> {
        let edited = self.changeable()?.edit(path, expected, edit)?;
        // What is written is written: from here on there are warnings, and no errors.
        let late = edited.lines.and_then(|_| self.index_now(&edited.path, call));
        // Nobody reads the reply to a call that was cancelled.
        let state = self.state(call).unwrap_or_default().warning_first(late).in_brief(call);
        Ok((edited, state))
    }

    /// Lines of a file as it is, with the hash that an edit may name.
    ///
    /// # Errors
    /// When the file cannot be read, or must not be.
    pub fn view_file(
        &self,
        path: &str,
        lines: Option<&str>,
        call: &Call,
    ) -> Result<(ViewedLines, AnswerState), AskError> {
        let lines = super::read::line_range(lines)?;
        Ok((self.readable()?.view(path, Some(lines))?, self.state(call)?))
    }

    /// The value that a JSON Pointer names.
    ///
    /// # Errors
    /// When the file cannot be read, or has no such value.
    pub fn json_value(
        &self,
        path: &str,
        pointer: &str,
        call: &Call,
    ) -> Result<(JsonValue, AnswerState), AskError> {
        Ok((self.readable()?.get(path, pointer)?, self.state(call)?))
    }

    /// The files that may be read: not those that may hold secrets.
    fn readable(&self) -> Result<Root, AskError> {
        self.files_but(secret)
    }

    /// The files that may be changed: of those that may be read, not those that programs execute or
    /// trust, unless the user said so.
    fn changeable(&self) -> Result<Root, AskError> {
        let is_allowed = self.project.config.edit_trusted;
        let trusted = move |path: &str| trusted(path).filter(|_| !is_allowed);
        self.files_but(move |path| {
            secret(path).or_else(|| {
                let why = trusted(path)?;
                Some(format!("it is not changed, because {why}: change it by hand, or start cortex with --edit-trusted-files"))
            })
        })
    }

    fn files_but(
        &self,
        refuse: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Root, AskError> {
        Root::new(self.project.layout.root(), refuse).map_err(|e| AskError::Failed(e.to_string()))
    }
}

fn secret(path: &str) -> Option<String> {
    may_hold_secrets(path).then(|| "it may hold secrets: it is neither read nor edited".to_string())
}
