//! How well does it search? Sets of questions, and measures of the answers.
//!
//! Pure: asking, reading and printing are `cli/eval.rs`. The difficult part is [`make()`], which makes fair questions out of a
//! repository: what its authors wrote about a place is taken away there, and the place has to be found without it.

mod baseline;
mod compare;
mod make;
mod measure;
mod prose;
mod question;
mod report;

pub use baseline::{Baseline, FILES};
pub use compare::{Comparison, Move, Other, compare};
pub use make::{SourceText, make};
pub use measure::{FoundFile, Scored, matches, score};
pub use question::{EvalQuestion, LineError, Target, parse};
pub use report::{Latency, QuestionGroup, Summary};
