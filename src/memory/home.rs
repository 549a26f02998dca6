//! Finds the memory of a project and opens what works on it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};

use super::folder::trace;
use super::trust::Records;
use super::{
    CaptureError, Memory, MemoryCaptureService, MemoryStore, RedactedMemory, Select,
    SessionManager, StorageError, sessions, spool, sql,
};
use crate::dir::{Dir, FileKind, OwnedDir, PRIVATE_DIR, SharedDir, own_user};
use crate::embed::Embedder;
use crate::graph::Database;
use crate::source::{self, FileChange, GitWatch};

/// How long an index run waits to store the changed files.
const NOTING: Duration = Duration::from_secs(1);
const DATABASE: &str = "memory.db";
/// A database of a linked working tree whose memories are among those of the repository now.
const TAKEN_OVER: &str = "memory.moved.db";
const SPOOL: &str = "memory.spool";

/// The places of a project's memory. Nothing is opened or created before it is needed.
#[derive(Clone)]
pub struct MemoryHome {
    /// Root of the project.
    pub root: PathBuf,
    pub database: PathBuf,
    /// Holds memories that could not be stored in time. It is in the user's state directory,
    /// because a spool inside the project could have come with a clone.
    spool: Option<PathBuf>,
    /// The database of the code graph; it exists once a query needed the graph.
    pub graph: Database,
    pub embedder: Arc<dyn Embedder>,
    /// The directory that holds the database, its backups and session files.
    place: OwnedDir,
    /// The project, held open: a memory belongs to that directory, not to another one of the same
    /// name.
    tree: SharedDir,
    /// The directory to which the memories belong: the project, or what its working tree shares with
    /// its siblings.
    owner: SharedDir,
    /// The name of a linked working tree; empty for any other project.
    worktree: String,
    /// The place in a linked working tree where an earlier version kept the memories of that tree
    /// alone.
    former: Option<FormerPlace>,
    /// Which databases this user made. `None`: there is no state directory, so the owner of a
    /// database in the project is unknown.
    records: Option<Records>,
    is_in_project: bool,
    /// The database found in the project.
    found: DatabaseState,
    compared_at: Arc<dyn Fn() -> Option<SystemTime> + Send + Sync>,
}

#[derive(Clone)]
struct FormerPlace {
    own: OwnedDir,
    records: Option<Records>,
}

impl FormerPlace {
    /// Returns whether this user's memories are still there.
    fn has_memories(&self) -> bool {
        self.own.open().is_ok_and(|dir| dir.has_file(DATABASE))
            && found(&self.own, self.records.as_ref()) == DatabaseState::Ours
    }
}

/// An open memory.
pub struct Memories {
    pub store: Arc<MemoryStore>,
    pub capture: MemoryCaptureService,
    pub sessions: SessionManager,
}

/// The state of the database in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatabaseState {
    Nothing,
    Ours,
    /// Another user, or Cortex in another directory, made it.
    Foreign,
    /// There is no database, but backups of one that this user did not make.
    Traces,
    /// The path holds a link, a pipe or a directory. Opening it gives the error.
    Unusable,
}

impl MemoryHome {
    /// Selects the place of the project's memory. This is `own`, the project's `.cortex`, unless
    /// that holds a database that came with a clone, or must not be written (`keep_out`). Otherwise
    /// it is `state`, the user's state directory.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the user's state directory")]
    pub fn of(
        tree: &SharedDir,
        own: OwnedDir,
        keep_out: bool,
        state: Option<&Path>,
        graph: Database,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let records = state.map(|state| Records::new(state, tree));
        let found = found(&own, records.as_ref());
        let apart = || records.as_ref().and_then(|records| records.apart().ok());
        let has_database = |place: &OwnedDir| place.open().is_ok_and(|dir| dir.has_file(DATABASE));
        let apart = match found {
            DatabaseState::Foreign | DatabaseState::Traces => apart(),
            DatabaseState::Nothing | DatabaseState::Unusable if keep_out => apart(),
            // Memories may remain from a database that is gone now.
            DatabaseState::Nothing => {
                state.filter(|state| state.is_dir()).and_then(|_| apart()).filter(has_database)
            }
            // Existing memories are shown even where none can be added.
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
            owner: tree.clone(),
            worktree: String::new(),
            former: None,
            records,
            is_in_project,
            found,
            compared_at: Arc::new(|| None),
        }
    }

    /// Returns the same memories, seen from a linked working tree that shares them. The files, and the
    /// changes of them, are those of that tree. `own` is its `.cortex`, whose memories are taken over.
    #[must_use]
    pub fn seen_from(
        self,
        tree: &SharedDir,
        worktree: String,
        own: OwnedDir,
        state: Option<&Path>,
    ) -> Self {
        let records = state.map(|state| Records::new(state, tree));
        let former = Some(FormerPlace { own, records });
        Self { root: tree.path().to_path_buf(), tree: tree.clone(), worktree, former, ..self }
    }

    /// Adds a function that says when the index was last compared with the tree. The first recorded
    /// changes happened after that time, so the recorder reads git's logs from there in a memory
    /// that begins later.
    #[must_use]
    pub fn counting_from(
        self,
        compared_at: impl Fn() -> Option<SystemTime> + Send + Sync + 'static,
    ) -> Self {
        Self { compared_at: Arc::new(compared_at), ..self }
    }

    /// Returns the warning for replies about memories if some came with a clone.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        (self.found == DatabaseState::Foreign).then(|| StorageError::Foreign.to_string())
    }

    /// The directory that holds the memory.
    #[must_use]
    pub fn place(&self) -> &OwnedDir {
        &self.place
    }

    /// Returns whether there are memories that may be shown.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        let is_strange = self.is_in_project
            && matches!(self.found, DatabaseState::Foreign | DatabaseState::Traces);
        let is_there = |dir: Dir| !matches!(dir.stat(DATABASE), Ok(None)) || trace(&dir).is_some();
        let has_former = || self.former.as_ref().is_some_and(FormerPlace::has_memories);
        !is_strange && (self.place.open().is_ok_and(is_there) || has_former())
    }

    /// Returns the identity of the database file, or `None` if there is none.
    #[must_use]
    pub fn identity(&self) -> Option<u64> {
        Some(self.place.open().ok()?.stat(DATABASE).ok()??.id.1)
    }

    /// Returns the id of the current session. It is empty if there is none, or if the file that
    /// names it cannot be read.
    #[must_use]
    pub fn current_session(&self) -> String {
        sessions::current(&self.place).ok().flatten().unwrap_or_default()
    }

    /// Returns a function that records changed files, if the project has a memory.
    pub fn journal(&self) -> impl Fn(&[FileChange]) + Send + Sync + 'static {
        let home = self.clone();
        move |changes| {
            if !home.is_in_use() {
                return;
            }
            let noted = home.store(NOTING).and_then(|store| {
                let current = home.current_session();
                let is_known = store.session(&current)?.is_some();
                let noted = |change: &FileChange| {
                    let at = home.changed_at(&change.path);
                    let session = if is_known { store.session_at(at)? } else { None };
                    let session = session.or_else(|| (!is_known).then(|| current.clone()));
                    Ok((change.clone(), session.unwrap_or_default(), at))
                };
                let noted: Vec<_> =
                    changes.iter().map(noted).collect::<Result<_, StorageError>>()?;
                store.note_changes(&noted)
            });
            if let Err(e) = noted {
                tracing::warn!("what happened to {} files is not remembered: {e}", changes.len());
            }
        }
    }

    /// Returns when a file was last written; for a file that is gone, when its folder was.
    pub(super) fn written_at(&self, path: &str) -> Option<SystemTime> {
        let stat = |path: &Path| {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            Some(self.tree.stat(path).ok()??.modified)
        };
        Path::new(path).ancestors().find_map(stat)
    }

    /// Returns when a change was made that an index run finds now: since the index was last compared
    /// with the tree.
    fn changed_at(&self, path: &str) -> DateTime<Utc> {
        let now = SystemTime::now();
        let first = (self.compared_at)().unwrap_or(SystemTime::UNIX_EPOCH);
        self.written_at(path).map_or(now, |at| at.max(first).min(now)).into()
    }

    /// Opens or creates the database. A database inside the project counts only if it was made
    /// there.
    ///
    /// # Errors
    /// When it came with a clone, is not a regular file, cannot be opened or is locked, or when the
    /// project was moved or removed.
    pub(super) fn store(&self, busy: Duration) -> Result<MemoryStore, StorageError> {
        self.tree.check_in_place()?;
        self.owner.check_in_place()?;
        let dir = self.place.make(PRIVATE_DIR)?;
        if !self.is_in_project {
            return self.opened(&dir, busy);
        }
        match found(&self.place, self.records.as_ref()) {
            DatabaseState::Foreign | DatabaseState::Traces => return Err(StorageError::Foreign),
            DatabaseState::Ours | DatabaseState::Unusable => {
                let store = MemoryStore::open_within(&self.database, busy)?;
                return Ok(store.of_worktree(&self.worktree));
            }
            DatabaseState::Nothing => {}
        }
        let records = self.records.as_ref().ok_or(StorageError::NoState)?;
        // Another process may create it at the same moment.
        let _lock = records.lock()?;
        let is_new = !dir.has_file(DATABASE);
        let store = self.opened(&dir, busy)?;
        if is_new {
            records.put(&store.claim()?)?;
        }
        Ok(store)
    }

    /// Opens the database. For a new database it records the present position in git's logs, so
    /// that the next git operation is told apart from edits.
    fn opened(&self, dir: &Dir, busy: Duration) -> Result<MemoryStore, StorageError> {
        let is_new = !dir.has_file(DATABASE);
        let store = MemoryStore::open_within(&self.database, busy)?.of_worktree(&self.worktree);
        if is_new {
            let since = (self.compared_at)().unwrap_or_else(SystemTime::now);
            let position = |tree: String| {
                let at = self.root.join(&tree);
                // A folder without a repository of its own belongs to the repository around it.
                let watch = GitWatch::open_since(&at, since)
                    .filter(|watch| tree.is_empty() || watch.is_of(&at))?;
                Some((tree, watch.without_commits().position()))
            };
            let trees = source::submodules(&self.root).into_iter().chain([String::new()]);
            store.begin_at(trees.filter_map(position))?;
        }
        Ok(store)
    }

    /// Records the existing database as this user's own, because the user put it there.
    ///
    /// # Errors
    /// When it cannot be opened or the record cannot be written.
    pub fn adopt(&self) -> Result<(), StorageError> {
        let records = self.records.as_ref().ok_or(StorageError::NoState)?;
        let _lock = records.lock()?;
        Ok(records.put(&MemoryStore::open(&self.database)?.claim()?)?)
    }

    /// Opens or creates the database and stores the spooled memories, unless it is read-only. Waits
    /// at most `busy` for other writers.
    ///
    /// # Errors
    /// When it cannot be opened or stays locked.
    pub fn open(&self, busy: Duration) -> Result<Memories, CaptureError> {
        let store = Arc::new(self.store(busy)?);
        let capture = MemoryCaptureService::new(store.clone(), self.embedder.clone())
            .tied_to(&self.root, &self.graph);
        if let Some(spool) = self.spool.as_ref().filter(|_| store.read_only().is_none()) {
            match spool::drain(spool, &capture) {
                // The next process stores the spool.
                Ok(_) | Err(CaptureError::StorageFailed(StorageError::Busy { .. })) => {}
                Err(CaptureError::StorageFailed(e @ StorageError::Damaged { .. })) => {
                    return Err(e.into());
                }
                // The stored memories can still be read.
                Err(e) => tracing::warn!("what was kept for later is not stored yet: {e}"),
            }
        }
        if store.read_only().is_none() {
            if let Err(e) = capture.note_embedder() {
                tracing::debug!("the embedder of new memories is not noted: {e}");
            }
            if let Err(e) = self.take_over(&store, busy) {
                tracing::warn!("the former memories of this working tree are not taken over: {e}");
            }
        }
        Ok(Memories {
            sessions: SessionManager::new(store.clone(), self.place.clone()),
            store,
            capture,
        })
    }

    /// Takes over the memories that an earlier version stored for a linked working tree alone. Its
    /// database stays under another name.
    fn take_over(&self, store: &MemoryStore, busy: Duration) -> Result<(), StorageError> {
        let Some(place) = self.former.as_ref().filter(|former| former.has_memories()) else {
            return Ok(());
        };
        let former = MemoryStore::open_within(&place.own.path().join(DATABASE), busy)?;
        for session in former.sessions(0)? {
            if store.session(&session.id)?.is_none() {
                store.put_session(&session)?;
            }
        }
        let mut new = Vec::new();
        for memory in former.select(&Select::default())? {
            if store.get(memory.id)?.is_none() {
                let vectors = former.vectors_of(memory.id)?;
                new.push((RedactedMemory::for_store(memory, None).0, vectors));
            }
        }
        store.exchange(&[], &new, &[])?;
        store.set_complete_embedder(0)?;
        // Everything must be in the file that gets the other name.
        former.claim()?;
        drop(former);
        Ok(place.own.open()?.rename(DATABASE, TAKEN_OVER)?)
    }

    /// Spools a memory; the next process that opens the database stores it.
    ///
    /// # Errors
    /// When the spool cannot be written.
    pub fn keep_for_later(&self, memory: Memory) -> Result<(), StorageError> {
        let (Some(spool), Some(records)) = (&self.spool, &self.records) else {
            return Err(StorageError::NoState);
        };
        records.apart()?.make(PRIVATE_DIR)?;
        Ok(spool::append(spool, memory)?)
    }
}

/// Returns whose database is in the project.
fn found(own: &OwnedDir, records: Option<&Records>) -> DatabaseState {
    let dir = match own.open() {
        Ok(dir) => dir,
        Err(e) if e.kind() == ErrorKind::NotFound => return DatabaseState::Nothing,
        Err(_) => return DatabaseState::Unusable,
    };
    // A damaged or missing database has no id to look up.
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
            // A database that is being created is recorded before its creator releases the lock.
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
