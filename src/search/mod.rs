//! The read side: a set of chunks as an index in memory, and queries against it.
//!
//! Pure and synchronous: opens no path, reads no clock and no environment. Everything it knows of a
//! repository comes from the chunks, so that files written by other programs rank as well as ours.
//!
//! [`CorpusBuilder`] holds what changes (the tantivy writer, the slots); each update gives a
//! [`Corpus`], immutable and cheap to share. Results are a function of the live chunks alone: not
//! of the order of updates, of deleted documents, of the segment layout or of the thread count.

mod bm25;
mod cores;
mod corpus;
mod evidence;
mod files;
mod filter;
mod form;
mod health;
mod hit;
mod names;
mod operators;
mod proximity;
mod query;
mod rank;
mod references;
mod rows;
mod saved;
mod searcher;
mod snippet;
mod spelling;
mod text;
mod tokens;
mod vector;
mod words;

pub use corpus::{Corpus, CorpusBuilder, Read, SearchError, VectorSource};
pub use filter::{Condition, Filter};
pub use form::Form;
pub use hit::{Hit, Results, Term};
pub use query::Query;
pub use rank::{FEATURES, Feature};
pub use searcher::Searcher;
pub use snippet::{Marked, MarkedLine};
pub use text::{ExactError, TextError};
pub use tokens::Highlighter;
pub use vector::{HNSW_FROM, Hnsw, Nearness, VectorTable};
pub(crate) use words::is_stop_word;

/// Position of a chunk in a corpus; stays the same while the chunk lives.
pub type Slot = u32;

#[cfg(test)]
mod tests;
