//! The rules of a tree's ignore files, and of files with rules of the same form.
//!
//! This module reads the files itself. The crate that matches the rules opens them by path, so a
//! link to a device or a named pipe in a repository would take all memory or block for ever.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
pub(super) use ignore::gitignore::Gitignore;
use ignore::gitignore::{GitignoreBuilder, Glob, gitconfig_excludes_path};
use parking_lot::Mutex;

use super::git;
use crate::dir::{Dir, is_refused};

/// A larger ignore file, in bytes, counts as absent.
const MAX_BYTES: u64 = 1 << 20;
/// Most rules that apply in a directory, from all ignore files above it and in it; further ones are
/// dropped. A rule takes a few kilobytes of memory.
const MAX_RULES: usize = 10_000;
/// Kinds of ignore files. The first kind with a rule for a name decides.
const NAMES: [&str; 4] = [".cortexignore", ".gitignore", ".git", OF_USER];
/// The kind of the file that `core.excludesFile` of the user's git configuration names. Its rules hold
/// in each repository, relative to its top.
const OF_USER: &str = "core.excludesFile";

/// The rules that apply in a directory.
#[derive(Debug)]
pub(super) struct Rules {
    /// The absolute path of the directory.
    path: PathBuf,
    above: Option<Arc<Rules>>,
    /// The rules of each of [`NAMES`]. Those of `.git` are in its `info/exclude`.
    own: [Gitignore; NAMES.len()],
    /// The number of these rules and those above.
    count: usize,
}

/// The verdict of the rules about a name.
#[derive(Clone, Copy)]
pub(super) enum Verdict<'r> {
    Nothing,
    Ignored(AppliedRule<'r>),
    /// A rule that begins with `!` keeps the name.
    Kept,
}

/// A rule with the ignore file that it is from.
#[derive(Clone, Copy)]
pub(super) struct AppliedRule<'r> {
    rules: &'r Rules,
    /// Index in [`NAMES`].
    kind: usize,
    glob: &'r Glob,
}

impl<'r> AppliedRule<'r> {
    /// Returns the absolute path of the ignore file.
    pub(super) fn file(self) -> PathBuf {
        match NAMES[self.kind] {
            ".git" => self.rules.path.join(".git/info/exclude"),
            OF_USER => file_of_user().unwrap_or_default(),
            name => self.rules.path.join(name),
        }
    }

    /// Returns the number of the line, 1-based.
    pub(super) fn line(self) -> usize {
        // `parsed` keeps the number in the field for the path of the ignore file.
        let number = self.glob.from().and_then(Path::to_str).and_then(|text| text.parse().ok());
        number.unwrap_or(0)
    }

    /// Returns the rule as it is written.
    pub(super) fn glob(self) -> &'r str {
        self.glob.original()
    }
}

impl Rules {
    /// Returns the rules of the directories between the top of the repository and `root`
    /// (absolute). Without a repository, there are none: ignore files in a home directory
    /// (dotfiles) must not affect the projects below it.
    pub(super) fn above(root: &Path) -> Option<Arc<Self>> {
        repository_above(root).into_iter().fold(None, |rules, path| match Dir::open(path) {
            Ok(dir) => {
                Self::within(rules, &dir, path, |name| matches!(dir.stat(name), Ok(Some(_))))
            }
            Err(_) => rules,
        })
    }

    /// Returns the rules in a directory, added to those above it. `path` is its absolute path;
    /// `has` tells whether it holds a name.
    pub(super) fn within(
        above: Option<Arc<Self>>,
        dir: &Dir,
        path: &Path,
        has: impl Fn(&str) -> bool,
    ) -> Option<Arc<Self>> {
        let mut n_rules = above.as_ref().map_or(0, |above| above.count);
        let own = NAMES.map(|name| {
            let marker = if name == OF_USER { ".git" } else { name };
            let text = if has(marker) { text(dir, path, name) } else { None };
            let own = text.map_or_else(Gitignore::empty, |text| parsed(path, name, &text, n_rules));
            n_rules += own.len();
            own
        });
        if own.iter().all(Gitignore::is_empty) {
            above
        } else {
            Some(Arc::new(Self { path: path.to_path_buf(), above, own, count: n_rules }))
        }
    }

    /// Returns the verdict about an entry in or below the directory of the
    /// rules. `path` is absolute.
    pub(super) fn say(&self, path: &Path, is_dir: bool) -> Verdict<'_> {
        let nearest = |kind: usize| {
            let mut chain = std::iter::successors(Some(self), |rules| rules.above.as_deref());
            chain.find_map(|rules| match rules.own[kind].matched(path, is_dir) {
                Match::None => None,
                Match::Ignore(glob) => Some(Verdict::Ignored(AppliedRule { rules, kind, glob })),
                Match::Whitelist(_) => Some(Verdict::Kept),
            })
        };
        (0..NAMES.len()).find_map(nearest).unwrap_or(Verdict::Nothing)
    }
}

/// Returns the directories from the top of the repository to the one above `root` (absolute); none
/// without a repository.
#[expect(clippy::disallowed_methods, reason = "asks whether there is a .git above")]
pub(super) fn repository_above(root: &Path) -> Vec<&Path> {
    let n_levels = root.ancestors().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    let mut above: Vec<&Path> = root.ancestors().skip(1).take(n_levels).collect();
    above.reverse();
    above
}

/// Reads a file of rules. A link (as for git), a pipe, a device and a file over
/// the limit count as absent.
pub(super) fn text(dir: &Dir, path: &Path, name: &str) -> Option<String> {
    let read = match name {
        ".git" => git::exclude(dir, path, MAX_BYTES),
        OF_USER => rules_of_user(),
        _ => dir.read(name, MAX_BYTES),
    };
    let bytes = read
        .inspect_err(|e| {
            if e.kind() != ErrorKind::NotFound {
                tell_once(path.join(name), e);
            }
        })
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the path of the file of rules that the user's git configuration names, or git's default.
fn file_of_user() -> Option<PathBuf> {
    gitconfig_excludes_path().filter(|path| path.is_absolute())
}

/// Reads this file. It may be a link, since dotfile managers create links.
#[expect(clippy::disallowed_methods, reason = "the user's own file, which may be a link")]
fn rules_of_user() -> io::Result<Vec<u8>> {
    let file = fs::canonicalize(file_of_user().ok_or(ErrorKind::NotFound)?)?;
    let (Some(folder), Some(name)) = (file.parent().filter(|_| file.is_file()), file.file_name())
    else {
        // Git takes `/dev/null` for a file without rules.
        return Err(ErrorKind::NotFound.into());
    };
    Dir::open(folder)?.read(name, MAX_BYTES)
}

/// Logs a problem with a file the first time only, since a tree is walked again and again.
fn tell_once(path: PathBuf, e: &io::Error) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().insert(path) {
        let what = match e.kind() {
            _ if is_refused(e) => "a file of rules is not used",
            ErrorKind::Other => "rules of a file are not used",
            _ => "a file of rules cannot be read",
        };
        tracing::warn!("{what}: {e}");
    }
}

/// Returns whether the last rule that matches a file (absolute) is one without `!`.
pub(super) fn last_rule(rules: &Gitignore, path: &Path) -> Option<bool> {
    match rules.matched(path, false) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// Parses the rules of a file to which `n_above` rules are added.
pub(super) fn parsed(path: &Path, name: &str, text: &str, n_above: usize) -> Gitignore {
    let mut builder = GitignoreBuilder::new(path);
    let is_rule = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.starts_with('#');
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let mut rules = (1..).zip(lines).filter(is_rule);
    for (number, line) in rules.by_ref().take(MAX_RULES - n_above) {
        // The crate keeps a path with each rule. The number of the line is of more use.
        if let Err(e) = builder.add_line(Some(number.to_string().into()), line) {
            tracing::warn!(
                "{}: cannot parse the rule `{line}`, so it is not applied: {e}",
                path.join(name).display()
            );
        }
    }
    if rules.next().is_some() {
        let why = format!(
            "{}: more than {MAX_RULES} rules in this file and those above it; remove some",
            path.join(name).display()
        );
        tell_once(path.join(name), &io::Error::other(why));
    }
    builder.build().unwrap_or_else(|e| {
        tracing::warn!(
            "{}: cannot use the rules, so none of them applies: {e}",
            path.join(name).display()
        );
        Gitignore::empty()
    })
}
