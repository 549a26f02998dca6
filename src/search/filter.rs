//! Filters of a search. They apply before results are counted or cut off.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use globset::GlobSet;

use crate::chunk::{ChunkSet, ChunkType, Entry};

/// Restricts a search. An empty list or set restricts nothing; all conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub types: Vec<ChunkType>,
    /// Lower-case language names, or file name extensions.
    pub languages: Vec<String>,
    /// Conditions on the file path.
    pub paths: PathFilter,
    /// The chunk has all of these tags.
    pub tags: Vec<String>,
    /// A further condition.
    pub condition: Option<Condition>,
}

/// Globs over file paths. The default allows every path.
#[derive(Debug, Clone, Default)]
pub struct PathFilter {
    /// One of these must match, if there are any.
    pub wanted: GlobSet,
    /// None of these may match.
    pub unwanted: GlobSet,
}

impl PathFilter {
    /// Whether it allows every path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Whether it allows this path.
    #[must_use]
    pub fn is_match(&self, path: &str) -> bool {
        (self.wanted.is_empty() || self.wanted.is_match(path)) && !self.unwanted.is_match(path)
    }
}

/// A condition on every chunk that may be found. It is tested on many chunks.
#[derive(Clone)]
pub struct Condition(Arc<dyn Fn(&Entry) -> bool + Send + Sync>);

impl Condition {
    /// Creates a condition from `holds`, which any thread may call.
    pub fn new(holds: impl Fn(&Entry) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(holds))
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Condition")
    }
}

impl Filter {
    /// Returns whether the filter allows every chunk.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
            && self.languages.is_empty()
            && self.paths.is_empty()
            && self.tags.is_empty()
            && self.condition.is_none()
    }

    /// Returns the requested languages that no chunk has, and the languages that exist; `None` if
    /// all requested ones exist.
    #[must_use]
    pub fn unknown_languages<'a>(
        &'a self,
        chunks: &'a ChunkSet,
    ) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
        if self.languages.is_empty() {
            return None;
        }
        let there: BTreeSet<&str> =
            chunks.all().iter().filter_map(|e| e.language.as_deref()).collect();
        let is_known =
            |l: &&str| there.contains(l) || chunks.all().iter().any(|e| is_written_in(e, l));
        let unknown: Vec<&str> =
            self.languages.iter().map(String::as_str).filter(|l| !is_known(l)).collect();
        (!unknown.is_empty()).then(|| (unknown, there.into_iter().collect()))
    }

    /// Returns whether this chunk may be found.
    #[must_use]
    pub fn allows(&self, entry: &Entry) -> bool {
        self.condition.as_ref().is_none_or(|c| (c.0)(entry))
            && (self.types.is_empty() || self.types.contains(&entry.chunk_type))
            && (self.languages.is_empty() || self.languages.iter().any(|l| is_written_in(entry, l)))
            && (self.paths.is_empty()
                || entry.file_path.as_ref().is_some_and(|p| self.paths.is_match(p)))
            && (self.tags.is_empty()
                || entry
                    .chunk()
                    .is_some_and(|chunk| self.tags.iter().all(|t| chunk.tags.contains(t))))
    }
}

/// Returns whether the chunk is of this language, given by name or by extension.
fn is_written_in(entry: &Entry, language: &str) -> bool {
    entry.language.as_deref() == Some(language)
        || entry
            .file_path
            .as_deref()
            .and_then(|p| p.rsplit_once('.'))
            .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(language))
}
