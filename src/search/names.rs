//! The names that occur in a corpus, prepared for comparing spellings.

use super::tokens::lower_parts;

/// Words with fewer characters are not corrected: they resemble too many names.
pub(super) const MIN_CHARS: usize = 4;

/// A name as one term of the text index: lower case, its parts joined.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: Box<str>,
    /// One bit for each of 64 groups of byte values that occurs in it.
    groups: u64,
}

impl Name {
    /// Prepares a term of the text index.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.into(), groups: text.bytes().fold(0, |bits, b| bits | 1 << (b % 64)) }
    }

    /// Prepares a name as code writes it.
    pub(super) fn written(name: &str) -> Self {
        Self::new(&lower_parts(name).collect::<String>())
    }

    /// Counts the wrong, missing, additional and swapped letters between two names, if they are at
    /// most `allowed`.
    pub(super) fn distance(&self, other: &Self, allowed: usize) -> Option<usize> {
        // A comparison of lengths and bits rejects most names. It holds only where a letter is one
        // byte: then a wrong letter changes at most two groups.
        let is_far = self.text.len().abs_diff(other.text.len()) > allowed
            || (self.groups ^ other.groups).count_ones() as usize > 2 * allowed;
        if is_far && self.text.is_ascii() && other.text.is_ascii() {
            return None;
        }
        let (a, b) = (self.text.chars().count(), other.text.chars().count());
        if a.min(b) < MIN_CHARS || a.abs_diff(b) > allowed {
            return None;
        }
        Some(strsim::osa_distance(&self.text, &other.text)).filter(|wrong| *wrong <= allowed)
    }
}
