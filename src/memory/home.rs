//! Where the memory of a project is, and everything that works on it.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{CaptureError, MemoryCaptureService, MemoryStore, SessionManager, StorageError, backup, now, spool};
use crate::embed::Embedder;
use crate::source::FileChange;

/// How long an index run waits to note what changed.
const NOTING: Duration = Duration::from_secs(1);

/// The places of a project's memory. Nothing is opened, or made, before somebody needs it.
#[derive(Clone)]
pub struct MemoryHome {
    /// Of the project.
    pub root: PathBuf,
    pub database: PathBuf,
    /// Holds the id of the session that is under way.
    pub current_session: PathBuf,
    /// Holds what could not be stored in time.
    pub spool: PathBuf,
    /// The code graph, once somebody has asked it.
    pub graph: PathBuf,
    pub embedder: Arc<dyn Embedder>,
}

/// A memory that is open.
pub struct Memories {
    pub store: Arc<MemoryStore>,
    pub capture: MemoryCaptureService,
    pub sessions: SessionManager,
}

impl MemoryHome {
    /// Whether anything was ever remembered.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.database.symlink_metadata().is_ok() || backup::trace_of(&self.database).is_some()
    }

    /// Which file the database is; `None` when there is none.
    #[must_use]
    pub fn identity(&self) -> Option<u64> {
        std::fs::metadata(&self.database).ok().map(|m| m.ino())
    }

    /// Notes which files changed, where anything is remembered.
    pub fn journal(&self) -> impl Fn(&[FileChange]) + Send + Sync + 'static {
        let home = self.clone();
        move |changes| {
            if !home.is_in_use() {
                return;
            }
            let session = std::fs::read_to_string(&home.current_session).unwrap_or_default();
            let noted =
                MemoryStore::open_within(&home.database, NOTING).and_then(|store| store.note_changes(changes, session.trim(), now()));
            if let Err(e) = noted {
                tracing::warn!("what happened to {} files is not remembered: {e}", changes.len());
            }
        }
    }

    /// Opens the database, or makes it, and stores what was kept for later, where it can be written. `busy`: how long to wait at most
    /// while others write.
    ///
    /// # Errors
    /// When it cannot be opened, or is kept busy.
    pub fn open(&self, busy: Duration) -> Result<Memories, CaptureError> {
        let store = Arc::new(MemoryStore::open_within(&self.database, busy)?);
        let capture = MemoryCaptureService::new(store.clone(), self.embedder.clone()).tied_to(&self.root, &self.graph);
        if store.read_only().is_none() {
            match spool::drain(&self.spool, &capture) {
                // The next process stores it.
                Ok(_) | Err(CaptureError::StorageFailed(StorageError::Busy { .. })) => {}
                Err(CaptureError::StorageFailed(e @ StorageError::Damaged { .. })) => return Err(e.into()),
                // What is there can be read all the same.
                Err(e) => tracing::warn!("what was kept for later is not stored yet: {e}"),
            }
        }
        Ok(Memories { sessions: SessionManager::new(store.clone(), self.current_session.clone()), store, capture })
    }
}
