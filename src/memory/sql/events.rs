//! What happened to files, until it is known who did it, and the episodes that are made of it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use uuid::Uuid;

use super::super::EpisodeSource;
use super::{MemoryStore, StorageError, Stored, check, delete, put, time};
use crate::source::FileChange;

/// A change that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) struct Noted {
    pub number: i64,
    pub change: FileChange,
    /// Empty outside of sessions.
    pub session_id: String,
    /// When the index saw it.
    pub at: DateTime<Utc>,
}

/// What was made of changes.
#[derive(Debug, Default)]
pub(in crate::memory) struct Recorded {
    /// Numbers of the changes.
    pub changes: Vec<i64>,
    /// How far each work tree's git was read before, if at all, and is now, if it is there.
    pub positions: Vec<(String, Option<String>, Option<String>)>,
    pub episodes: Vec<Stored>,
    /// Episodes that came to nothing.
    pub undone: Vec<Uuid>,
}

/// How many events are kept.
#[derive(Debug, Clone)]
pub(in crate::memory) struct EventLimits {
    /// Of each source.
    pub most: usize,
    /// From then on.
    pub since: DateTime<Utc>,
}

impl MemoryStore {
    /// Keeps what happened to files, until it is known who did it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_changes(
        &self,
        changes: &[FileChange],
        session_id: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StorageError> {
        self.write(|t| {
            let mut statement =
                t.prepare_cached("INSERT INTO changes(path, before, after, symbols, session_id, at) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")?;
            for FileChange { path, before, after, symbols } in changes {
                statement.execute(params![path, before, after, symbols.join("\n"), session_id, at.timestamp_millis()])?;
            }
            Ok(())
        })
    }

    /// What was kept, oldest first.
    pub(in crate::memory) fn noted_changes(&self) -> Result<Vec<Noted>, StorageError> {
        let noted = |r: &Row| {
            let symbols: String = r.get(4)?;
            let symbols = symbols.lines().map(String::from).collect();
            let change =
                FileChange { path: r.get(1)?, before: r.get(2)?, after: r.get(3)?, symbols };
            Ok(Noted { number: r.get(0)?, change, session_id: r.get(5)?, at: time(r.get(6)?) })
        };
        let sql = "SELECT number, path, before, after, symbols, session_id, at FROM changes ORDER BY number";
        self.read(|c| c.prepare_cached(sql)?.query_map([], noted)?.collect())
    }

    /// Notes how far each work tree's git has come, where that is not known.
    pub(in crate::memory) fn begin_at(
        &self,
        positions: impl Iterator<Item = (String, String)>,
    ) -> Result<(), StorageError> {
        let positions: Vec<_> = positions.collect();
        self.write(|t| {
            let mut statement =
                t.prepare_cached("INSERT OR IGNORE INTO git_positions VALUES(?1, ?2)")?;
            positions
                .iter()
                .try_for_each(|(tree, position)| statement.execute([tree, position]).map(drop))
        })
    }

    /// When the oldest memory was made.
    pub(in crate::memory) fn began(&self) -> Result<Option<DateTime<Utc>>, StorageError> {
        let at: Option<i64> =
            self.read(|c| c.query_row("SELECT min(created_at) FROM memories", [], |r| r.get(0)))?;
        Ok(at.map(time))
    }

    /// How far each work tree's git was read, as it was last recorded.
    pub(in crate::memory) fn git_positions(
        &self,
    ) -> Result<BTreeMap<String, String>, StorageError> {
        self.read(|c| {
            c.prepare_cached("SELECT tree, position FROM git_positions")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect()
        })
    }

    /// Puts episodes in the place of the changes that they were made of, and forgets episodes
    /// beyond the limits. False, and nothing is different, when somebody else has recorded since
    /// the changes and positions were read.
    pub(in crate::memory) fn record(
        &self,
        recorded: &Recorded,
        limits: &EventLimits,
    ) -> Result<bool, StorageError> {
        recorded.episodes.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            let position = "SELECT position FROM git_positions WHERE tree = ?1";
            for (tree, before, _) in &recorded.positions {
                if t.prepare_cached(position)?.query_row([tree], |r| r.get(0)).optional()?
                    != *before
                {
                    return Ok(false);
                }
            }
            for number in &recorded.changes {
                if !t.prepare_cached("SELECT 1 FROM changes WHERE number = ?1")?.exists([number])? {
                    return Ok(false);
                }
            }
            for (tree, _, after) in &recorded.positions {
                match after {
                    Some(after) => t
                        .prepare_cached("INSERT OR REPLACE INTO git_positions VALUES(?1, ?2)")?
                        .execute([tree, after])?,
                    None => t
                        .prepare_cached("DELETE FROM git_positions WHERE tree = ?1")?
                        .execute([tree])?,
                };
            }
            for number in &recorded.changes {
                t.prepare_cached("DELETE FROM changes WHERE number = ?1")?.execute([number])?;
            }
            for (memory, vectors) in &recorded.episodes {
                put(t, memory, vectors)?;
            }
            recorded
                .undone
                .iter()
                .try_for_each(|id| delete(t, "id = ?1", &[&id.to_string()]).map(drop))?;
            forget_events(t, limits)?;
            Ok(true)
        })
    }
}

/// Events do not pile up for ever. What is pinned stays.
fn forget_events(t: &Transaction, limits: &EventLimits) -> rusqlite::Result<()> {
    let oldest = limits.since.timestamp_millis();
    for source in EpisodeSource::ALL.iter().filter(|s| s.is_event()).map(|s| s.as_str()) {
        delete(t, "source_name = ?1 AND NOT pinned AND created_at < ?2", &[&source, &oldest])?;
        let beyond = "number IN (SELECT number FROM memories WHERE source_name = ?1 AND NOT pinned ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET ?2)";
        delete(t, beyond, &[&source, &limits.most])?;
    }
    Ok(())
}
