//! The patterns among the places of a read: each stands for every line that matches it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::AskError;
use crate::engine::read::grep::{FileLines, GrepAnswer, GrepFile, GrepLines, GrepRequest};
use crate::text::{count, folded};

/// Most lines that are listed of a pattern.
const MAX_LINES: usize = 80;
/// Fewest and most files that are named of those with more lines.
const FILES_LEFT: (usize, usize) = (3, 20);

/// The lines that match a pattern.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReadPattern {
    /// The pattern as the request has it, between slashes.
    pub asked: String,
    /// Why nothing was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is to be known of this search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub warnings: Vec<String>,
    /// Its lines, as `cortex_grep` finds them.
    #[serde(flatten)]
    pub found: Option<GrepLines>,
    /// Where the lines are that match and are not listed: the first files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub left_in: Vec<FileLines>,
}

/// Returns the regular expression of an entry that has the form of a pattern: `/regex/`.
#[must_use]
pub fn pattern_in(entry: &str) -> Option<&str> {
    let pattern = entry.strip_prefix('/')?.strip_suffix('/')?;
    (!pattern.is_empty()).then_some(pattern)
}

/// A pattern as the request has it, and what was found.
pub(in crate::engine) type Searched = (String, Result<GrepAnswer, AskError>);

/// Searches for the lines of each pattern.
pub(in crate::engine) fn find_lines(
    patterns: Vec<String>,
    folds: bool,
    grep: impl Fn(&GrepRequest) -> Result<GrepAnswer, AskError>,
) -> Vec<Searched> {
    let search = |asked: String| {
        let request = GrepRequest {
            pattern: pattern_in(&asked).unwrap_or_default().to_string(),
            regex: true,
            limit: MAX_LINES,
            folds,
            ..GrepRequest::default()
        };
        let answer = grep(&request);
        (asked, answer)
    };
    patterns.into_iter().map(search).collect()
}

/// The error of a pattern that nothing matches, if nothing else is asked.
pub(in crate::engine) fn no_line(asked: &str, answer: &GrepAnswer) -> AskError {
    let files = count(answer.found.searched, "file");
    let mut why = format!(
        "no line matches `{asked}` in {files}: it is a regular expression that distinguishes case; (?i) at its beginning ignores it"
    );
    for warning in &answer.state.warnings {
        why.push_str("; ");
        why.push_str(warning);
    }
    AskError::NotFound(why)
}

impl ReadPattern {
    /// Returns what was found of a pattern.
    pub(in crate::engine) fn new(asked: String, GrepAnswer { found, state }: GrepAnswer) -> Self {
        let all = Self { asked, warnings: state.warnings, found: Some(found), ..Self::default() };
        all.first(MAX_LINES)
    }

    /// Says why a pattern was not searched for. An error of a regular expression has several lines.
    pub(in crate::engine) fn not_searched(asked: String, error: &AskError) -> Self {
        Self { asked, error: Some(folded(&error.to_string())), ..Self::default() }
    }

    /// Returns the pattern and why it was not searched for.
    #[must_use]
    pub fn why_not(&self) -> String {
        format!("{}: {}", self.asked, self.error.as_deref().unwrap_or_default())
    }

    /// Returns the number of lines that are listed.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        self.found.as_ref().map_or(0, GrepLines::n_units)
    }

    /// Returns the number of lines that match and are not listed, besides those that are counted by
    /// the kinds of their files.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.found.as_ref().map_or(0, |found| found.all_units.saturating_sub(found.n_units()))
    }

    /// Returns a copy with the first `n` lines.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let Some(found) = &self.found else { return self.clone() };
        let found = found.first(n.min(found.n_units()));
        let listed = |path: &str| {
            found.files.iter().find(|file| file.path == path).map_or(0, GrepFile::n_units)
        };
        let left = found.counts.iter().map(|FileLines { path, lines }| FileLines {
            path: path.clone(),
            lines: lines.saturating_sub(listed(path)),
        });
        let left = left.filter(|left| left.lines > 0);
        let left_in = left.take(n.clamp(FILES_LEFT.0, FILES_LEFT.1)).collect();
        let (asked, warnings) = (self.asked.clone(), self.warnings.clone());
        Self { asked, warnings, found: Some(found), left_in, error: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_between_slashes() {
        assert_eq!(pattern_in("/retry|again/"), Some("retry|again"));
        assert_eq!(pattern_in("/a/b/"), Some("a/b"));
        assert_eq!(pattern_in("///"), Some("/"));
        for place in ["", "/", "//", "/src/a.rs", "src/", "src/a.rs:1-3", "Type::method"] {
            assert_eq!(pattern_in(place), None, "{place}");
        }
    }
}
