//! Which state of the repository an answer describes, and how fresh it has to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, is_zero};
use crate::text::{count, cut};

/// Most warnings in one answer, and the characters of each.
const MAX_WARNINGS: usize = 5;
const MAX_WARNING: usize = 300;

/// How fresh an answer has to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Wait {
    /// Wait until the index has at least this generation (an earlier reply states it).
    #[schemars(range(min = 0))]
    pub min_generation: Option<u64>,
    /// After editing files: first index what changed, and wait up to so many milliseconds for it.
    #[schemars(range(min = 0, max = 60000))]
    pub wait_ms: Option<u64>,
}

/// Which state of the repository an answer describes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Freshness {
    /// Counts the changes of the index; everything in a reply is of this one.
    pub generation: u64,
    /// Only this process counts it so.
    // Whoever writes the chunk files does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// When that generation was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_at: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Files known to have changed since.
    pub pending: usize,
    /// Chunks that are found by their words alone until their vectors are made.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub vectors_pending: usize,
}

/// Which state of the repository an answer describes, and what to know of it. Part of every answer.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AnswerState {
    /// What the reply describes.
    pub index: Freshness,
    /// What to know before trusting the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl AnswerState {
    /// The same with warnings before its own.
    #[must_use]
    pub fn warning_first(mut self, first: impl IntoIterator<Item = String>) -> Self {
        self.warnings.splice(0..0, first);
        self
    }

    /// The same with no more warnings than somebody reads who pays for each word.
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
