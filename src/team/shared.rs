//! A published repository, as questions see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cortex_depot::{At, Depot, Fact, Found, Wanted};
use lru::LruCache;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::stored::{
    COUNTS, FILE, NAME_BLOCKS, NAMES, Pack, RepositoryManifest, SKETCH, Segment, USES, Uses,
    commit, decompressed, key, unpack,
};
use super::{Result, TeamError};
use crate::chunk::{Chunk, Entry};
use crate::search::{
    Corpus, CorpusPart, CountBlock, Filter, NameBlock, PreparedFile, Preparer, Proposal, Query,
    Sketch, Statistics, Whole, WordCount, WordSource, Words, words_of,
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
}

/// One generation of a repository.
pub struct Shared<'a> {
    depot: &'a dyn Depot,
    cache: &'a Cache,
    name: String,
    at: At,
    manifest: RepositoryManifest,
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
    /// When nothing is published yet, another version of this program wrote the record, or it is damaged.
    pub fn of_record(
        depot: &'a dyn Depot,
        cache: &'a Cache,
        name: &str,
        text: &str,
    ) -> Result<Self> {
        let damaged = || TeamError::Damaged("the record", name.into());
        let manifest = RepositoryManifest::read(name, text)?;
        if manifest.generation == 0 {
            return Err(TeamError::Unknown(name.into()));
        }
        let whole = manifest.whole().ok_or_else(damaged)?;
        let at = manifest.at(name);
        Ok(Self { depot, cache, name: name.into(), at, manifest, whole })
    }

    /// The name under which it was published.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its record says.
    #[must_use]
    pub fn manifest(&self) -> &RepositoryManifest {
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

    /// Reads facts of one kind that stay the same in a generation, and keeps them. `read` makes what is
    /// kept of the content of one; `what` names it for people.
    fn kept(
        &self,
        kind: u8,
        keys: &[i64],
        generation: u64,
        what: &'static str,
        read: impl Fn(&[u8]) -> Option<Kept>,
    ) -> Result<BTreeMap<i64, Kept>> {
        let name = |key| (self.at.repository, kind, key, generation);
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        for key in keys {
            match self.cache.get(&name(*key)) {
                Some(kept) => drop(found.insert(*key, kept)),
                None => missing.push(*key),
            }
        }
        if !missing.is_empty() {
            for fact in self.depot.facts(self.at, kind, &missing)? {
                let kept = decompressed(&fact.data).and_then(|bytes| read(&bytes));
                let kept = kept.ok_or_else(|| self.damaged(what))?;
                self.cache.put(name(fact.key), &kept);
                found.insert(fact.key, kept);
            }
        }
        Ok(found)
    }

    /// Returns what tells whether a question is about this repository.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn sketch(&self) -> Result<Arc<Sketch>> {
        let what = "the sketch";
        let read = |bytes: &[u8]| Some(Kept::Sketch(Arc::new(Sketch::read(bytes)?)));
        match self.kept(SKETCH, &[0], self.at.generation, what, read)?.remove(&0) {
            Some(Kept::Sketch(sketch)) => Ok(sketch),
            _ => Err(self.damaged(what)),
        }
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
        let read = |preparer: &mut Preparer, fact: Fact| {
            let pack = unpack::<Pack>(&fact.data);
            let chunks =
                pack.as_ref().and_then(Pack::chunks).ok_or_else(|| self.damaged("a file"))?;
            let path = pack.map(|pack| pack.path).unwrap_or_default();
            let kept = match commit(&chunks) {
                Some(commit) => Kept::Commit(Arc::new(Entry::from(commit.clone()))),
                None => Kept::File(Arc::new(preparer.file(&path, chunks))),
            };
            Ok((fact.key, kept))
        };
        let read = files?.into_par_iter().map_init(Preparer::default, read);
        let read: Vec<(i64, Kept)> = read.collect::<Result<_>>()?;
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
        let parts: Vec<CorpusPart> = parts
            .iter()
            .map(|(key, file, uses)| CorpusPart {
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
        let what = "the counts of words";
        let key =
            |word: u64, segment: &Segment| segment.key(CountBlock::number(word, segment.bits));
        let segments = &self.manifest.counts;
        let keys: BTreeSet<i64> =
            words.iter().flat_map(|word| segments.iter().map(|s| key(*word, s))).collect();
        let keys: Vec<i64> = keys.into_iter().collect();
        let read = |bytes: &[u8]| Some(Kept::Counts(Arc::new(CountBlock::read(bytes)?)));
        // The number of a segment is of one generation, whichever reads it.
        let blocks = self.kept(COUNTS, &keys, 0, what, read)?;
        let count = |word: &u64| {
            let mut sum = WordCount::default();
            for segment in segments {
                match blocks.get(&key(*word, segment)) {
                    Some(Kept::Counts(block)) => sum.add(block.count(*word), 1),
                    _ => return Err(self.damaged(what)),
                }
            }
            Ok(sum)
        };
        words.iter().map(count).collect()
    }

    fn names(&self) -> Result<Vec<Arc<NameBlock>>> {
        let keys: Vec<i64> = (0..).take(NAME_BLOCKS).collect();
        let read = |bytes: &[u8]| Some(Kept::Names(Arc::new(NameBlock::read(bytes)?)));
        let blocks = self.kept(NAMES, &keys, self.at.generation, "the names", read)?;
        let block = |kept| match kept {
            Kept::Names(block) => Some(block),
            _ => None,
        };
        Ok(blocks.into_values().filter_map(block).collect())
    }
}
