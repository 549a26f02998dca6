//! A published repository, as questions see it.

use std::sync::Arc;

use cortex_depot::{At, Depot, Found, Wanted};
use lru::LruCache;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::stored::{
    COUNTS, FILE, Manifest, NAME_BLOCKS, NAMES, Pack, SKETCH, USES, Uses, at, decompressed, key,
    unpack,
};
use super::{Result, TeamError};
use crate::chunk::{Chunk, Entry};
use crate::search::{
    Corpus, CountBlock, Filter, NameBlock, Part, PreparedFile, Proposal, Query, Sketch, Statistics,
    Whole, WordCount, WordSource, Words, words_of,
};

/// Number of chunks that each part of a proposal may name.
pub(super) const PROPOSED: usize = 150;

/// What was read before, for all repositories: at most a number of bytes, and what was used last stays.
pub struct Cache {
    held: Mutex<Held>,
    most: usize,
}

struct Held {
    all: LruCache<Name, Kept>,
    n_bytes: usize,
}

/// The repository, the kind and the key of a fact, and the generation at which it is born, or in which
/// it was read.
type Name = (i64, u8, i64, u64);

#[derive(Clone)]
enum Kept {
    File(Arc<PreparedFile>),
    Commit(Arc<Entry>),
    Counts(Arc<CountBlock>),
    Names(Arc<NameBlock>),
    Sketch(Arc<Sketch>),
}

impl Kept {
    fn n_bytes(&self) -> usize {
        let own = match self {
            Self::File(file) => file.n_bytes(),
            Self::Commit(_) => 1_500,
            Self::Counts(block) => block.n_bytes(),
            Self::Names(block) => block.n_bytes(),
            Self::Sketch(sketch) => sketch.n_bytes(),
        };
        own + 200
    }
}

impl Cache {
    /// Creates a cache of at most `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let all = LruCache::unbounded();
        Self { held: Mutex::new(Held { all, n_bytes: 0 }), most }
    }

    fn get(&self, name: &Name) -> Option<Kept> {
        self.held.lock().all.get(name).cloned()
    }

    fn put(&self, name: Name, kept: &Kept) {
        let held = &mut *self.held.lock();
        held.n_bytes += kept.n_bytes();
        if let Some(old) = held.all.put(name, kept.clone()) {
            held.n_bytes -= old.n_bytes();
        }
        while held.n_bytes > self.most {
            let Some((_, old)) = held.all.pop_lru() else { break };
            held.n_bytes -= old.n_bytes();
        }
    }

    /// Bytes that it holds.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.held.lock().n_bytes
    }
}

/// One generation of a repository.
pub struct Shared<'a> {
    depot: &'a dyn Depot,
    cache: &'a Cache,
    name: String,
    at: At,
    manifest: Manifest,
    whole: Whole,
}

impl<'a> Shared<'a> {
    /// Opens the newest generation of a repository.
    ///
    /// # Errors
    /// When nothing is published under the name, or the depot fails.
    pub fn open(depot: &'a dyn Depot, cache: &'a Cache, name: &str) -> Result<Self> {
        let names = [name.to_string()];
        let record = depot.records(Some(&names))?.pop();
        let record = record.ok_or_else(|| TeamError::Unknown(name.into()))?;
        Self::of_record(depot, cache, name, &record.text)
    }

    /// Opens the generation that a record names.
    ///
    /// # Errors
    /// When nothing is published yet, or the record is damaged.
    pub fn of_record(
        depot: &'a dyn Depot,
        cache: &'a Cache,
        name: &str,
        text: &str,
    ) -> Result<Self> {
        let damaged = || TeamError::Damaged("the record", name.into());
        let manifest = Manifest::read(text).ok_or_else(damaged)?;
        if manifest.generation == 0 {
            return Err(TeamError::Unknown(name.into()));
        }
        let whole = manifest.whole().ok_or_else(damaged)?;
        let at = at(name, manifest.generation);
        Ok(Self { depot, cache, name: name.into(), at, manifest, whole })
    }

    /// The name under which it was published.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its record says.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What is known of it as a whole.
    #[must_use]
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    fn damaged(&self, what: &'static str) -> TeamError {
        TeamError::Damaged(what, self.name.clone())
    }

    /// Counts the words of a query.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn statistics(&self, query: &Query) -> Result<Statistics> {
        let words = Statistics::words_of(query);
        let counts = self.counts(&words)?;
        let of = |word: u64| {
            let at = words.iter().position(|w| *w == word);
            at.map_or_else(WordCount::default, |at| counts[at])
        };
        Ok(Statistics::stored(query, self.whole.size, of))
    }

    /// Parses a question to these repositories, and to corpora that are here. It asks for all counts
    /// at once.
    ///
    /// # Errors
    /// When the depot fails, or the index of a corpus cannot be read.
    pub fn query(
        all: &[&Self],
        here: &[&Corpus],
        text: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Result<Query> {
        let words = words_of(text);
        all.par_iter().try_for_each(|shared| shared.counts(&words).map(drop))?;
        let here = here.iter().map(|corpus| Words::Here(corpus));
        let words: Vec<Words<Self>> =
            here.chain(all.iter().map(|shared| Words::There(*shared))).collect();
        Words::query(&words, text, is_word)
    }

    /// Returns a corpus of the files that the depot proposes for a query. `statistics`: those of the
    /// query, of this repository or of all that are asked together; `vector` is the query's.
    ///
    /// # Errors
    /// When the depot fails, or holds something else than was published.
    pub fn extract(
        &self,
        query: &Query,
        vector: &[f32],
        filter: &Filter,
        statistics: &Statistics,
    ) -> Result<Corpus> {
        let Proposal { words, keys, only } = Proposal::of(query, filter, statistics);
        let limit = if filter.is_empty() { PROPOSED } else { 4 * PROPOSED };
        let wanted = Wanted { words, vector: vector.to_vec(), keys, only, limit };
        let found = self.depot.propose(self.at, &wanted)?;
        self.corpus(&found)
    }

    /// Returns what tells whether a question is about this repository.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn sketch(&self) -> Result<Arc<Sketch>> {
        let name = (self.at.repository, SKETCH, 0, self.at.generation);
        if let Some(Kept::Sketch(sketch)) = self.cache.get(&name) {
            return Ok(sketch);
        }
        let fact = self.depot.facts(self.at, SKETCH, &[0])?.pop();
        let bytes = fact.and_then(|fact| decompressed(&fact.data));
        let sketch = bytes.and_then(|bytes| Sketch::read(&bytes));
        let sketch = Arc::new(sketch.ok_or_else(|| self.damaged("the sketch"))?);
        self.cache.put(name, &Kept::Sketch(sketch.clone()));
        Ok(sketch)
    }

    /// Reads the chunks of a file; `None` if there is no such file.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn file(&self, path: &str) -> Result<Option<Vec<Arc<Chunk>>>> {
        let Some(fact) = self.depot.facts(self.at, FILE, &[key(path)])?.pop() else {
            return Ok(None);
        };
        let pack = unpack::<Pack>(&fact.data).filter(|pack| pack.path == path);
        let chunks = pack.and_then(|pack| pack.chunks()).ok_or_else(|| self.damaged("a file"))?;
        let chunks = chunks.into_iter().map(|(chunk, _)| chunk);
        Ok(Some(chunks.filter(|chunk| chunk.chunk_type.is_searched()).collect()))
    }

    /// Returns a corpus of the files with the chunks that hold the most of some words, at most `limit`
    /// chunks.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn holding(&self, text: &str, limit: usize) -> Result<Corpus> {
        let wanted = Wanted { words: vec![Proposal::words_of(text)], limit, ..Wanted::default() };
        self.corpus(&self.depot.propose(self.at, &wanted)?)
    }

    /// Returns a corpus of some files.
    fn corpus(&self, found: &[Found]) -> Result<Corpus> {
        let name = |found: &Found| (self.at.repository, FILE, found.file, found.born);
        let mut kept: Vec<Option<Kept>> =
            found.iter().map(|found| self.cache.get(&name(found))).collect();
        let missing: Vec<i64> = found
            .iter()
            .zip(&kept)
            .filter(|(_, kept)| kept.is_none())
            .map(|(f, _)| f.file)
            .collect();
        let keys: Vec<i64> = found.iter().map(|found| found.file).collect();
        let (files, uses) = rayon::join(
            || {
                if missing.is_empty() {
                    Ok(Vec::new())
                } else {
                    self.depot.facts(self.at, FILE, &missing)
                }
            },
            || self.depot.facts(self.at, USES, &keys),
        );
        let read = |fact: &cortex_depot::Fact| {
            let pack = unpack::<Pack>(&fact.data);
            let chunks =
                pack.as_ref().and_then(Pack::chunks).ok_or_else(|| self.damaged("a file"))?;
            let path = pack.map(|pack| pack.path).unwrap_or_default();
            Ok((
                fact.key,
                match &chunks[..] {
                    [(commit, _)] if !commit.chunk_type.is_searched() => {
                        Kept::Commit(Arc::new(Entry::from(commit.clone())))
                    }
                    _ => Kept::File(Arc::new(PreparedFile::new(&path, chunks))),
                },
            ))
        };
        let read: Vec<(i64, Kept)> = files?.par_iter().map(read).collect::<Result<_>>()?;
        for (key, file) in read {
            if let Some(at) = found.iter().position(|found| found.file == key) {
                self.cache.put(name(&found[at]), &file);
                kept[at] = Some(file);
            }
        }
        let mut all_uses: Vec<(i64, Uses)> = Vec::new();
        for fact in uses? {
            all_uses.push((fact.key, unpack(&fact.data).ok_or_else(|| self.damaged("a file"))?));
        }
        all_uses.sort_by_key(|(key, _)| *key);
        let none = Uses::default();
        let uses_of = |key: i64| {
            let at = all_uses.binary_search_by_key(&key, |(key, _)| *key);
            at.map_or(&none, |at| &all_uses[at].1)
        };
        let mut files: Vec<(i64, Arc<PreparedFile>)> = Vec::new();
        let mut commits: Vec<Arc<Entry>> = Vec::new();
        for (found, kept) in found.iter().zip(kept) {
            match kept {
                Some(Kept::File(file)) => files.push((found.file, file)),
                Some(Kept::Commit(commit)) => commits.push(commit),
                _ => return Err(self.damaged("a file")),
            }
        }
        files.sort_by(|(_, a), (_, b)| a.path().cmp(b.path()));
        // As in the chunk files: the newest first.
        let newest_first = |entry: &Arc<Entry>| {
            let when = entry.chunk().map(|chunk| chunk.created_at);
            (std::cmp::Reverse(when), entry.id.clone())
        };
        commits.sort_by_cached_key(newest_first);
        let part = |(key, file): &(i64, Arc<PreparedFile>)| (*key, file.clone(), uses_of(*key));
        let parts: Vec<_> = files.iter().map(part).collect();
        let parts: Vec<Part> = parts
            .iter()
            .map(|(key, file, uses)| Part {
                file,
                key: *key,
                uses: &uses.files,
                has_header: uses.has_header,
            })
            .collect();
        Ok(Corpus::of_parts(&self.whole, &parts, commits)?)
    }
}

impl WordSource for Shared<'_> {
    type Error = TeamError;

    fn counts(&self, words: &[u64]) -> Result<Vec<WordCount>> {
        let name = |key| (self.at.repository, COUNTS, key, 0);
        let key = |word: u64, segment: &super::stored::Segment| {
            segment.key(CountBlock::number(word, segment.bits))
        };
        let all = || words.iter().flat_map(|w| self.manifest.counts.iter().map(|s| key(*w, s)));
        let mut missing: Vec<i64> =
            all().filter(|key| self.cache.get(&name(*key)).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut blocks: Vec<(i64, Arc<CountBlock>)> = Vec::new();
        if !missing.is_empty() {
            for fact in self.depot.facts(self.at, COUNTS, &missing)? {
                let block = decompressed(&fact.data).and_then(|bytes| CountBlock::read(&bytes));
                let block = Arc::new(block.ok_or_else(|| self.damaged("the counts of words"))?);
                self.cache.put(name(fact.key), &Kept::Counts(block.clone()));
                blocks.push((fact.key, block));
            }
        }
        blocks.sort_by_key(|(key, _)| *key);
        let block = |key: i64| match blocks.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => Ok(blocks[at].1.clone()),
            Err(_) => match self.cache.get(&name(key)) {
                Some(Kept::Counts(block)) => Ok(block),
                _ => Err(self.damaged("the counts of words")),
            },
        };
        let count = |word: &u64| {
            let mut sum = WordCount::default();
            for segment in &self.manifest.counts {
                sum.add(block(key(*word, segment))?.count(*word), 1);
            }
            Ok(sum)
        };
        words.iter().map(count).collect()
    }

    fn names(&self) -> Result<Vec<Arc<NameBlock>>> {
        let keys: Vec<i64> = (0..).take(NAME_BLOCKS).collect();
        let name = |key| (self.at.repository, NAMES, key, self.at.generation);
        let kept = keys.iter().map(|key| match self.cache.get(&name(*key)) {
            Some(Kept::Names(block)) => Some(block),
            _ => None,
        });
        if let Some(all) = kept.collect::<Option<Vec<_>>>() {
            return Ok(all);
        }
        let read = |fact: &cortex_depot::Fact| {
            let block = decompressed(&fact.data).and_then(|bytes| NameBlock::read(&bytes));
            let block = Arc::new(block.ok_or_else(|| self.damaged("the names"))?);
            self.cache.put(name(fact.key), &Kept::Names(block.clone()));
            Ok(block)
        };
        self.depot.facts(self.at, NAMES, &keys)?.iter().map(read).collect()
    }
}
