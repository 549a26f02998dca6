//! The folder that the files of a memory lie in, reached without following a link.

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

use crate::dir::{Dir, OwnedDir};

/// Opens the folder of a file, and returns it with the file's name. The folder must belong to this user.
pub(super) fn folder_of(path: &Path) -> Result<(Dir, OsString)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::new(ErrorKind::InvalidInput, format!("{}: it names no file", path.display())));
    };
    let folder = match folder.parent().zip(folder.file_name()) {
        Some((above, folder)) => OwnedDir::new(Arc::new(Dir::open(above)?), folder).open()?,
        None => Dir::open(folder)?,
    };
    Ok((folder, name.to_os_string()))
}
