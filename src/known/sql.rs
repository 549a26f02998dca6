//! The database of what is known by content.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::packed::{Key, Packed};
use crate::sqlite;

/// How long an operation waits for another process. Without the store, a file is only parsed.
const BUSY: Duration = Duration::from_secs(1);
const VERSION: usize = 1;
const SCHEMA: &str = "
    CREATE TABLE entries(key TEXT NOT NULL UNIQUE, used INTEGER NOT NULL, value BLOB NOT NULL);
    CREATE INDEX entries_by_use ON entries(used);
";
/// Values that were not used for so many days are removed.
const KEEP_DAYS: i64 = 90;

/// The open database.
#[derive(Debug)]
pub(super) struct Entries {
    connection: Connection,
    path: PathBuf,
    max_bytes: u64,
}

impl Entries {
    /// Opens the database. A damaged one is replaced by an empty one.
    pub(super) fn open(path: &Path, max_bytes: u64) -> Result<Self> {
        let connection = match open(path, max_bytes) {
            Err(e) if sqlite::is_damaged(&e) => {
                sqlite::remove(path)?;
                open(path, max_bytes)?
            }
            opened => opened?,
        };
        Ok(Self { connection, path: path.to_path_buf(), max_bytes })
    }

    /// Replaces the database by an empty one.
    pub(super) fn renew(&mut self) -> Result<()> {
        sqlite::remove(&self.path)?;
        self.connection = open(&self.path, self.max_bytes)?;
        Ok(())
    }

    /// Returns the day on which an entry was last used, and its value.
    pub(super) fn get(&self, key: &Key) -> Result<Option<(i64, Vec<u8>)>> {
        self.connection
            .prepare_cached("SELECT used, value FROM entries WHERE key = ?1")?
            .query_row([key], |r| Ok((r.get(0)?, r.get(1)?)))
            .optional()
    }

    /// Writes entries, and the day of those that were `used`.
    pub(super) fn put(&mut self, new: &[(Key, Packed)], used: &[Key], today: i64) -> Result<()> {
        sqlite::write(&mut self.connection, |t| {
            let mut insert = t.prepare_cached(
                "INSERT INTO entries(key, used, value) VALUES(?1, ?2, ?3)
                 ON CONFLICT(key) DO UPDATE SET used = excluded.used, value = excluded.value",
            )?;
            for (key, Packed(value)) in new {
                insert.execute(params![key, today, value])?;
            }
            let mut touch = t.prepare_cached("UPDATE entries SET used = ?2 WHERE key = ?1")?;
            for key in used {
                touch.execute(params![key, today])?;
            }
            Ok(())
        })
    }

    /// Removes what was not used for long; and if the database is nearly full, the quarter that was
    /// not used for longest.
    pub(super) fn collect(&mut self, today: i64, max_bytes: u64) -> Result<()> {
        let number = |sql: &str| self.connection.query_row(sql, [], |r| r.get::<_, u64>(0));
        let (pages, free, page) = (
            number("PRAGMA page_count")?,
            number("PRAGMA freelist_count")?,
            number("PRAGMA page_size")?,
        );
        let is_full = pages.saturating_sub(free) * page > max_bytes / 8 * 7;
        let oldest = if is_full { number("SELECT count(*) FROM entries")? / 4 } else { 0 };
        let first = self
            .connection
            .query_row("SELECT min(used) FROM entries", [], |r| r.get::<_, Option<i64>>(0))?;
        // Most runs have nothing to remove, and wait for no second transaction.
        if oldest == 0 && first.is_none_or(|day| day >= today - KEEP_DAYS) {
            return Ok(());
        }
        sqlite::write(&mut self.connection, |t| {
            t.execute("DELETE FROM entries WHERE used < ?1", [today - KEEP_DAYS])?;
            t.execute(
                "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY used, rowid LIMIT ?1)",
                [oldest],
            )?;
            Ok(())
        })
    }
}

fn open(path: &Path, max_bytes: u64) -> Result<Connection> {
    let mut connection = sqlite::open(path, BUSY)?;
    sqlite::migrate(&mut connection, VERSION, |there| if there == 0 { &[SCHEMA] } else { &[] })?;
    // SQLite refuses to write more pages. The cache of pages holds those of the index over keys. No
    // run waits for the disk: what a crash of the system damages is made anew.
    let page: u64 = connection.query_row("PRAGMA page_size", [], |r| r.get(0))?;
    connection.execute_batch(&format!(
        "PRAGMA max_page_count = {}; PRAGMA cache_size = -4096; PRAGMA synchronous = OFF;",
        (max_bytes / page.max(1)).max(64)
    ))?;
    Ok(connection)
}
