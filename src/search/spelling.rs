//! Words that stand nowhere: the name that was probably meant.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::corpus::{Corpus, SearchError};
use super::form::Form;
use super::query::Query;
use super::text::{Field, TextError};
use super::tokens::{lower, runs};
use crate::chunk::Chunk;

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
        let names = self.names.get_or_init(|| Names::new(self.rows.iter().flatten()));
        let mut corrected = String::new();
        let (mut end, mut notes) = (0, Vec::new());
        for range in words {
            let word = &query.text[range.clone()];
            let Some(name) = names.nearest(word) else { continue };
            corrected.push_str(&query.text[end..range.start]);
            corrected.push_str(name);
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
        let parts: Vec<String> = runs(word).flat_map(|r| r.parts).map(|p| lower(&word[p])).collect();
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

/// Everything that is defined, and the parts of its names.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Name>);

#[derive(Debug)]
struct Name {
    /// Lower case.
    letters: String,
    /// One bit for each of 64 groups that a letter falls in.
    groups: u64,
    n_chars: usize,
    /// How often it stands in names.
    count: usize,
    as_written: String,
}

/// A wrong letter changes two groups at most.
fn groups(letters: &str) -> u64 {
    letters.chars().fold(0, |bits, c| bits | 1 << (u32::from(c) % 64))
}

impl Names {
    fn new<'c>(chunks: impl Iterator<Item = &'c Arc<Chunk>>) -> Self {
        let mut all: FxHashMap<String, (usize, &str)> = FxHashMap::default();
        let mut add = |as_written: &'c str| {
            let entry = all.entry(lower(as_written)).or_insert((0, as_written));
            entry.0 += 1;
            entry.1 = entry.1.min(as_written);
        };
        for name in chunks.flat_map(|c| &c.metadata.names) {
            for run in runs(&name.name) {
                add(&name.name[run.range.clone()]);
                if run.parts.len() > 1 {
                    run.parts.into_iter().for_each(|p| add(&name.name[p]));
                }
            }
        }
        let name = |(letters, (count, as_written)): (String, (usize, &str))| {
            let n_chars = letters.chars().count();
            let as_written = as_written.to_string();
            (n_chars >= MIN_CHARS).then(|| Name { groups: groups(&letters), n_chars, count, as_written, letters })
        };
        Self(all.into_iter().filter_map(name).collect())
    }

    /// The name with the fewest wrong letters, among those the one that occurs most.
    fn nearest(&self, word: &str) -> Option<&str> {
        let word = lower(word);
        let (n, letters) = (word.chars().count(), groups(&word));
        let allowed = if n < TWO_WRONG { 1 } else { 2 };
        let may_be_near = |name: &&Name| name.n_chars.abs_diff(n) <= allowed && (name.groups ^ letters).count_ones() as usize <= 2 * allowed;
        let near = self.0.iter().filter(may_be_near).filter_map(|name| {
            let wrong = strsim::osa_distance(&word, &name.letters);
            (wrong <= allowed).then_some((wrong, Reverse(name.count), name.as_written.as_str()))
        });
        near.min().map(|(_, _, name)| name)
    }
}
