//! The data types: [`Chunk`], the immutable [`ChunkSet`], the [`ChunkDelta`] between two sets, and
//! the [`Feed`] that provides them.
//!
//! This module is pure: it uses no file, no clock and no environment. The JSON of a chunk is a
//! public format (`specs/chunk-format.md`). How chunks are arranged in files is up to `store`.

mod delta;
mod entry;
mod feed;
mod metadata;
mod origin;
mod record;
mod saved;
mod set;
mod vector;

pub use delta::{Change, ChunkDelta};
pub use entry::{Entry, LineStore};
pub use feed::{Cancel, Feed, FeedError, Loaded, StoredVectors};
pub use metadata::{Metadata, Name, is_callable};
pub use origin::Origin;
pub use record::{Chunk, ChunkError, ChunkId, ChunkType, CountByType, Fingerprint, ParseError};
pub use saved::{CorpusCache, SaveWriter, SavedFile, SavedFiles};
pub use set::{ChunkSet, Duplicate};
pub use vector::Quantized;
