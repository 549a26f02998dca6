//! Reads the tree for questions that come before the first index: which files there are, and what
//! those files say that hold the words of a question. Nothing is written.

use std::io;
use std::time::{Duration, Instant};

use aho_corasick::AhoCorasick;
use rayon::prelude::*;

use super::chunker::set_origin;
use super::indexer::Indexer;
use super::parsed::parsed;
use crate::chunk::{Chunk, ChunkType, Metadata};
use crate::dir::Dir;
use crate::languages::{LanguageKind, detect};
use crate::source::{self, Scope, SourceFile, text_of};

/// Source of fewer bytes is indexed in less than a second, so a question waits for the index.
const LEAST_BYTES: u64 = 2 << 20;
/// Larger files do not answer early, because one of them may take as long as all others.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// Most files that answer early.
const MAX_FILES: usize = 200;
/// After this time, words are counted in no further file.
const COUNTING: Duration = Duration::from_millis(500);
/// After this time, no further file is parsed.
const PARSING: Duration = Duration::from_secs(1);
/// A word in the path of a file counts as much as so many in its text.
const WORTH_OF_PATH: u32 = 10;
/// Saturation constant of BM25 (`k1`), and how much it depends on the size of a file (`b`).
const SATURATION: f64 = 1.2;
const BY_SIZE: f64 = 0.75;

/// What the files say that hold most words of a question.
pub struct EarlyChunks {
    /// The chunks, by type and then by path.
    pub chunks: Vec<Chunk>,
    /// Number of files that they come from.
    pub n_files: usize,
    /// Number of files of the tree.
    pub n_files_in_all: usize,
}

impl Indexer {
    /// Returns the files of the tree if indexing them takes longer than a moment.
    fn large_tree(&self) -> Option<Vec<SourceFile>> {
        let files = source::walk(self.layout.root(), &self.walk, &Scope::All).files;
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        (bytes >= LEAST_BYTES).then_some(files)
    }

    /// Returns the files that an index would hold, by type and then by path: the chunks of those that
    /// `is_read` names, and one chunk without text for each of the others. Returns `None` if an index of
    /// the tree is made in a moment.
    ///
    /// # Errors
    /// When the root cannot be opened.
    pub fn list(&self, is_read: &(dyn Fn(&str) -> bool + Sync)) -> io::Result<Option<Vec<Chunk>>> {
        let Some(files) = self.large_tree() else { return Ok(None) };
        let root = Dir::open(self.layout.root())?;
        let listed = |file: &SourceFile| {
            let (entry, bytes) = self.read(&root, file)?;
            let bytes = bytes?;
            if is_read(&file.path) {
                return Some(parsed(&file.path, &bytes, entry, None, None).chunks);
            }
            let text = text_of(&bytes);
            if text.trim().is_empty() {
                return None;
            }
            let language = detect(&file.path, &text);
            let chunk_type = match language.kind {
                LanguageKind::Code(_) | LanguageKind::Text => ChunkType::Definitions,
                LanguageKind::Config | LanguageKind::Notebook => ChunkType::Data,
                LanguageKind::Document(_) => ChunkType::Documentation,
            };
            let metadata = Metadata {
                file_path: Some(file.path.clone()),
                language: Some(language.name.to_string()),
                ..Metadata::default()
            };
            let mut chunks = vec![Chunk { metadata, ..Chunk::new(&*file.path, chunk_type, "") }];
            set_origin(&mut chunks, entry.origin, &file.path, &text);
            Some(chunks)
        };
        let mut chunks: Vec<Chunk> = files.par_iter().filter_map(listed).flatten_iter().collect();
        sort(&mut chunks);
        Ok(Some(chunks))
    }

    /// Returns the chunks of those files that hold most of some words, without regard to case: of as
    /// many as are read in about a second. Returns `None` if an index of the tree is made in a moment.
    ///
    /// # Errors
    /// When the root cannot be opened, or the words are too many.
    pub fn read_early(&self, words: &[String]) -> io::Result<Option<EarlyChunks>> {
        let start = Instant::now();
        let Some(files) = self.large_tree() else { return Ok(None) };
        let root = Dir::open(self.layout.root())?;
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
        let finder = finder.map_err(io::Error::other)?;
        let count = |file: &SourceFile| {
            if file.bytes > MAX_FILE_BYTES || start.elapsed() > COUNTING {
                return None;
            }
            let bytes = root.read(&file.path, MAX_FILE_BYTES).ok()?;
            let mut counts = vec![0; words.len()];
            for found in finder.find_overlapping_iter(&bytes) {
                counts[found.pattern().as_usize()] += 1;
            }
            for found in finder.find_overlapping_iter(&file.path) {
                counts[found.pattern().as_usize()] += WORTH_OF_PATH;
            }
            counts.iter().any(|n| *n > 0).then_some(counts)
        };
        let holding: Vec<(&SourceFile, Vec<u32>)> =
            files.par_iter().filter_map(|file| Some((file, count(file)?))).collect();
        let parse = |file: &SourceFile| {
            if start.elapsed() > PARSING {
                return None;
            }
            let (entry, bytes) = self.read(&root, file)?;
            Some(parsed(&file.path, &bytes?, entry, None, None).chunks)
        };
        // A bridge takes the files in their order, so the best are parsed first.
        let best = best(&holding, words.len()).into_iter().take(MAX_FILES).par_bridge();
        let read: Vec<Vec<Chunk>> = best.filter_map(parse).collect();
        let n_files = read.len();
        let mut chunks: Vec<Chunk> = read.into_iter().flatten().collect();
        sort(&mut chunks);
        Ok(Some(EarlyChunks { chunks, n_files, n_files_in_all: files.len() }))
    }
}

/// Sorts chunks as chunk files do. Those of one file stay in their order.
fn sort(chunks: &mut [Chunk]) {
    let key = |chunk: &Chunk| (chunk.chunk_type, chunk.metadata.file_path.clone());
    chunks.sort_by_cached_key(key);
}

/// Orders files by how often they hold words, the best first. A word counts more if it is in few of
/// them. `holding` has the number of each of `n_words` words in each file.
fn best<'f>(holding: &[(&'f SourceFile, Vec<u32>)], n_words: usize) -> Vec<&'f SourceFile> {
    let n_files = holding.len().max(1) as f64;
    let weight = |word: usize| {
        let n = holding.iter().filter(|(_, counts)| counts[word] > 0).count();
        (1.0 + n_files / n.max(1) as f64).ln()
    };
    let weights: Vec<f64> = (0..n_words).map(weight).collect();
    let bytes: u64 = holding.iter().map(|(file, _)| file.bytes).sum();
    let average = (bytes as f64 / n_files).max(1.0);
    let score = |file: &SourceFile, counts: &[u32]| -> f64 {
        let size = 1.0 - BY_SIZE + BY_SIZE * file.bytes as f64 / average;
        let of_word = |(n, weight): (&u32, &f64)| {
            let n = f64::from(*n);
            weight * n / (n + SATURATION * size)
        };
        counts.iter().zip(&weights).map(of_word).sum()
    };
    let mut scored: Vec<(f64, &SourceFile)> =
        holding.iter().map(|(file, counts)| (score(file, counts), *file)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    scored.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_rare_words_comes_before_one_with_a_frequent_word() {
        let file = |path: &str| SourceFile {
            path: path.into(),
            bytes: 1000,
            modified_ns: 0,
            changed_ns: 0,
            origin: crate::source::DeclaredOrigin::default(),
        };
        let (often, rare, both) = (file("often.rs"), file("rare.rs"), file("both.rs"));
        let holding = [(&often, vec![9, 0]), (&rare, vec![0, 9]), (&both, vec![9, 9])];
        let holding: Vec<_> = holding.into_iter().chain([(&often, vec![9, 0])]).collect();
        let paths: Vec<&str> = best(&holding, 2).iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["both.rs", "rare.rs", "often.rs", "often.rs"]);
    }
}
