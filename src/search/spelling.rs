//! Corrects words of a query that occur nowhere: the nearest name replaces them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Slot;
use super::corpus::Corpus;
use super::form::Form;
use super::names::{MIN_CHARS, Name};
use super::query::Query;
use super::text::{Field, TextError};
use super::tokens::{lower_parts, runs};

/// From this many characters on, a word may have two wrong letters; a shorter one may have one.
const TWO_WRONG: usize = 8;
/// Largest number of unknown words of a query for which a near name is looked up.
const MAX_WORDS: usize = 8;

/// The words and names by which a query is corrected.
pub(super) trait Vocabulary {
    type Error;

    /// Returns whether a part of a word, in lower case, occurs in a text, a name or a path.
    fn holds(&self, part: &str) -> Result<bool, Self::Error>;

    /// Returns the name, part of a name or word of a title that differs from `word` in the fewest
    /// letters, at most `allowed`; of several, the one that most chunks have.
    fn nearest(&self, word: &Name, allowed: usize) -> Result<Option<Near>, Self::Error>;
}

/// Parses a query and corrects the words that none of `corpora` holds. The notes of the query name
/// each correction. `is_word` tells the words of natural language, which are never misspelled names.
pub(super) fn corrected<V: Vocabulary>(
    corpora: &[&V],
    text: &str,
    is_word: &dyn Fn(&str) -> bool,
) -> Result<Query, V::Error> {
    let mut query = Query::new(text);
    query.has_known_word = runs(&query.text).any(|run| is_word(&query.text[run.range]));
    // Sentences are full of words that code does not use.
    if query.form == Form::Statement {
        return Ok(query);
    }
    let mut corrected = String::new();
    let (mut end, mut n_checked, mut notes) = (0, 0, Vec::new());
    for run in runs(&query.text) {
        let word = &query.text[run.range.clone()];
        if n_checked == MAX_WORDS {
            break;
        }
        if is_word(word) || is_known(corpora, word)? {
            continue;
        }
        n_checked += 1;
        let Some(name) = nearest_name(corpora, word)? else { continue };
        // A word of a question stays beside its correction, in case it was meant.
        let kept = if query.is_symbol { run.range.start } else { run.range.end };
        corrected.push_str(&query.text[end..kept]);
        if !query.is_symbol {
            corrected.push(' ');
        }
        corrected.push_str(&name);
        end = run.range.end;
        notes.push(format!("`{word}` occurs nowhere: searched for `{name}`"));
    }
    if notes.is_empty() {
        return Ok(query);
    }
    corrected.push_str(&query.text[end..]);
    Ok(query.with_words(&corrected, notes))
}

/// Returns whether every part of a word occurs in one of `corpora`.
fn is_known<V: Vocabulary>(corpora: &[&V], word: &str) -> Result<bool, V::Error> {
    let anywhere = |part: &str| {
        for corpus in corpora {
            if corpus.holds(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    for part in lower_parts(word) {
        // Numbers and short words are never corrected.
        if part.chars().count() >= MIN_CHARS
            && !part.starts_with(char::is_numeric)
            && !anywhere(&part)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the name in any of `corpora` that differs from `word` in the fewest letters.
pub(super) fn nearest_name<V: Vocabulary>(
    corpora: &[&V],
    word: &str,
) -> Result<Option<String>, V::Error> {
    let word = Name::written(word);
    let allowed = if word.text.chars().count() < TWO_WRONG { 1 } else { 2 };
    let mut best: Option<Near> = None;
    for corpus in corpora {
        let near = corpus.nearest(&word, allowed)?;
        best = [best, near].into_iter().flatten().min();
    }
    Ok(best.map(|near| near.2))
}

/// The number of wrong letters, the number of chunks that have the name, and the name.
pub(super) type Near = (usize, Reverse<usize>, String);

impl Vocabulary for Corpus {
    type Error = TextError;

    fn holds(&self, part: &str) -> Result<bool, TextError> {
        for field in [Field::Body, Field::Name, Field::Path] {
            if self.text.contains(field, part)? {
                return Ok(true);
            }
        }
        for stem in Query::words(part).terms.iter().flat_map(|t| &t.variants) {
            if self.text.contains(Field::Body, stem)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn nearest(&self, word: &Name, allowed: usize) -> Result<Option<Near>, TextError> {
        let mut near: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.names()? {
            near.extend(word.distance(name, allowed).map(|wrong| (&*name.text, wrong)));
        }
        let mut best: Option<(usize, Reverse<usize>, &str, Slot)> = None;
        for (name, wrong) in near {
            let mut slots = Vec::new();
            self.text.postings(Field::Name, name, |p| slots.push(p.slot))?;
            let id = |slot: &Slot| self.entry(*slot).map(|e| e.id.clone());
            // A name without postings belongs to chunks that were deleted.
            let Some(first) = slots.iter().copied().min_by_key(id) else { continue };
            let candidate = (wrong, Reverse(slots.len()), name, first);
            if best.as_ref().is_none_or(|b| candidate < *b) {
                best = Some(candidate);
            }
        }
        Ok(best.map(|(wrong, n, name, slot)| {
            (wrong, n, as_written(self, slot, name).unwrap_or_else(|| name.to_string()))
        }))
    }
}

/// Returns how a chunk writes a name that is known in lower case.
fn as_written(corpus: &Corpus, slot: Slot, name: &str) -> Option<String> {
    let chunk = corpus.chunk(slot)?;
    let texts = chunk.metadata.names.iter().map(|n| n.name.as_str()).chain([chunk.title.as_str()]);
    let words = texts.flat_map(|text| {
        runs(text).flat_map(|run| std::iter::once(run.range).chain(run.parts)).map(|r| &text[r])
    });
    words.filter(|word| *Name::written(word).text == *name).min().map(String::from)
}
