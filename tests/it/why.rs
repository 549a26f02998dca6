//! `cortex why`: who wrote lines that formatters and moves changed later. With real git.

use std::fs;

use serde_json::Value;

use crate::project::Project;

/// A function as its author wrote it.
const WRITTEN: &str = "def fetch(url, session):\n    first = session.get(url, timeout=FIRST_TIMEOUT)\n    if not first.ok:\n        return session.get(url, timeout=SECOND_TIMEOUT, headers={'X-Retry': 'yes'})\n    return first\n\n\ndef close(session):\n    session.shutdown_everything()\n";
/// The same after a formatter.
const FORMATTED: &str = "def fetch(url, session):\n    first = session.get(url, timeout=FIRST_TIMEOUT)\n    if not first.ok:\n        return session.get(\n            url,\n            timeout=SECOND_TIMEOUT,\n            headers={\"X-Retry\": \"yes\"},\n        )\n    return first\n\n\ndef close(session):\n    session.shutdown_everything()\n";
const REASON: &str = "Ask twice (#12)\n\nThe gateway drops the first request after a pause.\n\nSigned-off-by: T <t@t>\n";

/// A function that was written, formatted, moved to another file and has a changed neighbour.
fn project() -> Project {
    let p = Project::new();
    p.git(&["init", "-q"]);
    p.write("README.md", "# Sample\n");
    p.commit("begin");
    p.write("app/net.py", WRITTEN);
    p.commit(REASON);
    p.write("app/net.py", FORMATTED);
    p.commit("Run black");
    let (fetch, close) = FORMATTED.split_at(FORMATTED.find("def close").unwrap());
    p.write("app/net.py", close);
    p.write("app/client/fetch.py", format!("\"\"\"Requests.\"\"\"\n\n{fetch}"));
    p.commit("Split net");
    p
}

fn why(p: &Project, at: &str) -> Value {
    serde_json::from_str(&p.run(&["why", at, "--json"]).expect(0).stdout).unwrap()
}

fn subjects(answer: &Value) -> Vec<&str> {
    let commits = answer["commits"].as_array().unwrap();
    commits.iter().map(|commit| commit["subject"].as_str().unwrap()).collect()
}

#[test]
fn the_author_of_a_line_is_found_behind_a_formatter_and_a_move() {
    let p = project();
    // Without an index, git alone answers.
    let answer = why(&p, "app/client/fetch.py:8");
    assert_eq!(subjects(&answer), ["Ask twice (#12)"], "{answer}");
    let commit = &answer["commits"][0];
    assert_eq!(
        commit["reasons"],
        serde_json::json!(["The gateway drops the first request after a pause."])
    );
    assert_eq!(commit["references"], serde_json::json!(["#12"]));
    assert!(!p.path(".cortex/chunks").exists(), "no index is made for the question");

    p.write("CHANGELOG.md", "# Changes\n\n- Requests are sent twice after a pause (#12).\n");
    p.index();
    let text = p.run(&["why", "app/client/fetch.py#fetch"]).expect(0).stdout;
    let mut lines = text.lines();
    assert!(lines.next().unwrap().contains("Ask twice (#12)"), "the reason is first:\n{text}");
    assert_eq!(lines.next().unwrap().trim(), "The gateway drops the first request after a pause.");
    for part in ["moved from app/net.py by", "(Split net)", "re-formatted by", "(Run black)"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(text.contains("CHANGELOG.md:3 names #12"), "{text}");
    assert!(!text.contains("Signed-off-by"), "{text}");
}

#[test]
fn a_changed_word_and_an_uncommitted_line_are_told_apart_from_their_neighbours() {
    let p = project();
    let text = p.read("app/client/fetch.py");
    p.write("app/client/fetch.py", text.replace("SECOND_TIMEOUT", "LONG_TIMEOUT"));
    p.commit("Wait longer");
    p.write("app/client/fetch.py", p.read("app/client/fetch.py") + "\nnot_committed_yet = 1\n");
    let n_lines = p.read("app/client/fetch.py").lines().count();
    assert_eq!(subjects(&why(&p, "app/client/fetch.py:8")), ["Wait longer"]);
    let answer = why(&p, &format!("app/client/fetch.py:7-{n_lines}"));
    assert_eq!(answer["uncommitted"][0][1], n_lines, "{answer}");
    assert_eq!(subjects(&answer), ["Ask twice (#12)", "Wait longer"], "{answer}");
    let out = p.run(&["why", &format!("app/client/fetch.py:{n_lines}")]).expect(1);
    assert!(out.stdout.contains("not committed: line"), "{}", out.stdout);
}

#[test]
fn commits_of_a_merged_branch_and_ignored_commits_are_looked_behind() {
    let p = project();
    p.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    p.write(
        "app/late.py",
        "def late(request):\n    return answer_of_the_side_branch(request, 3)\n",
    );
    p.commit("Answer late");
    p.git(&["checkout", "-q", "main"]);
    p.git(&["merge", "-q", "--no-ff", "-m", "Merge side", "side"]);
    assert_eq!(subjects(&why(&p, "app/late.py:2")), ["Answer late"]);
    p.write(
        "app/late.py",
        "def late(request):\n    return answer_of_the_side_branch(request, times=3)\n",
    );
    p.commit("Name arguments");
    assert_eq!(subjects(&why(&p, "app/late.py:2")), ["Name arguments"]);
    let id = p.git(&["rev-parse", "HEAD"]);
    p.write(".git-blame-ignore-revs", format!("# names\n{}\n{id}\n--output=x\n", "0".repeat(40)));
    let answer = why(&p, "app/late.py:2");
    assert_eq!(subjects(&answer), ["Answer late"], "{answer}");
    assert_eq!(answer["commits"][0]["passed"][0]["how"], "ignored", "{answer}");
}

/// Whoever wrote a message wrote it to be read, possibly by an agent.
#[test]
fn a_hostile_history_is_shown_as_data() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    p.write("odd \u{202e}name.py", "the_first_line_of_the_file = compute()\n");
    p.write("a.py", "token_of_the_service = read()\n");
    p.git(&["add", "-A"]);
    let message = format!(
        "subject \x1b[31m\u{202e}\n\nabcdef123 2020-01-01 t, line 1: a forged line\nAKIA{} is the key\n{}",
        "Z3Q7N5T2R6P4M7K2",
        "long ".repeat(30_000)
    );
    fs::write(p.path("../message"), message).unwrap();
    p.git(&[
        "commit", "-q", "-F", "../message", "--date", "@99999999999 +0000", "--author",
        "\u{202e}x <x@x>",
    ]);
    for at in ["a.py:1", "odd \u{202e}name.py:1"] {
        let text = p.run(&["why", at]).expect(0).stdout;
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text}");
        assert!(text.lines().any(|line| line.starts_with(" abcdef123")), "marked:\n{text}");
        assert!(!text.contains("AKIAZ3Q7"), "{text}");
        assert!(text.len() < 4_000, "{}", text.len());
    }
    assert!(p.run(&["why", "a.py:9"]).error().contains("has 1 line"));
    assert!(p.run(&["why", "a.py"]).error().contains("a.py:12-20"));
    assert!(p.run(&["why", "../message:1"]).error().contains("leads out of the project"));
    let elsewhere = Project::with(&[("a.py", "x = 1\n")]);
    assert!(elsewhere.run(&["why", "a.py:1"]).error().contains("a .git that is no repository"));
    elsewhere.git(&["init", "-q"]);
    assert!(elsewhere.run(&["why", "a.py:1"]).error().contains("no commit is checked out"));
}

#[test]
fn a_shallow_clone_says_what_is_missing() {
    let p = project();
    let clone = Project::folder();
    let from = format!("file://{}", p.root().display());
    clone.git(&["clone", "-q", "--depth", "1", &from, "."]);
    let answer = why(&clone, "app/client/fetch.py:8");
    assert_eq!(answer["commits"][0]["may_be_older"], true, "{answer}");
    assert!(answer["missing"].as_str().unwrap().contains("shallow"), "{answer}");
}

/// Commits `text` as the next version of `a.py`, and returns the id.
fn version(p: &Project, lines: &[&str], subject: &str) -> String {
    p.write("a.py", lines.join("\n") + "\n");
    p.commit(subject);
    p.git(&["rev-parse", "HEAD"])
}

/// Asserts that each line comes from the commit that `git blame -w` names, and that no commit is said
/// to have formatted a line that is younger.
#[track_caller]
fn agrees_with_git(p: &Project, path: &str) {
    let blamed = p.git(&["blame", "-w", "-s", "--no-abbrev", "--root", path]);
    for (n, line) in blamed.lines().enumerate() {
        let at = format!("{path}:{}", n + 1);
        let answer = why(p, &at);
        let commit = &answer["commits"][0];
        assert_eq!(commit["id"], line.split(' ').next().unwrap(), "{at}: {line}\n{answer}");
        for passed in commit["passed"].as_array().into_iter().flatten() {
            let older =
                [passed["short_id"].as_str().unwrap(), commit["short_id"].as_str().unwrap()];
            let common = p.git(&["merge-base", older[0], older[1]]);
            assert!(common.starts_with(older[1]), "{at}: {answer}");
        }
    }
}

#[test]
fn short_lines_come_from_the_commits_that_git_names() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    version(
        &p,
        &["def retry(n):", "  limit = 3", "  while n < limit:", "    n = n + 1", "  return n"],
        "retry",
    );
    version(
        &p,
        &[
            "def retry(n):", "  limit = 3  # tries", "  while n < limit:", "    n = n + 1",
            "  return n",
        ],
        "comment",
    );
    agrees_with_git(&p, "a.py");
    version(&p, &["a = 1", "b = 2", "c = 3", "d = 4", "e = 5"], "letters");
    version(&p, &["a = 1", "b = 22", "c = 3", "d = 4", "e = 5"], "one of them");
    agrees_with_git(&p, "a.py");
}

#[test]
fn repeated_lines_come_from_the_commits_that_git_names() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    let mut lines = vec!["{", "x = 1", "}", "{", "y = 2", "}"];
    version(&p, &lines, "two blocks");
    for (n, (at, new)) in [
        (3, &["{", "x = 1", "}"][..]),
        (0, &["z = 3"]),
        (7, &["x = 1", "break"]),
        (4, &["}"]),
        (2, &["{", "break", "}"]),
        (9, &["y = 2"]),
    ]
    .into_iter()
    .enumerate()
    {
        lines.splice(at..at, new.iter().copied());
        if matches!(n, 1 | 5) {
            lines.remove(at + 2);
        }
        version(&p, &lines, "another");
        agrees_with_git(&p, "a.py");
    }
}

#[test]
fn short_lines_of_a_renamed_file_that_changed_too_keep_their_commits() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    version(&p, &["a = 1", "b = 2", "c = 3", "d = 4", "e = 5", "f = 6"], "letters");
    version(&p, &["a = 1", "b = 22", "c = 3", "d = 4", "e = 5", "f = 6"], "one of them");
    p.git(&["mv", "a.py", "b.py"]);
    p.write("b.py", "a = 1\nb = 22\nc = 33\nd = 4\ne = 5\nf = 6\n");
    p.commit("move");
    agrees_with_git(&p, "b.py");
}
