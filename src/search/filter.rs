//! Filters of a search. They apply before results are counted or cut off.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use globset::GlobSet;

use crate::chunk::{ChunkSet, ChunkType, Entry};
use crate::languages::is_test_path;

/// Restricts a search. An empty list or set restricts nothing; all conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub types: Vec<ChunkType>,
    /// Conditions on the language.
    pub languages: LanguageFilter,
    /// Conditions on the file path.
    pub paths: PathFilter,
    /// The chunk has all of these tags.
    pub tags: Vec<String>,
    /// Whether the file is one of tests.
    pub tests: Option<bool>,
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

/// Languages of files, as names or file name extensions in lower case. The default allows every
/// language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LanguageFilter {
    /// The file is written in one of these, if there are any.
    pub wanted: Vec<String>,
    /// The file is written in none of these.
    pub unwanted: Vec<String>,
}

impl LanguageFilter {
    /// Reads the languages of a request: `rust`, or `!rust` to leave it out.
    pub fn new<'l>(languages: impl IntoIterator<Item = &'l str>) -> Self {
        let mut filter = Self::default();
        filter.add(languages);
        filter
    }

    /// Adds languages, written as for [`LanguageFilter::new`].
    pub fn add<'l>(&mut self, languages: impl IntoIterator<Item = &'l str>) {
        for language in languages {
            match language.strip_prefix('!') {
                Some(language) => self.unwanted.push(language.trim().to_lowercase()),
                None => self.wanted.push(language.to_lowercase()),
            }
        }
    }

    /// Whether it allows every language.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Whether it allows a file of this language at this path.
    #[must_use]
    pub fn is_match(&self, language: Option<&str>, path: Option<&str>) -> bool {
        let any = |languages: &[String]| languages.iter().any(|l| is_written_in(language, path, l));
        (self.wanted.is_empty() || any(&self.wanted)) && !any(&self.unwanted)
    }

    /// Returns the languages that no chunk of these sets has, and those that exist there; `None` if all
    /// exist.
    #[must_use]
    pub fn unknown_in<'a>(&'a self, sets: &[&'a ChunkSet]) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
        if self.is_empty() {
            return None;
        }
        let all = || sets.iter().flat_map(|set| set.all());
        let there: BTreeSet<&str> = all().filter_map(|e| e.language.as_deref()).collect();
        let is_written =
            |e: &Entry, l: &str| is_written_in(e.language.as_deref(), e.file_path.as_deref(), l);
        let is_known = |l: &&str| there.contains(l) || all().any(|e| is_written(e, l));
        let named = self.wanted.iter().chain(&self.unwanted).map(String::as_str);
        let unknown: Vec<&str> = named.filter(|l| !is_known(l)).collect();
        (!unknown.is_empty()).then(|| (unknown, there.into_iter().collect()))
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
            && self.tests.is_none()
            && self.condition.is_none()
    }

    /// Returns whether this chunk may be found.
    #[must_use]
    pub fn allows(&self, entry: &Entry) -> bool {
        self.condition.as_ref().is_none_or(|c| (c.0)(entry))
            && (self.types.is_empty() || self.types.contains(&entry.chunk_type))
            && (self.languages.is_empty()
                || self.languages.is_match(entry.language.as_deref(), entry.file_path.as_deref()))
            && (self.paths.is_empty()
                || entry.file_path.as_ref().is_some_and(|p| self.paths.is_match(p)))
            && self.tests.is_none_or(|tests| {
                tests == entry.file_path.as_ref().is_some_and(|p| is_test_path(p))
            })
            && (self.tags.is_empty()
                || entry
                    .chunk()
                    .is_some_and(|chunk| self.tags.iter().all(|t| chunk.tags.contains(t))))
    }
}

/// Returns whether a file of language `is` is of this language, given by name or by extension.
fn is_written_in(is: Option<&str>, path: Option<&str>, language: &str) -> bool {
    is == Some(language)
        || path
            .and_then(|p| p.rsplit_once('.'))
            .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(language))
}
