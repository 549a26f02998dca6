//! Hooks of agents, and the memories that they make.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::project::{Output, Project};

/// The events of which agents tell a hook.
pub const EVENTS: [&str; 7] = [
    "session-start", "prompt-submit", "pre-tool", "post-tool", "stop", "session-end", "pre-compact",
];

/// Calls a hook as an agent does.
pub fn hook(p: &Project, event: &str, input: &[u8]) -> Output {
    with_input(p.cortex(&["hook", event]), input)
}

/// Runs a command with input, as an agent runs a hook.
pub fn with_input(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may have read enough.
    let _ = child.stdin.take().unwrap().write_all(input);
    let out = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Output {
        code: out.status.code().unwrap_or(-1),
        stdout: text(out.stdout),
        stderr: text(out.stderr),
    }
}

/// Returns the text that a hook gives the agent, if any. Hooks never fail.
#[track_caller]
pub fn told(p: &Project, event: &str, mut input: Value) -> String {
    input["cwd"] = p.root().to_str().unwrap().into();
    let out = hook(p, event, input.to_string().as_bytes()).expect(0);
    assert_eq!(out.stderr, "");
    if out.stdout.is_empty() {
        return String::new();
    }
    let reply: Value = serde_json::from_str(&out.stdout).unwrap();
    reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_string()
}

/// Returns the texts of all memories.
pub fn contents(p: &Project) -> Vec<String> {
    let all = p.run(&["memory", "list", "-n", "1000", "--json"]);
    let all: Value = serde_json::from_str(&all.stdout).unwrap();
    all["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["content"].as_str().unwrap().to_string())
        .collect()
}
