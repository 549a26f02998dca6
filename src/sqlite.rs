//! How every SQLite database of ours is opened, made and changed. What is in it, its module knows (`*/sql.rs`).

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Result, Transaction, TransactionBehavior};

/// How often it is tried again what SQLite does not wait for.
const POLL: Duration = Duration::from_millis(2);

/// Opens a database that several processes use; an operation waits so long at most for another process's.
///
/// # Errors
/// When it cannot be opened or is none.
pub fn open(path: &Path, busy: Duration) -> Result<Connection> {
    set_up(Connection::open(path)?, busy)
}

/// The same, for a database that must not be a link: what its directory is called may lead over links.
///
/// # Errors
/// As [`open`].
pub fn open_unlinked(path: &Path, busy: Duration) -> Result<Connection> {
    let canonical = path.parent().and_then(|directory| std::fs::canonicalize(directory).ok());
    let path = canonical.zip(path.file_name()).map_or_else(|| path.to_path_buf(), |(directory, name)| directory.join(name));
    set_up(Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?, busy)
}

fn set_up(connection: Connection, busy: Duration) -> Result<Connection> {
    connection.busy_timeout(busy)?;
    connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;")?;
    Ok(connection)
}

/// Which version of its schema a database has; 0: none yet.
///
/// # Errors
/// When it cannot be read.
pub fn version(connection: &Connection) -> Result<usize> {
    connection.query_row("PRAGMA user_version", [], |r| r.get(0))
}

/// Brings a database to a version of its schema, by the statements that lead from the one that is there.
///
/// # Errors
/// When it cannot be written: then it stays as it was.
pub fn migrate<'a>(connection: &mut Connection, to: usize, steps: impl Fn(usize) -> &'a [&'a str]) -> Result<()> {
    switch_to_wal(connection)?;
    write(connection, |t| {
        // Another process may have done it meanwhile.
        for step in steps(version(t)?) {
            t.execute_batch(step)?;
        }
        t.execute_batch(&format!("PRAGMA user_version = {to}"))
    })
}

/// SQLite does not wait for others in this one operation: those who make a database at once would fail.
fn switch_to_wal(connection: &Connection) -> Result<()> {
    let busy = connection.query_row("PRAGMA busy_timeout", [], |r| r.get::<_, u64>(0))?;
    let deadline = Instant::now() + Duration::from_millis(busy);
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(e) if is_busy(&e) && Instant::now() < deadline => std::thread::sleep(POLL),
            done => return done,
        }
    }
}

/// Does some work in one transaction that nobody else writes beside.
///
/// # Errors
/// Those of the work, of which nothing is left then; when another process keeps the database busy.
pub fn write<T>(connection: &mut Connection, work: impl FnOnce(&Transaction) -> Result<T>) -> Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Another process kept it busy.
#[must_use]
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// It is no database, or a damaged one.
#[must_use]
pub fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
