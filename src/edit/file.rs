//! Reads one file, and replaces it atomically: a write succeeds as a whole or changes nothing.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid, accessat, fchown, fstat,
    linkat, mkdirat, open, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::error::EditError;
use super::root::{Root, TEMP};
use super::text::MAX_BYTES;

use crate::platform::{FileIdentity, PRIVATE_FILE, SHARED_DIR, SHARED_FILE, set_mode};

/// How long an edit waits for the lock of a directory. Edits take
/// milliseconds, on slow disks longer.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// `NONBLOCK`: opening must not wait, even if a FIFO has replaced the file.
pub(super) const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A file name in a directory that is held open. A link that replaces the directory later has no
/// effect.
pub(super) struct EditTarget {
    /// Path relative to the root, with links followed.
    pub path: String,
    directory: File,
    name: String,
    _made: MadeDirectories,
}

/// The content and the metadata of a file.
pub(super) struct CurrentFile {
    pub bytes: Vec<u8>,
    metadata: std::fs::Metadata,
}

impl EditTarget {
    /// Opens the directory of a file. If `make` is set, missing directories are created.
    pub fn open(root: &Root, path: &str, make: bool) -> Result<Self, EditError> {
        let path = root.real_path(path)?;
        let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut made = MadeDirectories(Vec::new());
        match open_directory(root, above, make.then_some(&mut made)) {
            Ok(directory) => {
                Ok(Self { directory: directory.into(), name: name.to_string(), path, _made: made })
            }
            Err(Errno::NOENT) => Err(EditError::NotFound { path }),
            Err(e) => Err(EditError::Io { path, source: e.into() }),
        }
    }

    /// Waits for the lock of this directory. The lock is released when this
    /// target is dropped or the process ends.
    pub fn lock(&self, wait: Duration) -> Result<(), EditError> {
        let start = Instant::now();
        loop {
            match self.directory.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => {
                    return Err(EditError::Busy {
                        path: self.path.clone(),
                        waited_s: wait.as_secs(),
                    });
                }
                Err(TryLockError::Error(e)) => return Err(self.failed(e)),
            }
        }
    }

    /// Reads the file; `None` if it does not exist.
    pub fn read(&self) -> Result<Option<CurrentFile>, EditError> {
        let stat = match statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat.map_err(|e| self.failed(e))?,
        };
        // Checked before opening, since opening a device can have side effects, and again
        // afterwards, since the file may have been replaced in between.
        self.check_kind(FileType::from_raw_mode(stat.st_mode))?;
        let file =
            openat(&self.directory, &self.name, FILE, Mode::empty()).map_err(|e| self.failed(e))?;
        self.check_kind(FileType::from_raw_mode(
            fstat(&file).map_err(|e| self.failed(e))?.st_mode,
        ))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(|e| self.failed(e))?;
        self.check_size(metadata.len())?;
        let mut bytes = Vec::new();
        // The file may have grown since its size was checked.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| self.failed(e))?;
        self.check_size(bytes.len() as u64)?;
        Ok(Some(CurrentFile { bytes, metadata }))
    }

    /// Reads the file, which must exist.
    pub fn read_existing(&self) -> Result<CurrentFile, EditError> {
        self.read()?.ok_or_else(|| EditError::NotFound { path: self.path.clone() })
    }

    /// Checks that replacing the file has no side effect: it has one name and is writable.
    pub fn check_replaceable(&self, current: &CurrentFile) -> Result<(), EditError> {
        let n_names = FileIdentity::of(&current.metadata).links;
        if n_names > 1 {
            let why = format!(
                "it has {n_names} names (hard links), and an edit would change only one: replace the file by a copy of itself first"
            );
            return Err(self.refused(why));
        }
        let writable =
            accessat(&self.directory, &self.name, Access::WRITE_OK, AtFlags::empty()).is_ok();
        if !writable || FileIdentity::of(&current.metadata).mode & 0o222 == 0 {
            return Err(self
                .refused("it is read-only: make it writable first if it should be edited".into()));
        }
        Ok(())
    }

    /// Replaces the file `before`, or creates it if there was none.
    pub fn write(self, before: Option<&CurrentFile>, bytes: &[u8]) -> Result<(), EditError> {
        let _temp = Temp::write(&self.directory, before, bytes).map_err(|e| self.failed(e))?;
        match before {
            Some(before) => {
                self.check_holds(&before.bytes)?;
                renameat(&self.directory, TEMP, &self.directory, &self.name)
                    .map_err(|e| self.failed(e))?;
            }
            None => self.name_new().map_err(|e| match e {
                Errno::EXIST => EditError::Exists { path: self.path.clone() },
                e => self.failed(e),
            })?,
        }
        // The file has its name already. A failure here only means that the
        // name may not survive a power cut.
        let _ = self.directory.sync_all();
        Ok(())
    }

    /// Writes the new content of a file under a temporary name of its own.
    pub fn stage(&self, n: usize, before: &CurrentFile, bytes: &[u8]) -> Result<Staged, EditError> {
        let name = if n == 0 { TEMP.to_string() } else { format!("{TEMP}{n}") };
        let directory = self.directory.try_clone().map_err(|e| self.failed(e))?;
        let staged = Staged { directory, name };
        write_new(&staged.directory, &staged.name, Some(before), bytes)
            .map_err(|e| self.failed(e))?;
        Ok(staged)
    }

    /// Fails if the file is no longer as it was.
    pub fn check_holds(&self, bytes: &[u8]) -> Result<(), EditError> {
        if self.read()?.is_none_or(|now| now.bytes != bytes) {
            return Err(EditError::Changed { path: self.path.clone() });
        }
        Ok(())
    }

    /// Replaces the file `before` by its staged content.
    pub fn replace(&self, before: &CurrentFile, staged: &Staged) -> Result<(), EditError> {
        self.check_holds(&before.bytes)?;
        renameat(&self.directory, &staged.name, &self.directory, &self.name)
            .map_err(|e| self.failed(e))
    }

    /// Gives a file that was replaced its old content back, unless it changed since.
    pub fn restore(
        &self,
        before: &CurrentFile,
        staged: &Staged,
        after: &[u8],
    ) -> Result<(), EditError> {
        self.check_holds(after)?;
        write_new(&self.directory, &staged.name, Some(before), &before.bytes)
            .map_err(|e| self.failed(e))?;
        renameat(&self.directory, &staged.name, &self.directory, &self.name)
            .map_err(|e| self.failed(e))
    }

    /// Makes the names of new files survive a power cut.
    pub fn settle(&self) {
        let _ = self.directory.sync_all();
    }

    /// Renames the new file, unless the name was taken in the meantime.
    fn name_new(&self) -> Result<(), Errno> {
        let directory = &self.directory;
        match renameat_with(directory, TEMP, directory, &self.name, RenameFlags::NOREPLACE) {
            // Some file systems, such as NFS, cannot rename without
            // replacing, but can create a hard link.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(directory, TEMP, directory, &self.name, AtFlags::empty())
            }
            done => done,
        }
    }

    fn check_kind(&self, kind: FileType) -> Result<(), EditError> {
        let name = match kind {
            FileType::RegularFile => return Ok(()),
            FileType::Directory => "a directory",
            FileType::Symlink => "a symbolic link by now",
            FileType::Fifo => "a FIFO",
            FileType::Socket => "a socket",
            _ => "a device",
        };
        Err(self.refused(format!("it is {name}: only regular files are read and edited")))
    }

    fn check_size(&self, n_bytes: u64) -> Result<(), EditError> {
        if n_bytes <= MAX_BYTES {
            return Ok(());
        }
        Err(self.refused(format!(
            "it is larger than {} MiB: such files are neither read nor edited",
            MAX_BYTES >> 20
        )))
    }

    pub fn refused(&self, why: String) -> EditError {
        EditError::Refused { path: self.path.clone(), why }
    }

    pub fn unfit(&self, why: String) -> EditError {
        EditError::Unfit { path: self.path.clone(), why }
    }

    fn failed(&self, e: impl Into<io::Error>) -> EditError {
        EditError::Io { path: self.path.clone(), source: e.into() }
    }
}

/// Opens a directory below the root, one name at a time, so that no link is followed.
pub(super) fn open_directory(
    root: &Root,
    path: &str,
    mut made: Option<&mut MadeDirectories>,
) -> Result<OwnedFd, Errno> {
    let mut directory = open(&root.path, DIRECTORY, Mode::empty())?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        directory = match (openat(&directory, name, DIRECTORY, Mode::empty()), &mut made) {
            (Err(Errno::NOENT), Some(made)) => made.make(directory, name)?,
            (opened, _) => opened?,
        };
    }
    Ok(directory)
}

/// Directories that were created for a new file, each with its parent. Dropping this removes
/// them unless they contain a file.
pub(super) struct MadeDirectories(Vec<(OwnedFd, String)>);

impl MadeDirectories {
    fn make(&mut self, above: OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
        match mkdirat(&above, name, Mode::from_raw_mode(SHARED_DIR)) {
            Err(Errno::EXIST) => openat(&above, name, DIRECTORY, Mode::empty()),
            Err(e) => Err(e),
            Ok(()) => {
                let directory = openat(&above, name, DIRECTORY, Mode::empty());
                self.0.push((above, name.to_string()));
                directory
            }
        }
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for (above, name) in self.0.iter().rev() {
            // This fails if the directory is not empty.
            let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
        }
    }
}

/// The new content of a file under its temporary name. Dropping this removes that name.
pub(super) struct Staged {
    directory: File,
    name: String,
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// The new file under its temporary name. Dropping this removes that name,
/// whether or not the file was renamed.
struct Temp<'a>(&'a File);

impl<'a> Temp<'a> {
    fn write(directory: &'a File, before: Option<&CurrentFile>, bytes: &[u8]) -> io::Result<Self> {
        let temp = Self(directory);
        write_new(directory, TEMP, before, bytes)?;
        Ok(temp)
    }
}

/// Writes a new file, whose owner and mode are those of the file that it will replace.
fn write_new(
    directory: &File,
    name: &str,
    before: Option<&CurrentFile>,
    bytes: &[u8],
) -> io::Result<()> {
    // A process that was killed may have left a temporary file.
    let _ = unlinkat(directory, name, AtFlags::empty());
    // Until the new file has the mode of the one that it replaces, nobody else may read it.
    let mode = Mode::from_raw_mode(if before.is_some() { PRIVATE_FILE } else { SHARED_FILE });
    let mut file: File = openat(directory, name, NEW_FILE, mode)?.into();
    file.write_all(bytes)?;
    if let Some(before) = before {
        belong_as(&file, &before.metadata)?;
    }
    file.sync_all()
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(self.0, TEMP, AtFlags::empty());
    }
}

/// Sets the owner and the mode of a file to those of the file that it replaces.
fn belong_as(file: &File, metadata: &std::fs::Metadata) -> io::Result<()> {
    let FileIdentity { owner, group, mut mode, .. } = FileIdentity::of(metadata);
    let (owner, group) = (Uid::from_raw(owner), Gid::from_raw(group));
    // Only root may change the owner. A file that stays ours must not keep a set-user-ID bit.
    if fchown(file, Some(owner), Some(group)).is_err() {
        let _ = fchown(file, None, Some(group));
        mode &= 0o777;
    }
    set_mode(file, mode)
}
