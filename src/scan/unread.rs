//! The files that a search should have looked at, and did not.

use std::io;

use crate::source::ReadError;

/// Files of a search that were not searched. A search that found nothing says so of the others only.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Number of files left out because the work was limited or the call cancelled.
    pub n_left: usize,
    /// Number of files that are not there.
    pub n_gone: usize,
    /// Number of files that are there and cannot be read.
    pub n_refused: usize,
    /// Why the first of them cannot be read, with its path.
    pub why: Option<String>,
}

impl Unread {
    /// Notes why a file was not read.
    pub(super) fn add(&mut self, error: &ReadError) {
        match error {
            ReadError::Failed { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                self.n_gone += 1;
            }
            // A search does not count files that may never be read.
            ReadError::Forbidden(_) => {}
            e => {
                self.n_refused += 1;
                self.why.get_or_insert_with(|| e.to_string());
            }
        }
    }

    /// Number of all of them.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n_left + self.n_gone + self.n_refused
    }
}
