//! How common each word of a corpus is. Counts of files and commits add up, so those of a corpus can
//! be brought up to date by what was added and removed.

use bitcode::{Decode, Encode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::files::{Key, key};
use super::super::history::message;
use super::super::query::Query;
use super::super::statistics::{CorpusSize, FEW, Statistics};
use super::super::text::Field;
use super::super::tokens::{Kind, STEM_MARK};
use super::prepared::{PreparedFile, Preparer};
use crate::chunk::{Chunk, Quantized};
use std::sync::Arc;

/// The counts of one word. A word is a stem, a word as written in lower case, or a compound identifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordCount {
    /// Number of chunks whose bodies hold it as a stem.
    pub(super) stems: i32,
    /// Number of chunks whose bodies hold it as written.
    pub(super) words: i32,
    /// Number of files that hold it as written, in any field.
    pub(super) files: i32,
    /// Number of chunks that define a name with it.
    pub(super) names: i32,
    /// Number of files that have it in their names.
    pub(super) named: i32,
    /// Number of commits whose messages hold it.
    pub(super) commits: i32,
}

impl WordCount {
    fn parts(&mut self) -> [&mut i32; 6] {
        let Self { stems, words, files, names, named, commits } = self;
        [stems, words, files, names, named, commits]
    }

    /// Adds another count, or subtracts it.
    pub fn add(&mut self, mut other: Self, sign: i32) {
        for (sum, n) in self.parts().into_iter().zip(other.parts()) {
            *sum = sum.saturating_add(n.saturating_mul(sign));
        }
    }
}

/// The counts of all words of some files and commits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordCounts {
    size: CorpusSize,
    words: FxHashMap<Key, WordCount>,
}

impl WordCounts {
    /// Adds the counts of a file, from its chunks, and returns it.
    pub fn add_file(
        &mut self,
        preparer: &mut Preparer,
        path: &str,
        chunks: Vec<(Arc<Chunk>, Option<Quantized>)>,
    ) -> PreparedFile {
        let mut in_file: FxHashSet<Key> = FxHashSet::default();
        let mut in_chunk: FxHashSet<(Key, u8)> = FxHashSet::default();
        let mut last = usize::MAX;
        let words = &mut self.words;
        let file = preparer.visited(path, chunks, |stems, at, field, term| {
            if at != last {
                in_chunk.clear();
                last = at;
            }
            let is_body = field == Field::Body;
            if let Some(stem) = term.text.strip_prefix(STEM_MARK) {
                if is_body && in_chunk.insert((key(stem), 0)) {
                    words.entry(key(stem)).or_default().stems += 1;
                }
                return;
            }
            let word = key(term.text);
            let count = words.entry(word).or_default();
            if in_file.insert(word) {
                count.files += 1;
            }
            if is_body {
                if in_chunk.insert((word, 1)) {
                    count.words += 1;
                }
                if stems.stem(term.text).is_none() && in_chunk.insert((word, 0)) {
                    count.stems += 1;
                }
            } else if field == Field::Name && term.kind != Kind::Stem && in_chunk.insert((word, 2))
            {
                count.names += 1;
            }
        });
        for part in &file.file.stem {
            self.words.entry(*part).or_default().named += 1;
        }
        self.size.chunks += file.chunks.len() as u64;
        self.size.length += file.chunks.iter().map(|chunk| chunk.terms.n_terms()).sum::<u64>();
        self.size.files += 1;
        self.size.file_bytes += file.file.n_bytes as f64;
        file
    }

    /// Adds the counts of a commit.
    pub fn add_commit(&mut self, preparer: &mut Preparer, commit: &Chunk) {
        let words = message(commit, &mut preparer.stems);
        self.size.commits += 1;
        self.size.commit_length += f64::from(words.values().sum::<f32>());
        for word in words.keys() {
            self.words.entry(key(word)).or_default().commits += 1;
        }
    }

    /// Adds other counts, or subtracts them if `sign` is −1.
    pub fn add(&mut self, other: &Self, sign: i32) {
        self.size.add_signed(&other.size, sign);
        for (word, count) in &other.words {
            self.words.entry(*word).or_default().add(*count, sign);
        }
    }

    /// The size of the files and commits together.
    #[must_use]
    pub fn size(&self) -> CorpusSize {
        self.size
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words in 2^`bits` blocks; [`CountBlock::number`] is the place of a word.
    #[must_use]
    pub fn blocks(&self, bits: u32) -> Vec<Vec<u8>> {
        let mut blocks = vec![Vec::new(); 1 << bits];
        let mut words: Vec<(Key, WordCount)> = self
            .words
            .iter()
            .filter(|(_, n)| **n != WordCount::default())
            .map(|(k, n)| (*k, *n))
            .collect();
        words.sort_unstable_by_key(|(key, _)| *key);
        for (word, count) in words {
            blocks[CountBlock::number(word, bits)].push((word, count));
        }
        let block = |words: Vec<(Key, WordCount)>| {
            let mut block = CountBlock::default();
            for (word, mut count) in words {
                block.keys.push(word);
                for (column, n) in block.columns.iter_mut().zip(count.parts()) {
                    column.push(*n);
                }
            }
            bitcode::encode(&block)
        };
        blocks.into_iter().map(block).collect()
    }
}

/// A block of stored counts.
#[derive(Debug, Clone, Default, Encode, Decode)]
pub struct CountBlock {
    keys: Vec<Key>,
    columns: [Vec<i32>; 6],
}

impl CountBlock {
    /// Returns the block of a word, given by its hash, of 2^`bits` blocks.
    #[must_use]
    pub fn number(word: u64, bits: u32) -> usize {
        usize::try_from(word.checked_shr(64 - bits).unwrap_or(0)).unwrap_or(0)
    }

    /// Reads a block; `None` if the bytes are not those of one.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let block: Self = bitcode::decode(bytes).ok()?;
        let fits = block.columns.iter().all(|column| column.len() == block.keys.len());
        (fits && block.keys.is_sorted()).then_some(block)
    }

    /// Returns the counts of a word, given by its hash.
    #[must_use]
    pub fn count(&self, word: u64) -> WordCount {
        let mut count = WordCount::default();
        if let Ok(at) = self.keys.binary_search(&word) {
            for (n, column) in count.parts().into_iter().zip(&self.columns) {
                *n = column[at];
            }
        }
        count
    }

    /// Bytes that it takes in memory.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.keys.len() * (8 + 4 * 6)
    }
}

fn count(n: i32) -> usize {
    usize::try_from(n).unwrap_or(0)
}

impl Statistics {
    /// Returns the hashes of the words whose counts a query needs.
    #[must_use]
    pub fn words_of(query: &Query) -> Vec<u64> {
        let terms = query.terms.iter().map(|term| key(&term.canonical));
        terms.chain(query.words.iter().map(|(word, _)| key(word))).collect()
    }

    /// Makes the statistics of a query from stored counts.
    #[must_use]
    pub fn stored(query: &Query, size: CorpusSize, of: impl Fn(u64) -> WordCount) -> Self {
        let mut out = Self { size, ..Self::default() };
        for term in &query.terms {
            let found = of(key(&term.canonical));
            out.chunks.push(count(if term.is_whole { found.words } else { found.stems }));
            out.files.push(if term.is_whole { count(found.files).min(FEW + 1) } else { 0 });
            out.named.push(count(found.named));
            out.commits.push(count(found.commits));
        }
        out.words = query.words.iter().map(|(word, _)| count(of(key(word)).words)).collect();
        out
    }
}
