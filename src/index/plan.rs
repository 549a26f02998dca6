//! Plans an index run: compares the current tree with the table of the last run.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use super::built::built;
use crate::chunk::Origin;
use crate::dir::Dir;
use crate::source::{DeclaredOrigin, Scope, SourceFile, WalkOptions, sha256};
use crate::store::{SourceEntry, SourceTable, trusted_before};

/// What the run does with a file of the old or the new tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Copy its chunks. The entry may have new stamps.
    Keep(SourceEntry),
    /// Read and parse it.
    Parse(SourceFile),
    /// The file is gone; keep its chunks, with a mark.
    Retire(SourceEntry),
    /// The file is gone or no longer taken; drop its chunks.
    Drop,
}

/// The action for every file, by path.
#[derive(Debug, Default)]
pub(super) struct IndexPlan {
    pub(super) actions: BTreeMap<String, Action>,
}

impl IndexPlan {
    /// Compares files by size, time stamps and declared origin, and by content where the stamps cannot be trusted.
    /// Files out of scope are kept. `keeping` has the settings of the walk if the chunks of
    /// deleted files are to stay.
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
        let built = scripts_built(&files, table, scope);
        let decide = |mut file: SourceFile| {
            let path = file.path.clone();
            file.origin.built = built.contains(&path);
            let action = match table.files.get(&path) {
                Some(known)
                    if !full
                        && !known.deleted
                        && !known.is_to_retry()
                        && (known.bytes, known.origin) == (file.bytes, file.origin) =>
                {
                    let stamp_tells = (known.modified_ns, known.changed_ns)
                        == (file.modified_ns, file.changed_ns)
                        && file.modified_ns < trusted_before
                        && !known.sha256.is_empty();
                    if stamp_tells || unchanged(root.as_ref(), &file, known) {
                        Action::Keep(SourceEntry {
                            modified_ns: file.modified_ns,
                            changed_ns: file.changed_ns,
                            ..known.clone()
                        })
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
        for (path, known) in
            table.files.iter().filter(|(path, _)| !actions.contains_key(*path)).collect::<Vec<_>>()
        {
            if scope.contains(path) {
                gone.push((path, known));
            } else if !known.deleted && known.origin.built != built.contains(path) {
                // A file in scope decides what this one is.
                let origin = DeclaredOrigin { built: !known.origin.built, ..known.origin };
                actions.insert(path.clone(), Action::Parse(file_of(path, known, origin)));
            } else {
                actions.insert(path.clone(), Action::Keep(known.clone()));
            }
        }
        let there = There::new(&actions, !gone.is_empty() && keeping.is_some());
        let retired = |(path, known): &(&String, &SourceEntry)| {
            let (options, root) = (keeping.filter(|_| !full)?, root.as_ref()?);
            // A file that exists but is not taken was not deleted: a rule excludes it now.
            let is_deleted =
                matches!(root.stat(path), Ok(None)) && options.would_take(root.path(), path);
            let has_chunks = known.n_chunks.iter().any(|n| *n > 0) && !known.sha256.is_empty();
            let is_kept = is_deleted && has_chunks && !there.holds(root, known);
            let entry = SourceEntry { deleted: true, ..(*known).clone() };
            is_kept.then_some(if known.deleted {
                Action::Keep(entry)
            } else {
                Action::Retire(entry)
            })
        };
        let gone: Vec<_> = gone
            .par_iter()
            .map(|one| (one.0.clone(), retired(one).unwrap_or(Action::Drop)))
            .collect();
        actions.extend(gone);
        Self { actions }
    }

    /// Returns the entries of all files that are kept.
    pub(super) fn into_kept(self) -> BTreeMap<String, SourceEntry> {
        self.actions
            .into_iter()
            .filter_map(
                |(path, action)| {
                    if let Action::Keep(entry) = action { Some((path, entry)) } else { None }
                },
            )
            .collect()
    }

    /// Returns the number of files that are read and parsed.
    pub(super) fn n_parsed(&self) -> usize {
        self.actions.values().filter(|a| matches!(a, Action::Parse(_))).count()
    }

    /// Whether nothing changes, except perhaps time stamps.
    pub(super) fn is_empty(&self) -> bool {
        self.actions.values().all(|a| matches!(a, Action::Keep(_)))
    }
}

/// Returns the scripts that were built from other files of the tree: `files`, and those of the table
/// out of scope.
fn scripts_built(files: &[SourceFile], table: &SourceTable, scope: &Scope) -> HashSet<String> {
    let others = table.files.iter().filter(|(path, known)| !known.deleted && !scope.contains(path));
    let paths = files.iter().map(|file| &*file.path).chain(others.map(|(path, _)| &**path));
    let own: Vec<&str> = paths.filter(|path| Origin::of_path(path) == Origin::Ordinary).collect();
    built(&own).into_iter().map(String::from).collect()
}

/// Returns a known file with another origin.
fn file_of(path: &str, known: &SourceEntry, origin: DeclaredOrigin) -> SourceFile {
    SourceFile {
        path: path.into(),
        bytes: known.bytes,
        modified_ns: known.modified_ns,
        changed_ns: known.changed_ns,
        origin,
    }
}

/// The contents of all files in the tree, by hash.
struct There<'a> {
    known: HashSet<&'a str>,
    /// Files whose content is not known yet.
    new: Vec<&'a SourceFile>,
}

impl<'a> There<'a> {
    fn new(actions: &'a BTreeMap<String, Action>, is_needed: bool) -> Self {
        let (mut known, mut new) = (HashSet::new(), Vec::new());
        for action in actions.values().filter(|_| is_needed) {
            match action {
                Action::Keep(entry) if !entry.deleted => drop(known.insert(&*entry.sha256)),
                Action::Parse(file) => new.push(file),
                _ => {}
            }
        }
        Self { known, new }
    }

    /// Whether a file of the tree has the content of one that is gone, which was then
    /// moved rather than deleted.
    fn holds(&self, root: &Dir, gone: &SourceEntry) -> bool {
        let is_it = |file: &&SourceFile| {
            root.read(&file.path, file.bytes).is_ok_and(|bytes| sha256(&bytes) == gone.sha256)
        };
        self.known.contains(&*gone.sha256)
            || self.new.iter().filter(|file| file.bytes == gone.bytes).any(is_it)
    }
}

/// Whether the content equals the indexed one; for a file that could not be read before, whether it
/// still cannot. A file that has grown since it was listed is not read to its end.
fn unchanged(root: Option<&Dir>, file: &SourceFile, known: &SourceEntry) -> bool {
    let read = root.and_then(|root| root.read(&file.path, file.bytes).ok());
    read.map_or(known.sha256.is_empty(), |bytes| sha256(&bytes) == known.sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_parser_ran_out_of_time_is_parsed_once_more() {
        let plan = |n_timeouts| {
            let entry =
                SourceEntry { sha256: "of it".into(), n_timeouts, ..SourceEntry::default() };
            let file = file_of("a.rs", &entry, entry.origin);
            let files = BTreeMap::from([("a.rs".to_string(), entry)]);
            let table = SourceTable { files, walked_at_ns: u64::MAX, ..SourceTable::default() };
            let nowhere = Path::new("/nowhere");
            let plan = IndexPlan::new(nowhere, &table, vec![file], &Scope::All, false, None);
            plan.n_parsed()
        };
        assert_eq!([0, 1, 2, u8::MAX].map(plan), [0, 1, 0, 0]);
    }

    #[test]
    fn a_source_in_scope_decides_what_a_script_out_of_scope_is() {
        let script = || ("lib/a.js".to_string(), SourceEntry::default());
        let table = SourceTable { files: BTreeMap::from([script()]), ..SourceTable::default() };
        let source = file_of("src/a.ts", &SourceEntry::default(), DeclaredOrigin::default());
        let plan = |files: Vec<SourceFile>| {
            let scope = Scope::Paths(["src/a.ts".to_string()].into());
            let plan = IndexPlan::new(Path::new("/nowhere"), &table, files, &scope, false, None);
            plan.actions["lib/a.js"].clone()
        };
        assert_eq!(plan(Vec::new()), Action::Keep(SourceEntry::default()));
        let Action::Parse(file) = plan(vec![source]) else { panic!("it is kept") };
        assert!(file.origin.built);
    }
}
