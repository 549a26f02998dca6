//! The stamps of the indexed source files, which make incremental indexing possible.
//!
//! The table is derived and disposable. It belongs to one manifest; without it, or with another
//! manifest, every file is parsed again.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layout::SOURCES;
use super::{Layout, Manifest};
use crate::chunk::CountByType;
use crate::dir::Stat;
use crate::source::{DeclaredOrigin, nanoseconds};

/// A file whose time stamp is this fresh may change again without a new one.
pub const TIMESTAMP_TICK: Duration = Duration::from_secs(2);

/// Returns the time up to which a file's stamps identify its content. A file that was modified
/// later may have changed again within one clock tick.
#[must_use]
pub fn trusted_before(walked_at_ns: u64) -> u64 {
    walked_at_ns.saturating_sub(u64::try_from(TIMESTAMP_TICK.as_nanos()).unwrap_or(u64::MAX))
}

/// Largest table that is read, in bytes: some two million files.
pub(super) const MAX_BYTES: u64 = 512 << 20;

/// The state of every file of the tree when the indexer wrote a generation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTable {
    /// The manifest that this table belongs to.
    pub manifest: Option<Manifest>,
    /// Changes with everything that decides which chunks a file yields: program version and
    /// settings.
    pub rules: String,
    /// Start of the walk that this table describes, in nanoseconds since 1970.
    pub walked_at_ns: u64,
    /// The commits that the chunks of type history are about; `None` if there are none.
    #[serde(default)]
    pub history: Option<HistoryStamp>,
    /// Files that were skipped without being read: path and reason.
    #[serde(default)]
    pub skipped: BTreeMap<String, String>,
    /// The file of gram filters that the last run left; another file in its place is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grams: Option<GramFile>,
    /// The files of the tree by path relative to the root.
    pub files: BTreeMap<String, SourceEntry>,
}

/// What tells the file of filters from any other in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GramFile {
    bytes: u64,
    inode: u64,
    /// When the inode last changed (ctime), in nanoseconds since 1970.
    changed_ns: u64,
    /// Number of records, those of contents that are gone included.
    pub(super) n_records: usize,
}

impl GramFile {
    pub(super) fn new(stat: &Stat, n_records: usize) -> Self {
        let changed_ns = nanoseconds(stat.changed);
        Self { bytes: stat.bytes, inode: stat.id.1, changed_ns, n_records }
    }

    /// Whether the file is the one that was written.
    pub(super) fn is(&self, stat: &Stat) -> bool {
        (self.bytes, self.inode, self.changed_ns)
            == (stat.bytes, stat.id.1, nanoseconds(stat.changed))
    }
}

/// The state of the history in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryStamp {
    /// The newest commit, 40 (or 64) hexadecimal digits.
    pub head: String,
    /// Whether the commits could be read.
    pub is_complete: bool,
    /// Why older commits are missing, or all of them.
    #[serde(default)]
    pub missing: Option<String>,
    /// While a process still reads the commits: when another one may take over, in Unix seconds.
    #[serde(default)]
    pub read_until: Option<i64>,
}

/// One file of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: u64,
    /// When the inode last changed (ctime), in nanoseconds since 1970. It also changes when a file
    /// with the old `modified_ns` replaces this one.
    #[serde(default)]
    pub changed_ns: u64,
    /// SHA-256 of the content, hexadecimal; empty when it was not read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Number of lines; 0 when it was not read.
    #[serde(default)]
    pub lines: u64,
    /// Number of its chunks of each type, in the order of `ChunkType::SEARCHED`.
    #[serde(default)]
    pub n_chunks: CountByType,
    /// What was declared about its origin.
    #[serde(default, skip_serializing_if = "DeclaredOrigin::is_empty")]
    pub origin: DeclaredOrigin,
    /// The secrets that were redacted from its text: line and rule, in order of the lines. The
    /// secrets themselves are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<(u32, String)>,
    /// The file was deleted, but its chunks are kept as they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Why the file has no chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// In how many runs its parser ran out of time, one after the other, on this content.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_timeouts: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u8) -> bool {
    *n == 0
}

impl SourceEntry {
    /// Whether the next run parses the file again although it did not change. A file whose parser ran
    /// out of time twice is left as it is, so that it does not slow down every run.
    #[must_use]
    pub fn is_to_retry(&self) -> bool {
        self.n_timeouts == 1
    }

    /// Counts the time limit that was met once more if the same text met one in the run before.
    pub fn count_timeouts(&mut self, before: Option<&Self>) {
        let same = before.filter(|before| before.sha256 == self.sha256);
        if let Some(before) = same.filter(|_| self.n_timeouts > 0) {
            self.n_timeouts = before.n_timeouts.saturating_add(1);
        }
    }
}

impl SourceTable {
    /// Iterates over all skipped files, read or not: path, reason.
    pub fn all_skipped(&self) -> impl Iterator<Item = (&str, &str)> {
        let read = self.files.iter().filter_map(|(p, e)| Some((p.as_str(), e.skipped.as_deref()?)));
        self.skipped.iter().map(|(p, r)| (p.as_str(), r.as_str())).chain(read)
    }

    /// Iterates over all secrets that were redacted from files: path, line, rule.
    pub fn all_secrets(&self) -> impl Iterator<Item = (&str, u32, &str)> {
        self.files.iter().flat_map(|(path, entry)| {
            entry.secrets.iter().map(|(line, rule)| (path.as_str(), *line, rule.as_str()))
        })
    }

    /// Counts the skipped files for each reason. The part of a reason after a colon is ignored.
    #[must_use]
    pub fn n_skipped(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for (_, reason) in self.all_skipped() {
            *counts.entry(reason.split(':').next().unwrap_or(reason).to_string()).or_default() += 1;
        }
        counts
    }

    /// Returns what tells the table that is there now from any other; `None` if there is none.
    #[must_use]
    pub fn stamp(layout: &Layout) -> Option<Stat> {
        layout.stat(SOURCES).ok().flatten()
    }

    /// Reads the table; `None` when there is none, it cannot be understood, or this user did not write
    /// it here.
    #[must_use]
    pub fn read(layout: &Layout) -> Option<Self> {
        let mut bytes = layout.read(SOURCES, MAX_BYTES).ok()?;
        serde_json::from_slice(layout.unsealed(SOURCES, &mut bytes)?).ok()
    }

    /// Reads a table that need not be of this user.
    #[must_use]
    pub fn read_unsealed(layout: &Layout) -> Option<Self> {
        serde_json::from_slice(&layout.read(SOURCES, MAX_BYTES).ok()?).ok()
    }

    /// Writes the table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, layout: &Layout) -> io::Result<()> {
        layout.replace_sealed(SOURCES, &serde_json::to_vec(self)?)
    }
}
