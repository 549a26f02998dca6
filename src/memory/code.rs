//! Links memories to code: which files and definitions a text names, their state at that time, and
//! whether it changed.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use xxhash_rust::xxh3::xxh3_128;

use super::CodeReference;
use crate::dir::Dir;
use crate::graph::{Database, defining_files};
use crate::languages::{LanguageKind, detect};
use crate::source::{head, is_never_read};
use crate::syntax;

/// Most files that one memory is linked to, and most definitions in each.
const MAX_FILES: usize = 8;
const MAX_SYMBOLS: usize = 8;
/// Most names that are looked up, and their shortest and longest length in bytes.
const MAX_NAMES: usize = 16;
const MIN_NAME: usize = 4;
const MAX_NAME: usize = 100;
/// Size limit of a file in bytes; larger files are not read.
const MAX_BYTES: u64 = 1 << 20;
/// Longest path in bytes; a longer word is not one.
const MAX_PATH: usize = 300;

/// Returns the files below `root` that a text names, each with the definitions in it that the text
/// names, and definitions named without their file if the code graph `graph` knows only one of that
/// name.
#[must_use]
pub fn references(text: &str, root: &Path, graph: &Database) -> Vec<CodeReference> {
    let mut all = Vec::new();
    let Ok(tree) = Dir::open(root) else { return all };
    let commit = head(root);
    let words: BTreeSet<&str> = text.split(|c| !is_part(c)).collect();
    let mut files = paths(text, &tree);
    let named = identifiers(text);
    files.extend(defining_files(graph, &named).into_iter().map(|(_, path)| path));
    for path in files.into_iter().take(MAX_FILES) {
        let Some(code) = read(&tree, &path) else { continue };
        let symbols: BTreeSet<String> = definitions(&path, &code)
            .map(|(name, _)| name)
            .filter(|name| words.contains(&**name) && names(text, name))
            .take(MAX_SYMBOLS)
            .collect();
        let reference = |symbol: Option<String>| {
            let hash = hash_of(&path, &code, symbol.as_deref())?;
            Some(CodeReference { path: path.clone(), symbol, commit: commit.clone(), hash })
        };
        if symbols.is_empty() && text.contains(&path) {
            all.extend(reference(None));
        }
        all.extend(symbols.into_iter().filter_map(|symbol| reference(Some(symbol))));
    }
    all
}

/// Returns whether the code differs from the recorded state.
#[must_use]
pub fn is_stale(reference: &CodeReference, root: &Path) -> bool {
    let now = Dir::open(root)
        .ok()
        .and_then(|tree| read(&tree, &reference.path))
        .and_then(|code| hash_of(&reference.path, &code, reference.symbol.as_deref()));
    now.as_ref() != Some(&reference.hash)
}

fn read(tree: &Dir, path: &str) -> Option<String> {
    if is_never_read(path) { None } else { tree.read_text(path, MAX_BYTES).ok() }
}

/// Returns the words of the text that are files of the tree.
fn paths(text: &str, tree: &Dir) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;*|=".contains(c);
    let mut found = BTreeSet::new();
    for word in text
        .split(is_between)
        .filter(|w| w.contains(['.', '/']) && w.len() <= MAX_PATH && !w.contains("://"))
    {
        // Accepts `src/a.rs:12-30`, `src/a.rs#name` and the end of a sentence.
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let word = word.split_once([':', '#']).map_or(word, |(path, _)| path);
        let path = Path::new(word);
        let path = path.strip_prefix(tree.path()).unwrap_or(path);
        let is_below = path.components().all(|c| matches!(c, Component::Normal(_)));
        if let Some(path) = path.to_str().filter(|p| is_below && !p.is_empty() && tree.has_file(p))
        {
            found.insert(path.to_string());
        }
        if found.len() == MAX_FILES {
            break;
        }
    }
    found
}

/// Whether a character is part of an identifier.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words of the text that are almost certainly identifiers.
fn identifiers(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text
        .split(|c| !is_part(c))
        .filter(|w| (MIN_NAME..=MAX_NAME).contains(&w.len()) && names(text, w))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_NAMES);
    found
}

/// Returns whether the text names an identifier as a whole word that cannot be ordinary English:
/// it has an underscore or an inner capital, or is marked as code.
fn names(text: &str, identifier: &str) -> bool {
    let is_marked = |at: usize| {
        text[..at].ends_with(['`', ':', '.', '#'])
            || text[at + identifier.len()..].starts_with(['`', '('])
    };
    let is_odd = identifier.contains('_') || identifier.chars().skip(1).any(char::is_uppercase);
    text.match_indices(identifier).any(|(at, _)| {
        let is_whole =
            !text[..at].ends_with(is_part) && !text[at + identifier.len()..].starts_with(is_part);
        is_whole && (is_odd || is_marked(at))
    })
}

/// Returns the names that a file defines, with their lines.
fn definitions(path: &str, code: &str) -> impl Iterator<Item = (String, (u32, u32))> {
    let outline = match &detect(path, code).kind {
        LanguageKind::Code(grammar) => syntax::outline(grammar, code),
        _ => None,
    };
    outline.unwrap_or_default().symbols.into_iter().map(|s| (s.name, (s.start_line, s.end_line)))
}

/// Hashes the whole file, or everything in it with this name.
fn hash_of(path: &str, code: &str, symbol: Option<&str>) -> Option<String> {
    let written = |text: &str| format!("xxh3:{:032x}", xxh3_128(text.as_bytes()));
    let Some(symbol) = symbol else { return Some(written(code)) };
    let lines: Vec<&str> = code.lines().collect();
    let of_lines = |(first, last): (u32, u32)| {
        lines
            .get(first as usize - 1..(last as usize).min(lines.len()))
            .unwrap_or_default()
            .join("\n")
    };
    let texts: Vec<String> = definitions(path, code)
        .filter(|(name, _)| name == symbol)
        .map(|(_, at)| of_lines(at))
        .collect();
    (!texts.is_empty()).then(|| written(&texts.join("\n\n")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const CODE: &str =
        "/// Waits.\npub fn retry_later(n: u32) -> u32 {\n    n * 2\n}\n\npub fn run() {}\n";

    fn nowhere() -> Database {
        Database { path: "none".into(), mark: 1 }
    }

    fn tied(references: &[CodeReference]) -> Vec<(&str, Option<&str>)> {
        references.iter().map(|r| (&*r.path, r.symbol.as_deref())).collect()
    }

    #[test]
    fn files_and_definitions_that_a_text_names_are_found() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/retry.rs"), CODE).unwrap();
        fs::write(dir.path().join("notes.md"), "# Notes\n").unwrap();
        let of = |text: &str| references(text, dir.path(), &nowhere());
        assert_eq!(
            tied(&of("In src/retry.rs, retry_later waits.")),
            [("src/retry.rs", Some("retry_later"))]
        );
        assert_eq!(
            tied(&of("`src/retry.rs:2-4` is slow when they run.")),
            [("src/retry.rs", None)],
            "run is a word"
        );
        assert_eq!(tied(&of("`run()` of (src/retry.rs).")), [("src/retry.rs", Some("run"))]);
        let absolute = dir.path().join("notes.md");
        assert_eq!(tied(&of(&format!("See {}!", absolute.display()))), [("notes.md", None)]);
        assert_eq!(
            of(
                "src/gone.rs, ../etc/passwd, /etc/passwd, https://example.org/src/retry.rs and e.g. nothing"
            ),
            []
        );
    }

    #[test]
    fn a_definition_is_found_without_its_file_where_there_is_but_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("retry.rs"), CODE).unwrap();
        fs::write(dir.path().join("other.rs"), "pub fn run() {}\npub fn stop_all() {}\n").unwrap();
        let database = Database { path: dir.path().join("graph.db"), mark: 1 };
        let of = |text: &str| references(text, dir.path(), &database);
        assert_eq!(of("`retry_later` doubles"), [], "nobody has asked the graph yet");
        let files = ["retry.rs", "other.rs"].map(|path| (path.to_string(), "1".to_string()));
        crate::graph::CodeGraph::open(&database)
            .unwrap()
            .update(
                files,
                |path| Some((fs::read_to_string(dir.path().join(path)).ok()?, path.into())),
                |_, _| (),
            )
            .unwrap();
        assert_eq!(
            tied(&of("We found that retry_later doubles.")),
            [("retry.rs", Some("retry_later"))]
        );
        assert_eq!(
            tied(&of("stop_all in other.rs, and retry_later")),
            [("other.rs", Some("stop_all")), ("retry.rs", Some("retry_later"))]
        );
    }

    /// A file of procfs reports the size 0 and does not end.
    #[test]
    fn links_of_a_repository_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("in"), dir.path().join("out"));
        for folder in [&root, &outside] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(outside.join("private.rs"), CODE).unwrap();
        fs::write(root.join("design.md"), "# Design of frost\n").unwrap();
        let of = |text: &str| references(text, &root, &nowhere());
        let design = of("The design is in design.md").remove(0);
        for target in [Path::new("/proc/self/pagemap"), &outside.join("private.rs")] {
            fs::remove_file(root.join("design.md")).unwrap();
            symlink(target, root.join("design.md")).unwrap();
            assert!(is_stale(&design, &root));
            assert_eq!(of("The design is in design.md"), []);
        }
        symlink(&outside, root.join("folder")).unwrap();
        assert_eq!(of("retry_later is in folder/private.rs"), []);
        fs::write(root.join(".env"), "KEY=1").unwrap();
        assert_eq!(of("see .env"), []);
    }

    #[test]
    fn only_a_change_of_what_was_named_makes_it_stale() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("retry.rs");
        fs::write(&path, CODE).unwrap();
        let symbol =
            references("retry_later in retry.rs doubles", dir.path(), &nowhere()).remove(0);
        let file = references("all of retry.rs", dir.path(), &nowhere()).remove(0);
        assert!(!is_stale(&symbol, dir.path()) && !is_stale(&file, dir.path()));
        fs::write(&path, CODE.replace("pub fn run() {}", "pub fn run() { retry_later(1); }"))
            .unwrap();
        assert!(!is_stale(&symbol, dir.path()), "something else changed");
        assert!(is_stale(&file, dir.path()));
        fs::write(&path, CODE.replace("n * 2", "n * 3")).unwrap();
        assert!(is_stale(&symbol, dir.path()));
        fs::remove_file(&path).unwrap();
        assert!(is_stale(&symbol, dir.path()));
    }
}
