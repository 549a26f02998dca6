//! The vectors of chunks on their way into a corpus: inline, from the cache, or made now.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::chunk::{Chunk, ChunkDelta, Feed, Fingerprint, Quantized, StoredVectors};
use crate::embed::{EmbedError, Embedder, passage};
use crate::search::VectorSource;

/// Vectors for the chunks of one delta.
pub(super) struct Vectors {
    stored: Box<dyn StoredVectors>,
    made: HashMap<Fingerprint, Quantized>,
    /// Chunks whose vectors somebody else is to make.
    pub(super) lacking: Vec<Arc<Chunk>>,
}

impl Vectors {
    /// Embeds what the delta needs and the feed does not keep.
    pub(super) fn prepare(delta: &ChunkDelta, feed: &dyn Feed, embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let changed = delta.updated.iter().filter(|c| !c.metadata_only).map(|c| &c.new);
        let without: Vec<&Arc<Chunk>> = delta.added.iter().chain(changed).filter(|c| c.embedding.is_none()).collect();
        let keys: Vec<Fingerprint> = without.par_iter().map(|c| passage(c).key()).collect();
        let stored = feed.vectors(&keys.iter().copied().collect::<FxHashSet<_>>());
        let missing: Vec<(Fingerprint, &Arc<Chunk>)> = keys.into_iter().zip(without).filter(|(key, _)| !stored.contains(*key)).collect();
        if !embedder.is_immediate() {
            let lacking = missing.into_iter().map(|(_, chunk)| chunk.clone()).collect();
            return Ok(Self { stored, made: HashMap::new(), lacking });
        }
        let passages: Vec<_> = missing.iter().map(|(_, chunk)| passage(chunk)).collect();
        let vectors = embedder.embed_passages(&passages)?;
        let made = missing.iter().map(|(key, _)| *key).zip(vectors.iter().map(|v| Quantized::new(v))).collect();
        Ok(Self { stored, made, lacking: Vec::new() })
    }
}

impl VectorSource for Vectors {
    fn vector(&self, chunk: &Chunk, out: &mut [i8]) -> Option<f32> {
        if let Some(inline) = &chunk.embedding {
            return copy(&Quantized::new(inline), out);
        }
        let key = passage(chunk).key();
        self.stored.copy_to(key, out).or_else(|| copy(self.made.get(&key)?, out))
    }
}

fn copy(vector: &Quantized, out: &mut [i8]) -> Option<f32> {
    (vector.components.len() == out.len()).then(|| {
        out.copy_from_slice(&vector.components);
        vector.scale
    })
}
