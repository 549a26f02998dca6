//! Tells which memories describe work that the checked-out commit does not contain: commits that
//! were discarded or are on another branch, texts that name code of such a commit, and edits that
//! were undone.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::events::short;
use super::{EpisodeSource, Memory, MemorySource, MemoryStore, Operation, Select, StorageError};
use crate::dir::Dir;
use crate::source::{CommitPlace, carried_over, commit_places, sha256};

/// Larger files are not compared with an edit.
const MAX_BYTES: u64 = 8 << 20;
/// Most operations of git that may explain why a commit is gone.
const MAX_OPERATIONS: usize = 200;

/// What the checked-out commit contains, for a set of memories.
#[derive(Default)]
pub(super) struct Standing {
    places: HashMap<String, CommitPlace>,
    /// Commits that HEAD contains under another id, because git rewrote them.
    rewritten: HashSet<String>,
    /// Resets and rebases, oldest first.
    operations: Vec<Discarding>,
}

/// An operation of git that may discard commits.
struct Discarding {
    name: &'static str,
    at: DateTime<Utc>,
    /// The short id of the commit that was checked out before.
    from: String,
}

impl Standing {
    /// Looks at the commits of these memories.
    pub(super) fn of<'a>(
        memories: impl Iterator<Item = &'a Memory>,
        store: &MemoryStore,
        root: &Path,
    ) -> Result<Self, StorageError> {
        let ids: HashSet<&str> = memories.flat_map(commits_of).collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        let mut places = commit_places(root, &ids.into_iter().collect::<Vec<_>>());
        let is_elsewhere = |place: &CommitPlace| *place != CommitPlace::Head;
        let elsewhere: Vec<&str> =
            places.iter().filter(|(_, at)| is_elsewhere(at)).map(|(id, _)| &**id).collect();
        let rewritten =
            if elsewhere.is_empty() { HashSet::new() } else { carried_over(root, &elsewhere) };
        places.retain(|id, _| !rewritten.contains(id));
        let mut operations = Vec::new();
        if places.values().any(|place| *place == CommitPlace::Nowhere) {
            let select = Select {
                sources: vec![EpisodeSource::GitMetadata.as_str().into()],
                limit: MAX_OPERATIONS,
                ..Select::default()
            };
            for memory in store.select(&select)?.into_iter().rev() {
                let is_it = |name: &&str| memory.name.starts_with(&format!("git {name}"));
                let name = ["reset", "rebase"].into_iter().find(is_it);
                let from = memory.content.lines().find_map(|line| line.split_once(" → "));
                let from = from.map_or(String::new(), |(from, _)| from.to_string());
                operations.extend(name.map(|name| Discarding {
                    name,
                    at: memory.created_at,
                    from,
                }));
            }
        }
        Ok(Self { places, rewritten, operations })
    }

    /// Whether a memory is that of a commit which git replaced by another one. The operation that
    /// did so tells of it.
    pub(super) fn is_rewritten(&self, memory: &Memory) -> bool {
        commit_of(memory).is_some_and(|id| self.rewritten.contains(id))
    }

    /// Returns the note for a memory that the checked-out commit does not contain, such as `not in
    /// HEAD: commit e636973 was discarded by reset`.
    pub(super) fn note(&self, memory: &Memory) -> Option<String> {
        let lost = |id: &&str| {
            matches!(self.places.get(*id), Some(CommitPlace::Elsewhere | CommitPlace::Nowhere))
        };
        let id = commits_of(memory).find(lost)?;
        let short = short(id);
        Some(match self.places[id] {
            CommitPlace::Elsewhere => format!("not in HEAD: commit {short} is on another branch"),
            _ => {
                // The operation that began at the commit, or the first one after the memory.
                let from = || self.operations.iter().rfind(|o| o.from == short);
                let later = || self.operations.iter().find(|o| o.at >= memory.created_at);
                let by = from().or_else(later).map_or(String::new(), |o| format!(" by {}", o.name));
                format!("not in HEAD: commit {short} was discarded{by}")
            }
        })
    }
}

/// Returns the commits without which a memory is not true of the checked-out files.
fn commits_of(memory: &Memory) -> impl Iterator<Item = &str> {
    commit_of(memory)
        .into_iter()
        .chain(memory.code.iter().filter_map(|code| code.commit.as_deref()))
}

/// Returns the commit that a memory tells of.
fn commit_of(memory: &Memory) -> Option<&str> {
    match &memory.source {
        MemorySource::Episode(e) if e.source == EpisodeSource::GitMetadata => {
            e.git_batch_id.as_deref().filter(|_| memory.name.starts_with("commit "))
        }
        _ => None,
    }
}

/// Returns the ids of edits of files, newest first, that left no trace: the file is as it was before
/// them, or it is gone.
pub(super) fn undone<'a>(edits: impl Iterator<Item = &'a Memory>, root: &Path) -> HashSet<Uuid> {
    let Ok(dir) = Dir::open(root) else { return HashSet::new() };
    let mut by_path: HashMap<&str, Vec<&Memory>> = HashMap::new();
    for edit in edits {
        if let Some(path) = edit.source.file_path() {
            by_path.entry(path).or_default().push(edit);
        }
    }
    let mut undone = HashSet::new();
    for (path, edits) in by_path {
        let exists = matches!(dir.stat(path), Ok(Some(_)));
        let now = dir.read(path, MAX_BYTES).map(|bytes| sha256(&bytes)).ok();
        let is_back = |edit: &&Memory| match edit.code.first() {
            Some(before) if before.hash.is_empty() => !exists,
            Some(before) => now.as_ref() == Some(&before.hash),
            None => false,
        };
        // What was there before an edit that an agent reported is not known.
        let is_last_gone = edits
            .first()
            .filter(|last| !last.code.is_empty())
            .is_some_and(|last| (last.source.operation() == Some(Operation::Delete)) == exists);
        let n = if is_last_gone {
            edits.len()
        } else {
            edits.iter().rposition(is_back).map_or(0, |oldest| oldest + 1)
        };
        undone.extend(edits[..n].iter().map(|edit| edit.id));
    }
    undone
}
