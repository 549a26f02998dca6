//! Everything in `.cortex` on disk: the paths, the chunk files and their manifest, the vector
//! cache, the locks.
//!
//! This is the only module that knows a path under `.cortex` or the JSON layout of a chunk file. It
//! does not know what chunks are for: `index` writes through it, `live` reads through it, and these
//! two have no other connection.

mod activity;
mod archive;
mod blocks;
mod cache;
mod chunk_file;
mod commits;
mod foreign;
mod grams;
mod layout;
mod lock;
mod manifest;
mod numbers;
mod others;
mod package;
mod packing;
mod patches;
mod reader;
mod seal;
mod server;
mod sources;
mod taken;
mod times;
mod vectors;
mod writer;

pub use activity::{Activity, Announcement};
pub use archive::{Aside, pack, unpack};
pub use cache::IndexCache;
pub use chunk_file::{ChunkFileError, Header, parse_chunk_file};
pub use commits::{CommitFacts, CommitTable, CommitsStamp, Undone};
pub use grams::{GramFilters, NewFilters, ReadFilters};
pub use layout::{Layout, RootError};
pub use lock::{EmbedLock, LeaderLock, LockError, WriteLock};
pub use manifest::{Block, FileEntry, Manifest};
pub use others::set_others_aside;
pub use package::{PackageRecord, remove_unused};
pub use packing::Packing;
pub use patches::{PatchFrame, Patches};
pub use reader::{ChunkFiles, LoadError};
pub use seal::{key_problem, use_key_of};
pub use server::ServerFile;
pub use sources::{
    GramFile, HistoryStamp, SourceEntry, SourceTable, TIMESTAMP_TICK, trusted_before,
};
pub use taken::{adopt, take_over};
pub use times::ChunkTimes;
pub use vectors::{VectorCache, VectorKey, VectorWriter, remove_unused_vectors};

pub use blocks::ChunkLines;
pub use writer::{ChunkWriter, recover};
