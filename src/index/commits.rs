//! The index of commits: a chunk for each commit, which questions about the past find. It is made when
//! somebody asks, apart from the index of the files, and then only new commits are read.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use chrono::DateTime;
use rayon::prelude::*;

use super::history::{cut, is_routine, without_trailers};
use super::indexer::IndexError;
use crate::chunk::{Chunk, ChunkType, Metadata};
use crate::secrets::redact;
use crate::source::{self, Commit};
use crate::store::{
    self, ChunkLines, ChunkWriter, CommitFacts, CommitTable, CommitsStamp, Header, Layout,
    Manifest, Packing, PatchFrame, Patches, WriteLock,
};

/// Number of newest commits that are indexed. Merges do not count.
pub const MAX_INDEXED: usize = 50_000;
/// Number of newest commits of which the changed lines are indexed, and how long git is asked.
pub const MAX_PATCHES: usize = 5_000;
const MAX_READING: Duration = Duration::from_mins(1);
/// The number is that of the form of the texts.
const PATCH_RULES: &str = "patches 1";
/// The number is that of the form of the chunks.
const RULES: &str = "commits 1";
/// Most characters of a subject, and of the rest of a message, that are kept.
const MAX_SUBJECT: usize = 200;
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
/// how far they are indexed. `wait`: for another process that does the same.
///
/// # Errors
/// When no commit is checked out, git does not answer, or the index cannot be written.
pub fn index_commits(
    project: &Layout,
    embedder: (&str, usize),
    wait: Duration,
) -> Result<CommitsStamp, IndexError> {
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
    let is_current =
        |stamp: &CommitsStamp| stamp.head == head && stamp.rules == rules && layout.is_indexed();
    if let Some(stamp) = CommitsStamp::read(&layout).filter(is_current) {
        return Ok(stamp);
    }
    project.create()?;
    let lock = WriteLock::acquire(&layout, wait)?;
    layout.create()?;
    store::recover(&layout, &lock)?;
    // Another process may have been faster.
    let stamp = CommitsStamp::read(&layout).filter(|stamp| stamp.rules == rules);
    if let Some(stamp) = stamp.clone().filter(is_current) {
        return Ok(stamp);
    }
    let manifest = Manifest::read(&layout).ok().flatten();
    let before = stamp.zip(CommitTable::read(&layout)).zip(manifest.as_ref());
    let before = before.filter(|((stamp, _), manifest)| {
        manifest.is_intact(&layout) && source::is_ancestor(root, &stamp.head, &head)
    });
    let after = before.as_ref().map(|((stamp, _), _)| &*stamp.head);
    let log = source::commits_between(root, after, &head, MAX_INDEXED)?;
    let lines: Vec<String> =
        log.commits.par_iter().with_min_len(64).map(|commit| chunk(commit).to_json()).collect();
    let header = Header::ours(embedder.0, embedder.1);
    let mut new = ChunkWriter::create(&layout, &lock, &header, Packing::Zstd)?;
    for line in &lines {
        new.put(TYPE, line)?;
    }
    let mut table = Tabulating::default();
    log.commits.iter().for_each(|commit| table.add(commit));
    let mut cut = log.cut.clone();
    if is_shallow {
        cut = cut.or(Some("the clone is shallow, and git is not asked to fetch more".into()));
    }
    if let Some(((stamp, old), manifest)) = before {
        let room = MAX_INDEXED.saturating_sub(lines.len());
        new.copy(TYPE, &mut ChunkLines::open(&layout, manifest, TYPE)?, room)?;
        table.add_all(&old, room);
        cut = cut.or(stamp.cut);
    }
    new.publish(manifest.as_ref(), lines.len())?;
    let stamp = CommitsStamp { head, rules, n: table.table.commits.len(), cut };
    stamp.write(&layout, &table.table)?;
    Ok(stamp)
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
    let cut = source::patches(project.root(), &missing, MAX_READING, &mut |patch| {
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

/// Returns the chunk of a commit.
fn chunk(commit: &Commit) -> Chunk {
    let subject = cut(&redact(&commit.subject).text, MAX_SUBJECT);
    let body = cut(&redact(&without_trailers(&commit.body)).text, MAX_BODY);
    let at = DateTime::from_timestamp(commit.at, 0).unwrap_or_default();
    let mut extra = serde_json::Map::new();
    extra.insert("author".into(), author(commit).into());
    extra.insert(N_FILES.into(), commit.files.len().into());
    Chunk {
        id: format!("commit:{}", commit.id).into(),
        text: if body.is_empty() { subject.clone() } else { format!("{subject}\n\n{body}") },
        tags: if is_routine(&subject) { vec![ROUTINE.into()] } else { Vec::new() },
        title: subject,
        chunk_type: TYPE,
        embedding: None,
        metadata: Metadata {
            // The ranking is by files, so each commit is one.
            file_path: Some(commit.id.clone()),
            files: commit.files.iter().take(MAX_FILES).cloned().collect(),
            extra,
            ..Metadata::default()
        },
        created_at: at,
        updated_at: at,
    }
}

fn author(commit: &Commit) -> String {
    cut(&redact(&commit.author).text, MAX_AUTHOR)
}

/// Collects the properties of commits.
#[derive(Default)]
struct Tabulating {
    table: CommitTable,
    paths: HashMap<String, u32>,
    authors: HashMap<String, u32>,
}

impl Tabulating {
    fn add(&mut self, commit: &Commit) {
        let files: Vec<&str> = commit.files.iter().map(String::as_str).collect();
        self.put(&commit.id, commit.at, &author(commit), &files);
    }

    /// Adds the first `n` commits of another table.
    fn add_all(&mut self, old: &CommitTable, n: usize) {
        for commit in old.commits.iter().take(n) {
            let files: Vec<&str> =
                commit.files.iter().map(|at| &*old.paths[*at as usize]).collect();
            self.put(&commit.id, commit.at, &old.authors[commit.author as usize], &files);
        }
    }

    fn put(&mut self, id: &str, at: i64, author: &str, files: &[&str]) {
        let author = number(&mut self.authors, &mut self.table.authors, author);
        let files =
            files.iter().map(|path| number(&mut self.paths, &mut self.table.paths, path)).collect();
        self.table.commits.push(CommitFacts { id: id.into(), at, author, files });
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
