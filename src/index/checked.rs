//! Compares an index that came from outside with the files that it describes. Somebody who can write
//! to the place of archives must not be able to have text found, or shown, that no file holds.
//!
//! Nothing is parsed. A chunk of code or of a document is the text of its lines; every other text of a
//! chunk (names, signatures, an outline) consists of words of its file. A file of which that is not
//! so is parsed.

use std::borrow::Cow;
use std::io;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::chunker::line_limit;
use crate::chunk::{Chunk, ChunkType};
use crate::dir::Dir;
use crate::languages::detect;
use crate::secrets::redact_file;
use crate::source::{self, Skip, sha256, text_of, without_tails};
use crate::store::{self, ChunkLines, Layout, Manifest, SourceEntry, SourceTable};

/// Files that are read and compared at once.
const BATCH: usize = 256;
/// Words that the chunker adds to those of a file.
const OWN_WORDS: [&str; 1] = ["imports"];
/// Longest value of a key of metadata that is not text of the file, in bytes.
const MAX_VALUE: usize = 64;

/// Checks the index at `place` against the files below `root`, of at most `max_bytes`. Files of which
/// it says anything that is not so lose their hash in its table, so that they are parsed.
///
/// # Errors
/// When it was made by other rules, holds chunks that belong to no file, or cannot be read.
pub(super) fn check(place: &Layout, root: &Dir, rules: &str, max_bytes: u64) -> io::Result<()> {
    let refused = |why: &str| io::Error::other(format!("the index is not used: {why}"));
    let (table, manifest) = (SourceTable::read_unsealed(place), Manifest::read_unsealed(place));
    let (Some(mut table), Some(manifest)) = (table, manifest) else {
        return Err(refused("its table of files is missing"));
    };
    if table.rules != rules || table.manifest.as_ref() != Some(&manifest) {
        return Err(refused("it was made by other rules"));
    }
    let open = |t| ChunkLines::open(place, &manifest, t);
    let mut lines: Vec<ChunkLines> =
        ChunkType::SEARCHED.into_iter().map(open).collect::<io::Result<_>>()?;
    let mut files: Vec<(&String, &mut SourceEntry)> = table.files.iter_mut().collect();
    for batch in files.chunks_mut(BATCH) {
        let mut with_chunks = Vec::new();
        for (path, entry) in batch {
            let mut chunks = Vec::new();
            for (i, t) in ChunkType::SEARCHED.into_iter().enumerate() {
                for _ in 0..entry.n_chunks[i] {
                    let line =
                        lines[i].next_line()?.ok_or_else(|| refused("chunks are missing"))?;
                    chunks.push((t, line.to_string()));
                }
            }
            with_chunks.push((&**path, entry, chunks));
        }
        with_chunks.into_par_iter().for_each(|(path, entry, chunks)| {
            if !is_true(root, path, entry, &chunks, max_bytes) {
                tracing::debug!("{path}: parsed, because the archive is not about this content");
                entry.sha256 = String::new();
            }
        });
    }
    for rest in &mut lines {
        if rest.next_line()?.is_some() {
            return Err(refused("it has chunks of no file"));
        }
    }
    store::adopt(place, &manifest, &table)
}

/// Whether everything that an index says of a file is so.
fn is_true(
    root: &Dir,
    path: &str,
    entry: &SourceEntry,
    chunks: &[(ChunkType, String)],
    max_bytes: u64,
) -> bool {
    let Ok(bytes) = root.read(path, max_bytes) else { return false };
    if entry.deleted || sha256(&bytes) != entry.sha256 {
        return false;
    }
    let skipped = check_content(path, &bytes).map(|skip| skip.describe(None));
    if skipped.is_some() || entry.skipped.is_some() {
        return skipped == entry.skipped && chunks.is_empty() && entry.secrets.is_empty();
    }
    let text = text_of(&bytes);
    let redacted = redact_file(&text);
    let secrets = redacted.found.iter().map(|(line, rule)| (*line, *rule));
    if text.lines().count() as u64 != entry.lines
        || !secrets.eq(entry.secrets.iter().map(|(line, rule)| (*line, &**rule)))
    {
        return false;
    }
    let file = File::new(path, &redacted.text);
    if chunks.is_empty() {
        return file.words.len() == file.n_words_of_path;
    }
    chunks.iter().all(|(t, line)| {
        Chunk::from_json(line, *t).is_ok_and(|chunk| chunk.chunk_type == *t && file.holds(&chunk))
    })
}

/// Returns why the content of a file is not for indexing, if it is not.
pub(super) fn check_content(path: &str, bytes: &[u8]) -> Option<Skip> {
    source::check_content(bytes, line_limit(detect(path, "")))
}

/// A file, to compare chunks with.
struct File<'a> {
    path: &'a str,
    /// Its text as chunks hold it.
    text: Cow<'a, str>,
    /// The offset at which each line begins, and the end.
    starts: Vec<usize>,
    words: FxHashSet<&'a str>,
    n_words_of_path: usize,
}

impl<'a> File<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        let shown = without_tails(text, line_limit(detect(path, text)));
        let ends = memchr::memchr_iter(b'\n', shown.as_bytes()).map(|at| at + 1);
        let starts = std::iter::once(0).chain(ends).chain([shown.len()]).collect();
        let mut words: FxHashSet<&str> = words(path).chain(OWN_WORDS).collect();
        let n_words_of_path = words.len();
        words.extend(self::words(text));
        Self { path, text: shown, starts, words, n_words_of_path }
    }

    /// Whether the chunk says nothing that is not so.
    fn holds(&self, chunk: &Chunk) -> bool {
        let about = &chunk.metadata;
        let is_here = about.file_path.as_deref() == Some(self.path)
            && chunk.id.strip_prefix(self.path).is_some_and(|rest| rest.starts_with('#'))
            && chunk.embedding.is_none();
        let is_text = if chunk.chunk_type == ChunkType::Symbols {
            self.has_words(&chunk.text)
        } else {
            let lines = self.lines(about.start_line, about.end_line);
            lines.is_some_and(|lines| lines.contains(chunk.text.trim_end()))
        };
        let texts = [&about.symbol, &about.parent, &about.signature].into_iter().flatten();
        let more =
            about.names.iter().map(|name| &name.name).chain(&about.imports).chain(&chunk.tags);
        let rest = about.names.iter().map(|name| name.kind.len());
        let rest = rest.chain(about.language.as_ref().map(String::len));
        let rest = rest.chain(about.extra.iter().map(|(k, v)| k.len() + v.to_string().len()));
        is_here
            && is_text
            && rest.into_iter().all(|n| n <= MAX_VALUE)
            && texts.chain(more).chain([&chunk.title]).all(|text| self.has_words(text))
            && about.files.is_empty()
    }

    /// Returns the text from one line to another, which are counted from 1.
    fn lines(&self, first: Option<u32>, last: Option<u32>) -> Option<&str> {
        let first = (first? as usize).checked_sub(1)?;
        self.text.get(*self.starts.get(first)?..*self.starts.get(last? as usize)?)
    }

    /// Whether the file or its path has each word. A long signature is cut, perhaps within a word, so
    /// the last word of a line, before the numbers of lines in an outline, may be the beginning of one.
    fn has_words(&self, text: &str) -> bool {
        let is_known = |word: &str| {
            self.words.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
        };
        text.lines().all(|line| match words(line).find(|word| !is_known(word)) {
            None => true,
            Some(cut) => {
                let after = line.rsplit(cut).next().unwrap_or_default();
                !after.contains(char::is_alphabetic)
                    && self.words.iter().any(|word| word.starts_with(cut))
            }
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
