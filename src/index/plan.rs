//! What an index run has to do: the tree of now against the table of the last run.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use crate::dir::Dir;
use crate::source::{Scope, SourceFile, WalkOptions, sha256, would_take};
use crate::store::{SourceEntry, SourceTable, TIMESTAMP_TICK};

/// What becomes of one file of the old or the new tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Its chunks are copied; the stamp may be a new one.
    Keep(SourceEntry),
    /// It is read, and parsed unless its content turns out to be the indexed one.
    Parse(SourceFile),
    /// It is gone, and its chunks are kept with a mark.
    Retire(SourceEntry),
    /// It is gone, or skipped now.
    Drop,
}

/// Every file, by path, with what becomes of it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) actions: BTreeMap<String, Action>,
}

impl Plan {
    /// Compares by size and time stamp, and by content where the stamp cannot be trusted. What is out of scope stays. `keeping`: what
    /// the walk was told, where the chunks of deleted files stay.
    pub(super) fn new(
        path: &Path,
        table: &SourceTable,
        files: Vec<SourceFile>,
        scope: &Scope,
        full: bool,
        keeping: Option<&WalkOptions>,
    ) -> Self {
        let trusted_before = trusted_before(table.walked_at_ns);
        let root = Dir::open(path).ok();
        let decide = |file: SourceFile| {
            let path = file.path.clone();
            let action = match table.files.get(&path) {
                Some(known) if !full && !known.deleted && known.bytes == file.bytes => {
                    let stamp_tells = (known.modified_ns, known.changed_ns) == (file.modified_ns, file.changed_ns)
                        && file.modified_ns < trusted_before
                        && !known.sha256.is_empty();
                    if stamp_tells || unchanged(root.as_ref(), &file, known) {
                        Action::Keep(SourceEntry { modified_ns: file.modified_ns, changed_ns: file.changed_ns, ..known.clone() })
                    } else {
                        Action::Parse(file)
                    }
                }
                _ => Action::Parse(file),
            };
            (path, action)
        };
        let mut actions: BTreeMap<String, Action> = files.into_par_iter().map(decide).collect();
        let mut gone = Vec::new();
        for (path, known) in table.files.iter().filter(|(path, _)| !actions.contains_key(*path)).collect::<Vec<_>>() {
            if scope.contains(path) {
                gone.push((path, known));
            } else {
                actions.insert(path.clone(), Action::Keep(known.clone()));
            }
        }
        let retired = |(path, known): &(&String, &SourceEntry)| {
            let (options, root) = (keeping.filter(|_| !full)?, root.as_ref()?);
            // Something that is there and not taken is left out: it was not deleted.
            let is_deleted = matches!(root.stat(path), Ok(None)) && would_take(root.path(), options, path);
            let has_chunks = known.n_chunks.iter().any(|n| *n > 0) && !known.sha256.is_empty();
            (is_deleted && has_chunks && !is_elsewhere(&actions, root, known)).then(|| match known.deleted {
                true => Action::Keep((*known).clone()),
                false => Action::Retire(SourceEntry { deleted: true, ..(*known).clone() }),
            })
        };
        let gone: Vec<_> = gone.iter().map(|one| (one.0.clone(), retired(one).unwrap_or(Action::Drop))).collect();
        actions.extend(gone);
        Self { actions }
    }

    /// The entries of all files that are kept.
    pub(super) fn into_kept(self) -> BTreeMap<String, SourceEntry> {
        self.actions
            .into_iter()
            .filter_map(|(path, action)| if let Action::Keep(entry) = action { Some((path, entry)) } else { None })
            .collect()
    }

    /// Nothing changes but, perhaps, time stamps.
    pub(super) fn is_empty(&self) -> bool {
        self.actions.values().all(|a| matches!(a, Action::Keep(_)))
    }
}

/// Whether a file with the same content is there: then it was moved, and not deleted.
fn is_elsewhere(actions: &BTreeMap<String, Action>, root: &Dir, known: &SourceEntry) -> bool {
    actions.values().any(|action| match action {
        Action::Keep(entry) => !entry.deleted && entry.sha256 == known.sha256,
        Action::Parse(file) => {
            file.bytes == known.bytes && root.read(&file.path, file.bytes).is_ok_and(|bytes| sha256(&bytes) == known.sha256)
        }
        Action::Retire(_) | Action::Drop => false,
    })
}

/// A file that was modified before may be known by its stamps; a later one could have changed again within one tick.
pub(super) fn trusted_before(walked_at_ns: u64) -> u64 {
    walked_at_ns.saturating_sub(u64::try_from(TIMESTAMP_TICK.as_nanos()).unwrap_or(u64::MAX))
}

/// Whether the content is the indexed one; for a file that could not be read, whether that is still so. A file that is no longer
/// of the size that was seen is not read to its end.
fn unchanged(root: Option<&Dir>, file: &SourceFile, known: &SourceEntry) -> bool {
    let read = root.and_then(|root| root.read(&file.path, file.bytes).ok());
    read.map_or(known.sha256.is_empty(), |bytes| sha256(&bytes) == known.sha256)
}
