//! The lines with a text that an entry names and that is no symbol: a key, a constant, a message.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use super::unmarked;
use crate::engine::graph::query::NameUse;
use crate::engine::read::grep::{FileLines, GrepRequest};
use crate::engine::read::patterns::pattern_in;
use crate::engine::{AskError, Call, Engine};

/// An entry of more words is a question.
const MAX_WORDS: usize = 6;
/// The shortest text whose lines are sought, in bytes.
const LEAST_TEXT: usize = 3;
/// Most lines that an answer keeps, and most files that it counts.
const MAX_LINES: usize = 40;
const MAX_FILES: usize = 20;

/// The lines with a text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TextLines {
    /// Number of all lines with the text.
    pub total: usize,
    /// Number of the files that have them.
    pub total_files: usize,
    /// The first lines, source files first. Those of tests, translations and the like are only counted.
    pub lines: Vec<NameUse>,
    /// The files with the most lines.
    pub files: Vec<FileLines>,
}

impl Engine {
    /// Returns the lines with the text of an entry, if it can be one of the code and occurs.
    pub(super) fn lines_with(
        &self,
        about: &str,
        call: &Call,
    ) -> Result<Option<TextLines>, AskError> {
        let pattern = pattern_in(about);
        let text = pattern.unwrap_or_else(|| unmarked(about));
        let is_question = text.split_whitespace().count() > MAX_WORDS;
        if pattern.is_none() && (text.len() < LEAST_TEXT || is_question) {
            return Ok(None);
        }
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let request = GrepRequest {
            pattern: text.into(),
            regex: pattern.is_some(),
            word: pattern.is_none() && is_word(text.chars().next()) && is_word(text.chars().last()),
            limit: MAX_LINES,
            folds: true,
            ..GrepRequest::default()
        };
        let found = self.grep(&request, call)?.found;
        if found.total == 0 {
            return Ok(None);
        }
        let mut files = found.counts.to_vec();
        files.sort_by_key(|file| Reverse(file.lines));
        files.truncate(MAX_FILES);
        let lines = found.files.into_iter().flat_map(NameUse::in_file).collect();
        Ok(Some(TextLines { total: found.total, total_files: found.total_files, lines, files }))
    }
}
