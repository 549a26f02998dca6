//! Records which memory databases this user made, and for which directory.
//! A database carries a random id. The record of that id is in the user's state directory, where no
//! repository can write, and names the directory that the database belongs to. A database without a
//! record came from somewhere else.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::dir::{Dir, OpenMode, OwnedDir, PRIVATE_DIR, PRIVATE_FILE, SharedDir, own_user};
use crate::platform::make_private_dir;

/// Relative to the state directory.
const MEMORIES: &str = "cortex/memories";
const PROJECTS: &str = "cortex/projects";
const LOCK: &str = "lock";
/// Larger files are not read; a record is much shorter.
const MAX_RECORD: u64 = 1 << 16;

/// Returns the user's private directory for the project in `tree`, which need not exist. It is in the
/// state directory `state`, so it cannot come with a clone.
///
/// # Errors
/// When the state directory cannot be opened. It is created only if `make` is true.
#[expect(clippy::disallowed_methods, reason = "the user's state directory")]
pub fn private_dir(state: &Path, tree: &SharedDir, make: bool) -> io::Result<OwnedDir> {
    if !make && !state.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Records::new(state, tree).apart()
}

/// The records of one user, seen from one project.
#[derive(Debug, Clone)]
pub(super) struct Records {
    state: PathBuf,
    tree: SharedDir,
}

/// The directory that a database belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    root: PathBuf,
    device: u64,
    inode: u64,
}

impl Records {
    /// Creates the records of a user, whose state directory `state` need not exist yet.
    pub(super) fn new(state: &Path, tree: &SharedDir) -> Self {
        Self { state: state.to_path_buf(), tree: tree.clone() }
    }

    /// Opens or creates the state directory.
    #[expect(clippy::disallowed_methods, reason = "the user's state directory")]
    fn state(&self) -> io::Result<Dir> {
        if !self.state.is_dir() {
            make_private_dir(&self.state, true)?;
        }
        // SQLite opens the files below by their path, without following links.
        Dir::open(&std::fs::canonicalize(&self.state)?)
    }

    /// Returns the directory of the project's memory if that is outside the project. Creates the
    /// state directory, but not this one.
    pub(super) fn apart(&self) -> io::Result<OwnedDir> {
        Ok(OwnedDir::new(self.state()?.into(), self.apart_name()))
    }

    /// Returns the path of that directory, which need not exist.
    pub(super) fn apart_path(&self) -> PathBuf {
        self.state.join(self.apart_name())
    }

    fn apart_name(&self) -> PathBuf {
        Path::new(PROJECTS)
            .join(format!("{:032x}", xxh3_128(self.tree.path().as_os_str().as_encoded_bytes())))
    }

    fn dir(&self) -> io::Result<Dir> {
        OwnedDir::new(self.state()?.into(), MEMORIES).make(PRIVATE_DIR)
    }

    /// Locks the records, so that one process at a time creates a database or looks for its record.
    pub(super) fn lock(&self) -> io::Result<File> {
        let file = self.dir()?.file(LOCK, OpenMode::Update, PRIVATE_FILE)?;
        file.lock()?;
        Ok(file)
    }

    /// Returns whether the database with this id belongs to this directory. A renamed directory
    /// counts as the same one if its record can be updated.
    pub(super) fn know(&self, id: &str) -> bool {
        let here = self.here();
        match self.there().and_then(|dir| record(&dir, id)) {
            Ok(record) if record.is_of(&here) => record == here || self.put(id).is_ok(),
            _ => false,
        }
    }

    /// Returns whether any database belongs to this directory.
    pub(super) fn know_any(&self) -> bool {
        let here = self.here();
        let is_here = |dir: Dir| {
            let names = dir
                .list()
                .unwrap_or_default()
                .into_iter()
                .filter_map(|(name, _)| name.into_string().ok());
            names
                .filter(|name| name != LOCK)
                .any(|id| record(&dir, &id).is_ok_and(|record| record.is_of(&here)))
        };
        self.there().is_ok_and(is_here)
    }

    /// Opens the directory of the records, if it exists.
    fn there(&self) -> io::Result<Dir> {
        OwnedDir::new(Dir::open(&self.state)?.into(), MEMORIES).open()
    }

    /// Records that the database with this id belongs to this directory.
    pub(super) fn put(&self, id: &str) -> io::Result<()> {
        self.dir()?.replace(id, &serde_json::to_vec(&self.here())?, PRIVATE_FILE, true)
    }

    /// Returns the record of this directory.
    fn here(&self) -> Record {
        let (device, inode) = self.tree.id();
        Record { root: self.tree.path().to_path_buf(), device, inode }
    }
}

impl Record {
    /// Returns whether the path is equal, or the device and inode, which a renamed directory keeps.
    fn is_of(&self, here: &Self) -> bool {
        self.root == here.root || (self.device, self.inode) == (here.device, here.inode)
    }
}

fn record(dir: &Dir, id: &str) -> io::Result<Record> {
    if dir.stat(id)?.is_none_or(|stat| stat.owner != own_user()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(serde_json::from_slice(&dir.read(id, MAX_RECORD)?)?)
}
