//! The texts of a corpus: in an index, or the few of a corpus that is a part of another one.

use super::super::Slot;
use super::super::damage::Health;
use super::{
    DocAddress, ExactError, FewTexts, Field, IndexedText, Occurrences, Posting, TextError,
};

/// An immutable view of the texts of a corpus.
#[derive(Clone)]
pub(in super::super) enum TextReader {
    Indexed(IndexedText),
    Few(FewTexts),
}

impl TextReader {
    /// The state of the files that this reads.
    pub(in super::super) fn health(&self) -> &Health {
        match self {
            Self::Indexed(text) => text.health(),
            Self::Few(text) => text.health(),
        }
    }

    /// Number of live chunks.
    pub(in super::super) fn n_chunks(&self) -> u64 {
        self.size().0
    }

    /// Number of live chunks, and the sum of the lengths of their bodies, in terms.
    pub(in super::super) fn size(&self) -> (u64, u64) {
        match self {
            Self::Indexed(text) => text.size(),
            Self::Few(text) => text.size(),
        }
    }

    /// Visits every live chunk that holds `term` in `field`.
    pub(in super::super) fn postings(
        &self,
        field: Field,
        term: &str,
        visit: impl FnMut(Posting),
    ) -> Result<(), TextError> {
        match self {
            Self::Indexed(text) => text.postings(field, term, visit),
            Self::Few(text) => {
                text.postings(field, term, visit);
                Ok(())
            }
        }
    }

    /// Visits, once, every live chunk that holds any of some terms in any field; the frequencies of
    /// equal terms are added.
    pub(in super::super) fn occurrences(
        &self,
        terms: &[String],
        visit: impl FnMut(Occurrences),
    ) -> Result<(), TextError> {
        match self {
            Self::Indexed(text) => text.occurrences(terms, visit),
            Self::Few(text) => {
                text.occurrences(terms, visit);
                Ok(())
            }
        }
    }

    /// Returns whether any live chunk holds `term` in `field`.
    pub(in super::super) fn contains(&self, field: Field, term: &str) -> Result<bool, TextError> {
        match self {
            Self::Indexed(text) => text.contains(field, term),
            Self::Few(text) => Ok(text.contains(field, term)),
        }
    }

    /// Visits every term of a field, with the number of chunks that have it. A term may be visited
    /// several times, and chunks that were deleted may count. A part of a corpus visits none.
    pub(in super::super) fn terms(
        &self,
        field: Field,
        visit: impl FnMut(&str, u32),
    ) -> Result<(), TextError> {
        match self {
            Self::Indexed(text) => text.terms(field, visit),
            Self::Few(_) => Ok(()),
        }
    }

    /// Visits the positions of `term` in the bodies of given chunks. `places` are their addresses,
    /// in order; `visit` receives the index of the chunk in it.
    pub(in super::super) fn positions(
        &self,
        term: &str,
        places: &[DocAddress],
        visit: impl FnMut(usize, &[u32]),
    ) -> Result<(), TextError> {
        match self {
            Self::Indexed(text) => text.positions(term, places, visit),
            Self::Few(text) => {
                text.positions(term, places, visit);
                Ok(())
            }
        }
    }

    /// Returns every chunk that holds the words of this phrase in order.
    pub(in super::super) fn phrase(&self, phrase: &str) -> Result<Vec<Slot>, ExactError> {
        self.matching(&format!("\"{}\"", phrase.replace(['"', '\\'], " ")))
    }

    /// Returns every chunk that matches an exact query, in no particular order.
    pub(in super::super) fn matching(&self, query: &str) -> Result<Vec<Slot>, ExactError> {
        match self {
            Self::Indexed(text) => text.matching(query),
            Self::Few(text) => text.matching(query),
        }
    }
}
