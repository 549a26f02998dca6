//! An entry: a chunk of a set whose text need not be in memory.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{Chunk, ChunkId, ChunkType, Fingerprint};

/// One chunk of a set: the fields that every search needs, and a way to read the rest.
///
/// Most chunks are never read between two changes of theirs. The line of a chunk in a chunk file is
/// parsed when a caller needs the chunk, and the result is not kept.
#[derive(Debug)]
pub struct Entry {
    pub id: ChunkId,
    /// Relative to the project root.
    pub file_path: Option<Arc<str>>,
    pub chunk_type: ChunkType,
    /// Lower-case name.
    pub language: Option<Arc<str>>,
    /// Hash of the id. Sets use it far more often than the id itself.
    id_hash: u64,
    content: ChunkSource,
}

#[derive(Debug)]
enum ChunkSource {
    Here(Arc<Chunk>),
    /// One line of JSON.
    Stored {
        hash: Fingerprint,
        lines: Arc<dyn LineStore>,
        at: Range<u32>,
    },
}

/// A place that keeps lines of JSON.
pub trait LineStore: Debug + Send + Sync {
    /// Returns these bytes; `None` if they cannot be read.
    fn read(&self, at: Range<u32>) -> Option<Vec<u8>>;

    /// Whether `line`, as it was read, still has the fingerprint `hash`.
    fn is_unchanged(&self, line: &[u8], hash: Fingerprint) -> bool {
        xxh3_128(line) == hash
    }

    /// Returns the inline vector of the chunk whose line is at `_at`. It may have any norm.
    fn vector(&self, _at: &Range<u32>) -> Option<Box<[f32]>> {
        None
    }
}

impl Entry {
    /// The entry of the chunk in `line`, which is at `at` in `lines`. Returns `None` if the line is
    /// not written as [`Chunk::to_json`] does. `before` is the entry of the previous line, whose
    /// path and language are often the same.
    #[must_use]
    pub fn of_line(
        line: &str,
        file_type: ChunkType,
        lines: &Arc<dyn LineStore>,
        at: Range<u32>,
        before: Option<&Self>,
    ) -> Option<Self> {
        // Within a JSON string every quotation mark is escaped, so these keys cannot occur in a
        // text.
        const METADATA: &str = ",\"metadata\":{";
        const TYPE: &str = ",\"chunk_type\":\"";
        let id = text(line.strip_prefix("{\"id\":\"")?)?;
        let metadata =
            &line[memchr::memmem::rfind(line.as_bytes(), METADATA.as_bytes())? + METADATA.len()..];
        let (file_path, rest) = match metadata.strip_prefix("\"file_path\":\"") {
            Some(rest) => {
                let path = text(rest)?;
                (Some(path), rest[path.len() + 1..].trim_start_matches(','))
            }
            None => (None, metadata),
        };
        let language = rest
            .strip_prefix("\"language\":\"")
            .map(|rest| text(rest).ok_or(()))
            .transpose()
            .ok()?;
        let as_before = |text: Option<&str>, before: Option<&Arc<str>>| {
            before.filter(|b| text == Some(&***b)).cloned().or_else(|| shared(text))
        };
        // The type comes before the metadata, with the tags between them. A line with a vector is
        // left to the parser, since vectors count under some headers only.
        let before_metadata = &line[..line.len() - metadata.len() - METADATA.len()];
        let from_type = &before_metadata
            [memchr::memmem::rfind(before_metadata.as_bytes(), TYPE.as_bytes())? + TYPE.len()..];
        let tags = from_type.strip_prefix(file_type.as_str())?.strip_prefix('"')?;
        (tags.is_empty() || tags.starts_with(",\"tags\":")).then(|| Self {
            id: Arc::from(id),
            id_hash: hash_of_id(id),
            file_path: as_before(file_path, before.and_then(|b| b.file_path.as_ref())),
            chunk_type: file_type,
            language: as_before(language, before.and_then(|b| b.language.as_ref())),
            content: ChunkSource::Stored {
                hash: xxh3_128(line.as_bytes()),
                lines: lines.clone(),
                at,
            },
        })
    }

    /// The entry of a line that was parsed. Its chunk has the type of its file and no vector.
    #[must_use]
    pub fn of_parsed_line(
        chunk: &Chunk,
        line: &str,
        lines: &Arc<dyn LineStore>,
        at: Range<u32>,
    ) -> Self {
        Self::of_chunk(chunk, (xxh3_128(line.as_bytes()), lines.clone(), at))
    }

    /// The entry of a chunk whose line has this fingerprint and is kept at this place.
    #[must_use]
    pub fn of_chunk(chunk: &Chunk, line: (Fingerprint, Arc<dyn LineStore>, Range<u32>)) -> Self {
        let (path, language) = (
            shared(chunk.metadata.file_path.as_deref()),
            shared(chunk.metadata.language.as_deref()),
        );
        Self::of_known_line(chunk.id.clone(), path, chunk.chunk_type, language, line)
    }

    /// The entry of a line, made from its known fields.
    #[must_use]
    pub fn of_known_line(
        id: ChunkId,
        file_path: Option<Arc<str>>,
        chunk_type: ChunkType,
        language: Option<Arc<str>>,
        line: (Fingerprint, Arc<dyn LineStore>, Range<u32>),
    ) -> Self {
        let (hash, lines, at) = line;
        let id_hash = hash_of_id(&id);
        Self {
            id,
            id_hash,
            file_path,
            chunk_type,
            language,
            content: ChunkSource::Stored { hash, lines, at },
        }
    }

    /// Returns the fingerprint of its line and the place of the line; `None` for a chunk that is in
    /// memory.
    #[must_use]
    pub fn line(&self) -> Option<(Fingerprint, Range<u32>)> {
        match &self.content {
            ChunkSource::Here(_) => None,
            ChunkSource::Stored { hash, at, .. } => Some((*hash, at.clone())),
        }
    }

    /// Returns its line from where it is kept; `None` for a chunk that is in memory, or if the line
    /// cannot be read.
    #[must_use]
    pub fn kept_line(&self) -> Option<Vec<u8>> {
        match &self.content {
            ChunkSource::Here(_) => None,
            ChunkSource::Stored { lines, at, .. } => lines.read(at.clone()),
        }
    }

    /// Returns its inline vector from where it is kept; `None` for a chunk that is in memory or has
    /// no vector.
    #[must_use]
    pub fn kept_vector(&self) -> Option<Box<[f32]>> {
        match &self.content {
            ChunkSource::Here(_) => None,
            ChunkSource::Stored { lines, at, .. } => lines.vector(at),
        }
    }

    /// [`hash_of_id`] of its id.
    pub(super) fn id_hash(&self) -> u64 {
        self.id_hash
    }

    /// Returns the chunk. Returns `None` if its file was overwritten since it was loaded; the next
    /// load will report that.
    #[must_use]
    pub fn chunk(&self) -> Option<Arc<Chunk>> {
        match &self.content {
            ChunkSource::Here(chunk) => Some(chunk.clone()),
            ChunkSource::Stored { hash, lines, at } => {
                let line = lines.read(at.clone()).filter(|line| lines.is_unchanged(line, *hash))?;
                let chunk =
                    Chunk::from_json(std::str::from_utf8(&line).ok()?, self.chunk_type).ok()?;
                Some(Arc::new(Chunk { embedding: lines.vector(at), ..chunk }))
            }
        }
    }

    /// Whether the chunk is the same in every field, time stamps included.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (ChunkSource::Stored { hash: a, .. }, ChunkSource::Stored { hash: b, .. }) => a == b,
            (ChunkSource::Here(a), ChunkSource::Here(b)) if Arc::ptr_eq(a, b) => true,
            _ => self.chunk().is_some_and(|a| other.chunk().is_some_and(|b| a == b)),
        }
    }
}

impl From<Arc<Chunk>> for Entry {
    fn from(chunk: Arc<Chunk>) -> Self {
        Self {
            id: chunk.id.clone(),
            id_hash: hash_of_id(&chunk.id),
            file_path: shared(chunk.metadata.file_path.as_deref()),
            chunk_type: chunk.chunk_type,
            language: shared(chunk.metadata.language.as_deref()),
            content: ChunkSource::Here(chunk),
        }
    }
}

impl From<Chunk> for Entry {
    fn from(chunk: Chunk) -> Self {
        Self::from(Arc::new(chunk))
    }
}

fn shared(text: Option<&str>) -> Option<Arc<str>> {
    text.map(Arc::from)
}

/// The hash of an id in hash tables.
pub(super) fn hash_of_id(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

/// Returns the string that begins at `rest`, unless anything in it is escaped.
fn text(rest: &str) -> Option<&str> {
    let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
    (rest.as_bytes()[end] == b'"').then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Metadata;

    #[derive(Debug)]
    struct Text(&'static str);

    impl LineStore for Text {
        fn read(&self, at: Range<u32>) -> Option<Vec<u8>> {
            self.0.get(at.start as usize..at.end as usize).map(|t| t.as_bytes().to_vec())
        }
    }

    fn entry(chunk: &Chunk) -> Option<Entry> {
        let line: &'static str = chunk.to_json().leak();
        let lines: Arc<dyn LineStore> = Arc::new(Text(line));
        Entry::of_line(line, chunk.chunk_type, &lines, 0..u32::try_from(line.len()).unwrap(), None)
    }

    fn chunk(text: &str) -> Chunk {
        let metadata = Metadata {
            file_path: Some("src/a.rs".into()),
            language: Some("rust".into()),
            ..Metadata::default()
        };
        Chunk { title: "a".into(), metadata, ..Chunk::new("src/a.rs#a", ChunkType::Data, text) }
    }

    #[test]
    fn what_a_line_says_is_found_without_parsing_it() {
        // The text contains metadata, too.
        let chunk = chunk(",\"metadata\":{\"file_path\":\"src/b.rs\"}}\n{\"id\":\"x\"");
        let entry = entry(&chunk).unwrap();
        assert_eq!(
            (&*entry.id, entry.file_path.as_deref(), entry.language.as_deref()),
            ("src/a.rs#a", Some("src/a.rs"), Some("rust"))
        );
        assert_eq!(*entry.chunk().unwrap(), chunk);
        let chunk = Chunk { tags: vec!["t".into(), "\"chunk_type\":\"symbols\"".into()], ..chunk };
        assert_eq!(*self::entry(&chunk).unwrap().chunk().unwrap(), chunk);
    }

    #[test]
    fn a_line_with_anything_unusual_is_left_to_the_parser() {
        assert!(entry(&Chunk { id: "a\"b".into(), ..chunk("x") }).is_none());
        assert!(
            entry(&Chunk { embedding: Some([1.0].into()), tags: vec!["t".into()], ..chunk("x") })
                .is_none()
        );
        let metadata = Metadata { file_path: Some("a\\b".into()), ..Metadata::default() };
        assert!(entry(&Chunk { metadata, ..chunk("x") }).is_none());
    }

    #[test]
    fn a_line_that_was_overwritten_is_no_chunk() {
        let line: &'static str = chunk("x").to_json().leak();
        let lines: Arc<dyn LineStore> = Arc::new(Text(chunk("y").to_json().leak()));
        let entry = Entry::of_line(
            line,
            ChunkType::Data,
            &lines,
            0..u32::try_from(line.len()).unwrap(),
            None,
        )
        .unwrap();
        assert!(entry.chunk().is_none());
    }
}
