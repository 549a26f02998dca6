//! The database of memories.
//! Every operation is one transaction, and several processes may have the database open. Every
//! change of a memory takes the next change number, so a reader can ask for everything after the
//! last number that it knows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::{Mutex, MutexGuard};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params, params_from_iter};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use super::folder::{folder_of, trace};
use super::session::{Session, SessionStatus};
use super::{CodeReference, MAX_CONTENT_CHARS, Memory, MemorySource, Speaker, now};
use crate::chunk::{Fingerprint, Quantized};
use crate::dir::{Dir, DirId, FileKind, PRIVATE_FILE, Stat};
use crate::platform::set_mode;
use crate::sqlite::{self, Existing};

mod events;
mod id;

pub(super) use events::{EventLimits, Noted, Recorded};
pub(super) use id::claimed;

/// The message for a database without our tables.
const NOT_OURS: &str = "it holds nothing that cortex wrote";
/// The counter that holds [`MemoryStore::complete_embedder`].
const EMBEDDER: &str = "embedder";
/// How long an operation waits for another process's lock.
const BUSY: Duration = Duration::from_secs(5);
/// What happens this long after the last prompt, answer or tool call of a session does not belong
/// to it: its agent may have ended without a word.
const SILENT: TimeDelta = TimeDelta::hours(1);

/// The migrations. Each adds one version of the schema; `user_version` holds the number of the last
/// one applied.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE counters(name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO counters VALUES('identity', random());
    CREATE TABLE bodies(number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE memories(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        body INTEGER NOT NULL REFERENCES bodies(number),
        source_name TEXT NOT NULL,
        source TEXT NOT NULL,
        operation TEXT,
        file_path TEXT,
        session_id TEXT NOT NULL,
        group_id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        chunk_metadata TEXT,
        word_count INTEGER NOT NULL,
        pinned INTEGER NOT NULL,
        code TEXT NOT NULL,
        change INTEGER NOT NULL
    );
    CREATE INDEX memories_by_session ON memories(session_id, created_at);
    CREATE INDEX memories_by_source ON memories(source_name, created_at);
    CREATE INDEX memories_by_time ON memories(created_at);
    CREATE INDEX memories_by_file ON memories(file_path, created_at) WHERE file_path IS NOT NULL;
    CREATE INDEX memories_by_change ON memories(change);
    CREATE INDEX memories_by_body ON memories(body);
    CREATE INDEX memories_pinned ON memories(pinned) WHERE pinned;
    CREATE TABLE vectors(
        memory INTEGER NOT NULL REFERENCES memories(number) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passage BLOB NOT NULL,
        scale REAL NOT NULL,
        components BLOB NOT NULL,
        PRIMARY KEY(memory, embedder)
    ) WITHOUT ROWID;
    CREATE INDEX vectors_by_passage ON vectors(embedder, passage);
    CREATE TABLE sessions(
        id TEXT PRIMARY KEY,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        status TEXT NOT NULL,
        process TEXT
    ) WITHOUT ROWID;
    CREATE TABLE file_hashes(path TEXT PRIMARY KEY, hash TEXT NOT NULL, processed_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE given(session_id TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY(session_id, memory)) WITHOUT ROWID;
",
    "
    CREATE TABLE changes(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL,
        before TEXT,
        after TEXT,
        symbols TEXT NOT NULL,
        session_id TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE TABLE git_positions(tree TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
",
    "
    ALTER TABLE memories ADD COLUMN derived_from TEXT NOT NULL DEFAULT '[]';
",
    "
    CREATE TABLE project(id TEXT NOT NULL);
    INSERT INTO project VALUES(lower(hex(randomblob(16))));
",
    // The author of a statement follows from the texts that it was recognised in.
    "
    ALTER TABLE memories ADD COLUMN said_by TEXT;
    ALTER TABLE memories ADD COLUMN superseded_by TEXT;
    ALTER TABLE changes ADD COLUMN worktree TEXT NOT NULL DEFAULT '';
    CREATE INDEX memories_superseded ON memories(superseded_by) WHERE superseded_by IS NOT NULL;
    UPDATE memories SET said_by = CASE WHEN EXISTS(
        SELECT 1 FROM json_each(memories.derived_from) d JOIN memories o ON o.id = d.value
        WHERE o.source_name = 'hook_description'
    ) THEN 'person' ELSE 'agent' END
    WHERE source_name = 'message' AND derived_from <> '[]';
",
];

/// The memories of a project. If another file replaces the open database (a restored backup), the
/// next operation opens the new file.
#[derive(Debug)]
pub struct MemoryStore {
    open: Mutex<Open>,
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
struct Open {
    connection: Connection,
    file: DirId,
    /// Why the database is read-only, if it is.
    read_only: Option<String>,
    /// The file's modification time, if SQLite opened the file as immutable.
    unchanged_since: Option<SystemTime>,
}

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

/// A vector of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    pub embedder: String,
    /// Fingerprint of the passage that was embedded.
    pub passage: Fingerprint,
    pub vector: Quantized,
}

/// A memory with its vectors.
pub(super) type Stored = (Memory, Vec<Vector>);

/// Conditions that select memories. All that are set must hold.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// Values of [`MemorySource::name`].
    pub sources: Vec<String>,
    pub exclude_sources: Vec<String>,
    pub exclude_operations: Vec<String>,
    pub group_ids: Vec<String>,
    pub session_id: Option<String>,
    pub file_path: Option<String>,
    pub pinned: Option<bool>,
    /// Only memories about this file (path relative to the root).
    pub about: Option<String>,
    /// Made at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Made before this time.
    pub until: Option<DateTime<Utc>>,
    /// 0 for all.
    pub limit: usize,
    pub offset: usize,
}

/// Statistics of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    pub memories: usize,
    pub sessions: usize,
    /// Number of memories by [`MemorySource::name`].
    pub sources: BTreeMap<String, usize>,
    pub pinned: usize,
    /// Number of secrets that were removed before storing.
    pub redacted: usize,
    /// Number of vectors by embedder.
    pub vectors: BTreeMap<String, usize>,
    /// Size of the database in bytes.
    pub bytes: u64,
}

const COLUMNS: &str = "m.id, m.name, b.text, m.source, m.session_id, m.group_id, m.created_at, m.updated_at, m.chunk_metadata, m.word_count, m.pinned, m.code, m.number, m.derived_from, m.said_by, m.superseded_by";
const FROM: &str = "FROM memories m JOIN bodies b ON b.number = m.body";

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
        let open = Open::new(&directory, &name, busy)?;
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
    fn connection(&self) -> Result<MutexGuard<'_, Open>, StorageError> {
        // A panic within a transaction rolled it back when the transaction was dropped.
        let mut open = self.open.lock();
        if !open.is_of(&there(&self.directory, &self.name)?) {
            *open = Open::new(&self.directory, &self.name, self.busy)?;
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

    /// Stores a memory with its vectors. It replaces a memory with the same id.
    ///
    /// # Errors
    /// When the memory is too long or cannot be written. Nothing of it is stored then.
    pub fn store(&self, memory: &Memory, vectors: &[Vector]) -> Result<(), StorageError> {
        check(memory)?;
        self.write(|t| put(t, memory, vectors))
    }

    /// Replaces the memories made of a file by new ones, and stores the file's hash. A `hash` of
    /// `None` means that the file is gone. Returns how many memories were replaced.
    ///
    /// # Errors
    /// As [`MemoryStore::store`].
    pub fn replace_file(
        &self,
        path: &str,
        hash: Option<&str>,
        new: &[Stored],
    ) -> Result<usize, StorageError> {
        new.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            let replaced = delete_pieces(t, path)?;
            for (memory, vectors) in new {
                put(t, memory, vectors)?;
            }
            match hash {
                Some(hash) => t.execute(
                    "INSERT INTO file_hashes VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET hash = ?2, processed_at = ?3",
                    params![path, hash, Utc::now().timestamp_millis()],
                )?,
                None => t.execute("DELETE FROM file_hashes WHERE path = ?1", [path])?,
            };
            Ok(replaced)
        })
    }

    /// Returns the memory with this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, id: Uuid) -> Result<Option<Memory>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.id = ?1");
        let row = self.read(|c| {
            c.prepare_cached(&sql)?.query_row([id.to_string()], |r| Ok(memory(r))).optional()
        })?;
        row.transpose()
    }

    /// Returns the memory with this row number.
    pub(super) fn numbered(&self, number: u32) -> Result<Option<Memory>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.number = ?1");
        self.read(|c| c.prepare_cached(&sql)?.query_row([number], |r| Ok(memory(r))).optional())?
            .transpose()
    }

    /// Returns at most ten memories whose ids begin or end with `id`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn named(&self, id: &str) -> Result<Vec<Memory>, StorageError> {
        let sql = format!(
            "SELECT {COLUMNS} {FROM} WHERE ?1 IN (substr(m.id, 1, ?2), substr(m.id, -?2)) ORDER BY m.number LIMIT 10"
        );
        self.all(
            &sql,
            vec![
                id.to_string().into(),
                i64::try_from(id.chars().count()).unwrap_or(i64::MAX).into(),
            ],
        )
    }

    fn all(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Memory>, StorageError> {
        self.read(|c| {
            c.prepare_cached(sql)?
                .query_map(params_from_iter(values), |r| Ok(memory(r)))?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?
        .into_iter()
        .collect()
    }

    /// Returns the selected memories, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn select(&self, select: &Select) -> Result<Vec<Memory>, StorageError> {
        let (condition, mut values) = select.condition();
        let limit =
            if select.limit == 0 { -1 } else { i64::try_from(select.limit).unwrap_or(i64::MAX) };
        values.extend([limit.into(), i64::try_from(select.offset).unwrap_or(i64::MAX).into()]);
        self.all(&format!("SELECT {COLUMNS} {FROM} WHERE {condition} ORDER BY m.created_at DESC, m.number DESC LIMIT ? OFFSET ?"), values)
    }

    /// Returns how many memories `select` matches.
    ///
    /// # Errors
    /// When they cannot be counted.
    pub fn count(&self, select: &Select) -> Result<usize, StorageError> {
        let (condition, values) = select.condition();
        self.read(|c| {
            c.query_row(
                &format!("SELECT count(*) FROM memories m WHERE {condition}"),
                params_from_iter(values),
                |r| r.get(0),
            )
        })
    }

    /// Returns the memories of a session, newest first.
    ///
    /// # Errors
    /// As [`MemoryStore::select`].
    pub fn get_by_session(&self, session_id: &str) -> Result<Vec<Memory>, StorageError> {
        self.select(&Select { session_id: Some(session_id.into()), ..Select::default() })
    }

    /// Returns the memories about a file, newest first.
    ///
    /// # Errors
    /// As [`MemoryStore::select`].
    pub fn get_by_file_path(&self, path: &str) -> Result<Vec<Memory>, StorageError> {
        self.select(&Select { file_path: Some(path.into()), ..Select::default() })
    }

    /// Deletes a memory. Returns false if none has this id.
    ///
    /// # Errors
    /// When the deletion cannot be written.
    pub fn delete(&self, id: Uuid) -> Result<bool, StorageError> {
        self.write(|t| Ok(delete(t, "id = ?1", &[&id.to_string()])? > 0))
    }

    /// Deletes memories and stores others, in one transaction.
    pub(super) fn exchange(&self, gone: &[Uuid], new: &[Stored]) -> Result<(), StorageError> {
        new.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            gone.iter().try_for_each(|id| delete(t, "id = ?1", &[&id.to_string()]).map(drop))?;
            new.iter().try_for_each(|(memory, vectors)| put(t, memory, vectors))
        })
    }

    /// Stores memories, and notes for each of `superseded` (first) which memory holds in its place
    /// (second), in one transaction.
    pub(super) fn store_all(
        &self,
        new: &[Stored],
        superseded: &[(Uuid, Uuid)],
    ) -> Result<(), StorageError> {
        new.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            new.iter().try_for_each(|(memory, vectors)| put(t, memory, vectors))?;
            superseded.iter().try_for_each(|(old, by)| supersede(t, *old, *by))
        })
    }

    /// Deletes the memories made of a file's pieces. Returns how many there were.
    ///
    /// # Errors
    /// When the deletion cannot be written.
    pub fn delete_by_file_path(&self, path: &str) -> Result<usize, StorageError> {
        self.replace_file(path, None, &[])
    }

    /// Returns the hash of a file whose pieces are stored.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file_hash(&self, path: &str) -> Result<Option<String>, StorageError> {
        self.read(|c| {
            c.prepare_cached("SELECT hash FROM file_hashes WHERE path = ?1")?
                .query_row([path], |r| r.get(0))
                .optional()
        })
    }

    /// Returns the hashes of all files whose pieces are stored, by path.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn file_hashes(&self) -> Result<BTreeMap<String, String>, StorageError> {
        self.read(|c| {
            c.prepare_cached("SELECT path, hash FROM file_hashes")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect()
        })
    }

    /// Returns the vectors of a memory.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn vectors_of(&self, id: Uuid) -> Result<Vec<Vector>, StorageError> {
        let sql = "SELECT v.embedder, v.passage, v.scale, v.components FROM vectors v JOIN memories m ON m.number = v.memory WHERE m.id = ?1";
        let vector = |r: &Row| {
            Ok(Vector {
                embedder: r.get(0)?,
                passage: fingerprint(&r.get::<_, Vec<u8>>(1)?),
                vector: quantized(r, 2)?,
            })
        };
        self.read(|c| c.prepare_cached(sql)?.query_map([id.to_string()], vector)?.collect())
    }

    /// Returns memories without a vector of this embedder, newest first.
    pub(super) fn without_vector(
        &self,
        embedder: &str,
        most: usize,
    ) -> Result<Vec<Memory>, StorageError> {
        let is_lacking =
            "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = m.number AND v.embedder = ?)";
        let values =
            vec![embedder.to_string().into(), i64::try_from(most).unwrap_or(i64::MAX).into()];
        self.all(
            &format!("SELECT {COLUMNS} {FROM} WHERE {is_lacking} ORDER BY m.number DESC LIMIT ?"),
            values,
        )
    }

    /// Adds vectors to memories, in one transaction, except for those whose content changed
    /// meanwhile.
    pub(super) fn put_vectors(&self, made: &[Stored]) -> Result<(), StorageError> {
        let sql = format!("SELECT m.number {FROM} WHERE m.id = ?1 AND b.text = ?2 AND m.name = ?3");
        self.write(|t| {
            for (memory, vectors) in made {
                let same = params![memory.id.to_string(), memory.content, memory.name];
                let number = |r: &Row| r.get::<_, i64>(0);
                let number = t.prepare_cached(&sql)?.query_row(same, number).optional()?;
                let Some(number) = number else { continue };
                let change = add(t, "change", 1)?;
                t.prepare_cached("UPDATE memories SET change = ?2 WHERE number = ?1")?
                    .execute([number, change])?;
                insert_vectors(t, number, vectors)?;
            }
            Ok(())
        })
    }

    /// Returns the mark of the embedder of which every memory has vectors; 0 if none is known.
    pub(super) fn complete_embedder(&self) -> Result<i64, StorageError> {
        self.read(|c| counter(c, EMBEDDER))
    }

    /// Sets the mark of the embedder of which every memory has vectors.
    pub(super) fn set_complete_embedder(&self, mark: i64) -> Result<(), StorageError> {
        let sql = "INSERT INTO counters VALUES(?1, ?2) ON CONFLICT DO UPDATE SET n = ?2";
        self.write(|t| t.execute(sql, params![EMBEDDER, mark]).map(drop))
    }

    /// Returns the vectors of passages by one embedder.
    pub(super) fn vectors(
        &self,
        embedder: &str,
    ) -> Result<Vec<(Fingerprint, Quantized)>, StorageError> {
        let sql = "SELECT passage, scale, components FROM vectors WHERE embedder = ?1";
        let vector = |r: &Row| Ok((fingerprint(&r.get::<_, Vec<u8>>(0)?), quantized(r, 1)?));
        self.read(|c| c.prepare_cached(sql)?.query_map([embedder], vector)?.collect())
    }

    /// Returns the vector of one passage.
    pub(super) fn vector(
        &self,
        embedder: &str,
        passage: Fingerprint,
    ) -> Result<Option<Quantized>, StorageError> {
        let sql =
            "SELECT scale, components FROM vectors WHERE embedder = ?1 AND passage = ?2 LIMIT 1";
        self.read(|c| {
            c.prepare_cached(sql)?
                .query_row(params![embedder, passage.to_le_bytes()], |r| quantized(r, 0))
                .optional()
        })
    }

    /// Returns the number of the last change; it is the generation of the memory corpus.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn generation(&self) -> Result<u64, StorageError> {
        let (_, change, deleted) = self.position()?;
        Ok(u64::try_from(change + deleted).unwrap_or_default())
    }

    /// Returns the identity of the database, the number of the last change, and how many memories
    /// were ever deleted.
    pub(super) fn position(&self) -> Result<(i64, i64, i64), StorageError> {
        self.read(|c| Ok((counter(c, "identity")?, counter(c, "change")?, counter(c, "deleted")?)))
    }

    /// Returns the memories that changed after `change` with their row numbers, in order of change,
    /// and the number of their last change.
    pub(super) fn changed_since(&self, change: i64) -> Result<Vec<(u32, Memory)>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.change > ?1 ORDER BY m.number");
        let numbered = |r: &Row| Ok((r.get::<_, u32>(12)?, memory(r)));
        let rows = self.read(|c| {
            c.prepare_cached(&sql)?
                .query_map([change], numbered)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        rows.into_iter().map(|(number, memory)| Ok((number, memory?))).collect()
    }

    /// Returns the row numbers of all memories, in order.
    pub(super) fn numbers(&self) -> Result<Vec<u32>, StorageError> {
        self.read(|c| {
            c.prepare_cached("SELECT number FROM memories ORDER BY number")?
                .query_map([], |r| r.get(0))?
                .collect()
        })
    }

    /// Stores a session, or its new state.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_session(&self, session: &Session) -> Result<(), StorageError> {
        let Session { id, started_at, ended_at, status, .. } = session;
        self.write(|t| {
            t.execute(
                "INSERT INTO sessions(id, started_at, ended_at, status) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET ended_at = ?3, status = ?4",
                params![id, started_at.timestamp_millis(), ended_at.map(|at| at.timestamp_millis()), status.as_str()],
            )
        })?;
        Ok(())
    }

    /// Returns the session with this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn session(&self, id: &str) -> Result<Option<Session>, StorageError> {
        Ok(self.sessions_where("id = ?1", vec![id.to_string().into()])?.pop())
    }

    /// Returns at most `limit` sessions, newest first; all if `limit` is 0.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn sessions(&self, limit: usize) -> Result<Vec<Session>, StorageError> {
        let limit = if limit == 0 { i64::MAX } else { i64::try_from(limit).unwrap_or(i64::MAX) };
        self.sessions_where("TRUE ORDER BY started_at DESC, id DESC LIMIT ?1", vec![limit.into()])
    }

    /// Returns the sessions that have not ended.
    pub(super) fn active_sessions(&self) -> Result<Vec<Session>, StorageError> {
        self.sessions_where("status = ?1", vec![SessionStatus::Active.as_str().to_string().into()])
    }

    /// Returns the id of the active session that began or stored something last.
    pub(super) fn latest_active_session(&self) -> Result<Option<String>, StorageError> {
        self.latest_session("status = 'Active'", now())
    }

    /// Returns the id of the session in which something happened at this time: it had begun, had
    /// not ended, and was not silent for longer than [`SILENT`]. Of several, the one that stored
    /// something last before that time.
    pub(super) fn session_at(&self, at: DateTime<Utc>) -> Result<Option<String>, StorageError> {
        self.latest_session("(ended_at IS NULL OR ended_at >= ?1) AND ?1 - last <= ?2", at)
    }

    fn latest_session(
        &self,
        condition: &str,
        at: DateTime<Utc>,
    ) -> Result<Option<String>, StorageError> {
        // Git states its times in whole seconds, so all of that second counts.
        let sql = format!(
            "SELECT id FROM (SELECT id, started_at, ended_at, status, max(started_at, coalesce((SELECT max(created_at) FROM memories m WHERE m.session_id = s.id AND m.created_at < ?1 + 1000 AND m.source_name IN ('hook_description', 'claude_response')), 0)) AS last FROM sessions s WHERE started_at < ?1 + 1000) WHERE ?2 > 0 AND {condition} ORDER BY last DESC, started_at DESC, id DESC LIMIT 1"
        );
        let values = params![at.timestamp_millis(), SILENT.num_milliseconds()];
        self.read(|c| c.prepare_cached(&sql)?.query_row(values, |r| r.get(0)).optional())
    }

    fn sessions_where(
        &self,
        condition: &str,
        values: Vec<Value>,
    ) -> Result<Vec<Session>, StorageError> {
        let sql = format!(
            "SELECT id, started_at, ended_at, status, (SELECT count(*) FROM memories m WHERE m.session_id = s.id) FROM sessions s WHERE {condition}"
        );
        let session = |r: &Row| {
            Ok(Session {
                id: r.get(0)?,
                started_at: time(r.get(1)?),
                ended_at: r.get::<_, Option<i64>>(2)?.map(time),
                status: SessionStatus::parse(&r.get::<_, String>(3)?)
                    .unwrap_or(SessionStatus::Abandoned),
                memory_count: r.get(4)?,
            })
        };
        self.read(|c| {
            c.prepare_cached(&sql)?.query_map(params_from_iter(values), session)?.collect()
        })
    }

    /// Records that a session received these memories, and returns those that it had not received
    /// before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give(&self, session_id: &str, ids: &[Uuid]) -> Result<Vec<Uuid>, StorageError> {
        self.write(|t| {
            let mut statement = t.prepare_cached("INSERT OR IGNORE INTO given VALUES(?1, ?2)")?;
            let mut new = Vec::new();
            for id in ids {
                if statement.execute(params![session_id, id.to_string()])? > 0 {
                    new.push(*id);
                }
            }
            Ok(new)
        })
    }

    /// Deletes the record of the memories that a session received, because its context was
    /// compacted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_back(&self, session_id: &str) -> Result<(), StorageError> {
        self.write(|t| t.execute("DELETE FROM given WHERE session_id = ?1", [session_id]))?;
        Ok(())
    }

    /// Returns the ids of the memories that a session received.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn given(&self, session_id: &str) -> Result<Vec<Uuid>, StorageError> {
        let id = |r: &Row| Ok(Uuid::parse_str(&r.get::<_, String>(0)?).unwrap_or_default());
        self.read(|c| {
            c.prepare_cached("SELECT memory FROM given WHERE session_id = ?1")?
                .query_map([session_id], id)?
                .collect()
        })
    }

    /// Adds to the number of removed secrets.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn count_redacted(&self, n: usize) -> Result<(), StorageError> {
        if n == 0 {
            return Ok(());
        }
        self.write(|t| add(t, "redacted", i64::try_from(n).unwrap_or(i64::MAX)).map(drop))
    }

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
            Ok(Stats {
                memories: c.query_row("SELECT count(*) FROM memories", [], |r| r.get(0))?,
                sessions: c.query_row("SELECT count(*) FROM sessions", [], |r| r.get(0))?,
                sources: by_name(c, "SELECT source_name, count(*) FROM memories GROUP BY 1")?,
                pinned: c
                    .query_row("SELECT count(*) FROM memories WHERE pinned", [], |r| r.get(0))?,
                redacted: n_redacted(c)?,
                vectors: by_name(c, "SELECT embedder, count(*) FROM vectors GROUP BY 1")?,
                bytes: 0,
            })
        })?;
        stats.bytes = self.bytes()?;
        Ok(stats)
    }

    /// Copies the database in its present state into an empty file.
    pub(super) fn copy_to(&self, to: &Path) -> Result<(), StorageError> {
        self.read(|c| sqlite::copy(c, to))
    }

    /// Gives the database a new identity, so that readers start from its first change again.
    pub(super) fn renew_identity(&self) -> Result<(), StorageError> {
        self.write(|t| t.execute("UPDATE counters SET n = random() WHERE name = 'identity'", []))?;
        Ok(())
    }

    /// Returns the size of the database in bytes.
    ///
    /// # Errors
    /// When the file does not exist.
    pub fn bytes(&self) -> Result<u64, StorageError> {
        Ok(there(&self.directory, &self.name)?.bytes)
    }

    /// Checks the database and returns a summary of its content.
    pub(super) fn examine(&self) -> Result<Examined, StorageError> {
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

impl Select {
    /// Returns the SQL conditions and the values of their placeholders.
    fn condition(&self) -> (String, Vec<Value>) {
        let (mut parts, mut values): (Vec<String>, Vec<Value>) = (vec!["TRUE".into()], Vec::new());
        let lists = [
            ("m.source_name IN", &self.sources),
            ("m.source_name NOT IN", &self.exclude_sources),
            ("coalesce(m.operation, '') NOT IN", &self.exclude_operations),
            ("m.group_id IN", &self.group_ids),
        ];
        for (column, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            parts.push(format!("{column} ({})", vec!["?"; list.len()].join(", ")));
            values.extend(list.iter().map(|text| text.clone().into()));
        }
        let singles: [(&str, Option<Value>); 6] = [
            // The path as a JSON string.
            (
                "instr(m.code, ?) > 0",
                self.about
                    .as_ref()
                    .map(|path| format!("\"path\":{}", serde_json::json!(path)).into()),
            ),
            ("m.session_id = ?", self.session_id.clone().map(Into::into)),
            ("m.file_path = ?", self.file_path.clone().map(Into::into)),
            ("m.pinned = ?", self.pinned.map(Into::into)),
            ("m.created_at >= ?", self.since.map(|at| at.timestamp_millis().into())),
            ("m.created_at < ?", self.until.map(|at| at.timestamp_millis().into())),
        ];
        for (condition, value) in singles {
            if let Some(value) = value {
                parts.push(condition.into());
                values.push(value);
            }
        }
        (parts.join(" AND "), values)
    }
}

/// Summary of an undamaged database.
pub(super) struct Examined {
    pub memories: usize,
    /// When the newest memory was made.
    pub newest: Option<DateTime<Utc>>,
}

/// Checks a database that no process has open, such as a backup.
pub(super) fn examine(path: &Path) -> Result<Examined, StorageError> {
    examined(&source(path)?, path)
}

/// Returns whether a database that no process has open holds one of these memories.
pub(super) fn holds_any(path: &Path, ids: &[Uuid]) -> Result<bool, StorageError> {
    let c = source(path)?;
    let holds = |id: &Uuid| {
        c.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?.exists([id.to_string()])
    };
    ids.iter().try_fold(false, |any, id| Ok(any || holds(id)?)).map_err(|e| read_error(path, e))
}

/// Copies a database that no process has open into an empty file.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), StorageError> {
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

impl Open {
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

fn read_error(path: &Path, cause: rusqlite::Error) -> StorageError {
    let path = path.to_path_buf();
    match &cause {
        e if sqlite::is_busy(e) => StorageError::Busy { path },
        e if sqlite::is_damaged(e) => StorageError::Damaged { path, why: cause.to_string() },
        _ => StorageError::ReadFailed { path, cause },
    }
}

fn write_error(path: &Path, cause: rusqlite::Error) -> StorageError {
    match read_error(path, cause) {
        StorageError::ReadFailed { path, cause } if sqlite::is_refused_by_disk(&cause) => {
            StorageError::ReadOnly { path, why: cause.to_string() }
        }
        StorageError::ReadFailed { path, cause } => StorageError::WriteFailed { path, cause },
        e => e,
    }
}

fn check(memory: &Memory) -> Result<(), StorageError> {
    let n_chars = memory.content.chars().count();
    if n_chars > MAX_CONTENT_CHARS { Err(StorageError::ContentTooLong { n_chars }) } else { Ok(()) }
}

fn put(t: &Transaction, memory: &Memory, vectors: &[Vector]) -> rusqlite::Result<()> {
    let json = |value: serde_json::Result<String>| {
        value.map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
    };
    let hash = xxh3_128(memory.content.as_bytes()).to_le_bytes();
    t.prepare_cached("INSERT OR IGNORE INTO bodies(hash, text) VALUES(?1, ?2)")?
        .execute(params![hash, memory.content])?;
    let body: i64 = t
        .prepare_cached("SELECT number FROM bodies WHERE hash = ?1")?
        .query_row([hash], |r| r.get(0))?;
    let before: Option<i64> = t
        .prepare_cached("SELECT body FROM memories WHERE id = ?1")?
        .query_row([memory.id.to_string()], |r| r.get(0))
        .optional()?;
    let change = add(t, "change", 1)?;
    t.prepare_cached(
        "INSERT INTO memories(id, name, body, source_name, source, operation, file_path, session_id, group_id, created_at, updated_at, chunk_metadata, word_count, pinned, code, change, derived_from, said_by, superseded_by)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
         ON CONFLICT(id) DO UPDATE SET name = ?2, body = ?3, source_name = ?4, source = ?5, operation = ?6, file_path = ?7, session_id = ?8, group_id = ?9,
         created_at = ?10, updated_at = ?11, chunk_metadata = ?12, word_count = ?13, pinned = ?14, code = ?15, change = ?16, derived_from = ?17, said_by = ?18, superseded_by = ?19",
    )?
    .execute(params![
        memory.id.to_string(),
        memory.name,
        body,
        memory.source.name(),
        json(serde_json::to_string(&memory.source))?,
        memory.source.operation().map(super::Operation::as_str),
        memory.source.file_path(),
        memory.session_id,
        memory.group_id,
        memory.created_at.timestamp_millis(),
        memory.updated_at.timestamp_millis(),
        memory.chunk_metadata.as_ref().map(|m| json(serde_json::to_string(m))).transpose()?,
        memory.word_count,
        memory.pinned,
        json(serde_json::to_string(&memory.code))?,
        change,
        json(serde_json::to_string(&memory.derived_from))?,
        memory.said_by.map(Speaker::as_str),
        memory.superseded_by.map(|id| id.to_string()),
    ])?;
    if let Some(before) = before.filter(|before| *before != body) {
        drop_body(t, before)?;
    }
    let number: i64 = t
        .prepare_cached("SELECT number FROM memories WHERE id = ?1")?
        .query_row([memory.id.to_string()], |r| r.get(0))?;
    t.prepare_cached("DELETE FROM vectors WHERE memory = ?1")?.execute([number])?;
    insert_vectors(t, number, vectors)
}

fn insert_vectors(t: &Transaction, number: i64, vectors: &[Vector]) -> rusqlite::Result<()> {
    for Vector { embedder, passage, vector } in vectors {
        let components: Vec<u8> = vector.components.iter().map(|c| c.cast_unsigned()).collect();
        let values =
            params![number, embedder, passage.to_le_bytes(), f64::from(vector.scale), components];
        t.prepare_cached("INSERT OR REPLACE INTO vectors VALUES(?1, ?2, ?3, ?4, ?5)")?
            .execute(values)?;
    }
    Ok(())
}

/// Deletes the memories made of a file's pieces. Its events stay.
fn delete_pieces(t: &Transaction, path: &str) -> rusqlite::Result<usize> {
    delete(t, "file_path = ?1 AND source_name = 'md_file_chunk'", &[&path])
}

fn supersede(t: &Transaction, old: Uuid, by: Uuid) -> rusqlite::Result<()> {
    t.prepare_cached("UPDATE memories SET superseded_by = ?2 WHERE id = ?1")?
        .execute([old.to_string(), by.to_string()])
        .map(drop)
}

/// Deletes memories. A memory that one of them superseded holds again.
fn delete(t: &Transaction, condition: &str, values: &[&dyn ToSql]) -> rusqlite::Result<usize> {
    let gone = |r: &Row| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?));
    let sql = format!("DELETE FROM memories WHERE {condition} RETURNING id, body");
    let gone: Vec<(String, i64)> =
        t.prepare_cached(&sql)?.query_map(values, gone)?.collect::<rusqlite::Result<_>>()?;
    for (id, body) in &gone {
        drop_body(t, *body)?;
        t.prepare_cached("DELETE FROM given WHERE memory = ?1")?.execute([id])?;
        t.prepare_cached("UPDATE memories SET superseded_by = NULL WHERE superseded_by = ?1")?
            .execute([id])?;
    }
    if !gone.is_empty() {
        add(t, "deleted", i64::try_from(gone.len()).unwrap_or(i64::MAX))?;
    }
    Ok(gone.len())
}

/// Deletes a body that no memory uses.
fn drop_body(t: &Transaction, body: i64) -> rusqlite::Result<()> {
    t.prepare_cached("DELETE FROM bodies WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM memories WHERE body = ?1)")?.execute([body])?;
    Ok(())
}

fn add(t: &Transaction, name: &str, n: i64) -> rusqlite::Result<i64> {
    t.prepare_cached(
        "INSERT INTO counters VALUES(?1, ?2) ON CONFLICT DO UPDATE SET n = n + ?2 RETURNING n",
    )?
    .query_row(params![name, n], |r| r.get(0))
}

fn counter(c: &Connection, name: &str) -> rusqlite::Result<i64> {
    Ok(c.prepare_cached("SELECT n FROM counters WHERE name = ?1")?
        .query_row([name], |r| r.get(0))
        .optional()?
        .unwrap_or_default())
}

fn n_redacted(c: &Connection) -> rusqlite::Result<usize> {
    Ok(usize::try_from(counter(c, "redacted")?).unwrap_or_default())
}

/// Reads a memory from a row of [`COLUMNS`].
fn memory(r: &Row) -> Result<Memory, StorageError> {
    let id: String = r.get(0).unwrap_or_default();
    let damaged = |message: String| StorageError::SerializationFailed { id: id.clone(), message };
    let read = || -> rusqlite::Result<_> {
        let texts: (String, String, String, Option<String>, String, String) =
            (r.get(1)?, r.get(2)?, r.get(3)?, r.get(8)?, r.get(11)?, r.get(13)?);
        Ok((
            texts,
            r.get::<_, String>(4)?,
            r.get::<_, String>(5)?,
            time(r.get(6)?),
            time(r.get(7)?),
            r.get::<_, u32>(9)?,
            r.get::<_, bool>(10)?,
        ))
    };
    let (
        (name, content, source, chunk, code, derived_from),
        session_id,
        group_id,
        created_at,
        updated_at,
        word_count,
        pinned,
    ) = read().map_err(|e| damaged(e.to_string()))?;
    let source: MemorySource = serde_json::from_str(&source).map_err(|e| damaged(e.to_string()))?;
    let code: Vec<CodeReference> =
        serde_json::from_str(&code).map_err(|e| damaged(e.to_string()))?;
    let chunk_metadata =
        chunk.map(|c| serde_json::from_str(&c)).transpose().map_err(|e| damaged(e.to_string()))?;
    let derived_from: Vec<Uuid> =
        serde_json::from_str(&derived_from).map_err(|e| damaged(e.to_string()))?;
    let optional = |at: usize| r.get::<_, Option<String>>(at).map_err(|e| damaged(e.to_string()));
    let (said_by, superseded_by) = (optional(14)?, optional(15)?);
    Ok(Memory {
        id: Uuid::parse_str(&id).map_err(|e| damaged(e.to_string()))?,
        name,
        content,
        source,
        created_at,
        updated_at,
        session_id,
        group_id,
        chunk_metadata,
        word_count,
        pinned,
        code,
        derived_from,
        said_by: said_by.as_deref().and_then(Speaker::parse),
        superseded_by: superseded_by.and_then(|id| Uuid::parse_str(&id).ok()),
    })
}

fn time(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

fn fingerprint(bytes: &[u8]) -> Fingerprint {
    Fingerprint::from_le_bytes(bytes.try_into().unwrap_or_default())
}

fn quantized(r: &Row, at: usize) -> rusqlite::Result<Quantized> {
    let components: Vec<u8> = r.get(at + 1)?;
    #[expect(clippy::cast_possible_truncation, reason = "it was written from one")]
    let scale = r.get::<_, f64>(at)? as f32;
    Ok(Quantized { scale, components: components.into_iter().map(u8::cast_signed).collect() })
}
