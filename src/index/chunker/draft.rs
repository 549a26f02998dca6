//! A chunk before it is complete, and the text by lines that it is cut from.

use crate::chunk::{ChunkType, Name};

/// Largest piece that stays whole, in bytes.
pub(super) const MAX_BYTES: usize = 1700;
/// Smallest size of a cut piece, in bytes; neighbours are merged up to it.
pub(super) const MIN_BYTES: usize = 900;

/// A chunk that has no id and no time stamps yet.
pub(super) struct Draft {
    pub(super) chunk_type: ChunkType,
    /// The part of the id after the path: the symbol or heading path. An
    /// ordinal makes it unique later.
    pub(super) key: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) symbol: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) names: Vec<Name>,
    pub(super) signature: Option<String>,
    pub(super) comment_lines: Vec<(u32, u32)>,
    pub(super) imports: Vec<String>,
    /// The line ranges of the file that could not be parsed.
    pub(super) unparsed: Vec<(u32, u32)>,
}

impl Draft {
    pub(super) fn new(
        chunk_type: ChunkType,
        key: String,
        title: String,
        text: &str,
        (start_line, end_line): (u32, u32),
    ) -> Self {
        Self {
            chunk_type,
            key,
            title,
            text: text.to_string(),
            start_line,
            end_line,
            symbol: None,
            parent: None,
            names: Vec::new(),
            signature: None,
            comment_lines: Vec::new(),
            imports: Vec::new(),
            unparsed: Vec::new(),
        }
    }
}

/// A text with an index of its lines, which count from 1.
pub(super) struct LineIndex<'a> {
    pub(super) text: &'a str,
    /// The byte offset of each line's start, and the length of the text.
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut starts: Vec<usize> = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1))
            .collect();
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    /// Returns the line that holds a byte of the text.
    pub(super) fn line_of(&self, byte: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|s| *s <= byte)).unwrap_or(u32::MAX)
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    /// Returns the lines `first..=last` with their line ends. Lines that do not exist are left out.
    pub(super) fn slice(&self, first: u32, last: u32) -> &'a str {
        let at = |line: u32| self.starts[(line as usize).min(self.starts.len() - 1)];
        let start = at(first.saturating_sub(1));
        &self.text[start..at(last).max(start)]
    }

    /// Returns the size of the lines `first..=last` in bytes.
    pub(super) fn bytes(&self, first: u32, last: u32) -> usize {
        self.slice(first, last).len()
    }

    pub(super) fn is_blank(&self, first: u32, last: u32) -> bool {
        self.slice(first, last).trim().is_empty()
    }
}

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
