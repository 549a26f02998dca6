//! Temporary folders of commands.

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::dir::Dir;
use crate::platform::make_private_dir;

/// A temporary folder of this user that is removed with its content when this is dropped.
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
    #[expect(clippy::disallowed_methods, reason = "a private folder of temporary files")]
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir_all(self.dir.path()) {
            tracing::warn!("{}: cannot be removed: {e}", self.dir.path().display());
        }
    }
}
