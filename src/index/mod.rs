//! The write side turns the source tree into chunk files: it plans, outlines,
//! chunks, embeds and stores.
//!
//! It does not know of searching or of running servers: it leaves a new generation in the chunk
//! files, and readers notice that. The difficult part is to work incrementally and still leave
//! exactly what a full run would leave.

mod built;
mod checked;
mod chunker;
mod commits;
mod early;
mod history;
mod indexer;
mod parsed;
mod plan;
mod relating;
mod report;
mod reverts;
mod service;

pub use chunker::{chunk_file, line_limit};
pub use commits::{MAX_PATCHES, N_FILES, ROUTINE, index_commits, index_patches};
pub use early::EarlyChunks;
pub use history::{MAX_COMMITS, commit_chunk};
pub use indexer::{Found, IndexError, Indexer, Journal, Mode, TreeScan};
pub use relating::{FileRelations, HandOn, RelationsRun, RelationsSink};
pub use report::{Progress, Summary};
pub use reverts::without_undone;
pub use service::{IndexEvent, IndexingService, ServiceStatus, Watching};
