//! The outcome of a command.

/// The outcome of a command that did not fail.
pub(super) enum Outcome {
    Done,
    NothingFound,
}
