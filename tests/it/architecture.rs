//! Checks the map in `specs/architecture.md`: modules use only what its table allows, and a crate
//! is named only where it says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::rust_code;

#[path = "../../build/versions.rs"]
mod versions;
use versions::{Hash, KEPT, Kept};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns every source file with its code: without comments, the content of strings, and tests.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(dir: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs")
                && !["tests.rs", "samples.rs"].iter().any(|f| path.ends_with(f))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let relative =
                    path.strip_prefix(Path::new(ROOT).join("src")).unwrap().to_path_buf();
                out.push((relative, rust_code::without_tests(&rust_code::code(&text))));
            }
        }
    }
    let mut out = Vec::new();
    collect(&Path::new(ROOT).join("src"), &mut out);
    out
}

/// Reads the table: each module with the modules that it may use.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let map = std::fs::read_to_string(Path::new(ROOT).join("specs/architecture.md")).unwrap();
    let section =
        map.split("## Allowed dependencies").nth(1).unwrap().split("\n## ").next().unwrap();
    let names =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(String::from).collect::<BTreeSet<_>>();
    section
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| {
            let cells: Vec<&str> = l.trim_matches('|').split('|').collect();
            (names(cells[0]).into_iter().next().unwrap(), names(cells[1]))
        })
        .collect()
}

/// Returns the top-level module of a file: `search/text.rs` → `search`.
fn module_of(path: &Path) -> String {
    let first = path.iter().next().unwrap().to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Returns the modules that are named as `crate::module`.
fn used(text: &str) -> BTreeSet<String> {
    let word =
        |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    text.match_indices("crate::").map(|(i, m)| word(&text[i + m.len()..])).collect()
}

/// Linked functions of traits of other crates, which call them.
const CALLED_BY_CRATES: [&str; 1] = ["call_tool"];

/// A link is a module with its folder or file, or a name with the file that defines it. The program
/// calls a function that is linked: the map does not lead to what only tests call.
#[test]
fn the_links_of_the_map_lead_to_what_they_name() {
    let map = std::fs::read_to_string(Path::new(ROOT).join("specs/architecture.md")).unwrap();
    let code: String = sources().into_iter().map(|(_, text)| text + "\n").collect();
    for link in map.split("[`").skip(1) {
        let Some((name, rest)) = link.split_once("`](../") else { continue };
        let target = rest.split(')').next().unwrap();
        let path = Path::new(ROOT).join(target);
        assert!(path.exists(), "`{name}` is linked to {target}, which does not exist");
        let is_module = path.file_stem().is_some_and(|stem| stem == name);
        if !is_module {
            let text = std::fs::read_to_string(&path).unwrap();
            let last = name.rsplit("::").next().unwrap();
            let defines = |kind: &&str| text.contains(&format!("{kind} {last}"));
            assert!(
                ["fn", "struct", "enum", "trait", "const"].iter().any(defines),
                "`{name}` is linked to {target}, which does not define it"
            );
            assert!(
                !defines(&"fn") || is_called(&code, last) || CALLED_BY_CRATES.contains(&last),
                "`{name}` is linked to {target}, and no code of the program calls it"
            );
        }
    }
}

/// Whether code names a function elsewhere than where it is defined.
fn is_called(code: &str, function: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(function).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + function.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word) && !before.ends_with("fn ")
    })
}

#[test]
fn modules_use_only_what_the_map_allows() {
    let allowed = allowed();
    let mut seen = BTreeSet::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        if ["main", "lib", "second_name"].contains(&&*module) {
            continue;
        }
        let may = allowed
            .get(&module)
            .unwrap_or_else(|| panic!("{module} is not in the table of specs/architecture.md"));
        for name in used(&text).into_iter().filter(|n| *n != module) {
            assert!(
                may.contains(&name),
                "{}: uses {name}, which specs/architecture.md does not allow to {module}",
                path.display()
            );
        }
        seen.insert(module);
    }
    let listed: BTreeSet<String> = allowed.into_keys().collect();
    assert_eq!(seen, listed, "the table lists the modules that exist");
}

/// No two files need each other, not even indirectly, so each can be understood without the files
/// that use it.
#[test]
fn no_circles_between_files() {
    let modules: BTreeMap<Vec<String>, rust_code::Module> = sources()
        .iter()
        .filter(|(path, _)| !["main.rs", "second_name.rs"].map(Path::new).contains(&&**path))
        .map(|(path, text)| (rust_code::path_of(path), rust_code::Module::read(text)))
        .collect();
    let uses: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = modules
        .iter()
        .map(|(path, module)| (path, rust_code::used_modules(path, module, &modules)))
        .collect();
    assert!(uses.values().map(BTreeSet::len).sum::<usize>() > 500, "the test sees what files use");
    let circle = uses.keys().filter_map(|path| way_back(path, &uses)).min_by_key(Vec::len);
    let shown =
        circle.iter().flatten().map(|path| path.join("::")).collect::<Vec<_>>().join(" uses ");
    assert!(circle.is_none(), "files need each other: {shown}");
}

/// The rooms of the engine, each with those that it may know: the ones before it.
const ROOMS: [&str; 7] = ["door", "read", "elsewhere", "graph", "memory", "past", "explore"];

#[test]
fn a_room_of_the_engine_knows_only_those_before_it() {
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for (path, code) in sources() {
        let Ok(inside) = path.strip_prefix("engine") else { continue };
        let Some(room) = inside.iter().next().filter(|_| inside.iter().count() > 1) else {
            assert_eq!(inside, Path::new("mod.rs"), "{} stands in no room", path.display());
            continue;
        };
        let room = room.to_string_lossy();
        let place = |room: &str| ROOMS.iter().position(|known| *known == room);
        let own = place(&room).unwrap_or_else(|| panic!("{room} is no room"));
        for used in code.split("crate::engine::").skip(1) {
            let name = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            if let Some(other) = place(name) {
                assert!(other <= own, "{} uses the room {name}", path.display());
                seen.insert((room.to_string(), name.to_string()));
            }
        }
    }
    assert!(seen.len() > ROOMS.len(), "the test sees which rooms are used: {seen:?}");
}

/// Returns the shortest path from a module to itself.
fn way_back(
    from: &Vec<String>,
    uses: &BTreeMap<&Vec<String>, BTreeSet<Vec<String>>>,
) -> Option<Vec<Vec<String>>> {
    let mut came_from: BTreeMap<&Vec<String>, &Vec<String>> = BTreeMap::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        for to in &uses[at] {
            if to == from {
                let back =
                    std::iter::successors(Some(at), |at| came_from.get(at).copied()).cloned();
                let mut way: Vec<Vec<String>> = std::iter::once(from.clone()).chain(back).collect();
                way.reverse();
                return Some(way);
            }
            if !came_from.contains_key(to) {
                came_from.insert(to, at);
                next.insert(0, to);
            }
        }
    }
    None
}

#[test]
fn crates_are_named_in_one_place() {
    let sources = sources();
    for (krate, place) in [
        ("tantivy", "search/text"),
        ("instant_distance", "search/vector/hnsw.rs"),
        ("postcard", "search/vector/hnsw.rs"),
        ("arc_swap", "live/manager.rs"),
        ("tree_sitter", "languages|syntax"),
        ("ast_grep_core", "languages/spec.rs|syntax/pattern.rs"),
        ("pulldown_cmark", "syntax"),
        ("ignore", "source/ignored.rs"),
        ("notify_debouncer_mini", "source/watch.rs"),
        ("clap", "cli"),
        ("indicatif", "cli"),
        ("console", "cli"),
        ("frostem", "search/tokens.rs"),
        ("rmcp", "serve/mcp.rs"),
        ("signal_hook", "platform.rs"),
        ("axum", "serve"),
        ("hyper", "serve/listen.rs|serve/clients.rs"),
        ("ureq", "embed/http.rs"),
        ("rustix", "dir.rs|edit/file.rs|platform.rs|platform"),
        ("std::os", "platform.rs|dir.rs|edit/file.rs|second_name.rs"),
        ("jsonc_parser", "cli/elsewhere.rs|edit"),
        ("toml_edit", "agents/toml.rs"),
        ("saphyr_parser", "agents/fence.rs|deps/yaml.rs"),
        ("roxmltree", "deps/maven.rs"),
        ("cortex_depot", "team|archives/place.rs"),
    ] {
        let path = format!("{krate}::");
        let naming: Vec<&PathBuf> =
            sources.iter().filter(|(_, text)| text.contains(&path)).map(|(p, _)| p).collect();
        assert!(!naming.is_empty(), "{krate} is used nowhere");
        for path in naming {
            assert!(
                place.split('|').any(|place| path.starts_with(place)),
                "{} names {krate}, which belongs to {place}",
                path.display()
            );
        }
    }
}

/// Only one file of a module knows the schema of its database; `sqlite.rs` holds what all databases
/// share.
#[test]
fn databases_are_named_in_their_own_files() {
    let naming: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(_, text)| text.contains("rusqlite::"))
        .map(|(p, _)| p)
        .collect();
    assert!(naming.len() > 1);
    for path in naming {
        assert!(
            path == Path::new("sqlite.rs")
                || path.ends_with("sql.rs")
                || path.parent().is_some_and(|d| d.ends_with("sql")),
            "{} names rusqlite",
            path.display()
        );
    }
}

#[test]
fn pure_modules_open_nothing() {
    for (path, text) in sources() {
        if ["chunk", "search"].contains(&module_of(&path).as_str()) {
            for forbidden in
                ["std::fs", "std::env", "std::time", "SystemTime", "Utc::now", "Instant::now"]
            {
                assert!(
                    !text.contains(forbidden),
                    "{}: {forbidden} in a pure module",
                    path.display()
                );
            }
        }
    }
}

/// `clippy.toml` lists what opens a file by its path, but it cannot name a module.
#[test]
fn no_file_is_opened_with_tokio() {
    for (path, text) in sources() {
        assert!(!text.contains("tokio::fs"), "{}: use crate::dir", path.display());
    }
}

/// A hash of sources is the version of the data that they make. A source that they use and that is
/// not among them can change the data without changing the version, so that an update of the program
/// serves what is outdated. Allowed exceptions: the variable, the module, and the reason.
const NOT_KEPT: &[(&str, &[&str], &str)] = &[
    (
        "VERSION_OF_CHUNKS",
        &["source", "store", "dir", "work", "platform"],
        "how files are found and written, and how time is measured",
    ),
    ("VERSION_OF_CHUNKS", &["embed"], "the id of the embedder is part of the rules"),
    ("VERSION_OF_CHUNKS", &["known"], "how values are kept; each has a checksum"),
    (
        "VERSION_OF_GRAPH_ROWS",
        &["sqlite", "work", "text", "platform"],
        "how rows are kept and answers are cut",
    ),
    (
        "VERSION_OF_SAVED",
        &[
            "embed", "source", "dir", "platform", "worker", "work", "sqlite", "text", "graph",
            "syntax", "user_secret",
        ],
        "how data is stored and found; what of it decides is named file by file",
    ),
];

#[test]
fn what_changed_code_makes_is_made_anew_after_an_update() {
    let all = sources();
    for Kept { variable, sources, .. } in &KEPT {
        let kept: Vec<&str> =
            sources.iter().filter_map(|source| source.strip_prefix("src/")).collect();
        for (path, text) in all.iter().filter(|(path, _)| is_in(path, &kept)) {
            for module in used(text) {
                let is_whole = kept.iter().any(|kept| kept.trim_end_matches(".rs") == module);
                let is_part = kept.iter().any(|kept| kept.starts_with(&format!("{module}/")));
                let is_excused = NOT_KEPT
                    .iter()
                    .any(|(of, modules, _)| of == variable && modules.contains(&&*module));
                assert!(
                    is_whole || is_part || is_excused,
                    "{variable}: {} uses {module}, whose changes do not change the version",
                    path.display()
                );
            }
        }
    }
}

fn is_in(path: &Path, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// Packages that kept data does not follow from: the beginning of the variable, the packages, and
/// the reason.
const NOT_DECIDING: &[(&str, &[&str], &str)] = &[
    (
        "VERSION_OF_",
        &[
            "arc-swap", "fastrand", "hashbrown", "parking_lot", "rayon", "rustc-hash", "thiserror",
            "tracing", "uuid",
        ],
        "containers, threads, ids and errors",
    ),
    (
        "VERSION_OF_",
        &[
            "chrono", "hmac", "memchr", "multiversion", "rusqlite", "serde", "serde_json", "sha2",
            "xxhash-rust", "zstd",
        ],
        "formats and functions that have the same result in each version",
    ),
    ("VERSION_OF_", &["ast-grep-core", "globset", "strsim"], "questions, and the choice of files"),
    ("VERSION_OF_CHUNKS", &["bitcode"], "chunks are kept as JSON"),
    ("VERSION_OF_GRAPH_ROWS", &["bitcode"], "rows are kept as JSON and in SQLite"),
];

/// A package that decides what is kept is named in the table of versions, or an update of the
/// program serves what the package made before.
#[test]
fn a_package_that_makes_kept_data_decides_its_version() {
    let manifest = std::fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).unwrap();
    let listed = manifest.split("\n[dependencies]\n").nth(1).unwrap();
    let listed = listed.split("\n[").next().unwrap();
    let packages: Vec<&str> =
        listed.lines().filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    let all = sources();
    for kept in &KEPT {
        let places: Vec<&str> =
            kept.sources.iter().filter_map(|source| source.strip_prefix("src/")).collect();
        for (path, text) in all.iter().filter(|(path, _)| is_in(path, &places)) {
            for package in packages.iter().filter(|package| names_crate(text, package)) {
                let is_excused = NOT_DECIDING.iter().any(|(of, packages, _)| {
                    kept.variable.starts_with(of) && packages.contains(package)
                });
                assert!(
                    kept.depends_on(package) || is_excused,
                    "{}: {} uses the package {package}, whose changes do not change the version",
                    kept.variable,
                    path.display()
                );
            }
        }
    }
}

/// Whether code names the crate of a package, as `crate::`.
fn names_crate(code: &str, package: &str) -> bool {
    let path = format!("{}::", package.replace('-', "_"));
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.match_indices(&path).any(|(at, _)| !code[..at].ends_with(is_name))
}

/// Returns the version that the packages of a lock file give, without sources.
fn version_of(kept: &Kept, lock: &str) -> u64 {
    let mut hash = Hash::default();
    for package in kept.locked(lock) {
        hash.add(package.as_bytes());
    }
    hash.version()
}

/// Returns the lock file with another value of a key of a package.
fn with(lock: &str, package: &str, key: &str, value: &str) -> String {
    let name = format!("name = \"{package}\"\n");
    let start = lock.find(&name).unwrap_or_else(|| panic!("{package} is not in Cargo.lock"));
    let at = start + lock[start..].find(&format!("\n{key} = ")).unwrap() + 1;
    let end = at + lock[at..].find('\n').unwrap();
    format!("{}{key} = \"{value}\"{}", &lock[..at], &lock[end..])
}

#[test]
fn kept_data_depends_on_the_packages_that_make_it_and_on_no_other() {
    let lock = std::fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap();
    let names: Vec<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| !["cortex-codesearch", "cortex-depot"].contains(name))
        .collect();
    for kept in &KEPT {
        let version = version_of(kept, &lock);
        let (deciding, others): (Vec<&str>, Vec<&str>) =
            names.iter().copied().partition(|name| kept.depends_on(name));
        for name in deciding {
            let newer = with(&lock, name, "version", "99.0.0");
            assert_ne!(version_of(kept, &newer), version, "{}: {name}", kept.variable);
            let other = with(&lock, name, "checksum", "0123456789abcdef");
            assert_ne!(version_of(kept, &other), version, "{}: {name}", kept.variable);
        }
        assert!(others.len() > 300, "{}: {} other packages", kept.variable, others.len());
        let newer = others.iter().fold(lock.clone(), |lock, name| {
            let newer = with(&lock, name, "version", "99.0.0");
            with(&newer, name, "checksum", "0123456789abcdef")
        });
        assert_eq!(version_of(kept, &newer), version, "{}", kept.variable);
        for pattern in kept.packages.iter().copied().flatten() {
            let is_used = names.iter().any(|name| match pattern.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => name == pattern,
            });
            assert!(is_used, "{}: no package is called {pattern}", kept.variable);
        }
    }
    for package in ["tree-sitter", "tree-sitter-language", "tree-sitter-rust", "ts-parser-perl"] {
        let deciding = KEPT.iter().filter(|kept| kept.depends_on(package)).count();
        assert_eq!(deciding, KEPT.len(), "{package}");
    }
    for package in ["ureq", "hyper", "tokio", "serde", "tree-sitters", "regexes"] {
        assert!(!KEPT.iter().any(|kept| kept.depends_on(package)), "{package}");
    }
}

#[test]
fn the_form_of_a_lock_file_changes_no_version() {
    let lock = std::fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap();
    let mut entries: Vec<&str> = lock.split("[[package]]").collect();
    entries[1..].reverse();
    let reversed = entries.join("[[package]]");
    let without_dependencies: String = lock
        .lines()
        .filter(|line| !line.starts_with(" \""))
        .map(|line| format!("{line}\r\n"))
        .collect();
    for kept in &KEPT {
        assert_eq!(version_of(kept, &reversed), version_of(kept, &lock));
        assert_eq!(version_of(kept, &without_dependencies), version_of(kept, &lock));
        assert_ne!(version_of(kept, ""), version_of(kept, &lock));
    }
}

/// Another compiler computes the same versions.
#[test]
fn the_hash_of_a_version_is_a_fixed_function() {
    let of = |parts: &[&str]| {
        let mut hash = Hash::default();
        for part in parts {
            hash.add(part.as_bytes());
        }
        hash.version()
    };
    assert_eq!(of(&["tree-sitter", "0.27.0"]), 245_792_029);
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert!(of(&[]) > 0 && of(&["a"]) <= 0x7fff_ffff);
}
