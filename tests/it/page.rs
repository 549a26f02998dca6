//! The page, in a real browser. `tests/it/clients/page_client.py` drives it and judges what it shows.

use std::path::Path;

use serde_json::json;

use crate::project::{Project, copy_tree, run};
use crate::server::Server;
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
