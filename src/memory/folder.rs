//! Opens the folder of a memory's files without following a link.

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

use crate::dir::{Dir, FileKind, OwnedDir};

/// The newest backup, and the one before it.
pub(super) const BACKUPS: [&str; 2] = ["memory.backup.db", "memory.backup.1.db"];
/// Prefix of databases that were replaced by a backup.
pub(super) const DAMAGED: &str = "memory.damaged-";

/// Opens the folder of a file and returns it with the file's name. The folder must belong to this
/// user.
pub(super) fn folder_of(path: &Path) -> Result<(Dir, OsString)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!("{}: the path has no file name", path.display()),
        ));
    };
    let folder = match folder.parent().zip(folder.file_name()) {
        Some((above, folder)) => OwnedDir::new(Arc::new(Dir::open(above)?), folder).open()?,
        None => Dir::open(folder)?,
    };
    Ok((folder, name.to_os_string()))
}

/// Returns the names of the files that show that a database existed here, separated by commas.
pub(super) fn trace(folder: &Dir) -> Option<String> {
    let is_trace = |name: &String| {
        BACKUPS.contains(&name.as_str()) || (name.starts_with(DAMAGED) && !name.contains(".db-"))
    };
    let names =
        folder.list().unwrap_or_default().into_iter().filter(|(_, kind)| *kind == FileKind::File);
    let mut names: Vec<String> =
        names.map(|(name, _)| name.to_string_lossy().into_owned()).filter(is_trace).collect();
    names.sort();
    (!names.is_empty()).then(|| names.join(", "))
}
