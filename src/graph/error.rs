//! Errors of the code graph.

use std::path::PathBuf;

/// Why the code graph has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    #[error("{}: {source}", path.display())]
    Failed { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("{}: the code graph is damaged; it is made anew when it is brought up to date", path.display())]
    Damaged { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
    #[error("{}: another version of cortex makes the code graph anew at the same time: try again", path.display())]
    Contended { path: PathBuf },
}
