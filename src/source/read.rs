//! Reads files of the tree, and only those, whatever path is asked for.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::decoded::{text_of, utf8};
use super::hash::sha256;
use super::skip::is_never_read;
use crate::dir::{Dir, FileKind, is_refused};
use crate::secrets::redact_file;

/// Most bytes of a file that is indexed or read, however large the configuration allows. Indexing
/// and reading share the limit, so that every file of the index can be read.
pub const MAX_BYTES: u64 = 64 << 20;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path may never be read. The text is the path and the reason.
    #[error("cannot read {0}")]
    Forbidden(String),
    #[error("cannot read `{path}`: it is not a regular file, or is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge { path: String },
    #[error("cannot read `{path}`: {source}")]
    Failed { path: String, source: io::Error },
}

/// Returns the text of a file as Cortex shows it: secrets are replaced, and lines keep their
/// numbers. All that a tool or command shows or searches comes from here, so no pattern can be used
/// to guess what is hidden. UTF-16 is decoded, and invalid UTF-8 is replaced.
///
/// # Errors
/// When the file is not in the tree, is or lies behind a link, is of a kind that is never indexed
/// (whatever a chunk file says), is too large, or cannot be read. The caller asks
/// [`WalkOptions::may_read`](super::WalkOptions::may_read) about hidden files.
pub fn read_text(root: &Path, path: &str) -> Result<String, ReadError> {
    Ok(without_secrets(text_of(&read_bytes(root, path)?)))
}

/// Returns the text of a file as [`read_text`] does, and the SHA-256 of the bytes that were read.
///
/// # Errors
/// Same as [`read_text`].
pub fn read_hashed(root: &Path, path: &str) -> Result<(String, String), ReadError> {
    let bytes = read_bytes(root, path)?;
    let hash = sha256(&bytes);
    Ok((without_secrets(text_of(&bytes)), hash))
}

fn without_secrets(text: Cow<'_, str>) -> String {
    match redact_file(&text).text {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text.into_owned(),
    }
}

/// Returns the text of a file with its secrets, for code that only counts or
/// compares and shows nothing.
///
/// # Errors
/// Same as [`read_text`].
pub fn read_exact(root: &Path, path: &str) -> Result<String, ReadError> {
    Ok(text_of(&read_bytes(root, path)?).into_owned())
}

fn read_bytes(root: &Path, path: &str) -> Result<Vec<u8>, ReadError> {
    let failed = |source| ReadError::Failed { path: path.into(), source };
    let mut bytes = Vec::new();
    read_where(&Dir::open(root).map_err(failed)?, path, &mut bytes, |_| true)?;
    Ok(bytes)
}

/// Returns the text of a file as [`read_text`] does, if its bytes, as UTF-8, are wanted; otherwise
/// `None`. It reads into a buffer that the next call can use again.
///
/// # Errors
/// Same as [`read_text`].
pub fn read_if(
    root: &Dir,
    path: &str,
    buffer: &mut Vec<u8>,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<Option<String>, ReadError> {
    let is_wanted = read_where(root, path, buffer, is_wanted)?;
    Ok(is_wanted.then(|| without_secrets(text_of(buffer))))
}

/// Reads the bytes of a file with its secrets, and returns whether they are wanted. Of a file that
/// may not be read nothing is learned: neither its bytes nor whether they would be wanted.
fn read_where(
    root: &Dir,
    path: &str,
    buffer: &mut Vec<u8>,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<bool, ReadError> {
    let read = root.read_into(path, MAX_BYTES, buffer);
    // The name is checked last, because that takes as long as reading a small file, and few files
    // are wanted.
    if read.is_ok() && !is_wanted(&utf8(buffer)) {
        return Ok(false);
    }
    if is_never_read(path) {
        return Err(ReadError::Forbidden(format!(
            "`{path}`: it is of a kind that is never indexed"
        )));
    }
    read.map(|()| true).map_err(|e| match root.stat(path) {
        Ok(Some(stat)) if is_refused(&e) && stat.kind != FileKind::Link => {
            ReadError::TooLarge { path: path.into() }
        }
        _ if is_refused(&e) => {
            ReadError::Forbidden(format!("`{path}`: it is, or lies behind, a symbolic link"))
        }
        _ => ReadError::Failed { path: path.into(), source: e },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_folder_that_is_swapped_with_a_link_leaks_nothing_from_outside() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        for (dir, text) in [("root/a", "inside"), ("outside", "secret")] {
            fs::create_dir_all(temp.path().join(dir)).unwrap();
            fs::write(temp.path().join(dir).join("f.rs"), text).unwrap();
        }
        symlink(temp.path().join("outside"), root.join("b")).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for (from, to) in [("a", "c"), ("b", "a"), ("a", "b"), ("c", "a")] {
                        fs::rename(root.join(from), root.join(to)).unwrap();
                    }
                }
            });
            let read: Vec<_> = (0..5000).map(|_| read_text(&root, "a/f.rs")).collect();
            done.store(true, Ordering::Relaxed);
            assert!(read.iter().all(|r| r.as_ref().map_or(true, |text| text == "inside")));
        });
        assert_eq!(read_text(&root, "a/f.rs").unwrap(), "inside");
        assert!(
            matches!(read_text(&root, "b/f.rs"), Err(ReadError::Forbidden(e)) if e.contains("symbolic link"))
        );
    }

    #[test]
    fn a_named_pipe_is_refused_at_once_and_a_file_over_eight_mebibytes_is_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(dir.path().join("pipe.rs"))
                .status()
                .unwrap()
                .success()
        );
        fs::create_dir(dir.path().join("folder")).unwrap();
        fs::write(dir.path().join("large.rs"), "x".repeat(9 << 20)).unwrap();
        fs::File::create(dir.path().join("huge.rs")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        for path in ["pipe.rs", "folder", "huge.rs"] {
            assert!(
                matches!(read_text(dir.path(), path), Err(ReadError::TooLarge { .. })),
                "{path}"
            );
        }
        assert_eq!(read_text(dir.path(), "large.rs").unwrap().len(), 9 << 20);
        assert!(matches!(read_text(dir.path(), "gone.rs"), Err(ReadError::Failed { .. })));
        assert!(read_text(dir.path(), "../x.rs").is_err());
    }
}
