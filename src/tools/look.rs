//! The look of the lines of a reply: plain for agents, and with colours and links on a terminal.

use super::reply::{printable, quoted, shown_place};

/// Shows the parts of a line. Without more, they are plain text.
pub(crate) trait Look {
    /// Shows a file, or a line of it unless that is 0, as the beginning of a line.
    fn at(&self, path: &str, line: u32) -> String {
        let line = if line > 0 { format!(":{line}") } else { String::new() };
        shown_place(&format!("{path}{line}"))
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
