//! Texts that may become questions, and what all kinds of them share.

use std::ops::Range;

use super::prose;
use super::question::Target;
use crate::languages::{LanguageKind, detect};

/// The text of an indexed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    pub path: String,
    pub text: String,
}

/// A text that may become a question.
pub(super) struct DraftQuestion {
    pub(super) kind: &'static str,
    pub(super) query: String,
    pub(super) language: &'static str,
    pub(super) targets: Vec<Target>,
    /// Position of the text in the file, for the order of the questions.
    pub(super) position: usize,
    /// File and byte range that are blanked.
    pub(super) hidden: Option<(usize, Range<usize>)>,
    /// The commit whose subject it is.
    pub(super) commit: Option<String>,
}

pub(super) fn target(path: &str, lines: Option<(u32, u32)>) -> Target {
    Target {
        path: path.to_string(),
        file: Some(path.to_string()),
        start_line: lines.map(|l| l.0),
        end_line: lines.map(|l| l.1),
    }
}

/// Names of files and folders of tests, examples, benchmarks and vendored code.
const ASIDE: &str = " test tests testing spec specs fixture fixtures mock mocks bench benches benchmark benchmarks testdata conftest testsuite unittest \
unittests example examples sample samples demo demos tck vendor vendored ";
/// Names of documents about the project's history, people or terms, not about what it does.
const ABOUT_PROJECT: &str = " changelog changes change history news newsfragments release releases license licence copying authors contributors conduct \
changeset changesets whatsnew contributing security governance maintainers template funding sponsors support adopters bugs ";

pub(super) fn is_aside(path: &str) -> bool {
    prose::name_parts(path).iter().any(|part| prose::is_in(ASIDE, part))
}

pub(super) fn is_about_project(path: &str) -> bool {
    matches!(detect(path, "").kind, LanguageKind::Document(_))
        && prose::name_parts(path).iter().any(|part| prose::is_in(ABOUT_PROJECT, part))
}

/// Returns the parts of the file's name, without its folder and extension.
pub(super) fn stem_parts(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    prose::name_parts(name.split_once('.').map_or(name, |(stem, _)| stem))
}
