//! The form of all replies: text for readers, and JSON for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{AnswerState, PublishedState};
use crate::secrets::{MARKED, has_mark};
use crate::source;
use crate::text::count;

/// A reply that has a text form beside its JSON form.
pub(crate) trait Reply: Serialize + JsonSchema {
    fn state(&self) -> &AnswerState;

    /// Returns the text form, in as few words as possible. A line that begins with text of the
    /// repository is [`quoted`], or begins with a [`shown_place`], so that no such text can look like
    /// a line of Cortex.
    fn lines(&self) -> Vec<String>;

    /// Returns the whole text: first the warnings, last the freshness of the index.
    fn text(&self) -> String {
        let AnswerState { index, warnings, projects, published } = self.state();
        let published: Vec<String> = published.iter().map(of_published).collect();
        let mut freshness = vec![match projects {
            n if *n == published.len() && *n > 0 => published.join(", "),
            0 => format!(
                "generation {}{}",
                index.generation,
                if index.local { " (local)" } else { "" }
            ),
            n => [vec![count(*n, "project")], published].concat().join(" · "),
        }];
        freshness.extend(index.head.as_ref().map(|head| format!("HEAD {head}")));
        if index.pending > 0 {
            freshness.push(format!("{} pending", count(index.pending, "file")));
        }
        if index.vectors_pending > 0 {
            freshness.push(format!("{} pending", count(index.vectors_pending, "vector")));
        }
        let mut lines: Vec<String> = warnings.iter().map(|w| format!("warning: {w}")).collect();
        lines.extend(self.lines());
        if lines.iter().any(|line| has_mark(line)) {
            lines.insert(0, format!("warning: {MARKED}"));
        }
        lines.push(freshness.join(" · "));
        // Whatever a line holds, it stays one line.
        lines.iter().map(|line| printable_code(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the lines of a reply for a command, without its warnings and the freshness of the index.
pub(crate) fn printed(reply: &impl Reply) -> Vec<String> {
    // Whatever a line holds, it stays one line.
    reply.lines().iter().map(|line| printable_code(line)).collect()
}

/// Says which state of a published repository answered.
fn of_published(state: &PublishedState) -> String {
    let commit = state.commit.get(..7).unwrap_or(&state.commit);
    let of = if commit.is_empty() { String::new() } else { format!(" of {commit}") };
    format!("{} generation {}{of}", printable(&state.repo), state.generation)
}

/// Escapes characters that break the line, control a terminal or change the direction of text.
#[must_use]
pub fn printable(text: &str) -> String {
    source::printable(text).into_owned()
}

/// Escapes the same characters in a line of a file, except tabs: text that is copied from a reply
/// must be that of the file.
#[must_use]
pub fn printable_code(line: &str) -> String {
    source::printable_but(line, &['\t']).into_owned()
}

/// Marks a line as text of the repository: lines of Cortex begin in the first column.
#[must_use]
pub(super) fn quoted(line: &str) -> String {
    format!(" {}", printable_code(line))
}

/// Returns a path, with or without lines, as the beginning of a line. Lines of Cortex begin with a
/// word and a space, so a path with spaces is marked.
#[must_use]
pub fn shown_place(place: &str) -> String {
    let place = printable(place);
    if place.contains(char::is_whitespace) { format!("`{place}`") } else { place }
}
