//! How a command ended.

/// How a command ended when it did not fail.
pub(super) enum Outcome {
    Done,
    NothingFound,
}
