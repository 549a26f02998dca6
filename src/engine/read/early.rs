//! Answers the first search of a project by the words of its files, before there is an index.

use crate::engine::door::filters::Filters;
use crate::engine::door::project::SHORT_WAIT;
use crate::engine::door::serving::Engine;
use crate::engine::read::search::{SearchAnswer, SearchMode, SearchRequest};
use crate::engine::{AskError, Call};
use crate::index::EarlyChunks;
use crate::search::{Filter, search_words};
use crate::text::count;

/// Words are looked for by their first two thirds, so that other forms are found as well, but by no
/// fewer characters than this.
const SHORTEST: usize = 4;
/// Most words that are looked for. A pasted log may have many.
const MAX_WORDS: usize = 64;

impl Engine {
    /// Answers a search from the files that hold most of its words, if the command allows that and
    /// there is no index yet. Returns `None` if the search has to wait for the index.
    ///
    /// # Errors
    /// When the call is cancelled, or what was read cannot be searched.
    pub(in crate::engine) fn search_early(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        call: &Call,
    ) -> Result<Option<SearchAnswer>, AskError> {
        // Words alone cannot answer the others, or the best files may all be left out.
        let is_plain = request.mode == SearchMode::Hybrid
            && request.cursor.is_none()
            && is_unfiltered(&request.filters);
        let words = beginnings(&request.query);
        if !is_plain || words.is_empty() || !self.may_answer_early() {
            return Ok(None);
        }
        // If the files cannot be read, the index run says why.
        let read = self.project.indexer_alone(SHORT_WAIT).read_early(&words);
        let Ok(Some(EarlyChunks { chunks, n_files, n_files_in_all })) = read else {
            return Ok(None);
        };
        let view = self.view_without_index(chunks, call)?;
        let mut answer = self.search_in(view, request, filter, call)?;
        if answer.results.is_empty() {
            return Ok(None);
        }
        answer.next_cursor = None;
        answer.notes.push(format!(
            "there was no index: these results are found by words alone, in {n_files} of {}; the index is being built, and the next search also finds by meaning",
            count(n_files_in_all, "file")
        ));
        self.answered_early();
        Ok(Some(answer))
    }
}

fn is_unfiltered(filters: &Filters) -> bool {
    let Filters { kinds, paths, tags, tests } = filters;
    let is_of_any_kind = kinds.types.is_empty() && kinds.languages.is_empty();
    is_of_any_kind && paths.is_empty() && tags.is_empty() && tests.is_none()
}

/// Returns how the words of a question begin, in lower case.
fn beginnings(query: &str) -> Vec<String> {
    let beginning = |word: &String| -> String {
        let n = word.chars().count();
        word.chars().take((n * 2 / 3).max(SHORTEST)).collect()
    };
    search_words(query).iter().take(MAX_WORDS).map(beginning).collect()
}

#[cfg(test)]
mod tests {
    use super::beginnings;

    #[test]
    fn words_are_looked_for_in_all_their_forms() {
        assert_eq!(beginnings("how are retries counted?"), ["coun", "retr"]);
        assert_eq!(beginnings("load"), ["load"]);
    }
}
