//! Messages of commits help to rank the files that the commits changed.

use std::process::Command;

use serde_json::Value;

use crate::project::{Project, run};

/// A repository with two files whose texts say the same.
fn two_pumps() -> Project {
    let pump = |name: &str| format!("pub fn {name}(level: u32) -> u32 {{\n    level * 2 + 1\n}}\n");
    let p = Project::with(&[("src/alpha.rs", &pump("alpha")), ("src/beta.rs", &pump("beta"))]);
    p.git(&["init", "-q", "-b", "main"]);
    p.commit("initial import");
    p
}

const QUESTION: &str = "overflow of the tank while the level rises";

/// Returns the files that answer, each with the commit that its row names.
fn asked(p: &Project) -> Vec<(String, Option<String>)> {
    let reply = p.json(&["search", QUESTION, "--explain"]);
    let row = |r: &Value| {
        let commit = r["changed_by"].as_str().map(|c| c.split_once(": ").unwrap().1.to_string());
        (r["path"].as_str().unwrap().to_string(), commit)
    };
    reply["results"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_commit_that_says_what_a_file_is_about_puts_it_first() {
    let p = two_pumps();
    assert_eq!(asked(&p)[0].0, "src/alpha.rs", "nothing tells the files apart but their paths");
    p.write("src/beta.rs", p.read("src/beta.rs").replace("+ 1", "+ 2"));
    p.commit("No overflow of the tank\n\nThe valve closes early.");
    let says = Some("No overflow of the tank".to_string());
    assert_eq!(asked(&p)[0], ("src/beta.rs".into(), says), "without an index run in between");
    let file = p.chunk_file("code-history.json");
    assert!(
        file.contains("The valve closes early.") && file.contains("\"files\":[\"src/beta.rs\"]")
    );
    assert_eq!(p.chunks().iter().filter(|c| c["chunk_type"] == "history").count(), 2);
    let n_chunks = p.json(&["status"])["chunks"].as_u64().unwrap();
    let n_rows = p.chunks().iter().filter(|c| c["chunk_type"] != "history").count();
    assert_eq!(n_chunks, n_rows as u64, "commits are not counted as chunks");
}

#[test]
fn an_amended_commit_replaces_the_former_one() {
    let p = two_pumps();
    p.write("src/beta.rs", p.read("src/beta.rs").replace("+ 1", "+ 2"));
    p.commit("No overflow of the tank");
    assert_eq!(asked(&p)[0].0, "src/beta.rs");
    p.git(&["commit", "-q", "--amend", "-m", "Add two"]);
    let answer = asked(&p);
    assert_eq!(answer[0].0, "src/alpha.rs");
    assert!(!p.chunk_file("code-history.json").contains("overflow"));
}

#[test]
fn commits_that_follow_are_added_and_equal_a_fresh_read() {
    let p = two_pumps();
    p.index();
    for i in 0..5 {
        p.write(format!("src/{i}.rs"), format!("pub fn number_{i}() {{}}\n"));
        p.commit(&format!("Add number {i}"));
        if i % 2 == 0 {
            p.index();
        }
    }
    p.index();
    let added = p.chunk_file("code-history.json");
    p.run(&["index", "--full"]).expect(0);
    assert_eq!(added, p.chunk_file("code-history.json"));
    assert_eq!(added.matches("\"id\":\"commit:").count(), 6);
}

#[test]
fn an_updated_history_keeps_the_commits_of_a_fresh_one() {
    let p = two_pumps();
    let commit_of = |i: usize| {
        let subject = if i.is_multiple_of(2) { "Bump the version" } else { "Change a number" };
        let from = if i == 0 { "from refs/heads/main^0\n" } else { "" };
        format!(
            "commit refs/heads/main\ncommitter t <t@t> {} +0000\ndata {}\n{subject}\n{from}M 644 inline src/n.rs\ndata {}\n// {i:08}\n\n",
            2_000_000_000 + i,
            subject.len(),
            12
        )
    };
    let stream: String = (0..5_010).map(commit_of).collect();
    p.write("stream", stream);
    let import = std::fs::File::open(p.root().join("stream")).unwrap();
    let mut fast_import = Command::new("git");
    fast_import.current_dir(p.root()).args(["fast-import", "--quiet"]).stdin(import);
    assert!(fast_import.status().unwrap().success());
    std::fs::remove_file(p.root().join("stream")).unwrap();
    p.git(&["reset", "-q", "--hard"]);
    p.index();
    for i in 0..4 {
        p.write(format!("src/{i}.rs"), format!("pub fn number_{i}() {{}}\n"));
        p.commit(&format!("Add number {i}"));
    }
    p.index();
    let added = p.chunk_file("code-history.json");
    p.run(&["index", "--full"]).expect(0);
    let n = |text: &str| text.matches("\"id\":\"commit:").count();
    assert_eq!(n(&added), n(&p.chunk_file("code-history.json")));
    assert!(added == p.chunk_file("code-history.json"), "other commits, or another order");
}

#[test]
fn the_setting_and_a_missing_repository_leave_history_out() {
    let p = two_pumps();
    p.index();
    assert!(p.chunk_file("code-history.json").contains("initial import"));
    p.configure("[index]\nhistory = false\n");
    p.index();
    assert!(!p.chunk_file("code-history.json").contains("initial import"));
    assert!(asked(&p).iter().all(|(_, commit)| commit.is_none()));

    let plain = Project::sample();
    plain.index();
    assert!(!plain.chunk_file("code-history.json").contains("commit:"));
}

#[test]
fn a_secret_in_a_message_is_hidden() {
    let p = two_pumps();
    p.write("src/beta.rs", "pub fn beta() {}\n");
    let key = ["AKIA", "Q3EGRZKJ5H7WMN2X"].concat();
    p.commit(&format!("Use the key {key} for the tank"));
    p.index();
    let file = p.chunk_file("code-history.json");
    assert!(file.contains("[REDACTED:") && !file.contains(&key), "{file}");
}

/// A git whose `log` never answers, before the real one in the path.
fn silent_git(p: &Project) -> std::ffi::OsString {
    use std::os::unix::fs::PermissionsExt;
    let folder = p.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let script = "#!/bin/sh\nhere=$(dirname \"$0\")\nPATH=${PATH#\"$here\":}\n\
                  case \" $* \" in *\" log \"*) exec sleep 600;; esac\nexec git \"$@\"\n";
    std::fs::write(folder.join("git"), script).unwrap();
    std::fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap()
}

#[test]
fn a_git_that_never_answers_is_named_and_asked_again_after_the_next_commit() {
    let p = two_pumps();
    let path = silent_git(&p);
    run(p.cortex(&["index"]).env("PATH", &path)).expect(0);
    assert_eq!(asked(&p)[0].0, "src/alpha.rs");
    let warnings = p.json(&["status"])["warnings"].to_string();
    assert!(warnings.contains("lacks messages of commits: git printed nothing"), "{warnings}");
    p.write("src/beta.rs", p.read("src/beta.rs").replace("+ 1", "+ 2"));
    p.commit("No overflow of the tank");
    assert_eq!(asked(&p)[0].0, "src/beta.rs", "the next commit is the next attempt");
    assert!(!p.json(&["status"]).to_string().contains("lacks messages"));
}
