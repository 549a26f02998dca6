//! The files of a text index: saved files are read in place, in parts; new files are in memory.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, OwnedBytes, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};

use crate::chunk::{SavedFile, SavedFiles};

/// Writes go to memory and hide the saved file of the same name.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    saved: Option<Arc<dyn SavedFiles>>,
    /// Whether to keep often read files in memory.
    keep: bool,
    /// Saved files that were opened.
    open: Arc<Mutex<HashMap<PathBuf, Arc<OpenTextFile>>>>,
    new: RamDirectory,
}

impl Overlay {
    pub(super) fn over(saved: Arc<dyn SavedFiles>, keep: bool) -> Self {
        Self { saved: Some(saved), keep, ..Self::default() }
    }

    /// Returns a file if it is new.
    pub(super) fn new_file(&self, path: &Path) -> Option<io::Result<OwnedBytes>> {
        let file = self.new.get_file_handle(path).ok()?;
        Some(file.read_bytes(0..file.len()))
    }

    pub(super) fn saved(&self) -> Option<&Arc<dyn SavedFiles>> {
        self.saved.as_ref()
    }

    fn all_open(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<OpenTextFile>>> {
        self.open.lock()
    }

    fn open_saved(&self, path: &Path) -> Result<Arc<OpenTextFile>, OpenReadError> {
        let mut all = self.all_open();
        if let Some(open) = all.get(path) {
            return Ok(open.clone());
        }
        let missing = || OpenReadError::FileDoesNotExist(path.to_path_buf());
        let saved = self.saved.as_ref().ok_or_else(missing)?;
        let file = saved.open(path.to_str().ok_or_else(missing)?).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => missing(),
            _ => OpenReadError::wrap_io_error(e, path.to_path_buf()),
        })?;
        let open = Arc::new(OpenTextFile {
            file,
            keep: self.keep,
            n_read: AtomicU64::new(0),
            whole: OnceLock::new(),
        });
        all.insert(path.to_path_buf(), open.clone());
        Ok(open)
    }
}

impl Directory for Overlay {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.new.get_file_handle(path) {
            Err(OpenReadError::FileDoesNotExist(_)) => Ok(self.open_saved(path)?),
            found => found,
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.new.delete(path) {
            // A saved file stays, because other processes use it.
            Err(DeleteError::FileDoesNotExist(_)) if self.saved.is_some() => {
                self.all_open().remove(path);
                Ok(())
            }
            deleted => deleted,
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.new.exists(path)? || self.open_saved(path).is_ok())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.new.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        match self.new.atomic_read(path) {
            Err(OpenReadError::FileDoesNotExist(_)) => {
                let file = self.open_saved(path)?;
                let bytes = file
                    .read_bytes(0..file.len())
                    .map_err(|e| OpenReadError::wrap_io_error(e, path.to_path_buf()))?;
                Ok(bytes.to_vec())
            }
            found => found,
        }
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.new.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.new.watch(callback)
    }
}

/// A saved file. A process that runs one query reads some parts of it; a server soon has all of it
/// in memory.
#[derive(Debug)]
struct OpenTextFile {
    file: Arc<dyn SavedFile>,
    keep: bool,
    /// Number of bytes read so far, of any parts.
    n_read: AtomicU64,
    /// The whole file, once as many bytes were read as it has.
    whole: OnceLock<OwnedBytes>,
}

impl HasLen for OpenTextFile {
    fn len(&self) -> usize {
        // A file that does not fit in memory was never saved.
        usize::try_from(self.file.n_bytes()).unwrap_or(usize::MAX)
    }
}

impl FileHandle for OpenTextFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole.slice(range));
        }
        let n_bytes = range.len() as u64;
        if self.keep
            && self.n_read.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes > self.file.n_bytes()
        {
            let whole = OwnedBytes::new(self.file.read(0..self.file.n_bytes())?);
            return Ok(self.whole.get_or_init(|| whole).slice(range));
        }
        Ok(OwnedBytes::new(self.file.read(range.start as u64..range.end as u64)?))
    }
}
