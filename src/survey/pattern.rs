//! Where code has a shape.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::source;
use crate::syntax::{Pattern, PatternError};

/// How long a search takes at most.
const LIMIT: Duration = Duration::from_secs(20);
/// Lines of one match that are shown.
const MAX_LINES: usize = 40;

/// A place where code has the shape. Lines are 1-based.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct PatternMatch {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub start_line: u32,
    /// Inclusive.
    pub end_line: u32,
    /// The first line of `text`.
    pub first_line: u32,
    /// The lines of it and those around it.
    pub text: String,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternMatches {
    /// In order of paths and lines.
    pub places: Vec<PatternMatch>,
    /// How many there are.
    pub total: usize,
    /// Files that were looked at.
    pub n_files: usize,
    /// Files that were left out, because there was no time.
    pub n_left: usize,
}

/// A pattern in the languages that are named, or else in every one of those that files are written
/// in; of either, in those in which it is code.
///
/// # Errors
/// When it is code in none of them; told is why not in the one that most is written in.
pub fn patterns<'a>(
    pattern: &str,
    languages: &'a [String],
    written: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, Pattern>, PatternError> {
    let mut n_files: BTreeMap<&str, usize> = BTreeMap::new();
    if languages.is_empty() {
        written.for_each(|language| *n_files.entry(language).or_default() += 1);
    }
    n_files.extend(languages.iter().map(|language| (language.as_str(), 1)));
    let mut languages: Vec<(&str, usize)> = n_files.into_iter().collect();
    languages.sort_by_key(|(_, n)| Reverse(*n));
    let (mut found, mut error) = (BTreeMap::new(), None);
    for (name, _) in languages {
        match Pattern::new(name, pattern) {
            Ok(pattern) => drop(found.insert(name.to_string(), pattern)),
            // That documents have no shape is no news, as long as something has.
            Err(e @ PatternError::NotParsed { .. }) => error = error.or(Some(e)),
            Err(e) => {
                error = error.filter(|e| !matches!(e, PatternError::NotParsed { .. })).or(Some(e));
            }
        }
    }
    match error {
        Some(e) if found.is_empty() => Err(e),
        _ => Ok(found),
    }
}

/// Looks for code of a shape: each file, given with its language, by the pattern of that language,
/// if there is one. At most `limit` places are told, each with `context` lines around it.
pub fn find(
    root: &Path,
    files: &[(String, String)],
    patterns: &BTreeMap<String, Pattern>,
    context: u32,
    limit: usize,
    cancel: &AtomicBool,
) -> PatternMatches {
    let files: Vec<(&String, &Pattern)> =
        files.iter().filter_map(|(path, language)| Some((path, patterns.get(language)?))).collect();
    let deadline = Instant::now() + LIMIT;
    let look = |(path, pattern): &(&String, &Pattern)| {
        if cancel.load(Ordering::Relaxed) || Instant::now() > deadline {
            return None;
        }
        // What has gone meanwhile has no shape.
        let text = source::read_text(root, path).unwrap_or_default();
        let found = pattern.find(&text);
        let lines: Vec<&str> = if found.is_empty() { Vec::new() } else { text.lines().collect() };
        Some(found.into_iter().map(|at| place(path, &lines, at, context)).collect::<Vec<_>>())
    };
    let looked: Vec<Option<Vec<PatternMatch>>> = files.par_iter().map(look).collect();
    let n_left = looked.iter().filter(|found| found.is_none()).count();
    let mut places: Vec<PatternMatch> = looked.into_iter().flatten().flatten().collect();
    let total = places.len();
    places.truncate(limit);
    PatternMatches { places, total, n_files: files.len() - n_left, n_left }
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
