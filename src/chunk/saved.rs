//! The seam between whoever has something to keep across processes and whoever has a place for it.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Files that were saved together; none of them ever changes.
pub trait Saved: Debug + Send + Sync {
    /// One of them, to be read at positions of one's own.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be opened.
    fn open(&self, name: &str) -> io::Result<File>;

    /// All of one of them.
    ///
    /// # Errors
    /// As [`Saved::open`], or when it cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = self.open(name)?;
        let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Where it is, for who wants a second name for it; `None` where files have no names.
    fn path(&self, name: &str) -> Option<PathBuf>;
}

/// A place for files that are saved together.
pub trait Saving {
    /// Saves one file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()>;

    /// Saves the file of that name in `from` as it is, without a copy where that can be done.
    ///
    /// # Errors
    /// When it is not there, or cannot be written.
    fn keep(&mut self, name: &str, from: &dyn Saved) -> io::Result<()>;
}

/// Where the last state of a feed's corpus is kept between processes.
pub trait Cache: Debug + Send + Sync {
    /// What was saved last; `None` when there is nothing, or it is damaged, or of another version.
    fn open(&self) -> Option<Arc<dyn Saved>>;

    /// Saves what `write` puts there, in place of what was there.
    ///
    /// # Errors
    /// When it cannot be written: what was there stays.
    fn save(&self, write: &mut dyn FnMut(&mut dyn Saving) -> io::Result<()>) -> io::Result<()>;
}
