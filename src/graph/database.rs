//! Where the rows of a code graph are kept.

use std::path::PathBuf;

/// The database of a code graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    pub path: PathBuf,
    /// The number with which its owner marks it. A database with another one is not used: somebody else
    /// made it.
    pub mark: i32,
}
