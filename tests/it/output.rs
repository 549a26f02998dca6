//! Compares what commands print on a terminal of 80 columns with `output.txt`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::project::Project;
use crate::support::has_script;

fn project() -> Project {
    Project::with(&[
        (
            "src/store.rs",
            "//! Keeps entries by key.\n\n/// Keeps what was counted, for as long as the program runs, whatever becomes of whoever counted it.\npub struct Store;\n\nimpl Store {\n    \
             /// Reads one entry.\n    pub fn get(&self, key: &str) -> Option<u8> {\n        let key_with_a_long_name_that_fills_the_line = key.trim_matches('/').to_string();\n        \
             lookup(&key_with_a_long_name_that_fills_the_line)\n    }\n}\n\nfn lookup(key: &str) -> Option<u8> {\n    key.bytes().next()\n}\n",
        ),
        (
            "src/main.rs",
            "use crate::store::Store;\n\nfn main() {\n    let store = Store;\n    store.get(\"a\");\n    store.get(\"b\");\n}\n",
        ),
        (
            "docs/guide.md",
            "# Guide\n\n## Entries\n\nAn entry is read by its key.\n\n## Limits\n\nThere are none.\n",
        ),
        ("settings.toml", "[store]\nsize = 10\n"),
    ])
}

const COMMANDS: &[&[&str]] = &[
    &["explore", "how is an entry read", "Store::get", "settings.toml"],
    &["search", "how is an entry read"],
    &["search", "Store::get", "-n", "1", "--explain"],
    &["search", "--exact", "lookup OR guide", "--lines", "1"],
    &["search", "entry", "--languages", "cobol"],
    &["outline"],
    &["outline", "src/store.rs"],
    &["read", "src/store.rs", "--lines", "7-10"],
    &["related", "src/store.rs", "--line", "8"],
    &["graph", "callers", "Store::get", "-C", "1"],
    &["graph", "callers", "main"],
    &["graph", "callers", "nobody"],
    &["map"],
    &["pattern", "$A.get($B)"],
    &["files"],
    &["memory", "search", "anything"],
    &["read", "src/nowhere.rs"],
    &["search", "--exact", "\"no end"],
];

/// Runs a command on a terminal, and returns the output without what differs between runs.
fn shown(p: &Project, args: &[&str]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line =
        format!("stty cols 80 rows 40; exec {} {}", env!("CARGO_BIN_EXE_cortex"), quoted.join(" "));
    let out = p
        .command("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap().replace('\r', "");
    let text = text.replace(&p.root().display().to_string(), "PROJECT");
    format!("{text}exit code {}\n", out.status.code().unwrap_or(-1))
}

#[test]
fn output_is_what_the_golden_file_says() {
    if !has_script() {
        return;
    }
    let p = project();
    p.index();
    let mut now = String::new();
    for args in COMMANDS {
        let _ = writeln!(now, "$ cortex {}\n{}", args.join(" "), shown(&p, args));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/output.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().zip(then.lines()).find(|(a, b)| a != b);
    assert!(
        now == then,
        "the output changed: {differs:?}. If that is meant, run UPDATE_SNAPSHOTS=1 cargo test --test it output and look at tests/it/output.txt"
    );
    let long: Vec<&str> = now
        .lines()
        .filter(|line| line.chars().count() > 80 && !line.starts_with(['$', 'e', 'w', 't']))
        .collect();
    assert!(long.is_empty(), "a terminal of 80 columns breaks these lines: {long:#?}");
}
