//! Finds out, from git's files, what git does to a work tree: operations, commits, and evidence
//! that later tells who made a change.
//!
//! Git changes the work tree first, then its index, then its references, and writes its reflogs
//! last. So a change is judged only when things are quiet, by its content: git made it if the
//! content is what git has put there.

#![expect(clippy::disallowed_methods, reason = "time stamps of files of git")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::reflog::{self, Log, ReflogLine, lines, parse};
use super::{GitDir, MAX_LIST_BYTES, object_id, own_bytes, small_text, trees};

#[cfg(test)]
mod tests;

/// How long evidence is kept. It must outlast a window, from its first change to its end.
const REMEMBERED: Duration = Duration::from_secs(30);
/// An older lock of the index was left by a git that was killed.
const LONGEST: Duration = Duration::from_mins(10);
/// The reflog of the stashes, below the directory that all work trees share.
const STASHES: &str = "logs/refs/stash";
/// The message that `git merge --squash` writes.
const SQUASH: &str = "SQUASH_MSG";
/// Most stashes in a position, to find out later which one was taken.
const MAX_STASHES: usize = 32;
/// Prefix of the word in a position that holds the number of old lines.
const OLD: &str = "old=";

/// The kind of a git operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    Reset,
    Checkout,
    Merge,
    Rebase,
    Stash,
    StashPop,
    Pull,
    CherryPick,
    Revert,
    Other,
}

/// A git operation that may change files of the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitOperation {
    pub kind: OperationKind,
    /// The commit before, or the stash that is taken; `None` for the first commit and for stashes that
    /// are made.
    pub from: Option<String>,
    /// The commit after; `None` for conflicts and for stashes that are taken.
    pub to: Option<String>,
    /// The message in git's log, or that of the merge.
    pub subject: String,
    /// Unix seconds.
    pub at: i64,
    /// When it began: earlier than `at` for a rebase of several steps.
    pub started: i64,
    /// Time zone of the user, in minutes east of UTC.
    pub zone: i64,
    /// Whether it may have happened before the memory began.
    pub is_old: bool,
}

/// A new commit. Committing changes no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub id: String,
    pub subject: String,
    /// Unix seconds.
    pub at: i64,
}

/// The operations and commits since the last call, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Happened {
    pub operations: Vec<GitOperation>,
    pub commits: Vec<Committed>,
}

/// A repository as it was last seen, and the evidence of what git did since.
#[derive(Debug)]
pub struct GitWatch {
    pub(super) dir: GitDir,
    /// The path of the opened tree, relative to the root of the work tree.
    pub(super) prefix: PathBuf,
    log: Log,
    /// The stashes, oldest first.
    stashes: Vec<ReflogLine>,
    head: Option<String>,
    index: Stamp,
    /// The index at the last report.
    pub(super) reported: Stamp,
    auto_merge: Stamp,
    squash: Stamp,
    message: Stamp,
    /// Commits in this many of the next log lines are not reported.
    n_old: usize,
    /// Whether a merge was noted that [`GitWatch::operations`] has not reported.
    merging: bool,
    /// Whether the index was written since the last report.
    rewritten: bool,
    pub(super) evidence: Evidence,
}

/// Identifies a version of a file: time of writing (nanoseconds since 1970) and length in bytes.
pub(super) type Stamp = Option<(u128, u64)>;

/// Evidence of what git has put into the work tree.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) steps: Vec<RefMove>,
    pub(super) merges: Vec<Merged>,
    pub(super) stashes: Vec<Stashed>,
    pub(super) rewrites: Vec<Rewrite>,
}

/// A move of HEAD from one commit to another.
#[derive(Debug, Clone)]
pub(super) struct RefMove {
    pub(super) from: Option<String>,
    pub(super) to: String,
    /// Whether the step records what was in the work tree, instead of changing it.
    pub(super) commit: bool,
    /// Whether git may have rewritten files that are equal in the two commits.
    pub(super) reset: bool,
    /// Whether the step continues the operation of the step before.
    pub(super) goes_on: bool,
    pub(super) at: SystemTime,
}

/// A merge in the work tree: all that git wrote there, with conflict markers.
#[derive(Debug)]
pub(super) struct Merged {
    /// The id of the tree, or of a commit with that tree.
    pub(super) tree: String,
    pub(super) head: Option<String>,
    /// Whether `git merge --squash` made it and nothing had to be merged.
    squashed: bool,
    pub(super) at: SystemTime,
}

#[derive(Debug)]
pub(super) struct Stashed {
    pub(super) id: String,
    /// Whether the stash was taken, not made.
    pub(super) popped: bool,
    pub(super) at: SystemTime,
}

/// The time during which git held the lock of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rewrite {
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
}

impl GitWatch {
    /// Opens the repository that contains `root`, to report what happens from now on. Returns
    /// `None` outside a repository.
    #[must_use]
    pub fn open(root: &Path) -> Option<Self> {
        let mut watch = Self::find(root)?;
        watch.log.read();
        watch.stashes = watch.stash_entries();
        watch.head = watch.dir.head();
        watch.index = stamp(&watch.dir.own.join("index"));
        watch.auto_merge = stamp(&watch.dir.own.join("AUTO_MERGE"));
        watch.squash = stamp(&watch.dir.own.join(SQUASH));
        watch.message = stamp(&watch.dir.own.join("COMMIT_EDITMSG"));
        watch.reported = watch.index;
        Some(watch)
    }

    /// Opens a new repository, made by a clone or a new work tree: its whole log is new.
    #[must_use]
    pub fn open_new(root: &Path) -> Option<Self> {
        let mut watch = Self::find(root)?;
        // Work trees share their stashes, so those are not new.
        watch.stashes = watch.stash_entries();
        Some(watch)
    }

    /// Opens a repository to report what happened from a past time on. Log lines of that same second
    /// count as later, unless git has not written the log since.
    #[must_use]
    pub fn open_since(root: &Path, since: SystemTime) -> Option<Self> {
        let mut watch = Self::open(root)?;
        let (own, common) = (watch.dir.own.clone(), watch.dir.common.clone());
        let is_later = |path: PathBuf| modified(&path).is_ok_and(|at| at >= since);
        if is_later(own.join(reflog::NAME)) {
            watch.log.go_to(seconds(since));
        }
        if is_later(common.join(STASHES)) {
            watch.stashes.retain(|stash| stash.at < seconds(since));
        }
        for (name, stamp) in [
            ("index", &mut watch.index),
            ("AUTO_MERGE", &mut watch.auto_merge),
            (SQUASH, &mut watch.squash),
        ] {
            if is_later(own.join(name)) {
                // The current file is a new one.
                *stamp = None;
            }
        }
        watch.reported = watch.index;
        Some(watch)
    }

    /// Returns the repository, set not to report the commits that are already in its log.
    #[must_use]
    pub fn without_commits(self) -> Self {
        Self { n_old: self.log.n_ahead(), ..self }
    }

    /// Opens a repository to continue at a former [`GitWatch::position`], or from now if that cannot
    /// be read.
    #[must_use]
    pub fn open_at(root: &Path, position: &str) -> Option<Self> {
        let mut watch = Self::find(root)?;
        if watch.restore(position).is_none() {
            return Self::open(root);
        }
        Some(watch)
    }

    /// Returns how far git's files were read, for [`GitWatch::open_at`].
    #[must_use]
    pub fn position(&self) -> String {
        let log = &self.log;
        let stashes: Vec<String> = self
            .stashes
            .iter()
            .rev()
            .take(MAX_STASHES)
            .rev()
            .filter_map(|s| s.to.clone())
            .collect();
        let head = self.head.as_deref().unwrap_or("-");
        let stamps = [self.index, self.auto_merge, self.message].map(stamp_text);
        let words = [
            &stamps[..],
            &stashes,
            &Vec::from_iter((self.n_old > 0).then(|| format!("{OLD}{}", self.n_old))),
        ]
        .concat()
        .join(" ");
        format!("1 {} {:016x} {} {head} {words}", log.start, log.last, log.at)
    }

    fn restore(&mut self, position: &str) -> Option<()> {
        let mut words = position.split(' ');
        if words.next()? != "1" {
            return None;
        }
        self.log.start = words.next()?.parse().ok()?;
        self.log.last = u64::from_str_radix(words.next()?, 16).ok()?;
        self.log.at = words.next()?.parse().ok()?;
        self.head = object_id(words.next()?);
        self.index = stamp_of(words.next()?)?;
        self.reported = self.index;
        self.auto_merge = stamp_of(words.next()?)?;
        self.message = stamp_of(words.next()?)?;
        // Git writes this file after the index, so a file newer than the index is new.
        self.squash = stamp(&self.dir.own.join(SQUASH))
            .filter(|(at, _)| self.index.is_none_or(|(index, _)| *at <= index));
        for word in words {
            match word.strip_prefix(OLD) {
                Some(n) => self.n_old = n.parse().ok()?,
                None => self.stashes.extend(
                    object_id(word).map(|id| ReflogLine { to: Some(id), ..ReflogLine::default() }),
                ),
            }
        }
        Some(())
    }

    fn find(root: &Path) -> Option<Self> {
        let root = fs::canonicalize(root).ok()?;
        let dir = GitDir::of(&root)?;
        if !dir.own.join("HEAD").exists() {
            return None;
        }
        let prefix = root.strip_prefix(&dir.top).ok()?.to_path_buf();
        let log = Log::new(dir.own.clone());
        Some(Self {
            dir,
            prefix,
            log,
            stashes: Vec::new(),
            head: None,
            index: None,
            reported: None,
            auto_merge: None,
            squash: None,
            message: None,
            n_old: 0,
            merging: false,
            rewritten: false,
            evidence: Evidence::default(),
        })
    }

    /// Returns the directories to watch, each without those below it. Git creates some later, so
    /// call it again after a relevant event.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let all = [
            self.dir.own.clone(),
            self.dir.own.join("logs"),
            self.dir.common.join("refs"),
            self.dir.common.join("logs/refs"),
        ];
        all.into_iter().filter(|dir| dir.is_dir()).collect()
    }

    /// Whether the directory is the root of the work tree.
    #[must_use]
    pub fn is_of(&self, directory: &Path) -> bool {
        fs::canonicalize(directory).is_ok_and(|directory| directory == self.dir.top)
    }

    /// Whether the repository still exists.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.dir.own.join("HEAD").exists()
    }

    /// Returns when git last wrote a file that says what it did. The answer is complete only for a
    /// tree that was looked at later.
    #[must_use]
    pub fn written_at(&self) -> Option<SystemTime> {
        let own = ["index", "AUTO_MERGE", SQUASH, reflog::NAME].map(|name| self.dir.own.join(name));
        let all = own.into_iter().chain([self.dir.common.join(STASHES)]);
        all.filter_map(|path| modified(&path).ok()).max()
    }

    /// Whether git is changing the work tree now. A killed git may leave its lock, so
    /// an old one does not count.
    #[must_use]
    pub fn is_at_work(&self) -> bool {
        modified(&self.dir.own.join("index.lock")).is_ok_and(|since| age(since) < LONGEST)
    }

    /// Whether an event on this path means that [`GitWatch::note`] must be called.
    #[must_use]
    pub fn is_relevant(&self, path: &Path) -> bool {
        const OWN: &str = "index HEAD ORIG_HEAD AUTO_MERGE MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD \
            REBASE_HEAD MERGE_MSG SQUASH_MSG logs logs/HEAD rebase-merge rebase-apply";
        const SHARED: &str = "refs/stash logs/refs/stash logs/refs";
        let is_in = |directory: &Path, names: &str| {
            let name = path.strip_prefix(directory).ok().and_then(Path::to_str);
            let name = name.map(|name| name.strip_suffix(".lock").unwrap_or(name));
            name.is_some_and(|name| names.split(' ').any(|known| known == name))
        };
        is_in(&self.dir.own, OWN) || is_in(&self.dir.common, SHARED)
    }

    /// Records what git may soon overwrite: when it wrote the index, and what it merged. Call it at
    /// once after each relevant event. It costs three `stat`.
    pub fn note(&mut self) {
        if let Some(index) = rewritten(&self.dir.own, "index", &mut self.index) {
            self.rewritten = true;
            self.evidence.rewrites.extend(rewrite(&index));
        }
        if let Some(path) = rewritten(&self.dir.own, "AUTO_MERGE", &mut self.auto_merge)
            && let (Some(tree), Ok(at)) = (self.merged_tree(), modified(&path))
        {
            let head = self.dir.head();
            self.evidence.merges.push(Merged { tree, head, squashed: false, at });
            self.merging = true;
        }
        if let Some(squash) = rewritten(&self.dir.own, SQUASH, &mut self.squash) {
            let head = self.dir.head();
            let is_known = self.evidence.merges.iter().any(|m| m.head == head);
            // This squash needed no merging: the work tree equals the first
            // commit that its message names.
            let text = small_text(&self.dir.own, SQUASH).filter(|_| !is_known).unwrap_or_default();
            let tip = text.lines().find_map(|line| object_id(line.strip_prefix("commit ")?));
            if let (Some(tree), Ok(at)) = (tip, modified(&squash)) {
                self.evidence.merges.push(Merged { tree, head, squashed: true, at });
                self.merging = true;
            }
        }
    }

    /// Returns what git did since the last call. Call it when a window closes,
    /// before [`GitWatch::classify`].
    pub fn operations(&mut self) -> Happened {
        self.forget_old();
        self.note();
        let rewritten = std::mem::take(&mut self.rewritten);
        let mut happened = Happened::default();
        let stashed = self.stash_operations(rewritten, &mut happened);
        let entries = self.log_entries();
        let n_old = std::mem::take(&mut self.n_old);
        // A stash resets the work tree. Do not report that reset, too.
        let by_stash = |e: &ReflogLine| {
            e.from == e.to && stashed.iter().any(|at| (0..=1).contains(&(e.at - at)))
        };
        let mut by_stash_left = stashed.len();
        let mut stashes: Vec<String> = self.stashes.iter().filter_map(|s| s.to.clone()).collect();
        let mut is_back = false;
        let mut running: Option<OperationKind> = None;
        for (i, entry) in entries.into_iter().enumerate() {
            let Some(to) = entry.to.clone() else { continue };
            let action = action(&entry);
            self.add_step(&entry, &action, to.clone());
            if action == Action::Operation(OperationKind::Reset)
                && by_stash_left > 0
                && by_stash(&entry)
            {
                by_stash_left -= 1;
                continue;
            }
            let is_reset = action == Action::Operation(OperationKind::Reset) && i >= n_old;
            if is_reset
                && let Some(is_taken) = self.by_vanished_stash(&entry, &mut stashes, &mut happened)
            {
                is_back |= is_taken;
                continue;
            }
            let is_commit = action == Action::Commit && i >= n_old;
            let squash = if is_commit { self.squash_by(&entry) } else { None };
            match action {
                Action::Commit if i < n_old => {}
                Action::Commit if squash.is_some() => {
                    self.evidence.merges.push(Merged {
                        tree: to,
                        head: entry.from.clone(),
                        squashed: true,
                        at: time(entry.at),
                    });
                    happened.operations.extend(squash);
                }
                Action::Commit => {
                    let (subject, at) = (entry.message, entry.at);
                    happened.commits.push(Committed { id: to, subject, at });
                }
                // Git fills a new work tree by a reset, which belongs to its creation.
                Action::Operation(OperationKind::Reset) if is_filled(&happened, &entry) => {}
                Action::Operation(kind) if running == Some(kind) && goes_on(&entry.message) => {
                    if let Some(last) = happened.operations.iter_mut().rfind(|o| o.kind == kind) {
                        (last.to, last.subject, last.at) = (entry.to, entry.message, entry.at);
                    }
                }
                Action::Operation(kind) => {
                    running =
                        matches!(kind, OperationKind::Rebase | OperationKind::Pull).then_some(kind);
                    let ReflogLine { from, to, message, at, zone } = entry;
                    let new = GitOperation::new(kind, message, at, zone);
                    happened.operations.push(GitOperation { from, to, is_old: i < n_old, ..new });
                }
                Action::Nothing => {}
            }
        }
        if rewritten && !self.merging && !is_back {
            self.note_former_merge();
        }
        if std::mem::take(&mut self.merging) && happened.operations.is_empty() {
            let merge = self.unlogged_merge(&happened.commits);
            happened.operations.push(merge);
        }
        happened.operations.sort_by_key(|o| o.at);
        self.reported = self.index;
        happened
    }

    /// Reports the stash to which the reset of a line belongs, if it is gone. Returns whether it was
    /// taken: then the work tree is as it was before, and nothing is reported.
    fn by_vanished_stash(
        &mut self,
        entry: &ReflogLine,
        known: &mut Vec<String>,
        happened: &mut Happened,
    ) -> Option<bool> {
        let (stash, message) = self.vanished_stash(entry, known)?;
        known.push(stash.clone());
        let (is_taken, at) = (self.is_taken(&stash), time(entry.at));
        if is_taken {
            // The merge that brought the files back is none.
            self.evidence.merges.retain(|merge| merge.at < at);
            self.merging = false;
        } else {
            let made = stash_made(&ReflogLine { message, ..entry.clone() }, Some(stash.clone()));
            happened.operations.push(made);
            self.evidence.stashes.push(Stashed { id: stash, popped: false, at });
        }
        Some(is_taken)
    }

    /// Notes a merge with the same result as the last one, for which git
    /// does not write `AUTO_MERGE`.
    fn note_former_merge(&mut self) {
        let known = |tree: &String| self.evidence.merges.iter().any(|m| m.tree == *tree);
        if let Some(tree) = self.merged_tree().filter(|tree| !known(tree)) {
            let at = SystemTime::now();
            self.evidence.merges.push(Merged { tree, head: None, squashed: false, at });
        }
    }

    /// Returns the id of the tree that the last merge made.
    fn merged_tree(&self) -> Option<String> {
        object_id(&small_text(&self.dir.own, "AUTO_MERGE")?)
    }

    fn add_step(&mut self, entry: &ReflogLine, action: &Action, to: String) {
        // The user resolved the conflict by hand before the rebase continued.
        let commit = *action == Action::Commit
            || entry.message.starts_with("rebase (continue)")
            || entry.message.contains("(continue): ");
        if *action != Action::Nothing {
            let reset = *action == Action::Operation(OperationKind::Reset);
            self.evidence.steps.push(RefMove {
                from: entry.from.clone(),
                to,
                commit,
                reset,
                goes_on: goes_on(&entry.message),
                at: time(entry.at),
            });
        }
    }

    /// Returns the new lines of the reflog. Without a reflog, returns one entry if HEAD moved.
    fn log_entries(&mut self) -> Vec<ReflogLine> {
        let mut entries = self.log.read();
        let head = self.dir.head();
        let message = stamp(&self.dir.own.join("COMMIT_EDITMSG"));
        if entries.is_empty() && head != self.head && !self.log.exists() {
            let what = if message == self.message {
                "moved without a reflog"
            } else {
                "commit: without a reflog"
            };
            let (from, to, at) = (self.head.clone(), head.clone(), seconds(SystemTime::now()));
            entries.push(ReflogLine { from, to, message: what.to_string(), at, zone: 0 });
        }
        (self.head, self.message) = (head, message);
        entries
    }

    /// Records which stashes were made and taken. Returns when stashes were made (Unix seconds).
    fn stash_operations(&mut self, rewritten: bool, happened: &mut Happened) -> Vec<i64> {
        let before = std::mem::take(&mut self.stashes);
        self.stashes = self.stash_entries();
        let mut made = Vec::new();
        let is_in = |list: &[ReflogLine], entry: &ReflogLine| list.iter().any(|e| e.to == entry.to);
        for entry in self.stashes.iter().filter(|e| !is_in(&before, e)) {
            // All work trees share the stashes. If the index was not
            // written, another one made this.
            if let (true, Some(id)) = (rewritten, entry.to.clone()) {
                self.evidence.stashes.push(Stashed { id, popped: false, at: time(entry.at) });
                happened.operations.push(stash_made(entry, entry.to.clone()));
                made.push(entry.at);
            }
        }
        // Git removes a line of this log, or the log.
        let log = self.dir.common.join(STASHES);
        let at = modified(&log)
            .or_else(|e| log.parent().map_or(Err(e), modified))
            .unwrap_or_else(|_| SystemTime::now());
        for entry in before.iter().filter(|e| !is_in(&self.stashes, e)) {
            // A stash that was only dropped changes nothing else.
            if let (true, Some(id)) = (self.merging || rewritten, entry.to.clone()) {
                self.evidence.stashes.push(Stashed { id: id.clone(), popped: true, at });
                let (kind, subject) = (OperationKind::StashPop, entry.message.clone());
                let popped = GitOperation::new(kind, subject, seconds(at), self.log.zone);
                happened.operations.push(GitOperation { from: Some(id), ..popped });
            }
        }
        made
    }

    /// Returns the operation of a merge that is not in the reflog: it has conflicts, or no commit.
    fn unlogged_merge(&self, commits: &[Committed]) -> GitOperation {
        let is = |name: &str| self.dir.own.join(name).exists();
        let said = |part: &str| commits.iter().any(|c| c.subject.starts_with(part));
        let kind = if is("MERGE_HEAD")
            || is(SQUASH)
            || said("commit (merge)")
            || self.evidence.merges.last().is_some_and(|m| m.squashed)
        {
            OperationKind::Merge
        } else if is("rebase-merge") || is("rebase-apply") {
            OperationKind::Rebase
        } else if is("CHERRY_PICK_HEAD") || said("commit (cherry-pick)") {
            OperationKind::CherryPick
        } else if is("REVERT_HEAD") {
            OperationKind::Revert
        } else if is("MERGE_MSG") {
            OperationKind::CherryPick
        } else {
            OperationKind::StashPop
        };
        let message = small_text(&self.dir.own, "MERGE_MSG");
        let subject =
            message.and_then(|text| text.lines().next().map(String::from)).unwrap_or_default();
        let at = self.evidence.merges.last().map_or(0, |m| seconds(m.at));
        let from = self.head.clone().filter(|_| kind != OperationKind::StashPop);
        GitOperation { from, ..GitOperation::new(kind, subject, at, self.log.zone) }
    }

    fn forget_old(&mut self) {
        let Evidence { steps, merges, stashes, rewrites } = &mut self.evidence;
        steps.retain(|s| age(s.at) < REMEMBERED);
        merges.retain(|m| age(m.at) < REMEMBERED);
        stashes.retain(|s| age(s.at) < REMEMBERED);
        rewrites.retain(|r| age(r.end) < REMEMBERED);
    }

    fn stash_entries(&self) -> Vec<ReflogLine> {
        let text = own_bytes(&self.dir.common, STASHES, MAX_LIST_BYTES).unwrap_or_default();
        lines(&text).filter_map(parse).collect()
    }
}

/// Returns the operation of a stash that is made.
fn stash_made(entry: &ReflogLine, stash: Option<String>) -> GitOperation {
    let (kind, subject) = (OperationKind::Stash, entry.message.clone());
    GitOperation { to: stash, ..GitOperation::new(kind, subject, entry.at, entry.zone) }
}

/// Returns the ids of the stashes of a tree and its submodules.
#[must_use]
pub fn stashes(root: &Path) -> Vec<String> {
    let stashes = |tree: PathBuf| {
        let text = own_bytes(&GitDir::of(&tree)?.common, STASHES, MAX_LIST_BYTES)?;
        Some(lines(&text).filter_map(|line| parse(line)?.to).collect::<Vec<_>>())
    };
    trees(root).filter_map(stashes).flatten().collect()
}

/// The meaning of a reflog line for the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Commit,
    Operation(OperationKind),
    Nothing,
}

fn action(entry: &ReflogLine) -> Action {
    let moved = entry.from != entry.to;
    let word = entry.message.split([' ', ':', '(']).next().unwrap_or_default();
    Action::Operation(match word {
        "commit" => return Action::Commit,
        "reset" => OperationKind::Reset,
        "rebase" => OperationKind::Rebase,
        // Other lines without a move change no files: a branch was created or renamed.
        _ if !moved => return Action::Nothing,
        "checkout" => OperationKind::Checkout,
        "merge" => OperationKind::Merge,
        "pull" | "initial" => OperationKind::Pull,
        "cherry-pick" => OperationKind::CherryPick,
        "revert" => OperationKind::Revert,
        _ => OperationKind::Other,
    })
}

/// Whether a reset stays at the commit for which a work tree was just created.
fn is_filled(happened: &Happened, reset: &ReflogLine) -> bool {
    reset.from == reset.to
        && happened.operations.last().is_some_and(|made| made.from.is_none() && made.to == reset.to)
}

/// Whether a line continues the operation of the line before: a rebase, or a pull that rebases,
/// writes a line for each commit.
fn goes_on(message: &str) -> bool {
    if !(message.starts_with("rebase") || message.starts_with("pull")) {
        return false;
    }
    let said = message.split(": ").next().unwrap_or_default();
    said.ends_with(')') && !said.ends_with("(start)")
}

impl OperationKind {
    /// The command as a user types it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Reset => "git reset --hard",
            Self::Checkout => "git checkout",
            Self::Merge => "git merge",
            Self::Rebase => "git rebase",
            Self::Stash => "git stash",
            Self::StashPop => "git stash pop",
            Self::Pull => "git pull",
            Self::CherryPick => "git cherry-pick",
            Self::Revert => "git revert",
            Self::Other => "git",
        }
    }
}

impl GitOperation {
    /// Creates an operation of one step without commits, at a time in Unix seconds.
    pub(crate) fn new(kind: OperationKind, subject: String, at: i64, zone: i64) -> Self {
        Self { kind, from: None, to: None, subject, at, started: at, zone, is_old: false }
    }

    /// Whether it is a reset that stays at its commit: only the times of files tell which it restored.
    #[must_use]
    pub fn is_restoring(&self) -> bool {
        self.kind == OperationKind::Reset && self.from == self.to
    }

    /// Returns a summary such as `git reset --hard: 47 files at 15:30` (the user's time zone).
    #[must_use]
    pub fn summary(&self, files: usize) -> String {
        let minutes = (self.at.div_euclid(60) + self.zone).rem_euclid(24 * 60);
        let (what, files) = match (self.kind, files) {
            // The reflog does not tell how hard a reset was; this one left the files alone.
            (OperationKind::Reset, 0) => ("git reset", "no files".to_string()),
            (kind, 0) => (kind.text(), "no files".to_string()),
            (kind, 1) => (kind.text(), "1 file".to_string()),
            (kind, n) => (kind.text(), format!("{n} files")),
        };
        format!("{what}: {files} at {:02}:{:02}", minutes / 60, minutes % 60)
    }
}

pub(super) fn modified(path: &Path) -> std::io::Result<SystemTime> {
    fs::symlink_metadata(path)?.modified()
}

fn stamp(path: &Path) -> Stamp {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos(), found.len()))
}

/// Returns the path of a file of git if it is not the one of a stamp, which becomes that of this file.
fn rewritten(directory: &Path, name: &str, known: &mut Stamp) -> Option<PathBuf> {
    let path = directory.join(name);
    let now = stamp(&path);
    (std::mem::replace(known, now) != now).then_some(path)
}

fn stamp_text(stamp: Stamp) -> String {
    stamp.map_or("-".to_string(), |(time, len)| format!("{time}:{len}"))
}

fn stamp_of(text: &str) -> Option<Stamp> {
    if text == "-" {
        return Some(None);
    }
    let (time, len) = text.split_once(':')?;
    Some(Some((time.parse().ok()?, len.parse().ok()?)))
}

/// Returns when git held the lock of the index. The lock file becomes the index, so the index was
/// created when the lock was taken.
fn rewrite(index: &Path) -> Option<Rewrite> {
    let found = fs::symlink_metadata(index).ok()?;
    let end = found.modified().ok()?;
    Some(Rewrite { start: found.created().map_or(end, |start| start.min(end)), end })
}

pub(super) fn time(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|d| i64::try_from(d.as_secs()).ok())
        .unwrap_or_default()
}

/// Returns how long ago a time was; zero for a time in the future.
fn age(time: SystemTime) -> Duration {
    SystemTime::now().duration_since(time).unwrap_or_default()
}
