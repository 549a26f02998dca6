//! Surveys the current text of the indexed files: finds code by a syntax pattern, and counts files,
//! lines and bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::ChunkSet;
use crate::engine::door::filters::{not_searched, of_languages, of_paths, skipped_files};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::project::Project;
use crate::engine::door::serving::{Engine, View};
use crate::engine::read::grep::GrepRequest;
use crate::engine::{AskError, Call};
use crate::scan::{self, By, PatternMatch, Size};
pub use crate::scan::{CountSort, FileCount};
use crate::search::{LanguageFilter, PathFilter};
use crate::store::SourceTable;
use crate::text::count;

/// The arguments of a search by syntax pattern.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct PatternRequest {
    /// Code with $NAME for one part and $$$NAME for any number: `if err != nil { return $$$ }`
    pub pattern: String,
    /// Only these languages, or all but !markdown; by default all that can parse the pattern.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Globs, for example src/**, *.rs, docs, !tests
    #[serde(default)]
    pub paths: Vec<String>,
    /// Number of lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    pub context: u32,
    /// Maximum number of matches.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: usize,
}

fn hundred() -> usize {
    100
}

/// The matches of a pattern.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatternAnswer {
    /// Sorted by path and line.
    pub places: Vec<PatternMatch>,
    /// Number of all matches.
    pub total: usize,
    /// Number of files that were searched.
    pub files: usize,
    /// Without matches: where the longest name of the pattern occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// The arguments of a count of files.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct FilesRequest {
    /// How to group the files.
    #[serde(default)]
    pub by: CountBy,
    /// Levels of directories, if grouped by directory.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    pub depth: usize,
    /// The order of the rows.
    #[serde(default)]
    pub sort: CountSort,
    /// Maximum number of rows.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 500))]
    pub limit: usize,
    /// Only these languages: rust, python, markdown …, or all but !markdown
    #[serde(default)]
    pub languages: Vec<String>,
    /// Globs, for example src/**, *.rs, docs, !tests
    #[serde(default)]
    pub paths: Vec<String>,
}

fn one() -> usize {
    1
}

fn twenty() -> usize {
    20
}

/// The grouping of the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountBy {
    #[default]
    Language,
    Directory,
    File,
}

/// The counts of files, lines and bytes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilesAnswer {
    /// The groups, in the requested order.
    pub rows: Vec<FileCount>,
    /// Number of all rows.
    pub total_rows: usize,
    /// Sum of all rows.
    pub total: FileCount,
    /// The grouping.
    #[serde(skip)]
    pub by: CountBy,
    #[serde(flatten)]
    pub state: AnswerState,
}

impl Engine {
    /// Finds code that matches a syntax pattern.
    ///
    /// # Errors
    /// When the globs are not valid, or the pattern is not valid in any of the languages.
    pub fn pattern(
        &self,
        request: &PatternRequest,
        call: &Call,
    ) -> Result<PatternAnswer, AskError> {
        let paths = of_paths(Some(&self.project), &request.paths)?;
        let View { code, mut state } = self.files_view(call)?;
        let LanguageFilter { wanted, unwanted } = of_languages(&request.languages);
        // A wanted language parses the pattern whatever the files are called; see `patterns`.
        let others = LanguageFilter { unwanted, ..LanguageFilter::default() };
        let files = files(&self.project, code.corpus.chunks(), &paths, &others);
        let patterns = scan::patterns(
            &request.pattern,
            &wanted,
            files.iter().map(|(_, language)| &**language),
        );
        let patterns = patterns.map_err(|e| AskError::Arguments(e.to_string()))?;
        let found = scan::find(
            self.project.layout.root(),
            &files,
            &patterns,
            request.context,
            request.limit,
            &call.work(),
        );
        call.check()?;
        state.warnings.extend(not_searched(&found.unread, found.n_files));
        if found.total == 0 {
            state.warnings.extend(skipped_files(&self.project, &paths));
        }
        let note = match found.total {
            0 => self.name_of_pattern(request, call)?,
            _ => None,
        };
        Ok(PatternAnswer {
            note,
            places: found.places,
            total: found.total,
            files: found.n_files,
            state: state.in_brief(call),
        })
    }

    /// Says where the longest name of a pattern occurs.
    fn name_of_pattern(
        &self,
        request: &PatternRequest,
        call: &Call,
    ) -> Result<Option<String>, AskError> {
        const SHORTEST: usize = 3;
        const SHOWN: usize = 5;
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let names = request.pattern.split(|c| !is_part(c));
        let names = names.filter(|n| !n.contains('$') && n.len() >= SHORTEST);
        let Some(name) = names.max_by_key(|name| name.len()) else { return Ok(None) };
        let answer = self.grep(
            &GrepRequest {
                pattern: name.into(),
                word: true,
                paths: request.paths.clone(),
                languages: request.languages.clone(),
                limit: SHOWN,
                ..GrepRequest::default()
            },
            call,
        )?;
        let found = answer.found;
        let lines = found.addresses();
        Ok(Some(match found.total {
            0 => format!("no line has the name {name} either"),
            n => {
                let more = if n > lines.len() { " …" } else { "" };
                let n = count(n, "line");
                format!("the name {name} is in {n}: {}{more}", lines.join(", "))
            }
        }))
    }

    /// Counts files, lines and bytes.
    ///
    /// # Errors
    /// When the globs are not valid.
    pub fn files(&self, request: &FilesRequest, call: &Call) -> Result<FilesAnswer, AskError> {
        let paths = of_paths(Some(&self.project), &request.paths)?;
        let View { code, state } = self.files_view(call)?;
        let files =
            files(&self.project, code.corpus.chunks(), &paths, &of_languages(&request.languages));
        let sizes = scan::sizes(self.project.layout.root(), &files);
        call.check()?;
        let by = match request.by {
            CountBy::Language => By::Language,
            CountBy::Directory => By::Directory(request.depth),
            CountBy::File => By::File,
        };
        let mut rows = scan::grouped(&sizes, by, request.sort);
        let (total_rows, total) = (rows.len(), scan::total(&rows));
        rows.truncate(request.limit);
        Ok(FilesAnswer { rows, total_rows, total, by: request.by, state })
    }
}

impl Project {
    /// Returns the sizes of files as they were indexed. Only files of which they are not known are
    /// read.
    pub(in crate::engine) fn indexed_sizes(&self, files: &[(String, String)]) -> Vec<Size> {
        let table = SourceTable::read(&self.layout).unwrap_or_default();
        let known = |(path, language): &(String, String)| {
            let entry = table.files.get(path).filter(|entry| entry.lines > 0)?;
            let (path, language) = (path.clone(), language.clone());
            Some(Size { path, language, lines: entry.lines, bytes: entry.bytes })
        };
        let (mut sizes, mut others) = (Vec::new(), Vec::new());
        for file in files {
            match known(file) {
                Some(size) => sizes.push(size),
                None => others.push(file.clone()),
            }
        }
        sizes.extend(scan::sizes(self.layout.root(), &others));
        sizes
    }
}

/// Returns the indexed files that match, each with its language. An empty list restricts nothing.
fn files(
    project: &Project,
    chunks: &ChunkSet,
    paths: &PathFilter,
    languages: &LanguageFilter,
) -> Vec<(String, String)> {
    let is_wanted = |path: &str, language: &str| {
        paths.is_match(path)
            && languages.is_match(Some(language), Some(path))
            && project.may_read(path)
    };
    let wanted = chunks.written_in().filter(|(path, language)| is_wanted(path, language));
    wanted.map(|(path, language)| (path.to_string(), language.to_string())).collect()
}
