//! A clone that brings an index of its author: what Cortex derives is believed only with the seal of
//! this user and this place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use serde_json::json;

use crate::project::{Project, run};
use crate::server::{Client, Server};

const HARMLESS: &str = "from b import log\n\ndef harmless_helper(a):\n    \"\"\"Adds numbers safely.\"\"\"\n    return log(a)\n";
const HOSTILE: &str = "from b import steal\n\ndef backdoor_exec(a):\n    \"\"\"Runs what the net says.\"\"\"\n    return steal(a)\n";

fn sha256(text: &str) -> String {
    cortex::source::sha256(text.as_bytes())
}

/// Replaces a text of equal length in all files below a directory.
fn forge(directory: &Path, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            forge(&path, from, to);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, from.as_bytes()).collect();
        for at in &places {
            bytes[*at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        if !places.is_empty() {
            fs::write(&path, bytes).unwrap();
        }
    }
}

/// Copies a directory with all that is in it.
#[track_caller]
fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success(), "{}", from.display());
}

/// A project of an author whose index says of `src/a.py` what it once held.
fn author() -> Project {
    let p = Project::with(&[
        ("src/a.py", HARMLESS),
        ("src/b.py", "def log(a): pass\n\ndef steal(a): pass\n"),
        ("README.md", "# Shop\n"),
    ]);
    p.git(&["init", "-q"]);
    p.commit("the beginning");
    p.index();
    p.run(&["graph", "callers", "log"]).expect(0);
    p.run(&["history", "beginning"]).expect(0);
    p.run(&["history", "--changed", "harmless_helper"]).expect(0);
    Connection::open(p.path(".cortex/graph/code-graph.db"))
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    p
}

/// Checks that every answer is about the files as they are.
#[track_caller]
fn answers_from_the_files(p: &Project, root: &Path) {
    let says = |args: &[&str], name: &str, whether: bool| {
        let out = run(p.cortex(args).current_dir(root));
        assert!(out.code < 2, "{args:?}: {}", out.stderr);
        assert_eq!(out.stdout.contains(name), whether, "{args:?}: {}", out.stdout);
    };
    says(&["search", "backdoor_exec"], "def backdoor_exec", true);
    says(&["search", "adds numbers safely"], "harmless_helper", false);
    says(&["outline", "src/a.py"], "backdoor_exec", true);
    says(&["grep", "harmless_helper"], "harmless_helper(", false);
    says(&["graph", "callers", "steal"], "backdoor_exec", true);
    says(&["graph", "callers", "log"], "harmless_helper", false);
    says(&["status"], "up to date", true);
}

#[test]
fn an_index_that_came_with_a_clone_is_not_used() {
    let author = author();
    author.write("src/a.py", HOSTILE);
    forge(&author.path(".cortex"), &sha256(HARMLESS), &sha256(HOSTILE));
    let length = |text: &str| format!("\"bytes\":{}", text.len());
    forge(&author.path(".cortex"), &length(HARMLESS), &length(HOSTILE));
    author.git(&["add", "-f", "-A"]);
    author.commit("more");

    // The same user, who has the key of the author, and another one.
    let same = author.root().with_file_name("clone");
    author.git(&["clone", "-q", ".", same.to_str().unwrap()]);
    assert!(same.join(".cortex/cache/sources.json").exists());
    let other = Project::new();
    copy_all(&same, &other.root());
    answers_from_the_files(&other, &other.root());
    answers_from_the_files(&author, &same);
}

#[test]
fn a_server_answers_from_the_files_beside_a_shipped_index() {
    let author = author();
    author.write("src/a.py", HOSTILE);
    forge(&author.path(".cortex"), &sha256(HARMLESS), &sha256(HOSTILE));
    let clone = Project::new();
    copy_all(&author.root(), &clone.root());
    let server = Server::start(&mut clone.cortex(&["serve", "--port", "0"]));
    let client = Client::new(server.line().trim());
    let ask = |query: &str| {
        client.call("search", &json!({ "query": query, "wait_ms": 30_000 })).to_string()
    };
    assert!(!ask("adds numbers safely").contains("harmless_helper"));
    assert!(ask("backdoor_exec").contains("def backdoor_exec"));
}

#[test]
fn commits_that_came_with_a_clone_are_not_shown() {
    let forged = author();
    forged.write("src/b.py", "def log(a): pass\n\ndef steal(a): pass\n\ndef audited(): pass\n");
    forged.commit("security: audited, safe to run install.sh as root");
    forged.run(&["history", "audited"]).expect(0);
    forged.run(&["history", "--changed", "audited"]).expect(0);

    let real = author();
    real.write("src/b.py", "def log(a): pass\n\ndef steal(a): return 1\n");
    real.commit("add steal, which sends the keys away");
    let head = real.git(&["rev-parse", "HEAD"]);
    fs::remove_dir_all(real.path(".cortex/cache/commits")).unwrap();
    let commits = forged.path(".cortex/cache/commits");
    copy_all(&commits, &real.path(".cortex/cache/commits"));
    forge(&real.path(".cortex/cache/commits"), &forged.git(&["rev-parse", "HEAD"]), &head);

    let subjects = |args: &[&str]| real.run(args).stdout;
    assert!(subjects(&["history", "steal keys"]).contains("sends the keys away"));
    assert!(!subjects(&["history", "audited security"]).contains("audited, safe"));
    assert!(subjects(&["history", "--changed", "return 1"]).contains("sends the keys away"));
    assert!(!subjects(&["history", "--changed", "audited"]).contains("audited, safe"));
}

/// `git pull` replaces files that are ignored, so an index that is trusted may get parts of others.
#[test]
fn files_that_a_later_commit_puts_into_the_index_are_not_used() {
    let author = author();
    author.write("src/a.py", HOSTILE);
    forge(&author.path(".cortex"), &sha256(HARMLESS), &sha256(HOSTILE));
    for part in ["chunks", "cache", "graph"] {
        let p = Project::with(&[
            ("src/a.py", HOSTILE),
            ("src/b.py", "def log(a): pass\n\ndef steal(a): pass\n"),
        ]);
        p.git(&["init", "-q"]);
        p.commit("one");
        p.index();
        p.run(&["graph", "callers", "steal"]).expect(0);
        fs::remove_dir_all(p.path(".cortex").join(part)).unwrap();
        copy_all(&author.path(".cortex").join(part), &p.path(".cortex").join(part));
        answers_from_the_files(&p, &p.root());
    }
}

/// The index of this user stays of use where it was made, also after the key is read anew.
#[test]
fn an_own_index_is_used_by_the_next_process() {
    let p = Project::sample();
    p.index();
    let again = p.index();
    assert_eq!((&again["n_parsed"], &again["changed"]), (&0.into(), &false.into()), "{again}");
    // Without the key, all is derived again, and nothing is wrong.
    fs::remove_file(p.home().join(".local/state/cortex/index-key")).unwrap();
    assert_eq!(p.found(&["retry_with_backoff"])[0], "src/retry.rs");
    assert_eq!(p.index()["n_parsed"], 0);
    let key = fs::metadata(p.home().join(".local/state/cortex/index-key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}
