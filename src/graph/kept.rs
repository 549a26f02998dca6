//! Keeps what one answer read and resolved for the next ones, until the rows change.
//!
//! A search asks for the surroundings of what it shows, and the next search shows neighbours of that:
//! the same files, names and meanings. Reading them again took half of the time of a call.

use parking_lot::Mutex;

use super::CodeGraph;
use super::error::GraphError;
use super::sql::TablesVersion;
use super::traversal::Traversal;
use crate::work::WorkBudget;

/// Most rows that are kept, some 300 bytes each.
const MAX_ROWS: usize = 40_000;

/// What is kept between two answers.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<KeptTraversal>>);

struct KeptTraversal {
    traversal: Traversal,
    /// The version of the tables when the first of its rows was about to be read.
    version: TablesVersion,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.lock().is_some() { "something" } else { "nothing" })
    }
}

impl CodeGraph {
    /// Asks a traversal that knows what the last ones found out, if the rows are the same. Of several
    /// that ask at once, one gets it, and the others begin with nothing.
    pub(super) fn ask<T>(
        &self,
        work: &WorkBudget,
        ask: impl FnOnce(&mut Traversal) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        let version = self.tables.version()?;
        let kept = self.kept.0.lock().take().filter(|kept| kept.version == version);
        let mut traversal = match kept {
            Some(kept) => kept.traversal.again(work),
            None => Traversal::new(self.resolver(work)?),
        };
        let answer = ask(&mut traversal)?;
        // What was found within a budget that ended may lack something.
        if !work.is_spent() && traversal.n_rows() <= MAX_ROWS {
            *self.kept.0.lock() = Some(KeptTraversal { traversal, version });
        }
        Ok(answer)
    }
}
