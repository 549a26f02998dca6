//! The results of a search.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::tokens::{Analyzer, last_component, lower, runs};
use crate::chunk::{Chunk, Entry};

/// The places that a question names by file and line come first. Each ranks this far before the next
/// one, and the last before the best file.
pub(super) const NAMED_PLACE: f64 = 0.4;

/// One feature's part of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub feature: &'static str,
    pub value: f64,
    pub weight: f64,
}

impl Term {
    /// Returns its part of the score.
    #[must_use]
    pub fn contribution(&self) -> f64 {
        self.value * self.weight
    }
}

/// A file that a search found, with one of its places.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Which of the corpora that were searched together holds it; 0 if there is one.
    pub part: usize,
    /// Path, or the id of a chunk without one.
    pub path: Arc<str>,
    /// The best chunk of the place.
    pub chunk: Arc<Chunk>,
    /// First and last line of the function or section around it, or of the chunk itself.
    pub lines: Option<(u32, u32)>,
    /// The line that the query names, which a reply must show.
    pub line: Option<u32>,
    /// First and last line of the definition at [`Hit::line`], if the query names it.
    pub definition: Option<(u32, u32)>,
    /// What differs from what the query says of the line.
    pub note: Option<String>,
    /// Which place of the file the row shows: 0 is the best one.
    pub nth: usize,
    /// The best chunks of the file with their scores: those of the place first, each group best
    /// first.
    pub parts: Vec<(Arc<Entry>, f64)>,
    /// Other matching chunks of the file, best first. Callers that show them read their text.
    pub others: Vec<Arc<Entry>>,
    /// The sum of the terms' contributions.
    pub score: f64,
    /// In the order of [`FEATURES`](super::FEATURES); features of value 0 are left out.
    pub terms: Vec<Term>,
    /// The commit whose message speaks most for the file.
    pub changed_by: Option<Arc<Entry>>,
    /// Share of the query's words that the chunk holds in any field, weighted by how rare each is,
    /// 0–1. It takes no part in ranking.
    pub coverage: f64,
}

/// Features of which one alone connects a file with a question.
const CONNECTING: [&str; 9] = [
    "file_words", "definition", "symbol_definition", "type_name", "rare_identifier", "phrase",
    "path", "name_precision", "named_place",
];
/// A file this near in meaning is shown without any word of the question.
const NEAR_MEANING: f64 = 0.5;
/// So is a file whose meaning is at least this share of the nearest one's: the scale of a cosine
/// depends on the model.
const SHARE_OF_NEAREST: f64 = 0.8;

impl Hit {
    /// Names the file among those of all parts, which may have the same paths.
    #[must_use]
    pub fn file(&self) -> (usize, Arc<str>) {
        (self.part, self.path.clone())
    }

    /// Whether a reader can see why it was found: by a word, a name, its path or its meaning.
    /// `nearest` is the largest [`Hit::meaning`] of all hits.
    #[must_use]
    pub fn is_evident(&self, nearest: f64) -> bool {
        let connects = |t: &Term| CONNECTING.contains(&t.feature) && t.value > 0.0;
        let near = NEAR_MEANING.min(SHARE_OF_NEAREST * nearest);
        self.coverage > 0.0
            || self.terms.iter().any(connects)
            || near > 0.0 && self.meaning() >= near
    }

    /// Returns the share of the question that the message of the commit in `changed_by` holds, 0–1.
    #[must_use]
    pub fn said_by_commit(&self) -> f64 {
        self.terms.iter().find(|t| t.feature == "history").map_or(0.0, |t| t.value)
    }

    /// Returns how near it is to the question in meaning; 0 if that is unknown.
    #[must_use]
    pub fn meaning(&self) -> f64 {
        self.terms.iter().find(|t| t.feature == "meaning").map_or(0.0, |t| t.value)
    }
}

/// The results of a search.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Best first, one for each file.
    pub hits: Vec<Hit>,
    /// Whether the query is about functions, so that several places of a file may answer it.
    pub wants_places: bool,
    /// Number of files that were ranked, or of matching chunks in an exact search.
    pub total: usize,
    /// Total weight of the query's words, in rare words: a word of one chunk counts 1, a common
    /// word little.
    pub query_weight: f64,
    /// The words of the query.
    pub wanted: QueryWords,
    /// The part of the question that says what is wanted.
    pub meant: String,
    /// Corrections of the query that the caller should show.
    pub notes: Vec<String>,
}

/// The words that a query looks for, to choose lines of its results.
#[derive(Clone, Default)]
pub struct QueryWords {
    analyzer: Analyzer,
    /// By canonical word: its number, and its idf.
    words: FxHashMap<String, (usize, f64)>,
    /// What is wanted of the lower-case words that were met: code repeats its words.
    met: FxHashMap<String, Option<(usize, f64)>>,
    total: f64,
    /// Names of definitions.
    names: Vec<String>,
}

impl QueryWords {
    pub(super) fn new(words: impl Iterator<Item = (String, f64)>, names: Vec<String>) -> Self {
        let words: FxHashMap<String, (usize, f64)> =
            words.enumerate().map(|(i, (word, idf))| (word, (i, idf))).collect();
        let total = words.values().map(|(_, idf)| idf).sum::<f64>().max(1e-9);
        Self { analyzer: Analyzer::default(), words, met: FxHashMap::default(), total, names }
    }

    /// Wants all words of a question equally.
    #[cfg(test)]
    pub(crate) fn of_words(question: &str) -> Self {
        let mut analyzer = Analyzer::default();
        let words = super::tokens::search_words(question);
        Self::new(words.iter().map(|word| (analyzer.canonical(word), 1.0)), Vec::new())
    }

    /// Returns the share of the words that a text holds in any form, weighted by idf, 0–1.
    pub fn share_in(&mut self, text: &str) -> f64 {
        let (found, _) = self.found_in(text);
        found.iter().map(|(_, idf)| idf).sum::<f64>() / self.total.max(f64::MIN_POSITIVE)
    }

    /// Returns the wanted words that a text holds, each by its number and its share of all, 0–1.
    pub fn shares_in(&mut self, text: &str) -> Vec<(usize, f64)> {
        let total = self.total.max(f64::MIN_POSITIVE);
        self.found_in(text).0.into_iter().map(|(word, idf)| (word, idf / total)).collect()
    }

    /// Returns the share of the words of a text that are wanted, 0–1.
    pub fn precision_of(&mut self, text: &str) -> f64 {
        let (found, n) = self.found_in(text);
        found.len() as f64 / n.max(1) as f64
    }

    /// Returns the wanted words that a text holds, each once, and the number of its words.
    fn found_in(&mut self, text: &str) -> (Vec<(usize, f64)>, usize) {
        let (mut found, mut n): (Vec<(usize, f64)>, usize) = (Vec::new(), 0);
        for part in runs(text).flat_map(|r| r.parts) {
            n += 1;
            let word = lower(&text[part]);
            let wanted = match self.met.get(&word) {
                Some(known) => *known,
                None => {
                    let wanted = self.words.get(&self.analyzer.canonical(&word)).copied();
                    self.met.insert(word, wanted);
                    wanted
                }
            };
            found.extend(wanted.filter(|word| !found.contains(word)));
        }
        (found, n)
    }

    /// Whether the query names a symbol with this qualified name.
    #[must_use]
    pub fn names(&self, qualified: &str) -> bool {
        self.names.iter().any(|name| name == last_component(qualified))
    }
}

impl fmt::Debug for QueryWords {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("QueryWords")
            .field("words", &self.words)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}
