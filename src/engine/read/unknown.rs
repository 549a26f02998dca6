//! Answers callers who name what is not there: with near symbols, and with the lines that hold a text.

use crate::engine::door::near::{is_literal, last_name, near_in};
use crate::engine::door::operation::Advised;
use crate::engine::door::serving::Engine;
use crate::engine::read::grep::GrepRequest;
use crate::engine::{AskError, Call};
use crate::text::{count, cut, unquoted};

/// Most lines that hold a text, and most characters of a text in a message.
const MAX_LINES: usize = 5;
const MAX_TEXT: usize = 100;

impl Engine {
    /// Explains that there is no such symbol: names that are near, and lines that hold the text.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn unknown_symbol(&self, target: &str, call: &Call) -> Result<String, AskError> {
        let near = self.with_code(call, |view| Ok(near_in(&view.code.corpus, target)))?;
        let lines = self.lines_holding(target, call)?;
        let target = cut(target, MAX_TEXT);
        Ok(format!(
            "there is no symbol or file `{target}`{near}{lines}. Give a name, Type::method, file:line or a file; {} lists them",
            self.project.front_end.name(Advised::Outline)
        ))
    }

    /// Adds the lines that hold a text to the error that nothing has this name.
    pub(in crate::engine) fn or_lines<T>(
        &self,
        answer: Result<T, AskError>,
        written: &str,
        call: &Call,
    ) -> Result<T, AskError> {
        match answer {
            Err(AskError::NotFound(why)) if is_literal(written) => {
                let lines = self.lines_holding(written, call).unwrap_or_default();
                Err(AskError::NotFound(format!("{why}{lines}")))
            }
            answer => answer,
        }
    }

    /// Says which lines hold a text or a name: `; it is in 2 lines: src/a.rs:3, src/b.rs:9`; empty if
    /// none does.
    fn lines_holding(&self, written: &str, call: &Call) -> Result<String, AskError> {
        let is_literal = is_literal(written);
        let text = if is_literal { unquoted(written) } else { last_name(written) };
        if text.trim().is_empty() {
            return Ok(String::new());
        }
        let request = GrepRequest {
            pattern: text.to_string(),
            word: !is_literal,
            limit: MAX_LINES,
            ..GrepRequest::default()
        };
        let found = self.grep(&request, call)?.found;
        let lines = found.addresses();
        let (text, all) = (cut(text, MAX_TEXT), count(found.total, "line"));
        Ok(match found.total {
            0 => String::new(),
            n if n > lines.len() => format!(
                "; `{text}` is in {all}: {} … ({} shows them)",
                lines.join(", "),
                self.project.front_end.name(Advised::Grep)
            ),
            _ => format!("; `{text}` is in {all}: {}", lines.join(", ")),
        })
    }
}
