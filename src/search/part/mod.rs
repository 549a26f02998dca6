//! A corpus made of some files of a larger one, which is kept elsewhere.
//!
//! Ranking looks at some hundred files, and at a few facts about all of them: how common each word
//! is, which files use which, how large the whole is. So a program that holds no corpus can rank as
//! one that does: it reads the [`WordCounts`] of the words of a question, asks the keeper for the
//! files that [`Proposal`] describes, and makes a [`Corpus`](super::Corpus) of them. The scores are
//! those that the files get in the whole.

mod counts;
mod made;
mod prepared;
mod proposal;
mod vocabulary;

pub use counts::{CountBlock, WordCount, WordCounts};
pub use made::{CorpusPart, Whole};
pub use prepared::{PreparedFile, Preparer};
pub use proposal::{Proposal, SearchRow};
pub use vocabulary::{NameBlock, WordSource, Words, words_of};
