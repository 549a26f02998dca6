//! The only changing state: what is being served.
//!
//! [`ChunkManager`] asks its feeds, finds out what changed, updates the indexes and publishes everything at once as a
//! [`Snapshot`]; the [`Reloader`] decides when. It is told *that* something changed, never what.

mod checked;
mod manager;
mod memory;
mod reloader;
mod snapshot;
mod vectors;

pub use manager::{ChunkManager, Reload, ReloadError};
pub use memory::{GivenUp, resident_bytes};
pub use reloader::Reloader;
pub use snapshot::{Metrics, Served, Snapshot};

#[cfg(test)]
mod tests;
