//! The map in `specs/architecture.md` is true: modules use what its table allows, and a crate is named where it says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Every source file with its text, its tests left out.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(dir: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") && path.file_name().is_some_and(|f| f != "tests.rs" && f != "samples.rs")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap().to_string();
                let relative = path.strip_prefix(Path::new(ROOT).join("src")).unwrap().to_path_buf();
                out.push((relative, text));
            }
        }
    }
    let mut out = Vec::new();
    collect(&Path::new(ROOT).join("src"), &mut out);
    out
}

/// `module → what it may use`, read from the table.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let map = std::fs::read_to_string(Path::new(ROOT).join("specs/architecture.md")).unwrap();
    let section = map.split("## Allowed dependencies").nth(1).unwrap().split("\n## ").next().unwrap();
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(String::from).collect::<BTreeSet<_>>();
    section
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| {
            let cells: Vec<&str> = l.trim_matches('|').split('|').collect();
            (names(cells[0]).into_iter().next().unwrap(), names(cells[1]))
        })
        .collect()
}

/// Top-level module of a file: `search/text.rs` → `search`.
fn module_of(path: &Path) -> String {
    let first = path.iter().next().unwrap().to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Modules named as `crate::module`.
fn used(text: &str) -> BTreeSet<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    code.flat_map(|l| l.match_indices("crate::").map(|(i, m)| word(&l[i + m.len()..])).collect::<Vec<_>>()).collect()
}

#[test]
fn modules_use_only_what_the_map_allows() {
    let allowed = allowed();
    let mut seen = BTreeSet::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        if module == "main" || module == "lib" {
            continue;
        }
        let may = allowed.get(&module).unwrap_or_else(|| panic!("{module} is not in the table of specs/architecture.md"));
        for name in used(&text).into_iter().filter(|n| *n != module) {
            assert!(may.contains(&name), "{}: uses {name}, which specs/architecture.md does not allow to {module}", path.display());
        }
        seen.insert(module);
    }
    let listed: BTreeSet<String> = allowed.into_keys().collect();
    assert_eq!(seen, listed, "the table lists the modules that exist");
}

#[test]
fn crates_are_named_in_one_place() {
    for (krate, place) in [
        ("tantivy", "search/text"),
        ("instant_distance", "search/vector/graph.rs"),
        ("postcard", "search/vector/graph.rs"),
        ("arc_swap", "live/manager.rs"),
        ("tree_sitter", "syntax"),
        ("ast_grep_language", "syntax/language.rs"),
        ("pulldown_cmark", "syntax/markup.rs"),
        ("ignore", "source/ignored.rs"),
        ("notify_debouncer_mini", "source/watch.rs"),
        ("clap", "cli"),
        ("indicatif", "cli"),
        ("console", "cli"),
        ("frostem", "search/tokens.rs"),
        ("rmcp", "serve/mcp.rs"),
        ("axum", "serve"),
        ("hyper", "serve/listen.rs"),
        ("ureq", "embed/http.rs"),
        ("rustix", "dir.rs|edit"),
        ("jsonc_parser", "cli|edit"),
    ] {
        let naming: Vec<PathBuf> = sources().into_iter().filter(|(_, text)| text.contains(&format!("{krate}::"))).map(|(p, _)| p).collect();
        assert!(!naming.is_empty(), "{krate} is used nowhere");
        for path in naming {
            assert!(place.split('|').any(|place| path.starts_with(place)), "{} names {krate}, which belongs to {place}", path.display());
        }
    }
}

/// What is in a database, its module knows, in one file; what all of them share is in `sqlite.rs`.
#[test]
fn databases_are_named_in_their_own_files() {
    let naming: Vec<PathBuf> = sources().into_iter().filter(|(_, text)| text.contains("rusqlite::")).map(|(p, _)| p).collect();
    assert!(naming.len() > 1);
    for path in naming {
        assert!(
            path == Path::new("sqlite.rs") || path.ends_with("sql.rs") || path.parent().is_some_and(|d| d.ends_with("sql")),
            "{} names rusqlite",
            path.display()
        );
    }
}

#[test]
fn pure_modules_open_nothing() {
    for (path, text) in sources() {
        if ["chunk", "search"].contains(&module_of(&path).as_str()) {
            for forbidden in ["std::fs", "std::env", "std::time", "SystemTime", "Utc::now", "Instant::now"] {
                assert!(!text.contains(forbidden), "{}: {forbidden} in a pure module", path.display());
            }
        }
    }
}

/// Every setting of the configuration is explained in this project's own config.toml.
#[test]
fn the_example_configuration_lists_every_setting() {
    let example = std::fs::read_to_string(Path::new(ROOT).join(".cortex/config.toml")).unwrap();
    for (key, _, default, meaning) in cortex::config::KEYS {
        let name = key.rsplit('.').next().unwrap();
        assert!(example.contains(&format!("{name} = ")), "{key} is missing");
        assert!(example.contains(meaning), "the meaning of {key} differs from `{meaning}`");
        assert!(example.contains(&format!("# {name} = {default}")) || *default == "[]", "the default of {key} is {default}");
    }
}
