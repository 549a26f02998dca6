//! The interface between a component that saves data for later processes and the place that keeps
//! it.

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Files that were saved together. None of them ever changes.
pub trait SavedFiles: Debug + Send + Sync {
    /// Opens one of the files.
    ///
    /// # Errors
    /// When no file has this name.
    fn open(&self, name: &str) -> io::Result<Arc<dyn SavedFile>>;

    /// Reads one of the files whole.
    ///
    /// # Errors
    /// Same as [`SavedFiles::open`], or when the file cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = self.open(name)?;
        file.read(0..file.n_bytes())
    }
}

/// A file that is read in parts.
pub trait SavedFile: Debug + Send + Sync {
    fn n_bytes(&self) -> u64;

    /// Reads a range of its bytes.
    ///
    /// # Errors
    /// When the file cannot be read, or ends before the range does.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// Receives files that are saved together.
pub trait SaveWriter {
    /// Saves one file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()>;

    /// Saves the file `name` of `from` unchanged, if possible without copying it. (Files with the
    /// same name are the same file.)
    ///
    /// # Errors
    /// When the file is missing or cannot be written.
    fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> io::Result<()>;
}

/// A store that keeps the last state of a feed's corpus between processes.
pub trait CorpusCache: Debug + Send + Sync {
    /// Opens what was saved last. Returns `None` if there is nothing, or it is damaged or of
    /// another version.
    fn open(&self) -> Option<Arc<dyn SavedFiles>>;

    /// Saves what `write` puts into the writer, and replaces what was saved before.
    ///
    /// # Errors
    /// When it cannot be written; then what was saved before is kept.
    fn save(&self, write: &mut dyn FnMut(&mut dyn SaveWriter) -> io::Result<()>) -> io::Result<()>;
}
