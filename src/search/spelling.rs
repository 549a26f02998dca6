//! Words that stand nowhere: the name that was probably meant.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Slot;
use super::corpus::{Corpus, SearchError};
use super::form::Form;
use super::query::Query;
use super::text::{Field, TextError};
use super::tokens::{lower_parts, runs};

/// Shorter words are near to everything.
const MIN_CHARS: usize = 4;
/// From this length on two letters may be wrong.
const TWO_WRONG: usize = 8;
/// Words of a query that are looked at.
const MAX_WORDS: usize = 8;

impl Corpus {
    /// Reads a query, and replaces words that stand nowhere here by names that differ in a letter or two.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn query(&self, text: &str) -> Result<Query, SearchError> {
        self.text.health().guard(|| self.corrected(text))
    }

    fn corrected(&self, text: &str) -> Result<Query, SearchError> {
        let query = Query::new(text);
        // Sentences are full of words that code does not use.
        if query.form == Form::Statement {
            return Ok(query);
        }
        let mut words = Vec::new();
        for run in runs(&query.text) {
            let word = &query.text[run.range.clone()];
            if words.len() < MAX_WORDS && !self.is_known(word)? {
                words.push(run.range);
            }
        }
        if words.is_empty() {
            return Ok(query);
        }
        let mut corrected = String::new();
        let (mut end, mut notes) = (0, Vec::new());
        for range in words {
            let word = &query.text[range.clone()];
            let Some(name) = self.nearest_name(word)? else { continue };
            corrected.push_str(&query.text[end..range.start]);
            corrected.push_str(&name);
            end = range.end;
            notes.push(format!("`{word}` stands nowhere: searched for `{name}`"));
        }
        if notes.is_empty() {
            return Ok(query);
        }
        corrected.push_str(&query.text[end..]);
        Ok(query.with_words(&corrected, notes))
    }

    /// Whether a word, or every part of it, stands in any text, name or path.
    fn is_known(&self, word: &str) -> Result<bool, TextError> {
        let parts: Vec<String> = lower_parts(word).collect();
        let known = |term: &str| -> Result<bool, TextError> {
            for field in [Field::Body, Field::Name, Field::Path] {
                if self.text.contains(field, term)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        for part in &parts {
            // Numbers and short words are never misspelt names.
            if part.chars().count() >= MIN_CHARS && !part.starts_with(char::is_numeric) && !known(part)? && !self.knows_stem(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn knows_stem(&self, part: &str) -> Result<bool, TextError> {
        let query = Query::words(part);
        for variant in query.terms.iter().flat_map(|t| &t.variants) {
            if self.text.contains(Field::Body, variant)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A name, as one term of the index.
#[derive(Debug)]
pub(super) struct Name {
    text: Box<str>,
    groups: u64,
}

/// A name as one term of the index.
fn as_indexed(name: &str) -> String {
    lower_parts(name).collect()
}

/// One bit for each of 64 groups that a byte falls in; a wrong letter changes two groups at most where letters are bytes.
fn groups(letters: &str) -> u64 {
    letters.bytes().fold(0, |bits, b| bits | 1 << (b % 64))
}

impl Corpus {
    /// The name, part of a name or title that differs from a word in the fewest letters, among those the one that most chunks have.
    fn nearest_name(&self, word: &str) -> Result<Option<String>, TextError> {
        let word = as_indexed(word);
        let (n, letters) = (word.chars().count(), groups(&word));
        let allowed = if n < TWO_WRONG { 1 } else { 2 };
        let mut near: BTreeMap<&str, usize> = BTreeMap::new();
        for Name { text: name, groups } in self.names()? {
            // Most are sorted out by what is cheaply told, where letters are bytes.
            let is_far = name.len().abs_diff(word.len()) > allowed || (groups ^ letters).count_ones() as usize > 2 * allowed;
            if is_far && word.is_ascii() && name.is_ascii() {
                continue;
            }
            let n_chars = name.chars().count();
            if n_chars >= MIN_CHARS && n_chars.abs_diff(n) <= allowed {
                let wrong = strsim::osa_distance(&word, name);
                if wrong <= allowed {
                    near.insert(name, wrong);
                }
            }
        }
        let mut best: Option<(usize, Reverse<usize>, &str, Slot)> = None;
        for (name, wrong) in near {
            let mut slots = Vec::new();
            self.text.postings(Field::Name, name, |p| slots.push(p.slot))?;
            let id = |slot: &Slot| self.entry(*slot).map(|e| e.id.clone());
            // None: of chunks that are gone.
            let Some(first) = slots.iter().copied().min_by_key(id) else { continue };
            let candidate = (wrong, Reverse(slots.len()), name, first);
            if best.as_ref().is_none_or(|b| candidate < *b) {
                best = Some(candidate);
            }
        }
        Ok(best.map(|(_, _, name, slot)| self.as_written(slot, name).unwrap_or_else(|| name.to_string())))
    }

    /// Every name, part of a name and word of a title; some may be of chunks that are gone. Found when it is first asked for.
    fn names(&self) -> Result<&[Name], TextError> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let mut names = Vec::new();
        self.text.names(|name| names.push(Name { text: name.into(), groups: groups(name) }))?;
        Ok(self.names.get_or_init(|| names))
    }

    /// How a chunk writes a name that is known in lower case.
    fn as_written(&self, slot: Slot, name: &str) -> Option<String> {
        let chunk = self.chunk(slot)?;
        let texts = chunk.metadata.names.iter().map(|n| n.name.as_str()).chain([chunk.title.as_str()]);
        let words = texts.flat_map(|text| runs(text).flat_map(|run| std::iter::once(run.range).chain(run.parts)).map(|r| &text[r]));
        words.filter(|word| as_indexed(word) == name).min().map(String::from)
    }
}
