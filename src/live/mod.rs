//! The only changing state: what is being served.
//!
//! [`ChunkManager`] loads the chunk files, finds out what changed, updates the indexes and publishes everything at once
//! as a [`Snapshot`]. It is told *that* something changed, never what.

mod manager;
mod snapshot;
mod vectors;

pub use manager::{ChunkManager, Reload, ReloadError};
pub use snapshot::{Metrics, Snapshot};

#[cfg(test)]
mod tests;
