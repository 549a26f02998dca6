//! The id of a database. The record in the user's state directory holds the same id.

use std::path::Path;

use super::{MemoryStore, StorageError};
use crate::sqlite;

const ID: &str = "SELECT id FROM project";

impl MemoryStore {
    /// Gives a new database an id, which [`claimed`] reads. Returns the id.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub(in crate::memory) fn claim(&self) -> Result<String, StorageError> {
        self.read(|c| {
            // `claimed` reads the database file alone, without its log.
            c.query_row("PRAGMA wal_checkpoint(FULL)", [], |_| Ok(()))?;
            c.query_row(ID, [], |r| r.get(0))
        })
    }
}

/// Returns the id of the database at `path`, or `None` if it has none. A database without an id
/// counts as foreign: neither it nor the files beside it are changed.
///
/// # Errors
/// When the database is damaged. It may then have had an id.
#[expect(clippy::disallowed_methods, reason = "SQLite opens by path, and no link")]
pub(in crate::memory) fn claimed(path: &Path) -> Result<Option<String>, StorageError> {
    let damaged = |why: String| StorageError::Damaged { path: path.to_path_buf(), why };
    if std::fs::symlink_metadata(path).is_ok_and(|m| m.len() == 0) {
        return Err(damaged("the file is empty".into()));
    }
    let id =
        sqlite::open_unchanging(path).and_then(|c| c.query_row(ID, [], |r| r.get::<_, String>(0)));
    match id {
        Err(e) if sqlite::is_damaged(&e) => Err(damaged(e.to_string())),
        // The id becomes a file name.
        id => Ok(id.ok().filter(|id| {
            id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })),
    }
}
