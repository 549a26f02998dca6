//! Shared by several subcommands of `cortex memory`.

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::dir::Dir;
use crate::memory::Memory;
use crate::platform::make_private_dir;

/// Returns the memory's name, or its first line.
pub(super) fn title(memory: &Memory) -> &str {
    if memory.name.is_empty() {
        memory.content.trim_start().lines().next().unwrap_or_default()
    } else {
        &memory.name
    }
}

/// A temporary folder that is removed with its content when this is dropped.
pub(super) struct PrivateFolder {
    pub(super) dir: Dir,
}

impl PrivateFolder {
    pub(super) fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("cortex-{}", Uuid::new_v4()));
        make_private_dir(&path, false).with_context(|| path.display().to_string())?;
        Ok(Self { dir: Dir::open(&path)? })
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir_all(self.dir.path()) {
            tracing::warn!("{}: cannot be removed: {e}", self.dir.path().display());
        }
    }
}
