//! The tree that is indexed: which files it has, and which of them are not for indexing, and why.
//!
//! Knows nothing of chunks or `.cortex`.

mod skip;
mod walk;

pub use skip::{LineLimit, Skip, check_content};
pub use walk::{SourceFile, SourceTree, WalkOptions, walk};
