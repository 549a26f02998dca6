//! The record of a package of others beside its index: what was indexed, and its words.

use std::io;

use serde::{Deserialize, Serialize};

use super::Layout;
use super::layout::{PACKAGE, WORDS};

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
