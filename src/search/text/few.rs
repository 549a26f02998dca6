//! The texts of some hundred files without an index: each chunk has a table of its terms.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;

use super::super::Slot;
use super::super::damage::Health;
use super::super::files::{Key, key};
use super::super::tokens::Analyzer;
use super::{
    DocAddress, ExactError, Field, Frequencies, IndexedText, Occurrences, Posting, TextError,
    TextIndex,
};
use crate::chunk::Chunk;

/// The terms of a chunk.
#[derive(Debug)]
pub(in super::super) struct ChunkTerms {
    /// By the hash of the term, in order.
    terms: Box<[(Key, [u16; Field::ALL.len()])]>,
    /// Of the body, in tantivy's encoding.
    length: u8,
}

impl ChunkTerms {
    /// Counts the terms of a chunk. `visit` sees each occurrence, with its field.
    pub(in super::super) fn new(
        chunk: &Chunk,
        analyzer: &mut Analyzer,
        mut visit: impl FnMut(Field, &super::Analyzed),
    ) -> Self {
        let mut counted: FxHashMap<Key, [u16; Field::ALL.len()]> = FxHashMap::default();
        let mut n_body = 0;
        for field in Field::ALL {
            let text = field.text(chunk);
            let text = if field == Field::Body { &chunk.text } else { &text };
            analyzer.terms(text, |term| {
                let n = &mut counted.entry(key(term.text)).or_default()[field as usize];
                *n = n.saturating_add(1);
                n_body += u32::from(field == Field::Body);
                visit(field, &term);
            });
        }
        let mut terms: Box<[_]> = counted.into_iter().collect();
        terms.sort_unstable_by_key(|(key, _)| *key);
        Self { terms, length: FieldNormReader::fieldnorm_to_id(n_body) }
    }

    /// Number of terms in its body, rounded as the index does.
    pub(in super::super) fn n_terms(&self) -> u64 {
        u64::from(FieldNormReader::id_to_fieldnorm(self.length))
    }

    /// The same number, as an index into [`Lengths`](super::Lengths).
    pub(in super::super) fn length(&self) -> u8 {
        self.length
    }

    fn frequencies(&self, term: Key) -> Option<Frequencies> {
        let at = self.terms.binary_search_by_key(&term, |(key, _)| *key).ok()?;
        Some(self.terms[at].1.map(u32::from))
    }

    /// Bytes that it takes in memory.
    pub(in super::super) fn n_bytes(&self) -> usize {
        size_of_val(&*self.terms)
    }
}

/// A chunk with its terms.
pub(in super::super) type Read = (Arc<Chunk>, Arc<ChunkTerms>);

/// The texts of a part of a corpus, by slot.
#[derive(Clone)]
pub(in super::super) struct FewTexts(Arc<Texts>);

struct Texts {
    chunks: Vec<Read>,
    total_length: u64,
    /// By slot: where the terms of a body are, counted at the first use.
    positions: Vec<OnceLock<FxHashMap<Key, Vec<u32>>>>,
    /// Made for the first exact query.
    index: OnceLock<Result<IndexedText, ExactError>>,
    health: Health,
}

impl FewTexts {
    pub(in super::super) fn new(chunks: Vec<Read>) -> Self {
        let total_length = chunks.iter().map(|(_, terms)| terms.n_terms()).sum();
        let positions = chunks.iter().map(|_| OnceLock::new()).collect();
        let health = Health::default();
        Self(Arc::new(Texts { chunks, total_length, positions, index: OnceLock::new(), health }))
    }

    pub(super) fn health(&self) -> &Health {
        &self.0.health
    }

    pub(super) fn size(&self) -> (u64, u64) {
        (self.0.chunks.len() as u64, self.0.total_length)
    }

    fn terms(&self) -> impl Iterator<Item = (Slot, &ChunkTerms)> {
        (0..).zip(self.0.chunks.iter().map(|(_, terms)| &**terms))
    }

    pub(super) fn postings(&self, field: Field, term: &str, mut visit: impl FnMut(Posting)) {
        let term = key(term);
        for (slot, terms) in self.terms() {
            let frequency = terms.frequencies(term).map_or(0, |found| found[field as usize]);
            if frequency > 0 {
                visit(Posting { slot, frequency, length: terms.length });
            }
        }
    }

    pub(super) fn occurrences(&self, of: &[String], mut visit: impl FnMut(Occurrences)) {
        let keys: Vec<Key> = of.iter().map(|term| key(term)).collect();
        for (slot, terms) in self.terms() {
            let mut frequencies = Frequencies::default();
            for found in keys.iter().filter_map(|key| terms.frequencies(*key)) {
                frequencies.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
            }
            if frequencies != Frequencies::default() {
                let place = DocAddress(0, slot);
                visit(Occurrences { slot, place, length: terms.length, frequencies });
            }
        }
    }

    pub(super) fn contains(&self, field: Field, term: &str) -> bool {
        let term = key(term);
        let holds =
            |terms: &ChunkTerms| terms.frequencies(term).is_some_and(|f| f[field as usize] > 0);
        self.terms().any(|(_, terms)| holds(terms))
    }

    pub(super) fn positions(
        &self,
        term: &str,
        places: &[DocAddress],
        mut visit: impl FnMut(usize, &[u32]),
    ) {
        let term = key(term);
        for (i, place) in places.iter().enumerate() {
            let slot = place.1 as usize;
            let known = self.0.positions[slot].get_or_init(|| {
                let mut known: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
                Analyzer::default().terms(&self.0.chunks[slot].0.text, |term| {
                    let position = u32::try_from(term.position).unwrap_or(u32::MAX);
                    known.entry(key(term.text)).or_default().push(position);
                });
                known
            });
            if let Some(found) = known.get(&term) {
                visit(i, found);
            }
        }
    }

    pub(super) fn matching(&self, query: &str) -> Result<Vec<Slot>, ExactError> {
        let indexed = self.0.index.get_or_init(|| {
            let index = || {
                let mut index = TextIndex::in_memory()?;
                index.begin(self.0.chunks.len())?;
                for (slot, (chunk, _)) in (0..).zip(&self.0.chunks) {
                    index.add(slot, chunk)?;
                }
                index.commit()
            };
            index().map_err(|e: TextError| ExactError { message: e.to_string() })
        });
        indexed.as_ref().map_err(Clone::clone)?.matching(query)
    }
}
