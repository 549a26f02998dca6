//! The index of commits: a chunk for each commit, which questions about the past find. It is made when
//! somebody asks, apart from the index of the files, and then only new commits are read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use rayon::prelude::*;

use super::history::{chunk_of, cut, is_routine, without_trailers};
use super::indexer::IndexError;
use super::reverts::{key, undone, without_undone};
use crate::chunk::{Chunk, ChunkType, Metadata};
use crate::secrets::redact;
use crate::source::{self, Commit, PatchReach};
use crate::store::{
    self, ChunkLines, ChunkWriter, CommitFacts, CommitTable, CommitsStamp, Header, Layout,
    Manifest, Packing, PatchFrame, Patches, WriteLock,
};

/// Number of newest commits that are indexed. Merges do not count.
pub const MAX_INDEXED: usize = 50_000;
/// Number of newest commits of which the changed lines are indexed, and how long git is asked.
pub const MAX_PATCHES: usize = 5_000;
const MAX_READING: Duration = Duration::from_mins(1);
/// Most bytes of the lines of one commit that are kept. A text says if there were more.
const MAX_PATCH: usize = 128 << 10;
/// The number is that of the form of the texts.
const PATCH_RULES: &str = "patches 2";
/// The number is that of the form of the chunks.
const RULES: &str = "commits 2";
/// Most characters of a message without its subject that are kept.
const MAX_BODY: usize = 4_000;
/// Most characters of an author's name.
const MAX_AUTHOR: usize = 100;
/// Most paths of a commit that are kept.
const MAX_FILES: usize = 200;
/// The type of the chunks. As documents they are results.
const TYPE: ChunkType = ChunkType::Documentation;
/// A tag of commits that tools and releases write.
pub const ROUTINE: &str = "routine";
/// The key of the number of changed files, which may be larger than the list.
pub const N_FILES: &str = "n_files";

/// Brings the index of the commits of a project up to date with the checked-out commit. Returns
/// how far they are indexed, and their properties. `wait`: for another process that does the same.
///
/// # Errors
/// When no commit is checked out, git does not answer, or the index cannot be written.
pub fn index_commits(
    project: &Layout,
    embedder: (&str, usize),
    wait: Duration,
) -> Result<(CommitsStamp, CommitTable), IndexError> {
    let root = project.root();
    let head = source::head(root).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "no commit is checked out here, so there is no history",
        )
    })?;
    let layout = project.of_commits();
    // When more of the history comes, all of it is read again.
    let is_shallow = source::is_shallow(root);
    let rules = if is_shallow { format!("{RULES}, shallow") } else { RULES.to_string() };
    // What an earlier run left, if its parts belong together.
    let there = || {
        let stamp = CommitsStamp::read(&layout).filter(|stamp| stamp.rules == rules)?;
        let manifest = Manifest::read(&layout).ok()??;
        let table = CommitTable::read(&layout, &stamp)?;
        (manifest.generation == stamp.generation).then_some((stamp, table, manifest))
    };
    let is_current = |stamp: &CommitsStamp| stamp.head == head;
    if let Some((stamp, table, _)) = there().filter(|(stamp, ..)| is_current(stamp)) {
        return Ok((stamp, table));
    }
    project.create()?;
    let lock = WriteLock::acquire(&layout, wait)?;
    layout.create()?;
    store::recover(&layout, &lock)?;
    // Another process may have been faster.
    let before = there();
    if let Some((stamp, table, _)) = before.as_ref().filter(|(stamp, ..)| is_current(stamp)) {
        return Ok((stamp.clone(), table.clone()));
    }
    let before = before.filter(|(stamp, _, manifest)| {
        manifest.is_intact(&layout) && source::is_ancestor(root, &stamp.head, &head)
    });
    let after = before.as_ref().map(|(stamp, ..)| &*stamp.head);
    let log = source::commits_between(root, after, &head, MAX_INDEXED)?;
    let write = |commit: &Commit| {
        let (chunk, author) = chunk(commit);
        (chunk.to_json(), author)
    };
    let written: Vec<(String, String)> =
        log.commits.par_iter().with_min_len(64).map(write).collect();
    let header = Header::ours(embedder.0, embedder.1);
    let mut new = ChunkWriter::create(&layout, &lock, &header, Packing::Zstd)?;
    for (line, _) in &written {
        new.put(TYPE, line)?;
    }
    let mut table = Tabulating::default();
    for (commit, (_, author)) in log.commits.iter().zip(&written) {
        let files: Vec<&str> = commit.files.iter().map(String::as_str).collect();
        let facts = CommitFacts {
            id: commit.id.clone(),
            at: commit.at,
            subject: key(&commit.subject),
            undoes: undone(commit),
            author: 0,
            files: Vec::new(),
        };
        table.add(facts, author, &files);
    }
    let mut cut = log.cut.clone();
    if is_shallow {
        cut = cut.or(Some("the clone is shallow, and git is not asked to fetch more".into()));
    }
    if let Some((stamp, old, manifest)) = before {
        let room = MAX_INDEXED.saturating_sub(written.len());
        new.copy(TYPE, &mut ChunkLines::open(&layout, &manifest, TYPE)?, room)?;
        table.add_all(&old, room);
        cut = cut.or(stamp.cut);
    }
    let current = Manifest::read(&layout).ok().flatten();
    let Manifest { generation, .. } = new.publish(current.as_ref(), written.len())?;
    let stamp = CommitsStamp { head, rules, n: table.table.commits.len(), generation, cut };
    stamp.write(&layout, &table.table)?;
    Ok((stamp, table.table))
}

/// Brings the index of the lines that the newest commits changed up to date with the table of
/// commits. `wait`: for another process that does the same. Ends when `is_wanted` returns false.
///
/// # Errors
/// When git does not answer, the index cannot be written, or it is not wanted any more.
pub fn index_patches(
    project: &Layout,
    table: &CommitTable,
    wait: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Patches, IndexError> {
    let layout = project.of_commits();
    let wanted: Vec<&str> =
        table.commits.iter().take(MAX_PATCHES).map(|commit| &*commit.id).collect();
    let read = || Patches::read(&layout).filter(|patches| patches.rules == PATCH_RULES);
    // After a reading that ended early, only what is newer is missing.
    let missing = |old: &Patches| -> Vec<&str> {
        let known: HashSet<&str> =
            old.frames.iter().flat_map(|f| &f.commits).map(|(id, _)| &**id).collect();
        let oldest = wanted.iter().rposition(|id| known.contains(id));
        let end = oldest.filter(|_| old.cut.is_some()).unwrap_or(wanted.len());
        wanted[..end].iter().copied().filter(|id| !known.contains(id)).collect()
    };
    if let Some(old) = read().filter(|old| missing(old).is_empty()) {
        return Ok(old);
    }
    let _lock = WriteLock::acquire(&layout, wait)?;
    let mut old = read().unwrap_or_default();
    let missing = missing(&old);
    let (mut frames, mut commits, mut n_bytes) = (Vec::new(), Vec::new(), 0);
    let mut failed = None;
    let reach = PatchReach { longest: MAX_READING, max_bytes: MAX_PATCH, having: None };
    let cut = source::patches(project.root(), &missing, reach, &mut |patch| {
        n_bytes += patch.text.len();
        commits.push((patch.id, patch.text));
        if PatchFrame::is_full(n_bytes) {
            match PatchFrame::new(&std::mem::take(&mut commits)) {
                Ok(frame) => frames.push(frame),
                Err(e) => failed = Some(e),
            }
            n_bytes = 0;
        }
        failed.is_none() && is_wanted()
    })?;
    if !is_wanted() {
        return Err(IndexError::Cancelled);
    }
    if let Some(e) = failed {
        return Err(e.into());
    }
    frames.push(PatchFrame::new(&commits)?);
    let wanted: HashSet<&str> = wanted.into_iter().collect();
    old.frames.retain(|f| f.commits.iter().any(|(id, _)| wanted.contains(&**id)));
    frames.append(&mut old.frames);
    let patches = Patches { rules: PATCH_RULES.into(), cut: cut.or(old.cut), frames };
    patches.write(&layout)?;
    Ok(patches)
}

/// Returns the chunk of a commit, and the author's name without secrets.
fn chunk(commit: &Commit) -> (Chunk, String) {
    let author = cut(&redact(&commit.author).text, MAX_AUTHOR);
    let mut extra = serde_json::Map::new();
    extra.insert("author".into(), author.as_str().into());
    extra.insert(N_FILES.into(), commit.files.len().into());
    let metadata = Metadata {
        // The ranking is by files, so each commit is one.
        file_path: Some(commit.id.clone()),
        files: commit.files.iter().take(MAX_FILES).cloned().collect(),
        extra,
        ..Metadata::default()
    };
    let body = without_trailers(&commit.body);
    let mut chunk = chunk_of(commit, &body, MAX_BODY, TYPE, metadata);
    // A commit that undoes another one is routine unless it says why.
    let says = without_undone(&body);
    let says_why = !undone(commit).is_empty() && says.contains(char::is_alphanumeric);
    if is_routine(&chunk.title) && !says_why {
        chunk.tags.push(ROUTINE.into());
    }
    (chunk, author)
}

/// Collects the properties of commits.
#[derive(Default)]
struct Tabulating {
    table: CommitTable,
    paths: HashMap<String, u32>,
    authors: HashMap<String, u32>,
}

impl Tabulating {
    /// Adds the first `n` commits of another table.
    fn add_all(&mut self, old: &CommitTable, n: usize) {
        for commit in old.commits.iter().take(n) {
            let files: Vec<&str> =
                commit.files.iter().map(|at| &*old.paths[*at as usize]).collect();
            let author = &old.authors[commit.author as usize];
            self.add(commit.clone(), author, &files);
        }
    }

    /// Adds a commit whose author and files are not yet those of this table.
    fn add(&mut self, commit: CommitFacts, author: &str, files: &[&str]) {
        let author = number(&mut self.authors, &mut self.table.authors, author);
        let files =
            files.iter().map(|path| number(&mut self.paths, &mut self.table.paths, path)).collect();
        self.table.commits.push(CommitFacts { author, files, ..commit });
    }
}

/// Returns the position of a text in a list, and adds it there if it is new.
fn number(known: &mut HashMap<String, u32>, list: &mut Vec<String>, text: &str) -> u32 {
    if let Some(at) = known.get(text) {
        return *at;
    }
    let at = u32::try_from(list.len()).unwrap_or(u32::MAX);
    known.insert(text.to_string(), at);
    list.push(text.to_string());
    at
}
