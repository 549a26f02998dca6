//! A folder of the project with a manifest, and the folders of this machine in which package managers
//! keep sources.
//!
//! Lock files are written by strangers. A path that a lock file gives, or a name that becomes a part
//! of a path, is only looked up below a folder that is held open ([`Dir`]): one of the project, or a
//! cache of the user that the environment or the manager's convention names.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::dependency::{List, Sources};
use super::yaml;
use crate::dir::{Dir, FileKind, is_refused};
pub(super) use crate::text::join;

/// Most bytes of a lock file. The largest of big monorepos have 5 MB.
const MAX_LOCK_BYTES: u64 = 32 << 20;
/// Most bytes of a manifest.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// What the user's environment says about the places of packages.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// Returns a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Machine<'_> {
    /// Returns the folders that a variable lists; relative ones are ignored.
    pub(super) fn listed(&self, variable: &str) -> Vec<PathBuf> {
        let value = (self.variable)(variable).unwrap_or_default();
        std::env::split_paths(&value).filter(|path| path.is_absolute()).collect()
    }

    /// Returns a folder below the home directory.
    pub(super) fn below_home(&self, path: &str) -> Option<PathBuf> {
        self.home.map(|home| home.join(path))
    }

    /// Returns the folder of a variable, or else the one below the home directory.
    pub(super) fn folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.listed(variable).into_iter().next().or_else(|| self.below_home(below_home))
    }
}

/// A folder of the project that holds a manifest or a lock file.
pub(super) struct Folder<'a> {
    pub(super) root: &'a Dir,
    pub(super) machine: Machine<'a>,
    /// Relative to the root; empty for the root.
    pub(super) path: &'a str,
    /// The manifests of the same ecosystem in this folder and below it.
    pub(super) manifests: &'a [&'a str],
}

impl Folder<'_> {
    /// Returns the path of something in the folder, relative to the root.
    pub(super) fn at(&self, name: &str) -> String {
        join(self.path, name)
    }

    /// Reads a lock file in the folder, if it is there.
    pub(super) fn lock(&self, name: &str, list: &mut List) -> Option<String> {
        self.file(&self.at(name), MAX_LOCK_BYTES, list)
    }

    /// Reads a manifest in the folder, if it is there.
    pub(super) fn manifest(&self, name: &str, list: &mut List) -> Option<String> {
        self.manifest_at(&self.at(name), list)
    }

    /// Reads a manifest, if it is there. `path` is relative to the root.
    pub(super) fn manifest_at(&self, path: &str, list: &mut List) -> Option<String> {
        self.file(path, MAX_MANIFEST_BYTES, list)
    }

    fn file(&self, path: &str, max_bytes: u64, list: &mut List) -> Option<String> {
        match self.root.read_text(path, max_bytes) {
            Ok(text) => Some(text),
            Err(e) => {
                if e.kind() != ErrorKind::NotFound {
                    list.warn(format!("cannot read {e}"));
                }
                None
            }
        }
    }

    /// Opens a folder in this folder, if it is there and no link.
    pub(super) fn dir(&self, name: &str) -> Option<Dir> {
        self.root.dir(self.at(name)).ok()
    }
}

/// Returns a folder and those around it, the nearest first. The root is the empty path.
pub(super) fn around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        let outer = || folder.rsplit_once('/').map_or("", |(outer, _)| outer);
        (!folder.is_empty()).then(outer)
    })
}

/// Reads JSON, and warns if it is not valid.
pub(super) fn json(text: &str, path: &str, list: &mut List) -> Option<Value> {
    let read = serde_json::from_str(text.trim_start_matches('\u{feff}'));
    read.map_err(|e| list.warn(format!("{path}: not valid JSON: {e}"))).ok()
}

/// Reads TOML as JSON, and warns if it is not valid.
pub(super) fn toml(text: &str, path: &str, list: &mut List) -> Option<Value> {
    let read: Result<Value, _> = toml::from_str(text);
    read.map_err(|e| list.warn(format!("{path}: not valid TOML: {}", e.message()))).ok()
}

/// Reads YAML as JSON, and warns if it is not valid.
pub(super) fn yaml(text: &str, path: &str, list: &mut List) -> Option<Value> {
    yaml::read(text).map_err(|e| list.warn(format!("{path}: not valid YAML: {e}"))).ok()
}

/// Returns a text in a table.
pub(super) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of a list in a table.
pub(super) fn elements<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    of.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the entries of a table in a table.
pub(super) fn entries<'a>(
    of: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    of.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Returns the keys of these tables in a table.
pub(super) fn keys_of(of: &Value, tables: &[&str]) -> HashSet<String> {
    tables.iter().flat_map(|table| entries(of, table)).map(|(key, _)| key.clone()).collect()
}

/// Whether a text is the name of one file or folder.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

/// Opens a folder of the user, if it is there.
pub(super) fn open(path: Option<PathBuf>) -> Option<Dir> {
    Dir::open(&path?).ok()
}

/// Returns the names of the folders in a folder, sorted.
pub(super) fn folders(dir: &Dir) -> Vec<String> {
    names(dir, FileKind::Directory)
}

/// Returns the names of the files in a folder, sorted.
pub(super) fn files(dir: &Dir) -> Vec<String> {
    names(dir, FileKind::File)
}

fn names(dir: &Dir, kind: FileKind) -> Vec<String> {
    let all = dir.list().unwrap_or_default().into_iter().filter(|(_, is)| *is == kind);
    let mut names: Vec<String> = all.filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Looks for a folder below another. `otherwise` says what to do if it is not there.
pub(super) fn folder_in(dir: &Dir, path: &str, otherwise: &str) -> Sources {
    match dir.dir(path) {
        Ok(found) => folder(&found),
        Err(e) if is_refused(&e) => Sources::missing(NOT_FOLLOWED),
        Err(_) => Sources::missing(otherwise),
    }
}

/// Why a folder behind a link is not used.
pub(super) const NOT_FOLLOWED: &str = "its path has a symbolic link, or leads out of its folder";

/// Returns an open folder as sources.
pub(super) fn folder(dir: &Dir) -> Sources {
    path_of(dir.path()).map_or_else(Sources::Missing, Sources::Folder)
}

/// Returns a file in a folder as the archive of sources.
pub(super) fn archive(dir: &Dir, name: &str) -> Sources {
    path_of(&dir.full(name)).map_or_else(Sources::Missing, Sources::Archive)
}

/// Returns a path that JSON can hold.
pub(super) fn path_of(path: &Path) -> Result<PathBuf, String> {
    path.to_str().map(PathBuf::from).ok_or_else(|| "its path is not UTF-8".to_string())
}

/// Reads a small file in a folder of sources.
pub(super) fn small_file(dir: &Dir, path: &str) -> Option<String> {
    dir.read_text(path, MAX_MANIFEST_BYTES).ok()
}

/// Says that another version is there.
pub(super) fn other_version(version: &str) -> Sources {
    Sources::Missing(format!("version {} is installed", crate::text::cut(version, 40)))
}
