//! Measures this program as a separate process: how soon it answers, and how much memory it takes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::bed::Bed;
use super::index::mark;
use super::query::Questions;

/// How long a server may take to load its index.
const PATIENCE: Duration = Duration::from_mins(5);
/// Pause after the last answer, in which a server may release memory, and before an edit: a server
/// that indexed just now waits for more changes.
const SETTLED: Duration = Duration::from_secs(2);

/// Removes the index, and runs `cortex index`.
///
/// # Errors
/// When the process cannot be started, or fails.
pub fn index_all(bed: &Bed, program: &Path) -> Result<()> {
    bed.layout().clean()?;
    let out = command(bed, program)
        .arg("index")
        .output()
        .with_context(|| format!("{} cannot be run", program.display()))?;
    ensure!(
        out.status.success(),
        "`cortex index` failed: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    Ok(())
}

/// Measures `cortex search` on an index that is up to date, from the start of
/// the process to its end.
///
/// # Errors
/// When the process cannot be started, or fails.
pub fn search_once(bed: &Bed, program: &Path, question: &str) -> Result<Duration> {
    let mut command = command(bed, program);
    command.args(["search", "--json", question]);
    if !bed.has_tree() {
        command.arg("--no-index");
    }
    let start = Instant::now();
    let out = command.output().with_context(|| format!("{} cannot be run", program.display()))?;
    let time = start.elapsed();
    ensure!(
        out.status.code().is_some_and(|code| code < 2),
        "`cortex search` failed: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    Ok(time)
}

/// Returns a command that runs the program in the bed with default settings.
fn command(bed: &Bed, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(bed.root()).stdin(Stdio::null());
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CORTEX_"))
    {
        command.env_remove(name);
    }
    // What other projects of the user know would be measured, and what is measured would be kept.
    command.env("CORTEX_INDEX_KNOWN_MB", "0");
    // Nobody asks a question of the bed later, so it is not noted among the user's projects.
    command.env("XDG_STATE_HOME", bed.layout().dot_cortex());
    command
}

/// Memory of a process as the operating system counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub resident_bytes: u64,
    /// Peak of the resident bytes.
    pub peak_bytes: u64,
}

/// A process of `cortex mcp` that serves the bed alone.
pub struct Server(McpProcess);

/// A process that speaks MCP on its standard input and output. It is killed when this is dropped.
pub struct McpProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    n_requests: u64,
}

impl McpProcess {
    /// Starts the server of a command line, which the shell runs in `folder`.
    ///
    /// # Errors
    /// When it cannot be started, or does not answer.
    pub fn start_with(command_line: &str, folder: &Path) -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", command_line]).current_dir(folder);
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{command:?} cannot be run"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the server has no pipes")
        };
        let mut this = Self { child, stdin, stdout: BufReader::new(stdout), n_requests: 0 };
        let client = json!({ "name": "cortex bench", "version": env!("CARGO_PKG_VERSION") });
        this.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        )?;
        writeln!(
            this.stdin,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )?;
        Ok(this)
    }

    /// Sends a request and returns its result.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.n_requests += 1;
        writeln!(
            self.stdin,
            "{}",
            json!({ "jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params })
        )?;
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

impl Server {
    /// Starts a server, and measures the time from the start of the process to its first answer.
    ///
    /// # Errors
    /// When the server cannot be started, or finds nothing.
    pub fn start(bed: &Bed, program: &Path, question: &str) -> Result<(Self, Duration)> {
        let start = Instant::now();
        let mut server = Self::spawn(bed, program, "--no-watch")?;
        // While the server loads, its answers have no results.
        server.wait_for(question, |reply| !reply.starts_with("nothing found"))?;
        Ok((server, start.elapsed()))
    }

    /// Starts a server that follows changes of the files.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn start_watching(bed: &Bed, program: &Path) -> Result<Self> {
        Self::spawn(bed, program, "--watch")
    }

    fn spawn(bed: &Bed, program: &Path, watch: &str) -> Result<Self> {
        let mut command = command(bed, program);
        command.args(["mcp", "--alone", watch]);
        Ok(Self(McpProcess::start(command)?))
    }

    /// Changes a file after a pause, and measures the time until the server, which nobody tells of the change,
    /// finds it. `n` is another number for each change.
    ///
    /// # Errors
    /// When the file cannot be changed, or the change is not found.
    pub fn edit(&mut self, bed: &Bed, path: &str, n: usize) -> Result<Duration> {
        thread::sleep(SETTLED);
        let marker = mark(bed, path, "zqe", n)?;
        let start = Instant::now();
        self.wait_for(&marker, |reply| reply.starts_with(path))?;
        Ok(start.elapsed())
    }

    /// Asks a question until the reply is as expected.
    fn wait_for(&mut self, question: &str, is_expected: impl Fn(&str) -> bool) -> Result<()> {
        let start = Instant::now();
        while !is_expected(&self.search(question)?) {
            ensure!(
                start.elapsed() < PATIENCE,
                "the server did not find {question:?} within {} s",
                PATIENCE.as_secs()
            );
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Asks a question, and returns the text of the reply.
    fn search(&mut self, question: &str) -> Result<String> {
        let reply = self.0.ask(
            "tools/call",
            &json!({ "name": "cortex_search", "arguments": { "query": question } }),
        )?;
        Ok(reply["content"][0]["text"].as_str().unwrap_or_default().to_string())
    }

    /// Asks all questions, and waits until the server may have released memory.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn ask_all(&mut self, questions: &Questions) -> Result<()> {
        for question in questions.iter() {
            self.search(question)?;
        }
        thread::sleep(SETTLED);
        Ok(())
    }

    /// Returns the memory of the server; `None` if the system has no `/proc`.
    #[must_use]
    pub fn memory(&self) -> Option<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.child.id())).ok()?;
        Some(Memory {
            resident_bytes: kilobytes(&status, "VmRSS:")?,
            peak_bytes: kilobytes(&status, "VmHWM:")?,
        })
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns in bytes the number that a line of a `/proc` file gives in kilobytes.
pub(super) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|l| l.strip_prefix(key))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
