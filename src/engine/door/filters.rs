//! Filters: the part of a request that restricts which chunks and files may be found.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::chunk::{ChunkSet, ChunkType};
use crate::config::globs;
use crate::engine::AskError;
use crate::engine::door::paths;
use crate::engine::door::project::Project;
use crate::scan::Unread;
use crate::search::{Filter, LanguageFilter, PathFilter};
use crate::source::Skip;
use crate::store::SourceTable;
use crate::text::count;

/// Maximum number of globs in one request. Together with the length it bounds time and stack.
const MAX_GLOBS: usize = 64;
const MAX_GLOB_BYTES: usize = 1024;

/// Filters by the kind of a chunk.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Kinds {
    /// Only chunks of these types.
    #[serde(default)]
    #[schemars(schema_with = "types")]
    pub types: Vec<ChunkType>,
    /// Only these languages: rust, python, markdown …, or all but !markdown
    #[serde(default)]
    pub languages: Vec<String>,
}

/// Filters by kind, path and tag.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Filters {
    #[serde(flatten)]
    pub kinds: Kinds,
    /// Globs, for example src/**, *.rs, docs, !tests
    #[serde(default)]
    pub paths: Vec<String>,
    /// Only chunks with all of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// none: no files of tests; only: nothing else.
    #[serde(default)]
    #[schemars(schema_with = "tests_schema")]
    pub tests: Option<Tests>,
}

/// What is done with files of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tests {
    /// They are left out.
    None,
    /// All others are left out.
    Only,
}

fn tests_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["none", "only"]})
}

fn types(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "enum": ChunkType::SEARCHED.map(ChunkType::as_str)}})
}

impl Kinds {
    pub(in crate::engine) fn filter(&self) -> Filter {
        Filter {
            types: self.types.clone(),
            languages: of_languages(&self.languages),
            ..Filter::default()
        }
    }
}

impl Filters {
    /// Returns the filter for the files of one project, or for those of several.
    pub(in crate::engine) fn filter(&self, of: Option<&Project>) -> Result<Filter, AskError> {
        Ok(Filter {
            paths: of_paths(of, &self.paths)?,
            tags: self.tags.clone(),
            tests: self.tests.map(|tests| tests == Tests::Only),
            ..self.kinds.filter()
        })
    }

    /// Returns warnings about languages and globs of the request that no indexed file of these
    /// projects has.
    pub(in crate::engine) fn idle(
        &self,
        projects: &[(&Project, &ChunkSet)],
    ) -> impl Iterator<Item = String> {
        let languages = unknown_languages(projects, &self.kinds.languages);
        languages.into_iter().chain(idle_paths(projects, &self.paths))
    }
}

/// Reads the languages of a request; `!` before a name leaves the language out.
pub(in crate::engine) fn of_languages(languages: &[String]) -> LanguageFilter {
    LanguageFilter::new(languages.iter().map(String::as_str))
}

/// Compiles the globs of a request. One text may hold several, separated by commas; `!` before a
/// glob excludes what it matches. In one project, a path means what exists there; see [`paths::glob`].
pub(in crate::engine) fn of_paths(
    of: Option<&Project>,
    patterns: &[String],
) -> Result<PathFilter, AskError> {
    let patterns = single_globs(patterns);
    if patterns.len() > MAX_GLOBS || patterns.iter().any(|g| g.len() > MAX_GLOB_BYTES) {
        return Err(AskError::Arguments(format!(
            "paths: give at most {MAX_GLOBS} globs of at most {MAX_GLOB_BYTES} bytes"
        )));
    }
    let set = |patterns: Vec<String>| {
        globs(&patterns).map_err(|e| AskError::Arguments(format!("paths: {e}")))
    };
    let (unwanted, wanted): (Vec<&str>, Vec<&str>) =
        patterns.iter().copied().partition(|pattern| pattern.starts_with('!'));
    let unwanted = unwanted.into_iter().map(|pattern| excluding(of, &pattern[1..])).collect();
    let wanted = wanted.into_iter().map(|pattern| in_index(of, pattern)).collect();
    Ok(PathFilter { wanted: set(wanted)?, unwanted: set(unwanted)? })
}

/// Returns a glob over the paths of the index.
fn in_index(of: Option<&Project>, pattern: &str) -> String {
    of.map_or_else(|| pattern.to_string(), |project| paths::glob(project, pattern))
}

/// Returns a glob of what is left out. A name leaves out all files and folders of that name.
fn excluding(of: Option<&Project>, pattern: &str) -> String {
    let is_name = !pattern.contains(['/', '\\']);
    if is_name { pattern.to_string() } else { in_index(of, pattern) }
}

/// Splits lists of globs at commas outside braces.
#[must_use]
pub fn single_globs(patterns: &[String]) -> Vec<&str> {
    let mut out = Vec::new();
    for pattern in patterns {
        let (mut depth, mut start) = (0_i32, 0);
        for (at, c) in pattern.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth <= 0 => {
                    out.push(pattern[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        out.push(pattern[start..].trim());
    }
    out.retain(|pattern| !pattern.is_empty());
    out
}

/// Returns a warning if a glob of a request matches no indexed file of these projects, and why a folder
/// or a file that it names is not indexed.
pub(in crate::engine) fn idle_paths(
    projects: &[(&Project, &ChunkSet)],
    patterns: &[String],
) -> Option<String> {
    let matches = |pattern: &&str| {
        projects.iter().any(|&(project, chunks)| {
            let one = [in_index(Some(project), pattern.trim_start_matches('!'))];
            globs(&one).is_ok_and(|glob| chunks.files().any(|file| glob.is_match(file)))
        })
    };
    let idle: Vec<&str> =
        single_globs(patterns).into_iter().filter(|pattern| !matches(pattern)).collect();
    let folders: Vec<&str> = idle.iter().map(|pattern| literal(pattern)).collect();
    let mut why = vec![None; folders.len()];
    for &(project, _) in projects {
        let here = paths::why_idle(project, &folders);
        why = why.into_iter().zip(here).map(|(known, here)| known.or(here)).collect();
    }
    let with_why = |(pattern, why): (&str, Option<String>)| {
        why.map_or_else(|| pattern.to_string(), |why| format!("{pattern} ({why})"))
    };
    let idle: Vec<String> = idle.into_iter().zip(why).map(with_why).collect();
    (!idle.is_empty()).then(|| format!("no indexed file matches {}", idle.join(", ")))
}

/// Returns the folders with which a glob begins.
fn literal(glob: &str) -> &str {
    let end = glob.find(['*', '?', '[', '{']).unwrap_or(glob.len());
    let folders =
        if end < glob.len() { &glob[..glob[..end].rfind('/').unwrap_or(0)] } else { glob };
    folders.trim_matches('/')
}

/// Returns a warning if a request names languages that no indexed file of these projects has.
fn unknown_languages(projects: &[(&Project, &ChunkSet)], languages: &[String]) -> Option<String> {
    let languages = of_languages(languages);
    let sets: Vec<&ChunkSet> = projects.iter().map(|(_, chunks)| *chunks).collect();
    let (unknown, there) = languages.unknown_in(&sets)?;
    Some(format!(
        "no indexed file is written in {}; the languages are {}",
        unknown.join(", "),
        there.join(", ")
    ))
}

/// Returns warnings about files that a search did not look at, if it looked at `n_files` others.
pub(in crate::engine) fn not_searched(unread: &Unread, n_files: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if unread.n_left > 0 {
        warnings.push(format!(
            "the search took too long and skipped {}: restrict it with paths",
            count(unread.n_left, "file")
        ));
    }
    if let Some(why) = &unread.why {
        warnings.push(format!(
            "{} could not be read, so nothing is known about them ({why}): correct that, and search again",
            count(unread.n_refused, "file")
        ));
    }
    // Single files that are gone are those that the next index run removes.
    if unread.n_gone > 0 && n_files == 0 {
        warnings.push(format!(
            "no line was searched, because {} of the index are not on disk here: only the search by words and meaning answers from chunk files alone",
            count(unread.n_gone, "file")
        ));
    }
    warnings
}

/// Returns a warning about files at these paths that the index has not, although their lines are what
/// somebody may look for. It belongs to an answer that finds nothing.
pub(in crate::engine) fn skipped_files(project: &Project, paths: &PathFilter) -> Option<String> {
    const REASONS: [Skip; 3] = [Skip::Minified, Skip::TooLarge, Skip::Unreadable];
    let table = SourceTable::read(&project.layout)?;
    let counts = REASONS.map(|skip| {
        let reason = skip.describe(None);
        let is_it = |(path, why): &(&str, &str)| why.starts_with(&reason) && paths.is_match(path);
        (table.all_skipped().filter(is_it).count(), reason)
    });
    let total = counts.iter().map(|(n, _)| n).sum::<usize>();
    let listed = counts.iter().filter(|(n, _)| *n > 0).map(|(n, reason)| format!("{n} {reason}"));
    (total > 0).then(|| {
        format!(
            "nothing was searched in {} that the index skips ({}): cortex status --verbose lists them",
            count(total, "file"),
            listed.collect::<Vec<_>>().join(", ")
        )
    })
}
