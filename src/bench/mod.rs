//! Benchmarks of time and memory that ask the same questions on any corpus.
//!
//! A [`Bed`] is a project in its own directory: generated from a seed, copied from the
//! user's, or made from given chunk files. Each question is a function that prepares,
//! measures once and returns the time. [`run`] asks all of them for `cortex bench`;
//! `benches/` asks each with criterion.

mod bed;
mod clients;
mod compare;
mod generate;
mod given;
mod index;
mod load;
mod process;
mod query;
mod recall;
mod reload;
mod report;
mod spread;

pub use bed::{Bed, BedOrigin, change};
pub use clients::{Round, ask_at_once, rate_of_one_thread};
pub use compare::{Change, Verdict, compare};
pub use generate::{SourceText, source_tree};
pub use given::Given;
pub use index::{OneFile, index_from_scratch};
pub use load::{build, diff, load, open_saved};
pub use process::{McpProcess, Server, search_once};
pub use query::{Questions, SearchKind};
pub use recall::recall_10;
pub use reload::{STEPS, Steps, reload};
pub use report::{BenchReport, Figure, LeftOut, Machine, Shape, Timing, Unit, run};
pub use spread::Spread;
