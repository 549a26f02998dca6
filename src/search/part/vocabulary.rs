//! The names of a corpus that is kept elsewhere, for correcting misspelled words.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitcode::{Decode, Encode};

use super::super::files::key;
use super::super::names::Name;
use super::super::query::Query;
use super::super::spelling::{Near, Vocabulary, corrected};
use super::super::tokens::{Analyzer, Kind, STEM_MARK};
use super::super::{Corpus, SearchError};
use super::counts::WordCount;
use crate::chunk::Chunk;

/// Names of a corpus: each in lower case, its parts joined, and as code writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct NameBlock(Vec<(String, String)>);

impl NameBlock {
    /// Collects the names of chunks in `n` blocks, by their hashes.
    #[must_use]
    pub fn of<'c>(chunks: impl Iterator<Item = &'c Chunk>, n: usize) -> Vec<Self> {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let mut analyzer = Analyzer::default();
        for chunk in chunks {
            let names = chunk.metadata.names.iter().map(|name| name.name.as_str());
            let texts = names.chain([chunk.title.as_str()]);
            for text in texts {
                analyzer.terms(text, |term| {
                    if term.kind != Kind::Stem {
                        let written = &text[term.range.clone()];
                        let known =
                            all.entry(term.text.to_string()).or_insert_with(|| written.into());
                        if written < &**known {
                            *known = written.into();
                        }
                    }
                });
            }
        }
        let mut blocks = vec![Self::default(); n.max(1)];
        for (name, written) in all {
            let number = usize::try_from(key(&name) % blocks.len() as u64).unwrap_or(0);
            blocks[number].0.push((name, written));
        }
        blocks
    }

    /// Returns the bytes that [`NameBlock::read`] reads.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        bitcode::encode(self)
    }

    /// Reads a block; `None` if the bytes are not those of one.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bitcode::decode(bytes).ok()
    }

    /// Bytes that it takes in memory, about.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.0.iter().map(|(name, written)| name.len() + written.len() + 60).sum()
    }
}

/// Where the counts and names of a corpus are kept.
pub trait WordSource {
    type Error: From<SearchError>;

    /// Returns the counts of words, given by their hashes, in their order.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn counts(&self, words: &[u64]) -> Result<Vec<WordCount>, Self::Error>;

    /// Returns all names.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn names(&self) -> Result<Vec<Arc<NameBlock>>, Self::Error>;
}

/// The words of a corpus: of one that is here, or of one that is kept elsewhere.
pub enum Words<'a, S> {
    Here(&'a Corpus),
    There(&'a S),
}

/// Returns the hashes of all words whose counts parsing `text` may need. Asked at once, they can be kept
/// for [`Words::query`].
#[must_use]
pub fn words_of(text: &str) -> Vec<u64> {
    let mut analyzer = Analyzer::default();
    let mut words = Vec::new();
    analyzer.terms(text, |term| words.push(key(term.text.trim_start_matches(STEM_MARK))));
    words
}

impl<S: WordSource> Words<'_, S> {
    /// Parses a query for several corpora, as [`Searcher::query_of_all`](super::super::Searcher::query_of_all)
    /// does.
    ///
    /// # Errors
    /// When a source or a text index cannot be read.
    pub fn query(
        all: &[Self],
        text: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Result<Query, S::Error> {
        corrected(&all.iter().collect::<Vec<_>>(), text, is_word)
    }
}

impl<S: WordSource> Vocabulary for Words<'_, S> {
    type Error = S::Error;

    fn holds(&self, part: &str) -> Result<bool, S::Error> {
        let source = match self {
            Self::Here(corpus) => {
                return corpus.holds(part).map_err(|e| SearchError::from(e).into());
            }
            Self::There(source) => source,
        };
        let stem = Analyzer::default().canonical(part);
        let counts = source.counts(&[key(part), key(&stem)])?;
        Ok(counts[0].files > 0 || counts[1].stems > 0)
    }

    fn nearest(
        &self,
        word: &Name,
        allowed: usize,
        is_meant: &dyn Fn(usize, &str) -> bool,
    ) -> Result<Option<Near>, S::Error> {
        let source = match self {
            Self::Here(corpus) => {
                return corpus
                    .nearest(word, allowed, is_meant)
                    .map_err(|e| SearchError::from(e).into());
            }
            Self::There(source) => source,
        };
        let mut near = Vec::new();
        for block in source.names()? {
            for (name, written) in &block.0 {
                if let Some(wrong) = word.distance(&Name::new(name), allowed)
                    && is_meant(wrong, name)
                {
                    near.push((wrong, name.clone(), written.clone()));
                }
            }
        }
        let keys: Vec<u64> = near.iter().map(|(_, name, _)| key(name)).collect();
        let counts = source.counts(&keys)?;
        let n_of = |count: &WordCount| usize::try_from(count.names).unwrap_or(0);
        let best = near.into_iter().zip(counts).map(|((wrong, name, written), count)| {
            ((wrong, std::cmp::Reverse(n_of(&count)), name), written)
        });
        let best = best.min_by(|a, b| a.0.cmp(&b.0));
        Ok(best.map(|((wrong, n, _), written)| (wrong, n, written)))
    }
}
