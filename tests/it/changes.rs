//! `cortex changes`: what happened since a commit, a date or the last session.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::project::Project;
use crate::support::hooks::told;

const STORE: &str = "pub struct Store;

impl Store {
    /// Gets a value.
    pub fn get(&self, key: &str) -> usize {
        old_way(key)
    }
}

/// The old way.
fn old_way(key: &str) -> usize {
    let n = key.len();
    n * 2
}

/// The new way.
pub fn new_way(key: &str) -> usize {
    key.len()
}
";
const COUNT: &str = "pub fn count_all(rows: &[u8]) -> usize {
    let mut n = 0;
    for row in rows {
        n += usize::from(*row);
    }
    n
}
";

fn repository() -> Project {
    let p = Project::with(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", "pub mod count;\npub mod store;\n"),
        ("src/store.rs", STORE),
        ("src/count.rs", COUNT),
        ("docs/store.md", "# Store\n\nIt gets.\n"),
    ]);
    p.git(&["init", "-q"]);
    p.commit("initial import of the shop");
    p
}

/// A repository in which one commit changed much.
fn changed_repository() -> Project {
    let p = repository();
    p.write(
        "src/store.rs",
        STORE
            .replace("get(&self, key: &str)", "get(&self, key: &str, twice: bool)")
            .replace("        old_way(key)", "        new_way(key) + usize::from(twice)"),
    );
    p.write("src/count.rs", COUNT.replace("count_all", "count_every"));
    p.write(
        "tests/store.rs",
        "#[test]\nfn gets_twice() {\n    assert_eq!(shop::store::Store.get(\"a\", true), 2);\n}\n",
    );
    p.commit("the store takes the new way");
    p
}

fn text(p: &Project, args: &[&str]) -> String {
    p.run(&[&["changes"], args].concat()).expect(0).stdout
}

#[test]
fn what_happened_is_told_by_symbols_and_says_what_lost_its_use_and_what_got_callers() {
    let p = changed_repository();
    p.write("src/extra.rs", "pub fn spare() {}\n");
    let told = text(&p, &["HEAD~1"]);
    for part in [
        "1 commit, 4 files",
        "not committed yet: src/extra.rs\n",
        "src/store.rs:5 Store::get: … key: &str) -> … → … key: &str, twice: bool) -> …",
        "src/store.rs:11 old_way, used before in src/store.rs",
        "src/store.rs:17 new_way: 1 of 1: Store::get",
        "tests: 1 added, 0 changed, 0 deleted, in 1 file: tests/store.rs",
        ">count_every:1 (was count_all)",
        "extra.rs (uncommitted) (new) +spare:1",
        " the store takes the new way",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let answer = p.json(&["changes", "HEAD~1", "--path", "src/count.rs"]);
    assert_eq!(
        (&answer["total_files"], &answer["total_dead"], &answer["areas"][0]["files"][0]["path"]),
        (&json!(1), &json!(0), &json!("src/count.rs")),
        "{answer:#}"
    );
    // A short reply begins with the same, and says what it leaves out.
    let short = text(&p, &["HEAD~1", "--tokens", "200"]);
    assert!(short.len() < told.len() && short.starts_with(told.lines().next().unwrap()), "{short}");
    p.remove("src/extra.rs");
    let none = p.run(&["changes", "HEAD"]).expect(1);
    assert!(none.stdout.is_empty() && none.stderr.contains("nothing changed since HEAD"));
}

#[test]
fn without_a_beginning_it_is_the_last_session_and_otherwise_the_last_day() {
    let p = repository();
    let answer = p.json(&["changes"]);
    assert!(answer["since"]["reason"].as_str().unwrap().contains("last day"), "{answer:#}");
    assert_eq!((&answer["total_commits"], &answer["since"]["commit"]), (&json!(1), &json!("")));
    told(&p, "session-start", json!({ "session_id": "first", "source": "startup" }));
    told(
        &p,
        "prompt-submit",
        json!({ "session_id": "first", "prompt": "We keep the store small." }),
    );
    told(&p, "session-end", json!({ "session_id": "first", "reason": "exit" }));
    sleep(Duration::from_millis(1_100));
    p.write("docs/store.md", "# Store\n\nIt gets twice.\n");
    p.commit("the document says twice");
    told(&p, "session-start", json!({ "session_id": "second", "source": "startup" }));
    let answer = p.json(&["changes"]);
    assert!(answer["since"]["reason"].as_str().unwrap().contains("last session"), "{answer:#}");
    let subjects = &answer["areas"][0]["commits"];
    assert_eq!(
        (&answer["total_commits"], &subjects[0]["subject"]),
        (&json!(1), &json!("the document says twice")),
        "{answer:#}"
    );
}

#[test]
fn a_beginning_is_a_commit_of_another_branch_a_date_or_an_age_and_else_it_is_refused() {
    let p = changed_repository();
    p.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    p.write("docs/other.md", "# Other\n");
    p.commit("only on the other branch");
    p.git(&["checkout", "-q", "main"]);
    let told = text(&p, &["other"]);
    assert!(
        told.contains("not part of HEAD: since the last common commit")
            && told.contains("1 commit of other are not in HEAD")
            && !told.contains("other.md"),
        "{told}"
    );
    // A commit with a forged date between others neither ends the search nor hides what is new.
    let old = "2001-01-01T00:00:00Z";
    let mut forged = p.command("git");
    forged.args(["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty"]);
    forged.args(["-m", "forged"]).env("GIT_COMMITTER_DATE", old).env("GIT_AUTHOR_DATE", old);
    assert!(forged.status().unwrap().success());
    p.write("docs/store.md", "# Store\n\nNew.\n");
    p.commit("after the forged one");
    assert!(text(&p, &["1d"]).contains("the store takes the new way"));
    for (wrong, part) in [
        (&["nowhere"][..], "a date or an age"),
        (&["--", "-h"], "it begins with `-`"),
        (&["--", "--output=x"], "it begins with `-`"),
    ] {
        let said = p.run(&[&["changes"], wrong].concat()).error();
        assert!(said.contains(part), "{wrong:?}: {said}");
    }
    assert!(!p.path("x").exists());
    fs::remove_dir_all(p.path(".git")).unwrap();
    let said = p.run(&["changes"]).error();
    assert!(said.contains("not in a git repository") && said.contains("git init"), "{said}");
}

/// Messages and names are from strangers, and a mass change must not hide the rest.
#[test]
fn what_strangers_wrote_is_data_and_mass_changes_are_one_line() {
    let p = repository();
    for n in 0..40 {
        p.write(format!("vendor/lib/f{n}.rs"), format!("pub fn f{n}() {{}}\n"));
    }
    p.write("src/store.rs", STORE.replace("    ", "\t"));
    p.write("src/odd\u{202e}\nname.rs", "pub fn odd() {}\n");
    p.write(".env", "TOKEN=abc\n");
    let key = ["gh", "p_", "a8Kd02mVx7QpLz49RtYw5NcJ6bHsEu1FgT3o"].concat();
    p.commit(&format!("token {key} \u{1b}[31m{}", "long ".repeat(9_000)));
    let told = text(&p, &["HEAD~1"]);
    assert!(!told.contains(&key) && !told.contains(['\u{1b}', '\u{202e}']), "{told}");
    assert!(told.contains(" token [REDACTED"), "the message is told, without its secret: {told}");
    assert!(told.contains("odd\\u{202e}\\nname.rs") && !told.contains("TOKEN"), "{told}");
    assert!(told.contains("formatting only: 1 file, vendored: 40 files"), "{told}");
    assert!(told.contains("1 file left out") && told.len() < 2_000, "{told}");
}

/// A clone may lack old commits or old texts, and Cortex fetches nothing.
#[test]
fn a_clone_without_everything_says_what_is_missing() {
    let p = changed_repository();
    let from = format!("file://{}", p.root().display());
    p.git(&["config", "uploadpack.allowFilter", "true"]);
    let run = |clone: &str, args: &[&str]| -> Value {
        let out = p.run(&[&["changes", "--json", "--project", clone], args].concat()).expect(0);
        serde_json::from_str(&out.stdout).unwrap()
    };
    let base = p.home().display().to_string();
    let (shallow, partial) = (format!("{base}/shallow"), format!("{base}/partial"));
    p.git(&["clone", "-q", "--depth", "1", &from, &shallow]);
    fs::write(format!("{shallow}/docs/store.md"), "# Store\n").unwrap();
    let answer = run(&shallow, &["2w"]);
    assert!(answer["limits"].to_string().contains("the clone is shallow"), "{answer:#}");
    assert_eq!(answer["total_files"], 1, "{answer:#}");
    p.git(&["clone", "-q", "--filter=blob:none", &from, &partial]);
    let answer = run(&partial, &["HEAD~1"]);
    assert!(answer["limits"].to_string().contains("are missing"), "{answer:#}");
    assert_eq!((&answer["total_commits"], &answer["total_files"]), (&json!(1), &json!(3)));
    let missing = Command::new("git")
        .args(["-C", &partial, "rev-list", "--objects", "--missing=print", "HEAD"])
        .output()
        .unwrap();
    assert!(String::from_utf8(missing.stdout).unwrap().contains("\n?"), "nothing was fetched");
}
