//! Keeps files of one user out of the history of a repository: tells which of them git would add
//! and which it tracks, and adds rules to `.git/info/exclude`.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::{Dir, GitDir, MAX_SMALL_BYTES, command, names_in, output, run};
use crate::dir::{SHARED_DIR, SHARED_FILE, own_user};
use crate::platform::name_bytes;

const INFO: &str = "info";
const EXCLUDE: &str = "info/exclude";
const COMMENT: &str =
    "# Written by cortex: what it keeps for one user stays out of the repository.";

/// Adds rules to `.git/info/exclude` of the repository that contains a tree, unless they are there.
/// The rules are relative to the tree and start with `/`. The rest of the file stays as it is. Does
/// nothing without a repository that belongs to this user.
///
/// # Errors
/// When the file cannot be read or written.
#[expect(clippy::disallowed_methods, reason = "asks whether there is a .git above")]
pub fn exclude_from_git(tree: &Path, rules: &[&str]) -> io::Result<()> {
    let Some(top) = tree.ancestors().find(|d| d.join(".git").exists()) else { return Ok(()) };
    let Some(prefix) = tree.strip_prefix(top).ok().and_then(quoted) else { return Ok(()) };
    let Some(common) = own_common_dir(top)? else { return Ok(()) };
    let before = match common.read(EXCLUDE, MAX_SMALL_BYTES) {
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let has =
        |line: &[u8]| before.split(|&b| b == b'\n').any(|there| there.trim_ascii_end() == line);
    let rules = rules.iter().map(|rule| [&prefix, rule.as_bytes()].concat());
    let missing: Vec<Vec<u8>> = rules.filter(|rule| !has(rule)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut after = before.clone();
    if after.last().is_some_and(|&b| b != b'\n') {
        after.push(b'\n');
    }
    let comment = (!has(COMMENT.as_bytes())).then(|| COMMENT.as_bytes().to_vec());
    for line in comment.into_iter().chain(missing) {
        after.extend(line);
        after.push(b'\n');
    }
    let mode = common.stat(EXCLUDE)?.map_or(SHARED_FILE, |stat| stat.mode);
    common.make_dir(INFO, SHARED_DIR)?;
    common.replace(EXCLUDE, &after, mode, false)
}

/// Returns those of the files, relative to a tree, that `git add` would take. The files need not
/// exist. Returns none outside a repository, or if git cannot be run.
#[must_use]
pub fn not_ignored_by_git<'a>(tree: &Path, files: &[&'a str]) -> Vec<&'a str> {
    if GitDir::of(tree).is_none() {
        return Vec::new();
    }
    let mut command = command(tree);
    command.args(["check-ignore", "--no-index", "-z", "--stdin"]);
    match output(&mut command, files.join("\0").into_bytes()) {
        // The code 1 means that git ignores none of them.
        Ok(out) if matches!(out.code, Some(0 | 1)) => {
            let ignored: Vec<&[u8]> = out.stdout.split(|&b| b == 0).collect();
            files.iter().copied().filter(|file| !ignored.contains(&file.as_bytes())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the tracked files in a folder of a tree, relative to the tree. Upper and lower case
/// count as the same. Returns none outside a repository, or if git cannot be run.
#[must_use]
pub fn tracked_by_git(tree: &Path, folder: &str) -> Vec<String> {
    if GitDir::of(tree).is_none() {
        return Vec::new();
    }
    let pattern = format!(":(icase){folder}");
    let listed = run(tree, &["ls-files", "-z", "--", &pattern]);
    listed.map(|out| names_in(&out.stdout).collect()).unwrap_or_default()
}

/// Opens the git directory that all work trees of a repository share, given the root of one.
/// Returns `None` if this user does not own it.
fn own_common_dir(top: &Path) -> io::Result<Option<Dir>> {
    let Some(git) = GitDir::at(top) else { return Ok(None) };
    let common = match git.common.strip_prefix(&git.top) {
        Ok(below) => Dir::open(&git.top)?.dir(below)?,
        Err(_) => Dir::open(&git.common)?,
    };
    let is_usable = common.own_stat()?.owner == own_user() && common.stat("HEAD")?.is_some();
    Ok(is_usable.then_some(common))
}

/// Returns a folder as the beginning of a rule, or `None` if no rule can name it.
fn quoted(folder: &Path) -> Option<Vec<u8>> {
    let bytes = name_bytes(folder.as_os_str());
    if bytes.iter().any(|b| matches!(b, b'\n' | b'\r')) {
        return None;
    }
    let mut rule = Vec::new();
    if !bytes.is_empty() {
        rule.push(b'/');
    }
    for &b in bytes {
        if b"*?[]\\".contains(&b) {
            rule.push(b'\\');
        }
        rule.push(b);
    }
    Some(rule)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::tests::git;
    use super::*;

    const RULES: &[&str] = &["/.cortex/memory*", "/.cortex/cache/"];

    fn repository() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("repository");
        fs::create_dir_all(root.join("a [b]*c/d/.cortex/cache")).unwrap();
        git(&root, &["init", "-q"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", "one"]);
        (dir, root)
    }

    fn ignores(tree: &Path) -> bool {
        fs::create_dir_all(tree.join(".cortex/cache")).unwrap();
        not_ignored_by_git(tree, &[".cortex/memory.db", ".cortex/cache/x"]).is_empty()
    }

    #[test]
    fn rules_are_added_once_and_keep_what_is_there() {
        let (_dir, root) = repository();
        let file = root.join(".git/info/exclude");
        fs::write(&file, "# mine\n*.tmp").unwrap();
        assert!(!ignores(&root));
        exclude_from_git(&root, RULES).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, format!("# mine\n*.tmp\n{COMMENT}\n/.cortex/memory*\n/.cortex/cache/\n"));
        exclude_from_git(&root, RULES).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(ignores(&root));
        fs::remove_dir_all(root.join(".git/info")).unwrap();
        exclude_from_git(&root, RULES).unwrap();
        assert!(ignores(&root), "the folder is made");
    }

    #[test]
    fn rules_name_the_folder_of_the_tree_in_subfolders_work_trees_and_submodules() {
        let (dir, root) = repository();
        let below = root.join("a [b]*c/d");
        exclude_from_git(&below, RULES).unwrap();
        assert!(ignores(&below) && !ignores(&root), "a folder with special characters");
        let linked = root.parent().unwrap().join("linked");
        git(&root, &["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "other"]);
        exclude_from_git(&linked, RULES).unwrap();
        assert!(ignores(&linked) && ignores(&root), "a work tree shares the rules");
        let library = dir.path().join("library");
        fs::create_dir(&library).unwrap();
        git(&library, &["init", "-q"]);
        git(&library, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(
            &root,
            &[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "add",
                "-q",
                library.to_str().unwrap(),
                "sub",
            ],
        );
        let sub = root.join("sub");
        exclude_from_git(&sub, RULES).unwrap();
        assert!(ignores(&sub) && root.join(".git/modules/sub/info/exclude").is_file());
    }

    #[test]
    fn a_git_file_that_leads_outside_has_no_rules_written_there() {
        let (dir, root) = repository();
        let linked = root.parent().unwrap().join("linked");
        git(&root, &["worktree", "add", "-q", linked.to_str().unwrap()]);
        let before = fs::read(root.join(".git/info/exclude")).unwrap();
        let clone = dir.path().join("clone");
        fs::create_dir_all(clone.join("inside")).unwrap();
        let common = root.join(".git");
        for (own, commondir, back) in [
            (common.clone(), None, None),
            (common.join("worktrees/linked"), None, None),
            (clone.join("inside"), Some(&common), Some(clone.join(".git"))),
        ] {
            fs::write(clone.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
            fs::write(clone.join("inside/HEAD"), "ref: refs/heads/main\n").unwrap();
            if let (Some(commondir), Some(back)) = (commondir, back) {
                fs::write(own.join("commondir"), commondir.to_str().unwrap()).unwrap();
                fs::write(own.join("gitdir"), back.to_str().unwrap()).unwrap();
            }
            exclude_from_git(&clone, RULES).unwrap();
            assert_eq!(
                fs::read(root.join(".git/info/exclude")).unwrap(),
                before,
                "{}",
                own.display()
            );
        }
        fs::remove_file(clone.join(".git")).unwrap();
        symlink(&common, clone.join(".git")).unwrap();
        exclude_from_git(&clone, RULES).unwrap();
        fs::remove_file(clone.join(".git")).unwrap();
        fs::create_dir(clone.join(".git")).unwrap();
        fs::write(clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(clone.join(".git/commondir"), common.to_str().unwrap()).unwrap();
        exclude_from_git(&clone, RULES).unwrap();
        assert_eq!(fs::read(root.join(".git/info/exclude")).unwrap(), before);
        fs::remove_file(clone.join(".git/commondir")).unwrap();
        symlink(common.join("info"), clone.join(".git/info")).unwrap();
        assert!(exclude_from_git(&clone, RULES).is_err(), "a link in the way");
        assert_eq!(fs::read(root.join(".git/info/exclude")).unwrap(), before);
    }

    #[test]
    fn tracked_files_are_listed_in_either_case() {
        let (_dir, root) = repository();
        assert!(tracked_by_git(&root, ".cortex").is_empty());
        for name in [".cortex/memory.db", ".CORTEX/b\nc"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "x").unwrap();
        }
        git(&root, &["add", "-A"]);
        assert_eq!(tracked_by_git(&root, ".cortex"), [".CORTEX/b\nc", ".cortex/memory.db"]);
    }
}
