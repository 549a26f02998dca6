//! What git says of a tree, read from its own files: no process is started for it.

use std::fs;
use std::path::{Path, PathBuf};

/// The commit that is checked out, 40 (or 64) hexadecimal digits. `None` outside a repository, before its first commit, and
/// for ways to store references that are not files.
#[must_use]
pub fn head(root: &Path) -> Option<String> {
    let dot_git = root.ancestors().map(|d| d.join(".git")).find(|p| p.exists())?;
    let git_dir = git_dir(&dot_git)?;
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return commit(&head) };
    // References are shared between the work trees of a repository.
    let common = match fs::read_to_string(git_dir.join("commondir")) {
        Ok(path) => git_dir.join(path.trim()),
        Err(_) => git_dir.clone(),
    };
    let loose = [&git_dir, &common].into_iter().find_map(|dir| fs::read_to_string(dir.join(reference)).ok());
    if let Some(found) = loose.and_then(|text| commit(&text)) {
        return Some(found);
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference)).and_then(|(hash, _)| commit(hash))
}

/// `.git` is a directory, or a file that says where it is.
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    let text = fs::read_to_string(dot_git).ok()?;
    Some(dot_git.parent()?.join(text.trim().strip_prefix("gitdir: ")?))
}

fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    (matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) -> String {
        let base = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        let out = Command::new("git").current_dir(dir).args(base).args(args).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_string()
    }

    #[test]
    fn the_head_is_what_git_says_loose_packed_detached_and_in_a_work_tree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert_eq!(head(root), None, "no repository");
        git(root, &["init", "-q"]);
        assert_eq!(head(root), None, "no commit");
        git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let one = git(root, &["rev-parse", "HEAD"]);
        assert_eq!(head(root).as_ref(), Some(&one));
        git(root, &["pack-refs", "--all"]);
        assert_eq!(head(root).as_ref(), Some(&one), "packed");
        let tree = root.join("tree");
        git(root, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "feature/x"]);
        assert_eq!(head(&tree).as_ref(), Some(&one), "a branch with a slash, in a work tree");
        git(&tree, &["commit", "-q", "--allow-empty", "-m", "two"]);
        assert_eq!(head(&tree), Some(git(&tree, &["rev-parse", "HEAD"])));
        assert_eq!(head(root).as_ref(), Some(&one), "the other work tree stays");
        git(root, &["checkout", "-q", "--detach"]);
        assert_eq!(head(root), Some(one), "detached");
        fs::create_dir(root.join("below")).unwrap();
        assert_eq!(head(&root.join("below")), head(root), "below the root of the repository");
    }
}
