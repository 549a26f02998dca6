//! Which servers of this user run, for `cortex open` and `cortex serve --detach`.
//!
//! Each notes its address in a directory that only this user can read. The file in `.cortex` may have
//! come with a clone, so it proves nothing. A server that crashed leaves its note, and any user of the
//! machine can take its port. So a client first lets the server prove that it knows a secret of the
//! note, and sends nothing that is secret to a server that does not.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::access::{Access, CHALLENGE, OPEN, PROOF, Prover};
use super::http::TICKET;
use crate::dir::{OwnedDir, PRIVATE_DIR, PRIVATE_FILE};
use crate::user_secret::random;

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer notes and answers are not read, in bytes.
const MAX_BYTES: u64 = 1 << 16;
/// An address that needs the token.
const ABOUT: &str = "/api/about";

/// What a server notes of itself.
#[derive(Serialize, Deserialize)]
struct Note {
    at: SocketAddr,
    pid: u32,
    /// As good as the token, while the server runs.
    key: Option<String>,
    /// The secret by which the server proves that this note is its own.
    prover: Prover,
    given: Given,
}

/// What a server gives to those who reach it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    /// The address that it listens on.
    pub address: IpAddr,
    /// The port that it was to take; it has a later one if that was not free.
    pub port: u16,
    /// Names of its tools.
    pub tools: BTreeSet<String>,
    pub read_only: bool,
    /// Whether its edit tools may change files that programs run or trust.
    pub edit_trusted: bool,
    /// Whether it follows changes.
    pub follows: bool,
    /// Whether it is the server of the machine.
    pub is_shared: bool,
}

/// What a user asks of a server. `None` and false ask for nothing.
#[derive(Debug, Clone, Default)]
pub struct RequestedServer {
    pub address: Option<IpAddr>,
    pub port: Option<u16>,
    pub token: Option<String>,
    /// Names of tools.
    pub tools: Option<BTreeSet<String>>,
    pub read_only: bool,
    pub edit_trusted: bool,
    /// Whether the server must not follow changes.
    pub no_watch: bool,
}

/// A server that runs and does not give what was asked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot serve {} with {asked}: process {pid} serves it already at {url}, {given}; {} first, or leave that out to use it",
    root.display(),
    if *is_shared { "run `cortex server stop`".to_string() } else { format!("end that (Ctrl-C, or `kill {pid}`)") }
)]
pub struct InTheWay {
    root: PathBuf,
    asked: String,
    given: String,
    pid: u32,
    url: String,
    is_shared: bool,
}

/// The note of this process. Dropping it removes the file, unless another server has written it since.
pub struct RunningNote {
    dir: OwnedDir,
    file: String,
    at: SocketAddr,
}

/// A running server of a project.
pub struct Running {
    root: PathBuf,
    note: Note,
}

/// Returns the name of the note about the server of a project.
fn file_of(root: &Path) -> String {
    format!("server-{:016x}.json", xxh3_64(root.as_os_str().as_encoded_bytes()))
}

fn read(dir: &OwnedDir, file: &str) -> Option<Note> {
    serde_json::from_str(&dir.open().ok()?.read_text(file, MAX_BYTES).ok()?).ok()
}

impl RunningNote {
    /// Notes that this process serves the project of `root` at `at`, in the user's state directory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(
        state: &Path,
        root: &Path,
        at: SocketAddr,
        access: &Access,
        given: Given,
    ) -> io::Result<Self> {
        let dir = OwnedDir::private(state)?;
        let file = file_of(root);
        let (key, prover) = (access.key(), access.prover().clone());
        let note = Note { at: reachable(at), pid: process::id(), key, prover, given };
        dir.make(PRIVATE_DIR)?.replace(&file, &serde_json::to_vec(&note)?, PRIVATE_FILE, true)?;
        Ok(Self { dir, file, at })
    }

    /// Returns the address that is noted.
    #[must_use]
    pub fn url(&self) -> String {
        page_address(self.at, "", None)
    }
}

impl Drop for RunningNote {
    fn drop(&mut self) {
        if read(&self.dir, &self.file).is_some_and(|note| note.pid == process::id()) {
            let _ = self.dir.open().and_then(|dir| dir.remove_file(&self.file));
        }
    }
}

impl Running {
    /// Returns the server of the project of `root`, if one runs.
    #[must_use]
    pub fn of(state: &Path, root: &Path) -> Option<Self> {
        let note = read(&OwnedDir::private(state).ok()?, &file_of(root))?;
        let running = Self { root: root.to_path_buf(), note };
        running.connect().ok().map(|_| running)
    }

    /// Checks that the server gives what a user asks for.
    ///
    /// # Errors
    /// When it does not. The message names the server and says how to end it.
    pub fn check(&self, asked: &RequestedServer) -> Result<(), InTheWay> {
        let Note { at, pid, given, key, .. } = &self.note;
        let names = |tools: &BTreeSet<String>| tools.iter().cloned().collect::<Vec<_>>().join(", ");
        let mut missing: Vec<(String, String)> = Vec::new();
        let mut miss = |asked: String, given: String| missing.push((asked, given));
        if let Some(address) = asked.address.filter(|address| *address != given.address) {
            miss(format!("the address {address}"), format!("on {}", given.address));
        }
        if let Some(port) = asked.port.filter(|port| ![0, given.port, at.port()].contains(port)) {
            miss(format!("port {port}"), format!("on port {}", at.port()));
        }
        if let Some(token) = &asked.token {
            if key.is_none() {
                miss("a token".into(), "without a token".into());
            } else if self.ask("GET", ABOUT, Some(token)).is_err() {
                miss("this token".into(), "with another token".into());
            }
        }
        if let Some(tools) = asked.tools.as_ref().filter(|tools| **tools != given.tools) {
            miss(format!("the tools {}", names(tools)), format!("with {}", names(&given.tools)));
        }
        if asked.read_only && !given.read_only {
            miss("--read-only".into(), "for calls that change something, too".into());
        }
        if asked.edit_trusted && !given.edit_trusted {
            miss("--edit-trusted-files".into(), "without it".into());
        }
        if asked.no_watch && given.follows {
            miss("--no-watch".into(), "and follows changes".into());
        }
        if missing.is_empty() {
            return Ok(());
        }
        let (asked, given): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        Err(InTheWay {
            root: self.root.clone(),
            asked: asked.join(" and "),
            given: given.join(" and "),
            pid: *pid,
            url: self.url(),
            is_shared: self.note.given.is_shared,
        })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn url(&self) -> String {
        page_address(self.note.at, "", None)
    }

    /// Returns the port that the server was to take and the one that it got, if they differ.
    #[must_use]
    pub fn other_port(&self) -> Option<(u16, u16)> {
        let (wanted, got) = (self.note.given.port, self.note.at.port());
        (wanted != 0 && wanted != got).then_some((wanted, got))
    }

    /// Returns the address of a view of the page, with a ticket if the server wants a token.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn page(&self, view: &str) -> io::Result<String> {
        let answer = self.ask("POST", TICKET, self.note.key.as_deref())?;
        let ticket = answer.get("ticket").and_then(Value::as_str);
        Ok(page_address(self.note.at, view, ticket))
    }

    /// Connects with the server, and returns the connection once the server has proved that the note
    /// is its own.
    fn connect(&self) -> io::Result<Connection> {
        let Note { at, prover, .. } = &self.note;
        let stream = TcpStream::connect_timeout(at, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut connection = Connection { at: *at, stream: BufReader::new(stream.take(MAX_BYTES)) };
        let challenge = random();
        let asked = format!("{CHALLENGE}: {challenge}\r\n");
        let (_, proof) = connection.exchange("GET", OPEN, &asked)?;
        if !proof.is_some_and(|proof| prover.is_proof(&challenge, &proof)) {
            return Err(io::Error::other("another program listens there"));
        }
        Ok(connection)
    }

    /// Sends a request with a token and returns the answer, which is JSON.
    fn ask(&self, method: &str, path: &str, token: Option<&str>) -> io::Result<Value> {
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let (body, _) = self.connect()?.exchange(method, path, &token.unwrap_or_default())?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// A connection with a server.
struct Connection {
    at: SocketAddr,
    stream: BufReader<io::Take<TcpStream>>,
}

impl Connection {
    /// Sends a request with further headers. Returns the body of the answer, and the proof in its
    /// headers.
    fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
    ) -> io::Result<(Vec<u8>, Option<String>)> {
        let Self { at, stream } = self;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n\
             Content-Length: 0\r\n{headers}\r\n"
        );
        stream.get_mut().get_mut().write_all(request.as_bytes())?;
        let mut line = || -> io::Result<String> {
            let mut line = String::new();
            match stream.read_line(&mut line)? {
                0 => Err(ErrorKind::UnexpectedEof.into()),
                _ => Ok(line.trim_end().to_string()),
            }
        };
        let status = line()?;
        let (mut length, mut proof) = (0, None);
        loop {
            let header = line()?;
            let Some((name, value)) = header.split_once(':') else { break };
            match name {
                _ if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
                _ if name.eq_ignore_ascii_case(PROOF) => proof = Some(value.trim().to_string()),
                _ => {}
            }
        }
        if status.split(' ').nth(1) != Some("200") {
            return Err(io::Error::other(format!("the server says {status}")));
        }
        let mut body = Vec::new();
        stream.take(length).read_to_end(&mut body)?;
        Ok((body, proof))
    }
}

/// Returns the address of a view of the page. A browser does not send the part with the ticket.
#[must_use]
pub fn page_address(at: SocketAddr, view: &str, ticket: Option<&str>) -> String {
    let ticket = ticket.map(|ticket| format!("#ticket={ticket}")).unwrap_or_default();
    format!("http://{}{view}{ticket}", reachable(at))
}

/// Returns where this machine reaches a server that listens on all of its addresses.
fn reachable(at: SocketAddr) -> SocketAddr {
    let ip = match at.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, at.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_server_on_all_addresses_is_on_this_machine() {
        for (at, address) in [
            ("0.0.0.0:7717", "http://127.0.0.1:7717/map#ticket=t"),
            ("[::]:7717", "http://[::1]:7717/map#ticket=t"),
            ("10.0.0.1:80", "http://10.0.0.1:80/map#ticket=t"),
        ] {
            assert_eq!(page_address(at.parse().unwrap(), "/map", Some("t")), address);
        }
    }
}
