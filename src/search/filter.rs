//! What may be found: applied before anything is counted or cut off.

use std::collections::BTreeSet;

use globset::GlobSet;

use crate::chunk::{Chunk, ChunkSet, ChunkType};

/// Restricts a search. An empty list or set restricts nothing; all that are given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub types: Vec<ChunkType>,
    /// Lower-case language names.
    pub languages: Vec<String>,
    /// Globs over the file path.
    pub paths: GlobSet,
    /// The chunk has all of these tags.
    pub tags: Vec<String>,
}

impl Filter {
    /// Whether everything may be found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.languages.is_empty() && self.paths.is_empty() && self.tags.is_empty()
    }

    /// Languages asked for in which nothing of `chunks` is written, and those in which something is; `None` when all are there.
    #[must_use]
    pub fn unknown_languages<'a>(&'a self, chunks: &'a ChunkSet) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
        if self.languages.is_empty() {
            return None;
        }
        let there: BTreeSet<&str> = chunks.all().iter().filter_map(|c| c.metadata.language.as_deref()).collect();
        let unknown: Vec<&str> = self.languages.iter().map(String::as_str).filter(|l| !there.contains(l)).collect();
        (!unknown.is_empty()).then(|| (unknown, there.into_iter().collect()))
    }

    /// Whether this chunk may be found.
    #[must_use]
    pub fn allows(&self, chunk: &Chunk) -> bool {
        let m = &chunk.metadata;
        (self.types.is_empty() || self.types.contains(&chunk.chunk_type))
            && (self.languages.is_empty() || m.language.as_ref().is_some_and(|l| self.languages.contains(l)))
            && (self.paths.is_empty() || m.file_path.as_ref().is_some_and(|p| self.paths.is_match(p)))
            && self.tags.iter().all(|t| chunk.tags.contains(t))
    }
}
