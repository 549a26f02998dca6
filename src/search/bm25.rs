//! Lexical scores of chunks and files, from the postings of a query's terms.
//!
//! Formulas: specs/ranking.md. Sums run over the query's terms in their order and over chunks by slot, in f64, so that
//! equal sets of chunks score equally whatever the segments look like.

use super::Slot;
use super::files::{File, Key, key};
use super::query::Query;
use super::text::{Field, TextError, TextReader};

/// Frequencies of one term in one chunk: title and names, path, signature, comment, parent, body.
type Frequencies = [u32; Field::ALL.len()];

/// What the text index says of a query.
pub(super) struct Lexical {
    /// Σ idf of the terms; every score is a share of it.
    pub(super) total_idf: f64,
    /// By term of the query.
    pub(super) terms: Vec<TermHits>,
    /// Score of each chunk that holds a term, 0–1, by slot.
    pub(super) scores: Vec<(Slot, f64)>,
    /// Body length of the chunks in `scores`.
    average_length: f64,
}

pub(super) struct TermHits {
    pub(super) idf: f64,
    pub(super) key: Key,
    pub(super) is_whole: bool,
    /// By slot.
    hits: Vec<(Slot, Frequencies, u32)>,
}

/// Saturation and length normalisation of chunk scores.
const K1: f64 = 1.5;
const LENGTH_SHARE: f64 = 0.6;
/// Weight of each field's frequency, in the order of [`Field::ALL`]; the path counts once.
const FIELD_WEIGHTS: Frequencies64 = [2.5, 1.0, 1.0, 0.5, 1.0, 1.0];
type Frequencies64 = [f64; Field::ALL.len()];

impl Lexical {
    /// Looks up every term of the query.
    pub(super) fn new(query: &Query, text: &TextReader, n_slots: usize) -> Result<Self, TextError> {
        let n = text.n_chunks() as f64;
        let average_length = text.average_length();
        let mut scratch: Vec<u32> = vec![u32::MAX; n_slots];
        let mut sums = vec![0f64; n_slots];
        let mut touched: Vec<Slot> = Vec::new();
        let mut terms = Vec::new();
        for term in &query.terms {
            let mut hits: Vec<(Slot, Frequencies, u32)> = Vec::new();
            for (f, field) in Field::ALL.into_iter().enumerate() {
                for variant in &term.variants {
                    text.postings(field, variant, |p| {
                        let at = &mut scratch[p.slot as usize];
                        if *at == u32::MAX {
                            *at = u32::try_from(hits.len()).unwrap_or(u32::MAX - 1);
                            hits.push((p.slot, Frequencies::default(), p.length));
                        }
                        hits[*at as usize].1[f] += p.frequency;
                    })?;
                }
            }
            for (slot, _, _) in &hits {
                scratch[*slot as usize] = u32::MAX;
            }
            hits.sort_unstable_by_key(|h| h.0);
            let df = hits.iter().filter(|h| h.1[Field::Body as usize] > 0).count() as f64;
            let idf = (1.0 + (n - df + 0.5).max(0.5) / (df + 0.5)).ln();
            for (slot, frequencies, length) in &hits {
                let tf = chunk_frequency(frequencies, f64::from(*length), average_length);
                if sums[*slot as usize] == 0.0 {
                    touched.push(*slot);
                }
                sums[*slot as usize] += idf * tf / (tf + K1);
            }
            terms.push(TermHits { idf, key: key(&term.canonical), is_whole: term.is_whole, hits });
        }
        let total_idf: f64 = terms.iter().map(|t| t.idf).sum::<f64>().max(1e-9);
        touched.sort_unstable();
        let scores = touched.into_iter().map(|s| (s, sums[s as usize] / total_idf)).collect();
        Ok(Self { total_idf, terms, scores, average_length })
    }

    /// Score of one chunk; 0 without a hit.
    pub(super) fn score(&self, slot: Slot) -> f64 {
        self.scores.binary_search_by_key(&slot, |s| s.0).map_or(0.0, |i| self.scores[i].1)
    }

    /// How much of the query a whole file holds (0–1): names, place and text of all its chunks together.
    pub(super) fn file_score(&self, file: &File, allowed: &dyn Fn(Slot) -> bool) -> f64 {
        let mut sum = 0.0;
        for term in &self.terms {
            let (mut names, mut body, mut comments) = (0u32, 0u32, 0u32);
            let mut length = 0.0;
            for slot in file.slots.iter().filter(|s| allowed(**s) && Some(**s) != file.outline) {
                if let Ok(i) = term.hits.binary_search_by_key(slot, |h| h.0) {
                    let (_, f, l) = &term.hits[i];
                    names += f[Field::Name as usize];
                    body += f[Field::Body as usize];
                    comments += f[Field::Comment as usize];
                    length += f64::from(*l);
                } else {
                    length += self.average_length;
                }
            }
            let has = |set: &[Key]| f64::from(u8::from(set.contains(&term.key)));
            let relative = 0.6 + 0.4 * length / (10.0 * self.average_length);
            let x = 3.0 * has(&file.stem)
                + 1.5 * has(&file.path_terms)
                + 2.0 * has(&file.types)
                + 2.0 * f64::from(names).ln_1p()
                + 0.5 * f64::from(comments).ln_1p()
                + f64::from(body).ln_1p() / relative.sqrt();
            sum += term.idf * x / (x + 2.0);
        }
        sum / self.total_idf
    }

    /// The share of a set of name parts that the query names, 0–1, weighted by idf.
    pub(super) fn precision(&self, parts: &[Key], unknown_idf: f64) -> f64 {
        let (mut hit, mut all) = (0.0, 0.0);
        for part in parts {
            match self.terms.iter().find(|t| !t.is_whole && t.key == *part) {
                Some(term) => {
                    hit += term.idf;
                    all += term.idf;
                }
                None => all += unknown_idf,
            }
        }
        if all > 0.0 { hit / all } else { 0.0 }
    }
}

fn chunk_frequency(f: &Frequencies, length: f64, average: f64) -> f64 {
    let mut tf = 0.0;
    for (field, (n, weight)) in Field::ALL.into_iter().zip(f.iter().zip(FIELD_WEIGHTS)) {
        if field != Field::Path {
            tf += weight * f64::from(*n);
        }
    }
    tf / (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / average)
        + if f[Field::Path as usize] > 0 { FIELD_WEIGHTS[Field::Path as usize] } else { 0.0 }
}
