//! Computes the features of files for one query: scores of chunks, and how they add up for a file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::bm25::Lexical;
use super::corpus::Corpus;
use super::files::{FileChunk, IndexedFile, Key, key, live};
use super::filter::Filter;
use super::form::Form;
use super::history::BestCommit;
use super::hit::QueryWords;
use super::proximity::closeness;
use super::query::Query;
use super::statistics::Statistics;
use super::text::{DocAddress, Field, Posting, TextError};
use super::tokens::{lower_parts, runs};
use super::vector::Nearness;
use super::{Slot, cores};
use crate::chunk::{ChunkType, Entry};

/// Number of chunks that each searcher may propose, and for a long text.
const POOL: usize = 100;
const LONG_POOL: usize = 250;
/// Number of chunks in which the positions of words are compared.
const CLOSE_POOL: usize = 60;
/// Number of best chunks of a file that count, weighted 1, 1/2, 1/3 …
const BEST_CHUNKS: usize = 5;
/// A missing chunk counts as this share of the one before it.
const MISSING: f64 = 0.9;
/// A file that holds no word of the query needs a chunk this close to it.
pub(super) const MIN_COSINE: f32 = 0.3;
/// The same for a query of unknown words, which may be of another language. Random letters reach
/// 0.67 on four repositories.
const MIN_COSINE_OF_UNKNOWN: f64 = 0.7;
/// Value of `path` for a file below a folder that the query names.
const FOLDER: f64 = 0.4;
/// Weight of what commits say about a document: documents change less often than code.
const DOCUMENT_HISTORY: f64 = 1.5;
/// From this many words on, a query says little about where its files are.
const NAMING_WORDS: f64 = 12.0;
/// What an identifier counts that only the code in a long text names.
const IN_CODE: f64 = 0.4;
/// Definitions count in full up to this sum of what the identifiers of a long text are worth.
const MOST_WORTH: f64 = 3.0;
/// An identifier of a long text that more files define proposes none of them.
const MAX_DEFINING: usize = 20;
/// How much outlines and references count for a statement that no document says; for a long text half
/// of it. For a topic they count 1.
const OUTLINED: f64 = 0.75;
/// So much of a document's meaning stands for its outline.
const OF_DOCUMENT: f64 = 0.8;
/// How much it counts for such a statement that a file uses the best files. For a long question it
/// counts 1.
const RELATED: f64 = 0.5;
/// Number of best files whose references are followed.
const HUBS_FROM: usize = 10;
/// Weights of words, nearness and meaning when chunks are compared with each other.
const CHUNK_WORDS: f64 = 5.0;
const CHUNK_CLOSENESS: f64 = 1.5;
const CHUNK_MEANING: f64 = 9.0;

/// Bonus of a shown place for names that the query contains, and its penalty for code between
/// definitions.
const PLACE_NAMES: f64 = 5.0;
const PLACE_BETWEEN: f64 = 0.7;

/// One query against one corpus.
pub(super) struct Evidence<'a> {
    pub(super) corpus: &'a Corpus,
    query: &'a Query,
    filter: &'a Filter,
    /// The counts of all corpora that are asked, if they are several.
    pooled: Option<&'a Statistics>,
    pub(super) lexical: Lexical,
    nearness: Nearness<'a>,
    /// Nearness of words, by slot, in order.
    close: Vec<(Slot, f64)>,
    /// Whether a slot may be found. Empty: all may.
    allowed: Vec<bool>,
    identifiers: Vec<Key>,
    capitalised: Vec<Key>,
    /// By part of a file's name that the query holds: how surprising that is.
    surprises: FxHashMap<Key, f64>,
    /// The paths that the query names, as folders within other paths.
    folders: Vec<String>,
    /// By identifier: what a definition of it counts; and what all may count together.
    worths: Vec<f64>,
    most_worth: f64,
    /// idf of a name part that the query does not name.
    unknown_idf: f64,
    /// By file of the pool: the share of the query that the file holds.
    in_files: BTreeMap<u32, f64>,
    /// By file: the weight of references from the best files.
    hubs: Vec<f64>,
    /// Files that hold an identifier of the query which few others hold.
    with_rare_identifier: BTreeSet<u32>,
    /// By file: the number of quoted phrases that it holds.
    phrases: BTreeMap<u32, usize>,
    /// By file of the pool: what commits say.
    said: BTreeMap<u32, BestCommit>,
}

/// The features of one file. Shares are 0–1, flags 0 or 1. specs/ranking.md defines them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    pub(super) file_words: f64,
    pub(super) plain_words: f64,
    pub(super) near_words: f64,
    pub(super) meaning: f64,
    pub(super) best_chunk: f64,
    /// ln of the file's bytes.
    pub(super) size: f64,
    pub(super) outline_meaning: f64,
    pub(super) name_precision: f64,
    pub(super) hub: f64,
    pub(super) implementation: f64,
    /// Number of folders above it.
    pub(super) depth: f64,
    pub(super) document: f64,
    pub(super) path: f64,
    pub(super) definition: f64,
    pub(super) type_name: f64,
    pub(super) rare_identifier: f64,
    pub(super) phrase: f64,
    pub(super) history: f64,
    pub(super) test: f64,
    pub(super) config: f64,
    pub(super) aside: f64,
    pub(super) foreign: f64,
    /// Whether it is a record, and none is wanted.
    pub(super) record: f64,
    /// Whether the query is a topic.
    pub(super) topic: f64,
    pub(super) statement: f64,
    /// How much outlines and references count, 0–1.
    pub(super) outlined: f64,
    /// Whether it is long.
    pub(super) long: f64,
    /// 1 for a short query; the longer it is, the less it says about where its files are.
    pub(super) fade: f64,
    /// Whether the query asks for no document.
    pub(super) unasked: f64,
    pub(super) symbol: f64,
    pub(super) imperative: f64,
    /// The logarithm of how much more probable it is that a document says the query.
    pub(super) document_wording: f64,
}

/// Returns the best `allowed` slots by score, ties by chunk id, with their data, in no order.
pub(super) fn top<T>(
    corpus: &Corpus,
    scored: impl Iterator<Item = ((Slot, T), f64)>,
    n: usize,
    allowed: impl Fn(Slot) -> bool,
) -> Vec<(Slot, T)> {
    type Scored<T> = ((Slot, T), f64);
    let id = |slot: Slot| corpus.entry(slot).map_or("", |e| &*e.id);
    let order =
        |a: &Scored<T>, b: &Scored<T>| b.1.total_cmp(&a.1).then_with(|| id(a.0.0).cmp(id(b.0.0)));
    let mut best: Vec<Scored<T>> = Vec::with_capacity(2 * n);
    // Most are worse than the `n` best so far and need no comparison with each other.
    let mut least = f64::MIN;
    let cut = |best: &mut Vec<Scored<T>>| {
        let (_, last, _) = best.select_nth_unstable_by(n - 1, order);
        let least = last.1;
        best.truncate(n);
        least
    };
    for (at, score) in scored {
        if score >= least && allowed(at.0) {
            best.push((at, score));
            if best.len() == 2 * n {
                least = cut(&mut best);
            }
        }
    }
    if best.len() > n {
        cut(&mut best);
    }
    best.into_iter().map(|(at, _)| at).collect()
}

fn flag(b: bool) -> f64 {
    f64::from(u8::from(b))
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        corpus: &'a Corpus,
        query: &'a Query,
        vector: &[f32],
        filter: &'a Filter,
        pooled: Option<&'a Statistics>,
    ) -> Result<Self, TextError> {
        let allows = |e: &Entry| filter.allows(e) && query.only.allows(e);
        let restricted = !(filter.is_empty() && query.only.is_empty());
        let allowed = if restricted {
            corpus.rows.iter().map(|e| e.as_ref().is_some_and(|e| allows(e))).collect()
        } else {
            Vec::new()
        };
        let n = pooled.map_or(corpus.text.n_chunks(), |all| all.size.chunks) as f64;
        let (lexical, nearness) =
            cores::join(|| Lexical::new(query, corpus, pooled), || corpus.vectors.ask(vector));
        let lexical = lexical?;
        let mut out = Self {
            surprises: if query.form == Form::Topic || query.is_long {
                lexical.surprises(live(&corpus.files), pooled)
            } else {
                FxHashMap::default() // Names of files do not count.
            },
            lexical,
            nearness,
            close: Vec::new(),
            identifiers: query.identifiers.iter().map(|i| key(i)).collect(),
            worths: vec![1.0; query.identifiers.len()],
            most_worth: query.identifiers.len().max(1) as f64,
            folders: query.paths.iter().map(|path| format!("/{path}/")).collect(),
            capitalised: query.capitalised.iter().map(|i| key(i)).collect(),
            // The value for a word in every hundredth chunk.
            unknown_idf: (1.0 + n / (0.01 * n + 1.0)).ln(),
            in_files: BTreeMap::new(),
            hubs: Vec::new(),
            with_rare_identifier: BTreeSet::new(),
            phrases: BTreeMap::new(),
            said: BTreeMap::new(),
            allowed,
            corpus,
            query,
            filter,
            pooled,
        };
        // Positions of words are compared only in chunks that hold them.
        let worth = |slot: Slot| out.lexical.body(slot) + out.lexical.plain(slot);
        let mut best = out.top(out.lexical.touched.iter().map(|at| (*at, worth(at.0))), CLOSE_POOL);
        best.sort_unstable_by_key(|b| b.1);
        let places: Vec<DocAddress> = best.iter().map(|b| b.1).collect();
        let close = closeness(query, &out.lexical, &corpus.text, &places)?;
        out.close = best.iter().map(|b| b.0).zip(close).collect();
        out.close.sort_unstable_by_key(|c| c.0);
        Ok(out)
    }

    pub(super) fn allowed(&self, slot: Slot) -> bool {
        self.allowed.get(slot as usize).copied().unwrap_or(self.allowed.is_empty())
    }

    pub(super) fn cosine(&self, slot: Slot) -> f32 {
        self.nearness.cosine(slot)
    }

    /// Prepares for lookups of the cosine of every slot.
    pub(super) fn scan(&self) {
        self.nearness.all();
    }

    pub(super) fn id(&self, slot: Slot) -> &str {
        self.corpus.entry(slot).map_or("", |e| &e.id)
    }

    fn closeness(&self, slot: Slot) -> f64 {
        self.close.binary_search_by_key(&slot, |c| c.0).map_or(0.0, |i| self.close[i].1)
    }

    /// Returns the words of the query with their weights.
    pub(super) fn wanted(&self) -> QueryWords {
        let words = self.query.terms.iter().zip(&self.lexical.terms);
        let words = words
            .filter(|(term, _)| !term.is_whole)
            .map(|(term, weight)| (term.canonical.clone(), f64::from(weight.idf)));
        QueryWords::new(words, self.query.identifiers.clone())
    }

    /// Returns whether the query asks for places rather than files.
    pub(super) fn wants_places(&self) -> bool {
        self.query.is_long || self.query.form == Form::Statement
    }

    /// Scores a chunk as a place to show: names count, code between definitions counts less.
    pub(super) fn place_score(&self, part: &FileChunk) -> f64 {
        let names = PLACE_NAMES * self.lexical.names(part.slot);
        self.chunk_score(part.slot) + names - if part.is_between { PLACE_BETWEEN } else { 0.0 }
    }

    /// Returns the score of one chunk.
    pub(super) fn chunk_score(&self, slot: Slot) -> f64 {
        CHUNK_WORDS * self.lexical.body(slot)
            + CHUNK_CLOSENESS * self.closeness(slot)
            + CHUNK_MEANING * f64::from(self.cosine(slot))
    }

    /// Returns the files to score, and notes about their selection.
    pub(super) fn pool(&mut self) -> Result<(BTreeSet<u32>, Vec<String>), TextError> {
        let mut notes = self.query.notes.clone();
        let mut files = self.proposed()?;
        let may_be_found = |at: &u32| {
            self.corpus.files[*at as usize].parts.iter().any(|part| self.allowed(part.slot))
        };
        self.with_rare_identifier = self
            .lexical
            .rare_identifiers(&self.corpus.file_of, self.pooled)
            .into_iter()
            .filter(may_be_found)
            .collect();
        files.extend(&self.with_rare_identifier);
        if !self.query.phrases.is_empty() {
            self.phrases = self.holding_phrases();
            let n = self.query.phrases.len();
            let holding = |at: &u32| self.phrases.get(at) == Some(&n);
            let all: BTreeSet<u32> = self.phrases.keys().copied().filter(holding).collect();
            if all.is_empty() {
                notes.push(format!(
                    "no file holds “{}”: searched for its words",
                    self.query.phrases.join("” and “")
                ));
            } else if self.query.is_quoted {
                files = all;
            } else {
                files.extend(all);
            }
        }
        Ok((files, notes))
    }

    /// Returns the files that hold quoted phrases, with the number of those.
    fn holding_phrases(&self) -> BTreeMap<u32, usize> {
        let mut held = BTreeMap::new();
        for phrase in &self.query.phrases {
            // A phrase that is not a valid query matches nothing.
            let slots = self.corpus.text.phrase(phrase).unwrap_or_default();
            let allowed = slots.into_iter().filter(|s| self.allowed(*s));
            let files: BTreeSet<u32> = allowed.map(|s| self.corpus.file_of[s as usize]).collect();
            for file in files {
                *held.entry(file).or_default() += 1;
            }
        }
        held
    }

    /// Returns the files that the searchers propose.
    fn proposed(&mut self) -> Result<BTreeSet<u32>, TextError> {
        let n = if self.query.is_long { LONG_POOL } else { POOL };
        let by_words = |score: fn(&Lexical, Slot) -> f64| {
            let touched = self
                .lexical
                .touched
                .iter()
                .map(|(slot, _)| ((*slot, ()), score(&self.lexical, *slot)));
            self.top(touched, n)
        };
        let near = self
            .nearness
            .near(n, MIN_COSINE, |s| self.allowed(s))
            .map(|(s, c)| ((s, ()), f64::from(c)));
        let (by_fields, (by_plain, by_meaning)) = cores::join(
            || by_words(Lexical::fields),
            || (by_words(Lexical::plain), self.top(near, n)),
        );
        let found = [by_fields, by_plain, by_meaning];
        let mut files: BTreeSet<u32> =
            found.iter().flatten().map(|(slot, ())| self.corpus.file_of[*slot as usize]).collect();
        // A file that the query names is scored even if its text matches little.
        files.extend(self.defining()?);
        if !self.query.paths.is_empty() {
            let named = |(_, file): &(u32, &Arc<IndexedFile>)| {
                self.path(file) > 0.0 && file.parts.iter().any(|p| self.allowed(p.slot))
            };
            files.extend((0..).zip(&self.corpus.files).filter(named).take(POOL).map(|(at, _)| at));
        }
        Ok(files)
    }

    /// Returns the files that define what the query names.
    fn defining(&mut self) -> Result<BTreeSet<u32>, TextError> {
        let mut files = BTreeSet::new();
        for (at, identifier) in self.query.identifiers.iter().enumerate() {
            let name = self.identifiers[at];
            let mut candidates = BTreeSet::new();
            match runs(identifier).next() {
                Some(run) => {
                    let whole: String = lower_parts(&identifier[run.range]).collect();
                    let add =
                        |p: Posting| candidates.extend([self.corpus.file_of[p.slot as usize]]);
                    self.corpus.text.postings(Field::Name, &whole, add)?;
                }
                // The name is not in the index: it consists of signs only.
                None => candidates.extend((0..).zip(&self.corpus.files).map(|(at, _)| at)),
            }
            let defines = |at: &u32| {
                let file = &self.corpus.files[*at as usize];
                file.definitions.iter().any(|d| d.name == name && self.allowed(d.slot))
            };
            let definers: Vec<u32> = candidates.into_iter().filter(defines).collect();
            let n = definers.len();
            if self.query.is_long {
                // A long text also names what is defined elsewhere.
                let said = if at < self.query.n_said { 1.0 } else { IN_CODE };
                self.worths[at] = if n == 0 { 0.0 } else { said / (n as f64).sqrt() };
            }
            if !self.query.is_long || n <= MAX_DEFINING {
                files.extend(definers);
            }
        }
        if self.query.is_long {
            self.most_worth = self.worths.iter().sum::<f64>().clamp(1.0, MOST_WORTH);
        }
        Ok(files)
    }

    /// Returns 1 if the query names the file, less if it names a folder above it.
    fn path(&self, file: &IndexedFile) -> f64 {
        let named = |(path, folder): (&String, &String)| match file.path.strip_suffix(path.as_str())
        {
            Some(before) if before.is_empty() || before.ends_with('/') => 1.0,
            _ if path.contains('/')
                && (file.path.starts_with(&folder[1..]) || file.path.contains(folder)) =>
            {
                FOLDER
            }
            _ => 0.0,
        };
        self.query.paths.iter().zip(&self.folders).map(named).fold(0.0, f64::max)
    }

    /// Returns the best slots by score, ties by chunk id, with their data.
    fn top<T>(&self, scored: impl Iterator<Item = ((Slot, T), f64)>, n: usize) -> Vec<(Slot, T)> {
        top(self.corpus, scored, n, |slot| self.allowed(slot))
    }

    /// Returns the chunks of a file that are scored: all but its outline, unless the filter asks
    /// for outlines.
    pub(super) fn parts<'f>(
        &self,
        file: &'f IndexedFile,
    ) -> impl Iterator<Item = &'f FileChunk> + use<'f, '_, 'a> {
        let skip = file.outline.filter(|_| {
            ![self.filter, &self.query.only].iter().any(|f| f.types.contains(&ChunkType::Symbols))
        });
        file.parts.iter().filter(move |p| Some(p.slot) != skip && self.allowed(p.slot))
    }

    pub(super) fn slots<'f>(
        &self,
        file: &'f IndexedFile,
    ) -> impl Iterator<Item = Slot> + use<'f, '_, 'a> {
        self.parts(file).map(|p| p.slot)
    }

    /// Whether anything speaks for a file of the pool. If the corpus holds no word of the query, and
    /// none is of a natural language, the vector of the query says little: only a chunk that is
    /// very near counts.
    pub(super) fn speaks_for(&self, at: u32) -> bool {
        let says_something = self.query.has_known_word || !self.lexical.touched.is_empty();
        let file = &self.corpus.files[at as usize];
        says_something || self.best(file, |s| f64::from(self.cosine(s))) >= MIN_COSINE_OF_UNKNOWN
    }

    /// Returns the best score among a file's chunks.
    fn best(&self, file: &IndexedFile, score: impl Fn(Slot) -> f64) -> f64 {
        self.slots(file).map(score).fold(0.0, f64::max)
    }

    /// Returns the weighted mean of a file's five best chunks; a missing one counts as this share
    /// of the one before it.
    fn best_five(&self, file: &IndexedFile, score: impl Fn(Slot) -> f64, missing: f64) -> f64 {
        let mut best = [f64::MIN; BEST_CHUNKS];
        for mut score in self.slots(file).map(score) {
            for kept in &mut best {
                if score > *kept {
                    std::mem::swap(kept, &mut score);
                }
            }
        }
        let (mut sum, mut weights, mut last) = (0.0, 0.0, 0.0);
        for (i, score) in best.into_iter().enumerate() {
            last = if score > f64::MIN { score } else { last * missing };
            let weight = 1.0 / (i + 1) as f64;
            sum += weight * last;
            weights += weight;
        }
        sum / weights
    }

    /// Computes the features that depend on all files of the pool. Must be called before
    /// [`Evidence::facts`].
    pub(super) fn look_at(&mut self, pool: &BTreeSet<u32>) {
        let files: Vec<&IndexedFile> =
            pool.iter().map(|at| &*self.corpus.files[*at as usize]).collect();
        let average =
            self.pooled.map_or(self.corpus.average_file_bytes, |all| all.size.average_file_bytes());
        let shares = self.lexical.files(&files, average, |slot| self.allowed(slot));
        self.in_files = pool.iter().copied().zip(shares).collect();
        self.follow_references(pool);
        self.read_history(pool);
    }

    /// Looks up what commits say about the files.
    fn read_history(&mut self, pool: &BTreeSet<u32>) {
        let Corpus { history, set, files, .. } = self.corpus;
        let scores =
            history.scores(self.query, set.commits(), self.pooled.map(Statistics::of_commits));
        let said = |at: &u32| (*at, history.best(&files[*at as usize].path, &scores));
        self.said = pool.iter().map(said).filter(|(_, said)| said.score > 0.0).collect();
    }

    /// Returns the commit that speaks most for a file, if its message holds a word of the query.
    pub(super) fn changed_by(&self, at: u32) -> Option<&Arc<Entry>> {
        self.corpus.set.commits().get(self.said.get(&at)?.commit as usize)
    }

    /// Returns how probable it is that code does, or a commit says, what the query states: a document
    /// says it in other words.
    fn probability_of_code(&self) -> f64 {
        1.0 / (1.0 + self.query.document_wording.exp())
    }

    /// Returns how much outlines of files and references between them count, 0–1.
    fn outlined(&self) -> f64 {
        match self.query.form {
            Form::Topic => 1.0,
            Form::Statement if self.query.is_long => OUTLINED / 2.0 * self.probability_of_code(),
            Form::Statement => OUTLINED * self.probability_of_code(),
        }
    }

    /// Returns how much it counts that a file uses definitions of the best ones, 0–1.
    pub(super) fn relatedness(&self) -> f64 {
        match self.query.form {
            _ if self.query.is_long => flag(self.query.is_question),
            Form::Statement => RELATED * self.probability_of_code(),
            Form::Topic => 0.0,
        }
    }

    /// Follows the references of the best files to other files.
    fn follow_references(&mut self, pool: &BTreeSet<u32>) {
        if self.query.is_long {
            return; // They do not count.
        }
        let is_code = |f: &IndexedFile| !f.is_document && !f.is_config;
        let mut from: Vec<(u32, f64)> = pool
            .iter()
            .map(|at| (*at, &*self.corpus.files[*at as usize]))
            .filter(|(_, f)| is_code(f))
            .map(|(at, f)| (at, self.best_five(f, |s| self.lexical.fields(s), 0.0)))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        let path = |at: u32| &self.corpus.files[at as usize].path;
        from.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| path(a.0).cmp(path(b.0))));
        from.truncate(HUBS_FROM);
        let total: f64 = from.iter().map(|f| f.1).sum();
        self.hubs = vec![0.0; self.corpus.files.len()];
        for (at, score) in from {
            let owners = self.corpus.used_by(at);
            for owner in owners {
                self.hubs[*owner as usize] += score / total / (owners.len() as f64).sqrt();
            }
        }
    }

    pub(super) fn facts(&self, at: u32) -> Facts {
        let file = &*self.corpus.files[at as usize];
        let has_rare_identifier = self.with_rare_identifier.contains(&at);
        let meaning = self.best_five(file, |s| f64::from(self.cosine(s)), MISSING);
        Facts {
            file_words: self.in_files.get(&at).copied().unwrap_or_default(),
            plain_words: self.best(file, |s| self.lexical.plain(s)),
            near_words: self.best(file, |s| self.closeness(s)),
            meaning,
            best_chunk: self.best(file, |s| self.chunk_score(s)),
            size: (file.n_bytes as f64).ln_1p(),
            outline_meaning: self.outline_meaning(file, meaning),
            name_precision: self.lexical.precision(&file.stem, self.unknown_idf)
                * self.surprise(&file.stem),
            hub: self.hubs.get(at as usize).copied().unwrap_or_default(),
            implementation: flag(self.corpus.references().has_header(at)),
            depth: (file.depth - self.corpus.min_depth.min(file.depth)) as f64,
            document: flag(file.is_document),
            path: self.path(file),
            definition: self.definition(file).0,
            type_name: flag(
                file.definitions
                    .iter()
                    .any(|d| d.is_top_type && self.capitalised.contains(&d.name)),
            ),
            rare_identifier: flag(has_rare_identifier),
            phrase: self.phrases.get(&at).map_or(0.0, |n| *n as f64)
                / self.query.phrases.len().max(1) as f64,
            history: self.said.get(&at).map_or(0.0, |said| said.score)
                * if file.is_document { DOCUMENT_HISTORY } else { 1.0 },
            test: flag(file.is_test && !file.is_document && !self.wants_tests(has_rare_identifier)),
            config: flag(file.is_config),
            aside: flag(file.is_aside(self.corpus.examples)),
            foreign: flag(file.is_foreign),
            record: flag(!self.wants_records() && file.is_record()),
            topic: flag(self.query.form == Form::Topic),
            long: flag(self.query.is_long),
            fade: (NAMING_WORDS / self.query.words.len().max(1) as f64).min(1.0),
            unasked: flag(!self.query.asks_for_document),
            statement: flag(self.query.form == Form::Statement),
            outlined: self.outlined(),
            symbol: flag(self.query.is_symbol),
            imperative: flag(self.query.is_imperative),
            document_wording: self.query.document_wording,
        }
    }

    /// Whether a test may be what is wanted. A report quotes tests and has identifiers of them, but what is
    /// wrong is not in a test.
    fn wants_tests(&self, has_rare_identifier: bool) -> bool {
        if self.query.is_long {
            return self.query.about_tests && self.query.is_question;
        }
        self.query.about_tests || has_rare_identifier
    }

    /// Whether a change log or a translation may be what is wanted. A topic says too little to tell, but in
    /// another language than English it resembles the translations into it.
    fn wants_records(&self) -> bool {
        let query = self.query;
        let is_topic = query.form == Form::Topic && !query.is_long && query.language.is_none();
        is_topic || query.asks_for_document || query.asks_for_record
    }

    /// Returns how near the file's outline is. A document has none, and would stand behind all code for
    /// a statement.
    fn outline_meaning(&self, file: &IndexedFile, meaning: f64) -> f64 {
        if file.is_document && self.query.form == Form::Statement {
            return OF_DOCUMENT * meaning;
        }
        file.outline.map_or(0.0, |slot| f64::from(self.cosine(slot)))
    }

    /// Returns how surprising it is that the query holds parts of a file's name, 0–1.
    fn surprise(&self, name: &[Key]) -> f64 {
        name.iter().filter_map(|part| self.surprises.get(part)).copied().fold(0.0, f64::max)
    }

    /// Returns how well the file defines the identifiers of the query (0–1), and the slot of the
    /// best definition.
    pub(super) fn definition(&self, file: &IndexedFile) -> (f64, Option<Slot>) {
        let (mut sum, mut best) = (0.0, None::<(f32, Slot)>);
        for (identifier, counts) in self.identifiers.iter().zip(&self.worths) {
            let mut worth = 0f32;
            for d in
                file.definitions.iter().filter(|d| d.name == *identifier && self.allowed(d.slot))
            {
                worth = worth.max(d.worth);
                if best.is_none_or(|b| d.worth > b.0) {
                    best = Some((d.worth, d.slot));
                }
            }
            sum += f64::from(worth) * counts;
        }
        (sum / self.most_worth, best.map(|b| b.1))
    }
}
