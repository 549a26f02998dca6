//! The database of memories.
//! Every operation is one transaction, and several processes may have the database open. Every
//! change of a memory takes the next change number, so a reader can ask for everything after the
//! last number that it knows.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, Params, Row, Transaction};

use super::RedactedMemory;
use super::folder::{folder_of, trace};
use crate::chunk::{Fingerprint, Quantized};
use crate::dir::{Dir, DirId, FileKind, PRIVATE_FILE, Stat};
use crate::platform::set_mode;
use crate::sqlite::{self, Existing};

mod error;
mod events;
mod examine;
mod id;
mod read;
mod rows;
mod schema;
mod sessions;
mod vectors;
mod write;

pub use error::StorageError;
use error::{read_error, write_error};
pub(super) use events::{Noted, Recorded};
pub use examine::Stats;
pub(super) use examine::{copy, examine, holds_any};
pub(super) use id::claimed;
pub use read::Select;
use schema::MIGRATIONS;

/// The message for a database without our tables.
const NOT_OURS: &str = "it holds nothing that cortex wrote";
/// How long an operation waits for another process's lock.
const BUSY: Duration = Duration::from_secs(5);

/// The memories of a project. If another file replaces the open database (a restored backup), the
/// next operation opens the new file.
#[derive(Debug)]
pub struct MemoryStore {
    open: Mutex<OpenDatabase>,
    directory: Dir,
    name: OsString,
    path: PathBuf,
    busy: Duration,
    /// The linked working tree whose changes and git logs this process records; empty for the main
    /// one.
    worktree: String,
}

/// The open database and the state of its file when it was opened.
#[derive(Debug)]
struct OpenDatabase {
    connection: Connection,
    file: DirId,
    /// Why the database is read-only, if it is.
    read_only: Option<String>,
    /// The file's modification time, if SQLite opened the file as immutable.
    unchanged_since: Option<SystemTime>,
}

/// A vector of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    pub embedder: String,
    /// Fingerprint of the passage that was embedded.
    pub passage: Fingerprint,
    pub vector: Quantized,
}

/// A memory as it is stored, with its vectors.
pub(super) type Stored = (RedactedMemory, Vec<Vector>);

impl MemoryStore {
    /// Opens the database, or creates it if none ever existed.
    ///
    /// # Errors
    /// When it cannot be opened, is damaged, is not a memory database, was written by a newer
    /// version, or is missing although a backup shows that it existed.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::open_within(path, BUSY)
    }

    /// Opens the database. Its operations wait at most `busy` for a lock of another process.
    ///
    /// # Errors
    /// As [`MemoryStore::open`].
    pub fn open_within(path: &Path, busy: Duration) -> Result<Self, StorageError> {
        let unreadable = |cause| StorageError::Unreadable { path: path.to_path_buf(), cause };
        let (directory, name) = folder_of(path).map_err(unreadable)?;
        if directory.stat(&name).map_err(unreadable)?.is_none() {
            if let Some(trace) = trace(&directory) {
                return Err(StorageError::Lost { path: path.to_path_buf(), trace });
            }
            make(&directory, &name, busy)?;
        }
        let open = OpenDatabase::new(&directory, &name, busy)?;
        let (path, worktree) = (path.to_path_buf(), String::new());
        Ok(Self { open: Mutex::new(open), path, directory, name, busy, worktree })
    }

    /// Records the changes of a linked working tree, which has the rest in common with its siblings.
    pub(super) fn of_worktree(self, name: &str) -> Self {
        Self { worktree: name.into(), ..self }
    }

    /// Path of the database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why the database is read-only, if it is.
    #[must_use]
    pub fn read_only(&self) -> Option<String> {
        self.open.lock().read_only.clone()
    }

    /// Returns the connection, after opening the database again if its file was replaced.
    fn connection(&self) -> Result<MutexGuard<'_, OpenDatabase>, StorageError> {
        // A panic within a transaction rolled it back when the transaction was dropped.
        let mut open = self.open.lock();
        if !open.is_of(&there(&self.directory, &self.name)?) {
            *open = OpenDatabase::new(&self.directory, &self.name, self.busy)?;
        }
        Ok(open)
    }

    /// Runs `f` in a write transaction: all of it is applied, or nothing.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        let mut open = self.connection()?;
        if let Some(why) = &open.read_only {
            return Err(StorageError::ReadOnly { path: self.path.clone(), why: why.clone() });
        }
        sqlite::write(&mut open.connection, work).map_err(|e| write_error(&self.path, e))
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        work(&self.connection()?.connection).map_err(|e| read_error(&self.path, e))
    }

    /// Returns what `read` makes of each row of a query.
    fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StorageError> {
        self.read(|c| c.prepare_cached(sql)?.query_map(values, read)?.collect())
    }

    /// Returns what `read` makes of the first row of a query, if there is one.
    fn row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StorageError> {
        self.read(|c| c.prepare_cached(sql)?.query_row(values, read).optional())
    }
}

impl OpenDatabase {
    fn new(directory: &Dir, name: &OsString, busy: Duration) -> Result<Self, StorageError> {
        let (stat, path) = (there(directory, name)?, directory.full(name));
        let Existing { mut connection, read_only, is_immutable } =
            sqlite::open_existing(&path, busy).map_err(|source| {
                match read_error(&path, source) {
                    StorageError::ReadFailed { path, cause } => {
                        StorageError::OpenFailed { path, cause }
                    }
                    e => e,
                }
            })?;
        let known = MIGRATIONS.len();
        match sqlite::version(&connection).map_err(|e| read_error(&path, e))? {
            there if there == known => {}
            version if version > known => {
                return Err(StorageError::TooNew { path, version, known });
            }
            0 => return Err(StorageError::Damaged { path, why: NOT_OURS.into() }),
            there if there < known && read_only.is_some() => {
                let why = format!(
                    "it was written by an older cortex, and has to be brought up to date ({})",
                    read_only.unwrap_or_default()
                );
                return Err(StorageError::ReadOnly { path, why });
            }
            _ => bring_up_to_date(&path, &mut connection)?,
        }
        // Deleted content is overwritten.
        connection.execute_batch("PRAGMA secure_delete = ON").map_err(|e| read_error(&path, e))?;
        if stat.mode & 0o077 != 0 && read_only.is_none() {
            // A file of another owner keeps its permissions.
            let _ = directory.open_file(name).and_then(|file| set_mode(&file, PRIVATE_FILE));
        }
        Ok(Self {
            connection,
            file: stat.id,
            read_only,
            unchanged_since: is_immutable.then_some(stat.modified),
        })
    }

    /// Returns whether `there` is the file that was opened, unchanged.
    fn is_of(&self, there: &Stat) -> bool {
        self.file == there.id && self.unchanged_since.is_none_or(|at| at == there.modified)
    }
}

/// Returns the file's state. An empty file is an error, because SQLite would read it as an empty
/// database.
fn there(directory: &Dir, name: &OsString) -> Result<Stat, StorageError> {
    let path = directory.full(name);
    let unreadable = |cause| StorageError::Unreadable { path: path.clone(), cause };
    match directory.stat(name).map_err(unreadable)? {
        Some(Stat { kind: FileKind::File, bytes: 0, .. }) => {
            Err(StorageError::Damaged { path, why: "the file is empty".into() })
        }
        Some(stat @ Stat { kind: FileKind::File, .. }) => Ok(stat),
        Some(Stat { kind, .. }) => {
            let why =
                format!("it is {}, and only a regular file is opened; remove it", kind.describe());
            Err(unreadable(io::Error::other(why)))
        }
        None => Err(unreadable(io::Error::new(
            io::ErrorKind::NotFound,
            "the database of memories is no longer there",
        ))),
    }
}

/// Creates the database under another name and renames it, so that no process takes an incomplete
/// database for one that was emptied.
fn make(directory: &Dir, name: &OsString, busy: Duration) -> Result<(), StorageError> {
    let unreadable = |cause| StorageError::Unreadable { path: directory.full(name), cause };
    let (aside, _) = directory.unfinished(PRIVATE_FILE).map_err(unreadable)?;
    let path = directory.full(&aside);
    let made = sqlite::open(&path, busy)
        .map_err(|e| write_error(&path, e))
        .and_then(|mut new| bring_up_to_date(&path, &mut new));
    let named = made.and_then(|()| match directory.hard_link(&aside, name) {
        Ok(()) => Ok(()),
        // Another process was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no hard links.
        Err(_) => directory.rename(&aside, name).map_err(unreadable),
    });
    let _ = directory.remove_file(&aside);
    named
}

/// Migrates an empty or older database to this version of the schema.
pub(super) fn bring_up_to_date(
    path: &Path,
    connection: &mut Connection,
) -> Result<(), StorageError> {
    let known = MIGRATIONS.len();
    let now =
        sqlite::migrate(connection, known, |there| MIGRATIONS.get(there..).unwrap_or_default());
    match now.map_err(|e| write_error(path, e))? {
        version if version > known => {
            Err(StorageError::TooNew { path: path.to_path_buf(), version, known })
        }
        _ => Ok(()),
    }
}
