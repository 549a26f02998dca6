//! Answers questions before there is an index: a search by the words of the files that hold most of
//! them, and a question about named files from these files.

use std::collections::HashSet;

use crate::address::Address;
use crate::engine::door::filters::Filters;
use crate::engine::door::paths;
use crate::engine::door::project::SHORT_WAIT;
use crate::engine::door::serving::{Engine, View};
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

    /// Returns a view in which the files of these places are read, if each is in a file that it names.
    /// Returns `None` if the index has to answer.
    ///
    /// # Errors
    /// When the call is cancelled, or the list of files cannot be searched.
    pub(in crate::engine) fn places_early(
        &self,
        places: &[&str],
        call: &Call,
    ) -> Result<Option<View>, AskError> {
        let name = |place: &&str| file_name(&Address::parse(place).path).to_string();
        let names: HashSet<String> = places.iter().map(name).collect();
        let is_named = |path: &str| names.contains(file_name(path));
        let view = self.listed(&is_named, call)?;
        let are_all_read = |view: &View| {
            let place = |place: &&str| paths::place(&self.project, &view.code.corpus, place);
            places.iter().map(place).all(|place| place.is_ok_and(|place| is_named(&place.path)))
        };
        Ok(view.filter(are_all_read))
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
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
