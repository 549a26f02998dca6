//! The SCIP indexes of a project. They are kept in the user's state directory, where no clone can put
//! one: what an index says counts as certain.

use std::fs::File;
use std::io::{self, BufReader, Read};

use crate::config;
use crate::dir::{Dir, OwnedDir, PRIVATE_DIR, PRIVATE_FILE, Stat};
use crate::engine::door::project::Project;
use crate::engine::door::serving::Engine;
use crate::engine::{AskError, Call};
use crate::graph::{CodeGraph, Comparison, GraphError, Imported, PreciseSource};
use crate::memory;
use crate::source::nanoseconds;

/// The folder of the indexes, in the project's own folder of the state directory.
const FOLDER: &str = "scip";
/// Largest index that is kept.
const MAX_BYTES: u64 = 4 << 30;
/// How long inference is compared with the indexes.
const COMPARING: std::time::Duration = std::time::Duration::from_hours(1);

impl Engine {
    /// Keeps a SCIP index under a name, in place of the former one of that name, and imports it. It
    /// says what each name means in the files that have not changed since it was made.
    ///
    /// # Errors
    /// When it cannot be kept, is no SCIP index, or the graph cannot be written.
    pub fn import_scip(
        &self,
        name: &str,
        index: &mut File,
        call: &Call,
    ) -> Result<Imported, AskError> {
        let unusable = |e: io::Error| AskError::Failed(format!("cannot keep {name}: {e}"));
        let size = index.metadata().map_err(unusable)?.len();
        if size > MAX_BYTES {
            return Err(AskError::Arguments(format!(
                "{name} has {size} bytes, and an index of more than {MAX_BYTES} is not read"
            )));
        }
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .collect();
        // Before the copy is there, the update of the graph does not import it.
        self.state(call)?;
        let (graph, _) = self.code_graph(call)?;
        let folder = self.project.scip_folder(true).map_err(unusable)?;
        let folder = folder.make(PRIVATE_DIR).map_err(unusable)?;
        folder.remove_abandoned();
        let (unfinished, mut copy) = folder.unfinished(PRIVATE_FILE).map_err(unusable)?;
        io::copy(&mut index.take(MAX_BYTES), &mut copy).map_err(unusable)?;
        // An index that cannot be read does not replace one that can.
        let imported = self.project.import_kept(&graph, &folder, &unfinished, &name);
        match imported {
            Ok(_) => folder.rename(&unfinished, &name).map_err(unusable)?,
            Err(_) => folder.remove_file(&unfinished).map_err(unusable)?,
        }
        Ok(imported?)
    }

    /// Returns the imported SCIP indexes.
    ///
    /// # Errors
    /// When the graph cannot be read or written.
    pub fn scip_indexes(&self, call: &Call) -> Result<Vec<PreciseSource>, AskError> {
        self.state(call)?;
        Ok(self.ask_graph(call, CodeGraph::sources)?.0)
    }

    /// Deletes an imported SCIP index, and returns what it covered.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot be deleted.
    pub fn forget_scip(&self, name: &str, call: &Call) -> Result<PreciseSource, AskError> {
        let known = self.scip_indexes(call)?;
        let Some(index) = known.iter().find(|index| index.name == name) else {
            let names: Vec<&str> = known.iter().map(|index| &*index.name).collect();
            let instead = match names[..] {
                [] => "none is imported".to_string(),
                _ => format!("give one of {}", names.join(", ")),
            };
            return Err(AskError::NotFound(format!("there is no index {name}: {instead}")));
        };
        let folder = self.project.scip_folder(false).and_then(|folder| folder.open());
        folder
            .and_then(|folder| folder.remove_file(name))
            .map_err(|e| AskError::Failed(format!("cannot delete {name}: {e}")))?;
        self.ask_graph(call, |graph| graph.forget(name))?;
        Ok(index.clone())
    }

    /// Compares what the graph infers with what the imported SCIP indexes say.
    ///
    /// # Errors
    /// When the graph cannot be read or written.
    pub fn compare_graph(&self, call: &Call) -> Result<Comparison, AskError> {
        self.state(call)?;
        let work = call.work().lasting(COMPARING);
        Ok(self.ask_graph(call, |graph| graph.compare(&work))?.0)
    }
}

impl Project {
    /// Returns the folder of the indexes; `make` creates the state directory.
    fn scip_folder(&self, make: bool) -> io::Result<OwnedDir> {
        let state = config::state_home().ok_or(io::ErrorKind::NotFound)?;
        Ok(memory::private_dir(&state, self.layout.tree(), make)?.below(FOLDER))
    }

    /// Imports the kept indexes that the graph does not have, and drops those that are not kept: a
    /// database that came with a clone may hold any.
    pub(in crate::engine) fn sync_scip(&self, graph: &CodeGraph) -> Result<(), GraphError> {
        let folder = self.scip_folder(false).and_then(|folder| folder.open());
        let kept = folder.as_ref().map(kept_indexes).unwrap_or_default();
        let known = graph.sources()?;
        for (name, stamp) in &kept {
            let is_known = |s: &PreciseSource| s.name == *name && s.stamp == *stamp;
            if !known.iter().any(is_known)
                && let Ok(folder) = &folder
                && let Err(e) = self.import_kept(graph, folder, name, name)
            {
                tracing::warn!("{e}");
            }
        }
        for source in
            known.iter().filter(|source| !kept.iter().any(|(name, _)| *name == source.name))
        {
            graph.forget(&source.name)?;
        }
        Ok(())
    }

    /// Returns the kept indexes, each with its stamp.
    pub(in crate::engine) fn scip_stamps(&self) -> Vec<(String, String)> {
        let folder = self.scip_folder(false).and_then(|folder| folder.open());
        folder.as_ref().map(kept_indexes).unwrap_or_default()
    }

    /// Imports the index in a file of the folder under a name.
    fn import_kept(
        &self,
        graph: &CodeGraph,
        folder: &Dir,
        file: &str,
        name: &str,
    ) -> Result<Imported, GraphError> {
        let failed =
            |e: io::Error| GraphError::NoScip { name: name.to_string(), reason: e.to_string() };
        let stat = folder.stat(file).map_err(failed)?.ok_or(io::ErrorKind::NotFound.into());
        let stamp = stamp(&stat.map_err(failed)?);
        let open = || folder.open_file(file).map(BufReader::new);
        let read = |path: &str| self.read_text(path).ok();
        graph.import(name, &stamp, self.layout.root(), open, read)
    }
}

/// Returns the indexes in a folder, each with its stamp.
fn kept_indexes(folder: &Dir) -> Vec<(String, String)> {
    let names = folder.list().unwrap_or_default().into_iter();
    let names =
        names.filter_map(|(name, _)| name.into_string().ok()).filter(|name| !name.starts_with('.'));
    let with_stamp = |name: String| {
        let stamp = stamp(&folder.stat(&name).ok()??);
        Some((name, stamp))
    };
    names.filter_map(with_stamp).collect()
}

/// Returns what tells versions of a kept index apart.
fn stamp(stat: &Stat) -> String {
    format!("{}-{}-{}", stat.bytes, nanoseconds(stat.modified), stat.id.1)
}
