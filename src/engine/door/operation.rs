//! The names of the engine's operations, as the front ends call them.

/// An operation that an error advises to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advised {
    Grep,
    Outline,
    Search,
}

/// The front end that shows the engine's errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FrontEnd {
    /// The command line: `cortex outline`.
    CommandLine,
    /// The tools of agents: `cortex_outline`.
    #[default]
    Tools,
}

impl FrontEnd {
    /// Returns the name of an operation in this front end.
    #[must_use]
    pub fn name(self, operation: Advised) -> &'static str {
        match (self, operation) {
            (Self::CommandLine, Advised::Grep) => "cortex grep",
            (Self::CommandLine, Advised::Outline) => "cortex outline",
            (Self::CommandLine, Advised::Search) => "cortex search",
            (Self::Tools, Advised::Grep) => "cortex_grep",
            (Self::Tools, Advised::Outline) => "cortex_outline",
            (Self::Tools, Advised::Search) => "cortex_search",
        }
    }
}
