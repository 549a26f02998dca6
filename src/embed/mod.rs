//! Text → vectors: the [`Embedder`] trait, the bundled static model, a model behind a server, and [`passage()`], the one
//! place that says what of a chunk is embedded.

mod http;
mod passage;
mod static_model;

pub use http::HttpEmbedder;
pub use passage::{Passage, passage};
pub use static_model::StaticModel;

/// Turns text into vectors. Vectors of two embedders, as told by their ids, never mix.
pub trait Embedder: Send + Sync {
    /// Names model and version; part of the vector cache's file name.
    fn id(&self) -> &str;

    /// Length of its vectors.
    fn dimensions(&self) -> usize;

    /// Whether vectors come at once. Nothing waits for an embedder whose vectors do not (a remote one): chunks are served
    /// without theirs until they are in the cache.
    fn is_immediate(&self) -> bool {
        true
    }

    /// One vector for each passage: `[f32; dimensions]`, L2-normalised, or all zero when the passage has no token that
    /// the model knows. Uses all cores.
    ///
    /// # Errors
    /// When the model cannot be asked (a remote one).
    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of a query: `[f32; dimensions]`, L2-normalised or all zero.
    ///
    /// # Errors
    /// When the model cannot be asked (a remote one).
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError>;
}

/// The vector of a question. Where the embedder fails, it is empty, and there is a warning: words alone count then.
pub fn vector_of_question(embedder: &dyn Embedder, question: &str) -> (Vec<f32>, Option<String>) {
    match embedder.embed_query(question) {
        Ok(vector) => (vector, None),
        Err(e) => (Vec::new(), Some(format!("the query has no vector, so this is found by words alone: {e}"))),
    }
}

/// Makes the length 1; leaves zero as it is.
fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        for x in vector {
            *x /= norm;
        }
    }
}

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
#[error("{embedder}: {message}")]
pub struct EmbedError {
    pub embedder: String,
    pub message: String,
}
