//! Reads many objects of a repository through one git process.
//!
//! A question about the past looks at dozens of versions of a file, and starting git for each of
//! them would take longer than reading it.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Instant;

use super::{SILENCE, check_repository, command, object_id, output, read_parts};

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

/// Returns the texts of blobs in the order of their names, such as an id or `<commit>:<path>`. `None`
/// where there is no blob, or no room.
///
/// # Errors
/// When git does not answer.
pub(super) fn texts(root: &Path, names: &[String]) -> io::Result<Vec<Option<String>>> {
    let text = |content: Vec<u8>| String::from_utf8_lossy(&content).into_owned();
    Ok(contents(root, names)?.into_iter().map(|content| content.map(text)).collect())
}

/// Does the same for the bytes of blobs.
pub(super) fn contents(root: &Path, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
    let is_name = |name: &&String| !name.contains('\n');
    let input: String = names.iter().filter(is_name).flat_map(|name| [name, "\n"]).collect();
    if input.is_empty() {
        return Ok(vec![None; names.len()]);
    }
    let mut command = command(root);
    let out = output(command.args(["cat-file", "--batch"]), input.into_bytes())?;
    let mut rest = &out.stdout[..];
    // `<id> <kind> <size>`, a line feed, the content, a line feed; or the name and why there is none.
    let mut next = || {
        let end = memchr::memchr(b'\n', rest)?;
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let mut words = head.split(' ');
        let (id, kind, size) = (words.next(), words.next(), words.next());
        let size: usize = id.and_then(object_id).and(size)?.parse().ok()?;
        let content = rest.get(..size);
        // What was cut holds no further object.
        rest = rest.get(size + 1..).unwrap_or_default();
        let content = content?;
        (kind == Some("blob")).then(|| content.to_vec())
    };
    Ok(names.iter().map(|name| if is_name(&name) { next() } else { None }).collect())
}

/// Returns the id of the empty tree, in the hash algorithm of `like`.
pub(super) fn empty_tree(like: &str) -> &'static str {
    match like.len() {
        64 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        _ => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    }
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
        if let Some(stdout) = child.stdout.take() {
            read_parts(stdout, move |part| said.send(part).is_ok());
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::git;
    use super::*;

    /// A folder or nothing among the names leaves the texts after it in their places.
    #[test]
    fn texts_belong_to_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        fs::create_dir(root.join("folder")).unwrap();
        fs::write(root.join("folder/a b.rs"), "one\ntwo\n").unwrap();
        fs::write(root.join("c.rs"), "three").unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "x"]);
        let names = ["folder", "folder/a b.rs", "gone.rs", "c.rs\nHEAD:./c.rs", "c.rs"];
        let names = names.map(|name| format!("HEAD:./{name}"));
        let found = texts(root, &names).unwrap();
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, [None, Some("one\ntwo\n"), None, None, Some("three")]);
        assert!(texts(root, &[]).unwrap().is_empty());
    }
}
