//! A file of a corpus, read once, from which any number of smaller corpora can be made.

use std::sync::Arc;

use super::super::files::{FileContribution, IndexedFile, live};
use super::super::text::{ChunkTerms, Field};
use super::super::tokens::{Analyzed, Analyzer};
use super::super::{Corpus, Slot};
use crate::chunk::{Chunk, Entry, Quantized};

/// A file with its chunks, their terms and their vectors.
pub struct PreparedFile {
    /// Its slots count from 0 within the file.
    pub(super) file: IndexedFile,
    pub(super) chunks: Vec<PreparedChunk>,
}

/// A chunk of it.
pub(super) struct PreparedChunk {
    pub(super) entry: Arc<Entry>,
    pub(super) chunk: Arc<Chunk>,
    pub(super) terms: Arc<ChunkTerms>,
    pub(super) vector: Option<Quantized>,
}

/// Prepares files. It keeps the stems that it has seen, so one serves many files.
#[derive(Default)]
pub struct Preparer {
    analyzer: Analyzer,
    /// For questions about words while the other one splits a text.
    pub(super) stems: Analyzer,
}

impl Preparer {
    /// Prepares the file at `path` from its chunks and their vectors.
    pub fn file(
        &mut self,
        path: &str,
        chunks: Vec<(Arc<Chunk>, Option<Quantized>)>,
    ) -> PreparedFile {
        self.visited(path, chunks, |_, _, _, _| ())
    }

    /// Prepares a file and shows each term of each chunk to `visit`, by the chunk's position.
    pub(super) fn visited(
        &mut self,
        path: &str,
        mut chunks: Vec<(Arc<Chunk>, Option<Quantized>)>,
        mut visit: impl FnMut(&mut Analyzer, usize, Field, &Analyzed),
    ) -> PreparedFile {
        let Self { analyzer, stems } = self;
        chunks.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        let mut pieces = Vec::with_capacity(chunks.len());
        let mut prepared = Vec::with_capacity(chunks.len());
        for (at, (chunk, vector)) in chunks.into_iter().enumerate() {
            let slot = Slot::try_from(at).unwrap_or(Slot::MAX);
            pieces.push(FileContribution::new(slot, &chunk, analyzer));
            let visit = |field, term: &Analyzed| visit(stems, at, field, term);
            let terms = ChunkTerms::new(&chunk, analyzer, visit);
            prepared.push(PreparedChunk {
                entry: Arc::new(Entry::from(chunk.clone())),
                chunk,
                terms: Arc::new(terms),
                vector,
            });
        }
        PreparedFile { file: IndexedFile::new(path.into(), pieces, analyzer), chunks: prepared }
    }
}

impl PreparedFile {
    /// Returns the files of a corpus, with the slots of their chunks.
    #[must_use]
    pub fn all_of(corpus: &Corpus) -> Vec<(Arc<str>, Vec<Slot>)> {
        let slots = |file: &IndexedFile| file.parts.iter().map(|part| part.slot).collect();
        live(&corpus.files).map(|file| (file.path.clone(), slots(file))).collect()
    }

    /// Reads chunks of a corpus with their vectors; `None` if one cannot be read.
    #[must_use]
    pub fn chunks_of(
        corpus: &Corpus,
        slots: &[Slot],
    ) -> Option<Vec<(Arc<Chunk>, Option<Quantized>)>> {
        let read = |slot: &Slot| Some((corpus.chunk(*slot)?, corpus.vectors.quantized(*slot)));
        slots.iter().map(read).collect()
    }

    /// The path, or the id of a chunk without one.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// Bytes that it takes in memory, about.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let of_chunk = |c: &PreparedChunk| {
            let vector = c.vector.as_ref().map_or(0, |v| v.components.len());
            2 * c.chunk.text.len() + c.terms.n_bytes() + vector + 1_000
        };
        self.chunks.iter().map(of_chunk).sum::<usize>() + 40 * self.file.definitions.len() + 500
    }
}
