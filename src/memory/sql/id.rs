//! The id of a database, by which its owner knows it again.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{MemoryStore, StorageError};

const ID: &str = "SELECT id FROM project";

impl MemoryStore {
    /// The id of a database that was just made; from now on [`claimed`] finds it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(in crate::memory) fn claim(&self) -> Result<String, StorageError> {
        self.read(|c| {
            // Into the database itself: `claimed` looks at nothing else.
            c.query_row("PRAGMA wal_checkpoint(FULL)", [], |_| Ok(()))?;
            c.query_row(ID, [], |r| r.get(0))
        })
    }
}

/// The id that a database has, if it is one. It is a stranger's as far as anybody knows: neither it nor what is beside it is changed.
pub(in crate::memory) fn claimed(path: &Path) -> Option<String> {
    let mut address = String::from("file:");
    for byte in std::path::absolute(path).ok()?.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => address.push(char::from(*byte)),
            byte => drop(write!(address, "%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags).ok()?;
    let id: String = connection.query_row(ID, [], |r| r.get(0)).ok()?;
    // It becomes the name of a file.
    (id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))).then_some(id)
}
