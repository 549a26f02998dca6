//! Which file comes first: features of each candidate file, a weighted sum, an explanation.
//!
//! Files are ranked, not chunks. The searchers give a pool of fixed size, so that the order does not depend on how many
//! results are asked for; ties break by path. The formulas and the reasons: `specs/ranking.md`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Slot;
use super::bm25::Lexical;
use super::corpus::Corpus;
use super::files::{File, Key, key};
use super::filter::Filter;
use super::query::Query;
use super::text::TextError;
use crate::chunk::Chunk;

/// Every feature with its weight: the one place where ranking is set.
pub const WEIGHTS: &[(&str, f64)] = &[
    ("file_words", 3.5),
    ("chunk_words", 3.5),
    ("chunk_meaning", 6.0),
    ("outline_meaning", 3.0),
    ("name_precision", 2.0),
    ("definition", 1.5),
    ("symbol_definition", 2.5),
    ("type_name", 1.5),
    ("test", -1.5),
    ("document", -1.3),
    ("config", -1.5),
    ("depth", -0.4),
];

/// Chunks that each searcher may propose.
const POOL: usize = 200;
/// Best chunks of a file that count, weighted 1, 1/2, 1/3 …
const BEST_CHUNKS: usize = 5;
/// A missing chunk counts as this share of the one before it.
const MISSING: f64 = 0.9;
/// A file that holds no word of the query needs a chunk this close to it.
const MIN_COSINE: f32 = 0.3;
/// Weights of words and meaning when chunks of one file are compared.
const CHUNK_WORDS: f64 = 5.0;
const CHUNK_MEANING: f64 = 9.0;
/// Further chunks of a file that a result names.
const MAX_OTHERS: usize = 4;

/// One feature's part of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub feature: &'static str,
    pub value: f64,
    pub weight: f64,
}

impl Term {
    /// What it adds to the score.
    #[must_use]
    pub fn contribution(&self) -> f64 {
        self.value * self.weight
    }
}

/// A file that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its path; the id of a chunk that has none.
    pub path: Arc<str>,
    /// The chunk to show.
    pub chunk: Arc<Chunk>,
    /// Further chunks of the file that match, best first.
    pub others: Vec<Arc<Chunk>>,
    /// The sum of the terms' contributions.
    pub score: f64,
    /// In the order of [`WEIGHTS`]; features of value 0 are left out.
    pub terms: Vec<Term>,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Best first; one a file.
    pub hits: Vec<Hit>,
    /// Files that match; in an exact search chunks that do.
    pub total: usize,
}

/// Ranks by words and meaning.
pub(super) fn hybrid(corpus: &Corpus, query: &Query, vector: &[f32], filter: &Filter, limit: usize) -> Result<Results, TextError> {
    let ranking = Ranking::new(corpus, query, vector, filter)?;
    let pool = ranking.pool();
    let mut scored: Vec<(f64, &File, Vec<Term>)> = pool
        .into_iter()
        .map(|at| {
            let file = &*corpus.files[at as usize];
            let terms = ranking.features(file);
            (terms.iter().map(Term::contribution).sum(), file, terms)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let total = scored.len();
    let hits = scored.into_iter().take(limit).filter_map(|(score, file, terms)| ranking.hit(file, score, terms)).collect();
    Ok(Results { hits, total })
}

/// Ranks what an exact query matched, by its words alone.
pub(super) fn exact(corpus: &Corpus, query: &Query, found: Vec<Slot>, filter: &Filter, limit: usize) -> Result<Results, TextError> {
    let ranking = Ranking::new(corpus, query, &[], filter)?;
    let mut files: HashMap<u32, Vec<Slot>> = HashMap::new();
    for slot in found.into_iter().filter(|s| ranking.allowed(*s)) {
        files.entry(corpus.file_of[slot as usize]).or_default().push(slot);
    }
    // An outline repeats what stands in the file's other chunks: it counts where they do not match, or may not.
    for (at, slots) in files.iter_mut().filter(|(_, slots)| slots.len() > 1) {
        slots.retain(|s| Some(*s) != corpus.files[*at as usize].outline);
    }
    let total = files.values().map(Vec::len).sum();
    let mut hits: Vec<Hit> = files
        .into_iter()
        .filter_map(|(at, mut slots)| {
            slots.sort_by(|a, b| {
                ranking.lexical.score(*b).total_cmp(&ranking.lexical.score(*a)).then_with(|| ranking.id(*a).cmp(ranking.id(*b)))
            });
            let value = ranking.lexical.score(slots[0]);
            let mut chunks = slots.iter().filter_map(|s| corpus.chunk(*s).cloned());
            Some(Hit {
                path: corpus.files[at as usize].path.clone(),
                chunk: chunks.next()?,
                others: chunks.take(MAX_OTHERS).collect(),
                score: value,
                terms: vec![Term { feature: "chunk_words", value, weight: 1.0 }],
            })
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    hits.truncate(limit);
    Ok(Results { hits, total })
}

/// Ranks by the chunk of each file that is nearest to a vector; the file `without` is left out.
pub(super) fn by_meaning(
    corpus: &Corpus,
    vector: &[f32],
    without: Option<u32>,
    filter: &Filter,
    limit: usize,
) -> Result<Results, TextError> {
    let no_words = Query::new("");
    let ranking = Ranking::new(corpus, &no_words, vector, filter)?;
    let mut files: Vec<(f32, &File)> = (0..)
        .zip(&corpus.files)
        .filter(|(at, _)| Some(*at) != without)
        .map(|(_, file)| (ranking.slots(file).map(|s| ranking.cosine(s)).fold(0.0, f32::max), &**file))
        .filter(|(nearest, _)| *nearest >= MIN_COSINE)
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let term = |cosine: f32| Term { feature: "chunk_meaning", value: f64::from(cosine), weight: 1.0 };
    let hits = files.iter().take(limit).filter_map(|(cosine, file)| ranking.hit(file, f64::from(*cosine), vec![term(*cosine)]));
    Ok(Results { hits: hits.collect(), total: files.len() })
}

/// One query against one corpus.
struct Ranking<'a> {
    corpus: &'a Corpus,
    query: &'a Query,
    filter: &'a Filter,
    lexical: Lexical,
    /// By slot; empty without a vector.
    cosines: Vec<f32>,
    /// May this slot be found? Empty: all.
    allowed: Vec<bool>,
    identifiers: Vec<Key>,
    capitalised: Vec<Key>,
    /// idf of a name part that the query does not name.
    unknown_idf: f64,
    min_depth: usize,
}

impl<'a> Ranking<'a> {
    fn new(corpus: &'a Corpus, query: &'a Query, vector: &[f32], filter: &'a Filter) -> Result<Self, TextError> {
        let allowed =
            if filter.is_empty() { Vec::new() } else { corpus.rows.iter().map(|c| c.as_ref().is_some_and(|c| filter.allows(c))).collect() };
        let live = corpus.files.iter().filter(|f| !f.slots.is_empty());
        let n = corpus.text.n_chunks() as f64;
        Ok(Self {
            lexical: Lexical::new(query, &corpus.text, corpus.rows.len())?,
            cosines: corpus.vectors.cosines(vector),
            allowed,
            identifiers: query.identifiers.iter().map(|i| key(i)).collect(),
            capitalised: query.capitalised.iter().map(|i| key(i)).collect(),
            // As of a word in every hundredth chunk.
            unknown_idf: (1.0 + n / (0.01 * n + 1.0)).ln(),
            min_depth: live.map(|f| f.depth).min().unwrap_or(0),
            corpus,
            query,
            filter,
        })
    }

    fn allowed(&self, slot: Slot) -> bool {
        self.allowed.get(slot as usize).copied().unwrap_or(self.allowed.is_empty())
    }

    fn cosine(&self, slot: Slot) -> f32 {
        self.cosines.get(slot as usize).copied().unwrap_or(0.0)
    }

    fn id(&self, slot: Slot) -> &str {
        self.corpus.chunk(slot).map_or("", |c| &c.id)
    }

    /// The files that are looked at closely.
    fn pool(&self) -> BTreeSet<u32> {
        let words = self.lexical.scores.iter().copied().filter(|(s, _)| self.allowed(*s)).collect();
        let meaning =
            (0..).zip(&self.cosines).filter(|(s, c)| **c >= MIN_COSINE && self.allowed(*s)).map(|(s, c)| (s, f64::from(*c))).collect();
        let mut files: BTreeSet<u32> = BTreeSet::new();
        for slot in self.best(words).into_iter().chain(self.best(meaning)) {
            files.insert(self.corpus.file_of[slot as usize]);
        }
        // What the query names is looked at even if its text says little.
        for (at, file) in (0..).zip(&self.corpus.files) {
            let named = file.definitions.iter().any(|d| self.identifiers.contains(&d.name) && self.allowed(d.slot));
            if named {
                files.insert(at);
            }
        }
        files
    }

    /// The best slots by score, ties by chunk id.
    fn best(&self, mut scores: Vec<(Slot, f64)>) -> Vec<Slot> {
        let order = |a: &(Slot, f64), b: &(Slot, f64)| b.1.total_cmp(&a.1).then_with(|| self.id(a.0).cmp(self.id(b.0)));
        if scores.len() > POOL {
            scores.select_nth_unstable_by(POOL, order);
            scores.truncate(POOL);
        }
        scores.into_iter().map(|(s, _)| s).collect()
    }

    /// Chunks of a file that are scored: not its outline, unless outlines were asked for.
    fn slots<'f>(&self, file: &'f File) -> impl Iterator<Item = Slot> + use<'f, '_, 'a> {
        let skip = file.outline.filter(|_| !self.filter.types.contains(&crate::chunk::ChunkType::Symbols));
        file.slots.iter().copied().filter(move |s| Some(*s) != skip && self.allowed(*s))
    }

    /// Weighted mean of a file's best chunks; each missing one stands a little under the one before it, or at 0.
    fn best_chunks(&self, file: &File, score: impl Fn(Slot) -> f64, missing: f64) -> f64 {
        let mut scores: Vec<f64> = self.slots(file).map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut weights, mut last) = (0.0, 0.0, 0.0);
        for i in 0..BEST_CHUNKS {
            last = scores.get(i).copied().unwrap_or(last * missing);
            let weight = 1.0 / (i + 1) as f64;
            sum += weight * last;
            weights += weight;
        }
        sum / weights
    }

    fn features(&self, file: &File) -> Vec<Term> {
        let (definition, _) = self.definition(file);
        let flag = |b: bool| f64::from(u8::from(b));
        let type_name = file.definitions.iter().any(|d| d.is_top_type && self.capitalised.contains(&d.name));
        let value = |feature: &str| match feature {
            "file_words" => self.lexical.file_score(file, &|s| self.allowed(s)),
            "chunk_words" => self.best_chunks(file, |s| self.lexical.score(s), 0.0),
            "chunk_meaning" => self.best_chunks(file, |s| f64::from(self.cosine(s)), MISSING),
            "outline_meaning" => file.outline.map_or(0.0, |s| f64::from(self.cosine(s))),
            "name_precision" => self.lexical.precision(&file.stem, self.unknown_idf),
            "definition" => definition,
            "symbol_definition" => definition * flag(self.query.is_symbol),
            "type_name" => flag(type_name),
            "test" => flag(file.is_test && !file.is_document && !self.query.about_tests),
            "document" => flag(file.is_document),
            "config" => flag(file.is_config),
            "depth" => (file.depth - self.min_depth.min(file.depth)) as f64,
            // A test goes through all of WEIGHTS.
            _ => f64::NAN,
        };
        let term = |(feature, weight): &(&'static str, f64)| Term { feature, value: value(feature), weight: *weight };
        WEIGHTS.iter().map(term).filter(|t| t.value != 0.0).collect()
    }

    /// How well the file defines the identifiers of the query (0–1), and where the best definition is.
    fn definition(&self, file: &File) -> (f64, Option<Slot>) {
        let (mut sum, mut best) = (0.0, None::<(f32, Slot)>);
        for identifier in &self.identifiers {
            let mut worth = 0f32;
            for d in file.definitions.iter().filter(|d| d.name == *identifier && self.allowed(d.slot)) {
                worth = worth.max(d.worth);
                if best.is_none_or(|b| d.worth > b.0) {
                    best = Some((d.worth, d.slot));
                }
            }
            sum += f64::from(worth);
        }
        (sum / self.identifiers.len().max(1) as f64, best.map(|b| b.1))
    }

    /// The chunk to show and the others that match.
    fn hit(&self, file: &File, score: f64, terms: Vec<Term>) -> Option<Hit> {
        let chunk_score = |s: Slot| CHUNK_WORDS * self.lexical.score(s) + CHUNK_MEANING * f64::from(self.cosine(s));
        let mut slots: Vec<Slot> = self.slots(file).collect();
        if slots.is_empty() {
            slots.extend(file.slots.iter().copied().filter(|s| self.allowed(*s)));
        }
        slots.sort_by(|a, b| chunk_score(*b).total_cmp(&chunk_score(*a)).then_with(|| self.id(*a).cmp(self.id(*b))));
        let (_, defined) = self.definition(file);
        let lead = defined.or_else(|| slots.first().copied())?;
        let others = slots
            .into_iter()
            .filter(|s| *s != lead && (self.lexical.score(*s) > 0.0 || self.cosine(*s) >= MIN_COSINE))
            .take(MAX_OTHERS)
            .filter_map(|s| self.corpus.chunk(s).cloned());
        Some(Hit { path: file.path.clone(), chunk: self.corpus.chunk(lead)?.clone(), others: others.collect(), score, terms })
    }
}
