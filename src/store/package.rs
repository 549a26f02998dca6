//! The record of a package of others beside its index: what was indexed, and its words.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::layout::{PACKAGE, WORDS};
use super::{Layout, WriteLock};

/// The date of a record tells when it was last used. It is written at most once in this time.
const USED: Duration = Duration::from_hours(24);

/// Largest record, and largest list of words, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// What is known of a package whose index is complete. It is written last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRecord {
    pub ecosystem: String,
    pub name: String,
    pub version: String,
    /// Absolute path of the folder of its sources.
    pub root: String,
    /// The settings and the version of the program that made the index.
    pub rules: String,
    /// Changes when the package is installed again.
    pub stamp: String,
    /// What its manifest says that it is; empty if it says nothing.
    pub description: String,
    pub n_files: usize,
    pub n_chunks: usize,
    /// Bytes of the index on disk.
    pub bytes: u64,
}

impl PackageRecord {
    /// Reads the record of the index at `layout`; `None` if that is missing or not complete.
    #[must_use]
    pub fn read(layout: &Layout) -> Option<Self> {
        serde_json::from_slice(&layout.read(PACKAGE, MAX_BYTES).ok()?).ok()
    }

    /// Notes that the index is used. A failure costs only that.
    pub fn used(&self, layout: &Layout) {
        let is_noted = layout.modified(PACKAGE).is_some_and(|at| age(at) < USED);
        if !is_noted && let Ok(record) = serde_json::to_vec(self) {
            let _ = layout.replace(PACKAGE, &record);
        }
    }

    /// Reads the words beside the record.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read_words(layout: &Layout) -> io::Result<Vec<u8>> {
        layout.read(WORDS, MAX_BYTES)
    }

    /// Writes the words of the package and then the record.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn write(&self, layout: &Layout, words: &[u8]) -> io::Result<()> {
        layout.replace(WORDS, words)?;
        layout.replace(PACKAGE, &serde_json::to_vec(self)?)
    }
}

fn age(at: SystemTime) -> Duration {
    SystemTime::now().duration_since(at).unwrap_or_default()
}

/// Removes the indexes of packages below the user's cache that were not used for `unused`, also those
/// that were never complete. An index that is written just now stays. Returns how many were removed,
/// and their bytes.
///
/// # Errors
/// When the directory of these indexes cannot be opened, unless there is none.
pub fn remove_unused(cache_home: &Path, unused: Duration) -> io::Result<(usize, u64)> {
    let Some(packages) = Layout::packages(cache_home)? else { return Ok((0, 0)) };
    let (mut n, mut bytes) = (0, 0);
    for (key, _) in packages.list()? {
        let Some(name) = key.to_str() else { continue };
        let layout = Layout::at(cache_home)?.of_package(cache_home, name)?;
        let at = layout.modified(PACKAGE).or_else(|| Some(packages.stat(&key).ok()??.modified));
        if at.is_none_or(|at| age(at) < unused) {
            continue;
        }
        let Ok(_lock) = WriteLock::acquire(&layout, Duration::ZERO) else { continue };
        let size = layout.n_bytes();
        if packages.remove_dir(&key).is_ok() {
            n += 1;
            bytes += size;
        }
    }
    Ok((n, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_that_nobody_uses_are_removed_but_not_one_that_is_written() {
        let cache = tempfile::tempdir().unwrap();
        let layout = |key: &str| {
            let layout = Layout::at(cache.path()).unwrap().of_package(cache.path(), key).unwrap();
            layout.create().unwrap();
            layout
        };
        let written = layout("written");
        let _lock = WriteLock::acquire(&written, Duration::ZERO).unwrap();
        for key in ["old", "written"] {
            PackageRecord::default().write(&layout(key), b"").unwrap();
        }
        assert_eq!(remove_unused(cache.path(), USED).unwrap().0, 0);
        let (n, bytes) = remove_unused(cache.path(), Duration::ZERO).unwrap();
        assert!(n == 1 && bytes > 0, "{n} {bytes}");
        assert!(PackageRecord::read(&written).is_some());
        assert!(!cache.path().join("cortex/packages/old").exists());
        assert_eq!(remove_unused(&cache.path().join("none"), USED).ok(), Some((0, 0)));
    }
}
