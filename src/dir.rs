//! Accesses files below a directory that is held open, without following symbolic links.
//!
//! Strangers write repositories: a name in one may be a link to a file of the user, a named pipe
//! that never ends, or a file of a terabyte. So every module accesses the files of a project
//! through [`Dir`], and only regular files. An open directory stays the same when it is renamed:
//! writes go there, and nothing is created again under the old name.
//!
//! The other modules do not use `std::fs` for files of a project;
//! `tests/it/architecture.rs` checks that.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, readlinkat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::platform::{FileIdentity, make_private_dir, name_of_bytes};
pub use crate::platform::{PRIVATE_DIR, PRIVATE_FILE, SHARED_DIR, SHARED_FILE};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opening never blocks: a pipe without a writer opens at once, and is then refused.
const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// The prefix of the names of files that are not complete yet.
const UNFINISHED: &str = ".unfinished-";
/// An unfinished file that is older than this was left by a writer that crashed.
const ABANDONED: Duration = Duration::from_hours(1);
const ADMINISTRATOR: u32 = 0;
/// Number of random names that are tried for an unfinished file.
const TRIES: usize = 16;

/// A directory that is held open. Paths given to its methods are relative to it, and stay below it.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// The path with which it was opened, for messages and [`Dir::check_in_place`].
    path: PathBuf,
    id: DirId,
}

/// Identifies a directory, whatever its name: device and inode.
pub type DirId = (u64, u64);

/// The way to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    Read,
    /// For writing; the name must be free.
    New,
    /// For writing at the end; a missing file is created.
    Append,
    /// For reading and writing; a missing file is created.
    Update,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device, with its name for messages.
    Special(&'static str),
}

/// The metadata of a file. Links are not followed, so it may be that of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    pub bytes: u64,
    pub modified: SystemTime,
    /// The last change of content or metadata (`ctime`), which no program can set.
    pub changed: SystemTime,
    pub id: DirId,
    /// Permission bits.
    pub mode: u32,
    /// User id.
    pub owner: u32,
    /// The number of names of the file.
    pub links: u64,
}

/// The path may never be opened. [`is_refused`] finds this inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
struct Refused {
    path: PathBuf,
    why: String,
}

/// Whether a path was refused because it leads to something that is never opened: a link, a pipe, a
/// device, or a file over its limit.
#[must_use]
pub fn is_refused(e: &io::Error) -> bool {
    e.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Refused>)
}

/// Returns what was found; `None` if the operation failed because nothing is there.
///
/// # Errors
/// When it failed for another reason.
pub fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// An operation failed because of the machine, not because of the file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}: {advice}", path.display())]
struct MachineFailed {
    path: PathBuf,
    cause: io::Error,
    advice: &'static str,
}

/// Says what to do about an error of the machine; `None` for an error of one file.
fn advice(e: Errno) -> Option<&'static str> {
    Some(match e {
        Errno::MFILE => "let the process open more files (`ulimit -n 4096`), and try again",
        Errno::NFILE => {
            "close programs that hold many files, or raise the limit of the system (`sysctl fs.file-max`), and try again"
        }
        Errno::NOMEM => "close programs that need much memory, and try again",
        Errno::IO => "check the disk or the network drive that holds it, and try again",
        Errno::NOSPC | Errno::DQUOT => "free space on this disk, and try again",
        _ => return None,
    })
}

/// The last failures of the machine in this process, and the number of all so far.
static MACHINE_FAILURES: Mutex<(u64, VecDeque<MachineFailure>)> = Mutex::new((0, VecDeque::new()));
/// The path, the error, and what it says.
type MachineFailure = (PathBuf, Errno, String);
/// Number of failures that are kept.
const KEPT_FAILURES: usize = 64;

/// Notices failures of the machine from the moment when it is made.
///
/// Code that reads a tree lets many errors pass: a file that cannot be read is left out, and a file
/// of rules that cannot be read has no rules. After a failure of the machine, all this would describe
/// a tree that does not exist.
#[derive(Debug, Clone, Copy)]
pub struct MachineWatch {
    n_before: u64,
}

impl MachineWatch {
    /// Notices failures from now on.
    #[must_use]
    pub fn begin() -> Self {
        Self { n_before: MACHINE_FAILURES.lock().0 }
    }

    /// Checks that the machine failed nowhere below `root`, and that the process could open files and
    /// had memory.
    ///
    /// # Errors
    /// The first such failure that is still known.
    pub fn check(self, root: &Path) -> io::Result<()> {
        // A walk names files by the path without links.
        let real = std::fs::canonicalize(root).unwrap_or_default();
        let is_below = |path: &Path| {
            path.starts_with(root) || (path.starts_with(&real) && !real.as_os_str().is_empty())
        };
        let failures = MACHINE_FAILURES.lock();
        let n_new = usize::try_from(failures.0 - self.n_before).unwrap_or(usize::MAX);
        let n_known = failures.1.len().saturating_sub(n_new);
        let concerns = |(path, e, _): &&(PathBuf, Errno, String)| {
            matches!(*e, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
                || (*e == Errno::IO && is_below(path))
        };
        match failures.1.iter().skip(n_known).find(concerns) {
            Some((_, _, message)) => Err(io::Error::other(message.clone())),
            None => Ok(()),
        }
    }
}

/// Returns the id of the user for whom this process acts.
#[must_use]
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Dir {
    /// Opens a directory that the user or the system named. Links in `path` are followed.
    ///
    /// # Errors
    /// When it is not a directory, or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| named(path, e))?;
        Self::of(fd, path.to_path_buf())
    }

    fn of(fd: OwnedFd, path: PathBuf) -> io::Result<Self> {
        let id = Stat::of_fd(fd.as_fd()).map_err(|e| named(&path, e))?.id;
        Ok(Self { fd, path, id })
    }

    /// Returns the path with which the directory was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the device and inode of the directory.
    #[must_use]
    pub fn id(&self) -> DirId {
        self.id
    }

    /// Returns the full path of something in the directory, for messages.
    #[must_use]
    pub fn full(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }

    /// Returns the metadata of the directory.
    ///
    /// # Errors
    /// When the system does not give it.
    pub fn own_stat(&self) -> io::Result<Stat> {
        Stat::of_fd(self.fd.as_fd()).map_err(|e| named(&self.path, e))
    }

    /// Whether this user may create and remove files in the directory.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        use rustix::fs::{Access, accessat};
        accessat(&self.fd, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
    }

    /// Returns the number of bytes that this user may still write to the file system of the
    /// directory.
    ///
    /// # Errors
    /// When the system does not say it.
    pub fn free_bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::fstatvfs(&self.fd).map_err(|e| named(&self.path, e))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Checks that the path still names this directory, and not another one or none.
    ///
    /// # Errors
    /// With the kind `NotFound`, when the directory was moved, removed or replaced.
    pub fn check_in_place(&self) -> io::Result<()> {
        if std::fs::metadata(&self.path).is_ok_and(|m| FileIdentity::of(&m).id == self.id) {
            return Ok(());
        }
        let gone = "the directory that this process opened was moved, removed or replaced: start cortex again where it is now";
        Err(io::Error::new(ErrorKind::NotFound, format!("{}: {gone}", self.path.display())))
    }

    /// Opens a directory below.
    ///
    /// # Errors
    /// When it does not exist, or a link is in the path.
    pub fn dir(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        Self::of(self.open_at(path, DIRECTORY, Mode::empty())?, self.full(path))
    }

    /// Opens a directory below; creates it and those above it, with the permissions `mode` (such as
    /// [`PRIVATE_DIR`]), if they are missing.
    ///
    /// # Errors
    /// When it cannot be created, or something else is in its place.
    pub fn make_dir(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let path = path.as_ref();
        let mut made = PathBuf::new();
        self.check(path)?;
        for name in path.components().filter(|c| *c != Component::CurDir) {
            made.push(name);
            match self.parent(&made).and_then(|(above, name)| {
                mkdirat(&above, name, permissions(mode)).map_err(|e| self.explained(&made, e))
            }) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        self.dir(path)
    }

    /// Opens a regular file. `mode` has the permissions of a file that is created.
    ///
    /// # Errors
    /// When it cannot be opened, is not a regular file, a link is in the path, or a file to be
    /// changed has a second name (a hard link).
    pub fn file(&self, path: impl AsRef<Path>, how: OpenMode, mode: u32) -> io::Result<File> {
        self.file_with_stat(path.as_ref(), how, mode).map(|(file, _)| file)
    }

    fn file_with_stat(&self, path: &Path, how: OpenMode, mode: u32) -> io::Result<(File, Stat)> {
        let flags = match how {
            OpenMode::Read => OFlags::RDONLY,
            OpenMode::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            OpenMode::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
            OpenMode::Update => OFlags::RDWR | OFlags::CREATE,
        };
        let mode = if how == OpenMode::Read { Mode::empty() } else { permissions(mode) };
        let fd = self.open_at(path, flags | FILE, mode)?;
        let stat = Stat::of_fd(fd.as_fd()).map_err(|e| named(&self.full(path), e))?;
        match stat.kind {
            FileKind::File if matches!(how, OpenMode::Append | OpenMode::Update) && stat.links > 1 => {
                Err(self.refused(path, "it has another name (a hard link), whose content would change as well; remove it".into()))
            }
            FileKind::File => Ok((fd.into(), stat)),
            kind => Err(self.refused(path, format!("it is {}: only regular files are used; remove it", kind.describe()))),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Same as [`Dir::file`].
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.file(path, OpenMode::Read, 0)
    }

    /// Reads a whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// Same as [`Dir::file`], and when the file is larger.
    pub fn read(&self, path: impl AsRef<Path>, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(path, max_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a whole file of at most `max_bytes` into a buffer, in place of its content.
    ///
    /// # Errors
    /// Same as [`Dir::read`].
    pub fn read_into(
        &self,
        path: impl AsRef<Path>,
        max_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        bytes.clear();
        let path = path.as_ref();
        let (file, stat) = self.file_with_stat(path, OpenMode::Read, 0)?;
        let too_large = || {
            self.refused(
                path,
                format!("it is larger than {max_bytes} bytes, the limit for such a file"),
            )
        };
        if stat.bytes > max_bytes {
            return Err(too_large());
        }
        bytes.reserve(usize::try_from(stat.bytes).unwrap_or_default() + 1);
        // The file may grow while it is read.
        file.take(max_bytes.saturating_add(1))
            .read_to_end(bytes)
            .map_err(|e| named(&self.full(path), e))?;
        if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(()) }
    }

    /// Reads a text file of at most `max_bytes`.
    ///
    /// # Errors
    /// Same as [`Dir::read`], and when the file is not UTF-8.
    pub fn read_text(&self, path: impl AsRef<Path>, max_bytes: u64) -> io::Result<String> {
        let path = path.as_ref();
        String::from_utf8(self.read(path, max_bytes)?)
            .map_err(|e| named(&self.full(path), io::Error::new(ErrorKind::InvalidData, e)))
    }

    /// Returns the metadata of what has this path, if anything, even if that is a link.
    ///
    /// # Errors
    /// When a link is in the middle of the path, or the system does not give the metadata.
    pub fn stat(&self, path: impl AsRef<Path>) -> io::Result<Option<Stat>> {
        let path = path.as_ref();
        let found = self.parent(path).and_then(|(above, name)| {
            statat(&above, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| self.explained(path, e))
        });
        Ok(if_there(found)?.map(|stat| Stat::new(&stat)))
    }

    /// Returns the path that a symbolic link holds, as it is written there. Nothing is asked about what
    /// the path names.
    ///
    /// # Errors
    /// When it is not a link, or a link is in the middle of the path.
    pub fn link_text(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        let text = readlinkat(&above, name, Vec::new()).map_err(|e| self.explained(path, e))?;
        Ok(name_of_bytes(text.into_bytes()).into())
    }

    /// Whether the path is a regular file.
    #[must_use]
    pub fn has_file(&self, path: impl AsRef<Path>) -> bool {
        matches!(self.stat(path), Ok(Some(Stat { kind: FileKind::File, .. })))
    }

    /// Replaces whatever file or link has the name by a new file: writes it under a random name,
    /// and renames it. Unless it is `synced`, the file may be empty after a loss of power.
    ///
    /// # Errors
    /// When the file cannot be written. The old one is unchanged then.
    pub fn replace(
        &self,
        path: impl AsRef<Path>,
        content: &[u8],
        mode: u32,
        synced: bool,
    ) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        let (aside, mut file) =
            unfinished(above.as_fd(), mode).map_err(|e| self.explained(path, e))?;
        let done =
            file.write_all(content).and_then(|()| if synced { file.sync_all() } else { Ok(()) });
        let done = done.and_then(|()| Ok(renameat(&above, &*aside, &above, name)?));
        done.map_err(|e| {
            let _ = unlinkat(&above, &*aside, AtFlags::empty());
            named(&self.full(path), e)
        })
    }

    /// Creates a file under a predictable name, so it first removes whatever
    /// file or link has that name.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        let path = path.as_ref();
        if_there(self.remove_file(path))?;
        self.file(path, OpenMode::New, mode)
    }

    /// Creates an empty file under a random name, to be renamed when it is complete.
    /// [`Dir::remove_abandoned`] removes such files after a crash.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn unfinished(&self, mode: u32) -> io::Result<(String, File)> {
        unfinished(self.fd.as_fd(), mode).map_err(|e| named(&self.path, e))
    }

    /// Renames a file. A file that has the new name is replaced.
    ///
    /// # Errors
    /// When the file does not exist, or the system refuses.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let ((above, name), (new_above, new_name)) = (self.parent(from)?, self.parent(to)?);
        renameat(&above, name, &new_above, new_name).map_err(|e| self.explained(from, e))
    }

    /// Renames a file to a name that must be free.
    ///
    /// # Errors
    /// Same as [`Dir::rename`], and when the new name is taken.
    pub fn rename_to_new(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let ((above, name), (new_above, new_name)) = (self.parent(from)?, self.parent(to)?);
        match renameat_with(&above, name, &new_above, new_name, RenameFlags::NOREPLACE) {
            // Some file systems do not support this flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if self.stat(to)?.is_none() => {
                self.rename(from, to)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Err(ErrorKind::AlreadyExists.into())
            }
            done => done.map_err(|e| self.explained(from, e)),
        }
    }

    /// Gives a file a second name, which must be free.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn hard_link(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let ((above, name), (new_above, new_name)) = (self.parent(from)?, self.parent(to)?);
        rustix::fs::linkat(&above, name, &new_above, new_name, AtFlags::empty())
            .map_err(|e| self.explained(to, e))
    }

    /// Removes a file or a link, not what the link points to.
    ///
    /// # Errors
    /// When it does not exist, or the system refuses.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        unlinkat(&above, name, AtFlags::empty()).map_err(|e| self.explained(path, e))
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// When it is not empty, or the system refuses.
    pub fn remove_empty_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        unlinkat(&above, name, AtFlags::REMOVEDIR).map_err(|e| self.explained(path, e))
    }

    /// Removes a directory and its content. Links in it are removed, not what they point to.
    /// Directories may be nested deeper than a process can open files, or than a path can express,
    /// so each is moved up before it is listed.
    ///
    /// # Errors
    /// When the directory does not exist, or something cannot be removed.
    pub fn remove_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let top = self.dir(path)?;
        loop {
            let names = top.list()?;
            if names.is_empty() {
                return self.remove_empty_dir(path);
            }
            for (name, kind) in names {
                if kind != FileKind::Directory {
                    top.remove_file(&name)?;
                    continue;
                }
                let inside = top.dir(&name)?;
                for (name, kind) in inside.list()? {
                    if kind == FileKind::Directory {
                        let moved = format!("{UNFINISHED}{:032x}", fastrand::u128(..));
                        renameat(&inside.fd, &name, &top.fd, &*moved)
                            .map_err(|e| named(&inside.full(&name), e))?;
                    } else {
                        inside.remove_file(&name)?;
                    }
                }
                top.remove_empty_dir(&name)?;
            }
        }
    }

    /// Returns the names in the directory, in no order.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn list(&self) -> io::Result<Vec<(OsString, FileKind)>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(|e| named(&self.path, e))? {
            let entry = entry.map_err(|e| named(&self.path, e))?;
            let name = name_of_bytes(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not give the type.
                FileType::Unknown => match self.stat(&name)? {
                    Some(stat) => stat.kind,
                    None => continue,
                },
                kind => FileKind::of(kind),
            };
            names.push((name, kind));
        }
        Ok(names)
    }

    /// Removes old unfinished files, which writers left that crashed.
    pub fn remove_abandoned(&self) {
        self.remove_unfinished(ABANDONED);
    }

    /// Removes unfinished files that are older than this. The caller knows that no writer is that slow.
    pub fn remove_unfinished(&self, age: Duration) {
        for (name, kind) in self.list().unwrap_or_default() {
            let is_unfinished =
                kind == FileKind::File && name.to_string_lossy().starts_with(UNFINISHED);
            if is_unfinished && matches!(self.stat(&name), Ok(Some(stat)) if stat.is_older(age)) {
                let _ = self.remove_file(&name);
            }
        }
    }

    /// Makes changes of the names in the directory durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.fd).map_err(|e| named(&self.path, e))
    }

    /// Returns the directory that contains a path, and the last name of the path.
    fn parent<'a>(&'a self, path: &'a Path) -> io::Result<(Above<'a>, &'a Path)> {
        self.check(path)?;
        let Some(name) = path.file_name() else {
            return Err(self.refused(path, "it does not name a file".into()));
        };
        match path.parent().filter(|above| !above.as_os_str().is_empty()) {
            None => Ok((Above::Own(self.fd.as_fd()), Path::new(name))),
            Some(above) => {
                Ok((Above::Opened(self.open_at(above, DIRECTORY, Mode::empty())?), Path::new(name)))
            }
        }
    }

    fn open_at(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        self.check(path)?;
        opened(self.fd.as_fd(), path, flags, mode).map_err(|e| self.explained(path, e))
    }

    /// Checks that a path only leads down.
    fn check(&self, path: &Path) -> io::Result<()> {
        if path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
            return Ok(());
        }
        Err(self.refused(path, "the path leads out of its directory".into()))
    }

    fn refused(&self, path: &Path, why: String) -> io::Error {
        io::Error::new(ErrorKind::PermissionDenied, Refused { path: self.full(path), why })
    }

    /// Turns an error into one that names the part of the path that is a link or a file, if one is.
    fn explained(&self, path: &Path, e: Errno) -> io::Error {
        if matches!(e, Errno::LOOP | Errno::NOTDIR) {
            let mut so_far = PathBuf::new();
            for name in path.components() {
                so_far.push(name);
                match statat(&self.fd, &so_far, AtFlags::SYMLINK_NOFOLLOW)
                    .map(|stat| FileKind::of(FileType::from_raw_mode(stat.st_mode)))
                {
                    Ok(FileKind::Link) => {
                        let why = "it is a symbolic link, and links are not followed here; remove it, or put what it leads to in its place";
                        return self.refused(&so_far, why.into());
                    }
                    Ok(FileKind::Directory) => {}
                    Ok(kind) if so_far != path => {
                        return self.refused(
                            &so_far,
                            format!("it is {}, where a directory must be", kind.describe()),
                        );
                    }
                    _ => break,
                }
            }
        }
        // The file is a pipe that nobody reads.
        if e == Errno::NXIO {
            return self.refused(path, "it is not a regular file; remove it".into());
        }
        named(&self.full(path), e)
    }
}

/// The directory that contains a name.
enum Above<'a> {
    Own(BorrowedFd<'a>),
    Opened(OwnedFd),
}

impl AsFd for Above<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(fd) => *fd,
            Self::Opened(fd) => fd.as_fd(),
        }
    }
}

/// Opens a path without following links anywhere in it; in one call where the system has it.
fn opened(dir: BorrowedFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        match openat2(dir, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH) {
            // Kernels before 5.6, sandboxes that do not know the call, and a concurrent rename.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
            done => return done,
        }
    }
    opened_by_name(dir, path, flags, mode)
}

/// Opens a path without following links, one name of it at a time.
fn opened_by_name(
    dir: BorrowedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let names: Vec<&std::ffi::OsStr> = path.iter().filter(|name| *name != ".").collect();
    let Some((last, above)) = names.split_last() else { return openat(dir, ".", flags, mode) };
    let mut directory: Option<OwnedFd> = None;
    for name in above {
        let from = directory.as_ref().map_or(dir, AsFd::as_fd);
        directory = Some(openat(from, *name, DIRECTORY, Mode::empty())?);
    }
    openat(directory.as_ref().map_or(dir, AsFd::as_fd), *last, flags | OFlags::NOFOLLOW, mode)
}

/// Creates a file under a random name, which nobody can know in advance.
fn unfinished(directory: BorrowedFd, mode: u32) -> Result<(String, File), Errno> {
    let mut last = Errno::EXIST;
    for _ in 0..TRIES {
        let name = format!("{UNFINISHED}{:032x}", fastrand::u128(..));
        match openat(
            directory,
            &*name,
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE,
            permissions(mode),
        ) {
            Ok(fd) => return Ok((name, fd.into())),
            Err(Errno::EXIST) => last = Errno::EXIST,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

fn permissions(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode)
}

/// Returns the error with the path that it is about.
fn named(path: &Path, e: impl Into<io::Error>) -> io::Error {
    let cause = e.into();
    let errno = Errno::from_io_error(&cause);
    let Some((errno, advice)) = errno.and_then(|errno| Some((errno, advice(errno)?))) else {
        return io::Error::new(cause.kind(), format!("{}: {cause}", path.display()));
    };
    let kind = cause.kind();
    let failed = MachineFailed { path: path.to_path_buf(), cause, advice };
    let mut failures = MACHINE_FAILURES.lock();
    failures.0 += 1;
    if failures.1.len() == KEPT_FAILURES {
        failures.1.pop_front();
    }
    failures.1.push_back((path.to_path_buf(), errno, failed.to_string()));
    drop(failures);
    io::Error::new(kind, failed)
}

impl FileKind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Special("a named pipe"),
            FileType::Socket => Self::Special("a socket"),
            _ => Self::Special("a device"),
        }
    }

    /// Returns the text for messages, such as `a named pipe`.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Special(what) => what,
        }
    }
}

impl Stat {
    /// Returns the metadata of an open file.
    ///
    /// # Errors
    /// When the system does not give it.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::of_fd(file.as_fd())?)
    }

    fn of_fd(fd: BorrowedFd) -> Result<Self, Errno> {
        Ok(Self::new(&fstat(fd)?))
    }

    fn new(stat: &rustix::fs::Stat) -> Self {
        fn time<S, N>(seconds: Result<u64, S>, nanoseconds: Result<u64, N>) -> SystemTime {
            UNIX_EPOCH
                + Duration::from_secs(seconds.unwrap_or_default())
                + Duration::from_nanos(nanoseconds.unwrap_or_default())
        }
        #[allow(
            clippy::unnecessary_fallible_conversions,
            clippy::useless_conversion,
            reason = "the types differ between systems"
        )]
        Self {
            kind: FileKind::of(FileType::from_raw_mode(stat.st_mode)),
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: time(u64::try_from(stat.st_mtime), u64::try_from(stat.st_mtime_nsec)),
            changed: time(u64::try_from(stat.st_ctime), u64::try_from(stat.st_ctime_nsec)),
            id: (u64::try_from(stat.st_dev).unwrap_or_default(), u64::from(stat.st_ino)),
            mode: u32::from(stat.st_mode) & 0o7777,
            owner: stat.st_uid,
            links: u64::from(stat.st_nlink),
        }
    }

    /// Whether it is a regular file that has no other name.
    #[must_use]
    pub fn is_sole_file(&self) -> bool {
        self.kind == FileKind::File && self.links <= 1
    }

    /// Whether it was last written longer ago than `than`.
    #[must_use]
    pub fn is_older(&self, than: Duration) -> bool {
        self.modified.elapsed().is_ok_and(|age| age > than)
    }
}

/// A directory that several objects share.
pub type SharedDir = Arc<Dir>;

/// Relative to the user's state directory.
const PRIVATE: &str = "cortex";

/// A directory of this user, or of the administrator, below another one. It may be missing, or be
/// removed and created again, so each use opens it.
///
/// A process that used the directory never makes it again: somebody who removes it, perhaps with all
/// that is around it, means it. Another process may make it again, and then this one goes on.
#[derive(Debug, Clone)]
pub struct OwnedDir {
    above: SharedDir,
    path: PathBuf,
    /// Users to whom the directory may belong.
    owners: [u32; 2],
    base: Arc<Base>,
}

/// What the clones of an [`OwnedDir`], and the directories below it, share.
#[derive(Debug)]
struct Base {
    path: PathBuf,
    /// Files that stay in the directory as long as nobody begins to remove it.
    markers: &'static [&'static str],
    seen: Mutex<Seen>,
}

/// What this process has seen of a directory.
#[derive(Debug, Default)]
struct Seen {
    /// The directory. Held open, so that no later one has its identity.
    dir: Option<Dir>,
    markers: BTreeSet<&'static str>,
}

impl OwnedDir {
    /// Names the directory at `path`, relative to `above`, without opening it.
    #[must_use]
    pub fn new(above: SharedDir, path: impl Into<PathBuf>) -> Self {
        Self::marked(above, path, &[])
    }

    /// Names a directory whose files `markers` stay in it. To remove a directory means to remove its
    /// files one after the other, and nothing may be written between. So without a marker that this
    /// process has seen in it, the directory counts as removed.
    #[must_use]
    pub fn marked(
        above: SharedDir,
        path: impl Into<PathBuf>,
        markers: &'static [&'static str],
    ) -> Self {
        let path = path.into();
        let base = Base { path: path.clone(), markers, seen: Mutex::default() };
        // The administrator can change all files of this user anyway.
        Self { above, path, owners: [own_user(), ADMINISTRATOR], base: Arc::new(base) }
    }

    /// Names the directory of Cortex in the user's state directory, which only this user can read.
    ///
    /// # Errors
    /// When the state directory cannot be made or opened.
    pub fn private(state: &Path) -> io::Result<Self> {
        make_private_dir(state, true)?;
        Ok(Self::new(Dir::open(state)?.into(), PRIVATE))
    }

    /// Returns the full path, for messages and for programs that need one.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.above.full(&self.path)
    }

    /// Returns the full path, without links above it.
    #[must_use]
    pub fn canonical_path(&self) -> PathBuf {
        let above = self.above.path();
        std::fs::canonicalize(above).unwrap_or_else(|_| above.to_path_buf()).join(&self.path)
    }

    /// Opens the directory.
    ///
    /// # Errors
    /// `NotFound` when it does not exist, somebody removes it, or the directory above is no longer at
    /// its path. Refused when a link is in the path, or another user owns the directory.
    pub fn open(&self) -> io::Result<Dir> {
        self.above.check_in_place()?;
        let base = self.look(self.above.dir(&self.base.path)?)?;
        match self.below_base() {
            Some(below) => self.owned(base.dir(below)?),
            None => Ok(base),
        }
    }

    /// Opens the directory; creates it and those above it, with the permissions `mode`, if missing.
    ///
    /// # Errors
    /// Same as [`OwnedDir::open`], when it cannot be created, and `NotFound` when this process used it
    /// and somebody removed it.
    pub fn make(&self, mode: u32) -> io::Result<Dir> {
        self.above.check_in_place()?;
        let path = &self.base.path;
        let is_used = self.base.seen.lock().dir.is_some();
        let base = if is_used { self.above.dir(path) } else { self.above.make_dir(path, mode) };
        let gone = |e: io::Error| match e.kind() {
            ErrorKind::NotFound if is_used => self.removed(),
            _ => e,
        };
        let base = self.look(base.map_err(gone)?)?;
        // Below the open directory: if that is removed now, nothing is made in its place.
        match self.below_base() {
            Some(below) => self.owned(base.make_dir(below, mode).map_err(gone)?),
            None => Ok(base),
        }
    }

    fn below_base(&self) -> Option<&Path> {
        let below = self.path.strip_prefix(&self.base.path).ok()?;
        (!below.as_os_str().is_empty()).then_some(below)
    }

    /// Notes what is in the directory, and checks that nobody removes it.
    fn look(&self, base: Dir) -> io::Result<Dir> {
        let base = self.owned(base)?;
        let mut seen = self.base.seen.lock();
        if seen.dir.as_ref().is_none_or(|dir| dir.id() != base.id()) {
            *seen = Seen { dir: Some(self.above.dir(&self.base.path)?), markers: BTreeSet::new() };
        }
        for marker in self.base.markers {
            if base.has_file(marker) {
                seen.markers.insert(marker);
            } else if seen.markers.contains(marker) {
                return Err(self.removed());
            }
        }
        Ok(base)
    }

    fn removed(&self) -> io::Error {
        let path = self.above.full(&self.base.path);
        let why = "somebody removed it while this process used it, so it is not made again (`cortex index` makes a new index)";
        io::Error::new(ErrorKind::NotFound, format!("{}: {why}", path.display()))
    }

    /// Names a directory below this one.
    #[must_use]
    pub fn below(&self, path: impl AsRef<Path>) -> Self {
        Self { path: self.path.join(path), ..self.clone() }
    }

    fn owned(&self, dir: Dir) -> io::Result<Dir> {
        let owner = dir.own_stat()?.owner;
        if self.owners.contains(&owner) {
            return Ok(dir);
        }
        let why = format!(
            "it belongs to another user (id {owner}), so nothing in it is trusted or changed; give it to your user (chown), or keep the index \
elsewhere: CORTEX_INDEX_LOCATION=cache"
        );
        Err(self.above.refused(&self.path, why))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const MANY: u64 = 1 << 20;

    fn place() -> (tempfile::TempDir, Dir) {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("in/a/b")).unwrap();
        fs::create_dir_all(temp.path().join("out")).unwrap();
        fs::write(temp.path().join("out/private"), "private").unwrap();
        fs::write(temp.path().join("in/a/b/file"), "text").unwrap();
        let dir = Dir::open(&temp.path().join("in")).unwrap();
        (temp, dir)
    }

    fn pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn files_are_read_made_replaced_and_removed() {
        let (_temp, dir) = place();
        assert_eq!(dir.read("a/b/file", MANY).unwrap(), b"text");
        assert_eq!(dir.read("./a/./b/file", MANY).unwrap(), b"text");
        dir.replace("a/new", b"one", 0o600, true).unwrap();
        dir.replace("a/new", b"two", 0o600, false).unwrap();
        assert_eq!(
            (dir.read_text("a/new", MANY).unwrap(), dir.stat("a/new").unwrap().unwrap().mode),
            ("two".into(), 0o600)
        );
        dir.make_dir("x/y/z", 0o700).unwrap();
        assert_eq!(dir.stat("x/y").unwrap().unwrap().mode, 0o700);
        dir.rename("a/new", "x/y/z/moved").unwrap();
        dir.file("x/log", OpenMode::Append, 0o600).unwrap().write_all(b"1").unwrap();
        dir.file("x/log", OpenMode::Append, 0o600).unwrap().write_all(b"2").unwrap();
        assert_eq!(dir.read("x/log", MANY).unwrap(), b"12");
        assert!(
            dir.file("x/log", OpenMode::New, 0o600).is_err() && dir.create("x/log", 0o600).is_ok()
        );
        dir.remove_dir("x").unwrap();
        let mut names: Vec<_> = dir.list().unwrap();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(names, [("a".into(), FileKind::Directory)]);
        assert!(
            dir.stat("x/y").unwrap().is_none()
                && dir.read("a/none", MANY).unwrap_err().kind() == ErrorKind::NotFound
        );
    }

    /// Every error of [`Dir`] is made by `named`.
    #[test]
    fn a_failure_of_the_machine_is_noticed_where_it_matters() {
        let (_temp, dir) = place();
        let (inside, outside) = (dir.full("a/b/file"), Path::new("/elsewhere/file"));
        let checks = |path: &Path, e: Errno| {
            let watch = MachineWatch::begin();
            let message = named(path, e).to_string();
            let noticed = watch.check(dir.path()).map_err(|e| e.to_string()).err();
            (message.clone(), noticed.is_some_and(|noticed| noticed == message))
        };
        // Failures of the whole process would be noticed by the tests beside this one.
        for e in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            assert!(advice(e).is_some(), "{e}");
        }
        let (message, is_noticed) = checks(&inside, Errno::IO);
        assert!(message.contains("check the disk") && is_noticed, "{message}");
        assert!(!checks(outside, Errno::IO).1, "another disk is broken");
        for e in [Errno::NOENT, Errno::ACCESS, Errno::NOSPC] {
            assert!(!checks(&inside, e).1, "{e}");
        }
    }

    #[test]
    fn links_are_not_followed_wherever_they_stand() {
        let (temp, dir) = place();
        symlink(temp.path().join("out"), temp.path().join("in/a/away")).unwrap();
        symlink(temp.path().join("out/private"), temp.path().join("in/link")).unwrap();
        symlink("a/b/file", temp.path().join("in/inside")).unwrap();
        for path in ["a/away/private", "link", "inside"] {
            let e = dir.read(path, MANY).unwrap_err();
            assert!(is_refused(&e) && e.to_string().contains("symbolic link"), "{path}: {e}");
        }
        for how in [OpenMode::Append, OpenMode::Update] {
            assert!(is_refused(&dir.file("link", how, 0o600).unwrap_err()));
        }
        assert!(dir.file("link", OpenMode::New, 0o600).is_err());
        for path in ["a/away/x", "a/away/x/y"] {
            assert!(
                dir.make_dir(path, 0o700).is_err()
                    && dir.replace(path, b"x", 0o600, false).is_err()
            );
            assert!(dir.create(path, 0o600).is_err() && dir.rename("a/b/file", path).is_err());
        }
        assert!(
            dir.remove_file("a/away/private").is_err()
                && dir.remove_dir("a/away").is_err()
                && dir.dir("a/away").is_err()
        );
        // Replacing a link does not touch what it points to.
        dir.replace("link", b"new", 0o600, false).unwrap();
        assert_eq!(dir.read("link", MANY).unwrap(), b"new");
        dir.remove_dir("a").unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("out/private")).unwrap(), "private");
        assert_eq!(fs::read_dir(temp.path().join("out")).unwrap().count(), 1);
    }

    #[test]
    fn both_ways_of_opening_agree() {
        let (temp, dir) = place();
        symlink(temp.path().join("out"), temp.path().join("in/a/away")).unwrap();
        symlink("b/file", temp.path().join("in/a/link")).unwrap();
        for path in
            ["a/b/file", "a/b", ".", "a/away/private", "a/link", "a/b/file/x", "none", "a/none/x"]
        {
            let path = Path::new(path);
            let flags = OFlags::RDONLY | FILE;
            let (one, other) = (
                opened(dir.fd.as_fd(), path, flags, Mode::empty()),
                opened_by_name(dir.fd.as_fd(), path, flags, Mode::empty()),
            );
            assert_eq!(one.is_ok(), other.is_ok(), "{}: {one:?}, {other:?}", path.display());
        }
    }

    #[test]
    fn paths_out_of_the_directory_are_refused() {
        let (temp, dir) = place();
        let absolute = temp.path().join("out/private");
        for path in ["../out/private", "a/../../out/private", absolute.to_str().unwrap()] {
            assert!(is_refused(&dir.read(path, MANY).unwrap_err()), "{path}");
            assert!(
                dir.stat(path).is_err()
                    && dir.replace(path, b"", 0o600, false).is_err()
                    && dir.make_dir(path, 0o700).is_err()
            );
        }
    }

    #[test]
    fn pipes_devices_directories_and_large_files_are_refused_at_once() {
        let (temp, dir) = place();
        pipe(&temp.path().join("in/pipe"));
        for how in [OpenMode::Read, OpenMode::Append, OpenMode::Update] {
            assert!(is_refused(&dir.file("pipe", how, 0o600).unwrap_err()), "{how:?}");
        }
        assert!(dir.read("a/b", MANY).is_err());
        assert!(
            is_refused(&dir.read("a/b/file", 3).unwrap_err()) && dir.read("a/b/file", 4).is_ok()
        );
        dir.replace("pipe", b"x", 0o600, false).unwrap();
        assert_eq!(dir.read("pipe", MANY).unwrap(), b"x");
    }

    #[test]
    fn files_with_another_name_are_not_written_into() {
        let (temp, dir) = place();
        fs::hard_link(temp.path().join("out/private"), temp.path().join("in/second")).unwrap();
        for how in [OpenMode::Append, OpenMode::Update] {
            let e = dir.file("second", how, 0o600).unwrap_err();
            assert!(is_refused(&e) && e.to_string().contains("hard link"), "{e}");
        }
        dir.replace("second", b"new", 0o600, false).unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("out/private")).unwrap(), "private");
        assert!(dir.file("second", OpenMode::Append, 0o600).is_ok());
    }

    #[test]
    fn directories_in_directories_without_end_are_removed() {
        let (temp, dir) = place();
        let mut below = dir.make_dir("deep", 0o700).unwrap();
        for _ in 0..3000 {
            below.make_dir("d/e", 0o700).unwrap();
            below.replace("f", b"x", 0o600, false).unwrap();
            below = Dir { path: PathBuf::new(), ..below.dir("d").unwrap() };
        }
        symlink(temp.path().join("out"), temp.path().join("in/deep/link")).unwrap();
        dir.remove_dir("deep").unwrap();
        assert!(dir.stat("deep").unwrap().is_none() && temp.path().join("out/private").is_file());
    }

    #[test]
    fn a_directory_that_was_moved_is_told_and_not_made_anew() {
        let (temp, dir) = place();
        dir.check_in_place().unwrap();
        fs::rename(temp.path().join("in"), temp.path().join("moved")).unwrap();
        assert!(
            dir.check_in_place().unwrap_err().to_string().contains("moved, removed or replaced")
        );
        dir.replace("a/new", b"x", 0o600, false).unwrap();
        assert!(temp.path().join("moved/a/new").is_file() && !temp.path().join("in").exists());
        fs::create_dir(temp.path().join("in")).unwrap();
        assert!(dir.check_in_place().is_err(), "another one took its place");
        fs::remove_dir_all(temp.path().join("moved")).unwrap();
        assert!(
            dir.make_dir("x", 0o700).is_err() && dir.replace("new", b"x", 0o600, false).is_err()
        );
    }

    #[test]
    fn a_failed_replacement_leaves_nothing() {
        let (temp, dir) = place();
        assert!(dir.replace("a/b", b"x", 0o600, false).is_err(), "a directory has the name");
        assert_eq!(fs::read_dir(temp.path().join("in/a")).unwrap().count(), 1);
        fs::write(temp.path().join("in/.unfinished-1"), "x").unwrap();
        dir.remove_abandoned();
        assert!(dir.has_file(".unfinished-1"), "its writer may be at it");
        let old = File::options().write(true).open(temp.path().join("in/.unfinished-1")).unwrap();
        old.set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        dir.remove_abandoned();
        assert!(!dir.has_file(".unfinished-1"));
    }

    #[test]
    fn a_place_belongs_to_this_user_and_to_its_directory() {
        let (temp, dir) = place();
        let at = OwnedDir::new(Arc::new(dir), "a/mine");
        assert_eq!(at.open().unwrap_err().kind(), ErrorKind::NotFound);
        at.make(0o700).unwrap().replace("x", b"x", 0o600, false).unwrap();
        assert!(at.open().unwrap().has_file("x"));
        // The directory belongs to another user than the expected ones.
        let e = OwnedDir { owners: [own_user() + 1; 2], ..at.clone() }.open().unwrap_err();
        assert!(is_refused(&e) && e.to_string().contains(&format!("(id {})", own_user())), "{e}");
        fs::rename(temp.path().join("in"), temp.path().join("moved")).unwrap();
        assert!(
            at.make(0o700).unwrap_err().to_string().contains("moved, removed or replaced")
                && !temp.path().join("in").exists()
        );
    }

    #[test]
    fn a_place_that_somebody_removes_is_not_made_again() {
        let (temp, dir) = place();
        let dir = Arc::new(dir);
        let at = OwnedDir::marked(dir.clone(), "mine", &["marker", "second"]);
        let path = temp.path().join("in/mine");
        let below = at.below("cache/deep");
        below.make(0o700).unwrap();
        let is_refused = |why: &str| {
            for (name, place) in [("it", &at), ("a clone", &at.clone()), ("below", &below)] {
                let e = place.make(0o700).unwrap_err();
                assert_eq!(e.kind(), ErrorKind::NotFound, "{why}: {name}");
                assert!(e.to_string().contains("somebody removed it"), "{why}: {name}: {e}");
                assert_eq!(place.open().unwrap_err().kind(), ErrorKind::NotFound, "{why}: {name}");
            }
        };
        fs::remove_dir_all(&path).unwrap();
        is_refused("it is gone");
        assert!(!path.exists());
        // Another process made it, and this one goes on.
        OwnedDir::marked(dir, "mine", &[]).make(0o700).unwrap();
        below.make(0o700).unwrap();
        fs::write(path.join("marker"), "").unwrap();
        below.make(0o700).unwrap();
        // Somebody removes its files, one after the other.
        fs::remove_file(path.join("marker")).unwrap();
        fs::remove_dir_all(path.join("cache")).unwrap();
        is_refused("it is being removed");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        fs::write(path.join("marker"), "").unwrap();
        below.make(0o700).unwrap();
    }

    #[test]
    fn what_cannot_be_read_names_its_path() {
        let (temp, dir) = place();
        fs::set_permissions(temp.path().join("in/a/b/file"), fs::Permissions::from_mode(0o000))
            .unwrap();
        // Root may read everything.
        if let Err(e) = dir.read("a/b/file", MANY) {
            assert!(e.to_string().contains("in/a/b/file") && !is_refused(&e), "{e}");
        }
        assert!(dir.read("a/none", MANY).unwrap_err().to_string().contains("in/a/none"));
    }
}
