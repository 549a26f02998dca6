//! Colours pieces of code for a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::languages::{LanguageKind, detect};
use crate::syntax::{Run, colours};

/// Pieces of code.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ColoursRequest {
    pub parts: Vec<Part>,
}

/// A piece of a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Part {
    /// The path tells the language.
    pub path: String,
    pub text: String,
}

/// The colours of each piece.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ColoursAnswer {
    /// By the piece and its line, the runs: a colour (`plain`, `comment`, `keyword`, `function`, `type`,
    /// `text`, `number`) and a length in UTF-16 code units.
    #[schemars(with = "Vec<Vec<Vec<(String, usize)>>>")]
    pub parts: Vec<Vec<Vec<Run>>>,
}

impl ColoursRequest {
    /// Returns the colours of the words. It reads no file.
    #[must_use]
    pub fn answer(&self) -> ColoursAnswer {
        let of_part = |part: &Part| {
            let language = detect(&part.path, &part.text);
            let grammar = match &language.kind {
                LanguageKind::Code(grammar) => Some(*grammar),
                _ => None,
            };
            colours(grammar, &part.text)
        };
        ColoursAnswer { parts: self.parts.iter().map(of_part).collect() }
    }
}
