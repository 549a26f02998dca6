//! What a server does without when it holds more memory than it may.

/// What was given up to stay within the budget. Each step includes those before it; only a new start takes them back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GivenUp {
    #[default]
    Nothing,
    /// The index is read where it was saved, again for each query, and meaning has no graph.
    Caches,
    /// Also the vectors: words alone are searched.
    Vectors,
}

impl GivenUp {
    /// The names of all that was given up.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Caches => &["caches"],
            Self::Vectors => &["caches", "vectors"],
        }
    }
}

/// The memory of this process, in bytes; `None` where the system does not tell.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    memory_stats::memory_stats().map(|m| m.physical_mem as u64)
}
