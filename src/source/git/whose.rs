//! Finds out who changed a file: git, or somebody by hand. Git did if the content
//! is what git has put there.

#![expect(clippy::disallowed_methods, reason = "time stamps, and targets of links")]

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::difference::{RawChange, raw_change};
use super::objects::{contents, empty_tree};
use super::reflog::lines;
use super::watch::{
    Evidence, GitOperation, GitWatch, Merged, OperationKind, RefMove, Rewrite, Stashed, modified,
};
use super::{TYPES, command, object_id, output};

use crate::platform::{name_bytes, name_of_bytes};
use crate::source::sha256;

/// Git may have rewritten the index again, this soon, before it was looked at.
const LATE: Duration = Duration::from_secs(1);
/// Most restarts of `git hash-object`, which ends at a file that it cannot read.
const MAX_RESTARTS: usize = 8;
/// Most steps that are compared, the newest ones, after [`Evidence::joined_steps`].
const MAX_STEPS: usize = 6;
/// Most files of an operation that are compared with the tree to see whether it wrote them.
const MAX_SAMPLE: usize = 64;
/// Most former versions of files whose contents are read.
const MAX_FORMER: usize = 1_000;
/// Most symbolic links that are hashed; each takes a git command.
const MAX_LINKS: usize = 32;

/// A file that was changed, created or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the tree that was opened.
    pub path: PathBuf,
    pub exists: bool,
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribution {
    Git,
    Hand,
}

/// The place in git where a version of a file is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The commit that an operation checked out.
    Target,
    /// The commit of a reset, even if the file was already in the work tree.
    Reset,
    /// The result of the merge with this number.
    Merged(usize),
    /// The commit that this merge was made into.
    Base(usize),
    /// A stash that was taken.
    Popped,
    /// The stash with this number, which was made.
    Put(usize),
    /// The commit that was checked out when this stash was made.
    PutBase(usize),
    Index,
    /// One side of a conflict.
    Side,
}

/// A changed file whose author is still unknown.
struct Item<'a> {
    /// Relative to the root of the work tree, as git writes it.
    path: Vec<u8>,
    changed: &'a ChangedFile,
    /// The blob of its content; `None` if the file is gone.
    hash: Option<String>,
    /// Whether a commit that was just made has this content.
    committed: bool,
}

/// The files that a step changed, each with its blob before and after.
type Diff = HashMap<Vec<u8>, (Option<String>, Option<String>)>;

impl GitWatch {
    /// Tells who made these changes, from the evidence of [`GitWatch::operations`]. Git changed a
    /// file if its content is what git has put there, and removed a file if git had it and has it
    /// no longer. Without git, all changes count as made by hand.
    #[must_use]
    pub fn classify(&self, changed: &[ChangedFile]) -> Vec<Attribution> {
        let mut whose = vec![Attribution::Hand; changed.len()];
        if self.evidence.is_empty() {
            return whose;
        }
        let paths: Vec<Vec<u8>> = changed.iter().map(|c| self.name(&c.path)).collect();
        let steps = self.evidence.joined_steps();
        let wanted: HashSet<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        let diffs: Vec<Diff> = steps.iter().map(|step| self.diff(step, &wanted)).collect();
        let filtered = self.hashes(changed, &paths, true, &whose);
        let judge = |hashes: &[Option<String>], whose: &mut [Attribution]| {
            let mut left = Vec::new();
            for (i, c) in changed.iter().enumerate() {
                let hash = hashes[i].clone();
                if whose[i] == Attribution::Git || hash.is_none() && c.exists {
                    continue;
                }
                match by_steps(&steps, &diffs, &paths[i], hash.as_ref()) {
                    Some(Attribution::Git) => whose[i] = Attribution::Git,
                    by => left.push((
                        i,
                        Item { path: paths[i].clone(), changed: c, hash, committed: by.is_some() },
                    )),
                }
            }
            let items: Vec<&Item> = left.iter().map(|(_, item)| item).collect();
            for ((i, _), found) in left.iter().zip(self.by_content(&steps, &items)) {
                whose[*i] = found;
            }
        };
        judge(&filtered, &mut whose);
        // Git may have written the file without a filter that it would apply now.
        let mut plain = self.hashes(changed, &paths, false, &whose);
        for (plain, filtered) in plain.iter_mut().zip(&filtered) {
            *plain = plain.take().filter(|hash| filtered.as_ref() != Some(hash));
        }
        if plain.iter().any(Option::is_some) {
            judge(&plain, &mut whose);
        }
        whose
    }

    /// Returns how many files of the opened tree differ between the two ends of an operation, and
    /// how many of them it wrote: none if it only moved HEAD.
    #[must_use]
    pub fn effect_of(&self, operation: &GitOperation) -> (usize, usize) {
        if operation.is_restoring() {
            let files = self.written_by_reset(operation);
            // Without a file that it wrote, it only changed the index.
            let n = if self.has_written(&files) { files.len() } else { 0 };
            return (n, n);
        }
        let files = match (&operation.kind, &operation.from, &operation.to) {
            (OperationKind::Stash, _, Some(stash)) | (OperationKind::StashPop, Some(stash), _) => {
                self.names_between(&format!("{stash}^1"), stash)
            }
            (_, Some(from), Some(to)) => self.names_between(from, to),
            _ => return (0, 0),
        };
        (files.len(), if self.has_written(&files) { files.len() } else { 0 })
    }

    /// Whether git wrote one of these files of the opened tree, of which the first are looked at.
    fn has_written(&self, files: &[PathBuf]) -> bool {
        let sample: Vec<ChangedFile> = files
            .iter()
            .take(MAX_SAMPLE)
            .map(|path| ChangedFile {
                exists: self.dir.top.join(&self.prefix).join(path).symlink_metadata().is_ok(),
                path: path.clone(),
            })
            .collect();
        self.classify(&sample).contains(&Attribution::Git)
    }

    /// Whether the work tree has files of a stash.
    pub(super) fn is_taken(&self, stash: &str) -> bool {
        let mut files = self.names_between(&format!("{stash}^1"), stash);
        files.truncate(MAX_SAMPLE);
        let changed: Vec<ChangedFile> =
            files.into_iter().map(|path| ChangedFile { path, exists: true }).collect();
        let stashed = self.have_been(&changed, &[(Role::Popped, format!("{stash}:"))]);
        stashed.is_some_and(|of| of.contains(&true))
    }

    /// Returns, for each file, whether its content is that of one of the places.
    fn have_been(&self, changed: &[ChangedFile], specs: &[(Role, String)]) -> Option<Vec<bool>> {
        let paths: Vec<Vec<u8>> = changed.iter().map(|c| self.name(&c.path)).collect();
        let whose = vec![Attribution::Hand; changed.len()];
        let hashes = self.hashes(changed, &paths, true, &whose);
        let items: Vec<Item> = changed
            .iter()
            .zip(paths)
            .zip(hashes)
            .map(|((changed, path), hash)| Item { path, changed, hash, committed: false })
            .collect();
        let answers = self.blobs(specs, &items.iter().collect::<Vec<_>>())?;
        let is_one = |(item, answers): (&Item, &[Option<String>])| {
            item.hash.is_some() && answers.contains(&item.hash)
        };
        Some(items.iter().zip(answers.chunks(specs.len())).map(is_one).collect())
    }

    /// Returns the path of a file of the opened tree as git writes it.
    pub(super) fn name(&self, path: &Path) -> Vec<u8> {
        name_bytes(self.prefix.join(path).as_os_str()).to_vec()
    }

    /// Tells who made earlier versions of files that were changed again since, each with the SHA-256
    /// of that version (`None`: there was no file). Git did if it has put such a version there.
    #[must_use]
    pub fn classify_former(&self, former: &[(PathBuf, Option<String>)]) -> Vec<Attribution> {
        let mut whose = vec![Attribution::Hand; former.len()];
        if former.is_empty() || self.evidence.is_empty() {
            return whose;
        }
        let steps = self.evidence.joined_steps();
        let mut specs = self.specs(&steps);
        // A stash has what somebody wrote by hand.
        let is_by_git =
            |role| matches!(role, Role::Target | Role::Reset | Role::Merged(_) | Role::PutBase(_));
        specs.retain(|(role, _)| is_by_git(*role));
        let changed: Vec<ChangedFile> = former
            .iter()
            .map(|(path, hash)| ChangedFile { path: path.clone(), exists: hash.is_some() })
            .collect();
        let items: Vec<Item> = changed
            .iter()
            .map(|c| Item { path: self.name(&c.path), changed: c, hash: None, committed: false })
            .collect();
        let answers = self.blobs(&specs, &items.iter().collect::<Vec<_>>());
        let Some(answers) = answers.filter(|_| !specs.is_empty()) else { return whose };
        let wanted: HashSet<&String> = answers.iter().flatten().collect();
        let known = self.sha256_of(wanted.into_iter());
        for ((whose, (_, hash)), answers) in
            whose.iter_mut().zip(former).zip(answers.chunks(specs.len()))
        {
            let is_put = match hash {
                Some(hash) => answers.iter().flatten().any(|blob| known.get(blob) == Some(hash)),
                None => answers.iter().any(Option::is_none),
            };
            if is_put {
                *whose = Attribution::Git;
            }
        }
        whose
    }

    /// Returns the SHA-256 of the contents of blobs.
    fn sha256_of<'a>(&self, blobs: impl Iterator<Item = &'a String>) -> HashMap<String, String> {
        let blobs: Vec<String> = blobs.take(MAX_FORMER).cloned().collect();
        let found = contents(&self.dir.top, &blobs).unwrap_or_default();
        let hash = |(blob, content): (String, Option<Vec<u8>>)| Some((blob, sha256(&content?)));
        blobs.into_iter().zip(found).filter_map(hash).collect()
    }

    /// Returns the files of the opened tree that differ between two commits.
    pub(super) fn names_between(&self, from: &str, to: &str) -> Vec<PathBuf> {
        let diff = ["diff-tree", "-r", "-z", "--name-only", "--no-ext-diff", "--no-textconv"];
        let asked = self.ask(&[&diff[..], &["--no-renames", from, to]].concat(), Vec::new());
        let Some((out, true)) = asked else { return Vec::new() };
        let names = out.split(|&b| b == 0).filter(|name| !name.is_empty());
        names.filter_map(|name| self.inside(name)).collect()
    }

    /// Returns a path of the work tree relative to the opened tree, if it is in it.
    pub(super) fn inside(&self, name: &[u8]) -> Option<PathBuf> {
        let path = PathBuf::from(name_of_bytes(name.to_vec()));
        Some(path.strip_prefix(&self.prefix).ok()?.to_path_buf())
    }

    /// Judges by the versions in the places that git may have copied, and by the time of writing.
    fn by_content(&self, steps: &[RefMove], items: &[&Item]) -> Vec<Attribution> {
        let specs = self.specs(steps);
        let Some(answers) = self.blobs(&specs, items) else {
            return vec![Attribution::Hand; items.len()];
        };
        let judge = |(item, answers): (&&Item, &[Option<String>])| {
            let found = BlobAnswers { watch: self, steps, specs: &specs, answers };
            let git = match &item.hash {
                Some(hash) if item.committed => {
                    found.merged_before_commit(|i| found.one(Role::Merged(i)) == Some(hash))
                        || found.has_reset(item, hash)
                }
                Some(hash) => found.has_put(item, hash),
                None if item.committed => found.merged_before_commit(|i| found.has_merged_away(i)),
                None => found.has_removed(item),
            };
            if git { Attribution::Git } else { Attribution::Hand }
        };
        items.iter().zip(answers.chunks(specs.len())).map(judge).collect()
    }

    fn specs(&self, steps: &[RefMove]) -> Vec<(Role, String)> {
        let mut specs: Vec<(Role, String)> = steps
            .iter()
            .filter(|s| !s.commit)
            .map(|s| (if s.reset { Role::Reset } else { Role::Target }, format!("{}:", s.to)))
            .collect();
        specs.dedup();
        for (i, merged) in self.evidence.merges.iter().enumerate() {
            specs.push((Role::Merged(i), format!("{}:", merged.tree)));
            specs.extend(merged.head.iter().map(|head| (Role::Base(i), format!("{head}:"))));
        }
        for (i, Stashed { id, popped, .. }) in self.evidence.stashes.iter().enumerate() {
            // The third parent of a stash has the untracked files.
            let role = if *popped { Role::Popped } else { Role::Put(i) };
            specs.extend([(role, format!("{id}:")), (role, format!("{id}^3:"))]);
            if !popped {
                specs.push((Role::PutBase(i), format!("{id}^1:")));
            }
        }
        specs.extend([
            (Role::Index, ":0:".to_string()),
            (Role::Side, ":2:".to_string()),
            (Role::Side, ":3:".to_string()),
        ]);
        specs
    }

    /// Returns, for each item, the blob at its path in each of `specs`.
    fn blobs(&self, specs: &[(Role, String)], items: &[&Item]) -> Option<Vec<Option<String>>> {
        if items.is_empty() {
            return Some(Vec::new());
        }
        // Only newer versions of git accept paths with line feeds here.
        let odd = items.iter().any(|item| item.path.iter().any(u8::is_ascii_control));
        let end = if odd { 0 } else { b'\n' };
        let mut input = Vec::new();
        for item in items {
            for (_, spec) in specs {
                input.extend_from_slice(spec.as_bytes());
                input.extend_from_slice(&item.path);
                input.push(end);
            }
        }
        let arguments: Vec<&str> = TYPES.into_iter().chain(odd.then_some("-Z")).collect();
        let (out, _) = self.ask(&arguments, input)?;
        let answer =
            |line: &[u8]| object_id(std::str::from_utf8(line).ok()?.strip_suffix(" blob")?);
        let answers: Vec<_> =
            out.split(|&b| b == end).map(answer).take(specs.len() * items.len()).collect();
        (answers.len() == specs.len() * items.len()).then_some(answers)
    }

    /// Returns the blobs before and after a step, for the wanted files.
    fn diff(&self, step: &RefMove, wanted: &HashSet<&[u8]>) -> Diff {
        let mut diff = Diff::new();
        if step.from.as_ref() == Some(&step.to) {
            return diff;
        }
        let from = step.from.as_deref().unwrap_or(empty_tree(&step.to));
        let raw = ["diff-tree", "-r", "-z", "--raw", "--no-ext-diff", "--no-textconv"];
        let arguments = [&raw[..], &["--no-renames", "--no-abbrev", from, &step.to]].concat();
        let Some((out, true)) = self.ask(&arguments, Vec::new()) else { return diff };
        let mut rest = &out[..];
        while let Some(RawChange { blobs: [before, after], paths: [path, _], .. }) =
            raw_change(&mut rest)
        {
            if wanted.contains(path) {
                diff.insert(path.to_vec(), (before, after));
            }
        }
        diff
    }

    /// Returns the blobs that git would make of the files still to judge; `None` for other files
    /// and for those that cannot be read.
    fn hashes(
        &self,
        changed: &[ChangedFile],
        paths: &[Vec<u8>],
        filter: bool,
        whose: &[Attribution],
    ) -> Vec<Option<String>> {
        let mut hashes = vec![None; paths.len()];
        let left = |i: &usize| changed[*i].exists && whose[*i] == Attribution::Hand;
        let (links, files): (Vec<usize>, Vec<usize>) =
            (0..paths.len()).filter(left).partition(|&i| self.full(&paths[i]).is_symlink());
        let mut files: Vec<usize> =
            files.into_iter().filter(|&i| self.full(&paths[i]).is_file()).collect();
        let settings = if filter && !files.is_empty() {
            super::without_own_filters(&self.dir.top)
        } else {
            None
        };
        for _ in 0..MAX_RESTARTS {
            if files.is_empty() {
                break;
            }
            let input: Vec<u8> = files.iter().flat_map(|&i| quoted(&paths[i])).collect();
            let settings_of_git = settings.iter().flatten().flat_map(|setting| ["-c", setting]);
            let arguments: Vec<&str> = settings_of_git
                .chain(["hash-object", "--stdin-paths"])
                .chain(settings.is_none().then_some("--no-filters"))
                .collect();
            let Some((out, _)) = self.ask(&arguments, input) else { break };
            let found: Vec<Option<String>> =
                lines(&out).map(|line| object_id(&String::from_utf8_lossy(line))).collect();
            let done = found.len();
            for (&i, hash) in files.iter().zip(found) {
                hashes[i] = hash;
            }
            // Git stopped at a file that it could not read.
            files = files.split_off(files.len().min(done + 1));
        }
        for i in links.into_iter().filter(|_| filter).take(MAX_LINKS) {
            let Ok(target) = fs::read_link(self.full(&paths[i])) else { continue };
            let target = name_bytes(target.as_os_str()).to_vec();
            let asked = self.ask(&["hash-object", "--no-filters", "--stdin"], target);
            hashes[i] = asked.and_then(|(out, _)| object_id(&String::from_utf8_lossy(&out)));
        }
        hashes
    }

    /// Whether git wrote the file from its index: it was written while git held the lock of the
    /// index, and the blob is older. For a file that was written by hand and then added, git
    /// creates or refreshes the blob later.
    fn wrote_from_index(&self, path: &[u8], hash: &str) -> bool {
        let Ok(written) = modified(&self.full(path)) else { return false };
        let held = |r: &Rewrite| {
            r.start.checked_sub(LATE).is_none_or(|start| start <= written) && written <= r.end
        };
        self.evidence.rewrites.iter().any(held) && !self.is_fresh(hash, written)
    }

    /// Whether the blob was stored at this time or later.
    pub(super) fn is_fresh(&self, hash: &str, written: SystemTime) -> bool {
        let objects = self.dir.common.join("objects");
        let (folder, name) = hash.split_at(2);
        if let Ok(stored) = modified(&objects.join(folder).join(name)) {
            return stored >= written;
        }
        let Ok(packs) = fs::read_dir(objects.join("pack")) else { return false };
        packs
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "pack"))
            .any(|p| modified(&p).is_ok_and(|t| t >= written))
    }

    pub(super) fn full(&self, path: &[u8]) -> PathBuf {
        self.dir.top.join(name_of_bytes(path.to_vec()))
    }

    /// Asks git in the work tree. Returns its output, and whether it succeeded.
    pub(super) fn ask(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: Vec<u8>,
    ) -> Option<(Vec<u8>, bool)> {
        // Git may stop reading the input early; its output until then counts.
        let out = output(command(&self.dir.top).args(arguments), input).ok()?;
        Some((out.stdout, out.code == Some(0)))
    }
}

/// The versions of one file that git knows.
struct BlobAnswers<'a> {
    watch: &'a GitWatch,
    steps: &'a [RefMove],
    specs: &'a [(Role, String)],
    answers: &'a [Option<String>],
}

impl BlobAnswers<'_> {
    fn all(&self, is: impl Fn(Role) -> bool) -> impl Iterator<Item = &String> {
        self.specs
            .iter()
            .zip(self.answers)
            .filter(move |((role, _), _)| is(*role))
            .filter_map(|(_, answer)| answer.as_ref())
    }

    fn one(&self, role: Role) -> Option<&String> {
        self.all(|r| r == role).next()
    }

    /// Whether git wrote the current content.
    fn has_put(&self, item: &Item, hash: &String) -> bool {
        let known = |role| {
            matches!(
                role,
                Role::Target | Role::Reset | Role::Merged(_) | Role::Popped | Role::PutBase(_)
            )
        };
        if self.all(known).any(|blob| blob == hash) {
            return true;
        }
        let Evidence { merges, rewrites, .. } = &self.watch.evidence;
        if self.one(Role::Index) == Some(hash) {
            return self.watch.wrote_from_index(&item.path, hash);
        }
        // It may be one side of a conflict: older versions of git do not record what they wrote.
        let mut sides = self.all(|r| r == Role::Side);
        !rewrites.is_empty() && sides.any(|blob| blob == hash || merges.is_empty())
    }

    /// Whether git removed a file that is gone.
    fn has_removed(&self, item: &Item) -> bool {
        let Evidence { merges, stashes, .. } = &self.watch.evidence;
        let put_away = |i| self.one(Role::Put(i)).is_some() && self.one(Role::PutBase(i)).is_none();
        if (0..merges.len()).any(|i| self.has_merged_away(i)) || (0..stashes.len()).any(put_away) {
            return true;
        }
        // It may have been in the index alone: added, and not committed.
        let known =
            self.all(|r| matches!(r, Role::Index | Role::Target | Role::Reset)).next().is_some();
        !known
            && self.steps.iter().any(|s| !s.commit)
            && self.watch.folder_changed_by_git(&item.changed.path)
    }

    /// Whether a reset restored a file that had just been committed. Without a reset, content that
    /// was written by hand, committed, and written again by git (as in a rebase) is by hand.
    fn has_reset(&self, item: &Item, hash: &String) -> bool {
        let reset = |role| matches!(role, Role::Reset | Role::PutBase(_));
        let written = modified(&self.watch.full(&item.path));
        self.all(reset).any(|blob| blob == hash)
            && written.is_ok_and(|written| !self.watch.is_fresh(hash, written))
    }

    fn has_merged_away(&self, i: usize) -> bool {
        self.one(Role::Merged(i)).is_none() && self.one(Role::Base(i)).is_some()
    }

    /// Whether a merge for which `is` holds came before one of the commits.
    fn merged_before_commit(&self, is: impl Fn(usize) -> bool) -> bool {
        let Evidence { merges, steps, .. } = &self.watch.evidence;
        let before =
            |m: &Merged| m.head.is_some() && steps.iter().any(|s| s.commit && s.from == m.head);
        merges.iter().enumerate().any(|(i, merged)| before(merged) && is(i))
    }
}

impl GitWatch {
    /// Whether the folder of the file was changed while git held the lock of the index.
    fn folder_changed_by_git(&self, path: &Path) -> bool {
        let path = self.dir.top.join(&self.prefix).join(path);
        let Some(changed) = path.ancestors().skip(1).find_map(|dir| modified(dir).ok()) else {
            return false;
        };
        self.evidence.rewrites.iter().any(|r| r.start <= changed && changed <= r.end)
    }
}

impl RefMove {
    fn to_is(&self, id: Option<&String>) -> bool {
        id == Some(&self.to)
    }
}

impl Evidence {
    fn is_empty(&self) -> bool {
        self.steps.iter().all(|s| s.commit)
            && self.merges.is_empty()
            && self.stashes.is_empty()
            && self.rewrites.is_empty()
    }

    /// Returns the newest steps, oldest first. Steps of one operation are joined, as are commits in
    /// a row and, above [`MAX_STEPS`], operations in a row.
    fn joined_steps(&self) -> Vec<RefMove> {
        let many = self.steps.iter().filter(|s| !s.goes_on).count() > MAX_STEPS;
        let mut joined: Vec<RefMove> = Vec::new();
        for step in &self.steps {
            let join = |last: &RefMove| {
                last.commit == step.commit
                    && last.to_is(step.from.as_ref())
                    && (many || step.commit || step.goes_on)
            };
            match joined.last_mut() {
                Some(last) if join(last) => {
                    last.to.clone_from(&step.to);
                    last.reset |= step.reset;
                }
                _ => joined.push(step.clone()),
            }
        }
        joined.drain(..joined.len().saturating_sub(MAX_STEPS));
        joined
    }
}

/// Tells who made the newest step that led to this content, if one did.
fn by_steps(
    steps: &[RefMove],
    diffs: &[Diff],
    path: &[u8],
    hash: Option<&String>,
) -> Option<Attribution> {
    let led = |(_, diff): &(&RefMove, &Diff)| {
        diff.get(path).is_some_and(|(_, after)| after.as_ref() == hash)
    };
    let (step, _) = steps.iter().zip(diffs).rev().find(led)?;
    Some(if step.commit { Attribution::Hand } else { Attribution::Git })
}

/// Returns a path as a line for git, in quotes if it has a quote or a control character.
fn quoted(path: &[u8]) -> Vec<u8> {
    let odd = |b: &u8| b.is_ascii_control() || *b == b'"';
    if !path.iter().any(odd) {
        return [path, b"\n"].concat();
    }
    let mut line = vec![b'"'];
    for b in path {
        if odd(b) || *b == b'\\' {
            line.extend(format!("\\{b:03o}").bytes());
        } else {
            line.push(*b);
        }
    }
    line.extend(b"\"\n");
    line
}
