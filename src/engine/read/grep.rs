//! Finds lines in the indexed files by literal text or a regular expression.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use globset::GlobSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::{Chunk, Origin};
use crate::dir::Stat;
use crate::engine::door::filters::{
    idle_paths, not_searched, of_languages, of_paths, skipped_files,
};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::{Engine, View};
use crate::engine::read::kinds::{FileKind, Fold};
use crate::engine::{AskError, Call};
use crate::excerpt::NamesAround;
use crate::index::chunk_file;
use crate::languages::{detect, has_test_blocks, is_test_file};
use crate::live::Served;
use crate::overview::blocks_around;
use crate::scan::{self, FoundLine, LineCounts, LineMatcher, LineQuery};
use crate::search::{Corpus, FileGroup, LanguageFilter, PathFilter};
use crate::text::cut;
use crate::work::WorkBudget;

/// The arguments of a search for lines.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of grep")]
pub struct GrepRequest {
    /// The text to find.
    pub pattern: String,
    /// `pattern` is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Ignore case.
    #[serde(default)]
    pub ignore_case: bool,
    /// Match whole words only.
    #[serde(default)]
    pub word: bool,
    /// Let a match of the regular expression span lines.
    #[serde(default)]
    pub multiline: bool,
    /// Find the lines that do not match.
    #[serde(default)]
    pub invert: bool,
    /// Globs, for example src/**, *.rs, docs, !tests
    #[serde(default)]
    pub paths: Vec<String>,
    /// Only these languages: rust, python, markdown …, or all but !markdown
    #[serde(default)]
    pub languages: Vec<String>,
    /// Number of lines around each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub context: usize,
    /// Return only how many lines match in each file.
    #[serde(default)]
    pub count: bool,
    /// Return only the paths of files with a match.
    #[serde(default)]
    pub files_only: bool,
    /// Return the symbols around the matching lines, each with the number of its lines.
    #[serde(default)]
    pub symbols: bool,
    /// Maximum number of matching lines of each file; the totals count all.
    #[schemars(range(min = 1))]
    pub max_per_file: Option<usize>,
    /// Maximum number of matching lines; of files with `count` or `files_only`.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 10000))]
    pub limit: usize,
    /// `next_cursor` of the previous reply.
    pub cursor: Option<String>,
    /// Whether the lines of tests, translations and other kinds of files of which there are many are
    /// counted if others match, for a short reply.
    #[serde(skip)]
    pub folds: bool,
}

/// The default of [`GrepRequest::limit`].
pub(crate) fn default_lines() -> usize {
    200
}

/// The matching lines of a page, and the state that they were found in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GrepAnswer {
    #[serde(flatten)]
    pub found: GrepLines,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// The matching lines of a page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GrepLines {
    /// Source files first, then documents and configuration, tests, examples, translations, migrations,
    /// snapshots and copies.
    pub files: Vec<GrepFile>,
    /// Number of all matching lines.
    pub total: usize,
    /// Number of all files with a match.
    pub total_files: usize,
    /// Number of files that were searched.
    pub searched: usize,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Number of lines (files with `count` or `files_only`) before this page.
    #[serde(skip)]
    pub first_unit: usize,
    /// Number of lines or files in all pages.
    #[serde(skip)]
    pub all_units: usize,
    /// All files that are listed on any page, in their order, with the numbers of their matching lines.
    #[serde(skip)]
    pub counts: Arc<[FileLines]>,
    /// The files that are counted and not listed, on the first page.
    #[serde(skip)]
    pub folded: Vec<Fold>,
    /// Number of lines that [`GrepRequest::max_per_file`] leaves out.
    #[serde(skip)]
    pub left_out: usize,
    /// Whether every file that might match was searched.
    #[serde(skip)]
    pub is_whole: bool,
}

/// A number of lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileLines {
    /// Relative to the root.
    pub path: String,
    /// Number of these lines.
    pub lines: usize,
}

/// The matching lines of one file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GrepFile {
    /// Relative to the root.
    pub path: String,
    /// Number of its matching lines.
    pub matches: usize,
    /// Matching lines of this page with their context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub lines: Vec<GrepLine>,
}

/// A line of a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GrepLine {
    /// 1-based.
    pub line: u64,
    /// Without its line break.
    pub text: String,
    /// False for a line of context.
    #[serde(rename = "match")]
    pub is_match: bool,
    /// The innermost definition, section or block of a test around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The byte of `text` at which the first match begins.
    #[serde(skip)]
    pub match_at: usize,
    /// symbols: number of matching lines of the symbol; this is the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
}

/// Most matching lines whose symbols are looked up.
const MAX_LINES_OF_SYMBOLS: usize = 10_000;

impl Engine {
    /// Finds lines by literal text or a regular expression.
    ///
    /// # Errors
    /// When the pattern, a glob or the cursor is not valid, or the index cannot be read.
    pub fn grep(&self, request: &GrepRequest, call: &Call) -> Result<GrepAnswer, AskError> {
        let paths = of_paths(Some(&self.project), &request.paths)?;
        let matcher = matcher(request)?;
        let skipped = position(request.cursor.as_deref())?;
        let View { code, mut state } = self.files_view(call)?;
        let searched = [(&*self.project, &**code.corpus.chunks())];
        state.warnings.extend(idle_paths(&searched, &request.paths));
        let languages = of_languages(&request.languages);
        let files = wanted(&code.corpus, &paths, &languages);
        let (root, work) = (self.project.layout.tree(), call.work());
        let mut found = self.lines_in(&files, &matcher, &work);
        call.check()?;
        found.files.retain(|(at, _)| self.project.may_read(files[*at]));
        state.warnings.extend(not_searched(&found.unread, found.n_files));
        if found.files.is_empty() {
            state.warnings.extend(skipped_files(&self.project, &paths));
        }
        let counts: Vec<(&str, usize)> =
            found.files.iter().map(|(at, n)| (files[*at], *n)).collect();
        let is_whole = found.unread.n_left + found.unread.n_refused == 0;
        let mut page = Matches::new(&code.corpus, counts, found.n_files, skipped, is_whole);
        if request.folds {
            page.fold(&paths.wanted);
        }
        let reading = Reading {
            lines: &|path| scan::lines_of(root, path, &matcher).unwrap_or_default(),
            chunks: &|path| self.chunks_of(path, &code),
            text: &|path| self.project.read_text(path).unwrap_or_default(),
        };
        Ok(page.answer(request, &reading, state.in_brief(call)))
    }

    /// Returns the chunks of a file. Before there is an index, the file is parsed.
    fn chunks_of(&self, path: &str, code: &Served) -> Vec<Arc<Chunk>> {
        let chunks = code.corpus.chunks().read_file(path);
        if code.generation > 0 || chunks.iter().any(|chunk| !chunk.text.is_empty()) {
            return chunks;
        }
        let text = self.project.read_text(path).unwrap_or_default();
        chunk_file(path, &text).into_iter().map(Arc::new).collect()
    }

    /// Counts the matching lines of indexed files. Reads only files that changed since they were
    /// indexed, and those whose filter does not rule out a match.
    pub(in crate::engine) fn lines_in(
        &self,
        files: &[&str],
        matcher: &LineMatcher,
        work: &WorkBudget,
    ) -> LineCounts {
        let asked = !matcher.needed().is_nothing();
        let layout = &self.project.layout;
        let filters = asked.then(|| self.filters.of(layout, files.len())).flatten();
        let filters = filters.as_ref().and_then(|filters| filters.read());
        let may_match = |filter: &[u8]| matcher.needed().may_be_in(filter);
        let ruled_out = |path: &str, stat: &mut dyn FnMut() -> Option<Stat>| {
            filters.as_ref().is_some_and(|filters| filters.rules_out(path, may_match, stat))
        };
        scan::grep(self.project.layout.tree(), files, matcher, &ruled_out, work)
    }
}

/// The matches of all files, and which of them were on earlier pages.
pub(in crate::engine) struct Matches<'a> {
    /// The files that are listed, in their order.
    files: Vec<MatchedFile<'a>>,
    /// The files that are counted.
    folded: Vec<MatchedFile<'a>>,
    /// Number of files that were searched.
    n_files: usize,
    skipped: usize,
    /// Whether every file that might match was searched.
    is_whole: bool,
}

/// A file with matching lines.
struct MatchedFile<'a> {
    path: &'a str,
    /// Number of its matching lines.
    n: usize,
    kind: Option<FileKind>,
}

/// How a page reads a file: its matching lines with their context, its chunks, and its text.
pub(in crate::engine) struct Reading<'r> {
    pub(in crate::engine) lines: &'r dyn Fn(&str) -> Vec<FoundLine>,
    pub(in crate::engine) chunks: &'r dyn Fn(&str) -> Vec<Arc<Chunk>>,
    pub(in crate::engine) text: &'r dyn Fn(&str) -> String,
}

impl<'a> Matches<'a> {
    /// Orders files with their numbers of matching lines. `n_files` were searched, and all that might
    /// match if it `is_whole`; earlier pages had `skipped` lines or files.
    pub(in crate::engine) fn new(
        corpus: &Corpus,
        counts: Vec<(&'a str, usize)>,
        n_files: usize,
        skipped: usize,
        is_whole: bool,
    ) -> Self {
        let groups: HashMap<&str, FileGroup> = corpus.file_groups().collect();
        let group = |path: &str| groups.get(path).copied();
        let origin = |path: &str| {
            if group(path) != Some(FileGroup::Aside) {
                return Origin::Ordinary;
            }
            if Origin::of_path(path) == Origin::Vendored {
                return Origin::Vendored;
            }
            let first = corpus.chunks().by_file(path).next().and_then(|entry| entry.chunk());
            first.map_or(Origin::Ordinary, |chunk| chunk.metadata.origin())
        };
        let file = |(path, n): (&'a str, usize)| MatchedFile {
            path,
            n,
            kind: FileKind::of(path, || origin(path)),
        };
        let mut files: Vec<MatchedFile<'a>> = counts.into_iter().map(file).collect();
        let beside = |file: &MatchedFile| file.kind.filter(|kind| *kind != FileKind::Tests);
        files.sort_by_key(|file| (beside(file), group(file.path), file.path));
        Self { files, folded: Vec::new(), n_files, skipped, is_whole }
    }

    /// Takes the files of kinds of which there are many out of the list, unless nothing else matches.
    /// A glob of `wanted` that matches nothing else names them, and they stay.
    pub(in crate::engine) fn fold(&mut self, wanted: &GlobSet) {
        let plain = || self.files.iter().filter(|file| file.kind.is_none());
        if plain().next().is_none() {
            return;
        }
        let of_others: HashSet<usize> =
            plain().flat_map(|file| wanted.matches(file.path)).collect();
        let is_named =
            |path: &str| wanted.matches(path).iter().any(|glob| !of_others.contains(glob));
        let is_listed = |file: &MatchedFile| file.kind.is_none() || is_named(file.path);
        (self.files, self.folded) =
            std::mem::take(&mut self.files).into_iter().partition(is_listed);
    }

    /// Returns a page.
    pub(in crate::engine) fn answer(
        self,
        request: &GrepRequest,
        reading: &Reading,
        state: AnswerState,
    ) -> GrepAnswer {
        let Self { files, folded, n_files, skipped, is_whole } = self;
        let lists_files = request.count || request.files_only;
        // The symbols of all lines are counted, and then those of the page are taken.
        let (skip, left) =
            if request.symbols { (0, MAX_LINES_OF_SYMBOLS) } else { (skipped, request.limit) };
        let mut page = GrepPage { skip, left, files: Vec::new() };
        for &MatchedFile { path, n, .. } in &files {
            if lists_files {
                page.add_file(path, n);
            } else if page.wants(shown_of(request, n)) {
                let chunks = (reading.chunks)(path);
                let mut names = NamesAround::new(&chunks);
                let has_blocks = is_test_file(path) && has_test_blocks(detect(path, "").name);
                let text = if has_blocks { (reading.text)(path) } else { String::new() };
                let rows: Vec<&str> = text.lines().collect();
                page.add_lines(path, n, (reading.lines)(path), request, |line| {
                    let line = u32::try_from(line).unwrap_or(u32::MAX);
                    name_around(&rows, line, |line| names.at(line))
                });
            }
        }
        let n_shown: usize = files.iter().map(|file| shown_of(request, file.n)).sum();
        let n_listed: usize = files.iter().map(|file| file.n).sum();
        let units = if lists_files { files.len() } else { n_shown };
        let fold = |file: &MatchedFile<'a>| Some((file.kind?, file.path, file.n));
        let folds = Fold::all(folded.iter().filter_map(fold));
        let counts = files
            .iter()
            .map(|file| FileLines { path: file.path.to_string(), lines: file.n })
            .collect();
        let found = GrepLines {
            next_cursor: None,
            files: page.files,
            total: n_listed + folded.iter().map(|file| file.n).sum::<usize>(),
            total_files: files.len() + folded.len(),
            searched: n_files,
            first_unit: skipped,
            all_units: units,
            counts,
            folded: if skipped == 0 { folds } else { Vec::new() },
            left_out: if lists_files { 0 } else { n_listed - n_shown },
            is_whole,
        };
        let found = if request.symbols { found.by_symbol(skipped) } else { found };
        let mut answer = GrepAnswer { found, state };
        if request.symbols && answer.found.total > MAX_LINES_OF_SYMBOLS {
            answer.state.warnings.push(format!(
                "only the first {MAX_LINES_OF_SYMBOLS} lines are counted by symbol: restrict the search with paths"
            ));
        }
        let n = answer.found.n_units().min(request.limit);
        answer.first(n)
    }
}

impl GrepAnswer {
    /// Returns a copy with the first `n` lines or files. Its cursor continues after them.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        Self { found: self.found.first(n), state: self.state.clone() }
    }
}

impl GrepLines {
    /// Returns the number of matching lines on this page, or of files if it lists only files.
    #[must_use]
    pub fn n_units(&self) -> usize {
        self.files.iter().map(GrepFile::n_units).sum()
    }

    /// Returns the lines as `path:line`.
    pub(in crate::engine) fn addresses(&self) -> Vec<String> {
        let of_file = |file: &GrepFile| -> Vec<String> {
            file.lines.iter().map(|line| format!("{}:{}", file.path, line.line)).collect()
        };
        self.files.iter().flat_map(of_file).collect()
    }

    /// Replaces the lines of each symbol by its first one, and leaves out the first `skip` symbols.
    fn by_symbol(mut self, mut skip: usize) -> Self {
        self.all_units = 0;
        for file in &mut self.files {
            let mut of_symbols: Vec<GrepLine> = Vec::new();
            for line in file.lines.drain(..).filter(|line| line.is_match) {
                match of_symbols.iter_mut().find(|first| first.symbol == line.symbol) {
                    Some(first) => first.matches = first.matches.map(|n| n + 1),
                    None => of_symbols.push(GrepLine { matches: Some(1), ..line }),
                }
            }
            self.all_units += of_symbols.len();
            let n_skipped = skip.min(of_symbols.len());
            skip -= n_skipped;
            file.lines = of_symbols.split_off(n_skipped);
        }
        self.files.retain(|file| !file.lines.is_empty());
        self
    }

    /// Returns a copy with the first `n` lines or files. Its cursor continues after them.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let (mut left, mut files) = (n, Vec::new());
        for file in &self.files {
            if left == 0 {
                break;
            }
            files.push(file.first(left));
            left = left.saturating_sub(file.n_units());
        }
        let next = self.first_unit + n;
        Self {
            next_cursor: (next < self.all_units).then(|| next.to_string()),
            files,
            ..self.clone()
        }
    }
}

impl GrepFile {
    /// Whether lines of context are among its lines.
    #[must_use]
    pub fn has_context(&self) -> bool {
        self.lines.iter().any(|line| !line.is_match)
    }

    pub(in crate::engine) fn n_units(&self) -> usize {
        if self.lines.is_empty() {
            1
        } else {
            self.lines.iter().filter(|line| line.is_match).count()
        }
    }

    /// Returns a copy with the first `n` matching lines and their context.
    fn first(&self, n: usize) -> Self {
        let next = self.lines.iter().enumerate().filter(|(_, line)| line.is_match).nth(n);
        let end = next.map_or(self.lines.len(), |(at, _)| at);
        Self { lines: self.lines[..end].to_vec(), ..self.clone() }
    }
}

/// Returns the name of what is around a line: the blocks of tests, which are not symbols, between the
/// symbols around and in them. `rows` are the lines of a file that may have such blocks.
fn name_around(
    rows: &[&str],
    line: u32,
    mut symbol_at: impl FnMut(u32) -> Option<String>,
) -> Option<String> {
    let blocks = blocks_around(rows, line as usize);
    let symbol = symbol_at(line);
    let Some(outermost) = blocks.last().map(|(line, _)| *line) else { return symbol };
    let around = symbol_at(outermost);
    let inner = symbol.filter(|symbol| Some(symbol) != around.as_ref());
    let named = blocks
        .into_iter()
        .rev()
        .map(|(line, name)| if name.is_empty() { format!("line {line}") } else { name });
    let parts: Vec<String> = around.into_iter().chain(named).chain(inner).collect();
    Some(parts.join(" › "))
}

/// Number of matching lines of a file that are listed.
fn shown_of(request: &GrepRequest, n_matches: usize) -> usize {
    request.max_per_file.map_or(n_matches, |most| n_matches.min(most))
}

/// Returns the matcher of a regular expression that we made, of whole words if `word`.
pub(in crate::engine) fn own_matcher(pattern: String, word: bool) -> Result<LineMatcher, AskError> {
    let query = LineQuery { pattern, regex: true, word, ..LineQuery::default() };
    LineMatcher::new(query).map_err(|e| AskError::Failed(e.to_string()))
}

pub(in crate::engine) fn matcher(request: &GrepRequest) -> Result<LineMatcher, AskError> {
    let lists_lines = !(request.count || request.files_only || request.symbols);
    let around = if lists_lines { request.context } else { 0 };
    LineMatcher::new(LineQuery {
        pattern: request.pattern.clone(),
        regex: request.regex,
        ignore_case: request.ignore_case,
        word: request.word,
        multiline: request.multiline,
        invert: request.invert,
        context: around,
    })
    .map_err(|e| AskError::Arguments(e.to_string()))
}

pub(in crate::engine) fn position(cursor: Option<&str>) -> Result<usize, AskError> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.trim().parse().map_err(|_| bad_cursor(cursor))
}

/// Returns the error of a cursor that no reply has.
pub(in crate::engine) fn bad_cursor(cursor: &str) -> AskError {
    let cursor = cut(cursor, 40);
    AskError::Arguments(format!(
        "cursor `{cursor}` is not valid: pass the next_cursor of an earlier reply, or leave it out"
    ))
}

/// Returns the paths of the indexed files that match.
pub(in crate::engine) fn wanted<'c>(
    corpus: &'c Corpus,
    paths: &PathFilter,
    languages: &LanguageFilter,
) -> Vec<&'c str> {
    let is_wanted = |path: &str, language: &str| {
        paths.is_match(path) && languages.is_match(Some(language), Some(path))
    };
    let wanted = corpus.chunks().written_in().filter(|(path, language)| is_wanted(path, language));
    wanted.map(|(path, _)| path).collect()
}

/// The lines or files that a page takes from a long list.
struct GrepPage {
    /// Number of units before the page that are left.
    skip: usize,
    /// Number of units that the page still takes.
    left: usize,
    files: Vec<GrepFile>,
}

impl GrepPage {
    /// Whether any of the next `n` units is on this page. Skips them if not.
    fn wants(&mut self, n: usize) -> bool {
        if self.skip >= n {
            self.skip -= n;
            return false;
        }
        self.left > 0
    }

    fn add_file(&mut self, path: &str, matches: usize) {
        if self.wants(1) {
            self.left -= 1;
            self.files.push(GrepFile { path: path.into(), matches, lines: Vec::new() });
        }
    }

    fn add_lines(
        &mut self,
        path: &str,
        matches: usize,
        all: Vec<FoundLine>,
        request: &GrepRequest,
        mut symbol_at: impl FnMut(u64) -> Option<String>,
    ) {
        let numbers: Vec<u64> = all.iter().filter(|l| l.is_match).map(|l| l.line).collect();
        let end = shown_of(request, numbers.len());
        let chosen = &numbers[self.skip.min(end)..self.skip.saturating_add(self.left).min(end)];
        self.skip = 0;
        self.left -= chosen.len();
        let (Some(first), Some(last)) = (chosen.first(), chosen.last()) else { return };
        let around = request.context as u64;
        let is_near = |line: &FoundLine| {
            if line.is_match {
                (*first..=*last).contains(&line.line)
            } else {
                let next = chosen.partition_point(|at| *at < line.line.saturating_sub(around));
                chosen.get(next).is_some_and(|at| line.line.abs_diff(*at) <= around)
            }
        };
        let lines = all.into_iter().filter(is_near).map(|line| GrepLine {
            symbol: symbol_at(line.line),
            line: line.line,
            match_at: line.match_at,
            text: line.text,
            is_match: line.is_match,
            matches: None,
        });
        self.files.push(GrepFile { path: path.into(), matches, lines: lines.collect() });
    }
}
