//! Reports the resident bytes of the process, and names what a server gives up when they exceed the
//! memory budget.

/// The features that were given up to stay within the memory budget. Each step includes the
/// previous ones. Only a restart undoes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GivenUp {
    #[default]
    Nothing,
    /// The index is read from its saved files, again for each query, and vector search has no HNSW
    /// graph.
    Caches,
    /// The vectors, too: only words are searched.
    Vectors,
}

impl GivenUp {
    /// Returns the names of everything that was given up.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Caches => &["caches"],
            Self::Vectors => &["caches", "vectors"],
        }
    }
}

/// Returns the resident bytes of this process; `None` if the system does not report them.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    memory_stats::memory_stats().map(|m| m.physical_mem as u64)
}
