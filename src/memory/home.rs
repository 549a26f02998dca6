//! Where the memory of a project is, and everything that works on it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use super::trust::Records;
use super::{CaptureError, MemoryCaptureService, MemoryStore, SessionManager, StorageError, now, session, spool, sql};
use crate::dir::{Dir, How, Kind, Place, SharedDir, own_user};
use crate::embed::Embedder;
use crate::source::FileChange;

/// How long an index run waits to note what changed.
const NOTING: Duration = Duration::from_secs(1);
const DATABASE: &str = "memory.db";
const SPOOL: &str = "memory.spool";
/// What SQLite and this module open by their paths.
const OPENED_BY_PATH: [&str; 5] = [DATABASE, "memory.db-wal", "memory.db-shm", "memory.db-journal", SPOOL];
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// The places of a project's memory. Nothing is opened, or made, before somebody needs it.
#[derive(Clone)]
pub struct MemoryHome {
    /// Of the project.
    pub root: PathBuf,
    pub database: PathBuf,
    /// Holds what could not be stored in time.
    pub spool: PathBuf,
    /// The code graph, once somebody has asked it.
    pub graph: PathBuf,
    pub embedder: Arc<dyn Embedder>,
    /// The directory that holds all of it.
    place: Place,
    /// The project, held open: a memory belongs to that directory, and not to another one of its name.
    tree: SharedDir,
    /// `None`: there is no state directory, so nobody can tell whose a database in the project is.
    records: Option<Records>,
    is_in_project: bool,
    /// The project holds a database that somebody else made.
    has_foreign: bool,
}

/// A memory that is open.
pub struct Memories {
    pub store: Arc<MemoryStore>,
    pub capture: MemoryCaptureService,
    pub sessions: SessionManager,
}

/// What is in the place of the database in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Ours,
    /// Another user, or another directory, made it.
    Foreign,
    /// A link, a pipe, a directory. Opening it tells what is wrong.
    Unusable,
}

impl MemoryHome {
    /// Decides where the memory of a project is: in `own`, its `.cortex`, unless that holds a database that came with a clone or is
    /// not to be written (`keep_out`); then in `state`, the user's directory for such things.
    #[must_use]
    pub fn of(tree: &SharedDir, own: Place, keep_out: bool, state: Option<&Path>, graph: PathBuf, embedder: Arc<dyn Embedder>) -> Self {
        let records = state.map(|state| Records::new(state, tree));
        let found = found(&own, records.as_ref());
        let apart = || {
            let id = format!("{:032x}", xxh3_128(tree.path().as_os_str().as_encoded_bytes()));
            Some(Place::new(Arc::new(records.as_ref()?.state().ok()?), Path::new("cortex/projects").join(id)))
        };
        let has_database = |place: &Place| place.open().is_ok_and(|dir| dir.has_file(DATABASE));
        let apart = match found {
            Found::Ours if keep_out => apart().filter(|_| !own.open().is_ok_and(|dir| dir.is_writable())),
            Found::Foreign => apart(),
            Found::Nothing | Found::Unusable if keep_out => apart(),
            // What was remembered beside a database that is gone now.
            Found::Nothing => state.filter(|state| state.is_dir()).and_then(|_| apart()).filter(has_database),
            Found::Ours | Found::Unusable => None,
        };
        let is_in_project = apart.is_none();
        let place = apart.unwrap_or(own);
        Self {
            root: tree.path().to_path_buf(),
            database: place.path().join(DATABASE),
            spool: place.path().join(SPOOL),
            graph,
            embedder,
            place,
            tree: tree.clone(),
            records,
            is_in_project,
            has_foreign: found == Found::Foreign,
        }
    }

    /// What is to be said in each reply about memories: that some came with the clone.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        self.has_foreign.then(|| StorageError::Foreign.to_string())
    }

    /// The directory that holds the memory.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether anything was ever remembered, that may be told.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        !(self.is_in_project && self.has_foreign) && self.place.open().is_ok_and(|dir| dir.stat(DATABASE).is_ok_and(|s| s.is_some()))
    }

    /// Which file the database is; `None` when there is none.
    #[must_use]
    pub fn identity(&self) -> Option<u64> {
        Some(self.place.open().ok()?.stat(DATABASE).ok()??.id.1)
    }

    /// Notes which files changed, where anything is remembered.
    pub fn journal(&self) -> impl Fn(&[FileChange]) + Send + Sync + 'static {
        let home = self.clone();
        move |changes| {
            if !home.is_in_use() {
                return;
            }
            let session = session::current(&home.place).ok().flatten().unwrap_or_default();
            if let Err(e) = home.store(NOTING).and_then(|store| store.note_changes(changes, &session, now())) {
                tracing::warn!("what happened to {} files is not remembered: {e}", changes.len());
            }
        }
    }

    /// Opens the database, or makes it. One that is in the project counts only when it was made for it.
    ///
    /// # Errors
    /// When it came with a clone, is no regular file, cannot be opened, is kept busy, or the project was moved or removed.
    pub(super) fn store(&self, busy: Duration) -> Result<MemoryStore, StorageError> {
        self.tree.check_in_place()?;
        let dir = self.place.make(PRIVATE_DIR)?;
        check_files(&dir)?;
        if !self.is_in_project {
            return self.opened(&dir, busy);
        }
        match found(&self.place, self.records.as_ref()) {
            Found::Foreign => return Err(StorageError::Foreign),
            Found::Ours | Found::Unusable => return self.opened(&dir, busy),
            Found::Nothing => {}
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

    fn opened(&self, dir: &Dir, busy: Duration) -> Result<MemoryStore, StorageError> {
        dir.file(DATABASE, How::Update, PRIVATE_FILE)?;
        MemoryStore::open_within(&self.database, busy)
    }

    /// Opens the database, or makes it, and stores what was kept for later. `busy`: how long to wait at most while others write.
    ///
    /// # Errors
    /// When it cannot be opened, or is kept busy.
    pub fn open(&self, busy: Duration) -> Result<Memories, CaptureError> {
        let store = Arc::new(self.store(busy)?);
        let capture = MemoryCaptureService::new(store.clone(), self.embedder.clone()).tied_to(&self.root, &self.graph);
        spool::drain(&self.spool, &capture)?;
        Ok(Memories { sessions: SessionManager::new(store.clone(), self.place.clone()), store, capture })
    }

    /// Whether the spool may be written: it is a regular file, or not there yet.
    ///
    /// # Errors
    /// When something else is in its place, or the project is gone.
    pub fn check_spool(&self) -> io::Result<()> {
        check_files(&self.place.open()?)
    }
}

/// Whose database is in the project.
fn found(own: &Place, records: Option<&Records>) -> Found {
    let stat = match own.open().and_then(|dir| dir.stat(DATABASE)) {
        Ok(Some(stat)) => stat,
        Ok(None) => return Found::Nothing,
        Err(e) if e.kind() == ErrorKind::NotFound => return Found::Nothing,
        Err(_) => return Found::Unusable,
    };
    if stat.kind != Kind::File {
        return Found::Unusable;
    }
    let is_recorded = || {
        let records = records?;
        let path = own.path().join(DATABASE);
        let is_known = || sql::claimed(&path).is_some_and(|id| records.knows(&id));
        // One that is being made just now is recorded when its maker lets go of the lock.
        Some(is_known() || records.lock().is_ok_and(|_lock| is_known()))
    };
    if stat.owner == own_user() && is_recorded() == Some(true) { Found::Ours } else { Found::Foreign }
}

/// What others open by its path must be a regular file: a link would lead elsewhere, a pipe would be waited for.
fn check_files(dir: &Dir) -> io::Result<()> {
    for name in OPENED_BY_PATH {
        if dir.stat(name)?.is_some_and(|stat| stat.kind != Kind::File) {
            // Opening it says what is wrong with it.
            dir.open_file(name)?;
        }
    }
    Ok(())
}
