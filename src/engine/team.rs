//! What of a project is published to a team.

use super::serving::Engine;
use super::{AskError, Call};
use crate::embed::Embedder;
use crate::search::Corpus;

/// The code and documents of a project as they are indexed.
pub struct ToPublish {
    pub corpus: Corpus,
    /// The commit that is checked out.
    pub commit: Option<String>,
}

impl Engine {
    /// Returns what is published of the project.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn to_publish(&self, call: &Call) -> Result<ToPublish, AskError> {
        self.with_code(call, |view| {
            let commit = view.state.index.head.clone();
            Ok(ToPublish { corpus: view.code.corpus.clone(), commit })
        })
    }

    /// The embedder of the project.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        self.manager.embedder()
    }
}
