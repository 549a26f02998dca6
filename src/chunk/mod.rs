//! The data: [`Chunk`], the immutable [`ChunkSet`], the [`ChunkDelta`] between two of them, and the [`Feed`] that gives
//! them.
//!
//! Pure: no file, no clock, no environment. The JSON shape of a chunk is the project's public contract
//! (`specs/chunk-format.md`); how chunks lie in files is `store`'s business.

mod delta;
mod entry;
mod feed;
mod metadata;
mod record;
mod saved;
mod set;
mod vector;

pub use delta::{Change, ChunkDelta};
pub use entry::{Entry, LineStore};
pub use feed::{Cancel, Feed, FeedError, Loaded, StoredVectors};
pub use metadata::{Metadata, Name};
pub use record::{Chunk, ChunkError, ChunkId, ChunkType, Fingerprint, ParseError};
pub use saved::{CorpusCache, SaveWriter, SavedFile, SavedFiles};
pub use set::{ChunkSet, Duplicate};
pub use vector::Quantized;
