//! Words that stand nowhere: the name that was probably meant.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Everything that is defined, and the parts of its names: lower case, how often, and as it is written.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, (usize, String)>);

impl Names {
    fn new<'c>(chunks: impl Iterator<Item = &'c Arc<Chunk>>) -> Self {
        let mut out: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let mut add = |as_written: &str| {
            let entry = out.entry(lower(as_written)).or_insert_with(|| (0, as_written.to_string()));
            entry.0 += 1;
            if as_written < entry.1.as_str() {
                entry.1 = as_written.to_string();
            }
        };
        for name in chunks.flat_map(|c| &c.metadata.names) {
            for run in runs(&name.name) {
                add(&name.name[run.range.clone()]);
                if run.parts.len() > 1 {
                    run.parts.into_iter().for_each(|p| add(&name.name[p]));
                }
            }
        }
        Self(out)
    }

    /// The name with the fewest wrong letters, among those the one that occurs most.
    fn nearest(&self, word: &str) -> Option<&str> {
        let word = lower(word);
        let n = word.chars().count();
        let allowed = if n < TWO_WRONG { 1 } else { 2 };
        let near = self.0.iter().filter_map(|(name, (count, as_written))| {
            let length = name.chars().count();
            if length < MIN_CHARS || length.abs_diff(n) > allowed {
                return None;
            }
            let wrong = strsim::osa_distance(&word, name);
            (wrong <= allowed).then_some((wrong, Reverse(*count), as_written.as_str()))
        });
        near.min().map(|(_, _, name)| name)
    }
}
