//! One corpus: its chunks as text index, vectors and files, built once and updated by deltas.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use super::Slot;
use super::files::{Brief, File, References};
use super::filter::Filter;
use super::query::Query;
use super::rank::{self, Results};
use super::spelling::Names;
use super::text::{ExactError, TextError, TextIndex, TextReader};
use super::tokens::Analyzer;
use super::vector::VectorTable;
use crate::chunk::{Chunk, ChunkDelta, ChunkId, ChunkSet};

/// Gives the vectors of chunks.
pub trait VectorSource {
    /// Writes the components of the chunk's vector to `out` (length: the dimensions) and gives its scale; `None` when it has
    /// no vector.
    fn vector(&self, chunk: &Chunk, out: &mut [i8]) -> Option<f32>;
}

/// Why a search or an update failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Exact(#[from] ExactError),
    #[error(transparent)]
    Text(#[from] TextError),
}

/// An immutable corpus. Cheap to share; a query uses one and nothing else.
pub struct Corpus {
    pub(super) set: Arc<ChunkSet>,
    pub(super) rows: Vec<Option<Arc<Chunk>>>,
    pub(super) file_of: Vec<u32>,
    /// By slot: whether it is the outline of its file.
    pub(super) is_outline: Vec<bool>,
    pub(super) files: Vec<Arc<File>>,
    pub(super) briefs: Vec<Brief>,
    /// Mean size of a file's text, in bytes; at least 1.
    pub(super) average_file_bytes: f64,
    /// Folders above the file that has the fewest.
    pub(super) min_depth: usize,
    pub(super) text: TextReader,
    pub(super) vectors: VectorTable,
    references: OnceLock<References>,
    pub(super) names: OnceLock<Names>,
}

impl Corpus {
    /// How its files refer to each other; found when it is first asked for.
    pub(super) fn references(&self) -> &References {
        self.references.get_or_init(|| References::new(&self.files))
    }

    /// The chunks of this corpus.
    #[must_use]
    pub fn chunks(&self) -> &Arc<ChunkSet> {
        &self.set
    }

    /// Searches by words and meaning. `vector`: the query's, `[f32; dimensions]`; empty or zero: words only.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn search(&self, query: &Query, vector: &[f32], filter: &Filter, limit: usize) -> Result<Results, SearchError> {
        Ok(rank::hybrid(self, query, vector, filter, limit)?)
    }

    /// Searches for exactly what is asked, in query syntax.
    ///
    /// # Errors
    /// When the query is not understood; the message says what would be.
    pub fn search_exact(&self, query: &str, filter: &Filter, limit: usize) -> Result<Results, SearchError> {
        let found = self.text.matching(query)?;
        Ok(rank::exact(self, &Query::words(query), found, filter, limit)?)
    }

    /// Ranks by meaning alone. `vector`: as in [`Corpus::search`].
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn search_by_meaning(&self, vector: &[f32], filter: &Filter, limit: usize) -> Result<Results, SearchError> {
        Ok(rank::by_meaning(self, vector, None, filter, limit)?)
    }

    /// What is nearest in meaning to a chunk, in other files than its own. `None` when the chunk is unknown or has no vector.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn related(&self, id: &str, filter: &Filter, limit: usize) -> Result<Option<Results>, SearchError> {
        let row = self.rows.iter().position(|c| c.as_ref().is_some_and(|c| &*c.id == id));
        let Some((row, vector)) = row.and_then(|row| Some((row, self.vectors.get(row)?))) else { return Ok(None) };
        Ok(Some(rank::by_meaning(self, &vector, Some(self.file_of[row]), filter, limit)?))
    }

    pub(super) fn chunk(&self, slot: Slot) -> Option<&Arc<Chunk>> {
        self.rows.get(slot as usize)?.as_ref()
    }
}

/// What changes: owned by the one who updates, never shared.
pub struct CorpusBuilder {
    text: TextIndex,
    slots: HashMap<ChunkId, Slot>,
    free: Vec<Slot>,
    rows: Vec<Option<Arc<Chunk>>>,
    vectors: VectorTable,
    files: Vec<Arc<File>>,
    briefs: Vec<Brief>,
    file_of: Vec<u32>,
    is_outline: Vec<bool>,
    file_at: HashMap<Arc<str>, u32>,
    analyzer: Analyzer,
}

/// Where the chunk belongs: its file, or itself when it has none.
fn home(chunk: &Chunk) -> Arc<str> {
    chunk.metadata.file_path.as_deref().map_or_else(|| chunk.id.clone(), Arc::from)
}

impl CorpusBuilder {
    /// An empty corpus for vectors of this length.
    ///
    /// # Errors
    /// When the text index cannot be made.
    pub fn new(dimensions: usize) -> Result<Self, SearchError> {
        Ok(Self {
            text: TextIndex::in_memory()?,
            slots: HashMap::new(),
            free: Vec::new(),
            rows: Vec::new(),
            vectors: VectorTable::new(dimensions),
            files: Vec::new(),
            briefs: Vec::new(),
            file_of: Vec::new(),
            is_outline: Vec::new(),
            file_at: HashMap::new(),
            analyzer: Analyzer::default(),
        })
    }

    /// Applies what changed and gives the corpus of `set`. After an error the builder must be given up: what is left in it
    /// is neither the old nor the new state. (Corpora that it gave before are untouched.)
    ///
    /// # Errors
    /// When the text index refuses the update.
    pub fn update(&mut self, set: Arc<ChunkSet>, delta: &ChunkDelta, vectors: &dyn VectorSource) -> Result<Corpus, SearchError> {
        let plan = self.plan(delta);
        let added = plan.indexed.iter().map(|(slot, chunk)| (*slot, &**chunk));
        let text = self.text.update(&plan.stale, added)?;
        // From here on nothing can fail.
        let homes = self.commit(delta, &plan, vectors);
        self.refresh_files(&set, homes);
        let live = || self.files.iter().filter(|f| !f.slots.is_empty());
        let (n, bytes) = live().fold((0usize, 0usize), |(n, bytes), f| (n + 1, bytes + f.n_bytes));
        Ok(Corpus {
            set,
            rows: self.rows.clone(),
            file_of: self.file_of.clone(),
            is_outline: self.is_outline.clone(),
            average_file_bytes: (bytes as f64 / n.max(1) as f64).max(1.0),
            min_depth: live().map(|f| f.depth).min().unwrap_or(0),
            files: self.files.clone(),
            briefs: self.briefs.clone(),
            text,
            vectors: self.vectors.clone(),
            references: OnceLock::new(),
            names: OnceLock::new(),
        })
    }

    /// Where every changed chunk will stand.
    fn plan(&self, delta: &ChunkDelta) -> Placement {
        let mut plan = Placement::default();
        let freed: Vec<Slot> = delta.deleted.iter().filter_map(|id| self.slots.get(id).copied()).collect();
        plan.stale.extend(&freed);
        let fresh = self.rows.len()..;
        let mut free = self.free.iter().copied().chain(fresh.filter_map(|i| Slot::try_from(i).ok()));
        for chunk in &delta.added {
            // Endless but for 2^32 chunks, which do not fit in memory.
            let slot = free.next().expect("a free slot");
            plan.indexed.push((slot, chunk.clone()));
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

    /// Writes chunks and vectors to their slots; returns the homes of all that changed, old and new.
    fn commit(&mut self, delta: &ChunkDelta, plan: &Placement, vectors: &dyn VectorSource) -> BTreeSet<Arc<str>> {
        let mut homes = BTreeSet::new();
        let needed = plan.indexed.iter().map(|(s, _)| *s as usize + 1).max().unwrap_or(0);
        if needed > self.rows.len() {
            self.rows.resize(needed, None);
            self.file_of.resize(needed, 0);
            self.is_outline.resize(needed, false);
        }
        let taken: std::collections::HashSet<Slot> = plan.indexed.iter().map(|(s, _)| *s).collect();
        self.free.retain(|s| !taken.contains(s));
        for id in &delta.deleted {
            if let Some(slot) = self.slots.remove(id) {
                homes.extend(self.rows[slot as usize].take().map(|c| home(&c)));
                self.vectors.clear(slot);
                self.free.push(slot);
            }
        }
        for (slot, chunk) in &plan.indexed {
            self.vectors.set(*slot, |row| vectors.vector(chunk, row));
        }
        for (slot, chunk) in plan.indexed.iter().chain(&plan.moved) {
            homes.extend(self.rows[*slot as usize].replace(chunk.clone()).map(|c| home(&c)));
            homes.insert(home(chunk));
            self.slots.insert(chunk.id.clone(), *slot);
        }
        homes
    }

    /// Derives the files anew whose chunks changed. A file that is gone keeps its place, empty, for its return.
    fn refresh_files(&mut self, set: &ChunkSet, homes: BTreeSet<Arc<str>>) {
        for path in homes {
            let own = set.by_id(&path).filter(|c| c.metadata.file_path.is_none());
            let mut chunks: Vec<(Slot, Arc<Chunk>)> =
                set.by_file(&path).chain(own).filter_map(|c| Some((*self.slots.get(&c.id)?, c.clone()))).collect();
            // The order in which a writer happens to list them must not show.
            chunks.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
            let file = File::new(path.clone(), chunks.iter().map(|(s, c)| (*s, &**c)), &mut self.analyzer);
            let next = u32::try_from(self.files.len()).expect("fewer than 2^32 files");
            let at = *self.file_at.entry(path).or_insert(next);
            for (slot, _) in &chunks {
                self.file_of[*slot as usize] = at;
                self.is_outline[*slot as usize] = file.outline == Some(*slot);
            }
            let brief = Brief::new(&file);
            if at == next {
                self.files.push(Arc::new(file));
                self.briefs.push(brief);
            } else {
                self.files[at as usize] = Arc::new(file);
                self.briefs[at as usize] = brief;
            }
        }
    }
}

#[derive(Default)]
struct Placement {
    /// Slots whose document leaves the text index.
    stale: Vec<Slot>,
    /// Chunks that enter the text index and the vectors.
    indexed: Vec<(Slot, Arc<Chunk>)>,
    /// Chunks that are replaced without being indexed again.
    moved: Vec<(Slot, Arc<Chunk>)>,
}
