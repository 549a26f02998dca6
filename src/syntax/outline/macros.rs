//! Hides macros from the parser that it would take for names in C and C++.
//!
//! `class FOO_EXPORT Bar {`, `FOO_API int f(void);` and `void f() NO_ANALYSIS {` are parsed
//! wrongly, and the error may spread to the rest of the file. The macros are replaced by white
//! space, so every position stays the same. Hiding a word in a comment or a string does no harm,
//! since names and signatures are read from the original text.

/// Scans a text forward, byte by byte.
#[derive(Clone, Copy)]
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Reads an identifier; empty if there is none at this place.
    fn word(&mut self) -> &'t [u8] {
        let start = self.at;
        while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Skips the rest of a type after its first name: `::string`, `::vector<int>`.
    fn path(&mut self) {
        while self.text[self.at..].starts_with(b"::") {
            self.at += 2;
            self.word();
        }
        self.brackets(b'<', b'>');
    }

    /// Skips arguments in parentheses, if there are any and they are short.
    fn arguments(&mut self) {
        self.brackets(b'(', b')');
    }

    fn brackets(&mut self, open: u8, close: u8) {
        const MAX: usize = 200;
        let mut depth = 0;
        for (i, b) in self.text[self.at..].iter().take(MAX).enumerate() {
            match b {
                b if *b == open => depth += 1,
                b if *b == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += if i == 0 { 0 } else { i + 1 };
                return;
            }
        }
    }
}

/// Whether a word looks like `FOO_EXPORT`: upper case with an underscore, or without one between
/// `class` and the name.
fn is_macro(word: &[u8], before: Before) -> bool {
    word.len() > 3
        && (word.contains(&b'_') || before == Before::TypeKeyword)
        && word[0].is_ascii_uppercase()
        && word.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// Rewrites Objective-C's `typedef NS_ENUM(NSInteger, Mode) {` as `enum Mode {`, with the name at
/// the same place. Returns `None` if there is none.
fn enums(text: &str) -> Option<Vec<u8>> {
    const MACROS: [&str; 4] = ["NS_ENUM(", "NS_OPTIONS(", "NS_CLOSED_ENUM(", "NS_ERROR_ENUM("];
    let mut out: Option<Vec<u8>> = None;
    for (at, name) in MACROS.iter().flat_map(|name| text.match_indices(name)) {
        let rest = &text[at + name.len()..];
        let Some(length) = rest.find(')').filter(|n| *n < 200) else { continue };
        let Some(comma) = rest[..length].find(',') else { continue };
        let (start, end) = (
            at - (text[..at].len()
                - text[..at].trim_end().strip_suffix("typedef").map_or(at, str::len)),
            at + name.len() + length + 1,
        );
        let bytes = out.get_or_insert_with(|| text.as_bytes().to_vec());
        let until_name = &mut bytes[start..=at + name.len() + comma];
        until_name.iter_mut().filter(|b| !b.is_ascii_whitespace()).for_each(|b| *b = b' ');
        until_name[..4].copy_from_slice(b"enum");
        bytes[end - 1] = b' ';
    }
    out
}

/// The token before a word.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    LineStart,
    TypeKeyword,
    ClosingParenthesis,
    Other,
}

/// Returns the text with these macros blanked; `None` if it has none.
pub(super) fn hide(text: &str) -> Option<String> {
    let with_enums = enums(text);
    let bytes = with_enums.as_deref().unwrap_or(text.as_bytes());
    let mut out: Option<Vec<u8>> = with_enums.clone();
    let mut scan = Scan { text: bytes, at: 0 };
    let mut before = Before::LineStart;
    while scan.at < bytes.len() {
        match scan.peek() {
            b'\n' => {
                // The word after a keyword or a parenthesis may be on the next line.
                before = if before == Before::Other { Before::LineStart } else { before };
                scan.at += 1;
            }
            b if b.is_ascii_whitespace() => scan.at += 1,
            b if b.is_ascii_alphanumeric() || b == b'_' => {
                let start = scan.at;
                let word = scan.word();
                if is_macro(word, before)
                    && let Some(end) = hidden_until(scan, before)
                {
                    let hidden = &mut out.get_or_insert_with(|| bytes.to_vec())[start..end];
                    hidden.iter_mut().filter(|b| !b.is_ascii_whitespace()).for_each(|b| *b = b' ');
                    scan.at = end;
                    continue;
                }
                before = if matches!(word, b"class" | b"struct" | b"enum" | b"union") {
                    Before::TypeKeyword
                } else {
                    Before::Other
                };
            }
            b => {
                before = if b == b')' { Before::ClosingParenthesis } else { Before::Other };
                scan.at += 1;
            }
        }
    }
    // Only ASCII characters or whole characters were replaced, so the text is still UTF-8.
    out.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Returns the end of the macro whose name `scan` has just read, if it has to be hidden.
fn hidden_until(mut scan: Scan, before: Before) -> Option<usize> {
    match before {
        // In `class A_B C_D(x) Name {`, the macros precede the name and the body or base classes.
        Before::TypeKeyword => {
            let (end, _) = skip_macros(&mut scan)?;
            scan.space();
            (matches!(scan.peek(), b'{' | b':') || scan.word() == b"final").then_some(end)
        }
        // In `A_B C_D(x) int name`, they precede a type and a name. In `FILE_TYPE x`, the
        // word itself is the type.
        Before::LineStart => {
            let (end, word) = skip_macros(&mut scan)?;
            scan.path();
            scan.space();
            let next = scan.peek();
            let typed = next.is_ascii_alphabetic() || matches!(next, b'_' | b'*' | b'&');
            (typed && !matches!(word, b"const" | b"volatile")).then_some(end)
        }
        Before::ClosingParenthesis => {
            scan.arguments();
            let end = scan.at;
            scan.space();
            (scan.peek() == b'{').then_some(end)
        }
        Before::Other => None,
    }
}

/// Skips consecutive macros. Returns their end, and the word after them.
fn skip_macros<'t>(scan: &mut Scan<'t>) -> Option<(usize, &'t [u8])> {
    // A longer run is a table, not attributes; the scan would read the rest again from each line.
    const MAX_MACROS: usize = 8;
    for _ in 0..MAX_MACROS {
        scan.arguments();
        let end = scan.at;
        scan.space();
        let word = scan.word();
        if word.is_empty() {
            return None;
        }
        if !is_macro(word, Before::Other) {
            return Some((end, word));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn hides_attribute_macros_and_keeps_positions() {
        for (text, want) in [
            ("class FOO_EXPORT Bar : Base {};", Some("class            Bar : Base {};")),
            ("class LOCKABLE Mutex {", Some("class          Mutex {")),
            ("enum class ABSL_A ABSL_B(x) Code {};", Some("enum class                  Code {};")),
            ("FOO_API int f(void);", Some("        int f(void);")),
            (
                "A_EXTERN B_FUNC C_SIZE(1)\n  void *f(void);",
                Some("                         \n  void *f(void);"),
            ),
            ("void f() NO_ANALYSIS {}", Some("void f()             {}")),
            ("void f() LOCKS_X(\"é\") {}", Some("void f()               {}")),
            ("FOO_API std::string A::f() {}", Some("        std::string A::f() {}")),
            ("FOO_TYPE A::f() {}", None),
            ("struct FOO_BAR { int x; };", None),
            ("struct FOO_BAR *f(void);", None),
            ("FOO_TYPE x;", None),
            ("FOO_TYPE const x;", None),
            ("x = (int) FOO_BAR;", None),
            ("FOO_CALL(a);", None),
            ("LAST_WORD", None),
            ("class A_B_C(((", None),
        ] {
            let got = hide(text);
            assert_eq!(got.as_deref(), want, "{text}");
            assert!(got.is_none_or(|g| g.len() == text.len()), "{text}");
        }
    }
}
