//! The index state that an answer was computed from, and how fresh a call requires it to be.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Call, is_zero};
use crate::text::{count, cut};

/// Maximum number of warnings in a brief answer, and of characters in each.
const MAX_WARNINGS: usize = 5;
const MAX_WARNING: usize = 300;

/// How fresh an answer must be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Wait {
    /// Wait until the index has at least this generation (an earlier reply states it).
    #[schemars(range(min = 0))]
    pub min_generation: Option<u64>,
    /// After editing files: index the changes first, and wait at most this many milliseconds.
    #[schemars(range(min = 0, max = 60000))]
    pub wait_ms: Option<u64>,
}

/// How long a call waits for a generation that it names, or for the code graph, if it gives no
/// time.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// The longest wait that a call can request.
const MAX_WAIT: Duration = Duration::from_mins(1);

impl Wait {
    /// How long the call waits.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.wait_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_WAIT)
    }
}

/// The index state that an answer was computed from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Freshness {
    /// Number of the index state; it grows with every change.
    pub generation: u64,
    /// Whether only this process counts the generation in this way.
    // The program that wrote the chunk files states no generation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// When the generation was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_at: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Number of files known to have changed since.
    pub pending: usize,
    /// Number of chunks that are found by words alone until their vectors are made.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub vectors_pending: usize,
}

/// The state of a published repository that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublishedState {
    /// Its name.
    pub repo: String,
    /// The generation that answered.
    pub generation: u64,
    /// The commit that was published.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    pub commit: String,
}

/// The index state behind an answer, with warnings. Part of every answer.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AnswerState {
    /// The index state that the reply was computed from.
    pub index: Freshness,
    /// Problems to know before trusting the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Number of projects that answered together. `index` then counts what is pending in all of
    /// them, and its generation is 0.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub projects: usize,
    /// The published repositories that answered, each with its generation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub published: Vec<PublishedState>,
}

impl AnswerState {
    /// Adds warnings before the existing ones.
    #[must_use]
    pub fn warning_first(mut self, first: impl IntoIterator<Item = String>) -> Self {
        self.warnings.splice(0..0, first);
        self
    }

    /// Shortens the warnings and limits their number, if the call asks for that.
    #[must_use]
    pub fn in_brief(mut self, call: &Call) -> Self {
        if !call.in_brief {
            return self;
        }
        if self.warnings.len() > MAX_WARNINGS {
            let n_more = self.warnings.len() - (MAX_WARNINGS - 1);
            self.warnings.truncate(MAX_WARNINGS - 1);
            self.warnings
                .push(format!("and {}: run `cortex status`", count(n_more, "more warning")));
        }
        self.warnings.iter_mut().for_each(|warning| *warning = cut(warning, MAX_WARNING));
        self
    }
}
