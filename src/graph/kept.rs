//! Keeps what one answer read for the next ones, until the rows change.
//!
//! A search asks for the surroundings of what it shows, and the next search shows neighbours of that:
//! the same files and names. Reading them again took a third of the time of a call.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::error::GraphError;
use super::resolver::Resolver;
use super::scopes::Scopes;
use super::sql::{Tables, TablesVersion};
use super::traversal::Traversal;
use crate::work::WorkBudget;

/// Most rows that are kept, some 700 bytes each.
const MAX_ROWS: usize = 50_000;

/// How long a call waits for another one that asks the same graph. Most are done by then.
const TURN: Duration = Duration::from_millis(10);

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
        f.write_str("Kept")
    }
}

impl Kept {
    /// Asks a traversal that has read what the last answers needed, if the rows are the same. A call
    /// that does not get it soon, because another one asks it, begins with nothing.
    pub(super) fn ask<T>(
        &self,
        tables: &Arc<Tables>,
        work: &WorkBudget,
        ask: impl FnOnce(&mut Traversal) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        let mut kept = self.0.try_lock_for(TURN);
        let version = tables.version()?;
        let known = kept.as_mut().and_then(|kept| kept.take());
        let mut traversal = match known.filter(|known| known.version == version) {
            Some(known) => known.traversal.again(work),
            None => Traversal::new(Resolver::new(Scopes::new(tables.clone())?, work.clone())),
        };
        let answer = ask(&mut traversal)?;
        if let Some(kept) = &mut kept {
            traversal.forget();
            **kept = Some(KeptTraversal { traversal, version })
                .filter(|kept| kept.traversal.n_rows() <= MAX_ROWS);
        }
        Ok(answer)
    }
}
