//! Computes lexical scores of chunks and files from the postings of a query's terms.
//! specs/ranking.md has the formulas. Each sum runs over the query's terms in their order, so equal
//! sets of chunks get equal scores with any segment layout.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::corpus::Corpus;
use super::files::{IndexedFile, Key, key};
use super::query::{Query, QueryTerm};
use super::statistics::{FEW, Statistics, average_length};
use super::text::{DocAddress, Field, Frequencies, Lengths, TextError, TextReader};
use super::{Slot, cores};

/// The lexical scores of one query.
pub(super) struct Lexical {
    /// Σ idf of the terms.
    pub(super) total_idf: f64,
    /// Σ rarity of the terms.
    total_rarity: f64,
    /// Σ idf of the words that occur.
    total_plain: f64,
    /// By term of the query.
    pub(super) terms: Vec<TermWeight>,
    /// Slots that hold a stem of the query, each once, with their addresses in the text index.
    pub(super) touched: Vec<(Slot, DocAddress)>,
    /// By slot.
    chunks: Vec<InChunk>,
}

pub(super) struct TermWeight {
    /// The idf times the weight of the term.
    pub(super) idf: f32,
    full_idf: f32,
    weight: f32,
    /// Rarity as a word of the query; 0 for a compound identifier.
    rarity: f32,
    key: Key,
    is_whole: bool,
    hits: Vec<TermMatch>,
}

/// The occurrences of one term in one chunk.
struct TermMatch {
    slot: Slot,
    place: DocAddress,
    fields: f32,
    body: f32,
    counts: Counts,
}

/// The weights of a term.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    names: u16,
    comments: u16,
    body: u16,
}

/// Sums for a chunk; [`Lexical`] returns shares of them.
#[derive(Debug, Clone, Copy, Default)]
struct InChunk {
    fields: f32,
    body: f32,
    plain: f32,
    names: f32,
    rarity: f32,
}

/// Saturation constant and length normalisation of the score over all fields.
const K1: f32 = 1.5;
const LENGTH_SHARE: f32 = 0.6;
/// The same constants for plain BM25.
const BM25_K1: f32 = 1.2;
const BM25_B: f32 = 0.75;
/// Weight of each field's frequency, in the order of [`Field::ALL`]; the path counts once.
const FIELD_WEIGHTS: [f32; Field::ALL.len()] = [2.5, 1.0, 1.0, 0.5, 1.0, 1.0];

/// A word in a file's name surprises in full if it would be there by chance once in e² times.
const SURPRISE: f64 = 2.0;

/// Returns the idf after Robertson, never negative.
pub(super) fn idf(n: u64, df: usize) -> f32 {
    let (n, df) = (n as f32, df as f32);
    (1.0 + (n - df + 0.5).max(0.5) / (df + 0.5)).ln()
}

/// Returns the rarity of a word that `df` of `n` chunks hold: 1 for a word of one chunk. Some
/// further chunks are assumed, because a few chunks say little about which words are common.
fn rarity(n: u64, df: usize) -> f32 {
    const ASSUMED: u64 = 100;
    idf(n + ASSUMED, df) / idf(n + ASSUMED, 1)
}

pub(super) fn bm25(frequency: f32, much: f32) -> f32 {
    frequency / (frequency + much)
}

/// Returns, by length of a body, the normalisation of the score over all fields, and the saturation of
/// BM25. `average`: the mean length, in terms.
pub(super) fn lengths(average: f32) -> (Lengths, Lengths) {
    let normal = |length| 1.0 - LENGTH_SHARE + LENGTH_SHARE * length / average;
    let much = |length| BM25_K1 * (1.0 - BM25_B + BM25_B * length / average);
    (Lengths::new(normal), Lengths::new(much))
}

/// Returns the weight of a term in a chunk, over all fields, 0–1. `length`: the normalisation.
pub(super) fn field_weight(f: &Frequencies, length: f32) -> f32 {
    let tf = chunk_frequency(f, length);
    tf / (tf + K1)
}

impl TermWeight {
    fn new(
        term: &QueryTerm,
        text: &TextReader,
        [lengths, much]: [&Lengths; 2],
        pooled: Option<(u64, usize)>,
    ) -> Result<Self, TextError> {
        let mut hits = Vec::new();
        let mut df = 0;
        text.occurrences(&term.variants, |o| {
            let n = |field: Field| o.frequencies[field as usize];
            let counted = |field| u16::try_from(n(field)).unwrap_or(u16::MAX);
            df += usize::from(n(Field::Body) > 0);
            hits.push(TermMatch {
                slot: o.slot,
                place: o.place,
                fields: field_weight(&o.frequencies, lengths.get(o.length)),
                body: bm25(n(Field::Body) as f32, much.get(o.length)),
                counts: Counts {
                    names: counted(Field::Name),
                    comments: counted(Field::Comment),
                    body: counted(Field::Body),
                },
            });
        })?;
        let (n, df) = pooled.unwrap_or((text.n_chunks(), df));
        let full_idf = idf(n, df);
        let idf = full_idf * term.weight;
        // A compound identifier is represented by its parts.
        let rarity = if term.is_whole { 0.0 } else { rarity(n, df) * term.weight };
        Ok(Self {
            idf,
            full_idf,
            weight: term.weight,
            rarity,
            key: key(&term.canonical),
            is_whole: term.is_whole,
            hits,
        })
    }
}

impl Lexical {
    /// Looks up every word of the query. `pooled`: the counts that decide how much each word says,
    /// if they are not those of the corpus alone.
    pub(super) fn new(
        query: &Query,
        corpus: &Corpus,
        pooled: Option<&Statistics>,
    ) -> Result<Self, TextError> {
        let text = &corpus.text;
        let (n_chunks, total_length) =
            pooled.map_or_else(|| text.size(), |all| (all.size.chunks, all.size.length));
        let average = average_length(n_chunks, total_length);
        let (lengths, much) = lengths(average);
        let of_term = |(at, term): &(usize, &QueryTerm)| {
            let pooled = pooled.map(|all| (n_chunks, all.chunks[*at]));
            TermWeight::new(term, text, [&lengths, &much], pooled)
        };
        let of_word = |(at, (word, weight)): &(usize, &(String, f32))| {
            let mut hits: Vec<(Slot, f32)> = Vec::new();
            text.postings(Field::Body, word, |p| {
                hits.push((p.slot, bm25(p.frequency as f32, much.get(p.length))));
            })?;
            let n_holding = pooled.map_or(hits.len(), |all| all.words[*at]);
            Ok::<_, TextError>((hits, n_holding, *weight))
        };
        let query_terms: Vec<_> = query.terms.iter().enumerate().collect();
        let query_words: Vec<_> = query.words.iter().enumerate().collect();
        let (terms, words) =
            cores::join(|| cores::map(&query_terms, of_term), || cores::map(&query_words, of_word));
        let mut out = Self {
            total_idf: 0.0,
            total_plain: 0.0,
            total_rarity: 0.0,
            terms: terms.into_iter().collect::<Result<_, _>>()?,
            touched: Vec::new(),
            chunks: vec![InChunk::default(); corpus.rows.len()],
        };
        for term in &out.terms {
            let idf = term.idf;
            out.total_idf += f64::from(idf);
            out.total_rarity += f64::from(term.rarity);
            for hit in &term.hits {
                let chunk = &mut out.chunks[hit.slot as usize];
                if chunk.fields == 0.0 {
                    out.touched.push((hit.slot, hit.place));
                }
                chunk.fields += idf * hit.fields;
                chunk.body += idf * hit.body;
                chunk.names += if hit.counts.names > 0 { idf } else { 0.0 };
                chunk.rarity += term.rarity;
            }
        }
        for hits in words {
            let (hits, n_holding, weight) = hits?;
            if n_holding == 0 {
                continue;
            }
            let idf = idf(n_chunks, n_holding) * weight;
            out.total_plain += f64::from(idf);
            for (slot, score) in hits {
                out.chunks[slot as usize].plain += idf * score;
            }
        }
        // If no word occurs, the shares still need a divisor.
        out.total_idf = out.total_idf.max(1e-9);
        out.total_plain = out.total_plain.max(1e-9);
        out.total_rarity = out.total_rarity.max(1e-9);
        Ok(out)
    }

    /// Returns the score of a chunk over all fields, as a share of the largest possible score, 0–1.
    pub(super) fn fields(&self, slot: Slot) -> f64 {
        f64::from(self.chunks[slot as usize].fields) / self.total_idf
    }

    /// Returns the same share for BM25 of the stemmed text alone.
    pub(super) fn body(&self, slot: Slot) -> f64 {
        f64::from(self.chunks[slot as usize].body) / self.total_idf
    }

    /// Returns the same share for BM25 of unstemmed words, with stop words.
    pub(super) fn plain(&self, slot: Slot) -> f64 {
        f64::from(self.chunks[slot as usize].plain) / self.total_plain
    }

    /// Returns the share of the query's words that a chunk holds in any field, 0–1. Words that are
    /// rare in the corpus weigh more.
    pub(super) fn coverage(&self, slot: Slot) -> f64 {
        f64::from(self.chunks[slot as usize].rarity) / self.total_rarity
    }

    /// Returns the total weight of the query's words: a word of one chunk weighs 1, a common word
    /// little.
    pub(super) fn query_weight(&self) -> f64 {
        self.total_rarity
    }

    /// Returns the share (by idf) of the query's words that are parts of names defined in a chunk.
    pub(super) fn names(&self, slot: Slot) -> f64 {
        f64::from(self.chunks[slot as usize].names) / self.total_idf
    }

    /// Returns the share of the query that the names, the path and the text of each file hold
    /// together, 0–1. Only `allowed` chunks count, and no outlines.
    pub(super) fn files(
        &self,
        files: &[&IndexedFile],
        average_bytes: f64,
        allowed: impl Fn(Slot) -> bool,
    ) -> Vec<f64> {
        // By slot: the file, counted from 1.
        let mut file_of = vec![0u32; self.chunks.len()];
        for (file, number) in files.iter().zip(1..) {
            for part in
                file.parts.iter().filter(|p| Some(p.slot) != file.outline && allowed(p.slot))
            {
                file_of[part.slot as usize] = number;
            }
        }
        let mut shares = vec![0.0; files.len()];
        for term in &self.terms {
            let mut counts = vec![[0u32; 3]; files.len() + 1];
            for hit in &term.hits {
                let sums = &mut counts[file_of[hit.slot as usize] as usize];
                let Counts { names, comments, body } = hit.counts;
                for (sum, n) in sums.iter_mut().zip([names, comments, body]) {
                    *sum += u32::from(n);
                }
            }
            for ((file, share), [names, comments, body]) in
                files.iter().zip(&mut shares).zip(&counts[1..])
            {
                let has = |set: &[Key]| f64::from(u8::from(set.contains(&term.key)));
                let relative = 0.6 + 0.4 * file.n_bytes as f64 / average_bytes;
                let x = 3.0 * has(&file.stem)
                    + 1.5 * has(&file.path_terms)
                    + 2.0 * has(&file.types)
                    + 2.0 * f64::from(*names).ln_1p()
                    + 0.5 * f64::from(*comments).ln_1p()
                    + f64::from(*body).ln_1p() / relative.sqrt();
                *share += f64::from(term.idf) * x / (x + 2.0) / self.total_idf;
            }
        }
        shares
    }

    /// Returns the files that hold a compound identifier of the query which occurs in at most
    /// [`FEW`] files of all corpora.
    pub(super) fn rare_identifiers(
        &self,
        file_of: &[u32],
        pooled: Option<&Statistics>,
    ) -> BTreeSet<u32> {
        let is_rare =
            |(at, _): &(usize, &TermWeight)| pooled.is_none_or(|all| all.files[*at] <= FEW);
        let holding = |(_, term): (usize, &TermWeight)| {
            let mut files = BTreeSet::new();
            for hit in &term.hits {
                files.insert(file_of[hit.slot as usize]);
                if files.len() > FEW {
                    return None;
                }
            }
            Some(files)
        };
        let terms = self.terms.iter().enumerate().filter(|(_, term)| term.is_whole);
        terms.filter(is_rare).filter_map(holding).flatten().collect()
    }

    /// Returns for each part of a file's name that the query holds how surprising that is, 0–1. The
    /// more words a query has, and the more files have the word in their names, the more probable
    /// it is by chance.
    pub(super) fn surprises<'f>(
        &self,
        files: impl Iterator<Item = &'f IndexedFile>,
        pooled: Option<&Statistics>,
    ) -> FxHashMap<Key, f64> {
        let mut named: FxHashMap<Key, u64> = self.parts().map(|term| (term.key, 0)).collect();
        let mut n_files = 0;
        for file in files {
            n_files += 1;
            for part in &file.stem {
                if let Some(n) = named.get_mut(part) {
                    *n += 1;
                }
            }
        }
        if let Some(all) = pooled {
            n_files = all.size.files;
            named = (self.terms.iter().zip(&all.named))
                .filter(|(term, _)| !term.is_whole)
                .map(|(term, n)| (term.key, *n as u64))
                .collect();
        }
        let n_words: f64 = self.parts().map(|term| f64::from(term.weight)).sum();
        let surprise = |n: u64| {
            let by_chance = n.max(1) as f64 * n_words.max(1.0) / n_files.max(1) as f64;
            (-by_chance.ln() / SURPRISE).clamp(0.0, 1.0)
        };
        named.into_iter().map(|(part, n)| (part, surprise(n))).collect()
    }

    /// The terms that can be parts of names.
    fn parts(&self) -> impl Iterator<Item = &TermWeight> {
        self.terms.iter().filter(|term| !term.is_whole)
    }

    /// Returns the share (by idf) of a set of name parts that the query contains, 0–1.
    pub(super) fn precision(&self, parts: &[Key], unknown_idf: f64) -> f64 {
        let (mut hit, mut all) = (0.0, 0.0);
        for part in parts {
            match self.parts().find(|t| t.key == *part) {
                Some(term) => {
                    hit += f64::from(term.idf);
                    all += f64::from(term.full_idf);
                }
                None => all += unknown_idf,
            }
        }
        if all > 0.0 { hit / all } else { 0.0 }
    }
}

fn chunk_frequency(f: &Frequencies, length: f32) -> f32 {
    let mut tf = 0.0;
    for (field, (n, weight)) in Field::ALL.into_iter().zip(f.iter().zip(FIELD_WEIGHTS)) {
        if field != Field::Path {
            tf += weight * *n as f32;
        }
    }
    tf / length
        + if f[Field::Path as usize] > 0 { FIELD_WEIGHTS[Field::Path as usize] } else { 0.0 }
}
