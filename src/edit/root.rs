//! Resolves paths, and decides whether the file may be touched.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::EditError;

/// Temporary name of a file while it is written. One name is enough: only the holder of the
/// directory's lock writes it. A file that a killed process left behind is overwritten by the next.
pub(super) const TEMP: &str = ".cortex-edit.tmp";
/// Longest path in bytes, as on Linux.
const MAX_PATH_BYTES: usize = 4096;
/// Files and directories that belong to programs, in upper or lower case.
const RESERVED: [&str; 3] = [".git", ".cortex", TEMP];

/// Returns why a path, relative to the root, must not be touched; `None` if it may.
type Refuse = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The directory of a project. Files outside it are never touched.
pub struct Root {
    pub(super) path: PathBuf,
    /// The path as the caller gave it. Absolute paths may begin with it, too.
    given: PathBuf,
    refuse: Box<Refuse>,
}

impl Root {
    /// Opens a project. `refuse` returns why a path, relative to the root, must not be touched.
    ///
    /// # Errors
    /// When the directory cannot be found.
    #[expect(clippy::disallowed_methods, reason = "finds what is then opened name by name")]
    pub fn new(
        path: &Path,
        refuse: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Ok(Self {
            path: fs::canonicalize(path)?,
            given: path.to_path_buf(),
            refuse: Box::new(refuse),
        })
    }

    /// Returns the path from the root with all links followed. The file need not exist.
    pub(super) fn real_path(&self, path: &str) -> Result<String, EditError> {
        let refused = |why: String| EditError::Refused { path: path.to_string(), why };
        let wanted = self.relative(path).map_err(refused)?;
        self.check(&wanted).map_err(refused)?;
        let real = self
            .followed(&wanted)
            .map_err(|source| EditError::Io { path: path.to_string(), source })?;
        let outside = || {
            refused("a symbolic link leads out of the project: only files in the project are read and edited".into())
        };
        let inside = real.strip_prefix(&self.path).map_err(|_| outside())?;
        let inside = inside
            .to_str()
            .ok_or_else(|| {
                refused("it leads to a name that is not UTF-8: rename that file first".into())
            })?
            .to_string();
        if inside.is_empty() {
            return Err(refused("it is a directory: give the path of a file".into()));
        }
        // The target of a link may be refused even if the link is not.
        self.check(&inside).map_err(refused)?;
        Ok(inside)
    }

    /// Returns the path from the root without following links.
    fn relative(&self, path: &str) -> Result<String, String> {
        if path.len() > MAX_PATH_BYTES {
            return Err(format!(
                "it is longer than the {MAX_PATH_BYTES} bytes that a path may have"
            ));
        }
        let outside = "it is outside the project: give a path relative to its root";
        let inside = if Path::new(path).is_absolute() {
            let roots = [&self.path, &self.given];
            roots
                .into_iter()
                .find_map(|r| Path::new(path).strip_prefix(r).ok())
                .and_then(Path::to_str)
                .ok_or(outside)?
        } else {
            path
        };
        let parts: Vec<&str> = inside.split('/').collect();
        if parts.contains(&"..") {
            return Err(
                "`..` is not followed: give a path relative to the root of the project".into()
            );
        }
        if matches!(parts.last(), None | Some(&("" | "."))) {
            return Err("it names a directory: give the path of a file".into());
        }
        Ok(parts.into_iter().filter(|p| !matches!(*p, "" | ".")).collect::<Vec<_>>().join("/"))
    }

    fn check(&self, path: &str) -> Result<(), String> {
        if let Some(part) =
            path.split('/').find(|part| RESERVED.iter().any(|r| is_reserved(part, r)))
        {
            return Err(format!("`{part}` belongs to a program: it is neither read nor edited"));
        }
        (self.refuse)(path).map_or(Ok(()), Err)
    }

    /// Returns the absolute path with links followed. The part that does not exist yet stays as it
    /// is.
    #[expect(clippy::disallowed_methods, reason = "finds what is then opened name by name")]
    fn followed(&self, path: &str) -> io::Result<PathBuf> {
        let mut there = self.path.join(path);
        let mut missing = Vec::new();
        loop {
            match fs::canonicalize(&there) {
                Ok(real) => {
                    return Ok(missing.iter().rev().fold(real, |path, name| path.join(name)));
                }
                Err(e) if e.kind() != ErrorKind::NotFound || there == self.path => return Err(e),
                Err(_) if fs::symlink_metadata(&there).is_ok() => {
                    return Err(io::Error::new(
                        ErrorKind::NotFound,
                        "the path contains a symbolic link that leads nowhere",
                    ));
                }
                Err(_) => {
                    missing.extend(there.file_name().map(ToOwned::to_owned));
                    there.pop();
                }
            }
        }
    }
}

/// Whether a name belongs to a program. Temporary names may have a number at their end.
fn is_reserved(name: &str, reserved: &str) -> bool {
    let name =
        if reserved == TEMP { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { name };
    name.eq_ignore_ascii_case(reserved)
}
