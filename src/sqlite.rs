//! How every SQLite database of ours is opened, made and changed. What is in it, its module knows (`*/sql.rs`).

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Result, Transaction, TransactionBehavior};

use crate::dir::{Dir, Kind};

/// How often it is tried again what SQLite does not wait for.
const POLL: Duration = Duration::from_millis(2);
/// A text or row of a database that is larger is not read: none of ours is by far.
const MAX_VALUE_BYTES: i32 = 32 << 20;

/// Opens a database that several processes use; an operation waits so long at most for another process's.
///
/// # Errors
/// When it cannot be opened or is none.
pub fn open(path: &Path, busy: Duration) -> Result<Connection> {
    let connection = connect(path)?;
    connection.busy_timeout(busy)?;
    distrust(&connection)?;
    connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;")?;
    Ok(connection)
}

/// Opens a database without following links. What SQLite keeps beside it, it never opens through one.
fn connect(path: &Path) -> Result<Connection> {
    // Directories above may be links: the caller has opened them.
    let real = path.parent().and_then(|directory| directory.canonicalize().ok()).zip(path.file_name());
    let real = real.map_or_else(|| path.to_path_buf(), |(directory, name)| directory.join(name));
    check_files(&real)?;
    Connection::open_with_flags(real, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)
}

/// Checks that a database and what is beside it are files with one name, as far as they are there: SQLite would write into the file
/// that a hard link shares with another directory.
///
/// # Errors
/// When one of them is something else; the message names it.
pub fn check_files(path: &Path) -> Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let Ok(dir) = Dir::open(above) else { return Ok(()) };
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = name.to_owned();
        name.push(end);
        if let Ok(Some(stat)) = dir.stat(&name)
            && !stat.is_sole_file()
        {
            let what = if stat.kind == Kind::File { "a file with another name (a hard link)" } else { stat.kind.describe() };
            let message = format!("{} is {what}, and is not used as a database: remove it", dir.full(&name).display());
            return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN), Some(message)));
        }
    }
    Ok(())
}

/// A database may have come with a repository: its schema runs nothing, and no value of it takes all memory.
fn distrust(connection: &Connection) -> Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
}

/// The statements that make the schema of a database, in the order of its names; none of those that SQLite adds by itself.
///
/// # Errors
/// When it cannot be read.
pub fn schema(connection: &Connection) -> Result<Vec<String>> {
    let mut statements = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name, sql")?;
    statements.query_map([], |r| r.get(0))?.collect()
}

/// Which version of its schema a database has; 0: none yet.
///
/// # Errors
/// When it cannot be read.
pub fn version(connection: &Connection) -> Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    // Ours are not negative: it counts as one that is not known yet.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
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
