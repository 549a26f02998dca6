//! Stores, replaces and deletes memories.

use chrono::Utc;
use rusqlite::{Transaction, params};
use uuid::Uuid;

use super::super::RedactedMemory;
use super::rows::{add, check, delete, put};
use super::{MemoryStore, StorageError, Stored, Vector};

impl MemoryStore {
    /// Stores a memory with its vectors. It replaces a memory with the same id.
    ///
    /// # Errors
    /// When the memory is too long or cannot be written. Nothing of it is stored then.
    pub fn store(&self, memory: &RedactedMemory, vectors: &[Vector]) -> Result<(), StorageError> {
        check(memory)?;
        self.write(|t| put(t, memory, vectors))
    }

    /// Replaces the memories made of a file by new ones, and stores the file's hash. A `hash` of
    /// `None` means that the file is gone. Returns how many memories were replaced.
    pub(in crate::memory) fn replace_file(
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

    /// Deletes a memory. Returns false if none has this id.
    ///
    /// # Errors
    /// When the deletion cannot be written.
    pub fn delete(&self, id: Uuid) -> Result<bool, StorageError> {
        self.write(|t| Ok(delete(t, "id = ?1", &[&id.to_string()])? > 0))
    }

    /// Deletes memories, stores others, and notes for each of `superseded` (first) which memory holds in
    /// its place (second), in one transaction.
    pub(in crate::memory) fn exchange(
        &self,
        gone: &[Uuid],
        new: &[Stored],
        superseded: &[(Uuid, Uuid)],
    ) -> Result<(), StorageError> {
        new.iter().try_for_each(|(memory, _)| check(memory))?;
        self.write(|t| {
            gone.iter().try_for_each(|id| delete(t, "id = ?1", &[&id.to_string()]).map(drop))?;
            new.iter().try_for_each(|(memory, vectors)| put(t, memory, vectors))?;
            superseded.iter().try_for_each(|(old, by)| supersede(t, *old, *by))
        })
    }

    /// Deletes the memories made of a file's pieces. Returns how many there were.
    pub(in crate::memory) fn delete_by_file_path(&self, path: &str) -> Result<usize, StorageError> {
        self.replace_file(path, None, &[])
    }

    /// Adds to the number of removed secrets.
    pub(in crate::memory) fn count_redacted(&self, n: usize) -> Result<(), StorageError> {
        if n == 0 {
            return Ok(());
        }
        self.write(|t| add(t, "redacted", i64::try_from(n).unwrap_or(i64::MAX)).map(drop))
    }

    /// Gives the database a new identity, so that readers start from its first change again.
    pub(in crate::memory) fn renew_identity(&self) -> Result<(), StorageError> {
        self.write(|t| t.execute("UPDATE counters SET n = random() WHERE name = 'identity'", []))?;
        Ok(())
    }
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
