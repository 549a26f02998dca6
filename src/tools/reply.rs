//! The form of all replies: text for readers, plain for agents and with colours and links on a terminal,
//! and JSON for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{AnswerState, PublishedState};
use crate::secrets::{MARKED, has_mark};
use crate::source;
use crate::text::count;

/// Shows the parts of a line. Without more, they are plain text.
pub(crate) trait Look {
    /// Shows lines of a file, such as `3-9,12`, or the file if there are none, as the beginning of a line.
    fn lines(&self, path: &str, lines: &str) -> String {
        let lines = if lines.is_empty() { String::new() } else { format!(":{lines}") };
        shown_place(&format!("{path}{lines}"))
    }

    /// Shows a file, or a line of it unless that is 0, as the beginning of a line.
    fn at(&self, path: &str, line: u32) -> String {
        let line = if line > 0 { line.to_string() } else { String::new() };
        self.lines(path, &line)
    }

    /// Shows a file. A link leads to a line of it.
    fn file(&self, path: &str, _line: u32) -> String {
        self.at(path, 0)
    }

    /// Shows the name of a symbol.
    fn name(&self, name: &str) -> String {
        printable(name)
    }

    /// Shows a heading, or a note in a line.
    fn aside(&self, text: &str) -> String {
        text.to_string()
    }

    /// Shows a whole line that begins with a place.
    fn row(&self, text: String) -> String {
        text
    }

    /// Shows lines of a file, the first of which has this number.
    fn code(&self, _first: usize, text: &str) -> Vec<String> {
        text.lines().map(quoted).collect()
    }

    /// Shows a line of a file with its number.
    fn numbered(&self, number: usize, text: &str) -> String {
        format!("{number:>5} {}", printable_code(text))
    }

    /// Shows a line of a file beside its place.
    fn found_in(&self, text: &str) -> String {
        printable_code(text)
    }

    /// Shows the line of a file that a question names, with its number and a mark.
    fn marked(&self, number: usize, text: &str) -> String {
        format!(">{number:>4} {}", printable_code(text))
    }

    /// Shows a line of a file that matches (`:`) or is beside one (`-`).
    fn found(&self, _path: &str, line: u64, mark: char, text: &str) -> String {
        format!("{line}{mark} {}", printable_code(text))
    }

    /// Shows a line before (`-`) or after (`+`) a change.
    fn change(&self, line: u32, sign: char, text: &str) -> String {
        format!(" {line} {sign}{}", quoted(text))
    }

    /// Selects what the reader can do next: in another call of a tool, or by another command.
    fn advice<'a>(&self, call: &'a str, _command: &'a str) -> &'a str {
        call
    }
}

/// The look of text for agents.
pub(crate) struct Plain;

impl Look for Plain {}

/// A reply that has a text form beside its JSON form.
pub(crate) trait Reply: Serialize + JsonSchema {
    fn state(&self) -> &AnswerState;

    /// Returns the text form, in as few words as possible. A line that begins with text of the
    /// repository is [`quoted`], or begins with a [`shown_place`], so that no such text can look like
    /// a line of Cortex. A command prints it with its own look.
    fn shown(&self, look: &dyn Look) -> Vec<String>;

    /// Returns the text form for agents.
    fn lines(&self) -> Vec<String> {
        self.shown(&Plain)
    }

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
