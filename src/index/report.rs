//! The reports of an index run: progress while it works, and a summary at its end.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::plan::Action;
use crate::archives::Archive;
use crate::chunk::ChunkType;
use crate::store::{SourceEntry, SourceTable};

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
    /// The archive that the run began with; `None` if there was an index, or no archive.
    #[serde(flatten, serialize_with = "downloaded")]
    pub downloaded: Option<Archive>,
    /// The archive that was left for others; `None` if none was wanted, or one was there.
    #[serde(flatten, serialize_with = "uploaded")]
    pub uploaded: Option<Archive>,
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

/// Writes `downloaded_commit` and `downloaded_bytes`.
#[expect(clippy::ref_option, reason = "serde asks for a reference")]
fn downloaded<S: Serializer>(archive: &Option<Archive>, to: S) -> Result<S::Ok, S::Error> {
    written(archive.as_ref(), ["downloaded_commit", "downloaded_bytes"], to)
}

/// Writes `uploaded_commit` and `uploaded_bytes`.
#[expect(clippy::ref_option, reason = "serde asks for a reference")]
fn uploaded<S: Serializer>(archive: &Option<Archive>, to: S) -> Result<S::Ok, S::Error> {
    written(archive.as_ref(), ["uploaded_commit", "uploaded_bytes"], to)
}

fn written<S: Serializer>(
    archive: Option<&Archive>,
    [commit, bytes]: [&'static str; 2],
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    if let Some(archive) = archive {
        map.serialize_entry(commit, &archive.commit)?;
        map.serialize_entry(bytes, &archive.bytes)?;
    }
    map.end()
}

impl Summary {
    /// Takes what a table says of its files: how many have chunks, and which were skipped.
    pub(super) fn take(&mut self, table: &SourceTable) {
        self.skipped = table.n_skipped();
        let skipped = table.all_skipped().map(|(path, why)| (path.to_string(), why.to_string()));
        self.skipped_files = skipped.collect();
        self.skipped_files.sort();
        for entry in table.files.values() {
            self.n_files += usize::from(!entry.deleted && entry.n_chunks.iter().any(|n| *n > 0));
            for (t, n) in ChunkType::SEARCHED.iter().zip(entry.n_chunks) {
                *self.chunks.entry(t.as_str()).or_default() += n as usize;
            }
        }
    }

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
