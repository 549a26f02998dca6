//! The vectors of chunks on their way into a corpus: inline, from the cache, or made now.

use std::collections::HashMap;
use std::sync::Arc;

use crate::chunk::{Chunk, ChunkDelta, Quantized};
use crate::embed::{EmbedError, Embedder, passage};
use crate::search::VectorSource;
use crate::store::{VectorCache, VectorKey};

/// Vectors for the chunks of one delta.
pub(super) struct Vectors {
    cache: VectorCache,
    made: HashMap<VectorKey, Quantized>,
}

impl Vectors {
    /// Embeds what the delta needs and the cache does not hold.
    pub(super) fn prepare(delta: &ChunkDelta, cache: VectorCache, embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let changed = delta.updated.iter().filter(|c| !c.metadata_only).map(|c| &c.new);
        let lacks = |c: &&Arc<Chunk>| c.embedding.is_none() && !cache.contains(passage(c).key());
        let missing: Vec<&Arc<Chunk>> = delta.added.iter().chain(changed).filter(lacks).collect();
        let passages: Vec<_> = missing.iter().map(|c| passage(c)).collect();
        let vectors = embedder.embed_passages(&passages)?;
        let made = passages.iter().map(crate::embed::Passage::key).zip(vectors.iter().map(|v| Quantized::new(v))).collect();
        Ok(Self { cache, made })
    }
}

impl VectorSource for Vectors {
    fn vector(&self, chunk: &Chunk, out: &mut [i8]) -> Option<f32> {
        if let Some(inline) = &chunk.embedding {
            return copy(&Quantized::new(inline), out);
        }
        let key = passage(chunk).key();
        self.cache.copy_to(key, out).or_else(|| copy(self.made.get(&key)?, out))
    }
}

fn copy(vector: &Quantized, out: &mut [i8]) -> Option<f32> {
    (vector.components.len() == out.len()).then(|| {
        out.copy_from_slice(&vector.components);
        vector.scale
    })
}
