//! The reports of an index run: progress while it works, and a summary at its end.

use std::collections::BTreeMap;

use serde::Serialize;

use super::plan::Action;
use crate::store::SourceEntry;

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of files that were parsed so far, or of vectors in
    /// [`Indexer::embed_rest`](super::Indexer::embed_rest).
    pub done: usize,
    /// Number of files to parse, or of vectors to make.
    pub total: usize,
}

/// The result of a run. Serialised for `cortex index --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The generation of the chunk files after the run.
    pub generation: u64,
    /// Whether the chunk files were rewritten.
    pub changed: bool,
    /// Number of files that have chunks.
    pub n_files: usize,
    /// Number of files parsed in this run, including skipped ones.
    pub n_parsed: usize,
    /// Number of new or changed files that were not parsed, since their content was known from an
    /// earlier run, of any project of this user.
    pub n_known: usize,
    /// Number of files that left the index.
    pub n_removed: usize,
    /// Number of chunks by type.
    pub chunks: BTreeMap<&'static str, usize>,
    /// Number of passages embedded in this run; the cache had the others.
    pub n_embedded: usize,
    /// Bytes of source that were parsed.
    pub parsed_bytes: u64,
    /// Number of skipped files by reason.
    pub skipped: BTreeMap<String, usize>,
    pub ms: u64,
    /// The path of each skipped file, and the reason with its detail. Printed by `--verbose`.
    pub skipped_files: Vec<(String, String)>,
}

impl Summary {
    /// Counts a file; `parsed` is its entry if it was parsed, or its content was known.
    pub(super) fn count(&mut self, action: &Action, parsed: Option<&SourceEntry>, is_known: bool) {
        match (action, parsed) {
            (Action::Keep(_), _) => {}
            (_, Some(_)) if is_known => self.n_known += 1,
            (_, Some(entry)) => {
                self.n_parsed += 1;
                self.parsed_bytes += entry.bytes;
            }
            (_, None) => self.n_removed += 1,
        }
    }

    /// Returns the number of files whose chunks were replaced or removed.
    pub(super) fn n_changed(&self) -> usize {
        self.n_parsed + self.n_known + self.n_removed
    }

    /// Returns the number of chunks of all types.
    #[must_use]
    pub fn n_chunks(&self) -> usize {
        self.chunks.values().sum()
    }
}
