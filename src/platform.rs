//! What depends on the operating system, beside the opening of files by descriptor (`dir.rs` and
//! `edit/file.rs`, by rustix). A port to another system begins here.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "Cortex runs on Linux and macOS. To port it, begin with src/platform.rs, src/dir.rs and src/edit/file.rs."
);

mod cached;
mod connection;

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};

pub use cached::drop_cached;
pub use connection::is_of_own_user;
/// A socket that programs of this machine reach by a path.
pub use std::os::unix::net::{UnixListener as LocalListener, UnixStream as LocalStream};

/// Permissions of a directory that only this user may look into.
pub const PRIVATE_DIR: u32 = 0o700;
/// Permissions of a file that only this user may read.
pub const PRIVATE_FILE: u32 = 0o600;
/// Permissions of a directory that others may look into, as far as the user's umask allows it.
pub const SHARED_DIR: u32 = 0o777;
/// Permissions of a file that others may read, as far as the user's umask allows it.
pub const SHARED_FILE: u32 = 0o666;
/// How often a process checks whether its parent still runs.
const PARENT_POLL: Duration = Duration::from_secs(2);
const SMALL_STACK: usize = 128 << 10;

/// Turns the signal of a file that exceeds the size limit of the process (`ulimit -f`) into the error
/// of the write, which says what happened. Without this, the system ends the process.
pub fn survive_file_size_limit() {
    // Only a forbidden signal cannot be caught.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Returns a stream that gets a byte for each of these signals, which end the process no longer.
fn told_of(signals: &[i32]) -> io::Result<LocalStream> {
    let (told, teller) = LocalStream::pair()?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, teller.try_clone()?)?;
    }
    Ok(told)
}

/// Calls `work` when the user interrupts the process (Ctrl-C), which then ends as it would have.
///
/// # Errors
/// When no thread or no pipe can be created.
pub fn before_interrupt(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut interrupted = told_of(&[SIGINT])?;
    let wait = move || {
        if interrupted.read_exact(&mut [0]).is_ok() {
            work();
            let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
        }
    };
    thread::Builder::new().name("interrupt".into()).spawn(wait)?;
    Ok(())
}

/// Ends the process in an orderly way: calls `work` and exits when a signal orders the end (SIGTERM,
/// SIGINT), or when the parent process has ended. (The end of standard input is not enough, since
/// others may hold it open.)
///
/// # Errors
/// When no thread or no pipe can be created.
pub fn end_with_parent(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut ordered = told_of(&[SIGINT, SIGTERM])?;
    ordered.set_read_timeout(Some(PARENT_POLL))?;
    let parent = parent_process();
    let wait = move || {
        while ordered.read_exact(&mut [0]).is_err() && parent_process() == parent {}
        work();
        std::process::exit(0);
    };
    thread::Builder::new().name("end".into()).stack_size(SMALL_STACK).spawn(wait).map(drop)
}

/// Lets a program run on when this process, or the terminal that it belongs to, ends.
pub fn detach(program: &mut Command) -> &mut Command {
    program.process_group(0)
}

/// Whether a browser of this session could show a window.
#[must_use]
pub fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].into_iter().any(is_set)
}

/// Returns the bytes of a file name, as the system and git know it.
pub fn name_bytes(name: &OsStr) -> &[u8] {
    name.as_bytes()
}

/// Returns the file name that has these bytes.
pub fn name_of_bytes(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Returns the name of this machine; empty if the system does not tell it.
#[must_use]
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_string()
}

/// Reads at an offset, without moving the position of the file.
///
/// # Errors
/// When the file ends before `bytes` is full, or cannot be read.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// What the system knows of a file beside its size and time of writing.
#[derive(Debug, Clone, Copy)]
pub struct FileIdentity {
    /// Device and inode: the same pair is the same file, whatever its name.
    pub id: (u64, u64),
    /// Permission bits, `0o7777`.
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
    /// The number of names that the file has.
    pub links: u64,
}

impl FileIdentity {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            id: (metadata.dev(), metadata.ino()),
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            links: metadata.nlink(),
        }
    }
}

/// Sets the permission bits of a file.
///
/// # Errors
/// When the file belongs to another user.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes a directory that only this user may look into. With `above`, also those above it, and an
/// existing one is no error.
///
/// # Errors
/// When it cannot be made.
pub fn make_private_dir(path: &Path, above: bool) -> io::Result<()> {
    DirBuilder::new().recursive(above).mode(PRIVATE_DIR).create(path)
}

/// Returns how many directories this user may watch; `None` where the system has no such limit.
#[must_use]
pub fn max_watches() -> Option<usize> {
    std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?.trim().parse().ok()
}

/// Returns how long processors have worked for this thread.
#[must_use]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// Returns the id of the process that started this one; of another one after that has ended.
pub fn parent_process() -> u32 {
    std::os::unix::process::parent_id()
}
