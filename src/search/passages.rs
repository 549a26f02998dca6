//! Proposes chunks for a call that asks several things at once, and compares texts with all of
//! them. An entry of a call is a question, a name or a literal. A caller who has not seen the code
//! adds what it would guess, so the words of all entries count together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Slot;
use super::bm25::{Lexical, idf};
use super::corpus::Corpus;
use super::evidence::{MIN_COSINE, top};
use super::files::{IndexedFile, LineRange};
use super::filter::Filter;
use super::query::Query;
use super::rows::{MAX_FUNCTION, meet};
use super::text::{Field, TextError};
use super::tokens::{Analyzer, lower, runs};
use crate::chunk::{ChunkType, Entry};

/// Number of chunks that the words of all entries propose, those of one entry, and the meaning of
/// one entry.
const OF_ALL: usize = 200;
const OF_ENTRY: usize = 40;
const OF_MEANING: usize = 60;
/// Constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The chunks that may answer a call.
pub struct Passages {
    /// By path: the proposed chunks of a file, and those without which one of their functions would
    /// be in part.
    pub files: BTreeMap<Arc<str>, Vec<Arc<Entry>>>,
    /// Compares texts with the call.
    pub words: AskedWords,
}

/// The words and names of a call, with how rare they are.
#[derive(Default)]
pub struct AskedWords {
    analyzer: Analyzer,
    terms: Vec<AskedTerm>,
    /// By canonical word: the position among the terms.
    known: FxHashMap<String, usize>,
    /// The same for the lower-case words that were met: code repeats its words.
    met: FxHashMap<String, Option<usize>>,
    /// By name without its spelling: its number and its rarity, 0–1.
    names: FxHashMap<String, (usize, f64)>,
    /// By name without its spelling: what the name of another part of the answer counts in a line.
    others: FxHashMap<String, f64>,
    n_entries: usize,
    /// Mean number of words of a chunk.
    average: f64,
}

struct AskedTerm {
    /// The idf.
    idf: f64,
    /// What the idf counts in all entries together: a word of several of them counts more.
    weight: f64,
    /// The entries that have it.
    entries: Vec<usize>,
}

/// What a text holds of a call.
#[derive(Default)]
struct Held {
    /// By word of the text: the term of the call that it is, if it is one.
    terms: Vec<Option<usize>>,
    /// The names of the call, by their numbers, with their rarities.
    names: BTreeMap<usize, f64>,
    /// The names of other parts of the answer, with what they count.
    others: BTreeMap<String, f64>,
}

/// How well a text fits a call. BM25 has no upper limit; compare texts of one call.
#[derive(Debug, Clone, Default)]
pub struct Fit {
    /// BM25 of the words of all entries.
    pub words: f64,
    /// BM25 of the words of each entry.
    pub by_entry: Vec<f64>,
    /// Sum of the rarities of the names that it holds.
    pub names: f64,
}

impl AskedWords {
    fn new(
        queries: &[Query],
        names: &[String],
        joined: &Query,
        corpus: &Corpus,
        lexical: &Lexical,
    ) -> Result<Self, TextError> {
        let (n_chunks, length) = corpus.text.size();
        let mut out = Self {
            n_entries: queries.len(),
            average: (length as f64 / n_chunks.max(1) as f64).max(1.0),
            ..Self::default()
        };
        for (term, weight) in joined.terms.iter().zip(&lexical.terms) {
            if term.is_whole || weight.idf <= 0.0 {
                continue;
            }
            let has = |query: &&(usize, &Query)| {
                query.1.terms.iter().any(|t| t.variants == term.variants)
            };
            let numbered: Vec<(usize, &Query)> = queries.iter().enumerate().collect();
            let entries: Vec<usize> = numbered.iter().filter(has).map(|query| query.0).collect();
            out.known.insert(term.canonical.clone(), out.terms.len());
            let idf = f64::from(weight.idf) / f64::from(term.weight.max(f32::MIN_POSITIVE));
            out.terms.push(AskedTerm { idf, weight: f64::from(weight.idf), entries });
        }
        let most = f64::from(idf(n_chunks + 1, 1));
        for name in names {
            let folded = folded(name);
            if folded.is_empty() || out.names.contains_key(&folded) {
                continue;
            }
            let n_holding = n_holding(corpus, &folded)?;
            if n_holding > 0 {
                let rarity = f64::from(idf(n_chunks + 1, n_holding)) / most.max(f64::MIN_POSITIVE);
                let number = out.names.len();
                out.names.insert(folded, (number, rarity));
            }
        }
        Ok(out)
    }

    /// Wants all words of the entries equally, and all names.
    #[cfg(test)]
    pub(crate) fn of_words(entries: &[&str], names: &[&str]) -> Self {
        let mut analyzer = Analyzer::default();
        let (mut terms, mut known): (Vec<AskedTerm>, FxHashMap<String, usize>) = Default::default();
        for (at, entry) in entries.iter().enumerate() {
            for word in super::tokens::search_words(entry) {
                let next = terms.len();
                let n = *known.entry(analyzer.canonical(&word)).or_insert(next);
                if n == next {
                    terms.push(AskedTerm { idf: 1.0, weight: 1.0, entries: Vec::new() });
                }
                terms[n].entries.push(at);
            }
        }
        let names = names.iter().enumerate().map(|(n, name)| (folded(name), (n, 1.0)));
        Self {
            analyzer,
            terms,
            known,
            met: FxHashMap::default(),
            names: names.collect(),
            others: FxHashMap::default(),
            n_entries: entries.len(),
            average: 20.0,
        }
    }

    /// Compares a text with the call.
    pub fn fit(&mut self, text: &str) -> Fit {
        let held = self.held(text);
        let n_words = held.terms.len() as f64;
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        for at in held.terms.into_iter().flatten() {
            *counts.entry(at).or_default() += 1.0;
        }
        let length = K1 * (1.0 - B + B * n_words / self.average);
        let mut fit = Fit { by_entry: vec![0.0; self.n_entries], ..Fit::default() };
        for (at, n) in counts {
            let term = &self.terms[at];
            let much = n * (K1 + 1.0) / (n + length);
            fit.words += term.weight * much;
            for entry in &term.entries {
                fit.by_entry[*entry] += term.idf * much;
            }
        }
        fit.names = held.names.values().sum();
        fit
    }

    /// Lets the name of another part of the answer count in lines; the first worth of a name stays.
    pub fn add_other(&mut self, name: &str, worth: f64) {
        self.others.entry(folded(name)).or_insert(worth);
    }

    /// Returns how much lines say: the idf of the words and the rarity of the names of the call that
    /// they hold, and the worth of the names of other parts of the answer, each once. `own` is the name
    /// of the part that the lines are of.
    pub fn evidence(&mut self, text: &str, of_name: f64, own: &str) -> f64 {
        let mut held = self.held(text);
        held.others.remove(&folded(own));
        let terms: BTreeSet<usize> = held.terms.into_iter().flatten().collect();
        let words: f64 = terms.iter().map(|at| self.terms[*at].weight).sum();
        words + of_name * held.names.values().sum::<f64>() + held.others.values().sum::<f64>()
    }

    /// Finds what a text holds of the call.
    fn held(&mut self, text: &str) -> Held {
        let mut held = Held::default();
        for run in runs(text) {
            let mut whole = String::new();
            for part in run.parts {
                let word = lower(&text[part]);
                whole.push_str(&word);
                held.terms.push(self.term(word));
            }
            held.names.extend(self.names.get(&whole).copied());
            if let Some(worth) = self.others.get(&whole) {
                held.others.insert(whole, *worth);
            }
        }
        held
    }

    /// Returns the share of the words of a name or a path that the call has, with one more word so that
    /// a short name is no sure answer.
    pub fn precision_of(&mut self, text: &str) -> f64 {
        let (mut found, mut n) = (BTreeSet::new(), BTreeSet::new());
        for part in runs(text).flat_map(|run| run.parts) {
            let word = lower(&text[part]);
            n.insert(self.analyzer.canonical(&word));
            found.extend(self.term(word));
        }
        found.len() as f64 / (1 + n.len()) as f64
    }

    /// Whether the call has this name, in any spelling.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        self.names.contains_key(&folded(name))
    }

    fn term(&mut self, word: String) -> Option<usize> {
        if let Some(known) = self.met.get(&word) {
            return *known;
        }
        let at = self.known.get(&self.analyzer.canonical(&word)).copied();
        self.met.insert(word, at);
        at
    }
}

/// Returns a name without its spelling: `maxRetries` and `max_retries` are one.
pub(super) fn folded(name: &str) -> String {
    runs(name).flat_map(|run| run.parts).map(|part| lower(&name[part])).collect()
}

/// Returns the number of chunks that have a name without its spelling.
pub(super) fn n_holding(corpus: &Corpus, folded: &str) -> Result<usize, TextError> {
    let mut n = 0;
    corpus.text.postings(Field::Body, folded, |_| n += 1)?;
    Ok(n)
}

/// Proposes the chunks for the entries of a call. `vectors` are those of the entries, `[f32;
/// dimensions]` or empty; `names` are the names and keys in them.
pub(super) fn passages(
    corpus: &Corpus,
    entries: &[String],
    names: &[String],
    vectors: &[Vec<f32>],
    filter: &Filter,
) -> Result<Passages, TextError> {
    let queries: Vec<Query> = entries.iter().map(|entry| Query::words(entry)).collect();
    let joined = Query::of_all(&queries);
    let lexical = Lexical::new(&joined, corpus, None)?;
    let allowed = |slot: Slot| {
        let entry = corpus.entry(slot);
        entry.is_some_and(|e| e.chunk_type != ChunkType::Symbols && filter.allows(e))
    };
    let mut slots: BTreeSet<Slot> = BTreeSet::new();
    let mut add = |scored: &mut dyn Iterator<Item = (Slot, f64)>, n: usize| {
        let scored = scored.map(|(slot, score)| ((slot, ()), score));
        slots.extend(top(corpus, scored, n, allowed).into_iter().map(|(slot, ())| slot));
    };
    let mut add_words = |lexical: &Lexical, score: fn(&Lexical, Slot) -> f64, n: usize| {
        add(&mut lexical.touched.iter().map(|(slot, _)| (*slot, score(lexical, *slot))), n);
    };
    add_words(&lexical, Lexical::body, OF_ALL);
    add_words(&lexical, Lexical::fields, OF_ALL);
    if queries.len() > 1 {
        for query in &queries {
            add_words(&Lexical::new(query, corpus, None)?, Lexical::fields, OF_ENTRY);
        }
    }
    for vector in vectors {
        let asked = corpus.vectors.ask(vector);
        let near = asked.near(OF_MEANING, MIN_COSINE, allowed);
        add(&mut near.map(|(slot, cosine)| (slot, f64::from(cosine))), OF_MEANING);
    }
    let words = AskedWords::new(&queries, names, &joined, corpus, &lexical)?;
    let mut by_file: BTreeMap<u32, BTreeSet<Slot>> = BTreeMap::new();
    for slot in slots {
        by_file.entry(corpus.file_of[slot as usize]).or_default().insert(slot);
    }
    let of_file = |(at, slots): (u32, BTreeSet<Slot>)| {
        let file = &corpus.files[at as usize];
        let slots = with_whole_functions(file, slots);
        (file.path.clone(), slots.into_iter().filter_map(|s| corpus.entry(s).cloned()).collect())
    };
    Ok(Passages { files: by_file.into_iter().map(of_file).collect(), words })
}

/// Adds the chunks of a file without which a function would be in part.
fn with_whole_functions(file: &IndexedFile, mut slots: BTreeSet<Slot>) -> BTreeSet<Slot> {
    let chosen: Vec<LineRange> =
        file.parts.iter().filter(|p| slots.contains(&p.slot)).filter_map(|p| p.lines).collect();
    let begun: Vec<LineRange> = file
        .functions
        .iter()
        .filter(|f| f.1 - f.0 < MAX_FUNCTION && chosen.iter().any(|lines| meet(*lines, **f)))
        .copied()
        .collect();
    let completes = |lines: LineRange| begun.iter().any(|f| meet(lines, *f));
    let parts = file.parts.iter().filter(|p| p.chunk_type != ChunkType::Symbols);
    slots.extend(parts.filter(|p| p.lines.is_some_and(completes)).map(|p| p.slot));
    slots
}
