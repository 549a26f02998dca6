//! `manifest.json`: which generation the chunk files are, and what each of them must contain.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// Renamed last, so that it makes the renames of four files one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Counts the changes of the chunk set; never falls.
    pub generation: u64,
    /// By file name; a type without chunks may have no file.
    pub files: BTreeMap<String, FileEntry>,
}

/// What a file contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub bytes: u64,
    /// `xxh3:` and 32 hexadecimal digits.
    pub hash: String,
}

impl FileEntry {
    /// The entry of a file with this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self::new(content.len() as u64, xxh3_128(content))
    }

    pub(super) fn new(bytes: u64, hash: u128) -> Self {
        Self { bytes, hash: format!("xxh3:{hash:032x}") }
    }
}

impl Manifest {
    /// Reads the manifest; `None` when there is none, or none that can be understood (then it is as good as absent:
    /// the chunk files speak for themselves and the next indexer writes a new one).
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::read(path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}
