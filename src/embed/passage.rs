//! What exactly is embedded for a chunk.

use xxhash_rust::xxh3::Xxh3;

use crate::chunk::{Chunk, Fingerprint};

/// What is embedded for a chunk: its text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage<'a> {
    pub text: &'a str,
    /// Parent folder and file name, or the title of a chunk without a file.
    pub place: String,
}

/// The passage of a chunk. Its path is worth ten points of NDCG to a pure vector search.
#[must_use]
pub fn passage(chunk: &Chunk) -> Passage<'_> {
    let place = match &chunk.metadata.file_path {
        Some(path) => {
            let mut parts = path.rsplit('/');
            let file = parts.next().unwrap_or_default();
            format!("{} {file}", parts.next().unwrap_or_default())
        }
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
