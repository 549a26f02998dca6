//! The difference between two states of a tree: which files changed, and which of their lines.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::objects::{empty_tree, texts};
use super::reflog::is_zero;
use super::{
    PLAIN_DIFF, check_repository, command, head, is_shallow, names_in, object_id, output, run,
    without_own_filters,
};

/// Largest number of files of a difference; the rest is left out.
const MAX_FILES: usize = 2_000;
/// Largest number of characters of a range.
const MAX_RANGE: usize = 300;

/// A difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    pub files: Vec<DiffFile>,
    /// The commit at which the difference ends; `None` if it ends at the working tree.
    pub end: Option<String>,
    /// Why files are missing, if any are.
    pub cut: Option<String>,
}

/// A file that differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffFile {
    /// The path afterwards, or before if the file was deleted; relative to the tree.
    pub path: String,
    /// The path before, if the file existed.
    pub before: Option<String>,
    /// Whether it exists afterwards.
    pub exists: bool,
    /// The text before, as an object of git.
    pub old_blob: Option<String>,
    /// The text afterwards, as an object of git; `None` if it is in the working tree.
    pub new_blob: Option<String>,
    /// The lines that differ; empty for a binary file, a new mode, and an untracked file.
    pub hunks: Vec<Hunk>,
}

/// Lines that were replaced by others. Lines are 1-based. Without lines on one side, `…_start` is
/// the line before the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
}

/// Why there is no difference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// Git does not know the range.
    #[error("{0}")]
    Range(String),
    /// The tree has no repository that can be asked.
    #[error("{0}")]
    NoRepository(String),
    #[error("{0}")]
    Failed(String),
}

/// Returns what differs between the commits of a range, or between a commit (by default the one that
/// is checked out) and the working tree with its untracked files. A range is `a..b`, `a...b` (from
/// the last common commit on) or `a^!` (what `a` changed); a side that is left out is the checked-out
/// commit. The parent of the first commit is the empty tree.
///
/// # Errors
/// When there is no repository, the range is not valid, or git does not answer in time.
pub fn difference(root: &Path, range: Option<&str>) -> Result<Difference, DiffError> {
    check(root)?;
    let side = |written: &str| {
        if written.is_empty() { checked_out(root) } else { commit(root, written) }
    };
    let (start, end) = match range.map(str::trim).filter(|range| !range.is_empty()) {
        None => (checked_out(root)?, None),
        Some(range) => {
            check_range(range)?;
            if let Some((start, end)) = range.split_once("...") {
                let (start, end) = (side(start)?, side(end)?);
                let common = common(root, &start, &end)?.ok_or_else(|| {
                    let why = format!("{start} and {end} have no commit in common: give `a..b`");
                    DiffError::Range(why)
                })?;
                (common, Some(end))
            } else if let Some((start, end)) = range.split_once("..") {
                (start_of(root, start)?, Some(side(end)?))
            } else if let Some(one) = range.strip_suffix("^!") {
                (start_of(root, &format!("{one}^"))?, Some(side(one)?))
            } else {
                (start_of(root, range)?, None)
            }
        }
    };
    between(root, &start, end, WITH_LINES)
}

/// Returns the commit at which a difference starts. Before the first commit, there is the empty tree.
fn start_of(root: &Path, written: &str) -> Result<String, DiffError> {
    let found = if written.is_empty() { checked_out(root) } else { commit(root, written) };
    // A shallow clone lacks commits before its first one.
    if !matches!(found, Err(DiffError::Range(_))) || is_shallow(root) {
        return found;
    }
    let first = child_of(written).and_then(|child| commit(root, &child).ok());
    first.map_or(found, |first| Ok(empty_tree(&first).to_string()))
}

/// Returns the revision whose first parent a revision names: `a` for `a^` and `a~1`, `a~2` for `a~3`.
fn child_of(revision: &str) -> Option<String> {
    let stripped = ["^", "^1", "~", "~1"].iter().find_map(|step| revision.strip_suffix(*step));
    if let Some(child) = stripped {
        return Some(child.to_string());
    }
    let (name, n_steps) = revision.rsplit_once('~')?;
    let n_steps = n_steps.parse::<u32>().ok()?.checked_sub(1)?;
    Some(format!("{name}~{n_steps}"))
}

/// Checks that a tree has a repository that may be asked.
pub(super) fn check(root: &Path) -> Result<(), DiffError> {
    check_repository(root).map_err(|e| DiffError::NoRepository(e.to_string()))
}

/// Returns the commit that is checked out.
pub(super) fn checked_out(root: &Path) -> Result<String, DiffError> {
    head(root).ok_or_else(|| DiffError::NoRepository("no commit is checked out".into()))
}

/// Returns what differs between a commit, by its id, and the working tree with its untracked files.
/// Without a commit, every file is new. In a partial clone, whose old texts may be missing, the lines
/// are left out.
///
/// # Errors
/// As [`difference`].
pub fn difference_since(root: &Path, start: Option<&str>) -> Result<Difference, DiffError> {
    check(root)?;
    let start = match (start, head(root)) {
        (Some(start), _) => commit(root, start)?,
        (None, head) => empty_tree(head.as_deref().unwrap_or_default()).to_string(),
    };
    match between(root, &start, None, WITH_LINES) {
        Err(DiffError::Failed(why)) => {
            let mut found = between(root, &start, None, WITHOUT_LINES)?;
            found.cut = Some(format!("the lines that differ are missing: {why}"));
            Ok(found)
        }
        found => found,
    }
}

/// What git prints of a difference: the files with their lines, or only the files.
const WITH_LINES: &[&str] = &["--raw", "-z", "-p", "-U0"];
const WITHOUT_LINES: &[&str] = &["--raw", "-z", "--no-renames"];

fn between(
    root: &Path,
    start: &str,
    end: Option<String>,
    form: &[&str],
) -> Result<Difference, DiffError> {
    let mut found = Difference { end, ..Difference::default() };
    let (text, cut) = diff(root, start, found.end.as_deref(), form)?;
    found.files = parse(&text);
    found.cut = cut.map(String::from);
    if found.end.is_none() {
        let tracked: HashSet<String> = found.files.iter().map(|file| file.path.clone()).collect();
        let others = untracked(root)?.into_iter().filter(|path| !tracked.contains(path));
        found.files.extend(others.map(|path| DiffFile {
            path,
            exists: true,
            ..DiffFile::default()
        }));
    }
    if found.files.len() > MAX_FILES {
        found.cut = Some(format!("it has {} files", found.files.len()));
        found.files.truncate(MAX_FILES);
    }
    Ok(found)
}

/// Returns the files of the working tree that differ from a commit.
///
/// # Errors
/// When git does not answer in time.
pub fn changed_since(root: &Path, commit: &str) -> Result<HashSet<String>, DiffError> {
    let (text, _) = diff(root, commit, None, WITHOUT_LINES)?;
    Ok(parse(&text).into_iter().map(|file| file.path).collect())
}

/// Returns the texts of blobs. Those that git does not have, or for which there is no room, are
/// missing.
///
/// # Errors
/// When git does not answer.
pub fn blobs(root: &Path, ids: &[&str]) -> Result<HashMap<String, String>, DiffError> {
    let ids: Vec<String> = ids.iter().filter_map(|id| object_id(id)).collect();
    let texts = texts(root, &ids).map_err(failed)?;
    Ok(ids.into_iter().zip(texts).filter_map(|(id, text)| Some((id, text?))).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with `map_err`")]
pub(super) fn failed(e: std::io::Error) -> DiffError {
    DiffError::Failed(e.to_string())
}

/// Refuses what git could take for an option.
pub(super) fn check_range(range: &str) -> Result<(), DiffError> {
    let why = if range.starts_with('-') {
        "it begins with `-`"
    } else if range.chars().any(char::is_control) {
        "it has control characters"
    } else if range.chars().count() > MAX_RANGE {
        "it is too long"
    } else {
        return Ok(());
    };
    let shown: String = range.chars().take(MAX_RANGE).collect();
    Err(not_a_range(&shown, why))
}

fn not_a_range(written: &str, why: &str) -> DiffError {
    DiffError::Range(format!(
        "`{written}` is not a commit of this repository: {why}. Give a commit (HEAD~3, main) or a range (main.., v1..v2)"
    ))
}

/// Returns the id of the commit that a revision names.
pub(super) fn commit(root: &Path, revision: &str) -> Result<String, DiffError> {
    // A side of a range can begin with `-`, too.
    check_range(revision)?;
    let named = format!("{revision}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &named];
    let out = run(root, &arguments).map_err(failed)?;
    // Old versions of git print the option, too.
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let id = said.lines().find_map(object_id).filter(|_| out.code == Some(0));
    id.ok_or_else(|| not_a_range(revision, "git does not know it"))
}

/// Returns the last commit that both have in their histories, if there is one.
pub(super) fn common(root: &Path, a: &str, b: &str) -> Result<Option<String>, DiffError> {
    let out = run(root, &["merge-base", a, b]).map_err(failed)?;
    Ok(String::from_utf8_lossy(&out.stdout).lines().find_map(object_id))
}

/// Asks git for the difference between commits, or between a commit and the working tree. Returns the
/// output, and why it is not complete.
fn diff(
    root: &Path,
    start: &str,
    end: Option<&str>,
    form: &[&str],
) -> Result<(Vec<u8>, Option<&'static str>), DiffError> {
    // To compare a file with a commit, git runs its filters.
    let settings = without_own_filters(root).ok_or_else(|| {
        DiffError::Failed("the filters of the repository's configuration cannot be disabled".into())
    })?;
    let mut command = command(root);
    command
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(["-c", "core.quotePath=false", "diff"])
        .args(PLAIN_DIFF)
        .args(["--relative", "-M", "--inter-hunk-context=0", "--full-index", "--no-abbrev"])
        // Git would run in each submodule, with its configuration.
        .args(["--ignore-submodules=all", "--submodule=short"])
        .args(form)
        .arg(start)
        .args(end)
        .args(["--", "."]);
    let out = output(&mut command, Vec::new()).map_err(failed)?;
    match (out.code, out.exceeded) {
        (Some(0), _) => Ok((out.stdout, None)),
        (_, Some(why)) if !out.stdout.is_empty() => Ok((out.stdout, Some(why))),
        _ => Err(DiffError::Failed(out.why())),
    }
}

/// Returns the files that git neither tracks nor ignores.
fn untracked(root: &Path) -> Result<Vec<String>, DiffError> {
    let list = ["ls-files", "--others", "--exclude-standard", "-z", "--", "."];
    let out = run(root, &list).map_err(failed)?;
    // A name with `/` at its end is another repository.
    Ok(names_in(&out.stdout).filter(|path| !path.ends_with('/')).collect())
}

/// Parses the output of `git diff --raw -z -p -U0`: a record for each file, an empty field, and the
/// hunks, which belong to the path that is above them.
fn parse(output: &[u8]) -> Vec<DiffFile> {
    let (mut files, mut rest) = (Vec::new(), output);
    while let Some(RawChange { blobs, status, paths }) = raw_change(&mut rest) {
        let [old_blob, new_blob] = blobs;
        let [first, path] = paths.map(|path| String::from_utf8_lossy(path).into_owned());
        files.push(DiffFile {
            path,
            before: (!status.starts_with('A')).then_some(first),
            exists: !status.starts_with('D'),
            old_blob,
            new_blob,
            hunks: Vec::new(),
        });
    }
    add_hunks(rest, &mut files);
    files
}

/// What `git diff --raw -z` says of a file.
pub(super) struct RawChange<'o> {
    /// The blobs before and after, where the file existed and git has stored it.
    pub(super) blobs: [Option<String>; 2],
    /// `A`, `D`, `M`, `R100` and so on.
    pub(super) status: &'o str,
    /// The paths before and after.
    pub(super) paths: [&'o [u8]; 2],
}

/// Takes a record from the beginning of an output. Behind the last record, it takes the empty field.
pub(super) fn raw_change<'o>(rest: &mut &'o [u8]) -> Option<RawChange<'o>> {
    let mut field = || -> Option<&'o [u8]> {
        let all: &'o [u8] = rest;
        let end = memchr::memchr(0, all)?;
        *rest = &all[end + 1..];
        Some(&all[..end])
    };
    let record = std::str::from_utf8(field()?.strip_prefix(b":")?).ok()?;
    let words: Vec<&str> = record.split(' ').collect();
    let [_, _, old, new, status] = words[..] else { return None };
    let before = field()?;
    let after = if status.starts_with(['R', 'C']) { field()? } else { before };
    let blobs = [old, new].map(|id| object_id(id).filter(|id| !is_zero(id)));
    Some(RawChange { blobs, status, paths: [before, after] })
}

/// Parses a patch without context, and adds its hunks to the files.
fn add_hunks(patch: &[u8], files: &mut [DiffFile]) {
    let at: HashMap<String, usize> =
        files.iter().enumerate().map(|(i, file)| (file.path.clone(), i)).collect();
    let (mut before, mut current) = (None, None);
    // Lines of text that follow; they can look like anything.
    let mut n_text = 0u64;
    for line in patch.split(|&b| b == b'\n') {
        if n_text > 0 && line.starts_with(b"\\") {
            continue;
        }
        if n_text > 0 {
            n_text -= 1;
        } else if let Some(path) = line.strip_prefix(b"--- ") {
            before = path_of(path, b"a/");
        } else if let Some(path) = line.strip_prefix(b"+++ ") {
            let path = path_of(path, b"b/").or_else(|| before.take());
            current = path.and_then(|path| at.get(&path).copied());
        } else if let Some(hunk) = line.strip_prefix(b"@@ ").and_then(hunk) {
            n_text = u64::from(hunk.old_lines) + u64::from(hunk.new_lines);
            if let Some(at) = current {
                files[at].hunks.push(hunk);
            }
        }
    }
}

/// Returns the path in a header of a patch; `None` for `/dev/null`.
pub(super) fn path_of(written: &[u8], prefix: &[u8]) -> Option<String> {
    // Git ends a name with spaces by a tab.
    let written = written.strip_suffix(b"\t").unwrap_or(written);
    let plain = match written.strip_prefix(b"\"").and_then(|path| path.strip_suffix(b"\"")) {
        Some(quoted) => unquoted(quoted),
        None => written.to_vec(),
    };
    Some(String::from_utf8_lossy(plain.strip_prefix(prefix)?).into_owned())
}

/// Reads a name in which git escaped characters as C does.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let Some(escaped) = bytes.next() else { break };
        plain.push(match escaped {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'0'..=b'3' => {
                let mut digit = || bytes.next().map_or(0, |b| b.wrapping_sub(b'0') & 7);
                let (second, third) = (digit(), digit());
                ((escaped - b'0') << 6) | (second << 3) | third
            }
            other => other,
        });
    }
    plain
}

/// Parses `-12,3 +14 @@ …`.
pub(super) fn hunk(written: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(written);
    let mut words = text.split(' ');
    let mut range = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        let (start, n) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse().ok()?, n.parse().ok()?))
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (range('-')?, range('+')?);
    Some(Hunk { old_start, old_lines, new_start, new_lines })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::git;
    use super::*;

    fn commit_all(root: &Path) {
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "x"]);
    }

    fn told(root: &Path, range: Option<&str>) -> Vec<(String, Option<String>, bool, Vec<Hunk>)> {
        let mut files = difference(root, range).unwrap().files;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.into_iter().map(|f| (f.path, f.before, f.exists, f.hunks)).collect()
    }

    fn hunk_of(old_start: u32, old_lines: u32, new_start: u32, new_lines: u32) -> Hunk {
        Hunk { old_start, old_lines, new_start, new_lines }
    }

    /// Text of a file can look like a header, and names can hold anything.
    #[test]
    fn hunks_belong_to_their_files_whatever_names_and_texts_are() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        let odd = ["a b.rs", "new\nline.rs", "quo\"te\\.rs", "ä.rs", "-option.rs", "tab\t.rs"];
        for name in odd {
            fs::write(root.join(name), "one\ntwo\nthree\n").unwrap();
        }
        fs::write(root.join("gone.rs"), "-- a/x\n++ b/ä.rs\n@@ -1 +1 @@\n").unwrap();
        fs::write(root.join("forged.rs"), "a\nb\nc\n").unwrap();
        fs::write(root.join("bin"), [0u8, 1, 2]).unwrap();
        fs::write(root.join("moved.rs"), "1\n2\n3\n4\n5\n6\n7\n8\n").unwrap();
        commit_all(root);
        for name in odd {
            fs::write(root.join(name), "one\nzwei\n").unwrap();
        }
        fs::write(root.join("forged.rs"), "++ b/ä.rs\nb\nC\n").unwrap();
        fs::remove_file(root.join("gone.rs")).unwrap();
        fs::write(root.join("bin"), [0u8, 1, 3]).unwrap();
        fs::rename(root.join("moved.rs"), root.join("to.rs")).unwrap();
        git(root, &["add", "-A"]);
        fs::write(root.join("un\ntracked"), "x").unwrap();
        let own = |path: &str| Some(path.to_string());
        let mut expected: Vec<_> = odd
            .iter()
            .map(|name| (name.to_string(), own(name), true, vec![hunk_of(2, 2, 2, 1)]))
            .collect();
        expected.extend([
            ("bin".into(), own("bin"), true, vec![]),
            (
                "forged.rs".into(),
                own("forged.rs"),
                true,
                vec![hunk_of(1, 1, 1, 1), hunk_of(3, 1, 3, 1)],
            ),
            ("gone.rs".into(), own("gone.rs"), false, vec![hunk_of(1, 3, 0, 0)]),
            ("to.rs".into(), own("moved.rs"), true, vec![]),
            ("un\ntracked".into(), None, true, vec![]),
        ]);
        expected.sort();
        assert_eq!(told(root, None), expected);
        let old = difference(root, None).unwrap().files;
        let id = old.iter().find(|f| f.path == "gone.rs").unwrap().old_blob.clone().unwrap();
        let texts = blobs(root, &[&id, &"0".repeat(40), "--batch-all-objects"]).unwrap();
        assert_eq!(texts[&id], "-- a/x\n++ b/ä.rs\n@@ -1 +1 @@\n");
        assert_eq!(texts.len(), 1);
    }

    #[test]
    fn ranges_are_those_of_git_and_never_options() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert!(matches!(difference(root, None), Err(DiffError::NoRepository(_))));
        git(root, &["init", "-q"]);
        assert!(matches!(difference(root, None), Err(DiffError::NoRepository(_))), "no commit");
        for n in 0..3 {
            fs::write(root.join(format!("{n}.rs")), "x\n").unwrap();
            commit_all(root);
        }
        fs::write(root.join("9.rs"), "x\n").unwrap();
        let names = |range: &str| {
            told(root, Some(range)).into_iter().map(|f| f.0).collect::<Vec<_>>().join(" ")
        };
        for (range, files) in [
            ("", "9.rs"),
            ("HEAD~1", "2.rs 9.rs"),
            ("HEAD~2..", "1.rs 2.rs"),
            ("HEAD~2..HEAD~1", "1.rs"),
            ("HEAD~1^!", "1.rs"),
            ("HEAD~1...HEAD", "2.rs"),
            ("..", ""),
            // The first commit has no parent.
            ("HEAD~2^..HEAD~2", "0.rs"),
            ("HEAD~3..HEAD~1", "0.rs 1.rs"),
            ("HEAD~2^!", "0.rs"),
            ("HEAD~2~..HEAD~2", "0.rs"),
            ("HEAD~2^1", "0.rs 1.rs 2.rs 9.rs"),
        ] {
            assert_eq!(names(range), files, "{range}");
        }
        let marker = root.join("marker");
        for wrong in [
            "nowhere",
            "HEAD..nowhere",
            "-h",
            &format!("--output={}", marker.display()),
            &format!("HEAD..--output={}", marker.display()),
            "HEAD\n--help",
            "HEAD:0.rs",
            "HEAD~4..",
            "HEAD^2..",
            "nowhere^..",
            "HEAD..HEAD~3",
            &"x".repeat(9_000),
        ] {
            let e = difference(root, Some(wrong)).unwrap_err();
            assert!(matches!(&e, DiffError::Range(_)) && e.to_string().len() < 600, "{wrong}: {e}");
        }
        assert!(!marker.exists());
    }

    /// A clean filter of the repository's configuration is a program that a comparison with the
    /// working tree would run.
    #[test]
    fn what_a_repository_configures_is_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        fs::write(root.join("a.rs"), "one\n").unwrap();
        commit_all(root);
        let marker = root.join("marker");
        let run = format!("touch {}; cat", marker.display());
        for key in ["filter.x.clean", "diff.x.textconv", "diff.x.command", "diff.external"] {
            git(root, &["config", key, &run]);
        }
        git(root, &["config", "diff.noprefix", "true"]);
        git(root, &["config", "diff.interHunkContext", "99"]);
        fs::write(root.join(".git/info/attributes"), "*.rs filter=x diff=x\n").unwrap();
        fs::write(root.join("a.rs"), "two\n").unwrap();
        let found = told(root, None);
        assert_eq!(found, [("a.rs".into(), Some("a.rs".into()), true, vec![hunk_of(1, 1, 1, 1)])]);
        assert!(!marker.exists());
        assert_eq!(changed_since(root, &git(root, &["rev-parse", "HEAD"])).unwrap().len(), 1);
    }
}
