//! The write side: source tree → chunk files. Discover → outline → chunk → embed → store.
//!
//! Knows nothing of searching or of running servers: it leaves a new generation in the chunk files, and whoever serves
//! them notices. The difficult part is being incremental and still leaving exactly what a full index would leave.

mod chunker;
mod indexer;
mod plan;
mod report;
mod service;

pub use chunker::chunk_file;
pub use indexer::{IndexError, Indexer, Journal, Mode, TreeScan};
pub use report::{Progress, Summary};
pub use service::{IndexEvent, IndexingService, ServiceStatus, Watching};
