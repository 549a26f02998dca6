//! What a query sees: one generation, whole.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::search::Corpus;

/// Everything that is served, of one generation. A query takes one and uses nothing else.
pub struct Snapshot {
    /// The manifest's generation; counted by this process when another program wrote the files (`local`).
    pub generation: u64,
    /// The generation is this process's own count.
    pub local: bool,
    /// Code, documents and data of the repository.
    pub code: Corpus,
    /// For people: what was odd about the files.
    pub warnings: Vec<String>,
    pub loaded_at: DateTime<Utc>,
}

/// How reloading went so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Reloads that were tried, and how they ended.
    pub n_reloads: u64,
    pub n_successful: u64,
    pub n_failed: u64,
    /// Chunk files parsed in all: one for each file that changed, however many indexes are fed from it.
    pub n_files_parsed: u64,
    pub last_duration: Duration,
    /// Of the last reload, if it failed.
    pub last_error: Option<String>,
    pub last_reload_at: Option<DateTime<Utc>>,
}
