//! Finds memories: by their ids, by conditions, and by what changed since.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use uuid::Uuid;

use super::super::Memory;
use super::rows::{COLUMNS, FROM, counter, memory};
use super::{MemoryStore, StorageError};

/// Conditions that select memories. All that are set must hold.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// Values of [`MemorySource::name`](crate::memory::MemorySource::name).
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

impl MemoryStore {
    /// Returns the memory with this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, id: Uuid) -> Result<Option<Memory>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.id = ?1");
        self.row(&sql, [id.to_string()], |r| Ok(memory(r)))?.transpose()
    }

    /// Returns the memory with this row number.
    pub(in crate::memory) fn numbered(&self, number: u32) -> Result<Option<Memory>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.number = ?1");
        self.row(&sql, [number], |r| Ok(memory(r)))?.transpose()
    }

    /// Returns at most ten memories whose ids begin or end with `id`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn named(&self, id: &str) -> Result<Vec<Memory>, StorageError> {
        let sql = format!(
            "SELECT {COLUMNS} {FROM} WHERE ?1 IN (substr(m.id, 1, ?2), substr(m.id, -?2)) ORDER BY m.number LIMIT 10"
        );
        let n_chars = i64::try_from(id.chars().count()).unwrap_or(i64::MAX);
        self.all(&sql, vec![id.to_string().into(), n_chars.into()])
    }

    pub(super) fn all(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Memory>, StorageError> {
        self.rows(sql, params_from_iter(values), |r| Ok(memory(r)))?.into_iter().collect()
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
    pub(in crate::memory) fn get_by_file_path(
        &self,
        path: &str,
    ) -> Result<Vec<Memory>, StorageError> {
        self.select(&Select { file_path: Some(path.into()), ..Select::default() })
    }

    /// Returns the hash of a file whose pieces are stored.
    pub(in crate::memory) fn file_hash(&self, path: &str) -> Result<Option<String>, StorageError> {
        self.row("SELECT hash FROM file_hashes WHERE path = ?1", [path], |r| r.get(0))
    }

    /// Returns the hashes of all files whose pieces are stored, by path.
    pub(in crate::memory) fn file_hashes(&self) -> Result<BTreeMap<String, String>, StorageError> {
        let sql = "SELECT path, hash FROM file_hashes";
        Ok(self.rows(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?.into_iter().collect())
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
    pub(in crate::memory) fn position(&self) -> Result<(i64, i64, i64), StorageError> {
        self.read(|c| Ok((counter(c, "identity")?, counter(c, "change")?, counter(c, "deleted")?)))
    }

    /// Returns the memories that changed after `change` with their row numbers, in order of change,
    /// and the number of their last change.
    pub(in crate::memory) fn changed_since(
        &self,
        change: i64,
    ) -> Result<Vec<(u32, Memory)>, StorageError> {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.change > ?1 ORDER BY m.number");
        let numbered = |r: &Row| Ok((r.get::<_, u32>(12)?, memory(r)));
        let rows = self.rows(&sql, [change], numbered)?;
        rows.into_iter().map(|(number, memory)| Ok((number, memory?))).collect()
    }

    /// Returns the row numbers of all memories, in order.
    pub(in crate::memory) fn numbers(&self) -> Result<Vec<u32>, StorageError> {
        self.rows("SELECT number FROM memories ORDER BY number", [], |r| r.get(0))
    }
}
