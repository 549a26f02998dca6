//! The spool holds memories that could not be stored in time, redacted, one a line. The next
//! process that opens the database stores them.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::capture::{CaptureError, MemoryCaptureService};
use super::folder::folder_of;
use super::redacted::RedactedMemory;
use super::{Memory, Session, StorageError};
use crate::dir::{Dir, FileKind, OpenMode, PRIVATE_FILE, Stat};

/// A larger spool is neither written nor read.
const MAX_BYTES: u64 = 64 << 20;
/// Limit of the file of lines that cannot be stored.
const MAX_BAD_BYTES: u64 = 4 << 20;
/// How often appending is tried while another process holds the lock, and the pause between.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// Appends a memory to the spool.
pub(super) fn append(spool: &Path, memory: Memory) -> io::Result<()> {
    let (memory, _) = RedactedMemory::of(memory);
    let mut line = serde_json::to_vec(&*memory)?;
    line.push(b'\n');
    let (folder, name) = folder_of(spool)?;
    let mut file = own(&folder, &name)?;
    let end = file.seek(SeekFrom::End(0))?;
    if end + line.len() as u64 > MAX_BYTES {
        let why = format!(
            "{}: it holds {} MB already, which no database has taken",
            spool.display(),
            MAX_BYTES >> 20
        );
        return Err(io::Error::other(why));
    }
    if end > 0 {
        // A crash may have cut off the last line; the new one must start on its own line.
        let mut last = [0];
        file.seek(SeekFrom::Start(end - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            line.insert(0, b'\n');
        }
    }
    file.write_all(&line).inspect_err(|_| {
        let _ = file.set_len(end);
    })
}

/// Opens and locks the spool, so that no other process takes it away before it is written.
fn own(folder: &Dir, name: &OsStr) -> io::Result<File> {
    for _ in 0..TRIES {
        let file = folder.file(name, OpenMode::Update, PRIVATE_FILE)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => return Ok(file),
            Ok(()) if is_named(&file, folder, name) => return Ok(file),
            Ok(()) => continue,
        }
        thread::sleep(PAUSE);
    }
    Err(io::Error::new(
        ErrorKind::WouldBlock,
        format!("{}: other processes kept it busy", folder.full(name).display()),
    ))
}

/// Returns whether the file still has this name.
fn is_named(file: &File, folder: &Dir, name: &OsStr) -> bool {
    matches!((Stat::of(file), folder.stat(name)), (Ok(own), Ok(Some(there))) if own.id == there.id)
}

/// Stores the spooled memories, including those of a process that died while it stored them.
/// Returns how many. Lines that the database refuses for now stay. A line that is not a memory, or
/// is too long, goes to the file `.bad` beside the spool, with a warning.
pub(super) fn drain(spool: &Path, capture: &MemoryCaptureService) -> Result<usize, CaptureError> {
    let unreadable = |cause| StorageError::Unreadable { path: spool.to_path_buf(), cause };
    let (folder, name) = match folder_of(spool) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
        opened => opened.map_err(unreadable)?,
    };
    let mut n = 0;
    for file in taken(&folder, &name).map_err(unreadable)? {
        n += drain_one(&folder, &name, &file, capture)?;
    }
    Ok(n)
}

fn drain_one(
    folder: &Dir,
    spool: &OsStr,
    name: &OsStr,
    capture: &MemoryCaptureService,
) -> Result<usize, CaptureError> {
    let unreadable = |cause| StorageError::Unreadable { path: folder.full(name), cause };
    let file = match folder.open_file(name) {
        // Another process was faster.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
        opened => opened.map_err(unreadable)?,
    };
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !is_named(&file, folder, name) {
        return Ok(0);
    }
    let bytes = folder.read(name, MAX_BYTES).map_err(unreadable)?;
    let (mut n, mut bad, mut at) = (0, Vec::new(), 0);
    let mut result = Ok(());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        match store(line, capture) {
            Ok(Ok(n_stored)) => n += n_stored,
            Ok(Err(why)) => bad.push((line, why)),
            Err(e) => {
                result = Err(e);
                break;
            }
        }
        at += line.len();
    }
    let mut left = Vec::new();
    if let Err(e) = keep_aside(folder, spool, &bad) {
        left.extend(bad.iter().flat_map(|(line, _)| *line));
        result = result.and(Err(unreadable(e).into()));
    }
    left.extend_from_slice(&bytes[at..]);
    let done = if left.is_empty() {
        folder.remove_file(name)
    } else {
        folder.replace(name, &left, PRIVATE_FILE, true)
    };
    // If the file cannot be written, its memories are stored again later, under the same ids.
    let _ = done.inspect_err(|e| tracing::debug!("{e}"));
    result.map(|()| n)
}

/// Stores the memory of a line. Returns how many there were, because a line may be blank, or why the
/// line can never be stored.
fn store(
    line: &[u8],
    capture: &MemoryCaptureService,
) -> Result<Result<usize, String>, CaptureError> {
    if line.trim_ascii().is_empty() {
        return Ok(Ok(0));
    }
    let memory: Memory = match serde_json::from_slice(line) {
        Ok(memory) => memory,
        Err(e) => return Ok(Err(e.to_string())),
    };
    if !memory.session_id.is_empty() && capture.store().session(&memory.session_id)?.is_none() {
        capture.store().put_session(&Session::begun(&memory.session_id, memory.created_at))?;
    }
    match capture.capture_of_hook(memory) {
        Ok(_) => Ok(Ok(1)),
        Err(CaptureError::EmptyContent) => Ok(Ok(0)),
        Err(CaptureError::StorageFailed(e @ StorageError::ContentTooLong { .. })) => {
            Ok(Err(e.to_string()))
        }
        Err(e) => Err(e),
    }
}

/// Moves lines that cannot be stored to a file for a person to look at.
fn keep_aside(folder: &Dir, spool: &OsStr, bad: &[(&[u8], String)]) -> io::Result<()> {
    let Some((_, why)) = bad.first() else { return Ok(()) };
    let mut name = spool.to_os_string();
    name.push(".bad");
    let mut file = folder.file(&name, OpenMode::Append, PRIVATE_FILE)?;
    let mut room = MAX_BAD_BYTES.saturating_sub(file.metadata()?.len());
    let mut n_dropped = 0;
    for (line, _) in bad {
        let line = [line.trim_ascii(), b"\n"].concat();
        match room.checked_sub(line.len() as u64) {
            Some(left) => {
                file.write_all(&line)?;
                room = left;
            }
            None => n_dropped += 1,
        }
    }
    let (from, to, n) = (folder.full(spool), folder.full(&name), bad.len());
    let dropped = if n_dropped > 0 {
        format!(", {n_dropped} of them not: it is full")
    } else {
        String::new()
    };
    tracing::warn!(
        "{}: of its lines {n} could not be stored ({why}); they are kept in {}{dropped}",
        from.display(),
        to.display()
    );
    Ok(())
}

/// Takes the spool files away from writers and opens them.
fn taken(folder: &Dir, spool: &OsStr) -> io::Result<Vec<std::ffi::OsString>> {
    match folder.stat(spool)? {
        Some(Stat { kind: FileKind::File, .. }) => {
            // A file that this process took before and could not store is not replaced.
            let mut own = spool.to_os_string();
            own.push(format!("-{}-{:016x}", std::process::id(), fastrand::u64(..)));
            match folder.rename(spool, &own) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        // Opening it gives the error.
        Some(_) => drop(folder.open_file(spool)?),
        None => {}
    }
    let mut start = spool.to_os_string();
    start.push("-");
    let is_taken = |name: &OsStr| name.as_encoded_bytes().starts_with(start.as_encoded_bytes());
    let mut all: Vec<_> = folder
        .list()?
        .into_iter()
        .filter(|(name, kind)| *kind == FileKind::File && is_taken(name))
        .map(|(n, _)| n)
        .collect();
    all.sort();
    Ok(all)
}
