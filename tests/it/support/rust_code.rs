//! Reads Rust source for `architecture.rs`: which modules a file names. It knows only as much of
//! the language as this project uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the code of a file without comments and without the content of strings and characters.
pub fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = out.chars().next_back().unwrap_or(' ');
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(n) =
            raw_string(rest).filter(|_| !before.is_alphanumeric() && before != '_')
        {
            out.push_str("\"\"");
            n
        } else if c == '"' {
            out.push_str("\"\"");
            string(rest)
        } else if let Some(n) = character(rest) {
            out.push_str("' '");
            n
        } else {
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    // The visibility of an item does not use a module.
    out.replace("pub(in crate::", "pub(in ")
}

/// Returns the length of the raw string that the text begins with.
fn raw_string(text: &str) -> Option<usize> {
    let marks = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let n = marks.len() - marks.trim_start_matches('#').len();
    let inside = marks[n..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n));
    Some(text.len() - inside.len() + inside.find(&end)? + end.len())
}

/// Returns the length of the string that the text begins with.
fn string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the length of the character that the text begins with; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let end = if inside.starts_with('\\') {
        2 + inside[2..].find('\'')?
    } else {
        inside.chars().next()?.len_utf8()
    };
    inside[end..].starts_with('\'').then_some(end + 2)
}

/// Returns the code without the items that are compiled for tests alone, wherever they are.
pub fn without_tests(code: &str) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let item = &rest[at + "#[cfg(test)]".len()..];
        let mut depth = 0;
        let end = item.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0 && matches!(c, '}' | ';' | ',')
        });
        rest = end.map_or("", |(i, c)| &item[i + c.len_utf8()..]);
    }
    out + rest
}

/// Returns the module path of a file: `search/text/mod.rs` is `search`, `text`.
pub fn path_of(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
    parts.retain(|p| p != "mod" && p != "lib");
    parts
}

/// The names from elsewhere that a file uses, as paths.
pub struct Module {
    /// `use` statements by the name that they define here. Modules below see these names, too.
    imported: BTreeMap<String, Vec<String>>,
    /// Paths that the code uses, including its `use` statements but not its re-exports (`pub use`).
    used: Vec<Vec<String>>,
}

impl Module {
    pub fn read(code: &str) -> Self {
        let mut module = Self { imported: BTreeMap::new(), used: Vec::new() };
        for statement in code
            .split_inclusive([';', '{', '}'])
            .scan(String::new(), |open, part| Some(joined(open, part)))
            .flatten()
        {
            let Some((before, tree)) = statement
                .split_once("use ")
                .filter(|(before, _)| before.trim().is_empty() || before.trim().starts_with("pub"))
            else {
                module.used.extend(paths(&statement));
                continue;
            };
            for (path, name) in flat(tree.trim_end_matches(';')) {
                if before.trim().is_empty() {
                    module.used.push(path.clone());
                }
                module.imported.insert(name, path);
            }
        }
        module
    }
}

/// Joins the parts of a `use` with braces into one statement, and returns all other parts
/// unchanged.
fn joined(open: &mut String, part: &str) -> Option<String> {
    let begins = |text: &str| {
        let text = text.trim_start();
        let text = text.strip_prefix("pub").map_or(text, |rest| {
            rest.strip_prefix('(').and_then(|r| r.split_once(')')).map_or(rest, |(_, r)| r)
        });
        text.trim_start().starts_with("use ")
    };
    if open.is_empty() && !begins(part) {
        return Some(part.to_string());
    }
    open.push_str(part);
    part.ends_with(';').then(|| std::mem::take(open))
}

/// Returns the paths of a `use` tree, each with the name that it defines.
fn flat(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((prefix, inner)) = tree.split_once('{') {
        let prefix: Vec<String> = names(prefix);
        let (mut depth, mut parts, mut part) = (0, Vec::new(), String::new());
        for c in inner.strip_suffix('}').unwrap_or(inner).chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if c == ',' && depth == 0 {
                parts.push(std::mem::take(&mut part));
            } else {
                part.push(c);
            }
        }
        parts.push(part);
        let below = parts.iter().filter(|p| !p.trim().is_empty()).flat_map(|p| flat(p));
        return below
            .map(|(path, name)| {
                let path: Vec<String> = prefix
                    .iter()
                    .cloned()
                    .chain(path)
                    .filter(|n| n != "self" || prefix.is_empty())
                    .collect();
                let name =
                    if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
                (path, name)
            })
            .collect();
    }
    let (path, alias) = tree
        .split_once(" as ")
        .map_or((tree, None), |(path, alias)| (path, Some(alias.trim().to_string())));
    let path = names(path);
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

fn names(path: &str) -> Vec<String> {
    path.split("::").map(|n| n.trim().to_string()).filter(|n| !n.is_empty()).collect()
}

/// Returns the paths of at least two names in some code.
fn paths(code: &str) -> Vec<Vec<String>> {
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    words
        .filter(|w| w.contains("::") && !w.starts_with(':'))
        .map(names)
        .filter(|p| p.len() > 1)
        .collect()
}

/// Returns the modules that a module uses, without itself.
pub fn used_modules(
    path: &[String],
    module: &Module,
    all: &BTreeMap<Vec<String>, Module>,
) -> BTreeSet<Vec<String>> {
    let found = module.used.iter().filter_map(|used| resolve(&absolute(path, used, all)?, all, 0));
    found.filter(|found| found != path).collect()
}

/// Returns a path from the root of the crate; `None` for a path of another crate, or of a type.
fn absolute(
    at: &[String],
    path: &[String],
    all: &BTreeMap<Vec<String>, Module>,
) -> Option<Vec<String>> {
    let mut base = at.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {}
        first => {
            base.push(first.to_string());
            let is_child = all.contains_key(&base);
            base.pop();
            is_child.then_some(())?;
        }
    }
    while rest.first().is_some_and(|name| name == "super") {
        base.pop();
        rest = &rest[1..];
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

/// Returns the module that defines what a path names, through re-exports.
fn resolve(
    path: &[String],
    all: &BTreeMap<Vec<String>, Module>,
    depth: usize,
) -> Option<Vec<String>> {
    const MAX_HANDED_ON: usize = 10;
    let module = (0..=path.len()).rev().map(|n| &path[..n]).find(|p| all.contains_key(*p))?;
    let handed_on = path
        .get(module.len())
        .and_then(|name| all[module].imported.get(name))
        .filter(|_| depth < MAX_HANDED_ON);
    let there = handed_on.and_then(|to| absolute(module, to, all)).map(|to| {
        to.into_iter().chain(path[module.len() + 1..].iter().cloned()).collect::<Vec<_>>()
    });
    there.and_then(|to| resolve(&to, all, depth + 1)).or_else(|| Some(module.to_vec()))
}
