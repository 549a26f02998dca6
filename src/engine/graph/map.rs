//! Tells what the project is: its purpose, size, commands, entries and modules, and the files and
//! symbols that the rest of it refers to most.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::query::NO_SOURCES;
use crate::engine::read::search::SearchRequest;
use crate::engine::{AskError, Call};
use crate::graph::{self, CodeGraph, MapFile, MapQuery};
use crate::languages::{self, LanguageKind};
use crate::live::Served;
use crate::overview::{self, About, Commands, EntryPoint, Module, Tree};
use crate::scan;
use crate::search::FileGroup;
use crate::text::{directory, file_stem};

/// How long references are counted. Of a larger project, a sample is.
const RANKING: Duration = Duration::from_secs(3);
/// A code graph that lacks the rows of more files is not read for an overview at hand.
const FEW: usize = 50;
/// Number of search results that become the focus, if the focus is a question.
const FOCUS: usize = 5;
/// Languages of style sheets.
const STYLES: [&str; 4] = ["css", "scss", "less", "stylus"];
/// Maximum number of files in a map.
const MAX_FILES: usize = 200;
/// Maximum number of languages in a map.
const MAX_LANGUAGES: usize = 5;

/// The ranked files, and whether the graph knows any source.
type Ranked = (Arc<graph::Map>, bool);

/// The arguments of a map.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct MapRequest {
    /// Show only files, those first that are close to this file or to the files that answer this
    /// question.
    pub focus: Option<String>,
}

/// What the project is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapAnswer {
    /// What it says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Number of indexed files.
    pub total_files: usize,
    /// Their number of lines.
    pub total_lines: u64,
    /// Its main languages with their number of lines, the largest first.
    pub languages: Vec<MapLanguage>,
    /// Commands to build, run and test it, by the files that tell them.
    pub commands: Vec<Commands>,
    /// Where its programs and libraries begin.
    pub entries: Vec<EntryPoint>,
    /// Its packages and main directories, the largest first.
    pub modules: Vec<Module>,
    /// Number of them.
    pub total_modules: usize,
    /// The most important files, with their most important symbols.
    pub files: Vec<MapFile>,
    /// Number of all files with symbols.
    pub total_ranked: usize,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A language of the project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapLanguage {
    /// Lower-case name.
    pub name: String,
    /// Number of lines.
    pub lines: u64,
}

impl MapAnswer {
    /// Returns a copy with fewer files and modules: `level` of them together.
    #[must_use]
    pub fn first(&self, level: usize) -> Self {
        let modules = self.modules.len().min(level.div_ceil(2));
        let files = self.files.len().min(level - modules);
        Self {
            modules: self.modules[..modules].to_vec(),
            files: self.files[..files].to_vec(),
            ..self.clone()
        }
    }
}

/// The files in which the program itself is written.
pub(in crate::engine) struct MainFiles<'a> {
    generation: u64,
    groups: HashMap<&'a str, FileGroup>,
    sources: HashSet<&'a str>,
    styles: HashSet<&'a str>,
    /// Whether there are sources other than style sheets.
    has_others: bool,
}

impl<'a> MainFiles<'a> {
    pub(in crate::engine) fn of(code: &'a Served) -> Self {
        let groups: HashMap<&str, FileGroup> = code.corpus.file_groups().collect();
        let sources: HashSet<&str> = groups
            .iter()
            .filter(|(path, group)| **group == FileGroup::Source && !is_for_tests(path))
            .map(|(path, _)| *path)
            .collect();
        let languages = code.corpus.chunks().written_in();
        let styles: HashSet<&str> = languages
            .filter(|(_, language)| STYLES.contains(language))
            .map(|(path, _)| path)
            .collect();
        let has_others =
            sources.iter().any(|path| !styles.contains(path) && !is_page_or_wrapper(path));
        Self { generation: code.generation, groups, sources, styles, has_others }
    }

    /// Whether a file is a source. A project may consist of tests or of examples, and not all of its
    /// files may be indexed.
    fn counts(&self, path: &str) -> bool {
        self.sources.is_empty() || self.sources.contains(path) || !self.groups.contains_key(path)
    }

    /// Whether somebody may begin to read there. Style sheets and migrations are parts of the program,
    /// but nobody does.
    fn is_main(&self, path: &str) -> bool {
        let is_beside = self.styles.contains(path) || is_page_or_wrapper(path);
        self.counts(path) && !overview::is_migration(path) && !(self.has_others && is_beside)
    }

    /// Returns the files with code of examples, in order, each with the folder that holds the
    /// examples. A project of nothing else shows its files instead.
    fn examples(&self) -> Vec<(&'a str, &'a str)> {
        let is_code =
            |path: &str| languages::code_family(path).is_some() && !languages::is_test_path(path);
        let examples = self.groups.iter().filter(|(_, group)| **group == FileGroup::Example);
        let mut files: Vec<(&str, &str)> = examples
            .filter(|(path, _)| !self.sources.is_empty() && is_code(path))
            .filter_map(|(path, _)| Some((languages::example_folder(path)?, *path)))
            .collect();
        files.sort_unstable();
        files
    }
}

impl Engine {
    /// Tells what the project is.
    ///
    /// # Errors
    /// When there are no source files, or the index or the graph cannot be read.
    pub fn map(&self, request: &MapRequest, call: &Call) -> Result<MapAnswer, AskError> {
        let focus = self.focus(request, call)?;
        let rank = |main: &MainFiles| self.rank_files(main, &focus, call);
        self.map_with(request.focus.is_none(), &rank, call)
    }

    /// Tells what the project is without building the code graph. While the graph lacks the rows of
    /// many files, the main files and types are missing.
    ///
    /// # Errors
    /// When there are no source files, or the index or the graph cannot be read.
    pub fn map_at_hand(&self, call: &Call) -> Result<MapAnswer, AskError> {
        let rank = |main: &MainFiles| {
            if self.lacks_rows_of_at_most(FEW)? {
                return self.rank_files(main, &[], call);
            }
            Err(AskError::NotYet("the first question to the code graph builds it".into()))
        };
        self.map_with(true, &rank, call)
    }

    /// Tells what the project is, with the files that `rank` ranks.
    fn map_with(
        &self,
        is_overview: bool,
        rank: &dyn Fn(&MainFiles) -> Result<Ranked, AskError>,
        call: &Call,
    ) -> Result<MapAnswer, AskError> {
        let View { code, state } = self.view(call)?;
        let main = MainFiles::of(&code);
        let counts = |path: &str| main.counts(path);
        let (ranked, has_sources, not_yet) = match rank(&main) {
            Ok((ranked, has_sources)) => (ranked, has_sources, None),
            // The rest of the overview does not need the graph.
            Err(AskError::NotYet(why)) if is_overview => {
                (Arc::default(), true, Some(format!("the main files are missing: {why}")))
            }
            Err(e) => return Err(e),
        };
        if ranked.files.is_empty() && !has_sources && !main.groups.is_empty() {
            return Err(AskError::NotFound(NO_SOURCES.into()));
        }
        call.check()?;

        let (paths, sizes) = self.measured(&code);
        let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
        let tree = self.project.layout.tree();
        let tree = Tree {
            paths: &paths,
            is_source: &counts,
            has: &|path| tree.has_file(path),
            read: &|path| self.project.read_text(path).ok(),
        };
        let lines: HashMap<&str, u64> = sizes.iter().map(|s| (&*s.path, s.lines)).collect();
        let weight = |path: &str| lines.get(path).copied().unwrap_or_default() as f64;
        let total_ranked = ranked.files.iter().filter(|f| !f.symbols.is_empty()).count();
        let with_symbols = ranked.files.iter().filter(|file| !file.symbols.is_empty());
        // The most important files first, so the main directories first.
        let directories = ranked
            .files
            .iter()
            .take(MAX_FILES)
            .flat_map(|file| file.path.match_indices('/').map(|(end, _)| &file.path[..end]));
        let packages = if is_overview { overview::packages(&tree) } else { Vec::new() };
        let modules = is_overview.then(|| overview::modules(&tree, &packages, &weight));
        let modules = modules.unwrap_or_default();
        let about = is_overview.then(|| overview::about(&tree, directories)).flatten();
        Ok(MapAnswer {
            about,
            total_files: sizes.len(),
            total_lines: sizes.iter().map(|s| s.lines).sum(),
            languages: main_languages(sizes.iter().filter(|s| counts(&s.path))),
            commands: if is_overview { overview::commands(&tree, &packages) } else { Vec::new() },
            entries: if is_overview {
                let mut entries = overview::entry_points(&tree, &packages, &ranked.mains);
                let examples = overview::example_programs(&main.examples(), &ranked.mains);
                // Examples show what a repository without a program of its own is for.
                let has_program = entries.first().is_some_and(|first| !first.is_helper());
                let at = if has_program { entries.len() } else { 0 };
                entries.splice(at..at, examples);
                entries
            } else {
                Vec::new()
            },
            total_modules: modules.len(),
            modules,
            files: with_symbols.take(MAX_FILES).cloned().collect(),
            total_ranked,
            state: state.warning_first(not_yet).in_brief(call),
        })
    }

    /// Returns the paths of the indexed files, in order, and the sizes of those that are known.
    fn measured(&self, code: &Served) -> (Vec<String>, Vec<scan::Size>) {
        let written: Vec<(String, String)> = code
            .corpus
            .chunks()
            .written_in()
            .map(|(path, language)| (path.to_string(), language.to_string()))
            .collect();
        let sizes = self.project.indexed_sizes(&written);
        let mut paths: Vec<String> = written.into_iter().map(|(path, _)| path).collect();
        paths.sort_unstable();
        (paths, sizes)
    }

    /// Returns the main directories, as the map names them where no packages are.
    pub(in crate::engine) fn main_directories(&self, code: &Served) -> Vec<String> {
        let main = MainFiles::of(code);
        let (paths, sizes) = self.measured(code);
        let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
        let lines: HashMap<&str, u64> = sizes.iter().map(|s| (&*s.path, s.lines)).collect();
        // Nothing is read: only the names are wanted.
        let tree = Tree {
            paths: &paths,
            is_source: &|path| main.counts(path),
            has: &|_| false,
            read: &|_| None,
        };
        let weight = |path: &str| lines.get(path).copied().unwrap_or_default() as f64;
        overview::modules(&tree, &[], &weight).into_iter().map(|module| module.path).collect()
    }

    /// Ranks the main files by the references to them, those first that are close to the files in
    /// `focus`. Also returns whether the graph knows any source.
    ///
    /// # Errors
    /// When the graph cannot be read, or is not ready.
    pub(in crate::engine) fn rank_files(
        &self,
        main: &MainFiles,
        focus: &[String],
        call: &Call,
    ) -> Result<Ranked, AskError> {
        // Sources beside chunk files of another program change without a new generation.
        let has_generations = !self.project.layout.is_foreign();
        let is_main = |path: &str| main.is_main(path);
        let query = MapQuery { focus, counts: &is_main };
        let rank = |graph: &CodeGraph| {
            let known = self.ranked.lock().clone();
            // The ranks of a large project take seconds, and are those of one generation.
            let known = known.filter(|(generation, _)| *generation == main.generation);
            if let Some((_, map)) = known.filter(|_| focus.is_empty()) {
                return Ok(map);
            }
            let map = Arc::new(graph.map(query, &call.work().at_most(RANKING))?);
            if focus.is_empty() && has_generations && call.check().is_ok() {
                *self.ranked.lock() = Some((main.generation, map.clone()));
            }
            Ok(map)
        };
        self.ask_graph(call, rank)
    }

    /// Returns the files in focus.
    fn focus(&self, request: &MapRequest, call: &Call) -> Result<Vec<String>, AskError> {
        let Some(focus) = &request.focus else { return Ok(Vec::new()) };
        let file = self.graph_target(focus, call);
        if self.project.layout.tree().has_file(&file) {
            return Ok(vec![file]);
        }
        let request =
            SearchRequest { query: focus.clone(), limit: FOCUS, ..SearchRequest::default() };
        let found = self.search(&request, call)?.results;
        Ok(found.into_iter().filter_map(|row| row.path).collect())
    }
}

/// Whether a file is a page of markup, or a script that others wrote to start a build tool.
fn is_page_or_wrapper(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(name, "mvnw" | "gradlew") || matches!(extension, "html" | "htm")
}

/// Whether a file holds tests, or is below a directory with what they need, such as `test_helpers`.
fn is_for_tests(path: &str) -> bool {
    directory(path).split('/').any(|folder| folder.to_lowercase().starts_with("test"))
        || matches!(file_stem(path), "test" | "tests")
}

/// Returns the languages of programs with their lines. A project without programs has those of its
/// documents.
fn main_languages<'s>(sizes: impl Iterator<Item = &'s scan::Size>) -> Vec<MapLanguage> {
    let is_program = |name: &str| {
        languages::languages().iter().any(|language| {
            language.name == name
                && matches!(language.kind, LanguageKind::Code(_) | LanguageKind::Text)
        })
    };
    let groups = scan::grouped(
        &sizes.cloned().collect::<Vec<_>>(),
        scan::By::Language,
        scan::CountSort::Lines,
    );
    let all = groups.into_iter().map(|g| MapLanguage { name: g.name, lines: g.lines });
    let (mut main, others): (Vec<_>, Vec<_>) = all.partition(|group| is_program(&group.name));
    if main.is_empty() {
        main = others;
    }
    main.truncate(MAX_LANGUAGES);
    main
}
