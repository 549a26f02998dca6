//! How common the words of a query are: the counts that idf and similar features need. The counts of
//! several corpora can be pooled, so that files of different corpora get comparable scores.

use bitcode::{Decode, Encode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::corpus::Corpus;
use super::files::{Key, key, live};
use super::history::CommitCounts;
use super::query::Query;
use super::text::{Field, TextError};

/// An identifier that occurs in at most this many files says which file is meant.
pub(super) const FEW: usize = 2;

/// The size of a corpus. It depends on no query, so it can be stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Encode, Decode)]
pub struct CorpusSize {
    pub(super) chunks: u64,
    /// Sum of the lengths of all bodies, in terms.
    pub(super) length: u64,
    pub(super) files: u64,
    /// Sum of the sizes of all files, in bytes.
    pub(super) file_bytes: f64,
    pub(super) commits: u64,
    /// Sum of the weighted lengths of all commit messages, in words.
    pub(super) commit_length: f64,
}

/// The counts of one query in one corpus, or in several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    pub(super) size: CorpusSize,
    /// By term of the query: number of chunks whose body holds it.
    pub(super) chunks: Vec<usize>,
    /// By term: number of files that hold it, if it is a compound identifier. Counted up to
    /// [`FEW`] + 1.
    pub(super) files: Vec<usize>,
    /// By term: number of files that have it in their names.
    pub(super) named: Vec<usize>,
    /// By term: number of commits whose messages hold it.
    pub(super) commits: Vec<usize>,
    /// By plain word of the query: number of chunks that hold it.
    pub(super) words: Vec<usize>,
}

/// Returns the mean length of a body, in terms.
pub(super) fn average_length(n_chunks: u64, total: u64) -> f32 {
    if n_chunks == 0 { 1.0 } else { (total as f32 / n_chunks as f32).max(1.0) }
}

impl CorpusSize {
    pub(super) fn of(corpus: &Corpus) -> Self {
        let (chunks, length) = corpus.text.size();
        let (commits, commit_length) = corpus.history.size();
        let (mut files, mut bytes) = (0, 0);
        for file in live(&corpus.files) {
            files += 1;
            bytes += file.n_bytes;
        }
        Self { chunks, length, files, file_bytes: bytes as f64, commits, commit_length }
    }

    /// Adds another size, or subtracts it if `sign` is −1.
    pub(super) fn add_signed(&mut self, other: &Self, sign: i32) {
        let add = |sum: &mut u64, n: u64| {
            *sum = if sign < 0 { sum.saturating_sub(n) } else { *sum + n };
        };
        add(&mut self.chunks, other.chunks);
        add(&mut self.length, other.length);
        add(&mut self.files, other.files);
        add(&mut self.commits, other.commits);
        self.file_bytes += other.file_bytes * f64::from(sign);
        self.commit_length += other.commit_length * f64::from(sign);
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Returns the mean size of a file, in bytes.
    pub(super) fn average_file_bytes(&self) -> f64 {
        (self.file_bytes / self.files.max(1) as f64).max(1.0)
    }
}

impl Statistics {
    /// Counts the words of a query in a corpus.
    pub(super) fn of(query: &Query, corpus: &Corpus) -> Result<Self, TextError> {
        let mut out = Self { size: CorpusSize::of(corpus), ..Self::default() };
        for term in &query.terms {
            let (mut chunks, mut files) = (0, FxHashSet::default());
            corpus.text.occurrences(&term.variants, |o| {
                chunks += usize::from(o.frequencies[Field::Body as usize] > 0);
                if term.is_whole && files.len() <= FEW {
                    files.insert(corpus.file_of[o.slot as usize]);
                }
            })?;
            out.chunks.push(chunks);
            out.files.push(files.len());
            out.commits.push(corpus.history.n_holding(&term.canonical));
        }
        for (word, _) in &query.words {
            let mut n = 0;
            corpus.text.postings(Field::Body, word, |_| n += 1)?;
            out.words.push(n);
        }
        let mut named: FxHashMap<Key, usize> =
            query.terms.iter().map(|term| (key(&term.canonical), 0)).collect();
        for part in live(&corpus.files).flat_map(|file| &file.stem) {
            if let Some(n) = named.get_mut(part) {
                *n += 1;
            }
        }
        out.named = query.terms.iter().map(|term| named[&key(&term.canonical)]).collect();
        Ok(out)
    }

    /// Returns how rare a plain word of the query is in the other corpora than `own`, whose counts
    /// are part of these: 1 if none of their chunks holds it, 0 if all do. `None` if it is no word of
    /// the query.
    #[must_use]
    pub fn rarity_beside(&self, own: &Self, query: &Query, word: &str) -> Option<f64> {
        let at = query.words.iter().position(|(found, _)| found == word)?;
        let chunks = (self.size.chunks.saturating_sub(own.size.chunks) as f64).max(2.0);
        let holding = self.words[at].saturating_sub(own.words[at]) as f64;
        Some(((chunks / (1.0 + holding)).ln() / chunks.ln()).clamp(0.0, 1.0))
    }

    /// Returns the counts of commits.
    pub(super) fn of_commits(&self) -> CommitCounts<'_> {
        let CorpusSize { commits, commit_length: length, .. } = self.size;
        CommitCounts { commits, length, holding: &self.commits }
    }

    /// Adds the counts of the same query in another corpus.
    pub fn add(&mut self, other: &Self) {
        let sum = |own: &mut Vec<usize>, other: &[usize]| {
            own.resize(own.len().max(other.len()), 0);
            own.iter_mut().zip(other).for_each(|(n, other)| *n += other);
        };
        self.size.add_signed(&other.size, 1);
        sum(&mut self.chunks, &other.chunks);
        sum(&mut self.files, &other.files);
        self.files.iter_mut().for_each(|n| *n = (*n).min(FEW + 1));
        sum(&mut self.named, &other.named);
        sum(&mut self.commits, &other.commits);
        sum(&mut self.words, &other.words);
    }
}
