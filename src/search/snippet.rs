//! Selects the lines of a text to show: those with most words of the query.

use std::cmp::Reverse;
use std::ops::Range;

use super::tokens::Highlighter;

/// A line with the byte ranges to mark.
pub type MarkedLine<'t> = (&'t str, Vec<Range<usize>>);

/// The lines of a text, with the query's words marked.
pub struct Marked<'t> {
    lines: Vec<MarkedLine<'t>>,
}

impl<'t> Marked<'t> {
    #[must_use]
    pub fn new(text: &'t str, words: &mut Highlighter) -> Self {
        Self { lines: text.lines().map(|l| (l, words.ranges(l))).collect() }
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the `n` adjacent lines with most marks (all if there are fewer), and the number of
    /// lines before them.
    #[must_use]
    pub fn window(&self, n: usize) -> (usize, &[MarkedLine<'t>]) {
        let n = n.min(self.lines.len());
        // The first of the best windows. Each mark counts, and the first line counts slightly more,
        // because it names things.
        let score = |start: usize| {
            self.lines[start..start + n].iter().map(|l| l.1.len()).sum::<usize>() * 2
                + usize::from(start == 0)
        };
        let start =
            (0..=self.lines.len() - n).max_by_key(|s| (score(*s), Reverse(*s))).unwrap_or(0);
        (start, &self.lines[start..start + n])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_most_words_and_begins_at_the_top_when_none_does() {
        let text =
            "fn main() {\n    setup();\n    let lock = write_lock();\n    lock.release();\n}\n";
        let marked = Marked::new(text, &mut Highlighter::new("release the write lock"));
        let (before, lines) = marked.window(2);
        assert_eq!(before, 2);
        assert_eq!(
            lines[0].1.iter().map(|r| &lines[0].0[r.clone()]).collect::<Vec<_>>(),
            ["lock", "write", "lock"]
        );
        assert_eq!(Marked::new(text, &mut Highlighter::new("zebra")).window(2).0, 0);
        assert_eq!(marked.window(100).1.len(), 5);
        assert_eq!(Marked::new("", &mut Highlighter::new("x")).window(3).1.len(), 0);
    }
}
