//! Ranks files: computes features of each candidate file, and their weighted sum.
//! Files are ranked, not chunks. The searchers propose a pool of fixed size, so the order does not
//! depend on the limit of results; ties break by path. `specs/ranking.md` has the formulas and
//! reasons.

use std::collections::HashMap;

use super::Slot;
use super::corpus::Corpus;
use super::evidence::{Evidence, Facts, MIN_COSINE};
use super::files::{IndexedFile, lines};
use super::filter::Filter;
use super::hit::{Hit, Results, Term};
use super::query::Query;
use super::rows::{MAX_OTHERS, MAX_PARTS, Ranked};
use super::text::TextError;

/// A feature of a file.
pub struct Feature {
    pub name: &'static str,
    pub weight: f64,
    value: fn(&Facts) -> f64,
}

/// All features of files with their weights. Nothing else sets the ranking but the terms of rows
/// ([`super::hit`]).
pub const FEATURES: &[Feature] = &[
    feature("file_words", 4.0, |f| f.file_words),
    feature("plain_words", 4.5, |f| f.plain_words),
    feature("near_words", 2.0, |f| f.near_words),
    feature("meaning", 4.0, |f| f.meaning),
    feature("best_chunk", 0.2, |f| f.best_chunk * f.statement),
    feature("size", -0.25, |f| f.size * f.statement),
    feature("outline_meaning", 4.0, |f| f.outline_meaning * f.topic),
    feature("name_precision", 2.0, |f| f.name_precision * f.topic),
    feature("hub", 4.0, |f| f.hub * f.topic),
    feature("implementation", 0.7, |f| f.implementation * f.topic),
    feature("depth", -0.4, |f| f.depth * f.topic),
    feature("document", -0.5, |f| f.document * f.topic),
    feature("ordered_document", -0.75, |f| f.document * f.imperative),
    feature("wording", 0.6, |f| f.document_wording * f.document * f.statement),
    feature("path", 8.0, |f| f.path),
    feature("definition", 1.0, |f| f.definition),
    feature("symbol_definition", 2.7, |f| f.definition * f.symbol),
    feature("type_name", 0.9, |f| f.type_name),
    feature("rare_identifier", 4.0, |f| f.rare_identifier),
    feature("phrase", 4.0, |f| f.phrase),
    feature("history", 6.0, |f| f.history),
    feature("test", -4.0, |f| f.test),
    feature("config", -0.5, |f| f.config),
    feature("aside", -0.5, |f| f.aside),
    feature("foreign", -4.0, |f| f.foreign),
];

const fn feature(name: &'static str, weight: f64, value: fn(&Facts) -> f64) -> Feature {
    Feature { name, weight, value }
}

/// Ranks by words and meaning.
pub(super) fn hybrid(
    corpus: &Corpus,
    query: &Query,
    vector: &[f32],
    filter: &Filter,
    limit: usize,
) -> Result<Results, TextError> {
    let mut ranking = Evidence::new(corpus, query, vector, filter)?;
    let (pool, notes) = ranking.pool()?;
    ranking.look_at(&pool);
    let rank = |at: u32| {
        let terms = terms(&ranking.facts(at));
        Ranked {
            file: &corpus.files[at as usize],
            score: terms.iter().map(Term::contribution).sum(),
            terms,
        }
    };
    let mut files: Vec<Ranked> = pool.into_iter().map(rank).collect();
    files.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.file.path.cmp(&b.file.path)));
    let total = files.len();
    let hits = ranking.rows(files, limit);
    Ok(Results {
        hits,
        total,
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
        notes,
    })
}

/// Ranks the chunks that an exact query matched, by its words alone.
pub(super) fn exact(
    corpus: &Corpus,
    query: &Query,
    found: Vec<Slot>,
    filter: &Filter,
    limit: usize,
) -> Result<Results, TextError> {
    let ranking = Evidence::new(corpus, query, &[], filter)?;
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
                path: corpus.files[at as usize].path.clone(),
                lines: lines(&chunk),
                line: None,
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
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
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
    let ranking = Evidence::new(corpus, &no_words, vector, filter)?;
    ranking.scan();
    let mut files: Vec<(f32, &IndexedFile)> = (0..)
        .zip(&corpus.files)
        .filter(|(at, _)| Some(*at) != without)
        .map(|(_, file)| {
            (ranking.slots(file).map(|s| ranking.cosine(s)).fold(0.0, f32::max), &**file)
        })
        .filter(|(nearest, _)| *nearest >= MIN_COSINE)
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let total = files.len();
    let rank = |(cosine, file): (f32, _)| {
        let term = Term { feature: "meaning", value: f64::from(cosine), weight: 1.0 };
        Ranked { file, score: term.contribution(), terms: vec![term] }
    };
    let hits = ranking.rows(files.into_iter().map(rank).collect(), limit);
    Ok(Results {
        hits,
        total,
        query_weight: ranking.lexical.query_weight(),
        wanted: ranking.wanted(),
        notes: Vec::new(),
    })
}

/// Returns the terms of the file's score.
fn terms(facts: &Facts) -> Vec<Term> {
    let term = |f: &Feature| Term { feature: f.name, value: (f.value)(facts), weight: f.weight };
    FEATURES.iter().map(term).filter(|t| t.value != 0.0).collect()
}
