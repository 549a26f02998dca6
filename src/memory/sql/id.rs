//! The id of a database, by which its owner knows it again.

use std::path::Path;

use super::{MemoryStore, StorageError};
use crate::sqlite;

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

/// The id of a database; `None`: it has none. It is a stranger's as far as anybody knows: neither
/// it nor what is beside it is changed.
///
/// # Errors
/// When it is damaged: then it had an id, perhaps.
pub(in crate::memory) fn claimed(path: &Path) -> Result<Option<String>, StorageError> {
    let damaged = |why: String| StorageError::Damaged { path: path.to_path_buf(), why };
    if std::fs::symlink_metadata(path).is_ok_and(|m| m.len() == 0) {
        return Err(damaged("the file is empty".into()));
    }
    let id =
        sqlite::open_unchanging(path).and_then(|c| c.query_row(ID, [], |r| r.get::<_, String>(0)));
    match id {
        Err(e) if sqlite::is_damaged(&e) => Err(damaged(e.to_string())),
        // It becomes the name of a file.
        id => Ok(id.ok().filter(|id| {
            id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })),
    }
}
