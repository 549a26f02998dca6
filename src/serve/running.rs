//! Which servers of this user run, for `cortex open`.
//!
//! Each notes its address in a directory that only this user can read. The file in `.cortex` may have
//! come with a clone, so it proves nothing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::access::Access;
use super::http::TICKET;
use crate::dir::OwnedDir;

const PRIVATE_FILE: u32 = 0o600;
/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer notes and answers are not read, in bytes.
const MAX_BYTES: u64 = 1 << 16;

/// What a server notes of itself.
#[derive(Serialize, Deserialize)]
struct Note {
    at: SocketAddr,
    pid: u32,
    /// As good as the token, while the server runs.
    key: Option<String>,
}

/// The note of this process. Dropping it removes the file, unless another server has written it since.
pub struct RunningNote {
    dir: OwnedDir,
    file: String,
}

/// A running server of a project.
pub struct Running {
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
    pub fn write(state: &Path, root: &Path, at: SocketAddr, access: &Access) -> io::Result<Self> {
        let dir = OwnedDir::private(state)?;
        let file = file_of(root);
        let note = Note { at: reachable(at), pid: process::id(), key: access.key() };
        dir.make(0o700)?.replace(&file, &serde_json::to_vec(&note)?, PRIVATE_FILE, true)?;
        Ok(Self { dir, file })
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
        let running = Self { note };
        // After a crash another program may have the port.
        let about = running.ask("GET", "/api/about").ok()?;
        let is_it = about.get("root").and_then(Value::as_str) == Some(&*root.to_string_lossy());
        is_it.then_some(running)
    }

    /// Returns the address of a view of the page, with a ticket if the server wants a token.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn page(&self, view: &str) -> io::Result<String> {
        let answer = self.ask("POST", TICKET)?;
        let ticket = answer.get("ticket").and_then(Value::as_str);
        Ok(page_address(self.note.at, view, ticket))
    }

    /// Sends a request and returns the answer, which is JSON.
    fn ask(&self, method: &str, path: &str) -> io::Result<Value> {
        let Note { at, key, .. } = &self.note;
        let mut stream = TcpStream::connect_timeout(at, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let key = key.as_ref().map(|key| format!("Authorization: Bearer {key}\r\n"));
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n\
             Content-Length: 0\r\nConnection: close\r\n{}\r\n",
            key.unwrap_or_default()
        )?;
        let mut answer = BufReader::new(stream.take(MAX_BYTES));
        let (mut status, mut header) = (String::new(), String::new());
        answer.read_line(&mut status)?;
        if status.split(' ').nth(1) != Some("200") {
            return Err(io::Error::other(format!("the server says {}", status.trim_end())));
        }
        while header.trim_end() != "" || header.is_empty() {
            header.clear();
            if answer.read_line(&mut header)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        // The answer has a length and the connection ends, so the rest is the body.
        let mut body = Vec::new();
        answer.read_to_end(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
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
