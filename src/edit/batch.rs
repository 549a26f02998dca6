//! Changes of several files that are applied together.

use super::error::EditError;
use super::file::{CurrentFile, EditTarget, LOCK_WAIT, Staged};
use super::root::Root;

/// The files of one change. Their directories stay locked until it is dropped.
#[derive(Default)]
pub(super) struct Batch {
    /// One target of each directory, which holds its lock.
    locks: Vec<EditTarget>,
    files: Vec<(EditTarget, CurrentFile, Staged, Vec<u8>)>,
}

impl Batch {
    /// Opens a file and locks its directory, unless this change has locked it.
    pub(super) fn open(&mut self, root: &Root, path: &str) -> Result<EditTarget, EditError> {
        let place = EditTarget::open(root, path, false)?;
        if !self
            .locks
            .iter()
            .any(|lock| folder_and_name(&lock.path).0 == folder_and_name(&place.path).0)
        {
            let lock = EditTarget::open(root, path, false)?;
            lock.lock(LOCK_WAIT)?;
            self.locks.push(lock);
        }
        Ok(place)
    }

    /// Writes the new content under a temporary name.
    pub(super) fn stage(
        &mut self,
        place: EditTarget,
        before: CurrentFile,
        after: Vec<u8>,
    ) -> Result<(), EditError> {
        let staged = place.stage(self.files.len(), &before, &after)?;
        self.files.push((place, before, staged, after));
        Ok(())
    }

    /// Replaces all files by their new content.
    pub(super) fn commit(self) -> Result<(), EditError> {
        for (place, before, ..) in &self.files {
            place.check_holds(&before.bytes)?;
        }
        for (at, (place, before, staged, _)) in self.files.iter().enumerate() {
            let Err(e) = place.replace(before, staged) else { continue };
            for (place, before, staged, after) in self.files[..at].iter().rev() {
                // The first error is the one to report. A file that somebody changed since stays.
                let _ = place.restore(before, staged, after);
            }
            return Err(e);
        }
        self.files.iter().for_each(|(place, ..)| place.settle());
        Ok(())
    }
}

/// Returns folder and name of a path.
pub(super) fn folder_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
