//! Finds the symbols whose names are near to a name that nothing has.

use std::sync::Arc;

use super::Slot;
use super::corpus::Corpus;
use super::names::Name;
use super::text::{Field, TextError};
use crate::chunk::Entry;
use crate::languages::is_test_path;

/// A symbol whose name is near to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearName {
    /// As code writes it, without the names around it.
    pub name: String,
    /// function, struct …
    pub kind: String,
    /// Relative to the root.
    pub path: String,
    /// First line, 1-based.
    pub line: u32,
}

/// From this many letters on, two letters may be wrong; fewer are too near to other names.
const TWO_WRONG: usize = 5;
/// Fewest letters of a name that longer names may end with.
const LEAST_END: usize = 6;
/// Most names that are looked up, and most chunks that are read for one of them.
const MAX_CANDIDATES: usize = 40;
const MAX_CHUNKS: usize = 8;

/// Returns at most `n` symbols with near names, nearest first: those that only case, `_` or the humps
/// of camel case tell apart, the singular or plural, those with one or two wrong letters, and those
/// that end with the name.
pub(super) fn near_names(
    corpus: &Corpus,
    word: &str,
    n: usize,
) -> Result<Vec<NearName>, TextError> {
    let word = Name::written(word);
    if word.text.is_empty() {
        return Ok(Vec::new());
    }
    let near = corpus
        .names()?
        .iter()
        .filter_map(|name| Some((farness(&word, name)?, name.text.len(), &*name.text)));
    let mut candidates: Vec<(usize, usize, &str)> = near.collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut found = Vec::new();
    for (_, _, name) in candidates.into_iter().take(MAX_CANDIDATES) {
        if found.len() == n {
            break;
        }
        let mut slots = Vec::new();
        corpus.text.postings(Field::Name, name, |posting| slots.push(posting.slot))?;
        found.extend(symbol_named(corpus, &slots, name));
    }
    Ok(found)
}

/// Returns how far two names are apart, 0 if they are equal but for their spelling; `None` if they are
/// not near.
fn farness(word: &Name, name: &Name) -> Option<usize> {
    if word.text == name.text {
        return Some(0);
    }
    if is_plural(&word.text, &name.text) || is_plural(&name.text, &word.text) {
        return Some(1);
    }
    let is_long = word.text.len().min(name.text.len()) >= TWO_WRONG;
    if let Some(wrong) = word.distance(name, if is_long { 2 } else { 1 }) {
        return Some(1 + wrong);
    }
    (word.text.len() >= LEAST_END && name.text.ends_with(&*word.text)).then_some(4)
}

/// Whether a name in lower case is the plural of another one.
fn is_plural(many: &str, one: &str) -> bool {
    let is_of = |end: &str, instead: &str| {
        let stem = many.strip_suffix(end);
        stem.is_some_and(|stem| one.strip_suffix(instead) == Some(stem))
    };
    is_of("s", "") || is_of("es", "") || is_of("ies", "y")
}

/// Returns the first symbol of a name in lower case, outside of tests if there is one.
fn symbol_named(corpus: &Corpus, slots: &[Slot], name: &str) -> Option<NearName> {
    let mut entries: Vec<&Arc<Entry>> =
        slots.iter().filter_map(|slot| corpus.entry(*slot)).collect();
    let is_of_tests = |entry: &Entry| entry.file_path.as_deref().is_none_or(is_test_path);
    entries.sort_by_cached_key(|entry| (is_of_tests(entry), entry.id.clone()));
    entries.into_iter().take(MAX_CHUNKS).find_map(|entry| {
        let chunk = entry.chunk()?;
        let named = chunk.metadata.names.iter().filter(|of| *Name::written(&of.name).text == *name);
        let first = named.min_by_key(|of| of.start_line)?;
        Some(NearName {
            name: first.name.clone(),
            kind: first.kind.clone(),
            path: chunk.metadata.file_path.clone()?,
            line: first.start_line,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_by_spelling_number_and_letters() {
        let far = |word: &str, name: &str| farness(&Name::written(word), &Name::written(name));
        for (word, name, want) in [
            ("acquireLock", "acquire_lock", Some(0)),
            ("ACQUIRE_LOCK", "acquire_lock", Some(0)),
            ("locks", "lock", Some(1)),
            ("entry", "entries", Some(1)),
            ("Box", "boxes", Some(1)),
            ("aquire_lock", "acquire_lock", Some(2)),
            ("aqcuire_lok", "acquire_lock", Some(3)),
            ("UserRepository", "PostgresUserRepository", Some(4)),
            ("lock", "rack", None),
            ("retry", "index", None),
        ] {
            assert_eq!(far(word, name), want, "{word} {name}");
        }
    }
}
