//! Lists the files of a tree, in parallel, without reading them.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use globset::GlobSet;
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::read::MAX_BYTES;
use super::skip::{Skip, by_name};

/// What the walk is told.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Larger files are skipped.
    pub max_file_bytes: u64,
    /// Paths (relative to the root) that are skipped though no ignore file names them.
    pub exclude: GlobSet,
    /// The same as they were written.
    pub exclude_patterns: Vec<String>,
}

impl WalkOptions {
    /// How large a file may be that is read.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_file_bytes.min(MAX_BYTES)
    }
}

/// A file that may be indexed, as the file system describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Relative to the root, `/` as separator.
    pub path: String,
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: u64,
    /// The same of its description (`ctime`), which nobody can set.
    pub changed_ns: u64,
}

/// Which part of a tree is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    /// These files and directories with all below them, relative to the root. They may be gone, or not for indexing.
    Paths(BTreeSet<String>),
}

impl Scope {
    /// Whether a path is to be looked at.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => {
                let folders = path.match_indices('/').map(|(i, _)| &path[..i]);
                paths.contains(path) || paths.contains("") || folders.into_iter().any(|folder| paths.contains(folder))
            }
        }
    }

    /// Whether something to be looked at may lie below a directory.
    fn reaches(&self, directory: &str) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => {
                let below = format!("{directory}/");
                self.contains(directory) || paths.range(below.clone()..).next().is_some_and(|p| p.starts_with(&below))
            }
        }
    }
}

/// The files of a tree, all lists sorted by path.
#[derive(Debug, Default)]
pub struct SourceTree {
    pub files: Vec<SourceFile>,
    /// Directories that were looked into, relative to the root; the root itself is empty.
    pub directories: Vec<String>,
    /// Path, reason and, where there is more to say, a detail.
    pub skipped: Vec<(String, Skip, Option<String>)>,
}

/// Directories that hold other people's code even where no ignore file says so.
const FOREIGN_DIRECTORIES: [&str; 3] = ["node_modules", "bower_components", "__pycache__"];
/// Files that mark a directory as a cache or a virtual environment.
const DIRECTORY_TAGS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Walks the tree, or the part of it that is in scope: `.gitignore`, `.git/info/exclude` and `.cortexignore` are obeyed, hidden files left out, symbolic
/// links not followed. What cannot be read is listed as skipped.
#[must_use]
pub fn walk(root: &Path, options: &WalkOptions, scope: &Scope) -> SourceTree {
    // Ignore files above the root count only inside a repository that begins above it: one in the home directory (dotfiles)
    // says nothing about the projects below.
    let inside_repository = !root.join(".git").exists() && root.ancestors().any(|d| d.join(".git").exists());
    let (base, within) = (root.to_path_buf(), scope.clone());
    let filter = move |entry: &DirEntry| {
        let path = entry.path().strip_prefix(&base).unwrap_or(entry.path()).to_string_lossy();
        let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
        let in_scope = entry.depth() == 0 || if is_dir { within.reaches(&path) } else { within.contains(&path) };
        in_scope && !is_foreign(entry)
    };
    let mut walk = WalkBuilder::new(root);
    walk.hidden(true)
        .parents(inside_repository)
        .ignore(false)
        .git_global(false)
        .follow_links(false)
        .require_git(false)
        .add_custom_ignore_filename(".cortexignore")
        .filter_entry(filter);
    let tree = Mutex::new(SourceTree::default());
    let note = |entry| {
        let found = visit(root, entry, options);
        // A panicking thread would have ended the walk; its lock is no reason to lose the rest.
        let mut tree = tree.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match found {
            Visit::File(file) => tree.files.push(file),
            Visit::Directory(path) => tree.directories.push(path),
            Visit::Skip(path, skip, detail) => tree.skipped.push((path, skip, detail)),
            Visit::Nothing => {}
        }
        WalkState::Continue
    };
    match scope {
        Scope::All => {
            let n_threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
            walk.threads(n_threads).build_parallel().run(|| Box::new(note));
        }
        // A few paths are not worth starting threads for.
        Scope::Paths(_) => {
            for entry in walk.build() {
                note(entry);
            }
        }
    }
    let mut tree = tree.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    tree.directories.sort();
    tree.skipped.sort();
    tree
}

/// Whether a file with this name decides about other files.
#[must_use]
pub fn is_ignore_file(name: &str) -> bool {
    matches!(name, ".gitignore" | ".cortexignore") || DIRECTORY_TAGS.contains(&name)
}

enum Visit {
    File(SourceFile),
    Directory(String),
    Skip(String, Skip, Option<String>),
    Nothing,
}

fn visit(root: &Path, entry: Result<DirEntry, ignore::Error>, options: &WalkOptions) -> Visit {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let entry = match entry {
        Ok(entry) => entry,
        Err(e) => return unreadable(root, &e, relative),
    };
    let path = relative(entry.path());
    if entry.file_type().is_some_and(|t| t.is_dir()) {
        return Visit::Directory(path);
    }
    if !entry.file_type().is_some_and(|t| t.is_file()) {
        return Visit::Nothing;
    }
    if entry.path().to_str().is_none() {
        return Visit::Skip(path, Skip::Name, None);
    }
    if options.exclude.is_match(&path) {
        return Visit::Skip(path, Skip::Excluded, None);
    }
    if let Some(skip) = by_name(&entry.file_name().to_string_lossy()) {
        return Visit::Skip(path, skip, None);
    }
    let metadata = match entry.metadata() {
        Ok(m) => m,
        Err(e) => return Visit::Skip(path, Skip::Unreadable, Some(e.to_string())),
    };
    if metadata.len() > options.max_bytes() {
        return Visit::Skip(path, Skip::TooLarge, Some(format!("{} bytes", metadata.len())));
    }
    let modified_ns = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos());
    let changed_ns = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    Visit::File(SourceFile {
        path,
        bytes: metadata.len(),
        modified_ns: u64::try_from(modified_ns).unwrap_or(u64::MAX),
        changed_ns: u64::try_from(changed_ns).unwrap_or(0),
    })
}

/// An entry that could not be looked at. A malformed ignore file is no reason to skip anything.
fn unreadable(root: &Path, e: &ignore::Error, relative: impl Fn(&Path) -> String) -> Visit {
    fn path_of(e: &ignore::Error) -> Option<&Path> {
        match e {
            ignore::Error::WithPath { path, .. } => Some(path),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
            _ => None,
        }
    }
    if e.io_error().is_none() {
        tracing::warn!("ignore rule not understood: {e}");
        return Visit::Nothing;
    }
    let path = path_of(e).unwrap_or(root);
    Visit::Skip(relative(path), Skip::Unreadable, e.io_error().map(ToString::to_string))
}

fn is_foreign(entry: &DirEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_some_and(|t| t.is_dir())
        && (FOREIGN_DIRECTORIES.iter().any(|d| entry.file_name() == *d) || DIRECTORY_TAGS.iter().any(|t| entry.path().join(t).is_file()))
}
