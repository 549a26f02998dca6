//! Finds out afterwards what git did where its log does not say so: which files a reset restored,
//! that a reset was part of a stash which is gone, and that a commit is a squashed merge.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::reflog::{Log, ReflogLine, lines};
use super::rewritten::patch_ids;
use super::watch::{GitOperation, GitWatch, OperationKind, modified, time};
use super::{OBJECTS, TYPES, object_id};
use crate::dir::Dir;
use crate::platform::name_of_bytes;

/// Git states its times in whole seconds.
const SECOND: Duration = Duration::from_secs(1);
/// Most loose objects among which a stash is looked for.
const MAX_OBJECTS: usize = 20_000;
/// Most files of a commit that are looked at.
const MAX_SAMPLE: usize = 64;
/// Most branches with which a commit is compared.
const MAX_BRANCHES: usize = 32;

impl GitWatch {
    /// Returns the files of the opened tree that git wrote when it reset them to the commit that was
    /// checked out. Only the times of the files tell which they are.
    pub(super) fn written_by_reset(&self, reset: &GitOperation) -> Vec<PathBuf> {
        let at = time(reset.at);
        let first = at.checked_sub(SECOND).unwrap_or(at);
        let last = at.checked_add(SECOND).unwrap_or(at);
        // Git holds the lock of its index meanwhile; another command may have written the index since.
        let lock = self.evidence.rewrites.iter().rev().find(|r| (first..=last).contains(&r.end));
        let during = lock.map_or(first..=last, |lock| lock.start..=lock.end);
        let Some((out, true)) = self.ask(&["ls-files", "-s", "-z"], Vec::new()) else {
            return Vec::new();
        };
        let file = |entry: &[u8]| {
            let tab = entry.iter().position(|&b| b == b'\t')?;
            let (about, name) = (std::str::from_utf8(&entry[..tab]).ok()?, &entry[tab + 1..]);
            let written = modified(&self.full(name)).ok().filter(|at| during.contains(at))?;
            let blob = object_id(about.split(' ').nth(1)?)?;
            if self.is_fresh(&blob, written) { None } else { self.inside(name) }
        };
        out.split(|&b| b == 0).filter_map(file).collect()
    }

    /// Returns the stash, and its message, that was made by the command which wrote this line, but is
    /// not among the stashes any more: `git stash` resets the work tree, and `git stash pop` removes
    /// the line of the stash. Each of `known` made another line.
    pub(super) fn vanished_stash(
        &self,
        reset: &ReflogLine,
        known: &[String],
    ) -> Option<(String, String)> {
        let head = reset.from.as_ref().filter(|from| reset.to.as_ref() == Some(*from))?;
        let at = time(reset.at);
        let new = self.objects_since(at.checked_sub(SECOND).unwrap_or(at));
        if new.is_empty() {
            return None;
        }
        let (out, _) = self.ask(&TYPES, (new.join("\n") + "\n").into_bytes())?;
        let commits: Vec<String> = lines(&out)
            .filter_map(|line| object_id(std::str::from_utf8(line).ok()?.strip_suffix(" commit")?))
            .collect();
        if commits.is_empty() {
            return None;
        }
        let form = "--format=%H%x00%P%x00%ct%x00%s";
        let log = ["log", "--no-walk=unsorted", "--no-mailmap", form, "--stdin"];
        let (out, _) = self.ask(&log, (commits.join("\n") + "\n").into_bytes())?;
        lines(&out).find_map(|line| {
            let text = String::from_utf8_lossy(line);
            let mut fields = text.splitn(4, '\0');
            let (id, parents, at) = (fields.next()?, fields.next()?, fields.next()?);
            let message = fields.next()?;
            let is_stash = parents.split(' ').count() > 1
                && parents.split(' ').next() == Some(head.as_str())
                && at.parse::<i64>().is_ok_and(|at| reset.at.abs_diff(at) <= 1)
                && (message.starts_with("WIP on ") || message.starts_with("On "))
                && known.iter().all(|known| known != id);
            is_stash.then(|| (id.to_string(), message.to_string()))
        })
    }

    /// Returns the loose objects that were stored at a time or later.
    fn objects_since(&self, since: SystemTime) -> Vec<String> {
        let Ok(objects) = Dir::open(&self.dir.common).and_then(|dir| dir.dir(OBJECTS)) else {
            return Vec::new();
        };
        let folders = (0..=255u8).filter_map(|first| {
            let name = format!("{first:02x}");
            Some((objects.dir(&name).ok()?, name))
        });
        let in_folder = |(folder, first): (Dir, String)| {
            let names = folder.list().unwrap_or_default();
            names.into_iter().filter_map(move |(name, _)| {
                let id = object_id(&format!("{first}{}", name.to_str()?))?;
                let stat = folder.stat(&name).ok().flatten()?;
                (stat.modified >= since).then_some(id)
            })
        };
        folders.flat_map(in_folder).take(MAX_OBJECTS).collect()
    }

    /// Returns the squashed merge that a commit is: its patch is that of a whole branch which it does
    /// not contain, and git wrote its files since the last report.
    pub(super) fn squash_by(&self, commit: &ReflogLine) -> Option<GitOperation> {
        let (from, to) = (commit.from.as_ref()?, commit.to.as_ref()?);
        let subject = commit.message.strip_prefix("commit: ")?;
        let files = self.names_between(from, to);
        if !files.iter().take(MAX_SAMPLE).any(|path| self.is_git_since_report(to, path)) {
            return None;
        }
        let branches: Vec<(String, String)> = self.branches();
        let base_of = |tip: &String| {
            let (out, _) = self.ask(&["merge-base", to, tip], Vec::new())?;
            // One that contains the other is not a branch beside it.
            object_id(&String::from_utf8_lossy(&out)).filter(|base| base != tip && base != to)
        };
        let mut asked: Vec<String> = branches
            .iter()
            .filter_map(|(tip, _)| Some(format!("{tip} {}", base_of(tip)?)))
            .collect();
        if asked.is_empty() {
            return None;
        }
        asked.push(to.clone());
        let patches = patch_ids(&self.dir.top, &asked);
        let own = patches.get(to)?;
        let is_it = |(tip, _): &&(String, String)| {
            tip != to && patches.get(tip) == Some(own) && self.is_before(tip, to)
        };
        let (_, name) = branches.iter().find(is_it)?;
        let subject = format!("squash of {name}: {subject}");
        let merge = GitOperation::new(OperationKind::Merge, subject, commit.at, commit.zone);
        Some(GitOperation { from: Some(from.clone()), to: Some(to.clone()), ..merge })
    }

    /// Whether a commit is older than another one with the same patch, and not a copy of it: a rebase
    /// or a cherry-pick keeps the author's date and the subject.
    fn is_before(&self, old: &str, new: &str) -> bool {
        let form = "--format=%ct %at %s";
        let log = ["log", "--no-walk=unsorted", "--no-mailmap", form, old, new];
        let Some((out, true)) = self.ask(&log, Vec::new()) else { return false };
        let text = String::from_utf8_lossy(&out);
        let mut both = text.lines().filter_map(|line| line.split_once(' '));
        let (Some((old, old_rest)), Some((new, new_rest))) = (both.next(), both.next()) else {
            return false;
        };
        let time = |text: &str| text.parse::<i64>().unwrap_or_default();
        time(old) <= time(new) && old_rest != new_rest
    }

    /// Whether git wrote a file of a commit since the last report. A file that was written by hand is
    /// older than its blob.
    fn is_git_since_report(&self, commit: &str, path: &Path) -> bool {
        let name = self.name(path);
        let Ok(written) = modified(&self.full(&name)) else { return false };
        let since_1970 = written.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        if self.reported.is_some_and(|(reported, _)| since_1970 < reported) {
            return false;
        }
        let mut spec = commit.as_bytes().to_vec();
        spec.push(b':');
        spec.extend_from_slice(&name);
        let spec = name_of_bytes(spec);
        let options = ["rev-parse", "--verify", "--quiet"].map(OsStr::new);
        let asked = self.ask(&[&options[..], &[&*spec]].concat(), Vec::new());
        let blob = asked.and_then(|(out, _)| object_id(&String::from_utf8_lossy(&out)));
        blob.is_some_and(|blob| !self.is_fresh(&blob, written))
    }

    /// Returns branches with their names: those that exist, and then those that were checked out, the
    /// latest first.
    fn branches(&self) -> Vec<(String, String)> {
        let newest = format!("--count={}", MAX_BRANCHES / 2);
        let form = "--format=%(objectname) %(refname:short)";
        let list = ["for-each-ref", "--sort=-committerdate", &newest, form];
        let listed = self.ask(&[&list[..], &["refs/heads", "refs/remotes"]].concat(), Vec::new());
        let listed = String::from_utf8_lossy(&listed.unwrap_or_default().0).into_owned();
        let mut all: Vec<(String, String)> = Vec::new();
        let mut put = |tip: Option<String>, name: &str| {
            if let Some(tip) = tip.filter(|tip| all.iter().all(|(known, _)| known != tip)) {
                all.push((tip, name.to_string()));
            }
        };
        for line in listed.lines() {
            let (tip, name) = line.split_once(' ').unwrap_or((line, ""));
            put(object_id(tip), name);
        }
        for entry in Log::new(self.dir.own.clone()).read().into_iter().rev() {
            let moved = entry.message.strip_prefix("checkout: moving from ");
            let left = moved.and_then(|moved| moved.split(' ').next());
            if let Some(left) = left {
                put(entry.from, left);
            }
        }
        all.truncate(MAX_BRANCHES);
        all
    }
}
