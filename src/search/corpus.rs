//! A corpus: the text index, vectors and files of a set of chunks, built once and updated by
//! deltas.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::Slot;
use super::files::{FileContribution, FileGroup, IndexedFile, LineRange, key, live};
use super::history::{ChangedTogether, History};
use super::names::Name;
use super::query::Query;
use super::references::{AllMentions, AllReferences, Mentions, References, mentions};
use super::text::{ExactError, Field, TextError, TextIndex, TextReader};
use super::tokens::{Analyzer, STEM_MARK};
use super::vector::{Hnsw, VectorTable};
use crate::chunk::{Chunk, ChunkDelta, ChunkId, ChunkSet, ChunkType, Entry, Quantized};
use crate::languages::{ExampleCount, Examples};

/// Provides the vectors of chunks.
pub trait VectorSource {
    /// Returns one vector for each chunk, of the corpus's dimensions; `None` for a chunk without
    /// one.
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>>;
}

/// An entry and its chunk.
pub type Read = (Arc<Entry>, Arc<Chunk>);

/// Why a search or an update failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Exact(#[from] ExactError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("the chunk {0} was overwritten while it was read")]
    Unreadable(ChunkId),
    #[error("what was kept of the last start cannot be read: {0}")]
    Saved(#[from] std::io::Error),
    #[error(
        "the saved index is damaged and is being rebuilt from the chunks, so ask again in a moment: {0}"
    )]
    Damaged(String),
}

/// The data that searches over one feed need. Immutable and cheap to share; a
/// [`Searcher`](super::Searcher) answers from it.
#[derive(Clone)]
pub struct Corpus {
    pub(super) set: Arc<ChunkSet>,
    pub(super) rows: Vec<Option<Arc<Entry>>>,
    pub(super) file_of: Vec<u32>,
    pub(super) files: Vec<Arc<IndexedFile>>,
    /// Mean size of a file's text, in bytes; at least 1.
    pub(super) average_file_bytes: f64,
    /// Depth of the file with the fewest folders above it.
    pub(super) min_depth: usize,
    /// Which files are examples.
    pub(super) examples: Examples,
    pub(super) text: TextReader,
    pub(super) vectors: VectorTable,
    references: Arc<OnceLock<References>>,
    /// By file. Empty in a corpus that was restored with all of its references.
    mentions: Vec<Mentions>,
    names: Arc<OnceLock<Vec<Name>>>,
    pub(super) history: Arc<History>,
}

impl Corpus {
    /// Returns how the files refer to each other; computed at the first call.
    pub(super) fn references(&self) -> &References {
        self.references.get_or_init(|| References::new(&self.files))
    }

    /// Returns the files that commits changed together with one of `changed`, likeliest first.
    #[must_use]
    pub fn changed_together(&self, changed: &[&str]) -> Vec<ChangedTogether> {
        self.history.together(changed)
    }

    /// Returns the number of commits that changed a file.
    #[must_use]
    pub fn n_changes(&self, path: &str) -> usize {
        self.history.n_changes(path)
    }

    /// Returns the commits whose messages answer a query best, each with its share of the query, 0–1.
    #[must_use]
    pub fn commits_about(&self, query: &Query, limit: usize) -> Vec<(f64, &Arc<Entry>)> {
        let commits = self.chunks().commits();
        let scores = self.history.scores(query, commits, None);
        let mut found: Vec<_> = scores.into_iter().zip(commits).filter(|(s, _)| *s > 0.0).collect();
        // Commits are newest first, and of equal ones the newer comes first.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(limit);
        found
    }

    /// Returns the other files whose definitions a file mentions, in order.
    pub(super) fn used_by(&self, at: u32) -> &[u32] {
        self.references().used_by(at, &self.mentions)
    }

    pub(super) fn all_references(&self) -> AllReferences {
        self.references().all(&self.mentions)
    }

    /// Returns every name, part of a name and word of a title, read on first use. Some may belong
    /// to deleted chunks.
    pub(super) fn names(&self) -> Result<&[Name], TextError> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let mut names = Vec::new();
        self.text.terms(Field::Name, |name, _| {
            if !name.starts_with(STEM_MARK) {
                names.push(Name::new(name));
            }
        })?;
        Ok(self.names.get_or_init(|| names))
    }

    /// Iterates over its files with their groups, in no particular order. Some may have no chunks
    /// any more.
    pub fn file_groups(&self) -> impl Iterator<Item = (&str, FileGroup)> {
        let examples = self.examples;
        self.files.iter().map(move |file| (&*file.path, file.group(examples)))
    }

    /// Returns the paths of the files that define a symbol of this name, without the names around
    /// it, in the order of their groups and paths.
    #[must_use]
    pub fn files_defining(&self, name: &str) -> Vec<&str> {
        let name = key(name);
        let defining = self.files.iter().filter(|f| f.definitions.iter().any(|d| d.name == name));
        let mut found: Vec<(FileGroup, &str)> =
            defining.map(|file| (file.group(self.examples), &*file.path)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// The chunks of this corpus.
    #[must_use]
    pub fn chunks(&self) -> &Arc<ChunkSet> {
        &self.set
    }

    /// The vectors of its chunks.
    #[must_use]
    pub fn vectors(&self) -> &VectorTable {
        &self.vectors
    }

    /// Returns why the saved index could not be read. The corpus no longer answers then and must be
    /// rebuilt.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.text.health().damage()
    }

    /// Calls `tell` when a search finds the saved index damaged.
    pub fn on_damage(&self, tell: impl Fn() + Send + Sync + 'static) {
        self.text.health().on_damage(Box::new(tell));
    }

    pub(super) fn entry(&self, slot: Slot) -> Option<&Arc<Entry>> {
        self.rows.get(slot as usize)?.as_ref()
    }

    pub(super) fn chunk(&self, slot: Slot) -> Option<Arc<Chunk>> {
        self.entry(slot)?.chunk()
    }

    /// Returns the entries of a file that have some of these lines.
    pub(super) fn of_lines<'c>(
        &'c self,
        file: &'c IndexedFile,
        of: LineRange,
    ) -> impl Iterator<Item = &'c Arc<Entry>> {
        let has = move |lines: LineRange| lines.0 <= of.1 && of.0 <= lines.1;
        let parts = file.parts.iter().filter(|part| part.chunk_type != ChunkType::Symbols);
        let of_lines = parts.filter(move |part| part.lines.is_some_and(has));
        of_lines.filter_map(|part| self.entry(part.slot))
    }
}

/// The changing state behind a corpus. Its one owner applies updates; it is never shared.
pub struct CorpusBuilder {
    pub(super) text: TextIndex,
    /// Built at the first change.
    pub(super) places: Option<Places>,
    pub(super) rows: Vec<Option<Arc<Entry>>>,
    pub(super) vectors: VectorTable,
    pub(super) files: Vec<Arc<IndexedFile>>,
    pub(super) mentions: AllMentions,
    pub(super) file_of: Vec<u32>,
    pub(super) history: Arc<History>,
}

/// Returns the key of the file that a chunk belongs to; a chunk without a file is its own.
fn home(entry: &Entry) -> Arc<str> {
    entry.file_path.clone().unwrap_or_else(|| entry.id.clone())
}

impl CorpusBuilder {
    /// Creates an empty corpus for vectors of this length.
    ///
    /// # Errors
    /// When the text index cannot be created.
    pub fn new(dimensions: usize) -> Result<Self, SearchError> {
        Ok(Self {
            text: TextIndex::in_memory()?,
            places: None,
            rows: Vec::new(),
            vectors: VectorTable::new(dimensions),
            files: Vec::new(),
            mentions: AllMentions::Here(Vec::new()),
            file_of: Vec::new(),
            history: Arc::default(),
        })
    }

    /// Returns the corpus of the current state.
    pub(super) fn corpus(
        &self,
        set: Arc<ChunkSet>,
        text: TextReader,
        references: OnceLock<References>,
    ) -> Corpus {
        let live = || live(&self.files);
        let (n, bytes) = live().fold((0usize, 0usize), |(n, bytes), f| (n + 1, bytes + f.n_bytes));
        let mut examples = ExampleCount::default();
        for file in live().filter(|file| !file.is_test && !file.is_foreign) {
            if let Some(family) = file.code_family {
                examples.add(family, file.in_examples);
            }
        }
        Corpus {
            set,
            rows: self.rows.clone(),
            file_of: self.file_of.clone(),
            average_file_bytes: (bytes as f64 / n.max(1) as f64).max(1.0),
            min_depth: live().map(|f| f.depth).min().unwrap_or(0),
            examples: examples.judged(),
            files: self.files.clone(),
            mentions: self.mentions.known().to_vec(),
            text,
            vectors: self.vectors.clone(),
            references: Arc::new(references),
            names: Arc::default(),
            history: self.history.clone(),
        }
    }

    /// Applies a delta and returns the corpus of `set`. After an error the builder must be dropped,
    /// because its state is neither the old nor the new one. (Corpora that it returned before are
    /// unaffected.)
    ///
    /// # Errors
    /// When the text index fails, or a chunk cannot be read.
    pub fn update(
        &mut self,
        set: Arc<ChunkSet>,
        delta: &ChunkDelta,
        vectors: &mut dyn VectorSource,
    ) -> Result<Corpus, SearchError> {
        let mut places = self.places.take().unwrap_or_else(|| Places::new(&self.rows, &self.files));
        let plan = places.plan(delta, self.rows.len());
        if !plan.stale.is_empty() || !plan.indexed.is_empty() {
            self.text.begin(plan.indexed.len())?;
        }
        self.text.remove(&plan.stale)?;
        let indexed: FxHashSet<Slot> = plan.indexed.iter().map(|(slot, _)| *slot).collect();
        let homes = self.place(&mut places, delta, &plan, &indexed);
        self.index(&mut places, &set, homes, &indexed, vectors)?;
        let text = TextReader::Indexed(self.text.commit()?);
        self.places = Some(places);
        if delta.commits {
            self.history = Arc::new(History::new(set.commits()));
        }
        Ok(self.corpus(set, text, OnceLock::new()))
    }

    /// Answers from an HNSW graph of former vectors from now on: in `corpus`, which the last update
    /// returned, and in later ones.
    pub fn attach(&mut self, hnsw: Arc<Hnsw>, corpus: &mut Corpus) {
        self.vectors.attach(hnsw);
        corpus.vectors = self.vectors.clone();
    }

    /// Drops all vectors, also in `corpus`, which the last update returned.
    pub fn forget_vectors(&mut self, corpus: &mut Corpus) {
        self.vectors = VectorTable::new(self.vectors.dimensions());
        corpus.vectors = self.vectors.clone();
    }

    /// Writes entries to their slots. Returns the files of all that changed, old and new.
    fn place(
        &mut self,
        places: &mut Places,
        delta: &ChunkDelta,
        plan: &Placement,
        indexed: &FxHashSet<Slot>,
    ) -> BTreeSet<Arc<str>> {
        let mut homes = BTreeSet::new();
        let needed = plan.indexed.iter().map(|(s, _)| *s as usize + 1).max().unwrap_or(0);
        if needed > self.rows.len() {
            self.rows.resize(needed, None);
            self.file_of.resize(needed, 0);
        }
        places.free.retain(|s| !indexed.contains(s));
        for id in &delta.deleted {
            if let Some(slot) = places.slots.remove(id) {
                homes.extend(self.rows[slot as usize].take().map(|e| home(&e)));
                self.vectors.clear(slot);
                places.free.push(slot);
            }
        }
        for entry in &delta.found_anew {
            if let Some(slot) = places.slots.get(&entry.id) {
                self.rows[*slot as usize] = Some(entry.clone());
            }
        }
        for (slot, entry) in plan.indexed.iter().chain(&plan.moved) {
            homes.extend(self.rows[*slot as usize].replace(entry.clone()).map(|e| home(&e)));
            homes.insert(home(entry));
            places.slots.insert(entry.id.clone(), *slot);
        }
        homes
    }

    /// Builds the files again of which chunks changed, and adds those chunks to the text index and the
    /// vectors. It reads some thousand chunks at once, all of a file together.
    fn index(
        &mut self,
        places: &mut Places,
        set: &ChunkSet,
        homes: BTreeSet<Arc<str>>,
        indexed: &FxHashSet<Slot>,
        vectors: &mut dyn VectorSource,
    ) -> Result<(), SearchError> {
        // The new corpus needs the mentions of all files, even if none of them changes.
        self.mentions.load(self.files.len())?;
        let mut homes = homes.into_iter().peekable();
        while homes.peek().is_some() {
            let (mut files, mut parts) = (Vec::new(), Vec::new());
            while let Some(path) = homes.next_if(|_| parts.len() < BATCH) {
                let first = parts.len();
                parts.extend(places.parts_of(&path, set));
                files.push((path, first..parts.len()));
            }
            // Chunks that did not change are read again, because only the sum of a file is kept.
            let read = |analyzer: &mut Analyzer, (slot, entry): &(Slot, &Arc<Entry>)| {
                let chunk = read(entry)?;
                let piece = FileContribution::new(*slot, &chunk, analyzer);
                Ok((piece, indexed.contains(slot).then(|| (*slot, (Arc::clone(entry), chunk)))))
            };
            let read = parts
                .par_iter()
                .with_min_len(16)
                .map_init(Analyzer::default, read)
                .collect::<Result<Vec<_>, SearchError>>()?;
            let (pieces, new): (Vec<_>, Vec<_>) = read.into_iter().unzip();
            let (slots, chunks): (Vec<Slot>, Vec<Read>) = new.into_iter().flatten().unzip();
            for (slot, (_, chunk)) in slots.iter().zip(&chunks) {
                self.text.add(*slot, chunk)?;
            }
            for (slot, vector) in slots.iter().zip(vectors.vectors(&chunks)) {
                self.vectors.set(*slot, vector.as_ref());
            }
            let mut pieces = pieces.into_iter();
            let files: Vec<(Arc<str>, Range<usize>, Vec<FileContribution>)> = files
                .into_iter()
                .map(|(path, range)| {
                    let pieces = pieces.by_ref().take(range.len()).collect();
                    (path, range, pieces)
                })
                .collect();
            let build = |analyzer: &mut Analyzer, (path, range, pieces): (_, _, Vec<_>)| {
                (range, mentions(&pieces), IndexedFile::new(path, pieces, analyzer))
            };
            let files: Vec<(Range<usize>, Mentions, IndexedFile)> =
                files.into_par_iter().with_min_len(16).map_init(Analyzer::default, build).collect();
            let all_mentions = self.mentions.load(self.files.len())?;
            for (range, mentions, file) in files {
                let next = u32::try_from(self.files.len()).expect("fewer than 2^32 files");
                // A deleted file keeps its position, empty, for its return.
                let at = *places.file_at.entry(file.path.clone()).or_insert(next);
                for (slot, _) in &parts[range] {
                    self.file_of[*slot as usize] = at;
                }
                if at == next {
                    self.files.push(Arc::new(file));
                    all_mentions.push(mentions);
                } else {
                    self.files[at as usize] = Arc::new(file);
                    all_mentions[at as usize] = mentions;
                }
            }
        }
        Ok(())
    }
}

/// The positions of chunks and files.
pub(super) struct Places {
    /// Slots of live chunks.
    slots: HashMap<ChunkId, Slot>,
    free: Vec<Slot>,
    /// Positions of files, by path.
    file_at: HashMap<Arc<str>, u32>,
}

impl Places {
    fn new(rows: &[Option<Arc<Entry>>], files: &[Arc<IndexedFile>]) -> Self {
        let (mut slots, mut free) = (HashMap::with_capacity(rows.len()), Vec::new());
        for (slot, row) in (0..).zip(rows) {
            match row {
                Some(entry) => drop(slots.insert(entry.id.clone(), slot)),
                None => free.push(slot),
            }
        }
        Self { slots, free, file_at: files.iter().map(|f| f.path.clone()).zip(0..).collect() }
    }

    /// Returns the chunks of a file, in the order of their ids: that in which a writer lists them must
    /// not affect the result.
    fn parts_of<'s>(&self, path: &str, set: &'s ChunkSet) -> Vec<(Slot, &'s Arc<Entry>)> {
        let own = set.by_id(path).filter(|e| e.file_path.is_none());
        let mut parts: Vec<(Slot, &Arc<Entry>)> = set
            .by_file(path)
            .chain(own)
            .filter_map(|e| Some((*self.slots.get(&e.id)?, e)))
            .collect();
        parts.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
        parts
    }

    /// Assigns a slot to every changed chunk.
    fn plan(&self, delta: &ChunkDelta, n_rows: usize) -> Placement {
        let mut plan = Placement::default();
        let freed: Vec<Slot> =
            delta.deleted.iter().filter_map(|id| self.slots.get(id).copied()).collect();
        plan.stale.extend(&freed);
        let fresh = n_rows..;
        let mut free =
            self.free.iter().copied().chain(fresh.filter_map(|i| Slot::try_from(i).ok()));
        for entry in &delta.added {
            // The iterator ends only at 2^32 chunks, which do not fit in memory.
            let slot = free.next().expect("a free slot");
            plan.indexed.push((slot, entry.clone()));
        }
        for change in &delta.updated {
            let Some(&slot) = self.slots.get(&change.new.id) else { continue };
            if change.metadata_only {
                plan.moved.push((slot, change.new.clone()));
            } else {
                plan.stale.push(slot);
                plan.indexed.push((slot, change.new.clone()));
            }
        }
        plan
    }
}

/// Number of chunks in memory at once during indexing, as far as whole files allow.
const BATCH: usize = 4096;

fn read(entry: &Entry) -> Result<Arc<Chunk>, SearchError> {
    entry.chunk().ok_or_else(|| SearchError::Unreadable(entry.id.clone()))
}

#[derive(Default)]
struct Placement {
    /// Slots whose documents leave the text index.
    stale: Vec<Slot>,
    /// Chunks that enter the text index and the vectors.
    indexed: Vec<(Slot, Arc<Entry>)>,
    /// Chunks whose entries are replaced without indexing them again.
    moved: Vec<(Slot, Arc<Entry>)>,
}
