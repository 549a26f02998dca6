//! Reads the reflog of a work tree: the file in which git records where HEAD was.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::{MAX_LIST_BYTES, object_id};
use crate::dir::Dir;

/// Relative to the git directory of the work tree.
pub(super) const NAME: &str = "logs/HEAD";

/// A line of a reflog. `at` is in Unix seconds, `zone` in minutes east of UTC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReflogLine {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) message: String,
    pub(super) at: i64,
    pub(super) zone: i64,
}

/// A reflog, and the position up to which it was read.
#[derive(Debug)]
pub(super) struct Log {
    /// The git directory of this work tree.
    own: PathBuf,
    /// The byte offset of the last line that was read.
    pub(super) start: u64,
    /// The hash of that line, to see that it is still there; 0 before the first line.
    pub(super) last: u64,
    /// Unix seconds of that line, and its time zone in minutes east of UTC.
    pub(super) at: i64,
    pub(super) zone: i64,
}

impl Log {
    pub(super) fn new(own: PathBuf) -> Self {
        Self { own, start: 0, last: 0, at: 0, zone: 0 }
    }

    /// Whether the file exists.
    #[expect(clippy::disallowed_methods, reason = "asks, and opens nothing")]
    pub(super) fn exists(&self) -> bool {
        self.own.join(NAME).exists()
    }

    /// Returns the lines that were added since the last call.
    pub(super) fn read(&mut self) -> Vec<ReflogLine> {
        let text = self.text_from(self.start);
        let first = lines(&text).next();
        if self.last != 0 && first.is_none_or(|line| line_hash(line) != self.last) {
            return self.read_rewritten();
        }
        let base = self.start;
        let known = if self.last == 0 { 0 } else { first.map_or(0, |line| line.len() + 1) };
        let entries = lines(&text[known..]).filter_map(parse).collect();
        self.went_to_end(base, &text);
        entries
    }

    /// Moves back to the first line that was written at `since` (Unix seconds) or later.
    pub(super) fn go_to(&mut self, since: i64) {
        let text = self.text_from(0);
        let is_before = |line: &&[u8]| parse(line).is_none_or(|entry| entry.at < since);
        let len = lines(&text).take_while(is_before).map(|line| line.len() + 1).sum();
        (self.start, self.last, self.at) = (0, 0, 0);
        self.went_to_end(0, &text[..len]);
    }

    /// Returns the number of lines that [`Log::read`] would return.
    pub(super) fn n_ahead(&self) -> usize {
        lines(&self.text_from(self.start)).count().saturating_sub(usize::from(self.last != 0))
    }

    /// Reads a reflog from which git removed lines. New are the lines after the last known one or,
    /// if that is gone, the younger ones.
    fn read_rewritten(&mut self) -> Vec<ReflogLine> {
        let text = self.text_from(0);
        let all: Vec<&[u8]> = lines(&text).collect();
        let known = all.iter().rposition(|line| line_hash(line) == self.last);
        let entries = all[known.map_or(0, |i| i + 1)..].iter().copied().filter_map(parse);
        let entries = entries.filter(|e| known.is_some() || e.at > self.at).collect();
        let at = self.at;
        (self.start, self.last) = (0, 0);
        self.went_to_end(0, &text);
        self.at = self.at.max(at);
        entries
    }

    fn went_to_end(&mut self, base: u64, text: &[u8]) {
        let complete = text.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let Some(line) = lines(text).last() else { return };
        let start = complete - line.len() - 1;
        (self.start, self.last) = (base + start as u64, line_hash(line));
        if let Some(entry) = parse(line) {
            (self.at, self.zone) = (entry.at, entry.zone);
        }
    }

    fn text_from(&self, start: u64) -> Vec<u8> {
        let mut text = Vec::new();
        let read = Dir::open(&self.own).and_then(|dir| dir.open_file(NAME)).and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            file.take(MAX_LIST_BYTES).read_to_end(&mut text)
        });
        if read.is_err() { Vec::new() } else { text }
    }
}

/// Returns the complete lines, without their line ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&b| b == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

/// Parses a line: `old new name <mail> seconds zone`, a tab, the message.
pub(super) fn parse(line: &[u8]) -> Option<ReflogLine> {
    let line = String::from_utf8_lossy(line);
    let (who, message) = line.split_once('\t').unwrap_or((&line, ""));
    let mut ids = who.splitn(3, ' ');
    let (from, to) = (object_id(ids.next()?)?, object_id(ids.next()?)?);
    let (who, zone) = who.rsplit_once(' ')?;
    let at = who.rsplit_once(' ')?.1.parse().ok()?;
    let zone: i64 = zone.parse().ok()?;
    let zone = zone / 100 * 60 + zone % 100;
    let id = |id: String| Some(id).filter(|id| !is_zero(id));
    Some(ReflogLine { from: id(from), to: id(to), message: message.to_string(), at, zone })
}

/// Hashes a line without its former commit, which git changes when it removes the line before.
/// FNV-1a never changes, and the hash is stored.
fn line_hash(line: &[u8]) -> u64 {
    let rest = line.iter().skip_while(|&&b| b != b' ');
    rest.fold(0xcbf2_9ce4_8422_2325, |hash, &b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
    .max(1)
}

pub(super) fn is_zero(id: &str) -> bool {
    id.bytes().all(|b| b == b'0')
}
