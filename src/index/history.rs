//! The chunks of type history: what people said when they changed files.
//!
//! A run reads only the commits since the last one, or the whole log if the branch does not contain
//! the last known commit. A commit that changed many files says little about any of them, and a
//! version bump says nothing: they are left out.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::chunk::{Cancel, Chunk, ChunkType, Metadata};
use crate::secrets::redact;
use crate::source::{self, Commit, CommitLog};
use crate::store::{ChunkLines, ChunkWriter, HistoryStamp};

/// Number of newest commits that are read and kept. Older ones added nothing measurable to the
/// ranking (specs/retrieval.md).
pub const MAX_COMMITS: usize = 5_000;
/// A commit that changed more files is left out.
const MAX_FILES: usize = 30;
/// Most characters of a subject, and of the rest of a message, that are kept.
const MAX_SUBJECT: usize = 200;
const MAX_BODY: usize = 300;

/// How long a run that is otherwise done waits for git before it publishes the index without the
/// new commits.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest time that a process reads commits, in seconds. After that, another one may.
const MAX_READING: i64 = 60;

/// What a run does with the history.
pub(super) enum HistoryUpdate {
    /// Copy the old lines.
    Keep(Option<HistoryStamp>),
    /// Read commits.
    Read(Reading),
    /// Write the commits for which an earlier pass did not wait.
    Write(Reading, io::Result<FromGit>),
    /// There is none: no repository, no commit, or the setting is off.
    Remove,
}

/// Commits that a thread reads.
pub(super) struct Reading {
    stamp: HistoryStamp,
    /// Whether the old chunks stay.
    adds: bool,
    commits: Receiver<io::Result<FromGit>>,
}

/// What git says.
pub(super) struct FromGit {
    log: CommitLog,
    /// If old chunks stay: the commits that a first run would read. The others go, because the
    /// ranking must not depend on how often the history was read.
    window: Option<HashSet<String>>,
}

impl FromGit {
    fn read(root: &Path, after: Option<&str>, head: &str) -> io::Result<Self> {
        let log = source::commits_between(root, after, head, MAX_COMMITS)?;
        // Without an answer, the newest stay.
        let window = after.and_then(|_| source::newest_commits(root, head, MAX_COMMITS).ok());
        Ok(Self { log, window })
    }

    /// Whether the chunk of an older commit stays.
    fn keeps(&self, chunk: &Chunk) -> bool {
        let id = chunk.id.strip_prefix("commit:").unwrap_or(&chunk.id);
        self.window.as_ref().is_none_or(|window| window.contains(id))
    }
}

/// Whether the history of the index is not that of the commit `head`.
pub(super) fn is_stale(head: Option<&str>, known: Option<&HistoryStamp>) -> bool {
    known.map(|known| known.head.as_str()) != head
        || known.and_then(|known| known.read_until).is_some_and(|until| until < now())
}

fn now() -> i64 {
    Utc::now().timestamp()
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
        let stamp = HistoryStamp { head: head.clone(), ..HistoryStamp::default() };
        let adds = before.is_some();
        let (send, commits) = channel();
        let read = move || {
            let _ = send.send(FromGit::read(&root, before.as_deref(), &head));
        };
        thread::Builder::new().name("history".into()).spawn(read)?;
        Ok(Self::Read(Reading { stamp, adds, commits }))
    }

    /// Whether the index still waits for these commits, and no other process has written them.
    pub(super) fn is_awaited(&self, known: Option<&HistoryStamp>) -> bool {
        matches!(self, Self::Write(reading, _) if known == Some(&reading.stamp))
    }

    /// Writes the chunks. Returns what they describe, and the commits that git has not told yet:
    /// the index must not wait for evidence, so the old lines stay until [`Reading::finish`].
    pub(super) fn write(
        self,
        old: &mut ChunkLines,
        new: &mut ChunkWriter,
    ) -> io::Result<(Option<HistoryStamp>, Option<Reading>)> {
        match self {
            Self::Remove => Ok((None, None)),
            Self::Keep(stamp) => {
                new.copy(ChunkType::History, old, usize::MAX)?;
                Ok((stamp, None))
            }
            Self::Read(mut reading) => match reading.commits.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) => {
                    new.copy(ChunkType::History, old, usize::MAX)?;
                    reading.stamp.read_until = Some(now() + MAX_READING);
                    reading.stamp.missing = Some("git is still being asked".into());
                    Ok((Some(reading.stamp.clone()), Some(reading)))
                }
                Err(RecvTimeoutError::Disconnected) => {
                    reading.write(Err(io::Error::other("a panic")), old, new)
                }
                Ok(commits) => reading.write(commits, old, new),
            },
            Self::Write(reading, commits) => reading.write(commits, old, new),
        }
    }
}

impl Reading {
    /// Waits for the commits. Returns `None` when cancelled.
    pub(super) fn finish(self, cancel: &Cancel) -> Option<HistoryUpdate> {
        let commits = loop {
            match self.commits.recv_timeout(Duration::from_millis(100)) {
                Ok(commits) => break commits,
                Err(RecvTimeoutError::Disconnected) => break Err(io::Error::other("a panic")),
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        Some(HistoryUpdate::Write(self, commits))
    }

    fn write(
        self,
        commits: io::Result<FromGit>,
        old: &mut ChunkLines,
        new: &mut ChunkWriter,
    ) -> io::Result<(Option<HistoryStamp>, Option<Self>)> {
        let (read, is_complete) = match commits {
            Ok(read) => (read, true),
            // The ranking does without; the next commit is the next attempt.
            Err(e) => {
                let log = CommitLog { cut: Some(e.to_string()), ..CommitLog::default() };
                (FromGit { log, window: None }, false)
            }
        };
        let log = &read.log;
        let missing = log.cut.clone().map(|why| match log.commits.len() {
            0 => why,
            n => format!("only the newest {n} were read: {why}"),
        });
        if let Some(why) = &missing {
            tracing::debug!("messages of commits: {why}");
        }
        let mut chunks: Vec<Chunk> = log.commits.iter().filter_map(commit_chunk).collect();
        while let Some(line) = old.next_line()?.filter(|_| self.adds) {
            let chunk = Chunk::from_json(line, ChunkType::History).ok();
            chunks.extend(chunk.filter(|chunk| read.keeps(chunk)));
        }
        // A merge brings commits that are older than those before it. By time, the order is the
        // same however often the history was read.
        chunks.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        for chunk in chunks.iter().take(MAX_COMMITS) {
            new.put(ChunkType::History, &chunk.to_json())?;
        }
        let stamp = HistoryStamp { is_complete, missing, read_until: None, ..self.stamp };
        Ok((Some(stamp), None))
    }
}

/// Returns the chunk of a commit; `None` if it says nothing about its files.
#[must_use]
pub fn commit_chunk(commit: &Commit) -> Option<Chunk> {
    if commit.files.is_empty() || commit.files.len() > MAX_FILES || is_routine(&commit.subject) {
        return None;
    }
    let body = without_links(&without_trailers(&commit.body));
    let metadata = Metadata { files: commit.files.clone(), ..Metadata::default() };
    Some(chunk_of(commit, &body, MAX_BODY, ChunkType::History, metadata))
}

/// Returns a chunk with the subject and at most `max_body` characters of `body`, without secrets.
pub(super) fn chunk_of(
    commit: &Commit,
    body: &str,
    max_body: usize,
    chunk_type: ChunkType,
    metadata: Metadata,
) -> Chunk {
    let subject = cut(&redact(&commit.subject).text, MAX_SUBJECT);
    let body = cut(&redact(body).text, max_body);
    let at = DateTime::from_timestamp(commit.at, 0).unwrap_or_default();
    let text = if body.is_empty() { subject.clone() } else { format!("{subject}\n\n{body}") };
    Chunk {
        title: subject,
        metadata,
        created_at: at,
        updated_at: at,
        ..Chunk::new(format!("commit:{}", commit.id), chunk_type, text)
    }
}

/// Whether a subject is one that tools and releases write.
pub(super) fn is_routine(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let version = lower.trim_start_matches('v');
    ["bump", "release", "merge", "revert", "update changelog"].iter().any(|w| lower.starts_with(w))
        || version.split_once('.').is_some_and(|(major, _)| {
            !major.is_empty() && major.bytes().all(|b| b.is_ascii_digit())
        })
}

/// Returns the paragraphs of a message without lines such as `Signed-off-by: …`.
pub(super) fn without_trailers(body: &str) -> String {
    let is_trailer = |line: &&str| {
        let key = line.split_once(':').map_or("", |(key, _)| key);
        key.contains('-') && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            || ["Cc", "Closes", "Fixes", "Bug", "Ref"].contains(&key)
    };
    let kept: Vec<&str> = body.lines().filter(|line| !is_trailer(line)).collect();
    kept.join("\n").trim().to_string()
}

/// Returns a text without its lines of addresses.
fn without_links(text: &str) -> String {
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("://")).collect();
    kept.join("\n").trim().to_string()
}

/// Returns the first `n` characters, without control characters except line breaks.
pub(super) fn cut(text: &str, n: usize) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').take(n).collect();
    text.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::FORMS_APART_FROM_NAME;
    use crate::store::{Header, Layout, Packing, WriteLock};

    fn commit(subject: &str, body: &str, n_files: usize) -> Commit {
        Commit {
            id: "4f2a1c".into(),
            at: 1_700_000_000,
            subject: subject.into(),
            body: body.into(),
            author: "A".into(),
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
    fn the_index_does_not_wait_for_messages_of_commits() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path()).unwrap();
        layout.create().unwrap();
        let lock = WriteLock::acquire(&layout, Duration::ZERO).unwrap();
        let write = |update: HistoryUpdate| {
            let mut new =
                ChunkWriter::create(&layout, &lock, &Header::ours("e", 1), Packing::Plain).unwrap();
            update.write(&mut ChunkLines::default(), &mut new).unwrap()
        };
        let (answer, commits) = channel();
        let stamp = HistoryStamp { head: "4f2a1c".into(), ..HistoryStamp::default() };
        let (known, reading) = write(HistoryUpdate::Read(Reading { stamp, adds: false, commits }));
        assert!(!is_stale(Some("4f2a1c"), known.as_ref()), "other processes do not ask again");
        let reading = reading.expect("the run goes on while git is silent");
        let log = CommitLog { commits: vec![commit("a", "", 1)], cut: None };
        answer.send(Ok(FromGit { log, window: None })).unwrap();
        let late = reading.finish(&Cancel::new(false)).unwrap();
        assert!(late.is_awaited(known.as_ref()) && !late.is_awaited(None));
        let (told, left) = write(late);
        let told = told.unwrap();
        assert!(left.is_none() && told.is_complete && told.missing.is_none());
        let dead = HistoryStamp { read_until: Some(now() - 1), ..known.unwrap() };
        assert!(is_stale(Some("4f2a1c"), Some(&dead)), "the process that asked was killed");
    }

    #[test]
    fn a_secret_that_stands_apart_from_its_name_is_taken_out_of_a_message() {
        let secret = "Wd4kT7qZ2xLm9Rb3Np6V";
        for form in FORMS_APART_FROM_NAME {
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
