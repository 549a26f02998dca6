//! The servers as real clients see them: the official Python SDK and the inspector.
//! `tests/it/clients/install.sh` installs both, and the suite of `conformance.rs`. Without them the
//! tests are skipped, except on machines that set `CI`.

use std::env;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::Server;

const PYTHON: &str = "venv/bin/python";
const INSPECTOR: &str = "node_modules/.bin/mcp-inspector";
pub const CONFORMANCE: &str = "node_modules/.bin/conformance";
const PYTHON_CLIENT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/clients/python_client.py");

/// Returns where the clients are. `None`, with a message, if they are not installed.
pub fn clients() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let clients = env::var_os("CORTEX_TEST_CLIENTS")
        .map_or_else(|| target.join("clients"), |dir| absolute(dir).unwrap());
    if [PYTHON, INSPECTOR, CONFORMANCE].iter().all(|program| clients.join(program).exists()) {
        return Some(clients);
    }
    let how = format!(
        "there are no MCP clients in {}: run tests/it/clients/install.sh",
        clients.display()
    );
    assert!(env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{how}");
    // Written directly, because the test harness hides the output of tests that pass.
    stderr().write_all(format!("SKIPPED: {how}\n").as_bytes()).unwrap();
    None
}

/// A git repository without an index, with something for every tool to find.
pub fn project() -> Project {
    let p = Project::with(&[
        (
            "src/retry.rs",
            "/// Waits longer after each failed attempt.\npub fn retry_with_backoff(attempts: u32) -> u32 {\n    attempts * 2\n}\n\n\
             pub struct Backoff;\n\nimpl Backoff {\n    pub fn pause(&self) {}\n}\n",
        ),
        (
            "src/poll.rs",
            "/// Polls again after each attempt.\npub fn poll_with_backoff(attempts: u32) -> u32 {\n    attempts + 1\n}\n",
        ),
        (
            "tools/colours.py",
            "def paint_wall(colour):\n    \"\"\"Cover a wall with paint.\"\"\"\n    return colour\n",
        ),
        ("docs/guide.md", "# Guide\n\n## Kitchen\n\nBoil the potatoes in salted water.\n"),
    ]);
    assert!(p.command("git").args(["init", "--quiet"]).status().unwrap().success());
    p
}

/// Starts a server over HTTP, and returns its MCP address.
pub fn serve(p: &Project) -> (Server, String) {
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let url = format!("{}/mcp", server.line());
    (server, url)
}

/// Drives the target, a program or an address, with the Python SDK.
#[track_caller]
fn python(clients: &Path, p: &Project, mode: &str, target: &str) {
    let python = clients.join(PYTHON);
    let out = run(p.command(python.to_str().unwrap()).args([PYTHON_CLIENT, mode, target]));
    assert_eq!(out.code, 0, "{mode} {target}\n{}{}", out.stdout, out.stderr);
}

#[test]
fn the_python_sdk_gets_its_answers_over_stdio() {
    let Some(clients) = clients() else { return };
    for mode in ["auto", "legacy"] {
        python(&clients, &project(), mode, env!("CARGO_BIN_EXE_cortex"));
    }
}

#[test]
fn the_python_sdk_gets_its_answers_over_http() {
    let Some(clients) = clients() else { return };
    for mode in ["auto", "legacy"] {
        let p = project();
        let (_server, url) = serve(&p);
        python(&clients, &p, mode, &url);
    }
}

/// Returns a command that runs a program of Node.js in the project.
pub fn node_program(clients: &Path, p: &Project, program: &str) -> Command {
    let mut c = p.command(clients.join(program).to_str().unwrap());
    let node = clients.join("venv/bin");
    let path = env::var_os("PATH").unwrap_or_default();
    c.env("PATH", env::join_paths([node].into_iter().chain(env::split_paths(&path))).unwrap());
    c
}

/// The inspector, in one of the two eras of the protocol. `target` is a program with its arguments,
/// or an address.
struct Inspector<'a> {
    clients: &'a Path,
    project: &'a Project,
    target: &'a [&'a str],
}

impl Inspector<'_> {
    fn command(&self, era: &str, args: &[&str]) -> Command {
        let mut c = node_program(self.clients, self.project, INSPECTOR);
        c.args(["--cli", "--quiet", "--format", "json", "--protocol-era", era])
            .args(self.target)
            .args(args);
        c
    }

    /// Returns the result of a method.
    #[track_caller]
    fn ask(&self, era: &str, args: &[&str]) -> Value {
        let out = run(&mut self.command(era, args)).expect(0);
        let reply: Value =
            serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", out.stdout));
        reply["result"].clone()
    }

    /// Lists tools in both eras, and calls every tool in one.
    #[track_caller]
    fn inspect(&self, era: &str) {
        for era in ["legacy", "modern"] {
            let listed = self.ask(era, &["--method", "tools/list", "--strict"]);
            let names: Vec<&str> = listed["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|t| t["name"].as_str().unwrap())
                .collect();
            assert_eq!(names, calls().map(|(name, ..)| name));
        }
        for (tool, arguments, says) in calls() {
            let mut arguments = arguments;
            let is_of_index = tool.starts_with("cortex_");
            if is_of_index {
                arguments["wait_ms"] = 20_000.into();
            }
            let call = [
                "--method",
                "tools/call",
                "--tool-name",
                tool,
                "--tool-args-json",
                &arguments.to_string(),
            ];
            let reply = self.ask(era, &call);
            assert_eq!(reply["isError"], false, "{tool}: {reply}");
            assert_eq!(reply.get("structuredContent"), None, "{tool}: {reply}");
            assert!(
                reply["content"][0]["text"].as_str().unwrap().contains(says),
                "{tool}: {reply}"
            );
        }
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            "cortex_read",
            "--tool-arg",
            "path=src/rety.rs",
        ];
        let out = run(&mut self.command(era, &call));
        assert!(out.code != 0 && out.stdout.contains("similar: src/retry.rs"), "{out:?}");
    }
}

/// Returns a call of each tool, in the order of the list, and text that its reply must contain.
fn calls() -> [(&'static str, Value, &'static str); 13] {
    [
        (
            "cortex_search",
            json!({ "query": "wait longer after a failed attempt" }),
            "src/retry.rs:1-4  function retry_with_backoff\n/// Waits",
        ),
        ("cortex_grep", json!({ "pattern": "salted water" }), "salted water"),
        ("cortex_map", json!({}), "\nsrc/retry.rs Backoff:"),
        ("cortex_related", json!({ "path": "src/retry.rs", "line": 2 }), "\nsrc/poll.rs:"),
        ("cortex_outline", json!({ "path": "src/retry.rs" }), "function retry_with_backoff"),
        (
            "cortex_read",
            json!({ "path": "src/retry.rs", "lines": "2-3" }),
            "    3     attempts * 2\n",
        ),
        ("cortex_status", json!({}), "2 rust"),
        (
            "cortex_graph",
            json!({ "operation": "callers", "target": "retry_with_backoff" }),
            "of src/retry.rs",
        ),
        (
            "cortex_pattern",
            json!({ "pattern": "pub fn $NAME($$$) -> u32 { $$$ }" }),
            "src/retry.rs",
        ),
        ("cortex_files", json!({ "by": "file" }), "src/retry.rs"),
        (
            "add_memory",
            json!({ "name": "Retries", "episode_body": "Retries end after five attempts." }),
            "remembered",
        ),
        ("search_memory_nodes", json!({ "briefing": true }), "five attempts"),
        ("search_memory_facts", json!({ "query": "how many attempts" }), "five attempts"),
    ]
}

#[test]
fn the_inspector_gets_its_answers_over_stdio() {
    let Some(clients) = clients() else { return };
    let p = project();
    Inspector { clients: &clients, project: &p, target: &[env!("CARGO_BIN_EXE_cortex"), "mcp"] }
        .inspect("legacy");
}

#[test]
fn the_inspector_gets_its_answers_over_http() {
    let Some(clients) = clients() else { return };
    let p = project();
    let (_server, url) = serve(&p);
    Inspector { clients: &clients, project: &p, target: &[&url] }.inspect("modern");
}
