//! Keeps the gram filters of an index open.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::dir::Stat;
use crate::store::{GramFilters, Layout, SourceTable};

/// Fewest files for which the filters are asked: reading fewer takes less than a few milliseconds.
const MIN_FILES: usize = 256;
/// Opening the filters takes a microsecond for each file of the index, and reading a file that does
/// not match takes ten or more. So a search of fewer than one in this many files does without.
const MIN_SHARE: u64 = 8;
/// Bytes of the table of source files for each file, about.
const ENTRY_BYTES: u64 = 256;

/// The gram filters that were opened last, with the table of source files that they belong to.
#[derive(Default)]
pub(in crate::engine) struct OpenFilters(Mutex<Option<(Stat, Option<Arc<GramFilters>>)>>);

impl OpenFilters {
    /// Returns the filters of the index; `None` if there are none, or if opening them would take
    /// longer than reading `n_files`.
    pub(in crate::engine) fn of(
        &self,
        layout: &Layout,
        n_files: usize,
    ) -> Option<Arc<GramFilters>> {
        if n_files < MIN_FILES {
            return None;
        }
        let table = SourceTable::stamp(layout)?;
        let mut open = self.0.lock();
        if let Some((of, filters)) = &*open
            && *of == table
        {
            return filters.clone();
        }
        if (n_files as u64).saturating_mul(MIN_SHARE * ENTRY_BYTES) < table.bytes {
            return None;
        }
        let filters = GramFilters::open(layout).map(Arc::new);
        *open = Some((table, filters.clone()));
        filters
    }
}
