//! The chunks of type history: what people said when they changed files.
//!
//! Git's log is read once; later runs read only the commits since then. A commit that changed many
//! files says little about any of them, and a version bump says nothing: they are left out.

use std::io;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use chrono::DateTime;

use crate::chunk::{Chunk, ChunkType, Metadata};
use crate::secrets::redact;
use crate::source::{self, Commit};
use crate::store::{ChunkLines, ChunkWriter, HistoryStamp};

/// Number of newest commits that are read. Older ones added nothing measurable to the ranking
/// (specs/ranking.md).
pub const MAX_COMMITS: usize = 5_000;
/// A commit that changed more files is left out.
const MAX_FILES: usize = 30;
/// Most characters of a subject, and of the rest of a message, that are kept.
const MAX_SUBJECT: usize = 200;
const MAX_BODY: usize = 300;
/// Number of lines that are copied at once.
const COPY_LINES: usize = 1024;

/// What a run does with the history.
pub(super) enum HistoryUpdate {
    /// Copy the old lines.
    Keep(Option<HistoryStamp>),
    /// Read commits, on a thread of its own.
    Read {
        stamp: HistoryStamp,
        /// Whether the old chunks stay.
        adds: bool,
        commits: JoinHandle<io::Result<Vec<Commit>>>,
    },
    /// There is none: no repository, no commit, or the setting is off.
    Remove,
}

/// Whether the history of the index is not that of the commit `head`.
pub(super) fn is_stale(head: Option<&str>, known: Option<&HistoryStamp>) -> bool {
    known.map(|known| known.head.as_str()) != head
}

impl HistoryUpdate {
    /// Compares the history of the index, which `known` describes, with the commit `head`, and
    /// begins to read what is missing.
    pub(super) fn begin(
        root: PathBuf,
        head: Option<String>,
        known: Option<&HistoryStamp>,
    ) -> io::Result<Self> {
        let Some(head) = head else { return Ok(Self::Remove) };
        if !is_stale(Some(&head), known) {
            return Ok(Self::Keep(known.cloned()));
        }
        let before = known
            .filter(|known| known.is_complete && source::is_ancestor(&root, &known.head, &head))
            .map(|known| known.head.clone());
        let stamp = HistoryStamp { head: head.clone(), is_complete: true };
        let adds = before.is_some();
        let read = move || source::commits_between(&root, before.as_deref(), &head, MAX_COMMITS);
        let commits = thread::Builder::new().name("history".into()).spawn(read)?;
        Ok(Self::Read { stamp, adds, commits })
    }

    /// Writes the chunks. Returns what they describe.
    pub(super) fn write(
        self,
        old: &mut ChunkLines,
        new: &mut ChunkWriter,
    ) -> io::Result<Option<HistoryStamp>> {
        let (stamp, adds, commits) = match self {
            Self::Remove => return Ok(None),
            Self::Keep(stamp) => {
                copy(old, new)?;
                return Ok(stamp);
            }
            Self::Read { stamp, adds, commits } => (stamp, adds, commits),
        };
        let commits = commits.join().unwrap_or_else(|_| Err(io::Error::other("a panic")));
        let (commits, is_complete) = match commits {
            Ok(commits) => (commits, true),
            Err(e) => {
                // The ranking does without; the next commit is the next attempt.
                tracing::debug!("the history cannot be read: {e}");
                (Vec::new(), false)
            }
        };
        let mut chunks: Vec<Chunk> = commits.iter().filter_map(commit_chunk).collect();
        while let Some(line) = old.next_line()?.filter(|_| adds) {
            chunks.extend(Chunk::from_json(line, ChunkType::History));
        }
        // A merge brings commits that are older than those before it. By time, the order is the
        // same however often the history was read.
        chunks.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        for chunk in chunks.iter().take(MAX_COMMITS) {
            new.put(ChunkType::History, &chunk.to_json())?;
        }
        Ok(Some(HistoryStamp { is_complete, ..stamp }))
    }
}

/// Copies all lines.
fn copy(old: &mut ChunkLines, new: &mut ChunkWriter) -> io::Result<()> {
    loop {
        let (lines, n_read) = old.next_lines(COPY_LINES)?;
        if n_read == 0 {
            return Ok(());
        }
        new.put_lines(ChunkType::History, lines)?;
    }
}

/// Returns the chunk of a commit; `None` if it says nothing about its files.
#[must_use]
pub fn commit_chunk(commit: &Commit) -> Option<Chunk> {
    if commit.files.is_empty() || commit.files.len() > MAX_FILES || is_routine(&commit.subject) {
        return None;
    }
    let subject = cut(&redact(&commit.subject).text, MAX_SUBJECT);
    let body = cut(&redact(&without_trailers(&commit.body)).text, MAX_BODY);
    let at = DateTime::from_timestamp(commit.at, 0).unwrap_or_default();
    Some(Chunk {
        id: format!("commit:{}", commit.id).into(),
        text: if body.is_empty() { subject.clone() } else { format!("{subject}\n\n{body}") },
        title: subject,
        chunk_type: ChunkType::History,
        embedding: None,
        tags: Vec::new(),
        metadata: Metadata { files: commit.files.clone(), ..Metadata::default() },
        created_at: at,
        updated_at: at,
    })
}

/// Whether a subject is one that tools and releases write.
fn is_routine(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let version = lower.trim_start_matches('v');
    ["bump", "release", "merge", "revert", "update changelog"].iter().any(|w| lower.starts_with(w))
        || version.split_once('.').is_some_and(|(major, _)| {
            !major.is_empty() && major.bytes().all(|b| b.is_ascii_digit())
        })
}

/// Returns the paragraphs of a message without lines such as `Signed-off-by: …`, and without lines
/// of addresses.
fn without_trailers(body: &str) -> String {
    let is_trailer = |line: &str| {
        let key = line.split_once(':').map_or("", |(key, _)| key);
        let is_key = key.contains('-')
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            || ["Cc", "Closes", "Fixes", "Bug", "Ref"].contains(&key);
        is_key || line.contains("://")
    };
    let kept: Vec<&str> = body.lines().filter(|line| !is_trailer(line)).collect();
    kept.join("\n").trim().to_string()
}

/// Returns the first `n` characters, without control characters except line breaks.
fn cut(text: &str, n: usize) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').take(n).collect();
    text.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(subject: &str, body: &str, n_files: usize) -> Commit {
        Commit {
            id: "4f2a1c".into(),
            at: 1_700_000_000,
            subject: subject.into(),
            body: body.into(),
            files: (0..n_files).map(|i| format!("src/{i}.rs")).collect(),
        }
    }

    #[test]
    fn a_commit_keeps_what_it_says_without_trailers_and_secrets() {
        let body = "The lock was held\nwhile waiting.\n\nSigned-off-by: A <a@b>\nSee https://x.y/z\n\
                    password = \"hunter2-Xy8Kq0pLmT3vWz\"";
        let chunk = commit_chunk(&commit("do not wait under the lock", body, 1)).unwrap();
        assert_eq!(chunk.title, "do not wait under the lock");
        assert!(chunk.text.contains("The lock was held\nwhile waiting."), "{}", chunk.text);
        for absent in ["Signed-off-by", "https", "hunter2"] {
            assert!(!chunk.text.contains(absent), "{absent}: {}", chunk.text);
        }
        assert_eq!(chunk.metadata.files, ["src/0.rs"]);
    }

    #[test]
    fn a_secret_that_stands_apart_from_its_name_stays_in_a_message() {
        let secret = "Wd4kT7qZ2xLm9Rb3Np6V";
        for form in [
            "- name: API_TOKEN\n  value: %",
            "ENV API_TOKEN %",
            "setPassword(\"%\")",
            "mysql -u root -p% app",
            "<password>%</password>",
        ] {
            let said = form.replace('%', secret);
            let subject = said.lines().next().unwrap_or_default();
            let chunk = commit_chunk(&commit(subject, &said, 1)).unwrap();
            assert!(!chunk.text.contains(secret), "{}", chunk.text);
        }
    }

    #[test]
    fn routine_and_mass_commits_are_left_out() {
        for subject in ["Bump serde", "Merge branch x", "v1.2.3", "1.2", "Release 3"] {
            assert!(commit_chunk(&commit(subject, "", 1)).is_none(), "{subject}");
        }
        assert!(commit_chunk(&commit("rename everything", "", MAX_FILES + 1)).is_none());
        assert!(commit_chunk(&commit("version 2 of the protocol", "", MAX_FILES)).is_some());
    }
}
