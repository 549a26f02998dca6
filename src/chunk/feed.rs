//! The seam between whoever keeps chunks and whoever serves them.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashSet;

use super::{ChunkSet, CorpusCache, Fingerprint, Quantized, SaveWriter, SavedFiles};

/// Set from another thread to end a load early.
pub type Cancel = AtomicBool;

/// Where the chunks of one corpus come from: the chunk files are one feed, a database of memories can be another.
///
/// A feed says what is there now; what that changes is found by whoever serves it. It may keep what it read, so as
/// not to read it again.
pub trait Feed: Send {
    /// Names the corpus.
    fn name(&self) -> &'static str;

    /// Everything that is there now. Chunks that did not change since the last call are the same `Arc`s where that is cheap.
    ///
    /// # Errors
    /// When something there cannot be used, or on cancellation. The message is for people.
    fn load(&mut self, cancel: &Cancel) -> Result<Loaded, FeedError>;

    /// Where what is made of its chunks is kept between processes; `None`: nowhere.
    fn cache(&self) -> Option<&dyn CorpusCache>;

    /// Saves what it knows of the chunks that it gave last.
    ///
    /// # Errors
    /// When that cannot be written, or cannot be restored later.
    fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()>;

    /// Takes what was saved for what it gave last, and gives it; `None` when it is of no use.
    fn restore(&mut self, saved: &dyn SavedFiles) -> Option<Arc<ChunkSet>>;

    /// The stored vectors of these passages, as far as there are any.
    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors>;
}

/// A consistent set of chunks.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The same `Arc` as last time when nothing changed.
    pub set: Arc<ChunkSet>,
    /// Counted by the writer; `None` when nobody counts.
    pub generation: Option<u64>,
    /// When that generation was written, RFC 3339.
    pub indexed_at: Option<String>,
    /// For people: what is odd about the source.
    pub warnings: Vec<String>,
    /// How many files were parsed rather than reused.
    pub n_parsed: usize,
}

/// Why a feed gave nothing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct FeedError(pub Box<dyn Error + Send + Sync>);

/// Vectors by the fingerprint of the passage that was embedded.
pub trait StoredVectors: Send + Sync {
    /// Whether the vector is here.
    fn contains(&self, passage: Fingerprint) -> bool;

    /// The vector; `None` when it is not here.
    fn get(&self, passage: Fingerprint) -> Option<Quantized>;
}
