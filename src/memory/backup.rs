//! Backs up the database once a day beside it, keeps two backups, and restores them.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Local, Utc};
use uuid::Uuid;

use super::capture::{CaptureError, MemoryCaptureService};
use super::folder::{BACKUPS, DAMAGED, folder_of};
use super::sql::{self, MemoryStore, Select, StorageError};
use crate::dir::{Dir, FileKind, PRIVATE_FILE, Stat};
use crate::text::count;

/// Files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Age of the newest backup at which the next one is due.
const DAY: Duration = Duration::from_hours(24);

/// Makes a backup if the last one is a day old. Returns whether it made one. A damaged or empty
/// database never replaces a backup.
///
/// # Errors
/// When the database is damaged, or the backup cannot be written.
pub fn back_up_if_due(store: &MemoryStore) -> Result<bool, StorageError> {
    let unwritable =
        |cause| StorageError::Unreadable { path: store.path().with_file_name(BACKUPS[0]), cause };
    let (folder, _) = folder_of(store.path()).map_err(unwritable)?;
    if !is_due(&folder) || store.read_only().is_some() || store.count(&Select::default())? == 0 {
        return Ok(false);
    }
    let (name, file) = folder.unfinished(PRIVATE_FILE).map_err(unwritable)?;
    let done = copied(store, &folder.full(&name), &file).and_then(|()| {
        // Another process may have made one meanwhile.
        if !is_due(&folder) {
            return Ok(false);
        }
        if folder.has_file(BACKUPS[0]) {
            folder.rename(BACKUPS[0], BACKUPS[1]).map_err(unwritable)?;
        }
        folder.rename(&name, BACKUPS[0]).map_err(unwritable)?;
        Ok(true)
    });
    if !matches!(done, Ok(true)) {
        let _ = folder.remove_file(&name);
    }
    done
}

/// Copies the database into an empty file and checks the copy.
fn copied(store: &MemoryStore, to: &Path, file: &File) -> Result<(), StorageError> {
    store.copy_to(to)?;
    sql::examine(to).map_err(|e| match e {
        // The copy is exact, so the database itself is damaged.
        StorageError::Damaged { why, .. } => {
            StorageError::Damaged { path: store.path().to_path_buf(), why }
        }
        e => e,
    })?;
    file.sync_all().map_err(|cause| StorageError::Unreadable { path: to.to_path_buf(), cause })
}

fn is_due(folder: &Dir) -> bool {
    folder.stat(BACKUPS[0]).is_ok_and(|stat| {
        stat.is_none_or(|stat| stat.is_older(DAY) || stat.modified > SystemTime::now() + DAY)
    })
}

/// Deletes memories, and everything derived from them, from the backups too, so that a restore does
/// not bring them back.
///
/// # Errors
/// When a backup holds one of them and cannot be written. That backup is unchanged then.
pub fn forget_in_backups(capture: &MemoryCaptureService, ids: &[Uuid]) -> Result<(), CaptureError> {
    let path = capture.store().path();
    let unwritable =
        |cause| StorageError::Unreadable { path: path.with_file_name(BACKUPS[0]), cause };
    let (folder, _) = folder_of(path).map_err(unwritable)?;
    for name in BACKUPS {
        let Some(stat @ Stat { kind: FileKind::File, .. }) =
            folder.stat(name).map_err(unwritable)?
        else {
            continue;
        };
        if !sql::holds_any(&folder.full(name), ids)? {
            continue;
        }
        let (new, file) = folder.unfinished(PRIVATE_FILE).map_err(unwritable)?;
        let done = without(capture, &folder.full(name), &folder.full(&new), ids).and_then(|()| {
            // The backup keeps the age of its content.
            let kept = file.set_modified(stat.modified).and_then(|()| file.sync_all());
            kept.and_then(|()| folder.rename(&new, name)).map_err(|e| unwritable(e).into())
        });
        done.inspect_err(|_| drop(folder.remove_file(&new)))?;
    }
    Ok(())
}

/// Copies a backup into an empty file, without these memories.
fn without(
    capture: &MemoryCaptureService,
    from: &Path,
    to: &Path,
    ids: &[Uuid],
) -> Result<(), CaptureError> {
    sql::copy(from, to)?;
    {
        let capture = capture.of(Arc::new(MemoryStore::open(to)?));
        ids.iter().try_for_each(|id| capture.forget(*id).map(drop))?;
    }
    sql::examine(to)?;
    Ok(())
}

/// A backup and the database that it is to replace.
#[derive(Debug)]
pub struct RestorePlan {
    /// The backup.
    pub file: PathBuf,
    /// When the backup was made.
    pub made: DateTime<Utc>,
    pub memories: usize,
    /// When the newest memory in it was made.
    pub newest: Option<DateTime<Utc>>,
    database: PathBuf,
}

/// Why nothing was restored. The database is unchanged then.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("{}: it cannot be restored: {why}; name another file with --from", path.display())]
    Unusable { path: PathBuf, why: String },
    #[error("there is no backup beside {}; name a file with --from, or move the database away to begin anew", path.display())]
    NoBackup { path: PathBuf },
    #[error("{}: it is not damaged, and holds {}; to go back to a backup all the same, name it: --from {}", path.display(), count(*memories, "memory"), backup.display())]
    NotDamaged { path: PathBuf, memories: usize, backup: PathBuf },
    #[error("whether the database is damaged cannot be told: {0}")]
    Unknown(StorageError),
    #[error("{}: {cause}", path.display())]
    Failed { path: PathBuf, cause: io::Error },
}

impl RestorePlan {
    /// Chooses the backup: `from`, or the newest undamaged one. An undamaged database is replaced
    /// only by a file that the user names.
    ///
    /// # Errors
    /// When there is nothing to restore from, or no need to.
    pub fn new(database: &Path, from: Option<&Path>) -> Result<Self, RestoreError> {
        let failed = |cause| RestoreError::Failed { path: database.to_path_buf(), cause };
        if let Some(from) = from {
            return Self::of(database, from);
        }
        let (folder, _) = folder_of(database).map_err(failed)?;
        let mut last = Err(RestoreError::NoBackup { path: database.to_path_buf() });
        for name in BACKUPS.iter().filter(|name| folder.has_file(name)) {
            last = Self::of(database, &folder.full(name));
            if last.is_ok() {
                break;
            }
        }
        let plan = last?;
        match MemoryStore::open(database).and_then(|store| store.examine()) {
            Err(StorageError::Damaged { .. } | StorageError::Lost { .. }) => Ok(plan),
            Err(e) => Err(RestoreError::Unknown(e)),
            Ok(found) => Err(RestoreError::NotDamaged {
                path: database.to_path_buf(),
                memories: found.memories,
                backup: plan.file,
            }),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a backup: of ours, or one that the user names")]
    fn of(database: &Path, file: &Path) -> Result<Self, RestoreError> {
        let unusable = |why: String| RestoreError::Unusable { path: file.to_path_buf(), why };
        let metadata = std::fs::metadata(file).map_err(|e| unusable(e.to_string()))?;
        if !metadata.is_file() {
            return Err(unusable("it is no regular file".into()));
        }
        let found = sql::examine(file).map_err(|e| match e {
            StorageError::Damaged { why, .. } => unusable(why),
            StorageError::TooNew { .. } => unusable("a newer cortex wrote it".into()),
            e => unusable(e.to_string()),
        })?;
        let made = metadata.modified().map(DateTime::from).unwrap_or_default();
        let (file, database) = (file.to_path_buf(), database.to_path_buf());
        Ok(Self { file, made, memories: found.memories, newest: found.newest, database })
    }

    /// Replaces the database by the backup. Returns where the old database is kept, if there was
    /// one.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn carry_out(&self) -> Result<Option<PathBuf>, RestoreError> {
        let failed = |cause| RestoreError::Failed { path: self.database.clone(), cause };
        let unusable = |e: StorageError| RestoreError::Unusable {
            path: self.file.clone(),
            why: e.to_string(),
        };
        let (folder, name) = folder_of(&self.database).map_err(failed)?;
        let (new, file) = folder.unfinished(PRIVATE_FILE).map_err(failed)?;
        let path = folder.full(&new);
        let copied =
            sql::copy(&self.file, &path).and_then(|()| MemoryStore::open(&path)?.renew_identity());
        let copied = copied.and_then(|()| sql::examine(&path)).map_err(unusable);
        let done = copied.and_then(|_| {
            file.sync_all().map_err(failed)?;
            let kept = put_aside(&folder, &name).map_err(failed)?;
            folder.rename(&new, &name).map_err(failed)?;
            let _ = folder.sync();
            Ok(kept.map(|kept| folder.full(kept)))
        });
        done.inspect_err(|_| drop(folder.remove_file(&new)))
    }
}

/// Renames a database and SQLite's files beside it, so that no process opens them.
fn put_aside(folder: &Dir, name: &OsStr) -> io::Result<Option<String>> {
    let beside = |of: &OsStr, end: &str| {
        let mut name = of.to_os_string();
        name.push(end);
        name
    };
    let date = Local::now().format("%Y-%m-%d-%H%M%S");
    // There may be two in one second.
    let names = (0..).map(|i| {
        format!("{DAMAGED}{date}{}.db", if i == 0 { String::new() } else { format!("-{i}") })
    });
    let is_free = |name: &String| folder.stat(name).is_ok_and(|stat: Option<Stat>| stat.is_none());
    let Some(kept) = names.take(100).find(is_free) else {
        return Err(io::Error::other("no name is free to keep it under"));
    };
    // The log is moved first: a new database of the same name must not use it.
    for end in BESIDE {
        match folder.rename(beside(name, end), beside(OsStr::new(&kept), end)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    match folder.rename(name, &kept) {
        Ok(()) => Ok(Some(kept)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
