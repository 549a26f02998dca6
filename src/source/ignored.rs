//! Which names the ignore files of a tree leave out.
//!
//! They are read here, and not by the crate that matches their rules: it opens them by path, so a link to a device or a named pipe
//! in a repository would take all memory or hang for ever.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::Mutex;

use super::git;
use crate::dir::{Dir, is_refused};

/// A larger ignore file counts as absent.
const MAX_BYTES: u64 = 1 << 20;
/// So many rules hold in a directory, of all ignore files above it; those after them say nothing. A rule takes some kilobytes.
const MAX_RULES: usize = 10_000;
/// Kinds of ignore files; the first that has a rule for a name decides.
const NAMES: [&str; 3] = [".cortexignore", ".gitignore", ".git"];

/// The rules that hold in a directory.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    /// One for each of [`NAMES`]: that of `.git` is of its `info/exclude`.
    own: [Gitignore; NAMES.len()],
    /// How many rules these and those above are.
    count: usize,
}

/// What the rules say of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Ignored,
    /// A rule that begins with `!` names it.
    Kept,
}

impl Rules {
    /// Rules of the directories above the root, as far as its repository reaches. Those in a home directory (dotfiles) say nothing
    /// about the projects below, so without a repository there are none. `root`: absolute.
    pub(super) fn above(root: &Path) -> Option<Arc<Self>> {
        let n_levels = root.ancestors().position(|dir| dir.join(".git").exists())?;
        let mut above: Vec<&Path> = root.ancestors().skip(1).take(n_levels).collect();
        above.reverse();
        above.into_iter().fold(None, |rules, path| match Dir::open(path) {
            Ok(dir) => Self::within(rules, &dir, path, |_| true),
            Err(_) => rules,
        })
    }

    /// The rules in a directory, given those above it. `path`: where it is, absolute; `has`: whether it holds a name.
    pub(super) fn within(above: Option<Arc<Self>>, dir: &Dir, path: &Path, has: impl Fn(&str) -> bool) -> Option<Arc<Self>> {
        let mut n_rules = above.as_ref().map_or(0, |above| above.count);
        let own = NAMES.map(|name| {
            let text = if has(name) { text(dir, path, name) } else { None };
            let own = text.map_or_else(Gitignore::empty, |text| parsed(path, name, &text, MAX_RULES - n_rules));
            n_rules += own.len();
            own
        });
        if own.iter().all(Gitignore::is_empty) { above } else { Some(Arc::new(Self { above, own, count: n_rules })) }
    }

    /// What they say of something in their directory, or below it. `path`: absolute.
    pub(super) fn say(&self, path: &Path, is_dir: bool) -> Said {
        let nearest = |kind: usize| {
            let chain = std::iter::successors(Some(self), |rules| rules.above.as_deref());
            chain.map(|rules| rules.own[kind].matched(path, is_dir)).find(|found| !found.is_none())
        };
        match (0..NAMES.len()).find_map(nearest) {
            None | Some(Match::None) => Said::Nothing,
            Some(Match::Ignore(_)) => Said::Ignored,
            Some(Match::Whitelist(_)) => Said::Kept,
        }
    }
}

/// The text of an ignore file. A link, a pipe, a device and a file over the limit count as absent, as links do for git.
fn text(dir: &Dir, path: &Path, name: &str) -> Option<String> {
    let read = if name == ".git" { git::exclude(dir, path, MAX_BYTES) } else { dir.read(name, MAX_BYTES) };
    let bytes = read
        .inspect_err(|e| {
            if e.kind() != ErrorKind::NotFound {
                tell_once(path.join(name), e);
            }
        })
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A tree is walked again and again: what is wrong with a file in it is logged the first time.
fn tell_once(path: PathBuf, e: &std::io::Error) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().insert(path) {
        let what = match e.kind() {
            _ if is_refused(e) => "an ignore file is not used",
            ErrorKind::Other => "rules of an ignore file are not used",
            _ => "an ignore file cannot be read",
        };
        tracing::warn!("{what}: {e}");
    }
}

fn parsed(path: &Path, name: &str, text: &str, max_rules: usize) -> Gitignore {
    let mut builder = GitignoreBuilder::new(path);
    let is_rule = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let mut rules = text.strip_prefix('\u{feff}').unwrap_or(text).lines().filter(is_rule);
    for line in rules.by_ref().take(max_rules) {
        if let Err(e) = builder.add_line(None, line) {
            tracing::warn!("{}: the rule `{line}` is not understood: {e}", path.join(name).display());
        }
    }
    if rules.next().is_some() {
        let why = format!("{}: only {MAX_RULES} rules are used, in this file and those above it", path.join(name).display());
        tell_once(path.join(name), &std::io::Error::other(why));
    }
    builder.build().unwrap_or_else(|e| {
        tracing::warn!("{}: the rules are not understood: {e}", path.join(name).display());
        Gitignore::empty()
    })
}
