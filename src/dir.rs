//! Files below a directory that is held open, reached without following a symbolic link.
//!
//! A repository is written by strangers: any name in it may be a link to a file of the user, a named pipe that never ends, or a
//! file of a terabyte. Every module that touches files of a project opens, creates, replaces and removes them through
//! [`Dir`], and only regular files at that. A handle also keeps its directory when that is renamed: what is written goes where it
//! belonged, and nothing is made anew under the old name.
//!
//! The other modules do not use `std::fs` for files of a project; `tests/it/architecture.rs` holds them to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use crate::platform::{FileIdentity, name_of_bytes};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opening never waits: a pipe without a writer is opened at once, and then refused.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// How the names of files begin that are not complete yet.
const UNFINISHED: &str = ".unfinished-";
/// An unfinished file that is older than this was left by a writer that crashed.
const ABANDONED: Duration = Duration::from_hours(1);
const ADMINISTRATOR: u32 = 0;
/// Names that are tried for an unfinished file.
const TRIES: usize = 16;

/// A directory that is held open. Paths given to its methods are relative to it, and never lead out of it.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// As it was opened; for messages, and to tell whether it is still there.
    path: PathBuf,
    id: DirId,
}

/// What tells directories apart, whatever they are called: device and inode.
pub type DirId = (u64, u64);

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    Read,
    /// For writing; it must not be there yet.
    New,
    /// For writing at its end; it is made when it is missing.
    Append,
    /// For reading and writing; it is made when it is missing.
    Update,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Special(&'static str),
}

/// What the file system says of a file. Links are not followed: it may be of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    pub bytes: u64,
    pub modified: SystemTime,
    /// When it, or its description, was changed last (`ctime`), which nobody can set.
    pub changed: SystemTime,
    pub id: DirId,
    /// Permission bits.
    pub mode: u32,
    /// User id.
    pub owner: u32,
    /// How many names it has.
    pub links: u64,
}

/// Something that is never opened, whoever asks for it. Found inside an [`io::Error`] by [`is_refused`].
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
struct Refused {
    path: PathBuf,
    why: String,
}

/// Whether the error says that a path leads to something that is never opened: a link, a pipe, a device, a file over its limit.
#[must_use]
pub fn is_refused(e: &io::Error) -> bool {
    e.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Refused>)
}

/// The user that this process acts for.
#[must_use]
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Dir {
    /// Opens a directory that the user or the system named: links in `path` itself are followed.
    ///
    /// # Errors
    /// When it is no directory, or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| named(path, e))?;
        Self::of(fd, path.to_path_buf())
    }

    fn of(fd: OwnedFd, path: PathBuf) -> io::Result<Self> {
        let id = Stat::of_fd(fd.as_fd()).map_err(|e| named(&path, e))?.id;
        Ok(Self { fd, path, id })
    }

    /// Where it was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which directory it is.
    #[must_use]
    pub fn id(&self) -> DirId {
        self.id
    }

    /// The full path of something in it, for messages.
    #[must_use]
    pub fn full(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }

    /// What the file system says of the directory.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn own_stat(&self) -> io::Result<Stat> {
        Stat::of_fd(self.fd.as_fd()).map_err(|e| named(&self.path, e))
    }

    /// Whether this user may make and remove files in it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        use rustix::fs::{Access, accessat};
        accessat(&self.fd, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
    }

    /// Fails when the directory is no longer what its path names: it was moved, removed, or another one took its place.
    ///
    /// # Errors
    /// An error of the kind `NotFound` that says so.
    pub fn check_in_place(&self) -> io::Result<()> {
        if std::fs::metadata(&self.path).is_ok_and(|m| Stat::of_metadata(&m).id == self.id) {
            return Ok(());
        }
        let gone = "the directory that this process opened was moved, removed or replaced: start cortex again where it is now";
        Err(io::Error::new(ErrorKind::NotFound, format!("{}: {gone}", self.path.display())))
    }

    /// Opens a directory below.
    ///
    /// # Errors
    /// When there is none, or a link is in the way.
    pub fn dir(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        Self::of(self.open_at(path, DIRECTORY, Mode::empty())?, self.full(path))
    }

    /// Opens a directory below, and makes it with those above it when they are missing. `mode`: permissions of what is made, for
    /// example `0o700`.
    ///
    /// # Errors
    /// When it cannot be made, or something else is in its place.
    pub fn make_dir(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let path = path.as_ref();
        let mut made = PathBuf::new();
        self.check(path)?;
        for name in path.components().filter(|c| *c != Component::CurDir) {
            made.push(name);
            match self
                .parent(&made)
                .and_then(|(above, name)| mkdirat(&above, name, permissions(mode)).map_err(|e| self.explained(&made, e)))
            {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        self.dir(path)
    }

    /// Opens a regular file. `mode`: permissions of a file that is made.
    ///
    /// # Errors
    /// When it cannot be opened, is no regular file, or a link is in the way.
    pub fn file(&self, path: impl AsRef<Path>, how: OpenMode, mode: u32) -> io::Result<File> {
        let path = path.as_ref();
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
            FileKind::File => Ok(fd.into()),
            kind => Err(self.refused(path, format!("it is {}: only regular files are used; remove it", kind.describe()))),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// As [`Dir::file`].
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.file(path, OpenMode::Read, 0)
    }

    /// Reads a whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// As [`Dir::file`], and when it is larger.
    pub fn read(&self, path: impl AsRef<Path>, max_bytes: u64) -> io::Result<Vec<u8>> {
        let path = path.as_ref();
        let file = self.open_file(path)?;
        let too_large = || self.refused(path, format!("it is larger than the {max_bytes} bytes that are read of such a file"));
        let n_bytes = file.metadata().map_err(|e| named(&self.full(path), e))?.len();
        if n_bytes > max_bytes {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default() + 1);
        // It may grow while it is read.
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| named(&self.full(path), e))?;
        if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
    }

    /// Reads a text of at most `max_bytes`.
    ///
    /// # Errors
    /// As [`Dir::read`], and when it is not UTF-8.
    pub fn read_text(&self, path: impl AsRef<Path>, max_bytes: u64) -> io::Result<String> {
        let path = path.as_ref();
        String::from_utf8(self.read(path, max_bytes)?).map_err(|e| named(&self.full(path), io::Error::new(ErrorKind::InvalidData, e)))
    }

    /// What is there; `None`: nothing. A link in the middle of the path is an error, one at its end is what is there.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn stat(&self, path: impl AsRef<Path>) -> io::Result<Option<Stat>> {
        let path = path.as_ref();
        let found = self
            .parent(path)
            .and_then(|(above, name)| statat(&above, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| self.explained(path, e)));
        match found {
            Ok(stat) => Ok(Some(Stat::new(&stat))),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether a regular file is there.
    #[must_use]
    pub fn has_file(&self, path: impl AsRef<Path>) -> bool {
        matches!(self.stat(path), Ok(Some(Stat { kind: FileKind::File, .. })))
    }

    /// Puts a file with this content in place of whatever file or link has the name: written aside under a random name and renamed.
    /// After a loss of power a file that was not `synced` may be empty.
    ///
    /// # Errors
    /// When it cannot be written. Then the old one is as it was.
    pub fn replace(&self, path: impl AsRef<Path>, content: &[u8], mode: u32, synced: bool) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        let (aside, mut file) = unfinished(above.as_fd(), mode).map_err(|e| self.explained(path, e))?;
        let done = file.write_all(content).and_then(|()| if synced { file.sync_all() } else { Ok(()) });
        let done = done.and_then(|()| Ok(renameat(&above, &*aside, &above, name)?));
        done.map_err(|e| {
            let _ = unlinkat(&above, &*aside, AtFlags::empty());
            named(&self.full(path), e)
        })
    }

    /// Makes a file under a name that is known beforehand: what has the name is removed first, be it a link.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        let path = path.as_ref();
        match self.remove_file(path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        self.file(path, OpenMode::New, mode)
    }

    /// Makes an empty file under a name that nobody can know beforehand, to be renamed when it is complete. One that is left by a crash
    /// is removed by [`Dir::remove_abandoned`].
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn unfinished(&self, mode: u32) -> io::Result<(String, File)> {
        unfinished(self.fd.as_fd(), mode).map_err(|e| named(&self.path, e))
    }

    /// Gives a file another name; a file of that name is replaced.
    ///
    /// # Errors
    /// When there is no such file, or the system refuses.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let ((above, name), (new_above, new_name)) = (self.parent(from)?, self.parent(to)?);
        renameat(&above, name, &new_above, new_name).map_err(|e| self.explained(from, e))
    }

    /// Gives a file another name, which must be free.
    ///
    /// # Errors
    /// As [`Dir::rename`], or when there is something of that name.
    pub fn rename_to_new(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let ((above, name), (new_above, new_name)) = (self.parent(from)?, self.parent(to)?);
        match renameat_with(&above, name, &new_above, new_name, RenameFlags::NOREPLACE) {
            // Some file systems cannot tell.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if self.stat(to)?.is_none() => self.rename(from, to),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(ErrorKind::AlreadyExists.into()),
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
        rustix::fs::linkat(&above, name, &new_above, new_name, AtFlags::empty()).map_err(|e| self.explained(to, e))
    }

    /// Removes a file, or a link itself.
    ///
    /// # Errors
    /// When there is none, or the system refuses.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        unlinkat(&above, name, AtFlags::empty()).map_err(|e| self.explained(path, e))
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// When it is not, or the system refuses.
    pub fn remove_empty_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (above, name) = self.parent(path)?;
        unlinkat(&above, name, AtFlags::REMOVEDIR).map_err(|e| self.explained(path, e))
    }

    /// Removes a directory with all that is in it. Links in it are removed, not what they lead to. Directories may be nested deeper
    /// than there are open files, or than a path can say: each is moved up before it is looked into.
    ///
    /// # Errors
    /// When there is none, or something cannot be removed.
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
                        renameat(&inside.fd, &name, &top.fd, &*moved).map_err(|e| named(&inside.full(&name), e))?;
                    } else {
                        inside.remove_file(&name)?;
                    }
                }
                top.remove_empty_dir(&name)?;
            }
        }
    }

    /// The names in the directory, in no order.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list(&self) -> io::Result<Vec<(OsString, FileKind)>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(|e| named(&self.path, e))? {
            let entry = entry.map_err(|e| named(&self.path, e))?;
            let name = name_of_bytes(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say.
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

    /// Removes what writers left here that crashed.
    pub fn remove_abandoned(&self) {
        for (name, kind) in self.list().unwrap_or_default() {
            let is_unfinished = kind == FileKind::File && name.to_string_lossy().starts_with(UNFINISHED);
            if is_unfinished && matches!(self.stat(&name), Ok(Some(stat)) if stat.is_older(ABANDONED)) {
                let _ = self.remove_file(&name);
            }
        }
    }

    /// The names in it outlast a loss of power.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.fd).map_err(|e| named(&self.path, e))
    }

    /// The directory that a name is in, and the name.
    fn parent<'a>(&'a self, path: &'a Path) -> io::Result<(Above<'a>, &'a Path)> {
        self.check(path)?;
        let Some(name) = path.file_name() else { return Err(self.refused(path, "it names no file".into())) };
        match path.parent().filter(|above| !above.as_os_str().is_empty()) {
            None => Ok((Above::Own(self.fd.as_fd()), Path::new(name))),
            Some(above) => Ok((Above::Opened(self.open_at(above, DIRECTORY, Mode::empty())?), Path::new(name))),
        }
    }

    fn open_at(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        self.check(path)?;
        opened(self.fd.as_fd(), path, flags, mode).map_err(|e| self.explained(path, e))
    }

    /// Whether a path leads down only.
    fn check(&self, path: &Path) -> io::Result<()> {
        if path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
            return Ok(());
        }
        Err(self.refused(path, "the path leads out of its directory".into()))
    }

    fn refused(&self, path: &Path, why: String) -> io::Error {
        io::Error::new(ErrorKind::PermissionDenied, Refused { path: self.full(path), why })
    }

    /// Says which part of the path is a link, if one is.
    fn explained(&self, path: &Path, e: Errno) -> io::Error {
        if matches!(e, Errno::LOOP | Errno::NOTDIR) {
            let mut so_far = PathBuf::new();
            for name in path.components() {
                so_far.push(name);
                match statat(&self.fd, &so_far, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileKind::of(FileType::from_raw_mode(stat.st_mode))) {
                    Ok(FileKind::Link) => {
                        let why = "it is a symbolic link, and links are not followed here; remove it, or put what it leads to in its place";
                        return self.refused(&so_far, why.into());
                    }
                    Ok(FileKind::Directory) => {}
                    Ok(kind) if so_far != path => {
                        return self.refused(&so_far, format!("it is {}, where a directory must be", kind.describe()));
                    }
                    _ => break,
                }
            }
        }
        // A pipe that nobody reads.
        if e == Errno::NXIO {
            return self.refused(path, "it is no regular file; remove it".into());
        }
        named(&self.full(path), e)
    }
}

/// The directory above a name.
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

/// Opens without following a link, be it in the middle of the path. In one call where the system knows how.
fn opened(dir: BorrowedFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        match openat2(dir, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH) {
            // Kernels before 5.6, sandboxes that do not know the call, and a rename just now.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
            done => return done,
        }
    }
    opened_by_name(dir, path, flags, mode)
}

/// The same, name by name.
fn opened_by_name(dir: BorrowedFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let names: Vec<&std::ffi::OsStr> = path.iter().filter(|name| *name != ".").collect();
    let Some((last, above)) = names.split_last() else { return openat(dir, ".", flags, mode) };
    let mut directory: Option<OwnedFd> = None;
    for name in above {
        let from = directory.as_ref().map_or(dir, AsFd::as_fd);
        directory = Some(openat(from, *name, DIRECTORY, Mode::empty())?);
    }
    openat(directory.as_ref().map_or(dir, AsFd::as_fd), *last, flags | OFlags::NOFOLLOW, mode)
}

/// A new file under a name that nobody can know beforehand.
fn unfinished(directory: BorrowedFd, mode: u32) -> Result<(String, File), Errno> {
    let mut last = Errno::EXIST;
    for _ in 0..TRIES {
        let name = format!("{UNFINISHED}{:032x}", fastrand::u128(..));
        match openat(directory, &*name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE, permissions(mode)) {
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

/// The error with the path that it is about.
fn named(path: &Path, e: impl Into<io::Error>) -> io::Error {
    let e = e.into();
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
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

    /// For messages: `a named pipe`.
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
    /// Of an open file.
    ///
    /// # Errors
    /// When the system says nothing.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::of_fd(file.as_fd())?)
    }

    fn of_fd(fd: BorrowedFd) -> Result<Self, Errno> {
        Ok(Self::new(&fstat(fd)?))
    }

    fn new(stat: &rustix::fs::Stat) -> Self {
        fn time<S, N>(seconds: Result<u64, S>, nanoseconds: Result<u64, N>) -> SystemTime {
            UNIX_EPOCH + Duration::from_secs(seconds.unwrap_or_default()) + Duration::from_nanos(nanoseconds.unwrap_or_default())
        }
        #[allow(clippy::unnecessary_fallible_conversions, clippy::useless_conversion, reason = "the types differ between systems")]
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

    fn of_metadata(m: &std::fs::Metadata) -> Self {
        let kind = if m.is_dir() { FileKind::Directory } else { FileKind::File };
        let FileIdentity { id, mode, owner, links, changed, .. } = FileIdentity::of(m);
        Self { kind, bytes: m.len(), modified: m.modified().unwrap_or(UNIX_EPOCH), changed, id, mode, owner, links }
    }

    /// Whether it is a regular file that has no other name.
    #[must_use]
    pub fn is_sole_file(&self) -> bool {
        self.kind == FileKind::File && self.links <= 1
    }

    /// Whether it was last written longer ago than this.
    #[must_use]
    pub fn is_older(&self, than: Duration) -> bool {
        self.modified.elapsed().is_ok_and(|age| age > than)
    }
}

/// A directory that several objects share.
pub type SharedDir = Arc<Dir>;

/// A directory of this user, or of the administrator, below another one. It may not be there yet, and may be removed and made again, so each use opens it.
#[derive(Debug, Clone)]
pub struct OwnedDir {
    above: SharedDir,
    path: PathBuf,
}

impl OwnedDir {
    /// The directory at `path`, relative to `above`. Nothing is opened yet.
    #[must_use]
    pub fn new(above: SharedDir, path: impl Into<PathBuf>) -> Self {
        Self { above, path: path.into() }
    }

    /// The full path, for messages and for programs that want one.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.above.full(&self.path)
    }

    /// Opens it.
    ///
    /// # Errors
    /// `NotFound` when it is not there, or the directory above is no longer where it was opened; refused when a link is in the way or
    /// it belongs to another user.
    pub fn open(&self) -> io::Result<Dir> {
        self.above.check_in_place()?;
        self.owned(self.above.dir(&self.path)?)
    }

    /// Opens it, and makes it with those above it when it is missing. `mode`: permissions of what is made.
    ///
    /// # Errors
    /// As [`OwnedDir::open`], and when it cannot be made.
    pub fn make(&self, mode: u32) -> io::Result<Dir> {
        self.above.check_in_place()?;
        self.owned(self.above.make_dir(&self.path, mode)?)
    }

    /// A directory below it.
    #[must_use]
    pub fn below(&self, path: impl AsRef<Path>) -> Self {
        Self { above: self.above.clone(), path: self.path.join(path) }
    }

    fn owned(&self, dir: Dir) -> io::Result<Dir> {
        let owner = dir.own_stat()?.owner;
        // The system's administrator can change everything that this user has, in any case.
        if owner == own_user() || owner == ADMINISTRATOR {
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
        assert_eq!((dir.read_text("a/new", MANY).unwrap(), dir.stat("a/new").unwrap().unwrap().mode), ("two".into(), 0o600));
        dir.make_dir("x/y/z", 0o700).unwrap();
        assert_eq!(dir.stat("x/y").unwrap().unwrap().mode, 0o700);
        dir.rename("a/new", "x/y/z/moved").unwrap();
        dir.file("x/log", OpenMode::Append, 0o600).unwrap().write_all(b"1").unwrap();
        dir.file("x/log", OpenMode::Append, 0o600).unwrap().write_all(b"2").unwrap();
        assert_eq!(dir.read("x/log", MANY).unwrap(), b"12");
        assert!(dir.file("x/log", OpenMode::New, 0o600).is_err() && dir.create("x/log", 0o600).is_ok());
        dir.remove_dir("x").unwrap();
        let mut names: Vec<_> = dir.list().unwrap();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(names, [("a".into(), FileKind::Directory)]);
        assert!(dir.stat("x/y").unwrap().is_none() && dir.read("a/none", MANY).unwrap_err().kind() == ErrorKind::NotFound);
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
            assert!(dir.make_dir(path, 0o700).is_err() && dir.replace(path, b"x", 0o600, false).is_err());
            assert!(dir.create(path, 0o600).is_err() && dir.rename("a/b/file", path).is_err());
        }
        assert!(dir.remove_file("a/away/private").is_err() && dir.remove_dir("a/away").is_err() && dir.dir("a/away").is_err());
        // What takes the place of a link leaves alone what it leads to.
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
        for path in ["a/b/file", "a/b", ".", "a/away/private", "a/link", "a/b/file/x", "none", "a/none/x"] {
            let path = Path::new(path);
            let flags = OFlags::RDONLY | FILE;
            let (one, other) =
                (opened(dir.fd.as_fd(), path, flags, Mode::empty()), opened_by_name(dir.fd.as_fd(), path, flags, Mode::empty()));
            assert_eq!(one.is_ok(), other.is_ok(), "{}: {one:?}, {other:?}", path.display());
        }
    }

    #[test]
    fn paths_out_of_the_directory_are_refused() {
        let (temp, dir) = place();
        let absolute = temp.path().join("out/private");
        for path in ["../out/private", "a/../../out/private", absolute.to_str().unwrap()] {
            assert!(is_refused(&dir.read(path, MANY).unwrap_err()), "{path}");
            assert!(dir.stat(path).is_err() && dir.replace(path, b"", 0o600, false).is_err() && dir.make_dir(path, 0o700).is_err());
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
        assert!(is_refused(&dir.read("a/b/file", 3).unwrap_err()) && dir.read("a/b/file", 4).is_ok());
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
        assert!(dir.check_in_place().unwrap_err().to_string().contains("moved, removed or replaced"));
        dir.replace("a/new", b"x", 0o600, false).unwrap();
        assert!(temp.path().join("moved/a/new").is_file() && !temp.path().join("in").exists());
        fs::create_dir(temp.path().join("in")).unwrap();
        assert!(dir.check_in_place().is_err(), "another one took its place");
        fs::remove_dir_all(temp.path().join("moved")).unwrap();
        assert!(dir.make_dir("x", 0o700).is_err() && dir.replace("new", b"x", 0o600, false).is_err());
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
        if own_user() == 0 {
            std::os::unix::fs::chown(at.path(), Some(12345), None).unwrap();
            let e = at.open().unwrap_err();
            assert!(is_refused(&e) && e.to_string().contains("12345"), "{e}");
            std::os::unix::fs::chown(at.path(), Some(0), None).unwrap();
        } else {
            eprintln!("SKIPPED: only root can give a directory away");
        }
        fs::rename(temp.path().join("in"), temp.path().join("moved")).unwrap();
        assert!(at.make(0o700).unwrap_err().to_string().contains("moved, removed or replaced") && !temp.path().join("in").exists());
    }

    #[test]
    fn what_cannot_be_read_names_its_path() {
        let (temp, dir) = place();
        fs::set_permissions(temp.path().join("in/a/b/file"), fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read everything.
        if let Err(e) = dir.read("a/b/file", MANY) {
            assert!(e.to_string().contains("in/a/b/file") && !is_refused(&e), "{e}");
        }
        assert!(dir.read("a/none", MANY).unwrap_err().to_string().contains("in/a/none"));
    }
}
