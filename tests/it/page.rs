//! The page, in a real browser. `tests/it/clients/page_client.py` drives it and judges what it shows.

use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, copy_tree, run};
use crate::server::{Client, Server};
use crate::support::clients::{AXE, PYTHON, clients};
use crate::support::missing;

/// The names under which distributions install it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const PAGE_CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/clients/page_client.py");

/// Returns whether there is what drives the page. If not, the test is skipped.
#[track_caller]
fn has_browser() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    if !BROWSERS.iter().any(is_there) {
        missing("there is no Chromium: run tests/it/clients/install.sh");
        return false;
    }
    clients().is_some()
}

/// Lets the browser do a part of `page_client.py`, in the directory of the project.
#[track_caller]
fn judge(p: &Project, part: &str, arguments: &[&str]) {
    let clients = clients().unwrap();
    let python = clients.join(PYTHON);
    let mut command = p.command(python.to_str().unwrap());
    let out =
        run(command.env("PYTHONDONTWRITEBYTECODE", "1").args([PAGE_CLIENT, part]).args(arguments));
    println!("{}", out.stdout);
    assert_eq!(out.code, 0, "{part}\n{}{}", out.stdout, out.stderr);
}

/// A repository of some of this project's own files, with two commits and a change since.
fn repository() -> Project {
    let p = Project::new();
    for folder in ["src/serve", "src/store", "src/live"] {
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &p.path(folder));
    }
    p.git(&["init", "-q"]);
    remember(&p, &["Errors of the server are JSON: `error` in src/serve/refusal.rs makes them"]);
    p.commit("serve the page");
    let add = |path: &str, name: &str| {
        p.write(path, format!("{}\npub fn {name}() {{}}\n", p.read(path)));
    };
    add("src/serve/refusal.rs", "added_by_the_last_commit");
    p.commit("add a function");
    add("src/serve/metrics.rs", "edited_since_the_commit");
    p
}

/// Starts a server of a project that is indexed, and returns its address.
fn serve(p: &Project) -> (Server, String) {
    p.index();
    let server = Server::start(
        &mut p.cortex(&["serve", "--port", "0", "--watch", "--tools", "search,graph,memory"]),
    );
    let base = server.line();
    (server, base)
}

/// Remembers these texts; the first is pinned.
fn remember(p: &Project, texts: &[&str]) {
    for (i, text) in texts.iter().enumerate() {
        let pin = if i == 0 { &["--pin"][..] } else { &[] };
        run(&mut p.cortex(&[&["memory", "add", text], pin].concat())).expect(0);
    }
}

/// Serves the repository, and lets the browser do a part.
#[track_caller]
fn judge_repository(part: &str, more: &[&str]) {
    if !has_browser() {
        return;
    }
    let p = repository();
    let (_server, base) = serve(&p);
    judge(&p, part, &[&[base.as_str()], more].concat());
}

#[test]
fn every_view_shows_a_repository_and_the_browser_has_no_complaint() {
    judge_repository("views", &[]);
}

#[test]
fn an_edit_changes_what_is_shown() {
    judge_repository("live", &[]);
}

#[test]
fn the_keyboard_is_enough() {
    judge_repository("keyboard", &[]);
}

#[test]
fn addresses_and_the_back_button_show_the_same_again() {
    judge_repository("addresses", &[]);
}

#[test]
fn fast_typing_shows_the_results_of_the_last_text() {
    judge_repository("typing", &[]);
}

#[test]
fn the_page_goes_on_when_the_server_is_back() {
    if has_browser() {
        let p = repository();
        p.index();
        judge(&p, "restart", &["", env!("CARGO_BIN_EXE_cortex")]);
    }
}

#[test]
fn every_view_can_be_read_by_everybody() {
    if has_browser() {
        let axe = clients().unwrap().join(AXE);
        judge_repository("looks", &[axe.to_str().unwrap()]);
    }
}

#[test]
fn nothing_moves_once_it_is_shown() {
    judge_repository("still", &[]);
}

#[test]
fn the_map_goes_down_and_has_the_colours_that_are_asked_for() {
    judge_repository("map", &[]);
}

#[test]
fn a_change_is_shown_with_its_lines_beside_what_it_touches() {
    judge_repository("change", &[]);
}

#[test]
fn the_path_of_a_file_stays_in_view_on_a_phone() {
    judge_repository("path", &[]);
}

/// Returns the answer of `/api/NAME`, and its status.
fn asked(base: &str, name: &str, arguments: &Value) -> (u16, Value) {
    let (status, body) = Client::new(base).try_call(name, arguments).unwrap();
    (status, serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}")))
}

/// Returns the lines of a file of a change, as a difference writes them.
fn lines_of(patch: &Value, path: &str) -> Vec<String> {
    let files = patch["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == path);
    let file = file.unwrap_or_else(|| panic!("{path} is missing: {patch:#}"));
    let parts = file["parts"].as_array().unwrap();
    let lines = parts.iter().flat_map(|part| part["lines"].as_array().unwrap());
    let written = |line: &Value| {
        let text = line["text"].as_str().unwrap();
        match (line["old"].as_u64(), line["new"].as_u64()) {
            (Some(_), Some(n)) => format!("{n}  {text}"),
            (Some(n), None) => format!("{n} -{text}"),
            (_, n) => format!("{} +{text}", n.unwrap_or_default()),
        }
    };
    lines.map(written).collect()
}

/// A change is shown as every text of the repository is: without secrets, and without files that may
/// not be read.
#[test]
fn the_lines_of_a_change_have_numbers_and_no_secrets() {
    let secret = "ghp_A7b9C1d3E5f7G9h1J3k5L7m9N1p3Q5r7S9t1";
    let p = Project::new();
    p.git(&["init", "-q"]);
    let old: String = (1..=30).map(|n| format!("fn f{n}() {{}}\n")).collect();
    p.write("src/a.rs", &old);
    p.write("src/gone.rs", "fn gone() {}\n");
    p.write("src/name.rs", &old);
    p.commit("begin");
    p.write("src/a.rs", old.replace("fn f9() {}", &format!("const TOKEN: &str = \"{secret}\";")));
    p.remove("src/gone.rs");
    p.rename("src/name.rs", "src/other.rs");
    p.git(&["add", "-A"]);
    p.write("src/new.rs", "fn new() {}\n\nfn long() {}\n");
    p.write("logo.bin", [0u8, 159, 146, 150]);
    p.write(".env", format!("TOKEN={secret}\n"));
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let (status, patch) = asked(&server.line(), "patch", &json!({}));
    assert_eq!(status, 200, "{patch:#}");
    let changed = lines_of(&patch, "src/a.rs");
    assert_eq!(changed[..4], ["6  fn f6() {}", "7  fn f7() {}", "8  fn f8() {}", "9 -fn f9() {}"]);
    assert!(
        changed[4].starts_with("9 +const TOKEN") && changed[4].contains("[REDACTED:"),
        "{changed:?}"
    );
    assert_eq!(changed[5..], ["10  fn f10() {}", "11  fn f11() {}", "12  fn f12() {}"]);
    assert_eq!(lines_of(&patch, "src/gone.rs"), ["1 -fn gone() {}"]);
    assert_eq!(lines_of(&patch, "src/new.rs"), ["1 +fn new() {}", "2 +", "3 +fn long() {}"]);
    assert_eq!(lines_of(&patch, "src/other.rs"), [""; 0], "only its name changed");
    let all = patch.to_string();
    assert!(!all.contains(secret) && !all.contains(".env"), "{patch:#}");
    let other = patch["files"].as_array().unwrap().iter().find(|f| f["path"] == "src/other.rs");
    assert_eq!(other.unwrap()["from"], "src/name.rs", "{patch:#}");
    assert!(patch["limits"].to_string().contains("left out"), "{patch:#}");
}

#[test]
fn a_long_change_is_cut_and_says_so() {
    let p = Project::new();
    p.git(&["init", "-q"]);
    p.write("README.md", "# Sample\n");
    p.commit("begin");
    let long: String = (0..500).map(|n| format!("fn f{n}() {{}}\n")).collect();
    for n in 0..150 {
        p.write(format!("src/f{n:03}.rs"), if n < 9 { long.as_str() } else { "fn short() {}\n" });
    }
    p.commit("add much");
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let (_, patch) = asked(&server.line(), "patch", &json!({ "range": "HEAD^!" }));
    let files = patch["files"].as_array().unwrap();
    assert_eq!((patch["total_files"].as_u64(), files.len()), (Some(150), 100));
    assert!(patch["limits"].to_string().contains("100 of 150 files"), "{}", patch["limits"]);
    let n_shown: usize =
        files.iter().map(|f| lines_of(&patch, f["path"].as_str().unwrap()).len()).sum();
    assert!(n_shown <= 2_000, "{n_shown}");
    for file in files {
        let n = lines_of(&patch, file["path"].as_str().unwrap()).len() as u64;
        let left_out = file["left_out"].as_u64().unwrap_or_default();
        assert_eq!(n + left_out, file["added_lines"].as_u64().unwrap(), "{}", file["path"]);
    }
}

/// Home and blame lead to a commit by `id^..id`, whatever its place in the history is.
#[test]
fn the_first_commit_is_a_change_like_any_other() {
    let p = Project::with(&[("src/pump.rs", "pub fn pump() {}\n")]);
    p.git(&["init", "-q"]);
    p.commit("begin");
    let first = p.git(&["rev-parse", "HEAD"]);
    p.write("src/pump.rs", "pub fn pump() {}\n\npub fn drain() {}\n");
    p.commit("drain");
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let base = server.line();
    for range in [format!("{first}^..{first}"), format!("{first}^!"), "HEAD~2..HEAD~1".into()] {
        let (status, patch) = asked(&base, "patch", &json!({ "range": range }));
        assert_eq!(status, 200, "{range}: {patch:#}");
        assert_eq!(lines_of(&patch, "src/pump.rs"), ["1 +pub fn pump() {}"], "{range}");
        let (status, impact) = asked(&base, "impact", &json!({ "range": range }));
        assert_eq!(
            (status, impact["changed_files"].as_u64()),
            (200, Some(1)),
            "{range}: {impact:#}"
        );
    }
    let (status, refusal) = asked(&base, "patch", &json!({ "range": "HEAD~9.." }));
    assert_eq!(status, 400, "{refusal:#}");
}

/// Without git, a question about the past cannot be answered, and nothing is broken.
#[test]
fn questions_of_the_page_about_the_past_are_refused_without_git() {
    let p = Project::folder();
    p.write("src/pump.rs", "pub fn pump() {}\n");
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let base = server.line();
    let questions = [("why", json!({ "at": "src/pump.rs:1" })), ("patch", json!({}))];
    let refused = |why: &str| {
        for (name, arguments) in &questions {
            let (status, answer) = asked(&base, name, arguments);
            let said = answer["error"].as_str().unwrap_or_default();
            assert_eq!(status, 400, "{name}: {answer:#}");
            assert!(said.contains(why) && said.contains("git init"), "{name}: {said}");
        }
    };
    refused("not in a git repository");
    p.git(&["init", "-q"]);
    refused("no commit is checked out");
}

/// The first view shows what is known already. Building the code graph of a large project takes long.
#[test]
fn the_overview_does_not_build_the_code_graph() {
    let p = Project::new();
    for n in 0..80 {
        p.write(format!("f{n}.py"), format!("class Pump{n}:\n    pass\n"));
    }
    p.write("use.py", "from f1 import Pump1\n\nPump1()\n");
    p.write("README.md", "# Pumps\n\nMoves water from low to high places.\n");
    p.index();
    std::fs::remove_dir_all(p.path(".cortex/graph")).unwrap();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let base = server.line();
    let (status, before) = asked(&base, "overview", &json!({}));
    assert_eq!((status, before["files"].as_array().unwrap().len()), (200, 0), "{before:#}");
    assert!(before["about"]["text"].as_str().unwrap().contains("Moves water"), "{before:#}");
    let (status, map) = asked(&base, "map", &json!({}));
    assert!(status == 200 && !map["files"].as_array().unwrap().is_empty(), "{map:#}");
    let (_, after) = asked(&base, "overview", &json!({}));
    assert_eq!(after["files"][0]["path"], map["files"][0]["path"], "{after:#}");
}

#[test]
fn a_client_of_the_protocol_shows_the_symbol_view() {
    judge_repository("app", &[]);
}

#[test]
fn memories_are_pinned_and_forgotten_with_a_way_back() {
    if !has_browser() {
        return;
    }
    let p = Project::with(&[("src/pump.rs", "pub fn pump() {}\n")]);
    remember(
        &p,
        &[
            "Only pump water that was filtered",
            "`pump` in src/pump.rs has no argument, since there is one pump",
            "The file is replaced since rename is atomic; token = \"ghp_abcdefghijklmnopqrstuvwxyz0123456789AB\"",
            "This is soon forgotten",
            "This is the first to go",
            "This goes with the page",
        ],
    );
    p.write("src/pump.rs", "pub fn pump(liters: u32) {\n    drop(liters);\n}\n");
    let (_server, base) = serve(&p);
    let fixed = Server::start(&mut p.cortex(&["serve", "--port", "0", "--read-only"]));
    judge(&p, "memory", &[&base, &fixed.line()]);
}

/// What a repository holds is text, whatever it looks like.
#[test]
fn names_and_contents_of_files_are_only_text() {
    if !has_browser() {
        return;
    }
    let names = [
        "<img src=x onerror=alert(1)>.rs",
        "\"onmouseover=\"alert(1).rs",
        "'><script>document.title=1<'.rs",
        "javascript:alert(1).rs",
        "a&lt;b%2e%3Cc+d?path=x&symbol=y#z.rs",
        "turns\u{202e}around.rs",
    ];
    let p = Project::new();
    for name in names {
        let content = "/// Is a </pre><script>document.title='owned'</script><img src=x onerror=alert(1)> \u{202e}file.\npub fn hostile_file() {}\n";
        p.write(format!("src/{name}"), content);
    }
    p.git(&["init", "-q"]);
    p.commit("<script>document.title='owned'</script>");
    p.write(format!("src/{}", names[0]), "pub fn hostile_file() {\n    // </pre><script>\n}\n");
    remember(&p, &["<img src=x onerror=alert(1)> \u{202e}is never drawn"]);
    let (_server, base) = serve(&p);
    judge(&p, "hostile", &[&base, &json!(names).to_string()]);
}

/// The drawing of a symbol is in the address: what reaches it, or the path to another symbol.
#[test]
fn a_symbol_is_drawn_with_what_reaches_it() {
    if !has_browser() {
        return;
    }
    let hostile = "src/</svg><script>document.title='owned'</script>.py";
    let p = Project::with(&[
        (
            "src/a.rs",
            "pub fn low() {}\n\npub fn middle() {\n    low();\n}\n\npub fn high() {\n    middle();\n}\n",
        ),
        ("src/b.ex", "defmodule B do\n  def run(x), do: x\nend\n"),
        (hostile, "def callee():\n    pass\n\n\ndef caller():\n    callee()\n"),
    ]);
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let base = server.line();
    judge(&p, "drawing", &[&base]);
}

/// A token stays out of what the server is sent with an address, and is needed for data.
#[test]
fn a_token_in_the_fragment_opens_the_page() {
    if !has_browser() {
        return;
    }
    let p = Project::sample();
    p.index();
    let mut serve = p.cortex(&["serve", "--port", "0", "--no-watch"]);
    let server = Server::start(serve.env("CORTEX_SERVE_TOKEN", "secret-of-the-user"));
    let base = server.line();
    let open = run(&mut p.cortex(&["open", "--view", "state", "--print"])).expect(0);
    judge(&p, "token", &[&base, "secret-of-the-user", open.stdout.trim()]);
}
