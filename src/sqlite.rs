//! Opens, creates and changes all SQLite databases. The module of each database knows
//! its content (`*/sql.rs`).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{
    Connection, ErrorCode, MAIN_DB, OpenFlags, Result, Transaction, TransactionBehavior,
};

use crate::dir::{Dir, FileKind};

/// The pause between attempts at operations for which SQLite's own waiting does not work.
const POLL: Duration = Duration::from_millis(2);
/// Largest value or row that is read from a database, in bytes; ours are far smaller.
const MAX_VALUE_BYTES: i32 = 32 << 20;
/// Characters that are percent-encoded in the path of a URI.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// An existing database, opened with as much access as the disk allows.
#[derive(Debug)]
pub struct Existing {
    pub connection: Connection,
    /// Why the database can only be read; `None` if it can be written.
    pub read_only: Option<String>,
    /// Whether SQLite treats the file as unchanging, and does not notice what others write.
    pub is_immutable: bool,
}

/// Opens a database that several processes use. An operation waits at most
/// `busy` for other processes.
///
/// # Errors
/// When the file cannot be opened or is not a database.
pub fn open(path: &Path, busy: Duration) -> Result<Connection> {
    prepared(
        Connection::open_with_flags(
            real(path)?,
            OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW,
        )?,
        busy,
    )
}

fn prepared(connection: Connection, busy: Duration) -> Result<Connection> {
    connection.busy_timeout(busy)?;
    distrust(&connection)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// Returns the path without links in its directories, which the caller has already opened. Refuses
/// a link in the place of the database, and of the files that SQLite keeps beside it.
#[expect(clippy::disallowed_methods, reason = "SQLite opens by path, and no link")]
fn real(path: &Path) -> Result<PathBuf> {
    let real =
        path.parent().and_then(|directory| directory.canonicalize().ok()).zip(path.file_name());
    let real = real.map_or_else(|| path.to_path_buf(), |(directory, name)| directory.join(name));
    check_files(&real)?;
    Ok(real)
}

/// Checks that a database and the files beside it, if they exist, are regular files with one name:
/// SQLite would write into a file that a hard link shares with another directory.
///
/// # Errors
/// When one of them is something else. The message names it.
fn check_files(path: &Path) -> Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let Ok(dir) = Dir::open(above) else { return Ok(()) };
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = name.to_owned();
        name.push(end);
        if let Ok(Some(stat)) = dir.stat(&name)
            && !stat.is_sole_file()
        {
            let what = if stat.kind == FileKind::File {
                "a file with another name (a hard link)"
            } else {
                stat.kind.describe()
            };
            let message = format!(
                "cannot use {} as a database: it is {what} (remove it)",
                dir.full(&name).display()
            );
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
                Some(message),
            ));
        }
    }
    Ok(())
}

/// Restricts a database that may have come with a repository: its schema runs nothing, and no
/// value of it takes all memory.
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

/// Returns the statements of a database's schema, sorted by name, without those
/// that SQLite adds itself.
///
/// # Errors
/// When the schema cannot be read.
pub fn schema(connection: &Connection) -> Result<Vec<String>> {
    let mut statements = connection
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name, sql")?;
    statements.query_map([], |r| r.get(0))?.collect()
}

/// Opens an existing database for writing, else for reading, else as a file that never changes. The
/// last works on a full disk and in a directory that is not writable.
///
/// # Errors
/// When the file cannot be opened or is not a database.
pub fn open_existing(path: &Path, busy: Duration) -> Result<Existing> {
    let why = match open_as(path, busy, "mode=rw") {
        Ok(connection) if connection.is_readonly(MAIN_DB)? => {
            return Ok(Existing {
                connection,
                read_only: Some("this user may only read it".into()),
                is_immutable: false,
            });
        }
        Ok(connection) => return Ok(Existing { connection, read_only: None, is_immutable: false }),
        Err(e) if is_refused_by_disk(&e) => e,
        Err(e) => return Err(e),
    };
    for (mode, is_immutable) in [("mode=ro", false), ("mode=ro&immutable=1", true)] {
        if let Ok(connection) = open_as(path, busy, mode) {
            return Ok(Existing { connection, read_only: Some(why.to_string()), is_immutable });
        }
    }
    Err(why)
}

/// Opens a database, and reads enough of it that SQLite creates the files beside it.
fn open_as(path: &Path, busy: Duration, mode: &str) -> Result<Connection> {
    let uri = format!(
        "file:{}?{mode}",
        percent_encode(real(path)?.as_os_str().as_encoded_bytes(), IN_PATHS)
    );
    let access = if mode == "mode=rw" {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    let flags = access
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = prepared(Connection::open_with_flags(uri, flags)?, busy)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get::<_, i64>(0))?;
    Ok(connection)
}

/// Opens a database for reading from its main file alone, whatever is beside it. Writes nothing.
///
/// # Errors
/// When the file cannot be opened or is not a database.
pub fn open_unchanging(path: &Path) -> Result<Connection> {
    open_as(path, Duration::ZERO, "mode=ro&immutable=1")
}

/// Opens a database that is not in use, such as a backup, for reading. Creates no files
/// beside it unless it has a log.
///
/// # Errors
/// When the file cannot be opened or is not a database.
#[expect(clippy::disallowed_methods, reason = "SQLite opens by path, and no link")]
pub fn open_source(path: &Path) -> Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(log).is_ok_and(|m| m.len() > 0);
    open_as(path, Duration::from_secs(1), if has_log { "mode=ro" } else { "mode=ro&immutable=1" })
}

/// Copies the current state of a database into an existing empty file, while others continue to use
/// it. The copy is not checked, and only durable after the caller syncs the file.
///
/// # Errors
/// When the source cannot be read, the copy cannot be written, or another
/// process keeps the source busy.
pub fn copy(from: &Connection, to: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(real(to)?, flags)?;
    // An incomplete copy is removed, so it needs no journal.
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let busy = from.query_row("PRAGMA busy_timeout", [], |r| r.get::<_, u64>(0))?;
    let deadline = Instant::now() + Duration::from_millis(busy);
    let backup = Backup::new(from, &mut copy)?;
    loop {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            _ if Instant::now() < deadline => std::thread::sleep(POLL),
            _ => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
        }
    }
}

/// Returns what SQLite finds wrong with the structure of a database, if anything.
///
/// # Errors
/// When the database cannot be read at all.
pub fn damage(connection: &Connection) -> Result<Option<String>> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |r| r.get(0))?;
    Ok(Some(found).filter(|found| found != "ok"))
}

/// Returns the schema version of a database; 0 if it has none yet.
///
/// # Errors
/// When the database cannot be read.
pub fn version(connection: &Connection) -> Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    // Our versions are not negative, so a negative one counts as newer than all known ones.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// Brings a database to a version of its schema, with the statements that lead there from the
/// current one. Returns its version afterwards, which may be a later one by another process.
///
/// # Errors
/// When the database cannot be written. It is unchanged then.
pub fn migrate<'a>(
    connection: &mut Connection,
    to: usize,
    steps: impl Fn(usize) -> &'a [&'a str],
) -> Result<usize> {
    switch_to_wal(connection)?;
    write(connection, |t| {
        let there = version(t)?;
        if there >= to {
            return Ok(there);
        }
        for step in steps(there) {
            t.execute_batch(step)?;
        }
        t.execute_batch(&format!("PRAGMA user_version = {to}"))?;
        Ok(to)
    })
}

/// Switches to WAL. SQLite does not wait for other processes here, so without retries, processes
/// that create a database at the same time would fail.
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

/// Runs `work` in one transaction, during which no other process writes.
///
/// # Errors
/// The errors of `work`, whose changes are rolled back, and when another process
/// keeps the database busy.
pub fn write<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction) -> Result<T>,
) -> Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Removes a database that can be made again, and SQLite's files beside it. A process that has it
/// open continues with the removed one.
///
/// # Errors
/// When a file cannot be removed.
#[expect(clippy::disallowed_methods, reason = "SQLite opens by path, and no link")]
pub fn remove(path: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        match std::fs::remove_file(&name) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                let failed = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_DELETE);
                return Err(rusqlite::Error::SqliteFailure(failed, Some(e.to_string())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether another process kept the database busy.
#[must_use]
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether the file is not a database, or is damaged.
#[must_use]
pub fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Whether the disk, or the permission to write to it, is missing. Reading may still be possible.
#[must_use]
pub fn is_refused_by_disk(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(
            ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::PermissionDenied
        )
    )
}
