//! The tree that is indexed: which files it has, and which of them are not for indexing, and why; what changes in it;
//! what git says of it.
//!
//! Knows nothing of chunks or `.cortex`.

mod git;
mod hash;
mod skip;
mod walk;
mod watch;

pub use git::{Commit, commits, head};
pub use hash::sha256;
pub use skip::{LineLimit, Skip, check_content, is_for_indexing};
pub use walk::{Scope, SourceFile, SourceTree, WalkOptions, is_ignore_file, walk};
pub use watch::{ChangeWatcher, DirectoryWatcher, TreeChange};
