//! Checks that the keys that `--json` prints are those in `specs/cli-json.md`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::project::Project;

/// Keys of every answer, which the beginning of the page explains.
const COMMON: &[&str] = &[
    "schema", "index", "warnings", "generation", "local", "indexed_at", "head", "pending",
    "projects", "vectors_pending",
];
/// Maps whose keys are names, and memories, which another section explains.
const NAMES: &[&str] = &[
    "vectors", "retrievers", "chunk_types", "languages", "skipped", "skipped_files", "chunks",
    "sources", "memories",
];
/// Words in backticks that are not keys, and keys that are printed only in rare cases.
const RARE: &[&str] = &[
    "cortex", "downloaded_bytes", "downloaded_commit", "uploaded_bytes", "uploaded_commit",
    "symbol", "unresolved", "total_unresolved", "namesakes", "uses", "unknown", "outside",
    "package", "address", "missing", "name", "lines", "status", "started_at", "memory_count",
    "commit", "file", "deleted", "origin", "partly", "title", "notes", "foreign", "nested",
    "other_files", "ignored_settings", "skipped_files", "last_error", "vectors_in_hnsw", "reload",
    "memory", "open", "chunk_id", "export", "import", "show", "add", "edit", "pin", "list",
    "search", "forget", "restore", "stats", "timeline", "operation", "origin_path", "git_batch_id",
    "chunk_metadata", "derived_from", "said_by", "superseded_by", "superseded", "ids", "from",
    "made", "newest", "kept", "memories", "callees", "dependencies", "path", "keyword", "text",
    "session", "candidates", "code", "group_id", "ended_at", "parts", "archive", "next",
    "next_start_line", "class", "how", "unresolved_in",
];

/// Collects all keys of a value.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                if !NAMES.contains(&key.as_str()) || value.is_array() && key != "memories" {
                    keys(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// Returns the section of the page about a command.
fn section<'p>(page: &'p str, command: &str) -> &'p str {
    let from = page
        .find(&format!("## `cortex {command}"))
        .unwrap_or_else(|| panic!("there is no section about {command}"));
    let rest = &page[from + 2..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// Returns the names in backticks, and the keys of examples.
fn named(section: &str) -> BTreeSet<String> {
    let in_backticks = section.split('`').skip(1).step_by(2);
    let in_examples = section
        .split('"')
        .zip(section.split('"').skip(1))
        .filter(|(_, after)| after.starts_with(':'))
        .map(|(key, _)| key);
    let is_key = |word: &&str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    in_backticks.chain(in_examples).filter(is_key).map(String::from).collect()
}

/// Returns a project that has something of everything that is printed.
fn kettle() -> Project {
    let p = Project::sample();
    p.write("src/twice.rs", "/// Boils the kettle.\npub fn boil() {\n    pour();\n}\n\n/// Pours the kettle.\npub fn pour() {}\n");
    let many: Vec<String> = (0..6)
        .map(|i| {
            format!(
                "/// Fills the kettle a {i}th time.\npub fn fill_kettle_{i}() {{\n{}}}\n",
                "    pour();\n".repeat(30)
            )
        })
        .collect();
    p.write("src/many.rs", many.join("\n"));
    let rows: String = (0..90).map(|i| format!("pub fn row_{i}() {{}}\n")).collect();
    p.write("src/long.rs", format!("use std::fs;\nuse std::io;\nuse std::path;\n\n{rows}"));
    p.write(".env", "secret");
    p.write(".cortexignore", "drafts\n");
    p.write("drafts/a.md", "# A\n");
    p.write(
        "Cargo.toml",
        "[package]\nname = \"kettle\"\ndescription = \"A kettle that boils twice\"\n",
    );
    p.write("src/main.rs", "fn main() {}\n");
    p.write(
        "Cargo.lock",
        "[[package]]\nname = \"spout\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n[[package]]\nname = \"lid\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n",
    );
    p.write("vendor/spout-1.0.0/LICENSE", "");
    p.write(
        "tests/kettle.rs",
        "use kettle::twice::pour;\n\n// Not deep.\n#[test]\nfn pours() {\n    pour();\n}\n",
    );
    p.write("src/deep/mod.rs", "//! Deep things of the kettle.\npub fn deep() {}\n");
    p.write(
        "deploy.py",
        "api_key = \"sk-ant-api03-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNo-AbCdEfGhAA\"\n",
    );
    p
}

/// Fails unless the page about JSON names the keys of an answer, and no others.
#[cfg(feature = "team")]
pub fn assert_keys_are_named(command: &str, answer: &Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/specs/cli-json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut printed = BTreeSet::new();
    keys(answer, &mut printed);
    printed.remove("schema");
    assert_eq!(named(section(&page, command)), printed, "{command}");
}

#[test]
fn the_page_about_json_names_the_keys_that_are_printed() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/cli-json.md"))
            .unwrap();
    let p = kettle();
    let add = [
        "memory",
        "add",
        "--name",
        "kettle",
        "--group",
        "kitchen",
        "--pin",
        "The kettle in src/twice.rs boils twice.",
    ];
    let commands: &[(&str, &[&[&str]])] = &[
        ("index --json", &[&["index"]]),
        (
            "search --json",
            &[
                &["search", "how is the kettle boiled", "--explain", "-n", "1", "--memories", "1"],
                &["search", "rs kettel", "--explain"],
                &["search", "--exact", "retry", "-n", "1"],
                &["search", "kettle", "--repo", ".", "-n", "1"],
            ],
        ),
        ("outline --json", &[&["outline"], &["outline", "src/twice.rs"]]),
        (
            "read --json",
            &[
                &["read", "src/twice.rs", "--lines", "1-2,4"],
                &["read", "src/long.rs", "src/nowhere.rs", "/twice/", "/fn/"],
            ],
        ),
        ("related --json", &[&["related", "src/twice.rs", "--line", "2"]]),
        ("status --json", &[&["status"]]),
        (
            "graph --json",
            &[
                &["graph", "callers", "pour", "-C", "1"],
                &["graph", "tests", "pour"],
                &["graph", "unused"],
                &["graph", "tests", "deep"],
            ],
        ),
        ("pattern --json", &[&["pattern", "pour()"]]),
        ("files --json", &[&["files"]]),
        ("map --json", &[&["map"]]),
        ("deps --json", &[&["deps"]]),
        (
            "memory … --json",
            &[
                &["memory", "search", "kettle"],
                &["memory", "show", "MEMORY"],
                &["memory", "list"],
                &["memory", "timeline"],
                &["memory", "stats"],
            ],
        ),
    ];
    let id = p.json(&add)["id"].as_str().unwrap().to_string();
    for (command, runs) in commands {
        let mut printed = BTreeSet::new();
        for args in *runs {
            let args: Vec<&str> =
                args.iter().map(|arg| if *arg == "MEMORY" { &*id } else { arg }).collect();
            let out = p
                .cortex(&[&args[..], &["--json"]].concat())
                .stderr(Stdio::null())
                .output()
                .unwrap();
            let answer: Value =
                serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"));
            assert_eq!(answer["schema"], 2, "{args:?}");
            keys(&answer, &mut printed);
        }
        let mut named = named(section(&page, command));
        let gone: Vec<_> = named
            .iter()
            .filter(|key| !printed.contains(*key) && !RARE.contains(&key.as_str()))
            .collect();
        assert!(
            gone.is_empty(),
            "{command} does not print {gone:?}, and specs/cli-json.md says that it does"
        );
        if command.starts_with("related") {
            named.extend(self::named(section(&page, "search --json")));
        }
        let missing: Vec<_> = printed
            .iter()
            .filter(|key| !named.contains(*key) && !COMMON.contains(&key.as_str()))
            .collect();
        assert!(
            missing.is_empty(),
            "{command} prints {missing:?}, and specs/cli-json.md does not say what that is"
        );
    }
}
