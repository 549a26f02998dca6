//! The files of an inverted index: those that were saved are read where they are, in parts; new ones are in memory.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{Directory, FileHandle, OwnedBytes, RamDirectory, WatchCallback, WatchHandle, WritePtr};

use crate::chunk::{Saved, SavedFile};

/// Writes go to memory, and hide what was saved under that name.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    saved: Option<Arc<dyn Saved>>,
    new: RamDirectory,
}

impl Overlay {
    pub(super) fn over(saved: Arc<dyn Saved>) -> Self {
        Self { saved: Some(saved), new: RamDirectory::default() }
    }

    /// A file as it is, if it is a new one.
    pub(super) fn new_file(&self, path: &Path) -> Option<io::Result<OwnedBytes>> {
        let file = self.new.get_file_handle(path).ok()?;
        Some(file.read_bytes(0..file.len()))
    }

    pub(super) fn saved(&self) -> Option<&Arc<dyn Saved>> {
        self.saved.as_ref()
    }

    fn open_saved(&self, path: &Path) -> Result<Open, OpenReadError> {
        let missing = || OpenReadError::FileDoesNotExist(path.to_path_buf());
        let saved = self.saved.as_ref().ok_or_else(missing)?;
        saved.open(path.to_str().ok_or_else(missing)?).map(Open).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => missing(),
            _ => OpenReadError::wrap_io_error(e, path.to_path_buf()),
        })
    }
}

impl Directory for Overlay {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.new.get_file_handle(path) {
            Err(OpenReadError::FileDoesNotExist(_)) => Ok(Arc::new(self.open_saved(path)?)),
            found => found,
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.new.delete(path) {
            // What was saved stays: it is not ours to delete.
            Err(DeleteError::FileDoesNotExist(_)) if self.saved.is_some() => Ok(()),
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
                let bytes = file.read_bytes(0..file.len()).map_err(|e| OpenReadError::wrap_io_error(e, path.to_path_buf()))?;
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

#[derive(Debug)]
struct Open(Arc<dyn SavedFile>);

impl HasLen for Open {
    fn len(&self) -> usize {
        // What does not fit in memory was never saved from it.
        usize::try_from(self.0.n_bytes()).unwrap_or(usize::MAX)
    }
}

impl FileHandle for Open {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        Ok(OwnedBytes::new(self.0.read(range.start as u64..range.end as u64)?))
    }
}
