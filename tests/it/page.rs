//! The page, in a real browser.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::project::{Project, run};
use crate::server::{Client, Server};
use crate::support::missing;

/// The names under which distributions install it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let found = BROWSERS.into_iter().find(is_there);
    if found.is_none() {
        missing("there is no Chromium: run tests/it/clients/install.sh");
    }
    found
}

/// Returns what a browser shows at an address, as HTML, and what it complained about.
fn shown(browser: &str, profile: &Path, url: &str) -> (String, String) {
    let mut command = Command::new(browser);
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr"])
        .args(["--virtual-time-budget=8000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(url);
    let done = run(&mut command).expect(0);
    let console: Vec<&str> = done.stderr.lines().filter(|line| line.contains("CONSOLE")).collect();
    (done.stdout, console.join("\n"))
}

const HOSTILE: &str = "<img src=x onerror=alert(1)>";

/// What a repository holds is text, whatever it looks like.
#[test]
fn every_view_shows_a_repository_and_runs_none_of_it() {
    let Some(browser) = browser() else { return };
    let p = Project::with(&[
        (
            "src/pump.rs",
            "/// Pumps </pre><script>document.title='owned'</script> water.\npub fn pump() {\n    fill()\n}\n\nfn fill() {}\n",
        ),
        ("src/main.rs", "mod pump;\n\nfn main() {\n    pump::pump();\n}\n"),
        (&format!("src/{HOSTILE}.rs"), "/// Turns \u{202e}around.\npub fn odd() {}\n"),
    ]);
    p.git(&["init", "-q"]);
    p.commit("pump water");
    p.write("src/pump.rs", p.read("src/pump.rs").replace("fill()\n}", "fill();\n}"));
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let base = server.line();
    let profile = tempfile::tempdir().unwrap();
    let see = |view: &str| {
        let (page, console) = shown(browser, profile.path(), &format!("{base}{view}"));
        assert_eq!(console, "", "{view}");
        assert!(!page.contains("<img") && !page.contains("owned</title>"), "{view}: {page}");
        page
    };
    let search = see("/search?q=pump+water");
    assert!(search.contains("src/pump.rs") && search.contains("<mark>pump</mark>"), "{search}");
    assert!(search.contains("class=\"c-keyword\">pub"), "{search}");
    assert!(search.contains("&lt;script&gt;"), "{search}");
    let odd = see("/search?q=odd");
    assert!(odd.contains("src/&lt;img src=x onerror=alert(1)&gt;.rs"), "{odd}");
    assert!(odd.contains("\\u{202e}") && !odd.contains('\u{202e}'), "{odd}");
    let file = see("/file?path=src/pump.rs&line=2");
    let (callers, rest) = file.split_once("aria-label=\"Source\"").unwrap();
    assert!(callers.contains(">main</a>"), "{file}");
    assert!(rest.contains(">fill</a>"), "{file}");
    let change = see("/change");
    assert!(change.contains("method") || change.contains("function, changed"), "{change}");
    let state = see("/state");
    assert!(state.contains("generation 1") && state.contains("files by language"), "{state}");
    assert!(state.contains("No agent asked this server yet"), "the page is no agent: {state}");
    let question = json!({ "query": format!("pump {HOSTILE}") });
    Client::new(&base).call("search", &question);
    let state = see("/state");
    assert!(
        state.contains("What agents read today") && state.contains(">cortex_search</th>"),
        "{state}"
    );
    assert!(
        state.contains("query: pump &lt;img") && state.contains("file?path=src%2Fpump.rs"),
        "{state}"
    );
    let lost = see("/file?path=nothing/here.rs");
    assert!(lost.contains("role=\"alert\"") && lost.contains("nothing/here.rs"), "{lost}");
}

/// A token stays out of what the server is sent with an address, and is needed for data.
#[test]
fn a_token_in_the_fragment_opens_the_page() {
    let Some(browser) = browser() else { return };
    let p = Project::sample();
    p.index();
    let mut serve = p.cortex(&["serve", "--port", "0", "--no-watch"]);
    let server = Server::start(serve.env("CORTEX_SERVE_TOKEN", "secret-of-the-user"));
    let base = server.line();
    let profile = tempfile::tempdir().unwrap();
    let (without, _) = shown(browser, profile.path(), &format!("{base}/state"));
    assert!(without.contains("role=\"alert\"") && without.contains("token"), "{without}");
    let (with, _) =
        shown(browser, profile.path(), &format!("{base}/state#token=secret-of-the-user"));
    assert!(with.contains("files by language"), "{with}");
    assert!(!json!(with).to_string().contains("secret-of-the-user"), "{with}");
}
