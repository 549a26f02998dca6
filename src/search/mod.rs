//! The read side: an in-memory index over a set of chunks, and queries against it.
//! The module is pure and synchronous: it opens no path and reads neither the clock nor the
//! environment. Everything that it knows of a repository comes from the chunks, so files of other
//! programs rank as well as ours.
//! [`CorpusBuilder`] holds what changes (the tantivy writer, the slots); each update returns a
//! [`Corpus`], which is immutable and cheap to share. Results depend only on the live chunks: not
//! on the order of updates, deleted documents, the segment layout or the number of threads.

mod bm25;
mod cores;
mod corpus;
mod damage;
mod evidence;
mod files;
mod filter;
mod form;
mod history;
mod hit;
mod messages;
mod named;
mod names;
mod natural;
mod near;
mod operators;
mod part;
mod passages;
mod places;
mod proximity;
mod query;
mod rank;
mod reading;
mod references;
mod rows;
mod saved;
mod searcher;
mod sketch;
mod spelling;
mod statistics;
mod stop_words;
mod text;
mod tokens;
mod vector;

pub use corpus::{Corpus, CorpusBuilder, Read, SearchError, VectorSource};
pub use files::FileGroup;
pub use filter::{Condition, Filter, LanguageFilter, PathFilter};
pub use history::ChangedTogether;
pub use hit::{Hit, QueryWords, Results, Term};
pub use near::NearName;
pub use part::{
    CorpusPart, CountBlock, NameBlock, PreparedFile, Preparer, Proposal, SearchRow, Whole,
    WordCount, WordCounts, WordSource, Words, words_of,
};
pub use passages::{AskedWords, Fit, Passages};
pub use places::{NamedPlace, places_first};
pub use query::{HiddenCommits, Query};
pub use rank::{FEATURES, Feature};
pub use searcher::Searcher;
pub use sketch::{Sketch, Sketched, nearest};
pub use statistics::{CorpusSize, Statistics};
pub(crate) use stop_words::is_stop_word;
pub use text::{ExactError, TextError};
pub use tokens::{Highlighter, search_words};
pub use vector::{HNSW_FROM, Hnsw, Nearness, VectorTable};

/// Position of a chunk in a corpus. It stays the same while the chunk lives.
pub type Slot = u32;

#[cfg(test)]
mod tests;
