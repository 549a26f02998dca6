//! Why a file was not read or changed. Each message says what to do instead.

use std::io;

/// Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// This path, or what is there, is never touched.
    #[error("`{}`: {why}", shown(path))]
    Refused { path: String, why: String },
    #[error("`{}` is not there: check the path, or create it", shown(path))]
    NotFound { path: String },
    #[error("`{}` is there already: edit it, or view it and give its hash to overwrite it", shown(path))]
    Exists { path: String },
    #[error("`{}` changed since it was read: view it again, then repeat the edit", shown(path))]
    Changed { path: String },
    /// The edit has no place in the file.
    #[error("`{}`: {why}", shown(path))]
    Unfit { path: String, why: String },
    #[error("`{}`: another edit in its directory goes on for longer than {waited_s} s; try again", shown(path))]
    Busy { path: String, waited_s: u64 },
    #[error("`{}`: {source}", shown(path))]
    Io { path: String, source: io::Error },
}

/// A path as it may stand on a line.
fn shown(path: &str) -> String {
    super::excerpt::excerpt(path, 300)
}
