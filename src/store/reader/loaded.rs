//! Chunk files as they were loaded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bitcode::{Decode, Encode};

use super::lines::BlockLines;
use crate::chunk::Entry;
use crate::dir::Stat;
use crate::store::chunk_file::{ChunkFileError, ParsedFile};
use crate::store::manifest::{Block, FileEntry};
use crate::store::others::ChunkFileId;
use crate::store::sources::TIMESTAMP_TICK;

/// A chunk file with the entries of its chunks.
#[derive(Debug)]
pub(super) struct LoadedFile {
    pub(super) stamp: Option<Stamp>,
    pub(super) entry: FileEntry,
    pub(super) content: FileContent,
    pub(super) warning: Option<String>,
}

/// The content of a chunk file.
#[derive(Debug, Clone)]
pub(super) enum FileContent {
    /// A file of any writer, all of it in memory.
    Parsed(Arc<ParsedFile>),
    /// A file of ours that matches its manifest.
    Blocks(Arc<Vec<LoadedBlock>>),
}

impl FileContent {
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Parsed(a), Self::Parsed(b)) => Arc::ptr_eq(a, b),
            (Self::Blocks(a), Self::Blocks(b)) => Arc::ptr_eq(a, b),
            // Two files without chunks are equal.
            (a, b) => a.entries().next().is_none() && b.entries().next().is_none(),
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let (parsed, blocks) = match self {
            Self::Parsed(file) => (&*file.entries, &[][..]),
            Self::Blocks(blocks) => (&[][..], &***blocks),
        };
        parsed.iter().chain(blocks.iter().flat_map(|b| &b.entries))
    }
}

/// A block with the entries of its chunks.
#[derive(Debug, Clone)]
pub(super) struct LoadedBlock {
    pub(super) block: Block,
    pub(super) lines: Arc<BlockLines>,
    pub(super) entries: Vec<Arc<Entry>>,
}

/// Two blocks are equal if they share the same lines in memory.
impl PartialEq for LoadedBlock {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lines, &other.lines)
    }
}

/// The identity of a file in the file system. Equal stamps mean equal content, unless the stamp is
/// too fresh to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    pub(super) modified_ns: u64,
    pub(super) inode: u64,
}

/// What the previous load read.
pub(super) type KnownFiles = HashMap<ChunkFileId, Arc<LoadedFile>>;

/// Returns the files in the order in which their chunks are in the set.
pub(super) fn in_order(files: &KnownFiles) -> impl Iterator<Item = &ChunkFileId> {
    let mut all: Vec<&ChunkFileId> = files.keys().collect();
    all.sort();
    all.into_iter()
}

/// Returns the stamp of a file; `None` if it was written so recently that it could change again
/// under the same time stamp.
pub(super) fn stamp(stat: &Stat) -> Option<Stamp> {
    let settled =
        SystemTime::now().duration_since(stat.modified).is_ok_and(|age| age > TIMESTAMP_TICK);
    let modified_ns = stat
        .modified
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| u64::try_from(since.as_nanos()).ok())?;
    settled.then_some(Stamp { bytes: stat.bytes, modified_ns, inode: stat.id.1 })
}

/// Describes a further file that cannot be used. The content that was read from it before stays.
pub(super) fn unusable(known: &KnownFiles, which: &ChunkFileId, e: &ChunkFileError) -> LoadedFile {
    let (known, e) = (known.get(which), e.of_others());
    let (content, entry) = match known {
        Some(known) => (known.content.clone(), known.entry.clone()),
        None => (FileContent::Parsed(Arc::default()), FileEntry::of(&[])),
    };
    let served = if content.entries().next().is_some() {
        "what was read of it before is served"
    } else {
        "it is not served"
    };
    LoadedFile {
        stamp: None,
        entry,
        content,
        warning: Some(format!("{e}; {served}; repair or remove the file")),
    }
}
