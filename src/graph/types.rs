//! Parses the types that source code writes.

/// A type: its name without path and decoration, and its type argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type<'a> {
    /// `Foo` of `&mut a::Foo<T>`; `[]` for a list.
    pub(super) name: &'a str,
    /// The path before the name: `a`.
    pub(super) path: &'a str,
    /// The type argument that members are looked up in: the value type of a map, the success type
    /// of a result.
    pub(super) inner: Option<&'a str>,
}

/// Words before the name of a type that are left out.
const WORDS: [&str; 18] = [
    "mut ", "const ", "dyn ", "impl ", "readonly ", "final ", "static ", "struct ", "class ",
    "enum ", "unsigned ", "volatile ", "inout ", "chan ", "<-chan ", "infer ", "keyof ", "typeof ",
];

/// Parses a type, or the first element of a tuple. Returns `None` if it has no name.
pub(super) fn parse(written: &str) -> Option<Type<'_>> {
    let text = undecorated(written);
    if let Some(rest) = text.strip_prefix('[') {
        // Go's `[]T`; Rust's and Swift's `[T]` and `[T; N]`.
        let (head, tail) = rest.split_once(']')?;
        let inner = if tail.trim().is_empty() { head.split(';').next()? } else { tail };
        return Some(Type { name: "[]", path: "", inner: Some(inner.rsplit(':').next()?.trim()) });
    }
    if let Some(rest) = text.strip_prefix("map[") {
        return Some(Type {
            name: "map",
            path: "",
            inner: rest.split_once(']').map(|(_, value)| value),
        });
    }
    if let Some(inner) = text.strip_prefix('(') {
        // The first of several results, or a type in parentheses.
        let first = top_level(inner.strip_suffix(')')?, ',').into_iter().next()?.trim();
        return parse(
            first
                .rsplit_once(' ')
                .map_or(first, |(_, t)| if first.starts_with(['*', '&', '[']) { first } else { t }),
        );
    }
    if let Some(inner) = text.strip_suffix("[]") {
        return Some(Type { name: "[]", path: "", inner: Some(inner) });
    }
    let end = text.find(['<', '[', '(', ' ', '{', '+']).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let head = head.trim_end_matches(['*', '&', '?', '!', ':']);
    let at = head.rfind(['.', ':', '\\']).map_or(0, |i| i + 1);
    let (path, name) = head.split_at(at);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let inner =
        rest.strip_prefix(['<', '[']).and_then(|r| r.rfind(['>', ']']).map(|end| &r[..end]));
    let pick = |arguments| {
        let parts = top_level(arguments, ',');
        let is_map = name.to_lowercase().contains("map")
            || name.to_lowercase().contains("dict")
            || name == "Record";
        if is_map {
            parts.last().copied()
        } else {
            parts.iter().find(|p| !p.trim().starts_with('\'')).copied()
        }
    };
    is_name.then(|| Type {
        name,
        path: path.trim_end_matches(['.', ':', '\\']),
        inner: inner.and_then(pick).map(str::trim),
    })
}

/// Returns element `n` of a tuple, counted from 0.
pub(super) fn element(written: &str, n: usize) -> Option<&str> {
    let inner = written.trim().strip_prefix('(')?.strip_suffix(')')?;
    top_level(inner, ',').get(n).map(|e| e.trim())
}

fn undecorated(written: &str) -> &str {
    let mut text = written.trim().trim_matches(['"', '\'', '`']);
    // The first alternative that is a type.
    if let Some(first) = top_level(text, '|')
        .into_iter()
        .find(|a| !matches!(a.trim(), "None" | "null" | "undefined" | "" | "false"))
    {
        text = first.trim();
    }
    loop {
        let before = text;
        text = text.trim_start_matches(['&', '*', ' ', '?', ':']);
        if let Some(rest) = text.strip_prefix('\'') {
            text = rest.split_once(' ').map_or("", |(_, t)| t);
        }
        for word in WORDS {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if text == before {
            return text.trim_end_matches(['&', '*', '?', '!', ' ']);
        }
    }
}

/// Splits a text at separators outside of brackets.
fn top_level(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns whether a type is a word for the type around it, such as `Self`.
pub(super) fn is_self_type(written: &str) -> bool {
    matches!(parse(written).map(|t| t.name), Some("Self" | "this" | "self" | "static"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_as_languages_write_them() {
        for (written, name, path, inner) in [
            ("&'a mut Set<T>", "Set", "", Some("T")),
            ("Arc<Mutex<State>>", "Arc", "", Some("Mutex<State>")),
            ("Result<Vec<u8>, Error>", "Result", "", Some("Vec<u8>")),
            ("HashMap<String, Node>", "HashMap", "", Some("Node")),
            ("Box<dyn Fn(u8) -> u8>", "Box", "", Some("dyn Fn(u8) -> u8")),
            ("*http.Request", "Request", "http", None),
            ("[]*Route", "[]", "", Some("*Route")),
            ("map[string]*Route", "map", "", Some("*Route")),
            ("(Engine, error)", "Engine", "", None),
            ("(n int, err error)", "int", "", None),
            ("Optional[\"Node\"]", "Optional", "", Some("\"Node\"")),
            ("Node | None", "Node", "", None),
            ("undefined | Ref<T>", "Ref", "", Some("T")),
            ("Dep[]", "[]", "", Some("Dep")),
            ("const std::string &", "string", "std", None),
        ] {
            assert_eq!(parse(written), Some(Type { name, path, inner }), "{written}");
        }
        assert_eq!(parse(""), None);
        assert_eq!(element("(Sender<A, B>, Receiver<A>)", 1), Some("Receiver<A>"));
    }
}
