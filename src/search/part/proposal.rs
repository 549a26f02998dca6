//! By what an engine that knows nothing of code finds the files of a question: weights of words, and
//! keys. What it proposes is ranked afterwards, so hashes may collide here.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::super::bm25::{self, idf};
use super::super::filter::Filter;
use super::super::history;
use super::super::query::Query;
use super::super::statistics::{CorpusSize, Statistics, average_length};
use super::super::stop_words::is_stop_word;
use super::super::text::{Field, Frequencies};
use super::super::tokens::{Kind, STEM_MARK, lower_parts};
use super::prepared::Preparer;
use crate::chunk::{Chunk, ChunkType, Quantized};
use std::sync::Arc;

/// Number of dimensions of the weights.
const DIMENSIONS: u64 = 1_000_000_000;
/// Most keys of a row.
const MAX_KEYS: usize = 1_000;

/// Weights by dimension, in order, each once.
pub type Weights = Vec<(u32, f32)>;

/// By what a chunk is found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchRow {
    pub words: Weights,
    /// `[f32; dimensions]` of norm 1; empty if it has none.
    pub vector: Vec<f32>,
    pub keys: Vec<i32>,
}

/// What an engine is asked for.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// Chunks with the largest inner products with each of these.
    pub words: Vec<Weights>,
    /// Chunks with one of the keys of each of these sets.
    pub keys: Vec<Vec<i32>>,
    /// Conditions on all of them: a key of each of these sets.
    pub only: Vec<Vec<i32>>,
}

/// The kinds of weights. A word of one kind is none of another.
#[derive(Clone, Copy)]
enum Space {
    /// Stems and compound identifiers, over all fields.
    Fields,
    /// Words as written, in the body.
    Plain,
    /// Words of commits.
    Commits,
}

fn dimension(space: Space, word: &str) -> u32 {
    let hash =
        xxh3_64(word.as_bytes()).wrapping_mul(2 * space as u64 + 1).rotate_left(space as u32);
    u32::try_from(hash % DIMENSIONS).unwrap_or_default()
}

/// The kinds of keys.
#[derive(Clone, Copy)]
enum KeyKind {
    Definition,
    Path,
    Type,
}

fn key_of(kind: KeyKind, name: &[u8]) -> i32 {
    let hash = xxh3_64(name).wrapping_mul(2 * kind as u64 + 1);
    i32::try_from(hash >> 33).unwrap_or_default()
}

/// Returns the keys by which a path is found: each of its parts, and each two that follow each other.
fn path_keys(path: &str) -> impl Iterator<Item = i32> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let pairs: Vec<String> = parts.windows(2).map(|two| two.join("/")).collect();
    let all = parts.into_iter().map(String::from).chain(pairs);
    all.map(|part| key_of(KeyKind::Path, part.as_bytes())).collect::<Vec<_>>().into_iter()
}

fn in_order(weights: impl IntoIterator<Item = (u32, f32)>) -> Weights {
    let mut sums: BTreeMap<u32, f32> = BTreeMap::new();
    for (dimension, weight) in weights {
        let sum = sums.entry(dimension).or_default();
        *sum = sum.max(weight);
    }
    sums.into_iter().filter(|(_, weight)| *weight > 0.0).collect()
}

impl Preparer {
    /// Returns by what each chunk of a file is found. `size`: that of the whole corpus.
    pub fn rows(
        &mut self,
        path: &str,
        chunks: Vec<(Arc<Chunk>, Option<Quantized>)>,
        size: &CorpusSize,
    ) -> Vec<SearchRow> {
        let average = average_length(size.chunks, size.length);
        let (lengths, much) = bm25::lengths(average);
        let mut of_chunks: Vec<FxHashMap<String, (Kind, Frequencies)>> = Vec::new();
        let file = self.visited(path, chunks, |_, at, field, term| {
            of_chunks.resize_with(of_chunks.len().max(at + 1), FxHashMap::default);
            let terms = &mut of_chunks[at];
            if !terms.contains_key(term.text) {
                terms.insert(term.text.to_string(), (term.kind, Frequencies::default()));
            }
            if let Some((kind, frequencies)) = terms.get_mut(term.text) {
                frequencies[field as usize] += 1;
                if term.kind == Kind::Whole {
                    *kind = Kind::Whole;
                }
            }
        });
        of_chunks.resize_with(file.chunks.len(), FxHashMap::default);
        let mut rows = Vec::with_capacity(file.chunks.len());
        for (at, (chunk, terms)) in (0..).zip(file.chunks.iter().zip(of_chunks)) {
            let length = chunk.terms.length();
            let mut fields: FxHashMap<String, Frequencies> = FxHashMap::default();
            let mut weights = Vec::new();
            for (term, (kind, frequencies)) in terms {
                let mut add = |word: &str| {
                    let sums = fields.entry(word.to_string()).or_default();
                    sums.iter_mut().zip(frequencies).for_each(|(sum, n)| *sum += n);
                };
                if let Some(stem) = term.strip_prefix(STEM_MARK) {
                    add(stem);
                    continue;
                }
                if !is_stop_word(&term) && (kind == Kind::Whole || self.stems.stem(&term).is_none())
                {
                    add(&term);
                }
                let in_body = frequencies[Field::Body as usize] as f32;
                if in_body > 0.0 && kind != Kind::Whole {
                    let weight = bm25::bm25(in_body, much.get(length));
                    weights.push((dimension(Space::Plain, &term), weight));
                }
            }
            weights.extend(fields.into_iter().map(|(word, frequencies)| {
                let weight = bm25::field_weight(&frequencies, lengths.get(length));
                (dimension(Space::Fields, &word), weight)
            }));
            let mut keys = vec![key_of(KeyKind::Type, chunk.entry.chunk_type.as_str().as_bytes())];
            keys.extend(path_keys(path));
            let own = file.file.definitions.iter().filter(|d| d.slot == at);
            keys.extend(own.map(|d| key_of(KeyKind::Definition, &d.name.to_le_bytes())));
            keys.sort_unstable();
            keys.dedup();
            keys.truncate(MAX_KEYS);
            let vector = chunk.vector.as_ref().map_or_else(Vec::new, |v| {
                v.components.iter().map(|c| f32::from(*c) * v.scale).collect()
            });
            rows.push(SearchRow { words: in_order(weights), vector, keys });
        }
        rows
    }

    /// Returns by what a commit is found. `size`: that of the whole corpus.
    pub fn commit_row(&mut self, commit: &Chunk, size: &CorpusSize) -> SearchRow {
        let weights = history::weights(commit, &mut self.stems, size.commits, size.commit_length);
        let words =
            weights.into_iter().map(|(word, weight)| (dimension(Space::Commits, &word), weight));
        let keys = vec![key_of(KeyKind::Type, ChunkType::History.as_str().as_bytes())];
        SearchRow { words: in_order(words), vector: Vec::new(), keys }
    }
}

impl Proposal {
    /// Returns equal weights for the words of a text, as bodies hold them.
    #[must_use]
    pub fn words_of(text: &str) -> Weights {
        in_order(lower_parts(text).map(|word| (dimension(Space::Plain, &word), 1.0)))
    }

    /// Says what to ask for. `statistics`: those of the query in the whole corpus, or in all that are
    /// asked together.
    #[must_use]
    pub fn of(query: &Query, filter: &Filter, statistics: &Statistics) -> Self {
        let n = statistics.size.chunks;
        let terms = || query.terms.iter().enumerate();
        let fields = terms().filter(|(at, _)| statistics.chunks[*at] > 0).map(|(at, term)| {
            let weight = idf(n, statistics.chunks[at]) * term.weight;
            (dimension(Space::Fields, &term.canonical), weight)
        });
        let plain = query.words.iter().enumerate().filter(|(at, _)| statistics.words[*at] > 0);
        let plain = plain.map(|(at, (word, weight))| {
            (dimension(Space::Plain, word), idf(n, statistics.words[at]) * weight)
        });
        let commits = terms().filter(|(at, term)| !term.is_whole && statistics.commits[*at] > 0);
        let commits = commits.map(|(at, term)| {
            let weight = idf(statistics.size.commits, statistics.commits[at]) * term.weight;
            (dimension(Space::Commits, &term.canonical), weight)
        });
        let mut words = vec![in_order(fields), in_order(plain), in_order(commits)];
        words.extend(query.phrases.iter().map(|phrase| Self::words_of(phrase)));
        words.retain(|list| !list.is_empty());
        let identifiers = query.identifiers.iter();
        let definition = |name: &String| {
            key_of(KeyKind::Definition, &super::super::files::key(name).to_le_bytes())
        };
        let mut keys = vec![identifiers.map(definition).collect::<Vec<_>>()];
        keys.extend(query.paths.iter().filter_map(|path| {
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let last = parts[parts.len().saturating_sub(2)..].join("/");
            (!last.is_empty()).then(|| vec![key_of(KeyKind::Path, last.as_bytes())])
        }));
        keys.retain(|set| !set.is_empty());
        let types = [&query.only, filter].into_iter().filter(|f| !f.types.is_empty());
        let only = types.map(|filter| {
            let types = filter.types.iter().chain([&ChunkType::History]);
            types.map(|t| key_of(KeyKind::Type, t.as_str().as_bytes())).collect()
        });
        Self { words, keys, only: only.collect() }
    }
}
