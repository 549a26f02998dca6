//! Views and edits files, and indexes each edit at once.

use crate::edit::{Edit, Edited, JsonValue, Root, ViewedLines, trusted};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::Engine;
use crate::engine::{AskError, Call};
use crate::source::may_hold_secrets;

impl Engine {
    /// Edits a file and indexes it. Returns the edit and the state of the index after it.
    ///
    /// # Errors
    /// When the edit does not fit the file, or the file must not be changed.
    pub fn edit(
        &self,
        path: &str,
        expected: Option<&str>,
        edit: &Edit,
        call: &Call,
    ) -> Result<(Edited, AnswerState), AskError> {
        let edited = self.changeable()?.edit(path, expected, edit)?;
        // The file is written now, so a problem from here on is a warning and not an error.
        let late = edited.lines.and_then(|_| self.index_now(&[&edited.path], call));
        // The state fails only for a cancelled call, whose reply nobody reads.
        let state = self.state(call).unwrap_or_default().warning_first(late).in_brief(call);
        Ok((edited, state))
    }

    /// Returns lines of the current file, with the hash that an edit may expect.
    ///
    /// # Errors
    /// When the file cannot be read, or must not be read.
    pub fn view_file(
        &self,
        path: &str,
        lines: Option<&str>,
        call: &Call,
    ) -> Result<(ViewedLines, AnswerState), AskError> {
        let lines = crate::engine::read::places::line_range(lines)?;
        Ok((self.readable()?.view(path, Some(lines))?, self.state(call)?))
    }

    /// Returns the value that a JSON Pointer names.
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

    /// Returns the files that may be read: all except those that may hold secrets.
    fn readable(&self) -> Result<Root, AskError> {
        self.files_but(secret)
    }

    /// Returns the files that may be changed: the readable ones, except those that programs execute
    /// or trust, unless the user allowed these.
    pub(in crate::engine) fn changeable(&self) -> Result<Root, AskError> {
        if self.project.walk.package.is_some() {
            return Err(AskError::Arguments(format!(
                "{} is the package of a dependency, and its files are only read: change files of the project",
                self.project.layout.root().display()
            )));
        }
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
    may_hold_secrets(path)
        .then(|| "it may hold secrets, so it is neither read nor edited".to_string())
}
