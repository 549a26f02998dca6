//! The servers as real clients see them: the official Python SDK and the inspector.
//! `tests/it/clients/install.sh` installs both, and the suite of `conformance.rs`. Without them the
//! tests are skipped, except on machines that set `CI`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::support::clients::{INSPECTOR, PYTHON, clients, node_program, project, serve};

const PYTHON_CLIENT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/clients/python_client.py");

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
            "--method", "tools/call", "--tool-name", "cortex_read", "--tool-arg",
            "path=src/rety.rs",
        ];
        let out = run(&mut self.command(era, &call));
        assert!(out.code != 0 && out.stdout.contains("similar: src/retry.rs"), "{out:?}");
    }
}

/// Returns a call of each tool, in the order of the list, and text that its reply must contain.
fn calls() -> [(&'static str, Value, &'static str); 18] {
    [
        (
            "cortex_explore",
            json!({ "about": ["retry_with_backoff"] }),
            "1-4 function retry_with_backoff\n 1 /// Waits",
        ),
        (
            "cortex_search",
            json!({ "query": "wait longer after a failed attempt" }),
            "src/retry.rs:1-4  function retry_with_backoff\n    1 /// Waits",
        ),
        ("cortex_grep", json!({ "pattern": "salted water" }), "salted water"),
        ("cortex_map", json!({}), "\n src/retry.rs Backoff:"),
        ("cortex_related", json!({ "path": "src/retry.rs", "line": 2 }), "\nsrc/poll.rs:"),
        (
            "cortex_why",
            json!({ "at": "src/retry.rs#retry_with_backoff" }),
            "The service was flooded",
        ),
        (
            "cortex_history",
            json!({ "query": "why does it wait between attempts" }),
            "\n The service was flooded",
        ),
        ("cortex_changes", json!({}), "wait longer"),
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
            "cortex_impact",
            json!({ "files": ["retry_with_backoff"] }),
            "src/retry.rs:2 function retry_with_backoff, planned",
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
