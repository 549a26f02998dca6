//! Imports: which name comes from which module.

/// One imported name, or a module as a whole.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Import {
    /// The module as written, without quotes: `crate::store`, `.models`, `./util.js`, `net/http`.
    pub module: String,
    /// The imported name; `*` for all names, empty for the module itself.
    pub name: String,
    /// The name in this file; empty if it is not renamed.
    pub alias: String,
    pub line: u32,
}

impl Import {
    pub(super) fn new(module: &str, name: Option<&str>, alias: Option<&str>, line: u32) -> Self {
        let plain = |s: &str| s.trim().trim_matches(['"', '\'', '`', '<', '>', ';']).to_string();
        // In Go, `.` imports all names of the package.
        let (name, alias) = if alias == Some(".") { (Some("*"), None) } else { (name, alias) };
        Self {
            module: plain(module),
            name: plain(name.unwrap_or("")),
            alias: plain(alias.unwrap_or("")),
            line,
        }
    }
}

/// Returns the names that a path imports: `a::b::{c, d as e, f::*}` has three. The last part of
/// each path is the name.
pub(super) fn paths(written: &str, alias: Option<&str>, line: u32) -> Vec<Import> {
    let mut written = written.trim().trim_end_matches(';');
    for word in ["import ", "use ", "function ", "const "] {
        written = written.strip_prefix(word).unwrap_or(written).trim_start();
    }
    let separator = if written.contains("::") || written.starts_with('{') {
        "::"
    } else if written.contains('\\') {
        "\\"
    } else {
        "."
    };
    let mut out = Vec::new();
    expand("", written, separator, &mut |path, own_alias| {
        let (module, name) = path.rsplit_once(separator).unwrap_or(("", path));
        let (module, name) = if name == "self" {
            module.rsplit_once(separator).unwrap_or(("", module))
        } else {
            (module, name)
        };
        let name = if name == "_" { "*" } else { name };
        let alias = own_alias.or(alias).filter(|a| *a != "_");
        out.push(Import::new(module, Some(name), alias, line));
    });
    out
}

fn expand(prefix: &str, tree: &str, separator: &str, each: &mut impl FnMut(&str, Option<&str>)) {
    let tree = tree.trim();
    let join = |rest: &str| {
        if prefix.is_empty() { rest.to_string() } else { format!("{prefix}{separator}{rest}") }
    };
    if let Some((head, list)) = tree.split_once('{') {
        let head = head.trim().trim_end_matches(separator);
        let prefix = if head.is_empty() { prefix.to_string() } else { join(head) };
        let list = list.trim_end().strip_suffix('}').unwrap_or(list);
        for part in top_level(list).into_iter().filter(|p| !p.trim().is_empty()) {
            expand(&prefix, part, separator, each);
        }
        return;
    }
    let (path, alias) = match tree.split_once(" as ").or_else(|| tree.split_once(" => ")) {
        Some((path, alias)) => (path.trim(), Some(alias.trim())),
        None => (tree, None),
    };
    each(&join(path.trim_start_matches(separator)), alias);
}

/// Splits a list at its commas, except those in inner braces.
fn top_level(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_paths() {
        let got: Vec<String> = paths("crate::a::{self, b::{C, D as E}, f::*}", None, 1)
            .iter()
            .map(|i| format!("{} | {} | {}", i.module, i.name, i.alias))
            .collect();
        assert_eq!(
            got,
            ["crate | a | ", "crate::a::b | C | ", "crate::a::b | D | E", "crate::a::f | * | "]
        );
        assert_eq!(
            paths("java.util.List", None, 1)[0],
            Import::new("java.util", Some("List"), None, 1)
        );
        assert_eq!(
            paths("App\\Models\\User", Some("U"), 1)[0],
            Import::new("App\\Models", Some("User"), Some("U"), 1)
        );
        assert_eq!(
            paths("use function App\\{Models\\find, help as h};", None, 1),
            [
                Import::new("App\\Models", Some("find"), None, 1),
                Import::new("App", Some("help"), Some("h"), 1)
            ]
        );
    }
}
