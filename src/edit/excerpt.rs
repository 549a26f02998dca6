//! Short excerpts of files for messages.

use crate::source::printable_lines;
use crate::text::cut;

/// Returns the beginning of a text on one line, without terminal control characters.
pub(super) fn excerpt(text: &str, max_chars: usize) -> String {
    cut(&printable_lines(text).replace('\n', "\\n"), max_chars)
}
