//! What can be said of the indexed files as they are now: where code has a given shape, how much
//! there is of what.

use globset::GlobSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filters::{lower_case, of_paths};
use super::freshness::AnswerState;
use super::serving::{Engine, View};
use super::{AskError, Call};
use crate::chunk::ChunkSet;
use crate::survey::{self, By, PatternMatch, SizeGroup, Sort};
use crate::text::count;

/// Code of which shape is to be found.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct PatternRequest {
    /// Code with $NAME for one part and $$$NAME for any number: `if err != nil { return $$$ }`
    pub pattern: String,
    /// Of which languages; by default all in which it is code.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Only files that match one of these globs: src/**, *.rs, docs
    #[serde(default)]
    pub paths: Vec<String>,
    /// Lines shown before and after each place.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    pub context: u32,
    /// Most places.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: usize,
}

fn hundred() -> usize {
    100
}

/// Where code has the shape.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatternAnswer {
    /// In order of paths and lines.
    pub places: Vec<PatternMatch>,
    /// Places there are.
    pub total: usize,
    /// Files that were looked at.
    pub files: usize,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// What is to be counted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct FilesRequest {
    /// What is counted together.
    #[serde(default)]
    pub by: CountBy,
    /// Of directories: levels.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    pub depth: usize,
    /// What comes first.
    #[serde(default)]
    pub sort: CountSort,
    /// Most rows.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 500))]
    pub limit: usize,
    /// Only these languages: rust, python, markdown …
    #[serde(default)]
    pub languages: Vec<String>,
    /// Only files that match one of these globs: src/**, *.rs, docs
    #[serde(default)]
    pub paths: Vec<String>,
}

fn one() -> usize {
    1
}

fn twenty() -> usize {
    20
}

/// What is counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountBy {
    #[default]
    Language,
    Directory,
    File,
}

/// What comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountSort {
    #[default]
    Lines,
    Bytes,
    Files,
    Name,
}

/// How much there is of what.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilesAnswer {
    /// What was asked for, in order.
    pub rows: Vec<FileCount>,
    /// Rows there are.
    pub total_rows: usize,
    /// Of all rows together.
    pub total: FileCount,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// Files that are counted together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileCount {
    /// A language, directory or file.
    pub name: String,
    /// Files.
    pub files: u64,
    /// Lines of them.
    pub lines: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Engine {
    /// Finds code of a shape.
    ///
    /// # Errors
    /// When the pattern is code in none of the languages.
    pub fn pattern(
        &self,
        request: &PatternRequest,
        call: &Call,
    ) -> Result<PatternAnswer, AskError> {
        let paths = of_paths(&request.paths)?;
        let View { code, mut state } = self.view(call)?;
        let languages = lower_case(&request.languages);
        let files = files(code.corpus.chunks(), &paths, &[]);
        let patterns = survey::patterns(
            &request.pattern,
            &languages,
            files.iter().map(|(_, language)| &**language),
        );
        let patterns = patterns.map_err(|e| AskError::Arguments(e.to_string()))?;
        let found = survey::find(
            self.project.layout.root(),
            &files,
            &patterns,
            request.context,
            request.limit,
            &call.cancel,
        );
        call.check()?;
        if found.n_left > 0 {
            state.warnings.push(format!(
                "{} were left out, because it took too long: name paths",
                count(found.n_left, "file")
            ));
        }
        Ok(PatternAnswer {
            places: found.places,
            total: found.total,
            files: found.n_files,
            state: state.in_brief(call),
        })
    }

    /// Counts files, lines and bytes.
    ///
    /// # Errors
    /// When the request cannot be used.
    pub fn files(&self, request: &FilesRequest, call: &Call) -> Result<FilesAnswer, AskError> {
        let paths = of_paths(&request.paths)?;
        let View { code, state } = self.view(call)?;
        let files = files(code.corpus.chunks(), &paths, &lower_case(&request.languages));
        let sizes = survey::sizes(self.project.layout.root(), &files);
        call.check()?;
        let by = match request.by {
            CountBy::Language => By::Language,
            CountBy::Directory => By::Directory(request.depth),
            CountBy::File => By::File,
        };
        let sort = match request.sort {
            CountSort::Lines => Sort::Lines,
            CountSort::Bytes => Sort::Bytes,
            CountSort::Files => Sort::Files,
            CountSort::Name => Sort::Name,
        };
        let row = |g: SizeGroup| FileCount {
            name: g.name,
            files: g.files,
            lines: g.lines,
            bytes: g.bytes,
        };
        let groups = survey::grouped(&sizes, by, sort);
        let (total_rows, total) = (groups.len(), row(survey::total(&groups)));
        let rows = groups.into_iter().take(request.limit).map(row).collect();
        Ok(FilesAnswer { rows, total_rows, total, state })
    }
}

/// The files of an index that match, each with its language. None of a list restricts nothing.
fn files(chunks: &ChunkSet, paths: &GlobSet, languages: &[String]) -> Vec<(String, String)> {
    let is_wanted = |path: &str, language: &str| {
        (paths.is_empty() || paths.is_match(path))
            && (languages.is_empty() || languages.iter().any(|l| l == language))
    };
    let wanted = chunks.written_in().filter(|(path, language)| is_wanted(path, language));
    wanted.map(|(path, language)| (path.to_string(), language.to_string())).collect()
}
