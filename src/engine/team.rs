//! What of a project is published to a team.

use super::serving::Engine;
use super::{AskError, Call};
use crate::embed::Embedder;
use crate::search::Corpus;

impl Engine {
    /// Returns the code and documents of the project as they are indexed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn published_corpus(&self, call: &Call) -> Result<Corpus, AskError> {
        self.with_code(call, |view| Ok(view.code.corpus.clone()))
    }

    /// The embedder of the project.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        self.manager.embedder()
    }
}
