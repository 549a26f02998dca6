//! Answers queries from a corpus.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Slot;
use super::cores::Answering;
use super::corpus::{Corpus, SearchError};
use super::filter::Filter;
use super::hit::Results;
use super::near::{NearName, near_names};
use super::passages::{self, Passages};
use super::query::Query;
use super::statistics::Statistics;
use super::{rank, spelling};
use crate::text::panic_message;

/// Searches one corpus. It costs nothing to create.
#[derive(Clone, Copy)]
pub struct Searcher<'a> {
    corpus: &'a Corpus,
}

impl<'a> Searcher<'a> {
    /// Creates a searcher of `corpus`.
    #[must_use]
    pub fn new(corpus: &'a Corpus) -> Self {
        Self { corpus }
    }

    /// Computes and reads what searches share: how the files refer to each other, and all names.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn read_ahead(self) -> Result<(), SearchError> {
        self.guard(|| {
            self.corpus.references();
            self.corpus.names()?;
            Ok(())
        })
    }

    /// Parses a query. A word that occurs nowhere in the corpus gets the name that differs in one or
    /// two letters beside it (a query of one symbol, in its place), unless `is_word` knows it as a word
    /// of English.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn query(self, text: &str, is_word: &dyn Fn(&str) -> bool) -> Result<Query, SearchError> {
        self.guard(|| Ok(spelling::corrected(&[self.corpus], text, is_word)?))
    }

    /// Returns a question in English, and what a reader should know of the translation; `None` if it is
    /// English.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn in_english(
        self,
        text: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(String, String)>, SearchError> {
        let query = Query::new(text);
        let found = self.guard(|| Ok(spelling::in_english(&[self.corpus], &query, is_word)?))?;
        Ok(found.map(|found| (found.text, found.note)))
    }

    /// Parses a query of several corpora. A word that one of them holds is not corrected.
    ///
    /// # Errors
    /// When a text index cannot be read.
    pub fn query_of_all(
        all: &[Self],
        text: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Result<Query, SearchError> {
        let corpora: Vec<&Corpus> = all.iter().map(|searcher| searcher.corpus).collect();
        match all {
            [first, ..] => first.guard(|| Ok(spelling::corrected(&corpora, text, is_word)?)),
            [] => Ok(Query::new(text)),
        }
    }

    /// Returns at most `n` symbols whose names are near to `word`, nearest first.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn near_names(self, word: &str, n: usize) -> Result<Vec<NearName>, SearchError> {
        self.guard(|| Ok(near_names(self.corpus, word, n)?))
    }

    /// Searches by words and meaning. `vector` is the query's, `[f32; dimensions]`; if it is empty
    /// or zero, only words count.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn search(
        self,
        query: &Query,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Results, SearchError> {
        self.guard(|| Ok(rank::hybrid(self.corpus, query, vector, filter, limit, None)?))
    }

    /// Counts the words of a query, for [`Searcher::search_among`].
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn statistics(self, query: &Query) -> Result<Statistics, SearchError> {
        self.guard(|| Ok(Statistics::of(query, self.corpus)?))
    }

    /// Searches one of several corpora by words and meaning. With the pooled counts of all of them, the
    /// scores are comparable.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn search_among(
        self,
        query: &Query,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        pooled: &Statistics,
    ) -> Result<Results, SearchError> {
        self.guard(|| Ok(rank::hybrid(self.corpus, query, vector, filter, limit, Some(pooled))?))
    }

    /// Proposes the chunks that may answer a call of several entries. `names` are the names and keys
    /// in them, and `vectors` those of the entries, `[f32; dimensions]` or empty.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn passages(
        self,
        entries: &[String],
        names: &[String],
        vectors: &[Vec<f32>],
        filter: &Filter,
    ) -> Result<Passages, SearchError> {
        self.guard(|| Ok(passages::passages(self.corpus, entries, names, vectors, filter)?))
    }

    /// Returns whether a text has this name as a word, in any spelling.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn holds(self, name: &str) -> Result<bool, SearchError> {
        self.guard(|| Ok(passages::n_holding(self.corpus, &passages::folded(name))? > 0))
    }

    /// Finds the chunks that match an exact query.
    ///
    /// # Errors
    /// When the query is not well-formed (the message explains the syntax), or the text index
    /// cannot be read.
    pub fn exact(self, query: &str, filter: &Filter, limit: usize) -> Result<Results, SearchError> {
        self.guard(|| {
            let found = self.corpus.text.matching(query)?;
            Ok(rank::exact(self.corpus, &Query::words(query), found, filter, limit)?)
        })
    }

    /// Ranks by meaning alone. `vector`: as in [`Searcher::search`].
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn by_meaning(
        self,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Results, SearchError> {
        self.guard(|| Ok(rank::by_meaning(self.corpus, vector, None, filter, limit)?))
    }

    /// Ranks other files by their nearness in meaning to a chunk. `None` when the chunk is unknown
    /// or has no vector.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn related(
        self,
        id: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Results>, SearchError> {
        let Corpus { rows, vectors, file_of, .. } = self.corpus;
        let Some(row) = rows.iter().position(|e| e.as_ref().is_some_and(|e| &*e.id == id)) else {
            return Ok(None);
        };
        let Some(vector) = Slot::try_from(row).ok().and_then(|slot| vectors.get(slot)) else {
            return Ok(None);
        };
        self.guard(|| {
            Ok(Some(rank::by_meaning(self.corpus, &vector, Some(file_of[row]), filter, limit)?))
        })
    }

    /// Ranks other files by what they do, compared with the file at `path`. `None` when the file is
    /// unknown or has no vectors.
    ///
    /// # Errors
    /// When the text index cannot be read.
    pub fn related_to_file(
        self,
        path: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Option<Results>, SearchError> {
        let Some(of) = self.corpus.files.iter().position(|file| &*file.path == path) else {
            return Ok(None);
        };
        let Ok(of) = u32::try_from(of) else { return Ok(None) };
        self.guard(|| Ok(rank::related(self.corpus, of, filter, limit)?))
    }

    /// Runs one question. An error or a panic of an index that reads saved files is recorded as
    /// damage; from then on every question fails with it, even one that needs only undamaged files.
    fn guard<T>(self, ask: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
        let _answering = Answering::begin();
        let health = self.corpus.text.health();
        let result = catch_unwind(AssertUnwindSafe(ask));
        match &result {
            Err(panic) => health.note(&panic_message(&**panic)),
            Ok(Err(e @ (SearchError::Text(_) | SearchError::Saved(_)))) => health.note(e),
            Ok(_) => {}
        }
        match (health.damage(), result) {
            (Some(damage), _) => Err(SearchError::Damaged(damage.into())),
            (None, Ok(result)) => result,
            (None, Err(panic)) => resume_unwind(panic),
        }
    }
}
