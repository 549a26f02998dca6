//! Where a change begins: at a commit that somebody names, at a date, or with the last day of work.
//!
//! Dates of commits may be forged or wrong. So a date selects one commit of the line of first
//! parents, and what this commit contains is old, whatever its date says.

use std::path::Path;

use super::difference::{self, DiffError, check, check_range, commit, common, failed};
use super::{is_shallow, object_id, run};

/// Number of commits of the line of first parents that are read at once; the next read is tenfold.
const FIRST: usize = 1_000;
/// Largest number of commits of the line that are read.
const MAX_LINE: usize = 100_000;
/// A line is read far enough for a date when so many commits at its end are all older.
const ALL_OLDER: usize = 100;
/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// The beginning of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beginning {
    /// The last commit that is not part of the change; `None` for the whole history.
    pub start: Option<String>,
    /// Whether the history before it is missing, because the clone is shallow.
    pub is_cut: bool,
    /// The named commit, if the checked-out commit does not contain it. Then `start` is the last
    /// commit that both contain.
    pub other: Option<String>,
}

/// A commit of the line of first parents.
struct LineCommit {
    id: String,
    at: i64,
    has_parent: bool,
}

/// Returns the beginning that a revision names.
///
/// # Errors
/// When there is no repository, git does not know the revision, or its history is another one.
pub fn named(root: &Path, revision: &str) -> Result<Beginning, DiffError> {
    check_range(revision)?;
    let head = checked_out(root)?;
    let named = commit(root, revision)?;
    let Some(common) = common(root, &named, &head)? else {
        let why = if is_shallow(root) {
            ", as far as this shallow clone goes: `git fetch --unshallow` completes it"
        } else {
            ""
        };
        return Err(DiffError::Range(format!(
            "`{revision}` and the checked-out commit have no commit in common{why}"
        )));
    };
    let other = (common != named).then_some(named);
    Ok(Beginning { start: Some(common), other, ..Beginning::default() })
}

/// Returns the beginning at a time (Unix seconds): the last one of the first parents of the checked-out
/// commit that was made before it.
///
/// # Errors
/// When there is no repository, or git does not answer.
pub fn before(root: &Path, at: i64) -> Result<Beginning, DiffError> {
    let head = checked_out(root)?;
    let mut n = FIRST;
    loop {
        let line = line(root, &head, n)?;
        let is_older = |commit: &&LineCommit| commit.at < at;
        let n_older = line.iter().rev().take_while(is_older).count();
        if line.len() < n || n_older >= ALL_OLDER || n >= MAX_LINE {
            return Ok(beginning_at(root, &line, split(&line, at)));
        }
        n *= 10;
    }
}

/// Returns the number of commits of a line, newest first, that were made at a time or later. It is the
/// number that contradicts the fewest dates; of several, the largest, because to tell too much does
/// less harm. A commit that claims to be older than its parent has a wrong date.
fn split(line: &[LineCommit], at: i64) -> usize {
    let is_older = |commit: &LineCommit| commit.at < at;
    // The dates that contradict: those before the time among the new commits, the others among the old.
    let mut wrong = line.iter().filter(|commit| !is_older(commit)).count();
    let (mut best, mut fewest) = (0, wrong);
    for (n, commit) in (1..).zip(line) {
        if is_older(commit) {
            wrong += 1;
        } else {
            wrong -= 1;
        }
        if wrong <= fewest {
            (best, fewest) = (n, wrong);
        }
    }
    while let Some([commit, parent]) = line.get(best..best + 2)
        && commit.at < parent.at
        && is_older(parent)
    {
        best += 1;
    }
    best
}

/// Returns the beginning of the last day with commits: at most `max` first parents of the checked-out
/// commit that were committed on the same day as it, in UTC.
///
/// # Errors
/// As [`before`].
pub fn from_last_day(root: &Path, max: usize) -> Result<Beginning, DiffError> {
    let head = checked_out(root)?;
    let line = line(root, &head, max + 1)?;
    let day = |commit: &LineCommit| commit.at.div_euclid(DAY);
    let last = line.first().map(day);
    let n = line.iter().take(max).take_while(|commit| Some(day(commit)) == last).count();
    Ok(beginning_at(root, &line, n))
}

/// Returns the beginning of the newest `n` commits of a line. If these are all of it, the change is the
/// whole history, but in a shallow clone, what the oldest commit changed is unknown.
fn beginning_at(root: &Path, line: &[LineCommit], n: usize) -> Beginning {
    let has_parent = || line.last().is_some_and(|oldest| oldest.has_parent);
    let is_cut = line.get(n).is_none() && (is_shallow(root) || has_parent());
    let start = line.get(n).or_else(|| line.last().filter(|_| is_cut));
    Beginning { start: start.map(|commit| commit.id.clone()), is_cut, other: None }
}

fn checked_out(root: &Path) -> Result<String, DiffError> {
    check(root)?;
    difference::checked_out(root)
}

/// Returns the newest `max` commits of the line of first parents, newest first.
fn line(root: &Path, head: &str, max: usize) -> Result<Vec<LineCommit>, DiffError> {
    let most = format!("--max-count={max}");
    let list = ["rev-list", "--first-parent", "--timestamp", "--parents", &most, head];
    let out = run(root, &list).map_err(failed)?;
    let commits = String::from_utf8_lossy(&out.stdout).into_owned();
    // `<time> <id> <parents …>`
    let commit = |line: &str| {
        let mut words = line.split(' ');
        let (at, id) = (words.next()?.parse().ok()?, object_id(words.next()?)?);
        Some(LineCommit { id, at, has_parent: words.next().is_some() })
    };
    let commits: Vec<LineCommit> = commits.lines().filter_map(commit).collect();
    if commits.is_empty() {
        let why = out.exceeded.unwrap_or("git does not list the commits").to_string();
        return Err(DiffError::Failed(why));
    }
    Ok(commits)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::tests::git;
    use super::*;

    /// Makes commits with these dates, and returns their ids.
    fn with_dates(dates: &[i64]) -> (tempfile::TempDir, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"]);
        let commit = |at: &i64| {
            let date = format!("@{at} +0000");
            let made = Command::new("git")
                .arg("-C")
                .arg(dir.path())
                .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(["commit", "-q", "--allow-empty", "-m", "one"])
                .env("GIT_COMMITTER_DATE", &date)
                .env("GIT_AUTHOR_DATE", &date)
                .status();
            assert!(made.unwrap().success());
            head_of(dir.path())
        };
        let ids = dates.iter().map(commit).collect();
        (dir, ids)
    }

    fn head_of(root: &Path) -> String {
        super::super::head(root).unwrap()
    }

    #[test]
    fn forged_dates_neither_hide_commits_nor_move_the_beginning() {
        let (far_past, far_future) = (1, 4_102_444_800);
        let (dir, ids) = with_dates(&[
            1_000_000, 1_010_000, 1_020_000, 1_030_000, far_future, 1_100_000, 1_200_000, far_past,
            1_300_000, 1_310_000,
        ]);
        let start = |at| before(dir.path(), at).unwrap().start;
        assert_eq!(start(1_250_000).as_ref(), Some(&ids[6]), "the one of 1970 is new, of 2100 old");
        assert_eq!(start(1_050_000).as_ref(), Some(&ids[3]));
        assert_eq!((start(500_000), start(0)), (None, None), "the whole history");
        let last_day = from_last_day(dir.path(), 20).unwrap();
        assert_eq!(last_day.start.as_ref(), Some(&ids[7]), "another day is before it");
        assert!(matches!(named(dir.path(), "--help"), Err(DiffError::Range(_))));
    }
}
