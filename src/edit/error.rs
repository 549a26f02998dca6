//! Errors of reading and editing files. Each message says what to do instead.

use std::io;

/// Why a file was not read or changed. After an error the file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Files with this path, or of this kind, are never read or edited.
    #[error("`{}`: {why}", shown(path))]
    Refused { path: String, why: String },
    #[error("`{}` does not exist: check the path, or create the file", shown(path))]
    NotFound { path: String },
    #[error(
        "`{}` exists already: edit it, or view it and pass its hash to overwrite it",
        shown(path)
    )]
    Exists { path: String },
    #[error("`{}` changed since it was read: view it again, then repeat the edit", shown(path))]
    Changed { path: String },
    /// The edit cannot be applied to the content of the file.
    #[error("`{}`: {why}", shown(path))]
    Unfit { path: String, why: String },
    #[error(
        "`{}`: another edit in this directory has been running for more than {waited_s} s: try again",
        shown(path)
    )]
    Busy { path: String, waited_s: u64 },
    #[error("`{}`: {source}", shown(path))]
    Io { path: String, source: io::Error },
}

/// Formats a path for a message: on one line, cut if it is long.
fn shown(path: &str) -> String {
    super::excerpt::excerpt(path, 300)
}
