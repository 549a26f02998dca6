//! How often the calls that the code graph infers were right, where somebody measured it.

/// The precision of the results of the code graph in one language: the share of the callers and
/// callees shown (confidence .5 and more) that the language's own compiler or server confirms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    /// Number of repositories that were measured.
    pub repositories: usize,
    /// Percent in the repository with the least, rounded.
    pub lowest: u8,
    /// Percent in the repository with the most, rounded.
    pub highest: u8,
}

/// Language, number of repositories, and the lowest and highest precision in percent. A test compares
/// them with the table in `specs/graph.md`, which says how they were measured.
const MEASURED: &[(&str, usize, u8, u8)] = &[
    ("c", 5, 92, 100),
    ("cpp", 5, 90, 100),
    ("go", 6, 95, 100),
    ("java", 4, 89, 98),
    ("javascript", 4, 97, 100),
    ("php", 4, 98, 100),
    ("python", 7, 98, 100),
    ("ruby", 3, 94, 100),
    ("rust", 6, 93, 100),
    ("tsx", 3, 99, 100),
    ("typescript", 5, 100, 100),
];

/// Returns the precision in a language; `None` if nobody measured it.
#[must_use]
pub fn precision(language: &str) -> Option<Precision> {
    let (_, repositories, lowest, highest) =
        *MEASURED.iter().find(|(name, ..)| *name == language)?;
    Some(Precision { repositories, lowest, highest })
}
