//! Evaluates search quality: sets of questions, and scores of the answers.
//!
//! This module is pure; `cli/eval.rs` reads files, asks and prints. The difficult part is
//! [`make()`], which makes fair questions from a repository: it removes what the authors wrote
//! about a place, and the search must find the place without that text.

mod baseline;
mod commits;
mod compare;
mod draft;
mod make;
mod measure;
mod prose;
mod question;
mod report;
mod tokens;

pub use baseline::{Baseline, FILES};
pub use compare::{Comparison, Move, Other, compare};
pub use draft::SourceText;
pub use make::make;
pub use measure::{FoundFile, Scored, matches, score};
pub use question::{EvalQuestion, LineError, Target, parse};
pub use report::{Latency, QuestionGroup, Summary};
pub use tokens::{ExpectedAnswer, Reached, TOKENS, TokenRecall, TokenSums};
