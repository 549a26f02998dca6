//! Finds code by a syntax pattern.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use super::unread::Unread;
use crate::source::{self, ReadError};
use crate::syntax::{Pattern, PatternError};
use crate::work::WorkBudget;

/// Maximum number of lines shown for one match, with the lines around it.
const MAX_LINES: usize = 40;

/// A place where code matches the pattern. Lines are 1-based.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct PatternMatch {
    /// Relative to the root.
    pub path: String,
    /// First line of the match, 1-based.
    pub start_line: u32,
    /// Last line of the match, inclusive.
    pub end_line: u32,
    /// The line at which `text` begins.
    pub first_line: u32,
    /// The lines of the match and those around it.
    pub text: String,
}

/// The matches of a pattern in a set of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternMatches {
    /// In the order of the files, and by line within each.
    pub places: Vec<PatternMatch>,
    /// Number of all matches.
    pub total: usize,
    /// Number of files that were searched.
    pub n_files: usize,
    pub unread: Unread,
}

/// Compiles a pattern for each of the `languages` or, if none is named, for each language in
/// `written`, which yields the language of every file. Languages that cannot parse the pattern are
/// left out.
///
/// # Errors
/// When no language can parse the pattern. The error is that of the language with the most files,
/// among those that have a grammar.
pub fn patterns<'a>(
    pattern: &str,
    languages: &'a [String],
    written: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, Pattern>, PatternError> {
    let mut n_files: BTreeMap<&str, usize> = BTreeMap::new();
    let is_named = !languages.is_empty();
    if languages.is_empty() {
        written.for_each(|language| *n_files.entry(language).or_default() += 1);
    }
    n_files.extend(languages.iter().map(|language| (language.as_str(), 1)));
    let mut languages: Vec<(&str, usize)> = n_files.into_iter().collect();
    languages.sort_by_key(|(_, n)| Reverse(*n));
    let (mut found, mut error, mut tried) = (BTreeMap::new(), None, Vec::new());
    for (name, _) in languages {
        match Pattern::new(name, pattern) {
            Ok(pattern) => drop(found.insert(name.to_string(), pattern)),
            // A language without a parser, such as that of documents, is worth reporting only if no
            // other language has an error.
            Err(e @ PatternError::NotParsed { .. }) => error = error.or(Some(e)),
            Err(e) => {
                tried.push(name);
                error = error.filter(|e| !matches!(e, PatternError::NotParsed { .. })).or(Some(e));
            }
        }
    }
    match error {
        Some(PatternError::NotParsed { known, .. }) if found.is_empty() && !is_named => {
            Err(PatternError::NoCode { known })
        }
        Some(PatternError::Malformed { pattern, message, .. })
            if found.is_empty() && tried.len() > 1 =>
        {
            Err(PatternError::Malformed { language: tried.join(", "), pattern, message })
        }
        Some(e) if found.is_empty() => Err(e),
        _ => Ok(found),
    }
}

/// Searches files, given as (path, language), with the pattern of their language. Files whose
/// language has no pattern are not counted. Returns at most `limit` matches, each with `context`
/// lines before and after it.
pub fn find(
    root: &Path,
    files: &[(String, String)],
    patterns: &BTreeMap<String, Pattern>,
    context: u32,
    limit: usize,
    work: &WorkBudget,
) -> PatternMatches {
    let files: Vec<(&String, &Pattern)> =
        files.iter().filter_map(|(path, language)| Some((path, patterns.get(language)?))).collect();
    let look = |(): &mut (), (path, pattern): &(&String, &Pattern)| {
        let text = source::read_text(root, path)?;
        let found = pattern.find(&text);
        let lines: Vec<&str> = if found.is_empty() { Vec::new() } else { text.lines().collect() };
        let places = found.into_iter().map(|at| place(path, &lines, at, context));
        Ok::<Vec<PatternMatch>, ReadError>(places.collect())
    };
    let (mut unread, mut places) = (Unread::default(), Vec::new());
    for looked in work.map(&files, look) {
        match looked {
            None => unread.n_left += 1,
            Some(Err(e)) => unread.add(&e),
            Some(Ok(mut found)) => places.append(&mut found),
        }
    }
    let total = places.len();
    places.truncate(limit);
    PatternMatches { places, total, n_files: files.len() - unread.n(), unread }
}

fn place(
    path: &str,
    lines: &[&str],
    (start_line, end_line): (u32, u32),
    context: u32,
) -> PatternMatch {
    let first_line = start_line.saturating_sub(context).max(1);
    let last = (end_line.saturating_add(context) as usize)
        .min(lines.len())
        .min(first_line as usize - 1 + MAX_LINES);
    let text = lines.get(first_line as usize - 1..last).unwrap_or_default().join("\n");
    PatternMatch { path: path.into(), start_line, end_line, first_line, text }
}
