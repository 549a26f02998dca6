//! The lines with a text that an entry names and that is no symbol: a key, a constant, a message.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use super::unquoted;
use crate::engine::graph::NameUse;
use crate::engine::grep::GrepRequest;
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
    /// The first lines, source files first. Those of tests, translations and other kinds of files of which
    /// there are many are only counted.
    pub lines: Vec<NameUse>,
    /// The files with the most lines.
    pub files: Vec<FileLines>,
}

/// The number of lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileLines {
    /// Relative to the root.
    pub path: String,
    pub lines: usize,
}

impl Engine {
    /// Returns the lines with the text of an entry, if it can be one of the code and occurs.
    pub(super) fn lines_with(&self, about: &str, call: &Call) -> Result<Option<TextLines>, AskError> {
        let text = unquoted(about);
        if text.len() < LEAST_TEXT || text.split_whitespace().count() > MAX_WORDS {
            return Ok(None);
        }
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let request = GrepRequest {
            pattern: text.into(),
            word: is_word(text.chars().next()) && is_word(text.chars().last()),
            limit: MAX_LINES,
            folds: true,
            ..GrepRequest::default()
        };
        let found = self.grep(&request, call)?;
        if found.total == 0 {
            return Ok(None);
        }
        let counted = self.grep(&GrepRequest { count: true, ..request }, call)?;
        let mut files: Vec<FileLines> = counted
            .files
            .into_iter()
            .map(|file| FileLines { path: file.path, lines: file.matches })
            .collect();
        files.sort_by_key(|file| Reverse(file.lines));
        files.truncate(MAX_FILES);
        let lines = found.files.into_iter().flat_map(|file| {
            let path = file.path;
            file.lines.into_iter().filter(|line| line.is_match).map(move |line| NameUse {
                path: path.clone(),
                line: u32::try_from(line.line).unwrap_or(u32::MAX),
                symbol: line.symbol,
                text: line.text.trim().to_string(),
            })
        });
        let lines = lines.collect();
        Ok(Some(TextLines { total: found.total, total_files: found.total_files, lines, files }))
    }
}
