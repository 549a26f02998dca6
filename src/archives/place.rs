//! Places of archives: a folder (of this machine, or a mounted share), or a cloud store.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dir::{Dir, FileKind, SHARED_DIR, SHARED_FILE, if_there};

/// Most files of a folder that are looked at.
const MAX_NAMES: usize = 10_000;

/// Why no archive was taken or left.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{place}: {message}")]
    Place { place: String, message: String },
    #[error(
        "cannot open {0}: this program was built without the clients of cloud stores (install a package of Cortex, which has them, or build it in a clone with `cargo install --locked --path . --features team`)"
    )]
    NoClient(String),
    #[error("the archive of an index cannot be {what}")]
    Io { what: &'static str, source: io::Error },
}

/// An open place.
pub(super) enum ArchivePlace {
    Folder(PathBuf, Arc<Dir>),
    #[cfg(feature = "team")]
    Bucket(String, cortex_depot::objects::Bucket),
}

impl ArchivePlace {
    /// Opens a place. A folder is made if it is to be written.
    #[expect(clippy::disallowed_methods, reason = "the folder for archives, which the user named")]
    pub(super) fn open(place: &str, is_written: bool) -> Result<Self, ArchiveError> {
        let refused = |message: String| ArchiveError::Place { place: place.into(), message };
        match place.split_once("://") {
            None | Some(("file", _)) => {
                let path = Path::new(place.strip_prefix("file://").unwrap_or(place));
                if is_written {
                    std::fs::create_dir_all(path).map_err(|e| refused(e.to_string()))?;
                }
                let dir = Dir::open(path).map_err(|e| refused(e.to_string()))?;
                Ok(Self::Folder(path.to_path_buf(), dir.into()))
            }
            #[cfg(feature = "team")]
            Some(("s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss", _)) => {
                let bucket = cortex_depot::objects::Bucket::open(place);
                Ok(Self::Bucket(place.into(), bucket.map_err(|e| refused(e.to_string()))?))
            }
            #[cfg(not(feature = "team"))]
            Some(("s3" | "s3a" | "gs" | "az" | "azure" | "abfs" | "abfss", _)) => {
                Err(ArchiveError::NoClient(place.into()))
            }
            Some(_) => Err(refused(
                "not a place for indexes: name a folder, or an address that begins with s3://, gs:// or az://".into(),
            )),
        }
    }

    fn failed(&self, e: &impl ToString) -> ArchiveError {
        let place = match self {
            Self::Folder(path, _) => path.display().to_string(),
            #[cfg(feature = "team")]
            Self::Bucket(url, _) => url.clone(),
        };
        ArchiveError::Place { place, message: e.to_string() }
    }

    /// Returns the names in a folder, and their bytes.
    pub(super) fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, ArchiveError> {
        match self {
            Self::Folder(_, dir) => {
                let listed = dir.dir(folder).and_then(|dir| Ok((dir.list()?, dir)));
                let listed = if_there(listed).map_err(|e| self.failed(&e))?;
                let Some((names, dir)) = listed else { return Ok(Vec::new()) };
                let files = names.into_iter().filter(|(_, kind)| *kind == FileKind::File);
                let sized = |(name, _): (std::ffi::OsString, _)| {
                    let bytes = dir.stat(&name).ok()??.bytes;
                    Some((name.into_string().ok()?, bytes))
                };
                Ok(files.take(MAX_NAMES).filter_map(sized).collect())
            }
            #[cfg(feature = "team")]
            Self::Bucket(_, bucket) => bucket.list(folder).map_err(|e| self.failed(&e)),
        }
    }

    /// Opens a file for reading.
    pub(super) fn read(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Folder(_, dir) => Ok(Box::new(dir.open_file(path)?)),
            #[cfg(feature = "team")]
            Self::Bucket(_, bucket) => bucket.read(path).map_err(io::Error::other),
        }
    }

    /// Writes a file, which nobody sees before it is complete.
    pub(super) fn write(
        &self,
        folder: &str,
        name: &str,
        content: &mut dyn Read,
    ) -> Result<(), ArchiveError> {
        match self {
            Self::Folder(_, dir) => {
                let mut write = || {
                    let dir = dir.make_dir(folder, SHARED_DIR)?;
                    dir.remove_abandoned();
                    let (unfinished, mut file) = dir.unfinished(SHARED_FILE)?;
                    let done = io::copy(content, &mut file)
                        .and_then(|_| file.sync_all())
                        .and_then(|()| dir.rename(&unfinished, name));
                    if done.is_err() {
                        let _ = dir.remove_file(&unfinished);
                    }
                    done
                };
                write().map_err(|e| self.failed(&e))
            }
            #[cfg(feature = "team")]
            Self::Bucket(_, bucket) => {
                bucket.write(&format!("{folder}/{name}"), content).map_err(|e| self.failed(&e))
            }
        }
    }

    /// Removes a file.
    pub(super) fn remove(&self, path: &str) -> Result<(), ArchiveError> {
        match self {
            Self::Folder(_, dir) => dir.remove_file(path).map_err(|e| self.failed(&e)),
            #[cfg(feature = "team")]
            Self::Bucket(_, bucket) => bucket.remove(path).map_err(|e| self.failed(&e)),
        }
    }
}
