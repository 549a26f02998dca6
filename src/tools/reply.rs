//! The form of all replies: text for readers, and JSON for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::AnswerState;
use crate::source;
use crate::text::count;

/// A reply that has a text form beside its JSON form.
pub(super) trait Reply: Serialize + JsonSchema {
    fn state(&self) -> &AnswerState;

    /// Returns the text form, in as few words as possible.
    fn lines(&self) -> Vec<String>;

    /// Returns the whole text: first the warnings, last the freshness of the index.
    fn text(&self) -> String {
        let AnswerState { index, warnings } = self.state();
        let mut freshness = vec![format!(
            "generation {}{}",
            index.generation,
            if index.local { " (local)" } else { "" }
        )];
        freshness.extend(index.head.as_ref().map(|head| format!("HEAD {head}")));
        if index.pending > 0 {
            freshness.push(format!("{} pending", count(index.pending, "file")));
        }
        if index.vectors_pending > 0 {
            freshness.push(format!("{} pending", count(index.vectors_pending, "vector")));
        }
        let mut lines: Vec<String> = warnings.iter().map(|w| format!("warning: {w}")).collect();
        lines.extend(self.lines());
        lines.push(freshness.join(" · "));
        source::printable_lines(&lines.join("\n")).into_owned()
    }
}

/// Escapes characters that break the line, control a terminal or change the direction of text.
#[must_use]
pub fn printable(text: &str) -> String {
    source::printable(text).into_owned()
}
