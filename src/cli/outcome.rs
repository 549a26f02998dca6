//! The outcome of a command.

/// The outcome of a command that did not fail.
pub(super) enum Outcome {
    Done,
    NothingFound,
}

impl Outcome {
    /// Returns the outcome of a command that looks for something.
    pub(super) fn of(is_found: bool) -> Self {
        if is_found { Self::Done } else { Self::NothingFound }
    }
}
