//! Errors of the code graph.

use std::path::PathBuf;

/// Why the code graph has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    #[error("cannot use the code graph {}: {source} (try again; if that fails too, delete the file, and the next query rebuilds it)", path.display())]
    Failed { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the code graph {} is damaged (delete the file, and the next query rebuilds it)", path.display())]
    Damaged { path: PathBuf },
    #[error("cannot write the code graph {}: {source} (free space on its disk, or let your user write to its directory, and try again)", path.display())]
    Unwritable { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("cannot create the code graph {}: another version of cortex is rebuilding it (try again)", path.display())]
    Contended { path: PathBuf },
    #[error("cannot import {name}: {reason}")]
    NoScip { name: String, reason: String },
}
