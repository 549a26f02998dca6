//! The only changing state: what is being served.
//!
//! [`ChunkManager`] asks its feeds, finds out what changed, updates the indexes and publishes everything at once as a
//! [`Snapshot`]; the [`Reloader`] decides when. It is told *that* something changed, never what.

mod checked;
mod manager;
mod reloader;
mod resident;
mod snapshot;
mod vectors;

pub use manager::{ChunkManager, Reload, ReloadError};
pub use reloader::Reloader;
pub use resident::{GivenUp, resident_bytes};
pub use snapshot::{Metrics, Served, Snapshot};

#[cfg(test)]
mod tests;
