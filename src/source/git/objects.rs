//! Reads many objects of a repository through one git process.
//!
//! A question about the past looks at dozens of versions of a file, and starting git for each of
//! them would take longer than reading it.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Instant;

use super::{SILENCE, check_repository, command, object_id};

/// Most bytes of an object; larger ones count as missing.
const MAX_OBJECT_BYTES: usize = 4 << 20;
/// Most bytes that one reader reads.
const MAX_TOTAL_BYTES: usize = 256 << 20;
/// Number of parts of the output that wait to be read, of 64 KiB each.
const MAX_PARTS: usize = 16;

/// An object of git.
pub(super) struct Object {
    pub(super) id: String,
    /// `blob`, `commit`, `tree` or `tag`.
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

/// A git process that prints objects. It ends with this value.
pub(super) struct Objects {
    child: Child,
    stdin: Option<ChildStdin>,
    parts: Receiver<Vec<u8>>,
    /// What was received and not yet read, from `at` on.
    buffer: Vec<u8>,
    at: usize,
    n_bytes: usize,
    deadline: Instant,
}

impl Objects {
    /// Starts git in a tree. After `deadline`, nothing is read any more.
    ///
    /// # Errors
    /// When there is no git, or no repository that may be asked.
    pub(super) fn open(root: &Path, deadline: Instant) -> io::Result<Self> {
        check_repository(root)?;
        let mut command = command(root);
        command.args(["cat-file", "--batch"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (said, parts) = sync_channel(MAX_PARTS);
        let stdin = child.stdin.take();
        if let Some(mut stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut part = vec![0; 1 << 16];
                while let Ok(n @ 1..) = io::Read::read(&mut stdout, &mut part) {
                    if said.send(part[..n].to_vec()).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { child, stdin, parts, buffer: Vec::new(), at: 0, n_bytes: 0, deadline })
    }

    /// Returns the object of a name, such as an id or `<commit>:<path>`; `None` if the repository
    /// does not have it, or it is too large.
    ///
    /// # Errors
    /// When git ends or the time is over.
    pub(super) fn get(&mut self, name: &str) -> io::Result<Option<Object>> {
        if name.contains(['\n', '\0']) {
            return Ok(None);
        }
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{name}\n").as_bytes())?;
        stdin.flush()?;
        let head = loop {
            if let Some(n) = memchr::memchr(b'\n', &self.buffer[self.at..]) {
                let line = String::from_utf8_lossy(&self.buffer[self.at..self.at + n]).into_owned();
                self.at += n + 1;
                break line;
            }
            self.receive()?;
        };
        // `<id> <kind> <size>`, or `<name> missing`; a name can hold anything.
        let mut words = head.rsplitn(3, ' ');
        let (size, kind, id) = (words.next(), words.next(), words.next());
        let size = size.and_then(|size| size.parse::<usize>().ok());
        let (Some(id), Some(kind), Some(size)) = (id.and_then(object_id), kind, size) else {
            return Ok(None);
        };
        let kind = kind.to_string();
        // The text ends with a line feed that does not belong to it.
        while self.buffer.len() - self.at < size.saturating_add(1) {
            if size > MAX_OBJECT_BYTES {
                // Only the end of the object matters then.
                let left = size.saturating_add(1) - (self.buffer.len() - self.at);
                self.buffer.clear();
                self.at = 0;
                self.skip(left)?;
                return Ok(None);
            }
            self.receive()?;
        }
        let bytes = self.buffer[self.at..self.at + size].to_vec();
        self.at += size + 1;
        Ok(Some(Object { id, kind, bytes }).filter(|_| size <= MAX_OBJECT_BYTES))
    }

    fn skip(&mut self, mut n: usize) -> io::Result<()> {
        while n > self.buffer.len() {
            n -= self.buffer.len();
            self.buffer.clear();
            self.receive()?;
        }
        self.at = n;
        Ok(())
    }

    /// Waits for the next part of the output.
    fn receive(&mut self) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now()).min(SILENCE);
        match self.parts.recv_timeout(left) {
            Ok(part) => {
                self.n_bytes += part.len();
                if self.n_bytes > MAX_TOTAL_BYTES {
                    return Err(io::Error::other("git printed too much"));
                }
                self.buffer.drain(..std::mem::take(&mut self.at));
                self.buffer.extend(part);
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => Err(io::Error::other("git took too long")),
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("git ended")),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Git ends when its input does, unless something blocks it.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
