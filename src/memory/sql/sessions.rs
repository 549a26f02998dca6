//! Stores and finds sessions, and the memories that each received.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};
use uuid::Uuid;

use super::super::now;
use super::super::session::{Session, SessionStatus};
use super::rows::time;
use super::{MemoryStore, Select, StorageError};

/// What happens this long after the last prompt, answer or tool call of a session does not belong
/// to it: its agent may have ended without a word.
const SILENT: TimeDelta = TimeDelta::hours(1);

impl MemoryStore {
    /// Stores a session, or its new state.
    pub(in crate::memory) fn put_session(&self, session: &Session) -> Result<(), StorageError> {
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
    pub(in crate::memory) fn active_sessions(&self) -> Result<Vec<Session>, StorageError> {
        self.sessions_where("status = ?1", vec![SessionStatus::Active.as_str().to_string().into()])
    }

    /// Returns when a session began or stored something last.
    ///
    /// # Errors
    /// As [`MemoryStore::select`].
    pub fn last_activity(&self, session: &Session) -> Result<DateTime<Utc>, StorageError> {
        let newest = Select { session_id: Some(session.id.clone()), limit: 1, ..Select::default() };
        let newest = self.select(&newest)?.first().map_or(session.started_at, |m| m.created_at);
        Ok(newest.max(session.started_at))
    }

    /// Returns the id of the active session that began or stored something last.
    pub(in crate::memory) fn latest_active_session(&self) -> Result<Option<String>, StorageError> {
        self.latest_session("status = 'Active'", now())
    }

    /// Returns the id of the session in which something happened at this time: it had begun, had
    /// not ended, and was not silent for longer than [`SILENT`]. Of several, the one that stored
    /// something last before that time.
    pub(in crate::memory) fn session_at(
        &self,
        at: DateTime<Utc>,
    ) -> Result<Option<String>, StorageError> {
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
        self.row(&sql, values, |r| r.get(0))
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
        self.rows(&sql, params_from_iter(values), session)
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
        self.rows("SELECT memory FROM given WHERE session_id = ?1", [session_id], id)
    }
}
