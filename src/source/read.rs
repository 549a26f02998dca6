//! Reading a file of the tree, and nothing else, whoever names it.

use std::fs;
use std::io;
use std::path::Path;

use super::is_for_indexing;

/// A file that has grown beyond this is not read.
const MAX_BYTES: u64 = 8 << 20;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// And never will be.
    #[error("{0}: it is not read")]
    Forbidden(String),
    #[error("`{path}` is no file, or larger than {} MiB: it is not read", MAX_BYTES >> 20)]
    TooLarge { path: String },
    #[error("`{path}` is in the index but cannot be read: {source}")]
    Failed { path: String, source: io::Error },
}

/// The text of a file, if it lies in the tree for real and is none that is never indexed: whatever a chunk file says, nobody
/// comes by a secret this way. What is no UTF-8 in it is replaced.
///
/// # Errors
/// When it is, or lies behind, a link, is hidden or of a kind that is never indexed, too large, or cannot be read.
pub fn read_text(root: &Path, path: &str) -> Result<String, ReadError> {
    if !is_for_indexing(path) {
        return Err(ReadError::Forbidden(format!("`{path}` is hidden, or of a kind that is never indexed")));
    }
    let failed = |source| ReadError::Failed { path: path.into(), source };
    let real = fs::canonicalize(root.join(path)).map_err(failed)?;
    if real != fs::canonicalize(root).map_err(failed)?.join(path) {
        return Err(ReadError::Forbidden(format!("`{path}` is, or lies behind, a symbolic link")));
    }
    let metadata = fs::metadata(&real).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(ReadError::TooLarge { path: path.into() });
    }
    let bytes = fs::read(&real).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_string())
}
