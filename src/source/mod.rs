//! The tree that is indexed: which files it has, which of them are skipped and why, what changes in
//! it, and what git knows of it.
//!
//! This module does not know chunks or `.cortex`.

mod choice;
mod decoded;
mod git;
mod hash;
mod ignored;
mod origin;
mod printable;
mod read;
mod skip;
mod walk;
mod watch;

pub use choice::{IgnoreRule, Included, LeftOut, PackageParts, WalkOptions, is_rule_file};
pub use decoded::text_of;
pub use git::{
    Attribution, Beginning, Blame, BlamedCommit, BlamedLine, ChangedFile, Commit, CommitLog,
    CommitPlace, Committed, DiffError, DiffFile, Difference, GitOperation, GitWatch, Hunk,
    LineChange, LineOrigin, MAX_BLAMED_LINES, OperationKind, Passed, PassedCommit, PatchReach,
    PatchText, SharedPlace, before, blame, blobs, branch, carried_over, changed_since,
    commit_places, commits, commits_between, difference, difference_since, exclude_from_git,
    from_last_day, git_directory, head, is_ancestor, is_shallow, named, newest_commits,
    not_ignored_by_git, other_worktrees, patches, remote_name, shared_place, stashes, submodules,
    texts_at, these_commits, tracked_by_git, with_repository,
};
pub use hash::sha256;
pub use origin::{DeclaredOrigin, OriginSettings};
pub use printable::{printable, printable_but, printable_json, printable_lines, printable_message};
pub use read::{MAX_BYTES, ReadError, read_exact, read_hashed, read_if, read_text};
pub use skip::{
    LineLimit, SHORTEST_CUT, Skip, check_content, is_never_read, may_hold_secrets, without_tails,
};
pub use walk::{Scope, SourceFile, SourceTree, left_out, nanoseconds, walk};
pub use watch::{ChangeWatcher, DirectoryWatcher, NotWatched, TreeChange};

/// A file of the tree that was created, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path, relative to the root.
    pub path: String,
    /// SHA-256 of the content before and after, in hexadecimal digits; `None` where
    /// the file does not exist.
    pub before: Option<String>,
    pub after: Option<String>,
    /// Names of definitions that are new, changed or gone.
    pub symbols: Vec<String>,
}
