//! Makes text from strangers safe to show.

use std::borrow::Cow;

/// Escapes text from a repository for one line: line breaks, terminal controls, characters that
/// change the reading order, and invisible ones become `\u{202e}` and the like.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, hides)
}

/// Escapes text of several lines: line breaks and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    printable_but(text, &['\n', '\t'])
}

/// Escapes text, except for the characters in `kept`.
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

/// Whether a character is invisible, or acts on the text around it or on the terminal.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Direction marks, embeddings, overrides and isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separators, and deprecated format characters next to the isolates.
            | '\u{2028}' | '\u{2029}' | '\u{206a}'..='\u{206f}'
            // Invisible tag characters, which a language model reads.
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
            (
                "\u{2067}a\u{2069}\u{200f}\u{61c}",
                "\\u{2067}a\\u{2069}\\u{200f}\\u{61c}",
                "\\u{2067}a\\u{2069}\\u{200f}\\u{61c}",
            ),
            ("\x1b[31m\x07\u{9b}", "\\u{1b}[31m\\u{7}\\u{9b}", "\\u{1b}[31m\\u{7}\\u{9b}"),
            ("a\n\tb\r\n", "a\\n\\tb\\r\\n", "a\n\tb\\r\n"),
            ("\u{e0041}\u{2028}", "\\u{e0041}\\u{2028}", "\\u{e0041}\\u{2028}"),
        ] {
            assert_eq!((&*printable(text), &*printable_lines(text)), (line, lines), "{text:?}");
        }
    }
}
