//! Text of strangers as it may be shown.

use std::borrow::Cow;

/// Text from a repository as it may be shown on a line: what breaks the line, speaks to a terminal, changes the order of what is
/// read or cannot be seen is escaped, `\u{202e}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, hides)
}

/// The same for text of several lines: line breaks and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    printable_but(text, &['\n', '\t'])
}

/// The same for text that may hold these characters.
#[must_use]
pub fn printable_but<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    escaped(text, |c| hides(c) && !kept.contains(&c))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Whether a character does something else than to stand where it is.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Marks of direction, embeddings, overrides and isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Separators of lines and paragraphs, and what is deprecated beside the isolates.
            | '\u{2028}' | '\u{2029}' | '\u{206a}'..='\u{206f}'
            // Invisible letters, which a language model reads.
            | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_text_around_is_shown_escaped() {
        for (text, line, lines) in [
            ("fn é(): שלום 👩‍💻", "fn é(): שלום 👩‍💻", "fn é(): שלום 👩‍💻"),
            ("cod\u{202e}txt.exe", "cod\\u{202e}txt.exe", "cod\\u{202e}txt.exe"),
            ("\u{2067}a\u{2069}\u{200f}\u{61c}", "\\u{2067}a\\u{2069}\\u{200f}\\u{61c}", "\\u{2067}a\\u{2069}\\u{200f}\\u{61c}"),
            ("\x1b[31m\x07\u{9b}", "\\u{1b}[31m\\u{7}\\u{9b}", "\\u{1b}[31m\\u{7}\\u{9b}"),
            ("a\n\tb\r\n", "a\\n\\tb\\r\\n", "a\n\tb\\r\n"),
            ("\u{e0041}\u{2028}", "\\u{e0041}\\u{2028}", "\\u{e0041}\\u{2028}"),
        ] {
            assert_eq!((&*printable(text), &*printable_lines(text)), (line, lines), "{text:?}");
        }
    }
}
