//! Turns text into vectors: the [`Embedder`] trait, the bundled static model, a model behind a
//! server, and [`passage()`], which alone decides what text of a chunk is embedded.

mod http;
mod passage;
mod static_model;

pub use http::HttpEmbedder;
pub use passage::{Passage, passage};
pub use static_model::{BundledModel, StaticModel};

/// Turns text into vectors. Vectors of embedders with different ids never mix.
pub trait Embedder: Send + Sync {
    /// Returns the name of the model and its version. It is part of the vector cache's file name.
    fn id(&self) -> &str;

    /// Returns the length of the vectors.
    fn dimensions(&self) -> usize;

    /// Whether vectors are made at once. Nothing waits for the vectors of other embedders (remote
    /// ones): chunks are served without them until they are in the cache.
    fn is_immediate(&self) -> bool {
        true
    }

    /// Returns one vector for each passage: `[f32; dimensions]`, L2-normalised, or all zero if the
    /// model knows no token of the passage. Uses all cores.
    ///
    /// # Errors
    /// When a remote model gives no answer.
    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Returns the vector of a query: `[f32; dimensions]`, L2-normalised or all zero.
    ///
    /// # Errors
    /// When a remote model gives no answer.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Returns the vector of a question. If the embedder fails, returns an empty vector, with which a
/// search uses words alone, and a warning.
pub fn vector_of_question(embedder: &dyn Embedder, question: &str) -> (Vec<f32>, Option<String>) {
    match embedder.embed_query(question) {
        Ok(vector) => (vector, None),
        Err(e) => (
            Vec::new(),
            Some(format!("cannot embed the query, so results are found by words alone: {e}")),
        ),
    }
}

/// Scales a vector to length 1; a zero vector stays as it is.
pub(crate) fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        for x in vector {
            *x /= norm;
        }
    }
}

/// Why a text has no vector.
#[derive(Debug, thiserror::Error)]
#[error("{embedder}: {message}")]
pub struct EmbedError {
    pub embedder: String,
    pub message: String,
}
