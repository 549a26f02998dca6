//! What an index run tells: progress while it works, a summary when it is done.

use std::collections::BTreeMap;

use serde::Serialize;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files that are parsed and embedded.
    pub done: usize,
    /// Files that must be.
    pub total: usize,
}

/// What a run did. Serialised for `cortex index --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Generation of the chunk files after the run.
    pub generation: u64,
    /// Whether the chunk files were rewritten.
    pub changed: bool,
    /// Files that gave chunks.
    pub n_files: usize,
    /// Of these and the skipped ones: parsed in this run.
    pub n_parsed: usize,
    /// Files that left the index.
    pub n_removed: usize,
    /// Chunks by type.
    pub chunks: BTreeMap<&'static str, usize>,
    /// Texts embedded in this run; the others were in the cache.
    pub n_embedded: usize,
    /// Bytes of source that were parsed.
    pub parsed_bytes: u64,
    /// Skipped files by reason.
    pub skipped: BTreeMap<String, usize>,
    pub ms: u64,
    /// Each skipped file: path, reason with detail. Printed by `--verbose`.
    pub skipped_files: Vec<(String, String)>,
}

impl Summary {
    /// Chunks of all types.
    #[must_use]
    pub fn n_chunks(&self) -> usize {
        self.chunks.values().sum()
    }
}
