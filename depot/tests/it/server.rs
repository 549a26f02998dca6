//! Servers of engines, started by `tests/servers.py`. The tests of the program include this file.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A server on this machine. It ends when this is dropped, and when the process ends.
pub struct Server {
    pub port: u16,
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server with no data. Returns `None`, and says why, if this machine cannot run it;
    /// where `CI` is set, the test fails then.
    pub fn start(engine: &str) -> Option<Self> {
        let started = Self::try_start(engine);
        if started.is_none() {
            let why = format!("no server of {engine} can be started here: see tests/servers.py");
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("SKIPPED: {why}");
        }
        started
    }

    fn try_start(engine: &str) -> Option<Self> {
        let script = include_str!("../servers.py");
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers");
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(home).arg(engine);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take()?);
        let mut server = Self { port: 0, child, commands, answers };
        server.port = server.answer()?.strip_prefix("ready ")?.parse().ok()?;
        Some(server)
    }

    /// Kills the server, without its consent.
    pub fn kill(&mut self) {
        assert_eq!(self.ask("kill").as_deref(), Some("killed"));
    }

    /// Starts it again after [`Server::kill`], with the same data on the same port.
    pub fn start_again(&mut self) {
        assert!(self.ask("start").is_some_and(|answer| answer.starts_with("ready ")));
    }

    /// Returns the size of its data, in bytes.
    pub fn bytes(&mut self) -> u64 {
        self.ask("size").unwrap().parse().unwrap()
    }

    fn ask(&mut self, command: &str) -> Option<String> {
        writeln!(self.commands.as_mut()?, "{command}").ok()?;
        self.answer()
    }

    fn answer(&mut self) -> Option<String> {
        let mut line = String::new();
        let n = self.answers.read_line(&mut line).ok()?;
        (n > 0).then(|| line.trim_end().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}
