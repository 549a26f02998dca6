//! The reasons for which an operation of the database fails.

use std::io;
use std::path::{Path, PathBuf};

use super::super::MAX_CONTENT_CHARS;
use crate::sqlite;

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error(
        "the memories in .cortex/memory.db came with this clone, so they are not shown; a user who trusts their author adopts them with `cortex memory import .cortex/memory.db`, and removing the file ends this message"
    )]
    Foreign,
    #[error(
        "nothing is remembered: there is no directory to note whose memories these are; set HOME or XDG_STATE_HOME"
    )]
    NoState,
    #[error(transparent)]
    Place(#[from] std::io::Error),
    #[error("{}: cannot be opened: {cause}", path.display())]
    OpenFailed { path: PathBuf, cause: rusqlite::Error },
    #[error("{}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{}: it was written by a newer cortex (version {version} of the database, {known} is known here): install that one", path.display())]
    TooNew { path: PathBuf, version: usize, known: usize },
    #[error("{}: the database of memories is damaged: {why}; `cortex memory restore` puts the last backup in its place, and keeps the damaged file", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error(
        "{}: the database of memories is gone, and there was one (beside it: {trace}); `cortex memory restore` brings the last backup back; to begin anew, move those files away",
        path.display()
    )]
    Lost { path: PathBuf, trace: String },
    #[error("{}: another process kept it busy", path.display())]
    Busy { path: PathBuf },
    #[error("{}: cannot be read: {cause}", path.display())]
    ReadFailed { path: PathBuf, cause: rusqlite::Error },
    #[error("{}: cannot be written: {cause}", path.display())]
    WriteFailed { path: PathBuf, cause: rusqlite::Error },
    #[error("{}: it can be read, but not written: {why}; make room on the disk, or let your user write to its folder", path.display())]
    ReadOnly { path: PathBuf, why: String },
    #[error("a memory holds at most {MAX_CONTENT_CHARS} characters, and this one has {n_chars}")]
    ContentTooLong { n_chars: usize },
    #[error("memory {id}: what is stored of it cannot be understood: {message}")]
    SerializationFailed { id: String, message: String },
}

pub(super) fn read_error(path: &Path, cause: rusqlite::Error) -> StorageError {
    let path = path.to_path_buf();
    match &cause {
        e if sqlite::is_busy(e) => StorageError::Busy { path },
        e if sqlite::is_damaged(e) => StorageError::Damaged { path, why: cause.to_string() },
        _ => StorageError::ReadFailed { path, cause },
    }
}

pub(super) fn write_error(path: &Path, cause: rusqlite::Error) -> StorageError {
    match read_error(path, cause) {
        StorageError::ReadFailed { path, cause } if sqlite::is_refused_by_disk(&cause) => {
            StorageError::ReadOnly { path, why: cause.to_string() }
        }
        StorageError::ReadFailed { path, cause } => StorageError::WriteFailed { path, cause },
        e => e,
    }
}
