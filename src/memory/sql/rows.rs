//! Reads, writes and deletes the row of one memory, within a transaction of the caller.

use std::error::Error;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use super::super::{MAX_CONTENT_CHARS, Memory, Operation, RedactedMemory, Speaker};
use super::{StorageError, Vector};

pub(super) const COLUMNS: &str = "m.id, m.name, b.text, m.source, m.session_id, m.group_id, m.created_at, m.updated_at, m.chunk_metadata, m.word_count, m.pinned, m.code, m.number, m.derived_from, m.said_by, m.superseded_by";
pub(super) const FROM: &str = "FROM memories m JOIN bodies b ON b.number = m.body";

pub(super) fn check(memory: &Memory) -> Result<(), StorageError> {
    let n_chars = memory.content.chars().count();
    if n_chars > MAX_CONTENT_CHARS { Err(StorageError::ContentTooLong { n_chars }) } else { Ok(()) }
}

pub(super) fn put(
    t: &Transaction,
    memory: &RedactedMemory,
    vectors: &[Vector],
) -> rusqlite::Result<()> {
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
        memory.source.operation().map(Operation::as_str),
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

pub(super) fn insert_vectors(
    t: &Transaction,
    number: i64,
    vectors: &[Vector],
) -> rusqlite::Result<()> {
    for Vector { embedder, passage, vector } in vectors {
        let components: Vec<u8> = vector.components.iter().map(|c| c.cast_unsigned()).collect();
        let values =
            params![number, embedder, passage.to_le_bytes(), f64::from(vector.scale), components];
        t.prepare_cached("INSERT OR REPLACE INTO vectors VALUES(?1, ?2, ?3, ?4, ?5)")?
            .execute(values)?;
    }
    Ok(())
}

/// Deletes memories. A memory that one of them superseded holds again.
pub(super) fn delete(
    t: &Transaction,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<usize> {
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

pub(super) fn add(t: &Transaction, name: &str, n: i64) -> rusqlite::Result<i64> {
    t.prepare_cached(
        "INSERT INTO counters VALUES(?1, ?2) ON CONFLICT DO UPDATE SET n = n + ?2 RETURNING n",
    )?
    .query_row(params![name, n], |r| r.get(0))
}

pub(super) fn counter(c: &Connection, name: &str) -> rusqlite::Result<i64> {
    Ok(c.prepare_cached("SELECT n FROM counters WHERE name = ?1")?
        .query_row([name], |r| r.get(0))
        .optional()?
        .unwrap_or_default())
}

/// Reads a memory from a row of [`COLUMNS`].
pub(super) fn memory(r: &Row) -> Result<Memory, StorageError> {
    let id: String = r.get(0).unwrap_or_default();
    read(r, &id).map_err(|e| StorageError::SerializationFailed { id, message: e.to_string() })
}

fn read(r: &Row, id: &str) -> Result<Memory, Box<dyn Error>> {
    let text = |at: usize| r.get::<_, String>(at);
    let optional = |at: usize| r.get::<_, Option<String>>(at);
    Ok(Memory {
        id: Uuid::parse_str(id)?,
        name: text(1)?,
        content: text(2)?,
        source: serde_json::from_str(&text(3)?)?,
        session_id: text(4)?,
        group_id: text(5)?,
        created_at: time(r.get(6)?),
        updated_at: time(r.get(7)?),
        chunk_metadata: optional(8)?.map(|chunk| serde_json::from_str(&chunk)).transpose()?,
        word_count: r.get(9)?,
        pinned: r.get(10)?,
        code: serde_json::from_str(&text(11)?)?,
        derived_from: serde_json::from_str(&text(13)?)?,
        said_by: optional(14)?.as_deref().and_then(Speaker::parse),
        superseded_by: optional(15)?.and_then(|id| Uuid::parse_str(&id).ok()),
    })
}

pub(super) fn time(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}
