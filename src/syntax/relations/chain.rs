//! Reduces an expression to a chain of names: `self.pool.get(key, || { … })` → `self.pool.get()`.

/// Longest expression that is read.
const MAX_EXPRESSION_BYTES: usize = 4000;
const MAX_CHAIN_BYTES: usize = 300;
/// Prefixes that do not change the meaning of an expression here.
const PREFIXES: [&str; 9] = ["::", "&", "*", "mut ", "await ", "new ", "ref ", "yield ", "..."];

/// Returns the names and separators of an expression without the contents of brackets: `a.b()`,
/// `A::new()`, `x[]`, `T{}`, and `"` for a literal. `None` if it is not such a chain.
pub(super) fn chain(expression: &str) -> Option<String> {
    let mut text = expression.trim();
    while let Some(rest) = PREFIXES.iter().find_map(|p| text.strip_prefix(p)) {
        text = rest.trim_start();
    }
    if text.is_empty() || text.len() > MAX_EXPRESSION_BYTES {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut out, mut at, mut gap) = (String::new(), 0, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let length = match byte {
            b'(' | b'[' | b'{' => closing(rest)?,
            b'<' if !out.is_empty() => closing(rest)?,
            b'"' | b'\'' | b'`' if out.is_empty() => string(rest)?,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let piece = match byte {
            b'(' if out.is_empty() => &chain(&rest[1..length - 1])?,
            b'(' => "()",
            b'[' => "[]",
            b'{' => "{}",
            b'"' | b'\'' | b'`' => "\"",
            b'.' | b':' => &rest[..1],
            b'-' if rest.starts_with("->") => ".",
            b'?' if rest[1..].starts_with('.') && !out.ends_with(')') => "",
            b'?' => ".?",
            b'>' if out.ends_with('.') && at > 0 && bytes[at - 1] == b'-' => "",
            b'!' | b'<' | b' ' | b'\n' | b'\t' | b'\r' => "",
            b'_' | b'$' | b'@' | b'#' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => {
                &rest[..length]
            }
            _ => return None,
        };
        let is_word =
            piece.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#'));
        if is_word && gap && !out.is_empty() && !out.ends_with(['.', ':']) {
            // Two words in a row are not a chain: `a as B`, `a in b`.
            return None;
        }
        gap = byte.is_ascii_whitespace() || (gap && piece.is_empty());
        out.push_str(piece);
        at += length;
        if out.len() > MAX_CHAIN_BYTES {
            return None;
        }
    }
    Some(
        out.replace(".await", "")
            .replace("::::", "::")
            .replace("::()", "()")
            .trim_end_matches(':')
            .to_string(),
    )
    .filter(|c| !c.is_empty())
}

/// Returns the chain that ends with the name at this place, in text that was not
/// parsed as an expression.
pub(super) fn chain_before(text: &str, name: std::ops::Range<usize>) -> Option<String> {
    let bytes = text.as_bytes();
    let floor = name.start.saturating_sub(MAX_EXPRESSION_BYTES);
    let mut start = name.start;
    while start > floor {
        let byte = bytes[start - 1];
        if matches!(byte, b')' | b']') {
            start = opening(bytes, start - 1, floor)?;
        } else if byte == b'}' && bytes.get(start) == Some(&b'.') {
            // A literal of a type: `Token { n: 1 }.len()`
            let before = text[..opening(bytes, start - 1, floor)?].trim_end();
            let word =
                before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
            if !before[word..].starts_with(char::is_uppercase) {
                return None;
            }
            start = before.len();
        } else if byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b':' | b'?')
            || (byte.is_ascii_whitespace() && is_continued(&bytes[start - 1..name.start]))
        {
            start -= 1;
        } else {
            break;
        }
    }
    let found = text.get(start..name.end)?;
    // A chain that begins with a dot follows an expression that is not a chain.
    if found.starts_with(['.', '?']) && !found.starts_with("..") {
        return None;
    }
    chain(found.trim_start_matches([':', '.', '?']))
}

/// Returns whether a chain goes on after white space: the next line begins with a dot.
fn is_continued(after: &[u8]) -> bool {
    after.trim_ascii_start().starts_with(b".")
}

/// Returns the length in bytes of the bracketed expression at the beginning of `text`.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_angle = bytes[0] == b'<';
    let (mut depth, mut at) = (0usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b'<' if is_angle => depth += 1,
            b'>' if is_angle && bytes[at - 1] != b'-' && bytes[at - 1] != b'=' => {
                depth = depth.checked_sub(1)?;
            }
            b';' | b'|' if is_angle => return None,
            b'"' | b'`' => at += string(&text[at..])? - 1,
            // A character literal, not a lifetime.
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the position of the opening bracket for the closing one at `end`.
fn opening(bytes: &[u8], end: usize, floor: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (floor..=end).rev() {
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the length in bytes of the string literal at the beginning of `text`.
fn string(text: &str) -> Option<usize> {
    let quote = text.as_bytes()[0];
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        if byte == quote && !is_escaped {
            return Some(at + 1);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    None
}

/// Splits a chain into the part before the last name, and that name. `None` if it does
/// not end with a name.
pub(super) fn split(chain: &str) -> Option<(&str, &str)> {
    let chain = chain.trim_end_matches("[]").trim_end_matches("{}");
    let at = chain.rfind(['.', ':']).map_or(0, |i| i + 1);
    let (before, name) = chain.split_at(at);
    let is_name = !name.is_empty() && !name.contains(['(', '[', '{', '"', '?']);
    let receiver = before.trim_end_matches(['.', ':']);
    // In `self::f()` and `store::f()`, the name is a module; in `self.f()`, a value.
    let is_module = before.ends_with("::")
        && !receiver.contains(['.', ':', '(', '[', '{'])
        && receiver.trim_start_matches('$').starts_with(char::is_lowercase);
    is_name.then_some((if is_module { before } else { receiver }, name))
}

/// Returns the first name of a chain.
pub(super) fn root(chain: &str) -> &str {
    let end = chain.find(['.', ':', '(', '[', '{']).unwrap_or(chain.len());
    &chain[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_chains() {
        for (expression, want) in [
            ("self.pool.get(key, |x| { x + 1 })", Some("self.pool.get()")),
            ("Set::<u8>::new()", Some("Set::new()")),
            ("a::b::<T>(1)", Some("a::b()")),
            ("a::b::<T>", Some("a::b")),
            ("&mut self.items[3]", Some("self.items[]")),
            ("new Foo<Bar>(1)", Some("Foo()")),
            ("(await load(')'))", Some("load()")),
            ("client\n    .get(url)\n    .send().await?", Some("client.get().send().?")),
            ("a?.b!.c", Some("a.b.c")),
            ("p->next", Some("p.next")),
            ("&Server{Name: \"x\"}", Some("Server{}")),
            ("\", \".join(xs)", Some("\".join()")),
            ("a + b", None),
            ("x as Foo", None),
            ("a < b", None),
            ("(unclosed", None),
            ("", None),
        ] {
            assert_eq!(chain(expression).as_deref(), want, "{expression}");
        }
    }

    #[test]
    fn chains_are_found_backwards() {
        for (text, want) in [
            ("assert!(self.get(1)?.len() == b)", "self.get().?.len"),
            (
                "assert_eq!(client\n    .post(\"/\")\n    .await\n    .len(), 1)",
                "client.post().len",
            ),
            ("assert!(a len())", "len"),
        ] {
            let at = text.find("len").unwrap();
            assert_eq!(chain_before(text, at..at + 3).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn the_last_name_is_split_off() {
        assert_eq!(split("a::b.c"), Some(("a::b", "c")));
        assert_eq!(split("a::c"), Some(("a::", "c")));
        assert_eq!(split("A::c"), Some(("A", "c")));
        assert_eq!(split("c"), Some(("", "c")));
        assert_eq!(split("Set[]"), Some(("", "Set")));
        assert_eq!(split("f()"), None);
        assert_eq!(root("self.a"), "self");
    }
}
