//! The rows of SCIP indexes.

use std::collections::HashMap;

use rusqlite::params;
use serde::Serialize;

use super::Tables;
use crate::graph::error::GraphError;
use crate::graph::rows::FileId;
use crate::graph::scip::{Precise, SymbolPlace};
use crate::sqlite;

/// An imported SCIP index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreciseSource {
    /// Name of its file.
    pub name: String,
    /// What tells its versions apart.
    #[serde(skip)]
    pub stamp: String,
    /// The program that wrote it.
    pub tool: String,
    /// Number of files that it covers.
    pub n_files: usize,
    /// Number of these that have the text of which it was made.
    pub n_current: usize,
}

/// A use of a name in a file that has not changed since its index was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::graph) struct PreciseUse {
    pub(in crate::graph) line: u32,
    pub(in crate::graph) name: String,
    pub(in crate::graph) is_called: bool,
    /// The definition; `None` if the project does not hold it.
    pub(in crate::graph) place: Option<SymbolPlace>,
}

impl Tables {
    /// Replaces the rows of the SCIP index `name`. `hashes` are those of the files.
    pub(in crate::graph) fn put_precise(
        &self,
        name: &str,
        stamp: &str,
        precise: &Precise,
        hashes: &HashMap<String, String>,
    ) -> Result<(), GraphError> {
        let result = sqlite::write(&mut self.connection(), |t| {
            t.execute("DELETE FROM precise_sources WHERE name = ?1", [name])?;
            t.execute(
                "INSERT INTO precise_sources VALUES(?1, ?2, ?3)",
                [name, stamp, &precise.tool],
            )?;
            let mut ids: HashMap<&str, i64> = HashMap::new();
            let mut file = t.prepare_cached(
                "INSERT OR REPLACE INTO precise_files(source, path, hash) VALUES(?1, ?2, ?3)",
            )?;
            for (path, _) in &precise.documents {
                if let Some(hash) = hashes.get(path) {
                    file.execute([name, path, hash])?;
                    ids.insert(path, t.last_insert_rowid());
                }
            }
            let mut place = t.prepare_cached(
                "INSERT INTO precise_places(file, line, name) VALUES(?1, ?2, ?3)",
            )?;
            let mut rows: Vec<i64> = Vec::with_capacity(precise.places.len());
            for SymbolPlace { path, line, name } in &precise.places {
                let Some(id) = ids.get(path.as_str()) else {
                    rows.push(0);
                    continue;
                };
                place.execute(params![id, line, name])?;
                rows.push(t.last_insert_rowid());
            }
            let mut uses = t.prepare_cached(
                "INSERT INTO precise_uses VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET called = max(called, excluded.called)",
            )?;
            for (path, all) in &precise.documents {
                let Some(id) = ids.get(path.as_str()) else { continue };
                for one in all {
                    let row = one.means.map_or(0, |n| rows[n]);
                    uses.execute(params![id, one.line, one.name, row, one.is_called])?;
                }
            }
            Ok(())
        });
        result.map_err(|e| self.error(e))
    }

    /// Deletes the rows of a SCIP index.
    pub(in crate::graph) fn drop_precise(&self, name: &str) -> Result<(), GraphError> {
        let result = sqlite::write(&mut self.connection(), |t| {
            t.execute("DELETE FROM precise_sources WHERE name = ?1", [name]).map(|_| ())
        });
        result.map_err(|e| self.error(e))
    }

    /// Returns the imported SCIP indexes.
    pub(in crate::graph) fn precise_sources(&self) -> Result<Vec<PreciseSource>, GraphError> {
        self.all(
            "SELECT s.name, s.stamp, s.tool, count(p.id), count(f.id) FROM precise_sources s
                LEFT JOIN precise_files p ON p.source = s.name
                LEFT JOIN files f ON f.path = p.path AND f.hash = p.hash
                GROUP BY s.name ORDER BY s.name",
            [],
            |r| {
                Ok(PreciseSource {
                    name: r.get(0)?,
                    stamp: r.get(1)?,
                    tool: r.get(2)?,
                    n_files: r.get(3)?,
                    n_current: r.get(4)?,
                })
            },
        )
    }

    /// Returns the files that a SCIP index describes as they are now.
    pub(in crate::graph) fn precise_files(&self) -> Result<Vec<FileId>, GraphError> {
        self.all(
            "SELECT f.id FROM precise_files p JOIN files f ON f.path = p.path AND f.hash = p.hash",
            [],
            |r| r.get(0),
        )
    }

    /// Returns the uses in a file that a SCIP index describes.
    pub(in crate::graph) fn precise_uses_of(
        &self,
        file: FileId,
    ) -> Result<Vec<PreciseUse>, GraphError> {
        self.all(
            "SELECT u.line, u.name, u.called, d.path, t.line, t.name FROM files f
                JOIN precise_files p ON p.path = f.path AND p.hash = f.hash
                JOIN precise_uses u ON u.file = p.id
                LEFT JOIN precise_places t ON t.id = u.place
                LEFT JOIN precise_files d ON d.id = t.file
                WHERE f.id = ?1",
            [file],
            |r| {
                let path: Option<String> = r.get(3)?;
                let place = match path {
                    Some(path) => Some(SymbolPlace { path, line: r.get(4)?, name: r.get(5)? }),
                    None => None,
                };
                Ok(PreciseUse { line: r.get(0)?, name: r.get(1)?, is_called: r.get(2)?, place })
            },
        )
    }

    /// Returns the uses of what a file defines under a name: the line of the definition, and file,
    /// line and whether it is called of the use.
    pub(in crate::graph) fn precise_uses_named(
        &self,
        path: &str,
        name: &str,
    ) -> Result<Vec<(u32, FileId, u32, bool)>, GraphError> {
        self.all(
            "SELECT t.line, f.id, u.line, u.called FROM precise_files d
                JOIN precise_places t ON t.file = d.id AND t.name = ?2
                JOIN precise_uses u ON u.place = t.id AND u.place > 0
                JOIN precise_files p ON p.id = u.file
                JOIN files f ON f.path = p.path AND f.hash = p.hash
                WHERE d.path = ?1 ORDER BY f.id, u.line",
            [path, name],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)),
        )
    }
}
