//! Lexical scores of chunks and files, from the postings of a query's terms.
//!
//! Formulas: specs/ranking.md. Sums run over the query's terms in their order and over chunks by slot, in f64, so that
//! equal sets of chunks score equally whatever the segments look like.

use super::Slot;
use super::corpus::Corpus;
use super::files::{Key, key};
use super::query::{Query, QueryTerm};
use super::text::{Field, Lengths, Place, Posting, TextError};

/// Frequencies of one term in one chunk: title and names, path, signature, comment, parent, body.
type Frequencies = [u32; Field::ALL.len()];

/// What the text index says of a query. All scores are shares of the most that a chunk could have, 0–1.
pub(super) struct Lexical {
    /// Σ idf of the terms.
    pub(super) total_idf: f64,
    /// By term of the query.
    pub(super) terms: Vec<TermWeight>,
    /// Slots that hold a stem of the query, in order, and where in the text index they stand.
    pub(super) touched: Vec<(Slot, Place)>,
    /// By slot: all fields together.
    pub(super) fields: Vec<f64>,
    /// By slot: BM25 of the stemmed text alone.
    pub(super) body: Vec<f64>,
    /// By slot: BM25 of the words as they stand, stop words too.
    pub(super) plain: Vec<f64>,
    /// By slot: the share (by idf) of the query's words that are parts of names defined there.
    pub(super) names: Vec<f64>,
    /// By file: how much of the query its names, place and text hold together.
    pub(super) files: Vec<f64>,
}

pub(super) struct TermWeight {
    pub(super) idf: f64,
    key: Key,
    is_whole: bool,
}

/// What one term does in one file.
#[derive(Debug, Clone, Copy, Default)]
struct InFile {
    names: u32,
    comments: u32,
    body: u32,
}

/// Saturation and length normalisation of the score over all fields.
const K1: f64 = 1.5;
const LENGTH_SHARE: f64 = 0.6;
/// The same of plain BM25.
const BM25_K1: f64 = 1.2;
const BM25_B: f64 = 0.75;
/// Weight of each field's frequency, in the order of [`Field::ALL`]; the path counts once.
const FIELD_WEIGHTS: [f64; Field::ALL.len()] = [2.5, 1.0, 1.0, 0.5, 1.0, 1.0];

/// Robertson's, never negative.
fn idf(n: f64, df: f64) -> f64 {
    (1.0 + (n - df + 0.5).max(0.5) / (df + 0.5)).ln()
}

/// By length of a chunk: how much it takes to be much.
fn bm25_lengths(average: f64) -> Lengths {
    Lengths::new(|length| BM25_K1 * (1.0 - BM25_B + BM25_B * length / average))
}

fn bm25(frequency: f64, much: f64) -> f64 {
    frequency / (frequency + much)
}

impl Lexical {
    /// Looks up every word of the query. Files count those chunks that are `allowed`.
    pub(super) fn new(query: &Query, corpus: &Corpus, allowed: &dyn Fn(Slot) -> bool) -> Result<Self, TextError> {
        let n_slots = corpus.rows.len();
        let mut out = Self {
            total_idf: 0.0,
            terms: Vec::new(),
            touched: Vec::new(),
            fields: vec![0.0; n_slots],
            body: vec![0.0; n_slots],
            plain: vec![0.0; n_slots],
            names: vec![0.0; n_slots],
            files: vec![0.0; corpus.files.len()],
        };
        let average = corpus.text.average_length();
        let mut scratch = Scratch {
            at: vec![u32::MAX; n_slots],
            in_file: vec![InFile::default(); corpus.files.len()],
            lengths: Lengths::new(|length| 1.0 - LENGTH_SHARE + LENGTH_SHARE * length / average),
            bm25: bm25_lengths(average),
        };
        for term in &query.terms {
            out.add_term(term, corpus, &mut scratch, allowed)?;
        }
        out.total_idf = out.terms.iter().map(|t| t.idf).sum::<f64>().max(1e-9);
        out.add_plain(query, corpus)?;
        out.touched.sort_unstable();
        for (slot, _) in &out.touched {
            out.fields[*slot as usize] /= out.total_idf;
            out.body[*slot as usize] /= out.total_idf;
            out.names[*slot as usize] /= out.total_idf;
        }
        for file in &mut out.files {
            *file /= out.total_idf;
        }
        Ok(out)
    }

    fn add_term(
        &mut self,
        term: &QueryTerm,
        corpus: &Corpus,
        scratch: &mut Scratch,
        allowed: &dyn Fn(Slot) -> bool,
    ) -> Result<(), TextError> {
        let text = &corpus.text;
        let mut hits: Vec<Hit> = Vec::new();
        for (f, field) in Field::ALL.into_iter().enumerate() {
            for variant in &term.variants {
                text.postings(field, variant, |p| {
                    let at = &mut scratch.at[p.slot as usize];
                    if *at == u32::MAX {
                        *at = u32::try_from(hits.len()).unwrap_or(u32::MAX - 1);
                        let Posting { slot, length, place, .. } = p;
                        hits.push(Hit { slot, place, length, frequencies: Frequencies::default() });
                    }
                    hits[*at as usize].frequencies[f] += p.frequency;
                })?;
            }
        }
        let df = hits.iter().filter(|h| h.frequencies[Field::Body as usize] > 0).count() as f64;
        let idf = idf(text.n_chunks() as f64, df);
        let key = key(&term.canonical);
        let mut files = Vec::new();
        for Hit { slot, place, length, frequencies } in &hits {
            let at = *slot as usize;
            scratch.at[at] = u32::MAX;
            let tf = chunk_frequency(frequencies, scratch.lengths.get(*length));
            let body = frequencies[Field::Body as usize];
            if self.fields[at] == 0.0 {
                self.touched.push((*slot, *place));
            }
            self.fields[at] += idf * tf / (tf + K1);
            self.body[at] += idf * bm25(f64::from(body), scratch.bm25.get(*length));
            if frequencies[Field::Name as usize] > 0 {
                self.names[at] += idf;
            }
            let file = corpus.file_of[at];
            if allowed(*slot) && !corpus.is_outline[at] {
                let in_file = &mut scratch.in_file[file as usize];
                files.push(file);
                in_file.names += frequencies[Field::Name as usize];
                in_file.comments += frequencies[Field::Comment as usize];
                in_file.body += body;
            }
        }
        files.sort_unstable();
        files.dedup();
        for at in files {
            let (file, brief) = (&corpus.files[at as usize], &corpus.briefs[at as usize]);
            let found = std::mem::take(&mut scratch.in_file[at as usize]);
            let has = |set: &[Key]| f64::from(u8::from(set.contains(&key)));
            let named =
                if brief.may_name(key) { 3.0 * has(&file.stem) + 1.5 * has(&file.path_terms) + 2.0 * has(&file.types) } else { 0.0 };
            let relative = 0.6 + 0.4 * f64::from(brief.n_bytes) / corpus.average_file_bytes;
            let x = named
                + 2.0 * f64::from(found.names).ln_1p()
                + 0.5 * f64::from(found.comments).ln_1p()
                + f64::from(found.body).ln_1p() / relative.sqrt();
            self.files[at as usize] += idf * x / (x + 2.0);
        }
        self.terms.push(TermWeight { idf, key, is_whole: term.is_whole });
        Ok(())
    }

    /// BM25 of the words as they are written.
    fn add_plain(&mut self, query: &Query, corpus: &Corpus) -> Result<(), TextError> {
        let text = &corpus.text;
        let (n, lengths) = (text.n_chunks() as f64, bm25_lengths(text.average_length()));
        let mut total = 0.0;
        let mut hits: Vec<(Slot, f64)> = Vec::new();
        for word in &query.words {
            hits.clear();
            text.postings(Field::Body, word, |p| {
                hits.push((p.slot, bm25(f64::from(p.frequency), lengths.get(p.length))));
            })?;
            let idf = idf(n, hits.len() as f64);
            if !hits.is_empty() {
                total += idf;
            }
            for (slot, score) in &hits {
                self.plain[*slot as usize] += idf * score;
            }
        }
        for score in &mut self.plain {
            *score /= total.max(1e-9);
        }
        Ok(())
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

/// Reused from term to term; clean between two.
struct Scratch {
    /// Position of a slot among the hits of the term.
    at: Vec<u32>,
    in_file: Vec<InFile>,
    /// By length of a chunk: what frequencies over all fields are divided by.
    lengths: Lengths,
    bm25: Lengths,
}

/// What one term does in one chunk.
struct Hit {
    slot: Slot,
    place: Place,
    length: u8,
    frequencies: Frequencies,
}

fn chunk_frequency(f: &Frequencies, length: f64) -> f64 {
    let mut tf = 0.0;
    for (field, (n, weight)) in Field::ALL.into_iter().zip(f.iter().zip(FIELD_WEIGHTS)) {
        if field != Field::Path {
            tf += weight * f64::from(*n);
        }
    }
    tf / length + if f[Field::Path as usize] > 0 { FIELD_WEIGHTS[Field::Path as usize] } else { 0.0 }
}
