//! Tells which of many corpora a question is about, without opening them: a sketch of a corpus holds
//! the hash of each word and the number of chunks that have it.

use rustc_hash::FxHashMap;

use super::corpus::{Corpus, SearchError};
use super::query::{Query, QueryTerm};
use super::text::Field;
use super::tokens::lower_parts;

/// Most words of a sketch; the rarest are left out.
const MAX_WORDS: usize = 100_000;
/// Bytes of a word: the hash, and the number of chunks.
const WORD: usize = 6;
/// Saturation of the number of chunks with a word, for a corpus of mean size.
const SATURATION: f64 = 4.0;
/// The share of that number which does not depend on the size of the corpus.
const SIZE_FREE: f64 = 0.5;
/// The worth of a word in the name, and in the description, against any number of chunks.
const IN_NAME: f64 = 1.5;
const IN_DESCRIPTION: f64 = 0.6;

/// The words of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    n_chunks: u32,
    /// Hash and number, both little-endian, in the order of the hashes.
    words: Vec<u8>,
}

/// A corpus that a question may be about.
#[derive(Debug, Clone, Copy)]
pub struct Sketched<'a> {
    pub sketch: &'a Sketch,
    pub name: &'a str,
    pub description: &'a str,
    /// Multiplies the score: 1 changes nothing.
    pub prior: f64,
}

impl Sketch {
    /// Makes the sketch of a corpus.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn of(corpus: &Corpus) -> Result<Self, SearchError> {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        corpus.text.terms(Field::Body, |term, n| {
            let number = numbers.entry(hash(term)).or_default();
            *number = number.saturating_add(n);
        })?;
        let n_chunks = u32::try_from(corpus.chunks().len()).unwrap_or(u32::MAX);
        Ok(Self::of_words(n_chunks, numbers.into_iter().collect(), MAX_WORDS))
    }

    /// Keeps the `most` commonest of some words.
    fn of_words(n_chunks: u32, mut words: Vec<(u32, u32)>, most: usize) -> Self {
        words.sort_unstable_by_key(|(hash, n)| (std::cmp::Reverse(*n), *hash));
        words.truncate(most);
        words.sort_unstable();
        let bytes = words.into_iter().flat_map(|(hash, n)| {
            let n = u16::try_from(n).unwrap_or(u16::MAX);
            hash.to_le_bytes().into_iter().chain(n.to_le_bytes())
        });
        Self { n_chunks, words: bytes.collect() }
    }

    /// Returns a sketch of its `most` commonest words.
    #[must_use]
    pub fn with(&self, most: usize) -> Self {
        let (words, _) = self.words.as_chunks::<WORD>();
        let number = |[a, b, c, d, e, f]: &[u8; WORD]| {
            (u32::from_le_bytes([*a, *b, *c, *d]), u32::from(u16::from_le_bytes([*e, *f])))
        };
        Self::of_words(self.n_chunks, words.iter().map(number).collect(), most)
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.words.len()
    }

    /// Returns the bytes that [`Sketch::read`] reads.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        [&self.n_chunks.to_le_bytes()[..], &self.words].concat()
    }

    /// Reads a sketch; `None` if the bytes are not those of one.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (n_chunks, words) = bytes.split_first_chunk()?;
        let n_chunks = u32::from_le_bytes(*n_chunks);
        (words.len() % WORD == 0).then(|| Self { n_chunks, words: words.to_vec() })
    }

    /// Returns the number of chunks that have a word.
    fn count(&self, term: &str) -> u32 {
        let wanted = hash(term);
        let (words, _) = self.words.as_chunks::<WORD>();
        let hash_of = |[a, b, c, d, ..]: &[u8; WORD]| u32::from_le_bytes([*a, *b, *c, *d]);
        let found = words.binary_search_by_key(&wanted, hash_of);
        found.map_or(0, |at| u32::from(u16::from_le_bytes([words[at][4], words[at][5]])))
    }

    fn count_term(&self, term: &QueryTerm) -> f64 {
        term.variants.iter().map(|variant| f64::from(self.count(variant))).sum()
    }
}

fn hash(term: &str) -> u32 {
    u32::try_from(xxhash_rust::xxh3::xxh3_64(term.as_bytes()) >> 32).unwrap_or_default()
}

/// Ranks corpora by how much of a question they are about: position and score, the best first.
/// Those without a word of it are left out.
#[must_use]
pub fn nearest(question: &str, corpora: &[Sketched]) -> Vec<(usize, f64)> {
    let query = Query::new(question);
    let of_text = |text: &str| -> Vec<String> {
        let terms = Query::words(text).terms;
        let parts = lower_parts(text);
        terms.into_iter().map(|term| term.canonical).chain(parts).collect()
    };
    let texts: Vec<(Vec<String>, Vec<String>)> =
        corpora.iter().map(|c| (of_text(c.name), of_text(c.description))).collect();
    let n = corpora.len().max(1) as f64;
    let mean = corpora.iter().map(|c| f64::from(c.sketch.n_chunks)).sum::<f64>() / n;
    let mut scores = vec![0.0; corpora.len()];
    for term in &query.terms {
        let counts: Vec<f64> = corpora.iter().map(|c| c.sketch.count_term(term)).collect();
        let n_with = counts.iter().filter(|count| **count > 0.0).count() as f64;
        let rarity = (1.0 + (n - n_with + 0.5) / (n_with + 0.5)).ln();
        for (at, corpus) in corpora.iter().enumerate() {
            let size = f64::from(corpus.sketch.n_chunks) / mean.max(1.0);
            let saturation = SATURATION * (SIZE_FREE + (1.0 - SIZE_FREE) * size);
            let said = |texts: &[String]| texts.contains(&term.canonical);
            let (name, description) = &texts[at];
            let worth = counts[at] / (counts[at] + saturation)
                + if said(name) { IN_NAME } else { 0.0 }
                + if said(description) { IN_DESCRIPTION } else { 0.0 };
            scores[at] += f64::from(term.weight) * rarity * worth;
        }
    }
    let weighed = scores.into_iter().zip(corpora).map(|(score, corpus)| score * corpus.prior);
    let mut ranked: Vec<(usize, f64)> =
        weighed.enumerate().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(n_chunks: u32, words: &[(&str, u16)]) -> Sketch {
        let mut words: Vec<(u32, u16)> = words.iter().map(|(word, n)| (hash(word), *n)).collect();
        words.sort_unstable();
        let bytes = words
            .into_iter()
            .flat_map(|(hash, n)| hash.to_le_bytes().into_iter().chain(n.to_le_bytes()));
        Sketch { n_chunks, words: bytes.collect() }
    }

    #[test]
    fn a_question_is_about_the_corpus_that_is_named_so_or_says_its_rare_words() {
        let sketches = [
            sketch(100, &[("retri", 40), ("retry", 3), ("request", 90), ("back", 2)]),
            sketch(100, &[("request", 95), ("json", 5)]),
            sketch(9000, &[("request", 95), ("retri", 2), ("retry", 2), ("json", 5)]),
        ];
        let corpora: Vec<Sketched> = sketches
            .iter()
            .zip(["backoff", "http", "everything"])
            .map(|(sketch, name)| Sketched { sketch, name, description: "", prior: 1.0 })
            .collect();
        let first = |question: &str| nearest(question, &corpora).first().map(|(at, _)| *at);
        assert_eq!(first("retry a request"), Some(0));
        assert_eq!(first("http request"), Some(1));
        assert_eq!(first("parse json"), Some(1));
        assert_eq!(first("umbrella"), None);
        let read = Sketch::read(&sketches[0].bytes());
        assert_eq!(read.as_ref(), Some(&sketches[0]));
        assert_eq!(Sketch::read(b"abc"), None);
    }
}
