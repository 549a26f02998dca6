//! What is kept of the commits of a repository beside their chunks: how far they were read, and what
//! filters test.

use std::io;

use bitcode::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::Layout;

const STAMP: &str = "commits.json";
const TABLE: &str = "commits.bin";
/// Largest stamp and largest table, in bytes.
const MAX_STAMP: u64 = 1 << 16;
const MAX_TABLE: u64 = 256 << 20;

/// How far the commits of a repository are indexed. It is written last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitsStamp {
    /// The commit that was checked out, in hexadecimal digits.
    pub head: String,
    /// What decides how a commit is written.
    pub rules: String,
    /// Number of commits.
    pub n: usize,
    /// The generation of their chunk file.
    pub generation: u64,
    /// Why older commits are missing, if any are.
    pub cut: Option<String>,
}

/// The properties of commits that filters test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct CommitTable {
    /// Newest first.
    pub commits: Vec<CommitFacts>,
    /// The paths that they changed, relative to the root.
    pub paths: Vec<String>,
    pub authors: Vec<String>,
}

/// The properties of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CommitFacts {
    /// In hexadecimal digits.
    pub id: String,
    /// Unix seconds.
    pub at: i64,
    /// Position in [`CommitTable::authors`].
    pub author: u32,
    /// Positions in [`CommitTable::paths`].
    pub files: Vec<u32>,
    /// A hash of its subject, by which others quote it.
    pub subject: u64,
    /// The commits that it undoes.
    pub undoes: Vec<Undone>,
}

/// A commit that another one undoes, as its message names it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Undone {
    /// The first digits of its id.
    Id(String),
    /// The hash of its subject.
    Subject(u64),
}

impl CommitsStamp {
    /// Reads the stamp of an index of commits; `None` if there is none.
    #[must_use]
    pub fn read(layout: &Layout) -> Option<Self> {
        let mut bytes = layout.read(STAMP, MAX_STAMP).ok()?;
        serde_json::from_slice(layout.unsealed(STAMP, &mut bytes)?).ok()
    }

    /// Writes the table and then the stamp.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn write(&self, layout: &Layout, table: &CommitTable) -> io::Result<()> {
        layout.replace_sealed_bytes(TABLE, &bitcode::encode(table))?;
        layout.replace_sealed(STAMP, &serde_json::to_vec(self)?)
    }
}

impl CommitTable {
    /// Reads the table that belongs to a stamp; `None` if it cannot be used.
    #[must_use]
    pub fn read(layout: &Layout, stamp: &CommitsStamp) -> Option<Self> {
        let table: Self = bitcode::decode(&layout.read_sealed_bytes(TABLE, MAX_TABLE)?).ok()?;
        let is_whole = |commit: &CommitFacts| {
            (commit.author as usize) < table.authors.len()
                && commit.files.iter().all(|file| (*file as usize) < table.paths.len())
        };
        (table.commits.len() == stamp.n && table.commits.iter().all(is_whole)).then_some(table)
    }
}
