//! Where the memory of a project is, and everything that works on it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::folder::trace;
use super::trust::Records;
use super::{
    CaptureError, Memory, MemoryCaptureService, MemoryStore, SessionManager, StorageError, now,
    sessions, spool, sql,
};
use crate::dir::{Dir, FileKind, OwnedDir, SharedDir, own_user};
use crate::embed::Embedder;
use crate::source::{self, FileChange, GitWatch};

/// How long an index run waits to note what changed.
const NOTING: Duration = Duration::from_secs(1);
const DATABASE: &str = "memory.db";
const SPOOL: &str = "memory.spool";
const PRIVATE_DIR: u32 = 0o700;

/// The places of a project's memory. Nothing is opened, or made, before somebody needs it.
#[derive(Clone)]
pub struct MemoryHome {
    /// Of the project.
    pub root: PathBuf,
    pub database: PathBuf,
    /// Holds what could not be stored in time. It is in the user's state directory: one in the
    /// project could have come with it.
    spool: Option<PathBuf>,
    /// The code graph, once somebody has asked it.
    pub graph: PathBuf,
    pub embedder: Arc<dyn Embedder>,
    /// The directory that holds all of it.
    place: OwnedDir,
    /// The project, held open: a memory belongs to that directory, and not to another one of its
    /// name.
    tree: SharedDir,
    /// `None`: there is no state directory, so nobody can tell whose a database in the project is.
    records: Option<Records>,
    is_in_project: bool,
    /// What was in the project.
    found: DatabaseState,
    compared_at: Arc<dyn Fn() -> Option<SystemTime> + Send + Sync>,
}

/// A memory that is open.
pub struct Memories {
    pub store: Arc<MemoryStore>,
    pub capture: MemoryCaptureService,
    pub sessions: SessionManager,
}

/// What is in the place of the database in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatabaseState {
    Nothing,
    Ours,
    /// Another user, or another directory, made it.
    Foreign,
    /// No database, but backups of one that nobody made here.
    Traces,
    /// A link, a pipe, a directory. Opening it tells what is wrong.
    Unusable,
}

impl MemoryHome {
    /// Decides where the memory of a project is: in `own`, its `.cortex`, unless that holds a
    /// database that came with a clone or is not to be written (`keep_out`); then in `state`, the
    /// user's directory for such things.
    #[must_use]
    pub fn of(
        tree: &SharedDir,
        own: OwnedDir,
        keep_out: bool,
        state: Option<&Path>,
        graph: PathBuf,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let records = state.map(|state| Records::new(state, tree));
        let found = found(&own, records.as_ref());
        let apart = || records.as_ref().and_then(|records| records.apart().ok());
        let has_database = |place: &OwnedDir| place.open().is_ok_and(|dir| dir.has_file(DATABASE));
        let apart = match found {
            DatabaseState::Foreign | DatabaseState::Traces => apart(),
            DatabaseState::Nothing | DatabaseState::Unusable if keep_out => apart(),
            // What was remembered beside a database that is gone now.
            DatabaseState::Nothing => {
                state.filter(|state| state.is_dir()).and_then(|_| apart()).filter(has_database)
            }
            // What is there is told, also where nothing can be added to it.
            DatabaseState::Ours | DatabaseState::Unusable => None,
        };
        let is_in_project = apart.is_none();
        let place = apart.unwrap_or(own);
        Self {
            root: tree.path().to_path_buf(),
            database: place.path().join(DATABASE),
            spool: records.as_ref().map(|records| records.apart_path().join(SPOOL)),
            graph,
            embedder,
            place,
            tree: tree.clone(),
            records,
            is_in_project,
            found,
            compared_at: Arc::new(|| None),
        }
    }

    /// The same, where a function says when the index was last compared with the tree. The changes
    /// that are noted first happened since then, so that what git did since then belongs to a
    /// memory that begins later.
    #[must_use]
    pub fn counting_from(
        self,
        compared_at: impl Fn() -> Option<SystemTime> + Send + Sync + 'static,
    ) -> Self {
        Self { compared_at: Arc::new(compared_at), ..self }
    }

    /// What is to be said in each reply about memories: that some came with the clone.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        (self.found == DatabaseState::Foreign).then(|| StorageError::Foreign.to_string())
    }

    /// The directory that holds the memory.
    #[must_use]
    pub fn place(&self) -> &OwnedDir {
        &self.place
    }

    /// Whether anything was ever remembered, that may be told.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        let is_strange = self.is_in_project
            && matches!(self.found, DatabaseState::Foreign | DatabaseState::Traces);
        let is_there = |dir: Dir| !matches!(dir.stat(DATABASE), Ok(None)) || trace(&dir).is_some();
        !is_strange && self.place.open().is_ok_and(is_there)
    }

    /// Which file the database is; `None` when there is none.
    #[must_use]
    pub fn identity(&self) -> Option<u64> {
        Some(self.place.open().ok()?.stat(DATABASE).ok()??.id.1)
    }

    /// The id of the session under way; empty when none is, or the file that names it cannot be
    /// read.
    #[must_use]
    pub fn current_session(&self) -> String {
        sessions::current(&self.place).ok().flatten().unwrap_or_default()
    }

    /// Notes which files changed, where anything is remembered.
    pub fn journal(&self) -> impl Fn(&[FileChange]) + Send + Sync + 'static {
        let home = self.clone();
        move |changes| {
            if !home.is_in_use() {
                return;
            }
            let session = home.current_session();
            if let Err(e) =
                home.store(NOTING).and_then(|store| store.note_changes(changes, &session, now()))
            {
                tracing::warn!("what happened to {} files is not remembered: {e}", changes.len());
            }
        }
    }

    /// Opens the database, or makes it. One that is in the project counts only when it was made for
    /// it.
    ///
    /// # Errors
    /// When it came with a clone, is no regular file, cannot be opened, is kept busy, or the
    /// project was moved or removed.
    pub(super) fn store(&self, busy: Duration) -> Result<MemoryStore, StorageError> {
        self.tree.check_in_place()?;
        let dir = self.place.make(PRIVATE_DIR)?;
        if !self.is_in_project {
            return self.opened(&dir, busy);
        }
        match found(&self.place, self.records.as_ref()) {
            DatabaseState::Foreign | DatabaseState::Traces => return Err(StorageError::Foreign),
            DatabaseState::Ours | DatabaseState::Unusable => {
                return MemoryStore::open_within(&self.database, busy);
            }
            DatabaseState::Nothing => {}
        }
        let records = self.records.as_ref().ok_or(StorageError::NoState)?;
        // Another process may make it at the same moment.
        let _lock = records.lock()?;
        let is_new = !dir.has_file(DATABASE);
        let store = self.opened(&dir, busy)?;
        if is_new {
            records.put(&store.claim()?)?;
        }
        Ok(store)
    }

    /// Opens the database. In one that is new it is noted how far git has come, so that its next
    /// operation is told from edits.
    fn opened(&self, dir: &Dir, busy: Duration) -> Result<MemoryStore, StorageError> {
        let is_new = !dir.has_file(DATABASE);
        let store = MemoryStore::open_within(&self.database, busy)?;
        if is_new {
            let since = (self.compared_at)().unwrap_or_else(SystemTime::now);
            let position = |tree: String| {
                let at = self.root.join(&tree);
                // A folder without a repository of its own is in the one around it.
                let watch = GitWatch::open_since(&at, since)
                    .filter(|watch| tree.is_empty() || watch.is_of(&at))?;
                Some((tree, watch.without_commits().position()))
            };
            let trees = source::submodules(&self.root).into_iter().chain([String::new()]);
            store.begin_at(trees.filter_map(position))?;
        }
        Ok(store)
    }

    /// Takes the database that is there for this user's own: the user has put it there.
    ///
    /// # Errors
    /// When it cannot be opened, or that not be noted.
    pub fn adopt(&self) -> Result<(), StorageError> {
        let records = self.records.as_ref().ok_or(StorageError::NoState)?;
        let _lock = records.lock()?;
        Ok(records.put(&MemoryStore::open(&self.database)?.claim()?)?)
    }

    /// Opens the database, or makes it, and stores what was kept for later, where it can be
    /// written. `busy`: how long to wait at most while others write.
    ///
    /// # Errors
    /// When it cannot be opened, or is kept busy.
    pub fn open(&self, busy: Duration) -> Result<Memories, CaptureError> {
        let store = Arc::new(self.store(busy)?);
        let capture = MemoryCaptureService::new(store.clone(), self.embedder.clone())
            .tied_to(&self.root, &self.graph);
        if let Some(spool) = self.spool.as_ref().filter(|_| store.read_only().is_none()) {
            match spool::drain(spool, &capture) {
                // The next process stores it.
                Ok(_) | Err(CaptureError::StorageFailed(StorageError::Busy { .. })) => {}
                Err(CaptureError::StorageFailed(e @ StorageError::Damaged { .. })) => {
                    return Err(e.into());
                }
                // What is there can be read all the same.
                Err(e) => tracing::warn!("what was kept for later is not stored yet: {e}"),
            }
        }
        Ok(Memories {
            sessions: SessionManager::new(store.clone(), self.place.clone()),
            store,
            capture,
        })
    }

    /// Keeps a memory for whoever opens the database next.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_for_later(&self, memory: Memory) -> Result<(), StorageError> {
        let (Some(spool), Some(records)) = (&self.spool, &self.records) else {
            return Err(StorageError::NoState);
        };
        records.apart()?.make(PRIVATE_DIR)?;
        Ok(spool::append(spool, memory)?)
    }
}

/// Whose database is in the project.
fn found(own: &OwnedDir, records: Option<&Records>) -> DatabaseState {
    let dir = match own.open() {
        Ok(dir) => dir,
        Err(e) if e.kind() == ErrorKind::NotFound => return DatabaseState::Nothing,
        Err(_) => return DatabaseState::Unusable,
    };
    // The record of one that is damaged or gone cannot be told by its id.
    let was_made = || records.is_some_and(Records::know_any);
    match dir.stat(DATABASE) {
        Err(_) => DatabaseState::Unusable,
        Ok(None) if trace(&dir).is_none() => DatabaseState::Nothing,
        Ok(None) if was_made() => DatabaseState::Ours,
        Ok(None) => DatabaseState::Traces,
        Ok(Some(stat)) if stat.kind != FileKind::File => DatabaseState::Unusable,
        Ok(Some(stat)) if stat.owner != own_user() => DatabaseState::Foreign,
        Ok(Some(_)) => {
            let is_ours = || match sql::claimed(&own.path().join(DATABASE)) {
                Ok(id) => id.is_some_and(|id| records.is_some_and(|records| records.know(&id))),
                Err(_) => was_made(),
            };
            // One that is being made just now is recorded when its maker lets go of the lock.
            if is_ours()
                || records.is_some_and(|records| records.lock().is_ok_and(|_lock| is_ours()))
            {
                DatabaseState::Ours
            } else {
                DatabaseState::Foreign
            }
        }
    }
}
