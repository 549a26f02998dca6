//! Decides what text of a chunk is embedded.

use xxhash_rust::xxh3::Xxh3;

use crate::chunk::{Chunk, ChunkType, Fingerprint};

/// The text of a chunk that is embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage<'a> {
    pub text: &'a str,
    /// Parent folder and file name, or the title of a chunk without a file. Empty if the place
    /// says nothing about the text.
    pub place: String,
}

/// Returns the passage of a chunk: its text. Only the outline, which represents its whole file,
/// includes the place: a query with names finds it there, and a query that describes what code does
/// is not drawn to file names.
#[must_use]
pub fn passage(chunk: &Chunk) -> Passage<'_> {
    let place = match &chunk.metadata.file_path {
        Some(path) if chunk.chunk_type == ChunkType::Symbols => {
            let mut parts = path.rsplit('/');
            let file = parts.next().unwrap_or_default();
            format!("{} {file}", parts.next().unwrap_or_default())
        }
        Some(_) => String::new(),
        None => chunk.title.clone(),
    };
    Passage { text: &chunk.text, place }
}

impl Passage<'_> {
    /// Returns the key of its vector in the cache.
    #[must_use]
    pub fn key(&self) -> Fingerprint {
        let mut h = Xxh3::new();
        h.update(self.place.as_bytes());
        h.update(&[0]);
        h.update(self.text.as_bytes());
        h.digest128()
    }
}
