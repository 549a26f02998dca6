//! Servers that tests start, and their clients.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::Agent;

/// Longer than any step, except on a busy machine.
pub const LONG: Duration = Duration::from_mins(1);

/// A server that ends with the test.
pub struct Server {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Server {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|l| sender.send(l))
        });
        Self { stdin: child.stdin.take(), child, lines }
    }

    pub fn line(&self) -> String {
        self.lines.recv_timeout(LONG).expect("a line on stdout")
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its reply; notifications before it are dropped.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }));
        loop {
            let message: Value = serde_json::from_str(&self.line()).unwrap();
            if message["id"] == method {
                return message;
            }
        }
    }

    pub fn signal(&self, name: &str) {
        assert!(
            Command::new("kill")
                .args(["-s", name, &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Returns the exit code once the server has ended by itself, and how long that took.
    pub fn ended(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), start.elapsed());
            }
            assert!(start.elapsed() < LONG, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

/// The metadata of every request in the revision without sessions.
pub fn meta() -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    } })
}

/// Returns a request for notifications, in the revision without sessions.
pub fn listen(id: &str, notifications: &Value) -> Value {
    let mut params = meta();
    params["notifications"] = notifications.clone();
    json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params })
}

/// Sends the request of [`listen`] over HTTP, and returns the messages of its stream.
pub fn stream(url: &str, listen: &Value) -> impl Iterator<Item = Value> + use<> {
    let response = agent()
        .post(format!("{url}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .send(listen.to_string())
        .unwrap();
    BufReader::new(response.into_body().into_reader()).lines().filter_map(|line| {
        let line = line.unwrap();
        Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap())
    })
}

pub fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).timeout_global(Some(LONG)).build().into()
}

/// Returns status and body of a reply.
pub fn get(url: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let request = headers
        .iter()
        .fold(agent().get(url), |request, (name, value)| request.header(*name, *value));
    let mut response = request.call().unwrap();
    (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
}

/// An HTTP client with connections that stay open.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    pub url: String,
    token: String,
}

impl Client {
    pub fn new(url: &str) -> Self {
        Self::with_token(url, "")
    }

    /// Creates a client of a server that another user runs.
    pub fn with_token(url: &str, token: &str) -> Self {
        Self { agent: agent(), url: url.into(), token: token.into() }
    }

    /// Calls a tool; returns status and body of the reply, or the error.
    pub fn try_call(&self, tool: &str, arguments: &Value) -> Result<(u16, String), ureq::Error> {
        let request = self
            .agent
            .post(format!("{}/api/{tool}", self.url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        let mut response = request.send(arguments.to_string())?;
        Ok((response.status().as_u16(), response.body_mut().read_to_string()?))
    }

    /// Calls a tool that must reply.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        let (status, body) =
            self.try_call(tool, arguments).unwrap_or_else(|e| panic!("{tool} {arguments}: {e}"));
        assert_eq!(status, 200, "{tool} {arguments}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub fn status(&self) -> Value {
        self.call("status", &json!({}))
    }
}

/// Returns the warnings of a reply, one a line.
pub fn warnings(reply: &Value) -> String {
    let warnings = reply["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    warnings.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}
