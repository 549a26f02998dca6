//! Questions about the past, with real git: which commit says why, and which one changed a line.

use std::sync::Arc;

use cortex::config::Config;
use cortex::engine::{self, AnswerFrom, AskError, Call, Engine, HistoryRow};
use cortex::store::Layout;
use serde_json::Value;

use crate::project::Project;
use crate::support::wait_until;

/// A service whose history says why it waits.
fn service() -> Project {
    let p = Project::with(&[
        ("src/net.rs", "pub fn ask(n: u32) -> u32 {\n    n\n}\n"),
        ("src/cache.rs", "pub fn keep() {}\n"),
    ]);
    p.git(&["init", "-q"]);
    p.commit("begin");
    p.write("src/net.rs", "pub fn ask(n: u32) -> u32 {\n    retry(n, 2)\n}\n\nfn retry(n: u32, times: u32) -> u32 {\n    n * times\n}\n");
    p.commit("ask the service twice\n\nIts load balancer drops the first request after a deployment, so a\nsingle failure says nothing.\n\nCloses #12");
    p.write("src/cache.rs", "pub fn keep() {\n    evict();\n}\nfn evict() {}\n");
    p.git(&["add", "-A"]);
    p.git(&[
        "-c",
        "user.name=Grace",
        "commit",
        "-q",
        "-m",
        "forget old entries\n\nThe disk of small machines filled up within a week.",
    ]);
    p
}

fn subjects(answer: &Value) -> Vec<&str> {
    answer["commits"].as_array().unwrap().iter().map(|c| c["subject"].as_str().unwrap()).collect()
}

#[test]
fn a_question_finds_the_commit_that_says_why() {
    let p = service();
    let asked = p.json(&["history", "why is a failure not final after a deployment"]);
    assert_eq!(subjects(&asked)[0], "ask the service twice");
    let first = &asked["commits"][0];
    assert_eq!(first["files"][0], "src/net.rs");
    assert!(first["message"][0].as_str().unwrap().contains("drops the first request"), "{first}");
    let text = p.run(&["history", "small machines"]).expect(0).stdout;
    assert!(text.contains("forget old entries") && text.contains("The disk of small"), "{text}");
    // A new commit is found by the next question, and one that was replaced no longer.
    p.write("src/cache.rs", "pub fn keep() {}\n");
    p.commit("keep entries\n\nEviction broke the nightly report.");
    assert_eq!(subjects(&p.json(&["history", "nightly report"]))[0], "keep entries");
    p.git(&["commit", "-q", "--amend", "-m", "keep entries\n\nAudits read them."]);
    assert_eq!(p.run(&["history", "nightly report"]).expect(1).stdout, "");
    assert_eq!(subjects(&p.json(&["history", "who reads entries in audits"]))[0], "keep entries");
}

#[test]
fn commits_are_selected_by_path_author_and_time() {
    let p = service();
    let of_cache = p.json(&["history", "--path", "src/cache.rs"]);
    assert_eq!(subjects(&of_cache), ["forget old entries", "begin"]);
    assert_eq!(subjects(&p.json(&["history", "--author", "grace"])), ["forget old entries"]);
    assert_eq!(subjects(&p.json(&["history", "--since", "1h", "-n", "1"])).len(), 1);
    assert_eq!(p.run(&["history", "--until", "2001-01-01"]).expect(1).stdout, "");
    let of_net = p.json(&["history", "--path", "src/net.rs", "machines fill up, deployment"]);
    assert_eq!(subjects(&of_net), ["ask the service twice"]);
    let refused = p.run(&["history"]).expect(2).stderr;
    assert!(refused.contains("nothing is asked"), "{refused}");
}

#[test]
fn a_changed_text_finds_the_commits_and_the_functions() {
    let p = service();
    let asked = p.json(&["history", "--changed", "retry("]);
    assert_eq!(subjects(&asked), ["ask the service twice"]);
    let places = &asked["commits"][0]["places"];
    assert_eq!((&places[0]["path"], &places[0]["symbol"]), (&"src/net.rs".into(), &"ask".into()));
    assert_eq!(places[0]["removed"][0], "    n");
    assert_eq!(places[0]["added"][0], "    retry(n, 2)");
    // White space and moves are no changes of a line.
    p.write("src/net.rs", "pub fn ask(n: u32) -> u32 {\n  retry(n, 2)\n}\n");
    p.write("src/again.rs", "fn retry(n: u32, times: u32) -> u32 {\n    n * times\n}\n");
    p.commit("move retry");
    assert_eq!(subjects(&p.json(&["history", "--changed", "retry("])), ["ask the service twice"]);
    p.write("src/net.rs", "pub fn ask(n: u32) -> u32 {\n    retry(n, 3)\n}\n");
    p.commit("once more");
    let found = p.json(&["history", "--changed", r"retry\(n, \d\)", "--regex"]);
    assert_eq!(subjects(&found), ["once more", "ask the service twice"]);
    // The number of calls is the same after `once more`.
    let shaped = p.json(&["history", "--changed", "retry($$$)", "--pattern"]);
    assert_eq!(subjects(&shaped), ["ask the service twice"]);
    assert_eq!(p.run(&["history", "--changed", "nowhere_at_all"]).expect(1).code, 1);
    p.run(&["history", "--changed", "(", "--regex"]).expect(2);
}

/// Whoever writes the history writes what an agent reads.
#[test]
fn a_hostile_history_is_bounded_and_quoted() {
    let p = service();
    p.write(".env", "TOKEN=x\n");
    p.write("src/key.rs", "const KEY: &str = \"AKIAIOSFODNN7EXAMPLQ\";\n");
    p.git(&["add", "-A", "-f"]);
    let long = format!(
        "frost\n\npassword = \"hunter2-Xy8Kq0pLmT3vWz\"\n\u{1b}[31mfrost\u{7}\n{}",
        "frost pump ".repeat(40_000)
    );
    p.write("message", long);
    for date in ["@1 +0000", "@4102444800 +0000"] {
        let mut command = p.command("git");
        command.env("GIT_COMMITTER_DATE", date).env("GIT_AUTHOR_DATE", date);
        let base = ["-c", "user.name=\u{1b}[2Jwarning: x", "-c", "user.email=t@t"];
        let made = command.args(base).args(["commit", "-q", "--allow-empty", "-F", "message"]);
        assert!(made.status().unwrap().success());
    }
    for args in [&["history", "frost pump"][..], &["history", "--changed", "KEY"]] {
        let out = p.run(args).expect(0).stdout;
        assert!(out.len() < 8_000 && !out.contains('\u{1b}') && !out.contains('\u{7}'), "{out}");
        assert!(!out.contains("hunter2") && !out.contains("AKIAIOSFODNN7EXAMPLQ"), "{out}");
    }
    assert!(p.run(&["history", "--changed", "TOKEN"]).expect(1).stdout.is_empty());
    for file in ["commits/commits.bin", "commits/patches.bin"] {
        let bytes = std::fs::read(p.path(format!(".cortex/cache/{file}"))).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{file}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let p = Project::with(&[("a.rs", "fn a() {}\n")]);
    let refused = p.run(&["history", "why"]).expect(2).stderr;
    assert!(refused.contains("no commit is checked out here"), "{refused}");
    let whole = service();
    let origin = format!("file://{}", whole.root().display());
    p.git(&["clone", "-q", "--depth", "1", &origin, "shallow"]);
    let mut asked = p.cortex(&["history", "forget old entries"]);
    let out = crate::project::run(asked.current_dir(p.path("shallow"))).expect(0);
    assert!(out.stderr.contains("the clone is shallow"), "{}", out.stderr);
    // What is fetched later is found.
    let git = |args: &[&str]| p.git(&[&["-C", "shallow"], args].concat());
    git(&["fetch", "-q", "--unshallow"]);
    let mut asked = p.cortex(&["history", "a failure after a deployment"]);
    let out = crate::project::run(asked.current_dir(p.path("shallow"))).expect(0);
    assert!(out.stdout.contains("ask the service twice") && out.stderr.is_empty(), "{out:?}");
}

/// A commit that changes much, such as the import of a project, is kept in part.
#[test]
fn a_line_of_a_commit_that_changed_much_is_found() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    let line = |n: usize| format!("pub fn function_number_{n}() -> usize {{ {n} * 7 }}\n");
    let text = |from: usize| (from..from + 2_500).map(line).collect::<String>();
    p.write("a.rs", text(0));
    p.write("b.rs", text(10_000));
    p.commit("import");
    p.write("c.rs", text(20_000).replace("20900", "0"));
    p.commit("another import");
    p.write("c.rs", "");
    p.git(&["mv", "b.rs", "d.rs"]);
    p.commit("move");
    p.index();
    for (wanted, commits) in [
        ("function_number_7()", &["import"][..]),
        ("function_number_12400()", &["import"]),
        ("function_number_22400() -> usize { 22400 * 7 }", &["move", "another import"]),
    ] {
        let found = p.json(&["history", "--changed", wanted]);
        assert_eq!(subjects(&found), commits, "{wanted}: {found}");
    }
    let found = p.json(&["history", "--changed", r"function_number_1240[0]\(", "--regex"]);
    assert_eq!(subjects(&found), ["import"], "{found}");
    p.run(&["history", "--changed", "function_number_12400()", "--path", "c.rs"]).expect(1);
    // One of two commits is found: the answer says that there may be others.
    p.write("e.rs", "// function_number_12400()\n");
    p.commit("a comment");
    let found = p.json(&["history", "--changed", "function_number_12400()"]);
    assert_eq!(subjects(&found), ["a comment"], "{found}");
    assert!(found["warnings"].to_string().contains("--older asks git"), "{found}");
    let found = p.json(&["history", "--changed", "function_number_12400()", "--older"]);
    assert_eq!(subjects(&found), ["a comment", "import"], "{found}");
}

#[test]
fn lines_of_large_files_are_said_to_be_missing() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    p.write("a.rs", "fn only_here() {}\n");
    p.write("data.rs", format!("// hidden_in_there\n{}", "const A: u32 = 1;\n".repeat(40_000)));
    p.commit("data");
    p.index();
    let out = p.run(&["history", "--changed", "hidden_in_there", "--json"]).expect(1).stdout;
    assert!(out.contains("large or not text"), "{out}");
    assert_eq!(subjects(&p.json(&["history", "--changed", "only_here"])), ["data"]);
}

/// The notes on the commit with this subject.
fn notes<'v>(answer: &'v Value, subject: &str) -> Vec<(&'v str, &'v str)> {
    let commits = answer["commits"].as_array().unwrap();
    let commit = commits.iter().find(|commit| commit["subject"] == subject);
    let commit = commit.unwrap_or_else(|| panic!("{subject}: {answer}"));
    let notes = commit["reverts"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &'v Value| value.as_str().unwrap();
    notes.iter().map(|note| (text(&note["how"]), text(&note["says"]))).collect()
}

#[test]
fn a_commit_is_shown_with_what_became_of_it() {
    let p = service();
    let first = "pub fn keep() {\n    wait_for_disk(5);\n}\nfn wait_for_disk(n: u32) {}\n";
    let second = "pub fn keep() {\n    wait_for_disk(9);\n}\nfn wait_for_disk(n: u32) {}\n";
    p.write("src/cache.rs", first);
    p.commit("wait for the disk (#7)");
    let waits = p.git(&["rev-parse", "HEAD"]);
    p.write("src/cache.rs", "pub fn keep() {}\n");
    p.commit("Revert \"wait for the disk\" (#8)\n\nRequests timed out while the disk was slow.\n\nReverts us/service#7");
    p.write("src/cache.rs", second);
    p.commit("Reapply \"wait for the disk\" (#9)\n\nThe timeout of requests is longer now.");
    p.write("src/net.rs", "pub fn ask(n: u32) -> u32 {\n    n\n}\n");
    p.commit("Revert \"wait for the disk\"");
    p.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        &format!(
            "ask once\n\nThis reverts commit {}. Both answers counted.",
            p.git(&["rev-list", "--max-count=1", "HEAD", "--grep=ask the service twice"])
        ),
    ]);
    let answer = p.json(&["history", "--path", "src", "-n", "20"]);
    assert_eq!(
        notes(&answer, "wait for the disk (#7)"),
        [
            ("reverted by", "Requests timed out while the disk was slow."),
            ("reapplied by", "The timeout of requests is longer now."),
        ]
    );
    assert_eq!(
        notes(&answer, "Revert \"wait for the disk\" (#8)"),
        [
            ("reverted by", "The timeout of requests is longer now."),
            ("reverts", "wait for the disk (#7)"),
        ]
    );
    assert_eq!(
        notes(&answer, "Reapply \"wait for the disk\" (#9)"),
        [("reapplies", "wait for the disk (#7)")]
    );
    assert_eq!(notes(&answer, "ask once"), [("reverts", "ask the service twice")]);
    let twice = [("reverted by", "Both answers counted.")];
    assert_eq!(notes(&answer, "ask the service twice"), twice);
    assert!(notes(&answer, "begin").is_empty());
    // A revert that says why is found by its reason, and the line of the other one names it.
    let asked = p.json(&["history", "requests timed out while the disk was slow", "-n", "2"]);
    assert_eq!(subjects(&asked)[0], "Revert \"wait for the disk\" (#8)", "{asked}");
    let text = p.run(&["history", "--changed", "wait_for_disk(5)"]).expect(0).stdout;
    assert!(text.contains("reverted by ") && text.contains("): Requests timed out"), "{text}");
    p.index();
    let why = p.json(&["why", "src/cache.rs:2"]);
    assert_eq!(
        notes(&why, "Reapply \"wait for the disk\" (#9)"),
        [("reapplies", "wait for the disk (#7)")],
        "{why}"
    );
    assert_eq!(why["commits"][0]["reverts"][0]["id"], waits.as_str());
    let text = p.run(&["why", "src/cache.rs:2"]).expect(0).stdout;
    assert!(text.contains(&format!("  reapplies {} (", &waits[..9])), "{text}");
}

#[test]
fn the_pages_of_a_history_hold_each_commit_once() {
    let p = service();
    for n in 0..12 {
        p.write("src/cache.rs", format!("pub fn keep() -> u32 {{\n    {n}\n}}\n"));
        p.commit(&format!("keep {n} entries in the cache"));
    }
    for asked in [
        &["history", "entries in the cache"][..],
        &["history", "--path", "src/cache.rs"],
        &["history", "--changed", "pub fn keep()"],
    ] {
        let all = p.json(&[asked, &["-n", "100"]].concat());
        let mut pages: Vec<String> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut args = [asked, &["-n", "4"]].concat();
            args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
            let page = p.json(&args);
            let listed = subjects(&page);
            let is_last = page["next_cursor"].is_null();
            assert!(listed.len() == 4 || is_last, "{page}");
            pages.extend(listed.into_iter().map(String::from));
            cursor = page["next_cursor"].as_str().map(String::from);
            if is_last {
                break;
            }
        }
        assert_eq!(pages, subjects(&all), "{asked:?}");
    }
    assert!(subjects(&p.json(&["history", "entries in the cache", "-n", "9"])).len() == 9);
}

/// Opens the project in this process, without the settings of a user.
fn opened(p: &Project) -> engine::Project {
    p.share_key();
    let layout = Layout::at(&p.root()).unwrap();
    engine::Project::new(layout, Config::load(None, None, []).unwrap())
}

/// Returns the commits beside the code that answers these entries.
fn past_of(p: &Project, about: &[&str], shown: &[&str]) -> Vec<HistoryRow> {
    let engine = Engine::for_command(opened(p), AnswerFrom::Index, Box::new(|_| ())).unwrap();
    let about: Vec<String> = about.iter().map(|entry| (*entry).to_string()).collect();
    let shown: Vec<(String, u32, u32)> =
        shown.iter().map(|path| ((*path).to_string(), 1, 9)).collect();
    engine.past_of_question(&about, &shown, &Call::default()).unwrap()
}

#[test]
fn a_question_for_reasons_gets_the_commits_that_answer_beside_its_code() {
    let p = service();
    let why = "why is a failure not final after a deployment?";
    let found = past_of(&p, &["ask", why, "src/net.rs"], &["src/net.rs", "src/cache.rs"]);
    assert!(found.len() <= 6);
    let first = &found[0];
    assert_eq!(
        (&*first.subject, &first.files),
        ("ask the service twice", &vec!["src/net.rs".to_string()])
    );
    let said = "Its load balancer drops the first request after a deployment, so a single failure says nothing.";
    assert!(first.message[0].starts_with(said), "{first:?}");
    // The other entries say what `why` is about.
    let found = past_of(&p, &["why", "evict", "disk of small machines"], &[]);
    assert_eq!(found[0].subject, "forget old entries", "{found:?}");
    assert!(past_of(&p, &["how does ask handle a failure", "ask"], &["src/net.rs"]).is_empty());
}

#[test]
fn a_question_for_reasons_gets_nothing_of_a_project_without_commits() {
    let p = Project::with(&[("a.rs", "fn a() {}\n")]);
    assert!(past_of(&p, &["why is a empty"], &["a.rs"]).is_empty());
}

#[test]
fn attempts_that_were_reverted_come_with_what_undid_them_and_why() {
    let p = service();
    p.write(
        "src/cache.rs",
        "pub fn keep() {\n    wait_for_disk(5);\n}\nfn wait_for_disk(n: u32) {}\n",
    );
    p.commit("wait for the disk (#7)");
    p.write("src/cache.rs", "pub fn keep() {}\n");
    p.commit("Revert \"wait for the disk\" (#8)\n\nRequests timed out while the disk was slow.\n\nReverts us/service#7");
    let found = past_of(&p, &["since when does keep not wait for the disk"], &["src/cache.rs"]);
    let of = |subject: &str| {
        let row = found.iter().find(|row| row.subject == subject);
        row.unwrap_or_else(|| panic!("{subject}: {found:?}"))
    };
    let says = "Requests timed out while the disk was slow.";
    let undone = &of("wait for the disk (#7)").reverts[0];
    assert_eq!((undone.how, &*undone.says), ("reverted by", says));
    let undoing = of("Revert \"wait for the disk\" (#8)");
    assert_eq!((&*undoing.message, undoing.reverts[0].how), (&[says.to_string()][..], "reverts"));
}

/// A server does not wait long for a history that it reads, and finds new commits.
#[test]
fn a_server_answers_for_reasons_as_soon_as_the_commits_are_read() {
    let p = service();
    let engine = Engine::for_server(opened(&p), false, Arc::new(|| ())).unwrap();
    let about = ["why do audits read entries".to_string()];
    let first = || match engine.past_of_question(&about, &[], &Call::default()) {
        Ok(found) => found.into_iter().next().map(|row| row.subject).unwrap_or_default(),
        Err(AskError::NotYet(_)) => String::new(),
        Err(e) => panic!("{e}"),
    };
    wait_until("the commits are read", || !first().is_empty());
    p.write("src/cache.rs", "pub fn keep() {}\n");
    p.commit("keep entries\n\nAudits read them.");
    wait_until("the new commit is read", || first() == "keep entries");
}
