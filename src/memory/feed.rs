//! Provides the memories in the database as a [`Feed`].
//! An entry refers to a row of the database; its text is read when needed. Change numbers show what
//! is new, so a process that starts from a saved index reads only the new memories.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bitcode::{Decode, Encode};
use parking_lot::RwLock;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::chunk::chunk_of;
use super::{
    Memory, MemoryCaptureService, MemoryHome, MemorySource, MemoryStore, Operation, Period, Select,
    StorageError,
};
use crate::chunk::{
    Cancel, ChunkId, ChunkSet, ChunkType, CorpusCache, Entry, Feed, FeedError, Fingerprint,
    LineStore, Loaded, Quantized, SaveWriter, SavedFiles, StoredVectors,
};
use crate::search::Condition;

/// More vectors than this are read in one query instead of one by one.
const FEW: usize = 64;
/// Search returns one result for each file. Entries of memories name no file, so each memory is a
/// separate result, even if several are pieces of one file. Their chunk names the file.
const NO_FILE: Option<Arc<str>> = None;
/// How long loading waits for another process's write.
const BUSY: Duration = Duration::from_secs(5);

/// The properties of a memory that filters test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
struct Fact {
    /// Position in [`MemorySource::names`].
    source: u8,
    /// Position in [`Operation::ALL`] plus one; 0 for none.
    operation: u8,
    /// Fingerprint of its group.
    group: u64,
    /// Time of the memory in milliseconds since 1970.
    at: i64,
}

/// The filter properties of every served memory, by its row number.
#[derive(Debug, Clone, Default)]
pub struct Facts(Arc<RwLock<Arc<Vec<Fact>>>>);

impl Facts {
    /// Returns a predicate for the memories that the filter allows.
    #[must_use]
    pub fn condition(&self, filter: &MemoryFilter) -> Condition {
        let facts = self.0.read().clone();
        let allowed = filter.compiled();
        Condition::new(move |entry| {
            number_of(entry).and_then(|n| facts.get(n)).is_some_and(|fact| allowed.allows(*fact))
        })
    }

    /// Changes the list, or a copy of it while a reader still holds it.
    fn change(&self, change: impl FnOnce(&mut Vec<Fact>)) {
        change(Arc::make_mut(&mut self.0.write()));
    }
}

/// Returns the row number of an entry's memory, which is the start of its range.
fn number_of(entry: &Entry) -> Option<usize> {
    entry.line().map(|(_, at)| at.start as usize)
}

/// Returns the entry of a memory, by its row number.
fn entry(number: u32, id: ChunkId, hash: Fingerprint, lines: &Arc<dyn LineStore>) -> Arc<Entry> {
    let line = (hash, lines.clone(), number..number);
    Arc::new(Entry::of_known_line(id, NO_FILE, ChunkType::Documentation, None, line))
}

fn put(facts: &mut Vec<Fact>, number: u32, fact: Fact) {
    let number = number as usize;
    if facts.len() <= number {
        facts.resize(number + 1, Fact::default());
    }
    facts[number] = fact;
}

/// The memories of a project as a feed.
pub struct MemoryFeed {
    home: MemoryHome,
    embedder: String,
    cache: Box<dyn CorpusCache>,
    /// Set once the database exists.
    store: Option<Opened>,
    position: Position,
    /// By row number.
    entries: BTreeMap<u32, Arc<Entry>>,
    set: Arc<ChunkSet>,
    facts: Facts,
}

struct Opened {
    store: Arc<MemoryStore>,
    inode: u64,
}

/// The identity of the database, and the position up to which it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
struct Position {
    identity: i64,
    change: i64,
    deleted: i64,
}

/// The texts of memories, read from the database. A range starts with the row number of a memory.
#[derive(Debug)]
struct Rows(Arc<MemoryStore>);

impl LineStore for Rows {
    fn read(&self, at: Range<u32>) -> Option<Vec<u8>> {
        let memory = self.0.numbered(at.start).ok()??;
        Some(chunk_of(&memory).to_json().into_bytes())
    }
}

const SAVED: &str = "memories.bin";

#[derive(Encode, Decode)]
struct SavedMemories {
    position: Position,
    rows: Vec<SavedRow>,
}

#[derive(Encode, Decode)]
struct SavedRow {
    number: u32,
    id: ChunkId,
    hash: Fingerprint,
    fact: Fact,
}

impl MemoryFeed {
    /// The feed's name.
    pub const NAME: &str = "memory";

    /// Creates the feed of a project, which may have no memories yet. The saved index is in
    /// `cache`.
    #[must_use]
    pub fn new(home: MemoryHome, embedder: &str, cache: Box<dyn CorpusCache>) -> Self {
        Self {
            home,
            embedder: embedder.into(),
            cache,
            store: None,
            position: Position::default(),
            entries: BTreeMap::new(),
            set: Arc::default(),
            facts: Facts::default(),
        }
    }

    /// Returns the filter properties; they stay up to date as the feed changes.
    #[must_use]
    pub fn facts(&self) -> Facts {
        self.facts.clone()
    }

    /// Returns the database, after opening it again if its file was replaced.
    fn store(&mut self) -> Result<Option<Arc<MemoryStore>>, StorageError> {
        if !self.home.is_in_use() {
            self.store = None;
            return Ok(None);
        }
        // If the file is missing, the memories are lost; opening reports that.
        let inode = self.home.identity().unwrap_or_default();
        if let Some(opened) = self.store.as_ref().filter(|o| o.inode == inode) {
            return Ok(Some(opened.store.clone()));
        }
        let store = match self.home.store(BUSY) {
            // Somebody else's database appeared while this process ran. It is not read, and answers
            // about code are unaffected.
            Err(StorageError::Foreign) => {
                self.store = None;
                return Ok(None);
            }
            store => Arc::new(store?),
        };
        self.store = Some(Opened { store: store.clone(), inode });
        Ok(Some(store))
    }

    fn forget(&mut self) {
        self.entries.clear();
        self.set = Arc::default();
        self.position = Position::default();
        self.facts.change(Vec::clear);
    }

    fn read(&mut self, store: &Arc<MemoryStore>) -> Result<(), StorageError> {
        let (identity, change, deleted) = store.position()?;
        let now = Position { identity, change, deleted };
        if now == self.position {
            return Ok(());
        }
        if now.identity != self.position.identity || now.change < self.position.change {
            self.forget();
        }
        let lines: Arc<dyn LineStore> = Arc::new(Rows(store.clone()));
        let changed = store.changed_since(self.position.change)?;
        let left = if now.deleted == self.position.deleted {
            None
        } else {
            Some(store.numbers()?.into_iter().collect::<FxHashSet<u32>>())
        };
        let entries = &mut self.entries;
        self.facts.change(|facts| {
            for (number, memory) in changed {
                let chunk = chunk_of(&memory);
                let line = chunk.to_json();
                let hash = xxh3_128(line.as_bytes());
                put(facts, number, Fact::of(&memory));
                entries.insert(number, entry(number, chunk.id, hash, &lines));
            }
        });
        if let Some(left) = left {
            entries.retain(|number, _| left.contains(number));
        }
        self.set = Arc::new(ChunkSet::of_unique(self.entries.values().cloned().collect()));
        self.position = now;
        Ok(())
    }
}

impl Fact {
    fn of(memory: &Memory) -> Self {
        let source = MemorySource::names()
            .iter()
            .position(|name| *name == memory.source.name())
            .unwrap_or_default();
        let operation = memory
            .source
            .operation()
            .and_then(|o| Operation::ALL.iter().position(|one| *one == o))
            .map_or(0, |at| at + 1);
        // There are ten sources and five operations.
        #[expect(clippy::cast_possible_truncation, reason = "a few names")]
        let (source, operation) = (source as u8, operation as u8);
        Self {
            source,
            operation,
            group: xxh3_64(memory.group_id.as_bytes()),
            at: memory.created_at.timestamp_millis(),
        }
    }
}

impl Feed for MemoryFeed {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn load(&mut self, _cancel: &Cancel) -> Result<Loaded, FeedError> {
        let error = |e: StorageError| FeedError(Box::new(e));
        match self.store().map_err(error)? {
            Some(store) => {
                let embedder = self.home.embedder.clone();
                let capture = MemoryCaptureService::new(store.clone(), embedder);
                if store.read_only().is_none()
                    && let Err(e) = capture.embed_stored()
                {
                    tracing::debug!("memories of another embedder have no vectors yet: {e}");
                }
                self.read(&store).map_err(error)?;
            }
            None => self.forget(),
        }
        let generation = u64::try_from(self.position.change + self.position.deleted).ok();
        Ok(Loaded { set: self.set.clone(), generation, ..Loaded::default() })
    }

    fn cache(&self) -> Option<&dyn CorpusCache> {
        Some(&*self.cache)
    }

    fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()> {
        let facts = self.facts.0.read().clone();
        let row = |(number, entry): (&u32, &Arc<Entry>)| {
            let (hash, _) = entry.line()?;
            Some(SavedRow {
                number: *number,
                id: entry.id.clone(),
                hash,
                fact: *facts.get(*number as usize)?,
            })
        };
        let rows = self
            .entries
            .iter()
            .map(row)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| io::Error::other("an entry has no row (this is a bug of cortex)"))?;
        saving.put(SAVED, &bitcode::encode(&SavedMemories { position: self.position, rows }))
    }

    fn restore(&mut self, saved: &dyn SavedFiles) -> Option<Arc<ChunkSet>> {
        let store = self.store().ok()??;
        let SavedMemories { position, rows } = bitcode::decode(&saved.read(SAVED).ok()?).ok()?;
        if store.position().ok()?.0 != position.identity {
            return None;
        }
        let lines: Arc<dyn LineStore> = Arc::new(Rows(store));
        let entries = &mut self.entries;
        entries.clear();
        self.facts.change(|facts| {
            for SavedRow { number, id, hash, fact } in rows {
                put(facts, number, fact);
                entries.insert(number, entry(number, id, hash, &lines));
            }
        });
        self.position = position;
        self.set = Arc::new(ChunkSet::of_unique(self.entries.values().cloned().collect()));
        Some(self.set.clone())
    }

    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors> {
        let found = self.store.as_ref().map(|opened| {
            if wanted.len() > FEW {
                return opened.store.vectors(&self.embedder).unwrap_or_default();
            }
            wanted
                .iter()
                .filter_map(|key| Some((*key, opened.store.vector(&self.embedder, *key).ok()??)))
                .collect()
        });
        Box::new(Vectors(found.unwrap_or_default().into_iter().collect()))
    }
}

struct Vectors(FxHashMap<Fingerprint, Quantized>);

impl StoredVectors for Vectors {
    fn contains(&self, passage: Fingerprint) -> bool {
        self.0.contains_key(&passage)
    }

    fn get(&self, passage: Fingerprint) -> Option<Quantized> {
        self.0.get(&passage).cloned()
    }
}

/// The conditions on memories that may be found.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Values of [`MemorySource::name`]; empty: all.
    pub sources: Vec<String>,
    pub exclude_sources: Vec<String>,
    pub exclude_operations: Vec<String>,
    /// Empty: all.
    pub group_ids: Vec<String>,
    /// The period in which the memories were made.
    pub period: Period,
}

impl MemoryFilter {
    /// Returns whether the filter allows every memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.sources, &self.exclude_sources, &self.exclude_operations, &self.group_ids]
            .iter()
            .all(|list| list.is_empty())
            && self.period == Period::default()
    }

    /// Returns whether the filter allows this memory.
    pub(super) fn allows(&self, memory: &Memory) -> bool {
        self.compiled().allows(Fact::of(memory))
    }

    /// Compiles the filter for tests on many memories.
    fn compiled(&self) -> Allowed {
        let listed = |list: &[String], name: &str| list.iter().any(|one| one == name);
        let source = |name: &&str| {
            (self.sources.is_empty() || listed(&self.sources, name))
                && !listed(&self.exclude_sources, name)
        };
        let operations = std::iter::once(true)
            .chain(Operation::ALL.iter().map(|o| !listed(&self.exclude_operations, o.as_str())));
        Allowed {
            sources: MemorySource::names().iter().map(source).collect(),
            operations: operations.collect(),
            groups: self.group_ids.iter().map(|id| xxh3_64(id.as_bytes())).collect(),
            since: self.period.since.map_or(i64::MIN, |at| at.timestamp_millis()),
            until: self.period.until.map_or(i64::MAX, |at| at.timestamp_millis()),
        }
    }

    /// Returns the names in the filter that belong to no source or operation.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let sources = MemorySource::names();
        let unknown_sources = self
            .sources
            .iter()
            .chain(&self.exclude_sources)
            .filter(|s| !sources.contains(&s.as_str()));
        let unknown_operations =
            self.exclude_operations.iter().filter(|o| Operation::parse(o).is_none());
        unknown_sources.chain(unknown_operations).map(String::as_str).collect()
    }
}

impl From<&MemoryFilter> for Select {
    /// Selects the memories in the database that the filter allows.
    fn from(filter: &MemoryFilter) -> Self {
        let MemoryFilter { sources, exclude_sources, exclude_operations, group_ids, period } =
            filter.clone();
        Self {
            sources,
            exclude_sources,
            exclude_operations,
            group_ids,
            since: period.since,
            until: period.until,
            ..Self::default()
        }
    }
}

/// A compiled filter.
#[derive(Debug, Clone)]
struct Allowed {
    /// By position, as in [`Fact`].
    sources: Vec<bool>,
    operations: Vec<bool>,
    /// Fingerprints; empty: all.
    groups: Vec<u64>,
    /// Milliseconds since 1970; `until` is exclusive.
    since: i64,
    until: i64,
}

impl Allowed {
    /// Returns whether the filter allows this memory.
    fn allows(&self, fact: Fact) -> bool {
        let at = |list: &[bool], at: u8| list.get(usize::from(at)).is_some_and(|is| *is);
        at(&self.sources, fact.source)
            && at(&self.operations, fact.operation)
            && (self.since..self.until).contains(&fact.at)
            && (self.groups.is_empty() || self.groups.contains(&fact.group))
    }
}
