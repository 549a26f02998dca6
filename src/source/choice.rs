//! Decides which names of the tree are looked at, and says why the others are not.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;

use super::git;
use super::ignored::{AppliedRule, Rules, Verdict};
use super::origin::{self, OriginSettings};
use super::read::MAX_BYTES;
use super::skip::{by_name, is_hidden, is_never};
use crate::dir::{Dir, FileKind};
use crate::platform::name_bytes;

/// The settings of a walk.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Larger files are skipped. [`MAX_BYTES`] is the limit in any case.
    pub max_file_bytes: u64,
    /// Matches paths, relative to the root, that are skipped even if no ignore file names them.
    pub exclude: GlobSet,
    /// The patterns of `exclude`, as they were written.
    pub exclude_patterns: Vec<String>,
    pub included: Included,
    pub origins: OriginSettings,
    /// Set if the tree is a package of others, to which no rule of an ignore file applies.
    pub package: Option<PackageParts>,
}

/// The files and folders of a tree that belong to one package of others, relative to the root; all
/// if there are none.
#[derive(Debug, Clone, Default)]
pub struct PackageParts(pub Vec<String>);

impl PackageParts {
    /// Whether a path is one of the parts, in one, or (a folder) on the way to one.
    fn hold(&self, path: &Path, is_dir: bool) -> bool {
        let is_in = |part: &String| path.starts_with(part);
        let leads_to = |part: &String| is_dir && Path::new(part).starts_with(path);
        self.0.is_empty() || self.0.iter().any(|part| is_in(part) || leads_to(part))
    }
}

/// Settings of the user that include what the tree's own rules leave out.
#[derive(Debug, Clone, Default)]
pub struct Included {
    /// Include hidden files.
    pub hidden: bool,
    /// Matches paths that are looked at although a rule leaves them out.
    pub files: GlobSet,
    /// Matches the folders that lead to such paths.
    pub folders: GlobSet,
    /// The patterns of both, as they were written.
    pub patterns: Vec<String>,
}

impl WalkOptions {
    /// Returns the size in bytes of the largest file that is read.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_file_bytes.min(MAX_BYTES)
    }
}

/// Something that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Relative to the root; a folder ends with `/`.
    pub path: String,
    /// Why it is left out.
    pub reason: String,
    /// The rule of an ignore file that leaves it out.
    pub rule: Option<IgnoreRule>,
    /// Whether the user includes something in the folder.
    pub is_part: bool,
}

/// A rule of an ignore file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IgnoreRule {
    /// The ignore file, relative to the root; absolute if it is outside the root.
    pub path: String,
    /// 1-based.
    pub line: usize,
    /// The rule as it is written there.
    pub glob: String,
}

/// What a walk takes of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderScope {
    /// All that no rule leaves out.
    All,
    /// Only what [`Included`] names, because a rule leaves the folder out.
    Included,
}

/// What a walk does with a name.
pub(super) enum Choice<'r> {
    /// It takes the file or enters the folder.
    Take,
    /// It enters the folder only for what [`Included`] names.
    TakePart(Why<'r>),
    Leave(Why<'r>),
}

/// Why a walk leaves a name out.
#[derive(Clone, Copy)]
pub(super) enum Why<'r> {
    /// No setting includes the name.
    Never,
    /// It is in a folder that was entered only for what [`Included`] names.
    NotIncluded,
    Hidden,
    Installed,
    /// This file in the folder marks it.
    Tagged(&'static str),
    /// It is a linked work tree of the project's own repository: the same files once more.
    Worktree,
    NotAFile(FileKind),
    Ignored(AppliedRule<'r>),
}

impl Why<'_> {
    /// Returns the entry of a list for people; `None` for what nobody would look for there. `base`
    /// is the root, `is_part` says that something in the folder is taken.
    pub(super) fn listed(
        self,
        base: &Path,
        mut path: String,
        is_dir: bool,
        is_part: bool,
    ) -> Option<LeftOut> {
        let mut rule = None;
        let reason = match self {
            Self::Never | Self::NotIncluded => return None,
            Self::Hidden => "hidden".to_string(),
            Self::Installed => "dependencies or compiled files".to_string(),
            Self::Tagged(tag) => format!("marked by {tag}"),
            Self::Worktree => "another work tree of this repository".to_string(),
            Self::NotAFile(kind) => kind.describe().to_string(),
            Self::Ignored(applied) => {
                let file = applied.file();
                rule = Some(IgnoreRule {
                    path: file.strip_prefix(base).unwrap_or(&file).to_string_lossy().into_owned(),
                    line: applied.line(),
                    glob: applied.glob().to_string(),
                });
                "ignored".to_string()
            }
        };
        if is_dir {
            path.push('/');
        }
        Some(LeftOut { path, reason, rule, is_part })
    }
}

/// Folders that tools fill with code of others or compiled code, even if no ignore file names them.
const INSTALLED: [&str; 3] = ["node_modules", "bower_components", "__pycache__"];
/// Files that mark a directory as a cache or a virtual environment.
const DIRECTORY_TAGS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Returns the path of the root without links.
#[expect(clippy::disallowed_methods, reason = "the root, which the user chose")]
pub(super) fn real(root: &Path) -> PathBuf {
    fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf())
}

/// Returns why what a folder holds marks it as one to leave out, if it does. `has_file` tells whether
/// the folder holds a file. `worktrees` is the folder in which the project's repository keeps its
/// linked work trees.
pub(super) fn marked(
    folder: &Path,
    worktrees: Option<&Path>,
    has_file: impl Fn(&str) -> bool,
) -> Option<Why<'static>> {
    if let Some(tag) = DIRECTORY_TAGS.into_iter().find(|tag| has_file(tag)) {
        return Some(Why::Tagged(tag));
    }
    let is_own = worktrees.is_some_and(|own| has_file(".git") && git::is_worktree(folder, own));
    is_own.then_some(Why::Worktree)
}

impl WalkOptions {
    /// Decides about a name in a folder that was entered for `reach`. `path` is relative to the
    /// root, `full` is the absolute path of the folder, and `rules` are those of the folder.
    pub(super) fn choose<'r>(
        &self,
        reach: FolderScope,
        rules: Option<&'r Rules>,
        full: &Path,
        path: &Path,
        is_dir: bool,
    ) -> Choice<'r> {
        let name = path.file_name().unwrap_or_default();
        if is_never(name_bytes(name)) {
            return Choice::Leave(Why::Never);
        }
        let is_part = self.package.as_ref().is_none_or(|parts| parts.hold(path, is_dir));
        let why = match reach {
            _ if !is_part => Some(Why::NotIncluded),
            FolderScope::Included => Some(Why::NotIncluded),
            FolderScope::All => self.why_left_out(rules, full, name, is_dir),
        };
        match why {
            None => Choice::Take,
            Some(why) if is_dir && self.leads_to_included(path) => Choice::TakePart(why),
            Some(_) if self.included.files.is_match(path) => Choice::Take,
            Some(why) => Choice::Leave(why),
        }
    }

    /// Returns why the rules leave a name out, if they do. A hidden name is left out unless people
    /// mean it, a rule keeps it or the user includes hidden files.
    fn why_left_out<'r>(
        &self,
        rules: Option<&'r Rules>,
        full: &Path,
        name: &OsStr,
        is_dir: bool,
    ) -> Option<Why<'r>> {
        if is_dir && INSTALLED.iter().any(|d| name == *d) {
            return Some(Why::Installed);
        }
        match rules.map_or(Verdict::Nothing, |rules| rules.say(&full.join(name), is_dir)) {
            Verdict::Ignored(rule) => Some(Why::Ignored(rule)),
            Verdict::Kept => None,
            Verdict::Nothing => (!self.included.hidden && is_hidden(name_bytes(name), is_dir))
                .then_some(Why::Hidden),
        }
    }

    /// Returns the rules of ignore files above the root (absolute).
    pub(super) fn rules_above(&self, root: &Path) -> Option<Arc<Rules>> {
        if self.package.is_some() { None } else { Rules::above(root) }
    }

    /// Whether something in a folder may be included although a rule leaves the folder out.
    pub(super) fn leads_to_included(&self, folder: &Path) -> bool {
        self.included.files.is_match(folder) || self.included.folders.is_match(folder)
    }

    /// Whether a walk of `root` would take a file at this path, relative to the root, if there were
    /// one.
    #[must_use]
    pub fn would_take(&self, root: &Path, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        !self.exclude.is_match(path)
            && by_name(name).is_none()
            && self.would_reach(root, path, false)
    }

    /// Whether a walk of `root` would look at this path if there were a file or, with `is_dir`, a
    /// folder.
    #[must_use]
    pub fn would_reach(&self, root: &Path, path: &str, is_dir: bool) -> bool {
        let base = real(root);
        let Ok(root) = Dir::open(&base) else { return false };
        let (mut rules, mut reach) = (self.rules_above(&base), FolderScope::All);
        let worktrees = git::worktrees(&base);
        let mut folder = PathBuf::new();
        for end in path.match_indices('/').map(|(at, _)| at).chain([path.len()]) {
            let is_root = folder.as_os_str().is_empty();
            let full = base.join(&folder);
            if let Ok(dir) = root.dir(if is_root { Path::new(".") } else { &folder }) {
                let has_file = |name: &str| dir.has_file(name);
                if !is_root
                    && reach == FolderScope::All
                    && marked(&full, worktrees.as_deref(), has_file).is_some()
                {
                    if !self.leads_to_included(&folder) {
                        return false;
                    }
                    reach = FolderScope::Included;
                }
                if self.package.is_none() {
                    let has = |name: &str| matches!(dir.stat(name), Ok(Some(_)));
                    rules = Rules::within(rules, &dir, &full, has);
                }
            }
            let is_last = end == path.len();
            let there = Path::new(&path[..end]);
            match self.choose(reach, rules.as_deref(), &full, there, is_dir || !is_last) {
                Choice::Take => {}
                Choice::TakePart(_) => reach = FolderScope::Included,
                Choice::Leave(_) => return false,
            }
            folder = PathBuf::from(&path[..end]);
        }
        true
    }

    /// Whether the text of a file may be read, whatever a chunk file says. A hidden file may be read
    /// only if a walk of `root` would take it, so a chunk file of others cannot name one.
    #[must_use]
    pub fn may_read(&self, root: &Path, path: &str) -> bool {
        self.included.hidden || !has_hidden_part(path) || self.would_take(root, path)
    }
}

/// Whether a part of a path is hidden, and not one of those that people mean.
fn has_hidden_part(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|folder| is_hidden(folder.as_bytes(), true))
        || is_hidden(name.as_bytes(), false)
}

/// Whether a file with this name decides about other files: which are indexed, or who wrote them.
#[must_use]
pub fn is_rule_file(name: &str) -> bool {
    matches!(name, ".gitignore" | ".cortexignore" | origin::ATTRIBUTES)
        || DIRECTORY_TAGS.contains(&name)
        || origin::is_licence(name)
}
