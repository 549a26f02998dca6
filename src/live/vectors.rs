//! Provides the vectors of chunks for a corpus: inline ones, ones that the feed has stored, or new
//! ones.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::chunk::{Chunk, Entry, Feed, Fingerprint, Quantized, StoredVectors};
use crate::embed::{EmbedError, Embedder, passage};
use crate::search::{Read, VectorSource};

/// Provides the vectors of the chunks of one update.
pub(super) struct Vectors<'a> {
    feed: &'a dyn Feed,
    embedder: &'a dyn Embedder,
    /// The vectors that the feed returned last.
    stored: Option<Box<dyn StoredVectors>>,
    /// Whether the feed was asked for vectors and did not have all of them. Then it has no others.
    is_exhausted: bool,
    /// Chunks whose vectors are made outside this update, with the fingerprints of their passages.
    pub(super) lacking: Vec<(Fingerprint, Arc<Entry>)>,
    failure: Option<EmbedError>,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(feed: &'a dyn Feed, embedder: &'a dyn Embedder) -> Self {
        Self {
            feed,
            embedder,
            stored: None,
            is_exhausted: false,
            lacking: Vec::new(),
            failure: None,
        }
    }

    /// Returns the chunks that lack their vectors, or the error of the embedder.
    pub(super) fn finish(self) -> Result<Vec<(Fingerprint, Arc<Entry>)>, EmbedError> {
        self.failure.map_or(Ok(self.lacking), Err)
    }

    /// Returns those stored vectors of these passages that exist, and possibly others.
    fn stored(&mut self, wanted: &FxHashSet<Fingerprint>) -> &dyn StoredVectors {
        let has_all = |stored: &dyn StoredVectors| wanted.iter().all(|key| stored.contains(*key));
        if !self.stored.as_deref().is_some_and(|s| self.is_exhausted || has_all(s)) {
            let stored = self.feed.vectors(wanted);
            self.is_exhausted = !has_all(&*stored);
            self.stored = Some(stored);
        }
        // Cannot fail: the field was set above.
        self.stored.as_deref().expect("what is stored")
    }

    /// Makes the vectors of passages that have no stored one.
    fn make(&mut self, chunks: &[(Fingerprint, &Read)]) -> Vec<Quantized> {
        let passages: Vec<_> = chunks.iter().map(|(_, (_, chunk))| passage(chunk)).collect();
        let made = self.embedder.embed_passages(&passages);
        let made = made.unwrap_or_else(|e| {
            self.failure = Some(e);
            Vec::new()
        });
        made.iter().map(|v| Quantized::new(v)).collect()
    }
}

impl VectorSource for Vectors<'_> {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        let key = |chunk: &Arc<Chunk>| chunk.embedding.is_none().then(|| passage(chunk).key());
        let keys: Vec<Option<Fingerprint>> =
            chunks.par_iter().with_min_len(64).map(|(_, chunk)| key(chunk)).collect();
        let stored = self.stored(&keys.iter().flatten().copied().collect());
        let find = |(key, (_, chunk)): (&Option<Fingerprint>, &Read)| match (key, &chunk.embedding)
        {
            (None, inline) => inline.as_ref().map(|v| Quantized::new(v)),
            (Some(key), _) => stored.get(*key),
        };
        let mut vectors: Vec<Option<Quantized>> =
            keys.par_iter().zip(chunks).with_min_len(64).map(find).collect();
        let at: Vec<usize> =
            (0..chunks.len()).filter(|i| keys[*i].is_some() && vectors[*i].is_none()).collect();
        let missing: Vec<(Fingerprint, &Read)> =
            at.iter().filter_map(|i| Some((keys[*i]?, &chunks[*i]))).collect();
        if self.embedder.is_immediate() {
            for (i, vector) in at.into_iter().zip(self.make(&missing)) {
                vectors[i] = Some(vector);
            }
        } else {
            self.lacking.extend(missing.into_iter().map(|(key, (entry, _))| (key, entry.clone())));
        }
        vectors
    }
}

/// Provides no vectors.
pub(super) struct NoVectors;

impl VectorSource for NoVectors {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        vec![None; chunks.len()]
    }
}
