//! Holds the only changing state: the snapshot that is served.
//!
//! [`ChunkManager`] loads its feeds, finds out what changed, updates the indexes and publishes
//! everything at once as a [`Snapshot`]. The [`Reloader`] decides when. A request tells it only
//! *that* something changed, never what.

mod checked;
mod log;
mod manager;
mod reloader;
mod resident;
mod snapshot;
mod vectors;

pub use log::{GenerationRow, ReloadLog, ReloadRow, milliseconds, push};
pub use manager::{ChunkManager, Reload, ReloadError};
pub use reloader::{MemoryBudget, Reloader};
pub use resident::{GivenUp, resident_bytes};
pub use snapshot::{Metrics, Served, Snapshot};

#[cfg(test)]
mod tests;
