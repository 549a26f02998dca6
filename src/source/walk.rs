//! Lists the files of a tree, in parallel, without reading them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::choice::{Choice, FolderScope, LeftOut, WalkOptions, Why, marked, real};
use super::git;
use super::ignored::Rules;
use super::origin::{DeclaredOrigin, OriginRules};
use super::skip::{Skip, by_name};
use crate::dir::{Dir, FileKind};

/// A file that may be indexed, as the file system describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Relative to the root, `/` as separator.
    pub path: String,
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: u64,
    /// The last change of content or metadata (`ctime`), which no program can set, likewise.
    pub changed_ns: u64,
    pub origin: DeclaredOrigin,
}

/// The part of a tree that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    /// These files, and these directories with all below them, relative to the root. They may be
    /// gone, or not for indexing.
    Paths(BTreeSet<String>),
}

impl Scope {
    /// Whether a path is in scope.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => {
                let folders = path.match_indices('/').map(|(i, _)| &path[..i]);
                paths.contains(path)
                    || paths.contains("")
                    || folders.into_iter().any(|folder| paths.contains(folder))
            }
        }
    }

    /// Whether a path below a directory may be in scope.
    fn reaches(&self, directory: &str) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => {
                let below = format!("{directory}/");
                self.contains(directory)
                    || paths.range(below.clone()..).next().is_some_and(|p| p.starts_with(&below))
            }
        }
    }
}

/// The result of a walk. All lists are sorted by path.
#[derive(Debug, Default)]
pub struct SourceTree {
    pub files: Vec<SourceFile>,
    /// Directories that were listed, relative to the root, which itself is the empty string.
    pub directories: Vec<String>,
    /// Path, reason and, if there is more to say, a detail.
    pub skipped: Vec<(String, Skip, Option<String>)>,
}

/// Walks the tree, or the part in scope. Obeys `.gitignore`, `.git/info/exclude`, the user's
/// `core.excludesFile` and `.cortexignore`, leaves out hidden files, and follows no symbolic links. Lists what
/// cannot be read as skipped.
#[must_use]
pub fn walk(root: &Path, options: &WalkOptions, scope: &Scope) -> SourceTree {
    walked(root, options, scope, None)
}

/// Lists what a walk of the whole tree leaves out because of its name or a rule, sorted by path.
/// What is in a folder that is left out is not listed.
#[must_use]
pub fn left_out(root: &Path, options: &WalkOptions) -> Vec<LeftOut> {
    let found = Mutex::default();
    walked(root, options, &Scope::All, Some(&found));
    let mut found = found.into_inner();
    found.sort();
    found
}

fn walked(
    root: &Path,
    options: &WalkOptions,
    scope: &Scope,
    left_out: Option<&Mutex<Vec<LeftOut>>>,
) -> SourceTree {
    let base = real(root);
    let tree = Mutex::new(SourceTree::default());
    match Dir::open(&base) {
        Ok(dir) => {
            let worktrees = git::worktrees(&base).filter(|_| options.package.is_none());
            let worktrees = worktrees.as_deref();
            let walk =
                Walk { root: &dir, base: &base, worktrees, options, scope, tree: &tree, left_out };
            let origins = match options.package {
                Some(_) => OriginRules::default(),
                None => OriginRules::above(&base),
            };
            let above = options.rules_above(&base);
            rayon::scope(|tasks| {
                walk.enter(tasks, Path::new(""), above, origins, FolderScope::All);
            });
        }
        Err(e) => tree.lock().skipped.push((String::new(), Skip::Unreadable, Some(e.to_string()))),
    }
    let mut tree = tree.into_inner();
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    tree.directories.sort();
    tree.skipped.sort();
    tree
}

/// The state of a walk, shared by its tasks.
#[derive(Clone, Copy)]
struct Walk<'a> {
    root: &'a Dir,
    /// The absolute path of the root.
    base: &'a Path,
    /// Where the repository of the root keeps its linked work trees.
    worktrees: Option<&'a Path>,
    options: &'a WalkOptions,
    scope: &'a Scope,
    tree: &'a Mutex<SourceTree>,
    /// Receives what is left out, if somebody asks.
    left_out: Option<&'a Mutex<Vec<LeftOut>>>,
}

impl<'a> Walk<'a> {
    /// Lists one directory, and starts a task for each directory in it. Tasks open theirs from the
    /// root, so that a wide tree needs no more open files than there are threads.
    fn enter(
        self,
        tasks: &rayon::Scope<'a>,
        directory: &Path,
        above: Option<Arc<Rules>>,
        origins: OriginRules,
        mut reach: FolderScope,
    ) {
        let is_root = directory.as_os_str().is_empty();
        let opened = self.root.dir(if is_root { Path::new(".") } else { directory });
        let (dir, names) = match opened.and_then(|dir| dir.list().map(|names| (dir, names))) {
            Ok(found) => found,
            // The directory was removed since it was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => return,
            Err(e) => {
                let detail = reason(&e, &self.root.full(directory));
                let mut tree = self.tree.lock();
                tree.directories.push(text(directory));
                return tree.skipped.push((text(directory), Skip::Unreadable, Some(detail)));
            }
        };
        let is = |name: &str, kind: fn(FileKind) -> bool| {
            names.iter().any(|(found, of)| found == name && kind(*of))
        };
        let full = self.base.join(directory);
        let may_be_left = !is_root && reach == FolderScope::All;
        let has_file = |name: &str| is(name, |kind| kind == FileKind::File);
        let why = may_be_left.then(|| marked(&full, self.worktrees, has_file)).flatten();
        if let Some(why) = why {
            let leads = self.options.leads_to_included(directory);
            self.list(why, text(directory), true, leads);
            if !leads {
                return;
            }
            reach = FolderScope::Included;
        }
        // The author of a package of others does not decide what of it is read.
        let (rules, origins) = match self.options.package {
            Some(_) => (above, origins),
            None => (
                Rules::within(above, &dir, &full, |name| is(name, |_| true)),
                origins.within(&dir, &full, &names, is_root),
            ),
        };
        let mut found = SourceTree { directories: vec![text(directory)], ..SourceTree::default() };
        for (name, kind) in &names {
            let is_dir = *kind == FileKind::Directory;
            let path = directory.join(name);
            let shown = text(&path);
            let in_scope =
                if is_dir { self.scope.reaches(&shown) } else { self.scope.contains(&shown) };
            if !in_scope {
                continue;
            }
            let mut reach = reach;
            match self.options.choose(reach, rules.as_deref(), &full, &path, is_dir) {
                Choice::Leave(why) => {
                    self.list(why, shown, is_dir, false);
                    continue;
                }
                Choice::TakePart(why) => {
                    self.list(why, shown.clone(), true, true);
                    reach = FolderScope::Included;
                }
                Choice::Take if is_dir || *kind == FileKind::File => {}
                Choice::Take => {
                    self.list(Why::NotAFile(*kind), shown, false, false);
                    continue;
                }
            }
            if is_dir {
                let (rules, origins) = (rules.clone(), origins.clone());
                tasks.spawn(move |tasks| self.enter(tasks, &path, rules, origins, reach));
            } else {
                match self.file(&dir, name, &path, shown) {
                    Ok(mut file) => {
                        file.origin =
                            origins.of(&self.options.origins, &full.join(name), &file.path);
                        found.files.push(file);
                    }
                    Err(skipped) => found.skipped.push(skipped),
                }
            }
        }
        let mut tree = self.tree.lock();
        tree.files.append(&mut found.files);
        tree.directories.append(&mut found.directories);
        tree.skipped.append(&mut found.skipped);
    }

    /// Lists what is left out, if somebody asks.
    fn list(self, why: Why, path: String, is_dir: bool, is_part: bool) {
        if let Some(list) = self.left_out {
            list.lock().extend(why.listed(self.base, path, is_dir, is_part));
        }
    }

    /// Returns a file, or the reason to skip it.
    fn file(
        self,
        dir: &Dir,
        name: &OsStr,
        path: &Path,
        shown: String,
    ) -> Result<SourceFile, (String, Skip, Option<String>)> {
        if path.to_str().is_none() {
            return Err((shown, Skip::Name, None));
        }
        if self.options.exclude.is_match(&shown) {
            return Err((shown, Skip::Excluded, None));
        }
        if let Some(skip) = by_name(&name.to_string_lossy()) {
            return Err((shown, skip, None));
        }
        let stat = match dir.stat(name) {
            Ok(Some(stat)) => stat,
            Ok(None) => return Err((shown, Skip::Unreadable, Some("it has just gone".into()))),
            Err(e) => return Err((shown, Skip::Unreadable, Some(reason(&e, &dir.full(name))))),
        };
        if stat.bytes > self.options.max_bytes() {
            return Err((shown, Skip::TooLarge, Some(format!("{} bytes", stat.bytes))));
        }
        Ok(SourceFile {
            path: shown,
            bytes: stat.bytes,
            modified_ns: nanoseconds(stat.modified),
            changed_ns: nanoseconds(stat.changed),
            origin: DeclaredOrigin::default(),
        })
    }
}

/// Returns the text of an error without the path that it is about.
fn reason(e: &io::Error, path: &Path) -> String {
    let text = e.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_string()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns a time in nanoseconds since 1970, as the stamps of files are kept.
#[must_use]
pub fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::source::{Included, OriginSettings};

    fn files(root: &Path) -> Vec<String> {
        let options = WalkOptions {
            max_file_bytes: 1 << 20,
            exclude: globset::GlobSet::empty(),
            exclude_patterns: Vec::new(),
            included: Included::default(),
            origins: OriginSettings::default(),
            package: None,
        };
        walk(root, &options, &Scope::All).files.into_iter().map(|f| f.path).collect()
    }

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn ignore_files_that_are_pipes_links_to_devices_or_enormous_count_as_absent() {
        let dir = tree(&[
            ("a/x.rs", ""),
            ("b/x.rs", ""),
            ("c/x.rs", ""),
            ("d/x.rs", ""),
            (".git/HEAD", ""),
            (".git/info/keep", ""),
        ]);
        let root = dir.path();
        for pipe in [
            "a/.gitignore", "b/.cortexignore", ".git/info/exclude", "c/CACHEDIR.TAG",
            "c/pyvenv.cfg",
        ] {
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(root.join(pipe))
                    .status()
                    .unwrap()
                    .success()
            );
        }
        symlink("/dev/zero", root.join(".gitignore")).unwrap();
        symlink("/dev/zero", root.join(".cortexignore")).unwrap();
        fs::File::create(root.join("d/.gitignore")).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(files(root), ["a/x.rs", "b/x.rs", "c/x.rs", "d/x.rs"]);
    }

    #[test]
    fn a_linked_ignore_file_is_not_obeyed_as_git_does_not() {
        let dir = tree(&[("rules", "*.rs"), ("x.rs", "")]);
        symlink("rules", dir.path().join(".gitignore")).unwrap();
        assert_eq!(files(dir.path()), ["rules", "x.rs"]);
    }

    #[test]
    fn the_nearest_rule_decides_and_cortexignore_comes_before_gitignore_before_exclude() {
        let dir = tree(&[
            (".git/info/exclude", "excluded*\n"),
            (".gitignore", "\u{feff}*.log\nbuild/\n!excluded.keep\n/only-here\n[\n"),
            (".cortexignore", "!wanted.log\nsecretly*\n"),
            ("a.log", ""),
            ("wanted.log", ""),
            ("secretly.rs", ""),
            ("excluded.rs", ""),
            ("excluded.keep", ""),
            ("only-here", ""),
            ("sub/only-here", ""),
            ("sub/.gitignore", "!b.log\nwanted.log\n"),
            ("sub/b.log", ""),
            ("sub/wanted.log", ""),
            ("sub/build/x.rs", ""),
            ("sub/build.rs", ""),
            (".hidden", ""),
            ("dots/.gitignore", "!.kept"),
            ("dots/.kept", ""),
            ("dots/.other", ""),
            ("node_modules/x.rs", ""),
            ("cache/CACHEDIR.TAG", ""),
            ("cache/x.rs", ""),
        ]);
        let want = [
            "dots/.kept", "excluded.keep", "sub/b.log", "sub/build.rs", "sub/only-here",
            "sub/wanted.log", "wanted.log",
        ];
        assert_eq!(files(dir.path()), want);
    }

    #[test]
    fn hidden_files_that_people_mean_are_listed() {
        let dir = tree(&[
            (".github/workflows/ci.yml", ""),
            (".github/.env", ""),
            (".devcontainer/devcontainer.json", ""),
            (".cargo/config.toml", ""),
            (".cargo/credentials", ""),
            (".gitlab-ci.yml", ""),
            (".gitignore", "*.log\n"),
            (".github/x.log", ""),
            (".env", ""),
            (".npmrc", ""),
            (".idea/workspace.xml", ""),
            ("sub/.github/a.md", ""),
        ]);
        let want = [
            ".cargo/config.toml",
            ".devcontainer/devcontainer.json",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "sub/.github/a.md",
        ];
        assert_eq!(files(dir.path()), want);
    }

    #[test]
    fn rules_above_the_root_hold_inside_its_repository_only() {
        let dir = tree(&[
            (".gitignore", "*.home"),
            ("repository/.git/info/exclude", "*.excluded"),
            ("repository/.gitignore", "*.log\n/in/x.rs\n"),
            ("repository/in/a.log", ""),
            ("repository/in/a.excluded", ""),
            ("repository/in/a.home", ""),
            ("repository/in/x.rs", ""),
            ("repository/in/y.rs", ""),
        ]);
        assert_eq!(files(&dir.path().join("repository/in")), ["a.home", "y.rs"]);
        fs::remove_dir_all(dir.path().join("repository/.git")).unwrap();
        assert_eq!(
            files(&dir.path().join("repository/in")),
            ["a.excluded", "a.home", "a.log", "x.rs", "y.rs"]
        );
    }
}
