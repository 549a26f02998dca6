//! Makes a corpus of some files of a larger one.

use std::sync::{Arc, OnceLock};

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::super::corpus::{Corpus, CorpusBuilder};
use super::super::files::{IndexedFile, live};
use super::super::history::History;
use super::super::references::{AllReferences, References};
use super::super::statistics::CorpusSize;
use super::super::text::{FewTexts, TextReader};
use super::super::vector::VectorTable;
use super::super::{SearchError, Slot};
use super::prepared::PreparedFile;
use crate::chunk::{ChunkSet, Entry};
use crate::languages::Examples;

/// What ranking needs to know of a whole corpus, apart from its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Encode, Decode)]
pub struct Whole {
    pub size: CorpusSize,
    /// Depth of the file with the fewest folders above it.
    pub min_depth: u32,
    /// Which files are examples.
    pub examples: Examples,
    /// Length of a vector.
    pub dimensions: u32,
}

/// A file that becomes part of a corpus.
pub struct CorpusPart<'a> {
    pub file: &'a PreparedFile,
    /// A number of the file that [`CorpusPart::uses`] of others may name.
    pub key: i64,
    /// The files whose definitions it mentions, in the whole corpus.
    pub uses: &'a [i64],
    /// Whether its declarations are in a header of the same name.
    pub has_header: bool,
}

impl Corpus {
    /// Returns the files that a file of this corpus uses, and whether its declarations are in a header:
    /// what a [`CorpusPart`] needs to know.
    pub fn relations(&self) -> impl Iterator<Item = (&str, Vec<&str>, bool)> {
        let all = (0u32..).zip(&self.files).filter(|(_, file)| !file.parts.is_empty());
        all.map(|(at, file)| {
            let uses = self.used_by(at).iter().map(|used| &*self.files[*used as usize].path);
            (&*file.path, uses.collect(), self.references().has_header(at))
        })
    }

    /// Returns what is known of the corpus as a whole, apart from its words.
    #[must_use]
    pub fn whole(&self) -> Whole {
        Whole {
            size: CorpusSize::of(self),
            min_depth: u32::try_from(self.min_depth).unwrap_or(0),
            examples: self.examples,
            dimensions: u32::try_from(self.vectors.dimensions()).unwrap_or(0),
        }
    }

    /// Iterates over the paths of the files that have chunks.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        live(&self.files).map(|file| &file.path)
    }

    /// Makes a corpus of some files and commits of a whole. Its scores are those of the whole if it is
    /// searched with the statistics of the whole ([`Searcher::search_among`](super::super::Searcher::search_among)).
    ///
    /// # Errors
    /// When the text index cannot be created.
    pub fn of_parts(
        whole: &Whole,
        parts: &[CorpusPart],
        commits: Vec<Arc<Entry>>,
    ) -> Result<Self, SearchError> {
        let mut files: Vec<Arc<IndexedFile>> = Vec::with_capacity(parts.len());
        let (mut rows, mut file_of, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut vectors = VectorTable::new(whole.dimensions as usize);
        for (part, at) in parts.iter().zip(0..) {
            let first = Slot::try_from(rows.len()).unwrap_or(Slot::MAX);
            files.push(Arc::new(part.file.file.starting_at(first)));
            for chunk in &part.file.chunks {
                let slot = Slot::try_from(rows.len()).unwrap_or(Slot::MAX);
                vectors.set(slot, chunk.vector.as_ref());
                rows.push(Some(chunk.entry.clone()));
                file_of.push(at);
                texts.push((chunk.chunk.clone(), chunk.terms.clone()));
            }
        }
        // A file outside that a part uses gets an empty place, so that it counts.
        let mut at: FxHashMap<i64, u32> = parts.iter().map(|part| part.key).zip(0..).collect();
        let mut uses = Vec::with_capacity(parts.len());
        for part in parts {
            let mut used: Vec<u32> = Vec::with_capacity(part.uses.len());
            for key in part.uses {
                let next = u32::try_from(at.len()).unwrap_or(u32::MAX);
                used.push(*at.entry(*key).or_insert(next));
            }
            used.sort_unstable();
            uses.push(used);
        }
        files.resize_with(at.len(), Arc::default);
        uses.resize_with(at.len(), Vec::new);
        let with_header = (0..).zip(parts).filter(|(_, part)| part.has_header).map(|(at, _)| at);
        let references = AllReferences::new(with_header.collect(), uses);
        let history = Arc::new(History::new(&commits));
        let entries = rows.iter().flatten().cloned().chain(commits).collect();
        let set = Arc::new(ChunkSet::of_unique(entries));
        let nothing = CorpusBuilder::new(whole.dimensions as usize)?;
        let builder = CorpusBuilder { rows, vectors, files, file_of, history, ..nothing };
        let text = TextReader::Few(FewTexts::new(texts));
        let mut corpus = builder.corpus(set, text, OnceLock::from(References::from(references)));
        corpus.average_file_bytes = whole.size.average_file_bytes();
        corpus.min_depth = whole.min_depth as usize;
        corpus.examples = whole.examples;
        Ok(corpus)
    }
}
