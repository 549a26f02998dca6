//! Cuts the text of a Markdown file into overlapping chunks for the memory store.
//! The text is first divided into pieces: a word and the white space after it. A piece that is too
//! long for a chunk is cut into several, and each part of its word then counts as a word. A chunk
//! is a run of pieces, so its content is a slice of the file: the chunks, each without its overlap
//! with the one before, make up the file.

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::MAX_CONTENT_CHARS;
use crate::source::sha256;

/// Most words of a chunk.
pub const CHUNK_SIZE_WORDS: usize = 200;
/// Words that a chunk shares with the one before it.
pub const OVERLAP_WORDS: usize = 50;
/// A smaller chunk size is refused, and a smaller last chunk starts earlier if that makes it
/// longer.
pub const MIN_CHUNK_WORDS: usize = 50;
/// Characters that end a sentence.
pub const SENTENCE_TERMINATORS: [char; 3] = ['.', '!', '?'];

/// Characters allowed between the end of a sentence and the white space: quotes, brackets,
/// emphasis.
const CLOSERS: [char; 14] = ['"', '\'', ')', ']', '}', '*', '_', '`', '~', '>', '”', '’', '»', '›'];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextChunk {
    /// A slice of the file, white space included.
    pub content: String,
    pub word_count: u32,
    pub metadata: ChunkMetadata,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkMetadata {
    pub file_path: String,
    /// From 0.
    pub chunk_index: u32,
    /// Number of chunks of the file.
    pub total_chunks: u32,
    /// Words of the file before the chunk.
    pub word_offset: u32,
    /// Characters of the file before the chunk.
    pub char_offset: u32,
    /// SHA-256 of the file in lower-case hexadecimal.
    pub original_file_hash: String,
    /// Line of the first character, 1-based.
    pub start_line: u32,
    /// Line of the last character. A line break belongs to the line that it ends.
    pub end_line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkerError {
    #[error("cannot divide an empty text into chunks")]
    EmptyContent,
    #[error("the text is not valid UTF-8 at byte {offset} (save it as UTF-8)")]
    InvalidUtf8 { offset: usize },
    #[error("invalid chunk sizes: {message}")]
    ConfigError { message: String },
}

/// Cuts texts into chunks of `chunk_size` words with `overlap` words in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChunker {
    chunk_size: usize,
    overlap: usize,
}

impl Default for TextChunker {
    fn default() -> Self {
        Self { chunk_size: CHUNK_SIZE_WORDS, overlap: OVERLAP_WORDS }
    }
}

impl TextChunker {
    /// Creates a chunker. Both sizes are in words.
    ///
    /// # Errors
    /// When chunks would be smaller than [`MIN_CHUNK_WORDS`], or not larger than the overlap.
    pub fn new(chunk_size: usize, overlap: usize) -> Result<Self, ChunkerError> {
        let message = if chunk_size < MIN_CHUNK_WORDS {
            format!("{chunk_size} words are too few for a chunk: use {MIN_CHUNK_WORDS} or more")
        } else if chunk_size <= overlap {
            format!("chunks of {chunk_size} words cannot share {overlap}: use a smaller overlap")
        } else {
            return Ok(Self { chunk_size, overlap });
        };
        Err(ChunkerError::ConfigError { message })
    }

    /// Returns the chunks of a file's bytes; see [`chunk_text`](Self::chunk_text).
    ///
    /// # Errors
    /// When the file is empty or not UTF-8.
    pub fn chunk_bytes(
        &self,
        bytes: &[u8],
        file_path: &str,
    ) -> Result<Vec<TextChunk>, ChunkerError> {
        let content = str::from_utf8(bytes)
            .map_err(|e| ChunkerError::InvalidUtf8 { offset: e.valid_up_to() })?;
        self.chunk_text(content, file_path)
    }

    /// Returns the chunks of a text in order; none if it is only white space.
    ///
    /// # Errors
    /// When the text is empty.
    pub fn chunk_text(
        &self,
        content: &str,
        file_path: &str,
    ) -> Result<Vec<TextChunk>, ChunkerError> {
        if content.is_empty() {
            return Err(ChunkerError::EmptyContent);
        }
        if content.trim().is_empty() {
            return Ok(Vec::new());
        }
        let cuts = cuts(content);
        let ranges = self.ranges(&cuts);
        let hash = sha256(content.as_bytes());
        let (mut line, mut line_at) = (1, 0);
        let chunk = |(index, &(start, end)): (usize, &(usize, usize))| {
            let (start, end) = (&cuts[start], &cuts[end]);
            line += content[line_at..start.byte].matches('\n').count();
            line_at = start.byte;
            let text = &content[start.byte..end.byte];
            let metadata = ChunkMetadata {
                file_path: file_path.to_string(),
                chunk_index: number(index),
                total_chunks: number(ranges.len()),
                word_offset: number(start.words),
                char_offset: number(start.chars),
                original_file_hash: hash.clone(),
                start_line: number(line),
                end_line: number(line + text.lines().count() - 1),
            };
            TextChunk {
                content: text.to_string(),
                word_count: number(end.words - start.words),
                metadata,
            }
        };
        Ok(ranges.iter().enumerate().map(chunk).collect())
    }

    /// Returns where the chunks start and end, as indexes of cuts. Both strictly increase from
    /// chunk to chunk.
    fn ranges(&self, cuts: &[Cut]) -> Vec<(usize, usize)> {
        let last = cuts.len() - 1;
        let all = &cuts[last];
        // The cut before word number `word`, from 0.
        let at_word = |word: usize| cuts.partition_point(|c| c.words <= word) - 1;
        // The first cut with at most `chars` characters between it and another cut.
        let within = |chars: usize, to: &Cut| cuts.partition_point(|c| c.chars + chars < to.chars);
        // The latest start of the last chunk, if that chunk can hold everything from there on.
        let tail = all.words.checked_sub(MIN_CHUNK_WORDS).map(at_word);
        let tail = tail.filter(|t| *t >= within(MAX_CONTENT_CHARS, all)).unwrap_or(last);

        let mut ranges = Vec::new();
        let (mut start, mut end) = (0, 0);
        loop {
            let (from, previous_end) = (&cuts[start], end);
            let fits = |c: &Cut| {
                c.words - from.words <= self.chunk_size && c.chars - from.chars <= MAX_CONTENT_CHARS
            };
            end = start + cuts[start..].partition_point(fits) - 1;
            if end == last {
                ranges.push((start, end));
                return ranges;
            }
            let words = cuts[end].words - from.words;
            let early = cuts[end].words - words / 5;
            // Within the last fifth of the chunk. The end must be after the previous chunk's end.
            let sentence = (previous_end + 1..=end)
                .rev()
                .take_while(|i| cuts[*i].words > early)
                .find(|i| cuts[*i].ends_sentence);
            end = sentence.unwrap_or(end);
            ranges.push((start, end));
            // If the words are few and long, at most half a chunk is shared, and there must be room
            // for the next word.
            let shared =
                if words == self.chunk_size { MAX_CONTENT_CHARS } else { MAX_CONTENT_CHARS / 2 };
            let earliest =
                within(shared, &cuts[end]).max(within(MAX_CONTENT_CHARS, &cuts[end + 1]));
            let word = cuts[end].words.saturating_sub(self.overlap).max(from.words + 1);
            start = at_word(word).min(end).max(earliest).min(tail);
        }
    }
}

/// A place between two pieces, where a chunk may start or end.
#[derive(Default)]
struct Cut {
    byte: usize,
    /// Characters before it.
    chars: usize,
    /// Words before it.
    words: usize,
    /// Whether the last word before it ends a sentence.
    ends_sentence: bool,
}

/// Returns all cuts, from the start of the text to its end.
fn cuts(text: &str) -> Vec<Cut> {
    let mut cuts = vec![Cut::default()];
    let (mut byte, mut chars, mut words) = (0, 0, 0);
    while byte < text.len() {
        let piece = first_piece(&text[byte..]);
        let word = piece.trim_end();
        byte += piece.len();
        chars += piece.chars().count();
        words += usize::from(!word.is_empty());
        cuts.push(Cut {
            byte,
            chars,
            words,
            ends_sentence: word.trim_end_matches(CLOSERS).ends_with(SENTENCE_TERMINATORS),
        });
    }
    cuts
}

/// Returns the first word (empty if the text starts with white space) and the white space after it,
/// in whole graphemes, as far as they fit in a chunk. A grapheme that does not fit is cut between
/// characters.
fn first_piece(text: &str) -> &str {
    let mut behind = false;
    for (n, (i, c)) in text.char_indices().enumerate() {
        if behind && !c.is_whitespace() {
            return &text[..i];
        }
        if n == MAX_CONTENT_CHARS {
            // One character more shows whether a grapheme ends here.
            let start_of_last = text[..i + c.len_utf8()]
                .grapheme_indices(true)
                .next_back()
                .map_or(0, |(start, _)| start);
            return &text[..if start_of_last > 0 { start_of_last } else { i }];
        }
        behind = c.is_whitespace();
    }
    text
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
