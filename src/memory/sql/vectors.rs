//! Stores and finds the vectors of memories.

use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::super::Memory;
use super::rows::{COLUMNS, FROM, add, counter, insert_vectors};
use super::{MemoryStore, StorageError, Vector};
use crate::chunk::{Fingerprint, Quantized};

/// The counter that holds [`MemoryStore::complete_embedder`].
const EMBEDDER: &str = "embedder";

impl MemoryStore {
    /// Returns the vectors of a memory.
    pub(in crate::memory) fn vectors_of(&self, id: Uuid) -> Result<Vec<Vector>, StorageError> {
        let sql = "SELECT v.embedder, v.passage, v.scale, v.components FROM vectors v JOIN memories m ON m.number = v.memory WHERE m.id = ?1";
        let vector = |r: &Row| {
            Ok(Vector {
                embedder: r.get(0)?,
                passage: fingerprint(&r.get::<_, Vec<u8>>(1)?),
                vector: quantized(r, 2)?,
            })
        };
        self.rows(sql, [id.to_string()], vector)
    }

    /// Returns memories without a vector of this embedder, newest first.
    pub(in crate::memory) fn without_vector(
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
    pub(in crate::memory) fn put_vectors(
        &self,
        made: &[(Memory, Vec<Vector>)],
    ) -> Result<(), StorageError> {
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
    pub(in crate::memory) fn complete_embedder(&self) -> Result<i64, StorageError> {
        self.read(|c| counter(c, EMBEDDER))
    }

    /// Sets the mark of the embedder of which every memory has vectors.
    pub(in crate::memory) fn set_complete_embedder(&self, mark: i64) -> Result<(), StorageError> {
        let sql = "INSERT INTO counters VALUES(?1, ?2) ON CONFLICT DO UPDATE SET n = ?2";
        self.write(|t| t.execute(sql, params![EMBEDDER, mark]).map(drop))
    }

    /// Returns the vectors of passages by one embedder.
    pub(in crate::memory) fn vectors(
        &self,
        embedder: &str,
    ) -> Result<Vec<(Fingerprint, Quantized)>, StorageError> {
        let sql = "SELECT passage, scale, components FROM vectors WHERE embedder = ?1";
        let vector = |r: &Row| Ok((fingerprint(&r.get::<_, Vec<u8>>(0)?), quantized(r, 1)?));
        self.rows(sql, [embedder], vector)
    }

    /// Returns the vector of one passage.
    pub(in crate::memory) fn vector(
        &self,
        embedder: &str,
        passage: Fingerprint,
    ) -> Result<Option<Quantized>, StorageError> {
        let sql =
            "SELECT scale, components FROM vectors WHERE embedder = ?1 AND passage = ?2 LIMIT 1";
        self.row(sql, params![embedder, passage.to_le_bytes()], |r| quantized(r, 0))
    }
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
