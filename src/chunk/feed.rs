//! The interface between the modules that store chunks and the module that serves them.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashSet;

use super::{ChunkSet, CorpusCache, Fingerprint, Quantized, SaveWriter, SavedFiles};

/// A flag that another thread sets to end a load early.
pub type Cancel = AtomicBool;

/// A source of the chunks of one corpus: the chunk files are one feed, a database of memories can
/// be another.
///
/// A feed reports its current chunks; `live` finds out what changed. It may keep what it read, so
/// as not to read it again.
pub trait Feed: Send {
    /// Returns the name of the corpus.
    fn name(&self) -> &'static str;

    /// Loads the current chunks. Chunks that did not change since the last call are the same `Arc`s
    /// where that is cheap.
    ///
    /// # Errors
    /// When the source cannot be used, or the load is cancelled. The message is for people.
    fn load(&mut self, cancel: &Cancel) -> Result<Loaded, FeedError>;

    /// Returns the cache that keeps what is derived from its chunks between processes; `None` if
    /// there is none.
    fn cache(&self) -> Option<&dyn CorpusCache>;

    /// Saves what the feed knows about the chunks of its last load.
    ///
    /// # Errors
    /// When it cannot be written, or could not be restored later.
    fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()>;

    /// Restores the state that was saved and returns its chunks; `None` if the saved state is
    /// unusable.
    fn restore(&mut self, saved: &dyn SavedFiles) -> Option<Arc<ChunkSet>>;

    /// Returns those stored vectors of these passages that exist.
    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors>;
}

/// A consistent set of chunks.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The same `Arc` as last time if nothing changed.
    pub set: Arc<ChunkSet>,
    /// The generation that the writer counted; `None` if it counts none.
    pub generation: Option<u64>,
    /// When that generation was written, in RFC 3339.
    pub indexed_at: Option<String>,
    /// Messages for people about oddities of the source.
    pub warnings: Vec<String>,
    /// Whether files of ours are not those that their writer finished: somebody should write them
    /// anew.
    pub is_torn: bool,
    /// Number of files that were parsed rather than reused.
    pub n_parsed: usize,
}

/// Why a load failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct FeedError(pub Box<dyn Error + Send + Sync>);

/// Vectors by the fingerprint of their passage.
pub trait StoredVectors: Send + Sync {
    /// Whether the passage has a vector here.
    fn contains(&self, passage: Fingerprint) -> bool;

    /// Returns the vector of the passage; `None` if it has none here.
    fn get(&self, passage: Fingerprint) -> Option<Quantized>;
}
