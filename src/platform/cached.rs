//! The copies of files that the system keeps in memory.

use std::fs::File;
use std::io;

/// Asks the system to drop its copy of a file from memory, so that the next reader waits for the
/// disk. Returns whether it did; some file systems keep everything in memory.
///
/// # Errors
/// When the file cannot be synced or read, or the system has no such request.
#[cfg(target_os = "linux")]
pub fn drop_cached(file: &File) -> io::Result<bool> {
    use rustix::fs::{Advice, fadvise};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    // Only pages that are on disk can be dropped.
    file.sync_all()?;
    fadvise(file, 0, None, Advice::DontNeed)?;
    let mut byte = [0];
    let read = preadv2(file, &mut [io::IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT);
    // Even this question may have made the system read ahead.
    fadvise(file, 0, None, Advice::DontNeed)?;
    match read {
        Err(Errno::AGAIN) => Ok(true),
        Err(Errno::OPNOTSUPP) => Ok(false),
        Err(e) => Err(e.into()),
        // An empty file has nothing to drop.
        Ok(n) => Ok(n == 0),
    }
}

/// Fails, since this system has no request that drops one file from memory.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn drop_cached(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}
