//! This program as a process of its own: how soon it answers, and what memory it takes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use super::bed::Bed;
use super::query::Questions;

/// A server that has not loaded its index by then never will.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long after the last answer a server may take to give memory back.
const SETTLED: Duration = Duration::from_secs(2);

/// `cortex search` on an index that is up to date: from the start of the process to its end.
///
/// # Errors
/// When it fails.
pub fn search_once(bed: &Bed, program: &Path, question: &str) -> Result<Duration> {
    let mut command = command(bed, program);
    command.args(["search", "--json", question]);
    if !bed.has_tree() {
        command.arg("--no-index");
    }
    let start = Instant::now();
    let out = command.output().with_context(|| format!("{} cannot be run", program.display()))?;
    let time = start.elapsed();
    ensure!(out.status.code().is_some_and(|code| code < 2), "`cortex search` failed: {}", String::from_utf8_lossy(&out.stderr));
    Ok(time)
}

/// Starts a server: from the start of the process to its first answer.
///
/// # Errors
/// When it cannot be started, or does not find anything.
pub fn start(bed: &Bed, program: &Path, question: &str) -> Result<(ServerProcess, Duration)> {
    let start = Instant::now();
    let mut server = ServerProcess::start(bed, program)?;
    // Until it has loaded, it says so.
    while !server.search(question)? {
        ensure!(start.elapsed() < PATIENCE, "the server found nothing within {} s", PATIENCE.as_secs());
        thread::sleep(Duration::from_millis(1));
    }
    Ok((server, start.elapsed()))
}

/// The program in the bed, with its usual settings.
fn command(bed: &Bed, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(bed.root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CORTEX_")) {
        command.env_remove(name);
    }
    command
}

/// Memory of a server, as the system counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServerMemory {
    /// Held while it serves.
    pub server_resident_bytes: u64,
    /// The most that it ever held.
    pub server_peak_bytes: u64,
}

/// `cortex mcp`, for as long as this lives.
pub struct ServerProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    n_requests: u64,
}

impl ServerProcess {
    fn start(bed: &Bed, program: &Path) -> Result<Self> {
        let mut command = command(bed, program);
        command.args(["mcp", "--no-watch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{} cannot be run", program.display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { bail!("the server has no pipes") };
        let mut this = Self { child, stdin, stdout: BufReader::new(stdout), n_requests: 0 };
        let client = json!({ "name": "cortex bench", "version": env!("CARGO_PKG_VERSION") });
        this.ask("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }))?;
        writeln!(this.stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(this)
    }

    /// Whether something was found.
    fn search(&mut self, question: &str) -> Result<bool> {
        let reply = self.ask("tools/call", &json!({ "name": "cortex_search", "arguments": { "query": question } }))?;
        Ok(reply["structuredContent"]["results"].as_array().is_some_and(|results| !results.is_empty()))
    }

    /// What it holds after all questions; `None` where the system does not tell.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn memory(&mut self, questions: &Questions) -> Result<Option<ServerMemory>> {
        for question in questions.iter() {
            self.search(question)?;
        }
        thread::sleep(SETTLED);
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let (resident, peak) = (kilobytes(&status, "VmRSS:"), kilobytes(&status, "VmHWM:"));
        Ok(resident.zip(peak).map(|(server_resident_bytes, server_peak_bytes)| ServerMemory { server_resident_bytes, server_peak_bytes }))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.n_requests += 1;
        writeln!(self.stdin, "{}", json!({ "jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            ensure!(self.stdout.read_line(&mut line)? > 0, "the server ended");
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.n_requests {
                return Ok(message["result"].take());
            }
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes that a line of `/proc` names in kilobytes.
pub(super) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|l| l.strip_prefix(key))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
