//! The seam between whoever has something to keep across processes and whoever has a place for it.

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Files that were saved together; none of them ever changes.
pub trait SavedFiles: Debug + Send + Sync {
    /// One of them.
    ///
    /// # Errors
    /// When there is none of that name.
    fn open(&self, name: &str) -> io::Result<Arc<dyn SavedFile>>;

    /// All of one of them.
    ///
    /// # Errors
    /// As [`SavedFiles::open`], or when it cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = self.open(name)?;
        file.read(0..file.n_bytes())
    }
}

/// A file that is read in parts.
pub trait SavedFile: Debug + Send + Sync {
    fn n_bytes(&self) -> u64;

    /// These bytes of it.
    ///
    /// # Errors
    /// When it cannot be read, or ends before them.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// A place for files that are saved together.
pub trait SaveWriter {
    /// Saves one file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()>;

    /// Saves the file of that name in `from` as it is, without a copy where that can be done. (Files of one name are one file.)
    ///
    /// # Errors
    /// When it is not there, or cannot be written.
    fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> io::Result<()>;
}

/// Where the last state of a feed's corpus is kept between processes.
pub trait CorpusCache: Debug + Send + Sync {
    /// What was saved last; `None` when there is nothing, or it is damaged, or of another version.
    fn open(&self) -> Option<Arc<dyn SavedFiles>>;

    /// Saves what `write` puts there, in place of what was there.
    ///
    /// # Errors
    /// When it cannot be written: what was there stays.
    fn save(&self, write: &mut dyn FnMut(&mut dyn SaveWriter) -> io::Result<()>) -> io::Result<()>;
}
