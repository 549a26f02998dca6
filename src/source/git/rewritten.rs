//! Finds commits whose changes the checked-out commit contains under another id: after a rebase, a
//! squashed merge, a cherry-pick or an amendment. Commits are compared by their patches, as `git
//! cherry` does; where a patch was adapted, git's log says what became of the commit.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use super::reflog::{Log, ReflogLine};
use super::{
    GitDir, MAX_OUTPUT_BYTES, PLAIN_DIFF, TYPES, ask, command, head, is_ancestor, object_id,
    output, stream, trees,
};

/// Most commits of the checked-out history, the newest ones, whose patches are compared.
const MAX_CANDIDATES: usize = 1_000;
/// Most commits outside of it that are looked at.
const MAX_OUTSIDE: usize = 2_000;
/// Most commits whose whole branch is compared with single commits.
const MAX_BRANCHES: usize = 16;
/// Most commits of a rebase that are compared with the one that they may have replaced.
const MAX_PICKED: usize = 100;
/// Most files by which the compared history is narrowed down.
const MAX_PATHS: usize = 200;
/// A user waits for the answer. Patches that git has not printed by then count as different.
const LONGEST: Duration = Duration::from_millis(250);

/// Returns those of the commits that the checked-out commit of their tree (`root` or one of its
/// submodules) does not contain, but whose changes it contains. Commits that git does not know are
/// left out.
#[must_use]
pub fn carried_over(root: &Path, ids: &[&str]) -> HashSet<String> {
    let mut carried = HashSet::new();
    for tree in trees(root) {
        if ids.len() > carried.len() && GitDir::of(&tree).is_some() && head(&tree).is_some() {
            carried.extend(carried_in(&tree, ids).unwrap_or_default());
        }
    }
    carried
}

/// Returns the commits whose changes one tree carries. Answers nothing where git does not.
fn carried_in(tree: &Path, ids: &[&str]) -> Option<HashSet<String>> {
    let known = ask(tree, &TYPES, ids.join("\n") + "\n")?;
    let known: Vec<String> =
        known.lines().filter_map(|line| object_id(line.strip_suffix(" commit")?)).collect();
    if known.is_empty() {
        return None;
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let most = format!("--max-count={MAX_OUTSIDE}");
    let outside = ask(
        tree,
        &[&["rev-list", "--parents", &most], &known[..], &["--not", "HEAD"]].concat(),
        String::new(),
    )?;
    let parents: HashMap<&str, Vec<&str>> = outside
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.collect()))
        })
        .collect();
    let mut lost: Vec<&str> = known.into_iter().filter(|id| parents.contains_key(id)).collect();
    if lost.is_empty() {
        return None;
    }
    let candidates = candidates(tree, &lost)?;
    let there: HashSet<String> = patch_ids(tree, &candidates).into_values().collect();
    let each = patch_ids(tree, &lost.iter().map(ToString::to_string).collect::<Vec<_>>());
    let is_there = |same: &HashMap<String, String>, id: &str| {
        same.get(id).is_some_and(|patch| there.contains(patch))
    };
    let mut carried: HashSet<String> =
        lost.iter().filter(|id| is_there(&each, id)).map(ToString::to_string).collect();
    lost.retain(|id| !carried.contains(*id));
    if lost.is_empty() {
        return Some(carried);
    }

    // A squashed merge has the patch of a whole branch.
    let branches = lost.iter().copied().take(MAX_BRANCHES).filter_map(|id| {
        let base = ask(tree, &["merge-base", "HEAD", id], String::new())?;
        Some(format!("{id} {}", object_id(base.trim())?))
    });
    let whole = patch_ids(tree, &branches.collect::<Vec<_>>());
    let mut below: Vec<&str> = lost.iter().copied().filter(|id| is_there(&whole, id)).collect();
    let mut of_branch: HashSet<&str> = HashSet::new();
    while let Some(id) = below.pop() {
        if of_branch.insert(id) {
            below
                .extend(parents.get(id).into_iter().flatten().filter(|p| parents.contains_key(*p)));
        }
    }
    carried.extend(lost.iter().filter(|id| of_branch.contains(**id)).map(|id| (*id).to_string()));
    lost.retain(|id| !of_branch.contains(id));
    if lost.is_empty() {
        return Some(carried);
    }

    // A patch that was adapted to conflicts, or amended.
    let log = GitDir::of(tree).map(|dir| Log::new(dir.own).read()).unwrap_or_default();
    for id in lost {
        let became = successor(tree, id, &log);
        let is_in_head = |new: &String| {
            is_ancestor(tree, new, "HEAD")
                || is_there(&patch_ids(tree, std::slice::from_ref(new)), new)
        };
        if became.as_ref().is_some_and(is_in_head) {
            carried.insert(id.to_string());
        }
    }
    Some(carried)
}

/// Returns the commits of the checked-out history, without that of `lost`, that changed a file which
/// one of `lost` changed.
fn candidates(tree: &Path, lost: &[&str]) -> Option<Vec<String>> {
    let names = ["diff-tree", "--stdin", "--root", "-r", "-z", "--name-only", "--no-commit-id"];
    let names = ask(tree, &names, lost.join("\n") + "\n")?;
    let paths: BTreeSet<&str> = names.split('\0').filter(|name| !name.is_empty()).collect();
    let most = format!("--max-count={MAX_CANDIDATES}");
    let mut arguments = vec!["--literal-pathspecs", "rev-list", "--no-merges", &most, "HEAD"];
    arguments.push("--not");
    arguments.extend(lost);
    arguments.push("--");
    if paths.len() <= MAX_PATHS {
        arguments.extend(paths);
    }
    Some(ask(tree, &arguments, String::new())?.lines().map(String::from).collect())
}

/// Returns the commit that replaced another one, as git's log says: by amending it, or by picking it
/// in a rebase, which keeps its author, date and subject.
fn successor(tree: &Path, id: &str, log: &[ReflogLine]) -> Option<String> {
    let mut now = id.to_string();
    for entry in log {
        let is_amended = entry.message.starts_with("commit (amend)");
        if is_amended && entry.from.as_ref() == Some(&now) {
            now = entry.to.clone()?;
        }
    }
    if now != id {
        return Some(now);
    }
    let about = |ids: &[&str]| {
        let which = ["log", "--no-walk=unsorted", "--format=%H %an %at %s", "--no-mailmap"];
        ask(tree, &[&which[..], ids].concat(), String::new())
    };
    let own = about(&[id])?;
    let (_, own) = own.trim_end_matches('\n').split_once(' ')?;
    let is_picked = |entry: &&ReflogLine| {
        let said = entry.message.split_once("): ");
        (entry.message.starts_with("rebase") || entry.message.starts_with("pull"))
            && said.is_some_and(|(_, subject)| !subject.is_empty() && own.ends_with(subject))
    };
    let picked: Vec<&str> = log
        .iter()
        .rev()
        .filter(is_picked)
        .filter_map(|entry| entry.to.as_deref())
        .take(MAX_PICKED)
        .collect();
    if picked.is_empty() {
        return None;
    }
    let all = about(&picked)?;
    all.lines().find_map(|line| {
        let (new, rest) = line.split_once(' ')?;
        (rest == own && new != id).then(|| object_id(new))?
    })
}

/// Returns the patch ids of commits. A line is a commit, or a commit and another one from which its
/// changes count. Commits without changes, and merges, have none.
pub(super) fn patch_ids(tree: &Path, lines: &[String]) -> HashMap<String, String> {
    if lines.is_empty() {
        return HashMap::new();
    }
    let mut diff = command(tree);
    diff.args(["diff-tree", "--stdin", "--root", "-r", "-p", "--full-index", "--no-renames"]);
    diff.args(PLAIN_DIFF);
    let mut patches = Vec::new();
    let printed = stream(&mut diff, (lines.join("\n") + "\n").into_bytes(), LONGEST, &mut |part| {
        patches.extend_from_slice(part);
        (patches.len() > MAX_OUTPUT_BYTES).then_some("git printed too much")
    });
    if printed.is_err() || patches.is_empty() {
        return HashMap::new();
    }
    let Ok(out) = output(command(tree).args(["patch-id", "--stable"]), patches) else {
        return HashMap::new();
    };
    let pair = |line: &str| {
        let (patch, id) = line.split_once(' ')?;
        Some((object_id(id.trim())?, patch.to_string()))
    };
    String::from_utf8_lossy(&out.stdout).lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::git;
    use super::*;

    fn commit(root: &Path, name: &str, text: &str, subject: &str) -> String {
        fs::write(root.join(name), text).unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", subject]);
        id(root, "HEAD")
    }

    fn id(root: &Path, name: &str) -> String {
        git(root, &["rev-parse", name]).trim().to_string()
    }

    /// Returns a repository with a commit on `main`, and the ids of two commits on `side`, which is
    /// checked out; `main` went on.
    fn repository() -> (tempfile::TempDir, String, String) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        let text: String = (0..40).map(|i| format!("line {i}\n")).collect();
        commit(root, "a.rs", &text, "base");
        git(root, &["branch", "-M", "main"]);
        git(root, &["checkout", "-q", "-b", "side"]);
        let one = commit(root, "a.rs", &text.replace("line 30\n", "thirty\n"), "one");
        let two = commit(root, "b.rs", "fn two() {}\n", "two");
        git(root, &["checkout", "-q", "main"]);
        commit(root, "a.rs", &format!("zero\n{text}"), "main goes on");
        git(root, &["checkout", "-q", "side"]);
        (dir, one, two)
    }

    fn are_carried(root: &Path, ids: &[&str]) -> Vec<bool> {
        let carried = carried_over(root, ids);
        ids.iter().map(|id| carried.contains(*id)).collect()
    }

    #[test]
    fn what_a_rebase_rewrote_is_carried_over_and_what_it_dropped_is_not() {
        let (dir, one, two) = repository();
        let root = dir.path();
        assert_eq!(are_carried(root, &[&one, &two]), [false, false], "HEAD contains them");
        git(root, &["rebase", "-q", "main"]);
        assert_eq!(are_carried(root, &[&one, &two]), [true, true]);
        let rewritten = id(root, "HEAD");
        git(root, &["reset", "-q", "--hard", "HEAD~1"]);
        assert_eq!(are_carried(root, &[&one, &two, &rewritten]), [true, false, false]);
        git(root, &["reset", "-q", "--hard", "main"]);
        assert_eq!(are_carried(root, &[&one, &two]), [false, false]);
    }

    #[test]
    fn a_squashed_branch_and_a_picked_commit_are_carried_over() {
        let (dir, one, two) = repository();
        let root = dir.path();
        git(root, &["checkout", "-q", "main"]);
        git(root, &["merge", "-q", "--squash", "side"]);
        git(root, &["commit", "-q", "-m", "all of side"]);
        git(root, &["branch", "-q", "-D", "side"]);
        assert_eq!(are_carried(root, &[&one, &two]), [true, true], "squashed");
        git(root, &["reset", "-q", "--hard", "HEAD~1"]);
        assert_eq!(are_carried(root, &[&one, &two]), [false, false]);
        git(root, &["cherry-pick", &two]);
        assert_eq!(are_carried(root, &[&one, &two]), [false, true], "picked");
    }

    #[test]
    fn a_commit_that_was_amended_is_carried_over() {
        let (dir, one, two) = repository();
        let root = dir.path();
        fs::write(root.join("b.rs"), "fn two() { three() }\n").unwrap();
        git(root, &["commit", "-q", "-a", "--amend", "-m", "two, better"]);
        assert_eq!(are_carried(root, &[&one, &two]), [false, true]);
        git(root, &["rebase", "-q", "main"]);
        assert_eq!(are_carried(root, &[&one, &two]), [true, true], "and rebased");
        git(root, &["reset", "-q", "--hard", "main"]);
        assert_eq!(are_carried(root, &[&one, &two]), [false, false]);
    }

    #[test]
    fn ids_that_are_no_commits_are_not_carried_over() {
        let (dir, _, _) = repository();
        let root = dir.path();
        let blob = id(root, "HEAD:a.rs");
        assert_eq!(carried_over(root, &[&blob, &"0".repeat(40), "x"]), HashSet::new());
        assert_eq!(carried_over(&root.join("none"), &[&blob]), HashSet::new());
    }
}
