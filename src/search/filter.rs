//! What may be found: applied before anything is counted or cut off.

use std::collections::BTreeSet;

use globset::GlobSet;

use crate::chunk::{Chunk, ChunkSet, ChunkType};

/// Restricts a search. An empty list or set restricts nothing; all that are given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub types: Vec<ChunkType>,
    /// Lower-case language names, or file name extensions.
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
        let is_known = |l: &&str| there.contains(l) || chunks.all().iter().any(|c| is_written_in(c, l));
        let unknown: Vec<&str> = self.languages.iter().map(String::as_str).filter(|l| !is_known(l)).collect();
        (!unknown.is_empty()).then(|| (unknown, there.into_iter().collect()))
    }

    /// Whether this chunk may be found.
    #[must_use]
    pub fn allows(&self, chunk: &Chunk) -> bool {
        let m = &chunk.metadata;
        (self.types.is_empty() || self.types.contains(&chunk.chunk_type))
            && (self.languages.is_empty() || self.languages.iter().any(|l| is_written_in(chunk, l)))
            && (self.paths.is_empty() || m.file_path.as_ref().is_some_and(|p| self.paths.is_match(p)))
            && self.tags.iter().all(|t| chunk.tags.contains(t))
    }
}

/// Whether the chunk is of this language, told by its name or by the extension of its files.
fn is_written_in(chunk: &Chunk, language: &str) -> bool {
    let m = &chunk.metadata;
    m.language.as_deref() == Some(language)
        || m.file_path.as_deref().and_then(|p| p.rsplit_once('.')).is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(language))
}
