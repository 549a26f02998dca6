//! Stores changes of files until the recorder knows their cause, and the episodes that it makes of
//! them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use uuid::Uuid;

use super::super::EpisodeSource;
use super::rows::{check, delete, put, time};
use super::{MemoryStore, StorageError, Stored};
use crate::source::FileChange;

/// Separates the name of a linked working tree from a tree in it. Names have no such character.
const BELOW: char = '\n';

/// A change of a file as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) struct Noted {
    pub number: i64,
    pub change: FileChange,
    /// Empty outside of sessions.
    pub session_id: String,
    /// When the indexer saw the change.
    pub at: DateTime<Utc>,
}

/// The result of one run of the recorder.
#[derive(Debug, Default)]
pub(in crate::memory) struct Recorded {
    /// Row numbers of the changes that were used.
    pub changes: Vec<i64>,
    /// For each work tree: the position in git's logs before this run (`None` on the first run) and
    /// after it (`None` if the repository is gone).
    pub positions: Vec<(String, Option<String>, Option<String>)>,
    pub episodes: Vec<Stored>,
    /// Ids of episodes that a later operation undid.
    pub undone: Vec<Uuid>,
}

impl MemoryStore {
    /// Stores changes of files until the recorder knows their cause, each with its session and
    /// time.
    pub(in crate::memory) fn note_changes(
        &self,
        changes: &[(FileChange, String, DateTime<Utc>)],
    ) -> Result<(), StorageError> {
        self.write(|t| {
            let mut statement =
                t.prepare_cached("INSERT INTO changes(path, before, after, symbols, session_id, at, worktree) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
            for (FileChange { path, before, after, symbols }, session_id, at) in changes {
                statement.execute(params![path, before, after, symbols.join("\n"), session_id, at.timestamp_millis(), self.worktree])?;
            }
            Ok(())
        })
    }

    /// Returns the stored changes of this working tree, oldest first.
    pub(in crate::memory) fn noted_changes(&self) -> Result<Vec<Noted>, StorageError> {
        let noted = |r: &Row| {
            let symbols: String = r.get(4)?;
            let symbols = symbols.lines().map(String::from).collect();
            let change =
                FileChange { path: r.get(1)?, before: r.get(2)?, after: r.get(3)?, symbols };
            Ok(Noted { number: r.get(0)?, change, session_id: r.get(5)?, at: time(r.get(6)?) })
        };
        let sql = "SELECT number, path, before, after, symbols, session_id, at FROM changes WHERE worktree = ?1 ORDER BY number";
        self.rows(sql, [&self.worktree], noted)
    }

    /// Stores the position in each work tree's git logs, for work trees without one.
    pub(in crate::memory) fn begin_at(
        &self,
        positions: impl Iterator<Item = (String, String)>,
    ) -> Result<(), StorageError> {
        let positions: Vec<_> = positions.collect();
        self.write(|t| {
            let mut statement =
                t.prepare_cached("INSERT OR IGNORE INTO git_positions VALUES(?1, ?2)")?;
            positions.iter().try_for_each(|(tree, position)| {
                statement.execute([&self.key_of(tree), position]).map(drop)
            })
        })
    }

    /// Returns when the oldest memory was made.
    pub(in crate::memory) fn began(&self) -> Result<Option<DateTime<Utc>>, StorageError> {
        let at: Option<i64> =
            self.read(|c| c.query_row("SELECT min(created_at) FROM memories", [], |r| r.get(0)))?;
        Ok(at.map(time))
    }

    /// Returns the last recorded position in each work tree's git logs.
    pub(in crate::memory) fn git_positions(
        &self,
    ) -> Result<BTreeMap<String, String>, StorageError> {
        let sql = "SELECT tree, position FROM git_positions";
        let all: Vec<(String, String)> = self.rows(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let own = |(key, position): (String, String)| {
            let (worktree, tree) = key.split_once(BELOW).unwrap_or(("", key.as_str()));
            (worktree == self.worktree).then(|| (tree.to_string(), position))
        };
        Ok(all.into_iter().filter_map(own).collect())
    }

    /// Returns the key of a position: the tree, behind the name of a linked working tree.
    fn key_of(&self, tree: &str) -> String {
        if self.worktree.is_empty() {
            tree.to_string()
        } else {
            format!("{}{BELOW}{tree}", self.worktree)
        }
    }

    /// Replaces changes by the episodes that were made of them, and deletes events beyond the newest
    /// `most` of each source, and those before `since`. Returns false and changes nothing if another
    /// process has recorded since the changes and positions were read.
    pub(in crate::memory) fn record(
        &self,
        recorded: &Recorded,
        most: usize,
        since: DateTime<Utc>,
    ) -> Result<bool, StorageError> {
        recorded.episodes.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            let position = "SELECT position FROM git_positions WHERE tree = ?1";
            for (tree, before, _) in &recorded.positions {
                let key = self.key_of(tree);
                if t.prepare_cached(position)?.query_row([key], |r| r.get(0)).optional()? != *before
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
                let tree = &self.key_of(tree);
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
            forget_events(t, most, since)?;
            Ok(true)
        })
    }
}

/// Deletes events beyond the newest `most` of each source, and older ones. Pinned ones stay.
fn forget_events(t: &Transaction, most: usize, since: DateTime<Utc>) -> rusqlite::Result<()> {
    let oldest = since.timestamp_millis();
    for source in EpisodeSource::ALL.iter().filter(|s| s.is_event()).map(|s| s.as_str()) {
        delete(t, "source_name = ?1 AND NOT pinned AND created_at < ?2", &[&source, &oldest])?;
        let beyond = "number IN (SELECT number FROM memories WHERE source_name = ?1 AND NOT pinned ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET ?2)";
        delete(t, beyond, &[&source, &most])?;
    }
    Ok(())
}
