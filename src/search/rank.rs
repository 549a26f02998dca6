//! Ranks files: computes features of each candidate file, and their weighted sum.
//! Files are ranked, not chunks. The searchers propose a pool of fixed size, so the order does not
//! depend on the limit of results; ties break by path. `specs/ranking.md` has the formulas and
//! reasons.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::Slot;
use super::corpus::Corpus;
use super::evidence::{Evidence, Facts, MIN_COSINE};
use super::files::{FileChunk, IndexedFile, lines};
use super::filter::Filter;
use super::hit::{Hit, Results, Term};
use super::named::named_places;
use super::places::places_first;
use super::query::Query;
use super::rows::{MAX_OTHERS, MAX_PARTS, Ranked};
use super::statistics::Statistics;
use super::text::TextError;
use crate::chunk::ChunkType;

/// A feature of a file.
pub struct Feature {
    pub name: &'static str,
    pub weight: f64,
    value: fn(&Facts) -> f64,
}

/// All features of files with their weights. Nothing else sets the ranking but the terms of rows
/// (`hit.rs`).
pub const FEATURES: &[Feature] = &[
    feature("file_words", 4.0, |f| f.file_words),
    feature("statement_words", 1.0, |f| f.file_words * f.statement * (1.0 - f.long)),
    feature("plain_words", 4.5, |f| f.plain_words),
    feature("near_words", 2.0, |f| f.near_words),
    feature("meaning", 4.0, |f| f.meaning),
    feature("best_chunk", 0.2, |f| f.best_chunk * f.statement),
    feature("size", -0.25, |f| f.size * f.statement),
    feature("outline_meaning", 4.0, |f| f.outline_meaning * f.outlined),
    feature("name_precision", 2.0, |f| f.name_precision * f.topic * (1.0 - f.long)),
    feature("hub", 4.0, |f| f.hub * f.outlined * (1.0 - f.long)),
    feature("implementation", 0.7, |f| f.implementation * f.topic),
    feature("depth", -0.4, |f| f.depth * f.topic * f.fade),
    feature("document", -0.5, |f| f.document * f.topic),
    feature("ordered_document", -0.75, |f| f.document * f.imperative),
    feature("wording", 0.6, |f| f.document_wording * f.document * f.statement),
    feature("long_name", 1.0, |f| f.name_precision * f.long),
    feature("long_words", 2.0, |f| f.file_words * f.long),
    feature("long_identifier", -3.0, |f| f.rare_identifier * f.long),
    feature("long_document", -2.0, |f| f.document * f.long * f.unasked),
    feature("long_definition", 2.0, |f| f.definition * f.long),
    feature("long_test", -1.0, |f| f.test * f.long),
    feature("long_config", -1.0, |f| f.config * f.long),
    feature("path", 8.0, |f| f.path),
    feature("definition", 1.0, |f| f.definition),
    feature("symbol_definition", 2.7, |f| f.definition * f.symbol),
    feature("type_name", 0.9, |f| f.type_name),
    feature("rare_identifier", 4.0, |f| f.rare_identifier),
    feature("phrase", 4.0, |f| f.phrase),
    feature("history", 6.0, |f| f.history),
    feature("long_history", 3.0, |f| f.history * f.long),
    feature("test", -4.0, |f| f.test),
    feature("config", -0.5, |f| f.config),
    feature("statement_config", -0.5, |f| f.config * f.statement * (1.0 - f.long)),
    feature("record", -3.5, |f| f.record),
    feature("aside", -0.5, |f| f.aside),
    feature("foreign", -4.0, |f| f.foreign),
];

const fn feature(name: &'static str, weight: f64, value: fn(&Facts) -> f64) -> Feature {
    Feature { name, weight, value }
}

/// A file that uses definitions of the best files.
const USES_BEST: f64 = 1.5;
/// Number of best files whose users are looked for.
const USED: usize = 6;

/// The results that a reader sees first, and the documents among them.
const FIRST: usize = 5;
const FIRST_DOCUMENTS: usize = 2;
/// A document that is this much better than the code stays there all the same.
const CLEAR_LEAD: f64 = 1.0;
/// Documents that are moved keep their order by this difference of their scores.
const LEAST_LESS: f64 = 1e-6;

/// Penalty of a test in a list of files related to one that is none: a test is near to what it
/// tests, and is found by its name.
const RELATED_TEST: f64 = -0.1;

/// Ranks by words and meaning.
pub(super) fn hybrid(
    corpus: &Corpus,
    query: &Query,
    vector: &[f32],
    filter: &Filter,
    limit: usize,
    pooled: Option<&Statistics>,
) -> Result<Results, TextError> {
    let mut ranking = Evidence::new(corpus, query, vector, filter, pooled)?;
    let (pool, notes) = ranking.pool()?;
    ranking.look_at(&pool);
    let rank = |at: u32| {
        let terms = terms(&ranking.facts(at));
        Ranked {
            at,
            file: &corpus.files[at as usize],
            score: terms.iter().map(Term::contribution).sum(),
            terms,
        }
    };
    let mut files: Vec<Ranked> =
        pool.into_iter().filter(|at| ranking.speaks_for(*at)).map(rank).collect();
    files.sort_by(best_first);
    add_users(corpus, ranking.relatedness(), &mut files);
    let wants_documents = |f: &Filter| f.types.contains(&ChunkType::Documentation);
    if !query.asks_for_document && ![filter, &query.only].into_iter().any(wants_documents) {
        spread_documents(&mut files);
    }
    let total = files.len();
    let hits = ranking.rows(files, limit);
    let named = named_places(corpus, query, filter, &hits)?;
    let hits = places_first(named, hits);
    Ok(Results {
        hits,
        total,
        wants_places: ranking.wants_places(),
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
        meant: query.meant.clone(),
        notes,
    })
}

fn best_first(a: &Ranked, b: &Ranked) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| a.file.path.cmp(&b.file.path))
}

/// Raises the files that use definitions of the best ones: what is wanted is often a caller of what has
/// the words. `share`: how much this says for the query, 0–1.
fn add_users(corpus: &Corpus, share: f64, files: &mut [Ranked]) {
    if share == 0.0 {
        return;
    }
    let best: Vec<(u32, f64)> =
        files.iter().take(USED).zip(1..).map(|(file, n)| (file.at, 1.0 / f64::from(n))).collect();
    let all: f64 = best.iter().map(|(_, weight)| weight).sum();
    for file in &mut *files {
        let uses = corpus.used_by(file.at);
        let used = best.iter().filter(|(at, _)| uses.binary_search(at).is_ok());
        let value = share * used.map(|(_, weight)| weight).sum::<f64>() / all;
        if value > 0.0 {
            let term = Term { feature: "uses_best", value, weight: USES_BEST };
            file.score += term.contribution();
            file.terms.push(term);
        }
    }
    files.sort_by(best_first);
}

/// Moves all but the best documents behind the first results, unless their lead is clear: a question
/// that asks for no document is about code.
fn spread_documents(files: &mut [Ranked]) {
    let others = files.iter().filter(|f| !f.file.is_document).map(|f| f.score);
    let Some(last) = others.take(FIRST - FIRST_DOCUMENTS).last() else { return };
    let is_crowding = |f: &&mut Ranked| (last..last + CLEAR_LEAD).contains(&f.score);
    let documents = files.iter_mut().filter(|f| f.file.is_document).skip(FIRST_DOCUMENTS);
    for (n, file) in documents.filter(is_crowding).enumerate() {
        let less = last - file.score - LEAST_LESS * (n + 1) as f64;
        file.terms.push(Term { feature: "many_documents", value: less, weight: 1.0 });
        file.score += less;
    }
    files.sort_by(best_first);
}

/// Ranks the chunks that an exact query matched, by its words alone.
pub(super) fn exact(
    corpus: &Corpus,
    query: &Query,
    found: Vec<Slot>,
    filter: &Filter,
    limit: usize,
) -> Result<Results, TextError> {
    let ranking = Evidence::new(corpus, query, &[], filter, None)?;
    let mut files: HashMap<u32, Vec<Slot>> = HashMap::new();
    for slot in found.into_iter().filter(|s| ranking.allowed(*s)) {
        files.entry(corpus.file_of[slot as usize]).or_default().push(slot);
    }
    // An outline repeats the text of the file's other chunks: it counts only if they do not match
    // or are excluded.
    for (at, slots) in files.iter_mut().filter(|(_, slots)| slots.len() > 1) {
        slots.retain(|s| Some(*s) != corpus.files[*at as usize].outline);
    }
    let total = files.values().map(Vec::len).sum();
    let mut hits: Vec<Hit> = files
        .into_iter()
        .filter_map(|(at, mut slots)| {
            slots.sort_by(|a, b| {
                ranking
                    .lexical
                    .fields(*b)
                    .total_cmp(&ranking.lexical.fields(*a))
                    .then_with(|| ranking.id(*a).cmp(ranking.id(*b)))
            });
            let value = ranking.lexical.fields(slots[0]);
            let parts: Vec<_> = slots
                .iter()
                .filter_map(|s| Some((corpus.entry(*s)?.clone(), ranking.lexical.fields(*s))))
                .take(MAX_PARTS)
                .collect();
            let mut entries = slots.iter().filter_map(|s| corpus.entry(*s));
            let chunk = entries.next()?.chunk()?;
            Some(Hit {
                part: 0,
                path: corpus.files[at as usize].path.clone(),
                lines: lines(&chunk),
                line: None,
                definition: None,
                note: None,
                nth: 0,
                chunk,
                parts,
                others: entries.take(MAX_OTHERS).cloned().collect(),
                score: value,
                terms: vec![Term { feature: "chunk_words", value, weight: 1.0 }],
                changed_by: None,
                coverage: ranking.lexical.coverage(slots[0]),
            })
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    hits.truncate(limit);
    Ok(Results {
        hits,
        total,
        wants_places: false,
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
        meant: query.meant.clone(),
        notes: Vec::new(),
    })
}

/// Ranks by the chunk of each file that is nearest to a vector. The file `without` is left out.
pub(super) fn by_meaning(
    corpus: &Corpus,
    vector: &[f32],
    without: Option<u32>,
    filter: &Filter,
    limit: usize,
) -> Result<Results, TextError> {
    let no_words = Query::new("");
    let ranking = Evidence::new(corpus, &no_words, vector, filter, None)?;
    ranking.scan();
    let nearest =
        |file: &IndexedFile| ranking.slots(file).map(|s| ranking.cosine(s)).fold(0.0, f32::max);
    let score = |(at, file): (u32, &Arc<IndexedFile>)| {
        (Some(at) != without).then(|| vec![meaning(nearest(file))])
    };
    let terms = (0..).zip(&corpus.files).map(score).collect();
    Ok(ranked_by(&ranking, terms, limit))
}

/// Ranks other files by what they do: files are compared by the mean vectors of their definitions.
/// `None` if the file `of` has no vectors.
pub(super) fn related(
    corpus: &Corpus,
    of: u32,
    filter: &Filter,
    limit: usize,
) -> Result<Option<Results>, TextError> {
    let file = &corpus.files[of as usize];
    let Some(vector) = mean_vector(corpus, file, |_| true) else { return Ok(None) };
    let no_words = Query::new("");
    let ranking = Evidence::new(corpus, &no_words, &vector, filter, None)?;
    let score = |(at, other): (u32, &Arc<IndexedFile>)| {
        let mean = mean_vector(corpus, other, |slot| ranking.allowed(slot));
        let mean = mean.filter(|_| at != of)?;
        let cosine: f32 = vector.iter().zip(&mean).map(|(a, b)| a * b).sum();
        let test = Term { feature: "test", value: 1.0, weight: RELATED_TEST };
        let test = Some(test).filter(|_| other.is_test && !file.is_test);
        Some(std::iter::once(meaning(cosine)).chain(test).collect())
    };
    let terms = (0..).zip(&corpus.files).map(score).collect();
    Ok(Some(ranked_by(&ranking, terms, limit)))
}

/// Returns the mean of the vectors of a file's definitions, or of all of its chunks if it has none,
/// L2-normalised. Imports and the outline, which begins with them, do not count: they say which
/// libraries a file uses, not what it does.
fn mean_vector(
    corpus: &Corpus,
    file: &IndexedFile,
    allowed: impl Fn(Slot) -> bool,
) -> Option<Vec<f32>> {
    let mean = |counts: &dyn Fn(&FileChunk) -> bool| {
        let parts = file.parts.iter().filter(|part| counts(part) && allowed(part.slot));
        let mut sum: Vec<f32> = Vec::new();
        for vector in parts.filter_map(|part| corpus.vectors.get(part.slot)) {
            sum.resize(vector.len(), 0.0);
            sum.iter_mut().zip(vector).for_each(|(sum, component)| *sum += component);
        }
        let norm = sum.iter().map(|c| c * c).sum::<f32>().sqrt();
        for c in &mut sum {
            *c /= norm;
        }
        (norm > 0.0).then_some(sum)
    };
    mean(&|part| Some(part.slot) != file.outline && !part.is_between).or_else(|| mean(&|_| true))
}

fn meaning(cosine: f32) -> Term {
    Term { feature: "meaning", value: f64::from(cosine), weight: 1.0 }
}

/// Ranks files by their terms, given for each file of the corpus; `None` leaves one out.
fn ranked_by(ranking: &Evidence, terms: Vec<Option<Vec<Term>>>, limit: usize) -> Results {
    let ranked = |((at, file), terms): (_, Option<Vec<Term>>)| {
        let terms = terms?;
        Some(Ranked { at, file, score: terms.iter().map(Term::contribution).sum(), terms })
    };
    let files = (0..).zip(ranking.corpus.files.iter().map(|file| &**file)).zip(terms);
    let mut files: Vec<Ranked> =
        files.filter_map(ranked).filter(|file| file.score >= f64::from(MIN_COSINE)).collect();
    files.sort_by(best_first);
    let total = files.len();
    Results {
        hits: ranking.rows(files, limit),
        total,
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
        ..Results::default()
    }
}

/// Returns the terms of the file's score.
fn terms(facts: &Facts) -> Vec<Term> {
    let term = |f: &Feature| Term { feature: f.name, value: (f.value)(facts), weight: f.weight };
    FEATURES.iter().map(term).filter(|t| t.value != 0.0).collect()
}
