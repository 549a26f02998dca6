//! Checks, counts and copies whole databases.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use super::error::{read_error, write_error};
use super::rows::{counter, time};
use super::schema::MIGRATIONS;
use super::{MemoryStore, NOT_OURS, StorageError, there};
use crate::sqlite;

/// Statistics of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    pub memories: usize,
    pub sessions: usize,
    /// Number of memories by [`MemorySource::name`](crate::memory::MemorySource::name).
    pub sources: BTreeMap<String, usize>,
    pub pinned: usize,
    /// Number of secrets that were removed before storing.
    pub redacted: usize,
    /// Number of vectors by embedder.
    pub vectors: BTreeMap<String, usize>,
    /// Size of the database in bytes.
    pub bytes: u64,
}

impl MemoryStore {
    /// Returns how many secrets were removed so far.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn redacted(&self) -> Result<usize, StorageError> {
        self.read(n_redacted)
    }

    /// Returns statistics of the database.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn stats(&self) -> Result<Stats, StorageError> {
        let by_name = |c: &Connection, sql: &str| {
            c.prepare(sql)?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect::<rusqlite::Result<BTreeMap<String, usize>>>()
        };
        let mut stats = self.read(|c| {
            let count = |sql: &str| c.query_row(sql, [], |r| r.get(0));
            Ok(Stats {
                memories: count("SELECT count(*) FROM memories")?,
                sessions: count("SELECT count(*) FROM sessions")?,
                sources: by_name(c, "SELECT source_name, count(*) FROM memories GROUP BY 1")?,
                pinned: count("SELECT count(*) FROM memories WHERE pinned")?,
                redacted: n_redacted(c)?,
                vectors: by_name(c, "SELECT embedder, count(*) FROM vectors GROUP BY 1")?,
                bytes: 0,
            })
        })?;
        stats.bytes = self.bytes()?;
        Ok(stats)
    }

    /// Copies the database in its present state into an empty file.
    pub(in crate::memory) fn copy_to(&self, to: &Path) -> Result<(), StorageError> {
        self.read(|c| sqlite::copy(c, to))
    }

    /// Returns the size of the database in bytes.
    ///
    /// # Errors
    /// When the file does not exist.
    pub fn bytes(&self) -> Result<u64, StorageError> {
        Ok(there(&self.directory, &self.name)?.bytes)
    }

    /// Checks the database and returns a summary of its content.
    pub(in crate::memory) fn examine(&self) -> Result<Examined, StorageError> {
        examined(&self.connection()?.connection, &self.path)
    }

    /// Lets SQLite check the whole database: pages, indexes and foreign keys.
    ///
    /// # Errors
    /// When a check fails or the database cannot be read.
    pub fn check_integrity(&self) -> Result<(), StorageError> {
        let lost = "SELECT 'a row of ' || \"table\" || ' refers to nothing' FROM pragma_foreign_key_check LIMIT 1";
        let found: Option<String> = self.read(|c| {
            match c.query_row("PRAGMA integrity_check(1)", [], |r| r.get::<_, String>(0))? {
                ok if ok == "ok" => c.query_row(lost, [], |r| r.get(0)).optional(),
                why => Ok(Some(why)),
            }
        })?;
        found.map_or(Ok(()), |why| Err(StorageError::Damaged { path: self.path.clone(), why }))
    }
}

/// Summary of an undamaged database.
pub(in crate::memory) struct Examined {
    pub memories: usize,
    /// When the newest memory was made.
    pub newest: Option<DateTime<Utc>>,
}

/// Checks a database that no process has open, such as a backup.
pub(in crate::memory) fn examine(path: &Path) -> Result<Examined, StorageError> {
    examined(&source(path)?, path)
}

/// Returns whether a database that no process has open holds one of these memories.
pub(in crate::memory) fn holds_any(path: &Path, ids: &[Uuid]) -> Result<bool, StorageError> {
    let c = source(path)?;
    let holds = |id: &Uuid| {
        c.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?.exists([id.to_string()])
    };
    ids.iter().try_fold(false, |any, id| Ok(any || holds(id)?)).map_err(|e| read_error(path, e))
}

/// Copies a database that no process has open into an empty file.
pub(in crate::memory) fn copy(from: &Path, to: &Path) -> Result<(), StorageError> {
    sqlite::copy(&source(from)?, to).map_err(|e| write_error(to, e))
}

fn source(path: &Path) -> Result<Connection, StorageError> {
    sqlite::open_source(path).map_err(|e| read_error(path, e))
}

fn examined(c: &Connection, path: &Path) -> Result<Examined, StorageError> {
    let reading = |e| read_error(path, e);
    let damaged = |why| Err(StorageError::Damaged { path: path.to_path_buf(), why });
    let (version, known) = (sqlite::version(c).map_err(reading)?, MIGRATIONS.len());
    if version > known {
        return Err(StorageError::TooNew { path: path.to_path_buf(), version, known });
    }
    if version == 0 {
        return damaged(NOT_OURS.into());
    }
    if let Some(why) = sqlite::damage(c).map_err(reading)? {
        return damaged(why);
    }
    let found = |r: &Row| {
        Ok(Examined { memories: r.get(0)?, newest: r.get::<_, Option<i64>>(1)?.map(time) })
    };
    c.query_row("SELECT count(*), max(created_at) FROM memories", [], found).map_err(reading)
}

fn n_redacted(c: &Connection) -> rusqlite::Result<usize> {
    Ok(usize::try_from(counter(c, "redacted")?).unwrap_or_default())
}
