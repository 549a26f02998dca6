//! Starts the command of a configuration as an agent would, and calls one tool.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::detect::Home;
use super::part::Scope;
use super::plan::Entry;

/// How long the server may take. A client that starts it by a package runner may download it first.
const WAIT: Duration = Duration::from_secs(30);
/// The version of the protocol that most agents speak.
const PROTOCOL: &str = "2025-06-18";
/// The name that our server gives itself.
const SERVER: &str = "cortex";
/// The tool that is called. It need not be listed.
const TOOL: &str = "cortex_status";

/// A server that answered.
#[derive(Debug)]
pub struct Verified {
    /// Time from the start of the process to the answer of the tool.
    pub took: Duration,
    /// Number of tools that it lists.
    pub n_tools: usize,
}

impl Entry {
    /// Starts the server of this entry in the project, initializes it, lists its tools and calls
    /// `cortex_status`.
    ///
    /// A file of a project may hold the words of strangers. An entry there is started only if it is
    /// exactly what `init` writes, so no word of the file decides what runs.
    ///
    /// # Errors
    /// Why the server does not answer, or was not started, as a sentence.
    pub fn verify(&self, home: &Home) -> Result<Verified, String> {
        if self.scope == Scope::Project && !self.is_as_written {
            return Err("it is not exactly what `cortex init` writes, so it was not started".into());
        }
        let (program, args) =
            self.command.split_first().ok_or("the configuration names no command")?;
        let program = home.program(program).map_err(|why| format!("it was not started: {why}"))?;
        start(&program, args, &home.project)
    }
}

fn start(program: &Path, args: &[String], directory: &Path) -> Result<Verified, String> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    let result = ask(&mut child);
    let _ = child.kill();
    let _ = child.wait();
    let n_tools = result?;
    Ok(Verified { took: started.elapsed(), n_tools })
}

/// Holds the conversation. Returns the number of tools.
fn ask(child: &mut Child) -> Result<usize, String> {
    let mut input = child.stdin.take().ok_or("the server has no input")?;
    let output = child.stdout.take().ok_or("the server has no output")?;
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let until = Instant::now() + WAIT;
    let mut answer = |request: &Value| -> Result<Value, String> {
        send(&mut input, request)?;
        loop {
            let line = lines.recv_timeout(until.saturating_duration_since(Instant::now()));
            let line = line.map_err(|e| match e {
                RecvTimeoutError::Timeout => {
                    format!("the server does not answer within {} seconds", WAIT.as_secs())
                }
                RecvTimeoutError::Disconnected => "the server ends without an answer".to_string(),
            })?;
            let line = line.map_err(|e| e.to_string())?;
            let message: Value = serde_json::from_str(&line).map_err(|_| {
                format!("the server prints a line that is not of the protocol: {line}")
            })?;
            if message["id"] == request["id"] {
                let error = message.get("error").map(|e| format!("the server refuses: {e}"));
                if request["method"] == "initialize" {
                    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
                    send(&mut input, &ready)?;
                }
                return error.map_or_else(|| Ok(message["result"].clone()), Err);
            }
        }
    };
    let server = answer(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": PROTOCOL, "capabilities": {},
        "clientInfo": { "name": "cortex init", "version": env!("CARGO_PKG_VERSION") },
    } }))?;
    let tools = answer(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let tools = tools["tools"].as_array().cloned().unwrap_or_default();
    if server["serverInfo"]["name"] != SERVER {
        return Err("the command starts a server of another program".into());
    }
    // Where no project is, the tool answers with an error that says so.
    answer(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": TOOL, "arguments": {},
    } }))?;
    Ok(tools.len())
}

fn send(input: &mut impl Write, message: &Value) -> Result<(), String> {
    let written = writeln!(input, "{message}").and_then(|()| input.flush());
    written.map_err(|_| "the server ends without an answer".to_string())
}
