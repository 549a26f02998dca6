//! Short parts of files as they are shown in messages.

use crate::source::printable_lines;
use crate::text::cut;

/// The beginning of a text on one line, without characters that control a terminal.
pub(super) fn excerpt(text: &str, max_chars: usize) -> String {
    cut(&printable_lines(text).replace('\n', "\\n"), max_chars)
}
