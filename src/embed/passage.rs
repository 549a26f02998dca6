//! What exactly is embedded for a chunk.

use xxhash_rust::xxh3::Xxh3;

use crate::chunk::{Chunk, ChunkType, Fingerprint};

/// What is embedded for a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage<'a> {
    pub text: &'a str,
    /// Parent folder and file name, or the title of a chunk without a file; empty where the place says nothing about the text.
    pub place: String,
}

/// The passage of a chunk: its text. Only the outline, which stands for its whole file, also says where that is: a query
/// that speaks of names meets it there, and one that describes what some code does is not drawn to file names.
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
    /// The key of its vector in a cache.
    #[must_use]
    pub fn key(&self) -> Fingerprint {
        let mut h = Xxh3::new();
        h.update(self.place.as_bytes());
        h.update(&[0]);
        h.update(self.text.as_bytes());
        h.digest128()
    }
}
