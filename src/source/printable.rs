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

/// Returns an error message, which may repeat an argument with its line breaks. Only its first line
/// begins in the first column, so that no argument speaks as Cortex.
#[must_use]
pub fn printable_message(text: &str) -> String {
    printable_lines(text).replace('\n', "\n ")
}

/// Escapes the same characters in JSON text, where they stand only within strings: `\u202e`.
#[must_use]
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && hides(c);
    if !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_escaped(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes text, except for the characters in `kept`.
#[must_use]
pub fn printable_but<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    escaped(text, |c| hides(c) && !kept.contains(&c))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| is_escaped(c) || joins(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in text.chars() {
        if is_escaped(c) || joins(c) && !may_join(before, c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        before = c;
    }
    Cow::Owned(out)
}

/// Whether a character is invisible, but may be needed to spell a word or to compose an emoji.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}')
}

/// Whether it is, after this character: a row of joiners, or joiners among ASCII letters, can only
/// hide something.
fn may_join(before: char, c: char) -> bool {
    !before.is_ascii() && (!joins(before) || before == '\u{fe0f}' && c == '\u{200d}')
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
            // Characters without a width, and fillers.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // Variation selectors and tags, in which text that a language model reads can be hidden.
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_when_it_is_escaped() {
        let value = serde_json::json!({ "a\u{202e}b": "c\u{e0041}\u{9b}\n é👩‍💻" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = printable_json(&text);
        assert!(!shown.contains(['\u{202e}', '\u{e0041}', '\u{9b}']), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

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
            (
                "نمی\u{200c}خواهم ❤\u{fe0f}",
                "نمی\u{200c}خواهم ❤\u{fe0f}",
                "نمی\u{200c}خواهم ❤\u{fe0f}",
            ),
            (
                "a\u{200d}b\u{200b}é\u{200c}\u{200d}",
                "a\\u{200d}b\\u{200b}é\u{200c}\\u{200d}",
                "a\\u{200d}b\\u{200b}é\u{200c}\\u{200d}",
            ),
            ("é\u{e0100}\u{fe01}", "é\\u{e0100}\\u{fe01}", "é\\u{e0100}\\u{fe01}"),
            ("\u{e0041}\u{2028}", "\\u{e0041}\\u{2028}", "\\u{e0041}\\u{2028}"),
        ] {
            assert_eq!((&*printable(text), &*printable_lines(text)), (line, lines), "{text:?}");
        }
    }
}
