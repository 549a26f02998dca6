//! The answer of the question what happened: symbols by area and file, and the commits below them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::DateTime;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::door::freshness::AnswerState;
use crate::engine::graph::changed::{FileChange, How, SymbolChange, how_of, is_compared};
use crate::engine::memory::recall::written;
use crate::languages::{is_test_file, is_test_path};
use crate::secrets::redact;
use crate::source::{Commit, DiffFile};
use crate::syntax::SymbolKind;
use crate::text::cut;

/// A symbol has another name if at least this share of its lines stayed, of at least so many.
const SAME: f64 = 0.6;
const LEAST_SAME: usize = 3;
/// Largest number of deleted symbols that are compared with added ones.
const MAX_RENAMES: usize = 2_000;
/// Most characters of a subject.
const MAX_SUBJECT: usize = 100;

/// What happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangesAnswer {
    /// Where it begins.
    pub since: Since,
    /// Number of commits without merges, up to 1000.
    pub total_commits: usize,
    /// Whether there are more commits than these.
    pub more_commits: bool,
    /// Number of files that differ.
    pub total_files: usize,
    /// Number of lines that are new, and of those that are gone.
    pub added_lines: usize,
    /// Number of lines that are gone.
    pub deleted_lines: usize,
    /// Files with changes that no commit holds yet.
    pub uncommitted: Vec<String>,
    /// Number of uncommitted files.
    pub total_uncommitted: usize,
    /// Public symbols with another signature.
    pub signatures: Vec<SignatureRow>,
    /// Number of changed declarations, listed or not.
    pub total_signatures: usize,
    /// Symbols that lost their last use.
    pub dead: Vec<DeadRow>,
    /// Number of symbols without a use, listed or not.
    pub total_dead: usize,
    /// Symbols with new callers.
    pub callers: Vec<NewCallers>,
    /// Number of symbols with new callers, listed or not.
    pub total_callers: usize,
    /// What happened to tests.
    pub tests: TestChanges,
    /// The areas with changes, those with most first.
    pub areas: Vec<ChangedArea>,
    /// Number of areas, listed or not.
    pub total_areas: usize,
    /// Files that say little each, by what they are: generated, vendored, formatting only.
    pub mass: Vec<ChangeCount>,
    /// What this answer does not tell, and how to learn it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub limits: Vec<String>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// Where the change begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Since {
    /// The last commit that is not part of the change; empty for the whole history.
    pub commit: String,
    /// Why it begins there: as it was asked, the last session, or the last day.
    pub reason: String,
}

/// A number of files of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeCount {
    /// What the files have in common.
    pub what: String,
    /// Number of these files.
    pub files: usize,
}

/// A public symbol with another signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignatureRow {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// Its name.
    pub symbol: String,
    /// The declaration before.
    pub before: String,
    /// The declaration now.
    pub after: String,
}

/// A symbol that lost its last use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeadRow {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// Its name.
    pub symbol: String,
    /// The file in which the last use was.
    pub used_in: String,
}

/// A symbol with new callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewCallers {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// Its name.
    pub symbol: String,
    /// Number of new users; tests are none.
    pub new: usize,
    /// Number of all users; tests are none.
    pub total: usize,
    /// The first new users.
    pub names: Vec<String>,
}

/// What happened to tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestChanges {
    /// Number of new ones.
    pub added: usize,
    /// Number of changed ones.
    pub changed: usize,
    /// Number of deleted ones.
    pub deleted: usize,
    /// The files of these tests, those with most first.
    pub files: Vec<String>,
    /// Number of files of tests.
    pub total_files: usize,
}

/// A folder with changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedArea {
    /// Relative to the root; `.` for files of the root.
    pub path: String,
    /// Number of files that changed in it.
    pub total_files: usize,
    /// Number of new lines.
    pub added_lines: usize,
    /// Number of lines that are gone.
    pub deleted_lines: usize,
    /// The files with the most telling changes first.
    pub files: Vec<ChangedFileRow>,
    /// The commits that changed mostly this area: those that changed code first, then the newest.
    pub commits: Vec<CommitLine>,
    /// Number of commits, listed or not.
    pub total_commits: usize,
}

/// A file with its changed symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFileRow {
    /// Relative to the root.
    pub path: String,
    /// changed, added, deleted or renamed.
    #[schemars(with = "String")]
    pub how: How,
    /// The path before, of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether some of it is in no commit yet.
    pub uncommitted: bool,
    /// The most telling ones first.
    pub symbols: Vec<ChangedRow>,
    /// Number of changed symbols, listed or not.
    pub total_symbols: usize,
}

/// A changed symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedRow {
    /// Its name.
    pub symbol: String,
    /// function, method, class and so on.
    pub kind: String,
    /// changed, added, deleted or renamed.
    #[schemars(with = "String")]
    pub how: How,
    /// Line of the definition; of a deleted symbol, the line at which it was.
    pub line: u32,
    /// Number of its lines that differ.
    pub lines: u32,
    /// Whether it is visible outside its module.
    pub public: bool,
    /// Its former name, or the file from which it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether some of it is in no commit yet.
    pub uncommitted: bool,
}

/// A commit in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitLine {
    /// Its id.
    pub commit: String,
    /// When it was committed.
    pub at: String,
    /// First line of the message, without secrets.
    pub subject: String,
    /// Number of files that it changed.
    pub files: usize,
}

/// A file of the change, compared.
pub(in crate::engine) struct Compared<'a> {
    pub(in crate::engine) file: &'a DiffFile,
    /// What it is if it says little: generated, vendored, formatting only.
    pub(in crate::engine) mass: Option<&'static str>,
    pub(in crate::engine) found: FileChange,
}

/// The rows of an answer.
pub(in crate::engine) struct Rows {
    /// By path.
    files: HashMap<String, ChangedFileRow>,
    pub(in crate::engine) signatures: Vec<SignatureRow>,
    pub(in crate::engine) tests: TestChanges,
}

impl Rows {
    pub(in crate::engine) fn of(files: &[Compared], pending: &HashMap<&str, &DiffFile>) -> Self {
        let mut rows =
            Self { files: HashMap::new(), signatures: Vec::new(), tests: TestChanges::default() };
        let from = renames(files);
        let mut in_file: BTreeMap<&str, usize> = BTreeMap::new();
        let mut signatures = Vec::new();
        for Compared { file, mass, found } in files {
            if mass.is_some() {
                continue;
            }
            let pending = pending.get(&*file.path);
            let is_test = is_test_file(&file.path) || is_test_path(&file.path);
            let mut symbols = Vec::new();
            for symbol in &found.symbols {
                let key = (file.path.clone(), symbol.symbol.clone());
                let how = match from.get(&key) {
                    Some(Moved::To) => continue,
                    Some(Moved::From(_)) => How::Renamed,
                    None => symbol.how,
                };
                if is_test || is_in_tests(&symbol.symbol) {
                    if symbol.kind.is_callable() {
                        *in_file.entry(&file.path).or_default() += 1;
                        match how {
                            How::Added => rows.tests.added += 1,
                            How::Deleted => rows.tests.deleted += 1,
                            _ => rows.tests.changed += 1,
                        }
                    }
                    continue;
                }
                let has_signature = symbol.public && !symbol.kind.is_data();
                if let Some(before) = symbol.old_signature.as_ref().filter(|_| has_signature)
                    && !is_reformatted(before, &symbol.signature)
                {
                    let row = SignatureRow {
                        path: file.path.clone(),
                        line: symbol.line,
                        symbol: symbol.symbol.clone(),
                        before: redact(before).text,
                        after: redact(&symbol.signature).text,
                    };
                    signatures.push((symbol.n_lines, row));
                }
                symbols.push(ChangedRow {
                    symbol: symbol.symbol.clone(),
                    kind: symbol.kind.as_str().into(),
                    how,
                    line: symbol.line,
                    lines: symbol.n_lines,
                    public: symbol.public,
                    from: match from.get(&key) {
                        Some(Moved::From(from)) => Some(from.clone()),
                        _ => None,
                    },
                    uncommitted: pending
                        .is_some_and(|file| is_in_new_lines(file, symbol.line, symbol.end_line)),
                });
            }
            // Members of a new type are a part of it, also where a language writes them outside of it,
            // and a definition for each platform is one.
            let added: HashSet<String> = (symbols.iter())
                .filter(|row| row.how == How::Added)
                .map(|row| row.symbol.clone())
                .collect();
            let mut seen = HashSet::new();
            symbols.retain(|row| {
                let is_member = row.how == How::Added
                    && (row.symbol.match_indices(['.', ':', '#']))
                        .any(|(end, _)| added.contains(&row.symbol[..end]));
                !is_member && seen.insert((row.symbol.clone(), row.how))
            });
            symbols.sort_by(|a, b| telling(b).total_cmp(&telling(a)).then(a.line.cmp(&b.line)));
            let how = how_of(file);
            rows.files.insert(
                file.path.clone(),
                ChangedFileRow {
                    path: file.path.clone(),
                    how,
                    from: file.before.clone().filter(|_| how == How::Renamed),
                    uncommitted: pending.is_some(),
                    total_symbols: symbols.len(),
                    symbols,
                },
            );
        }
        let mut tested: Vec<(&str, usize)> = in_file.into_iter().collect();
        tested.sort_by_key(|(_, n)| Reverse(*n));
        rows.tests.total_files = tested.len();
        rows.tests.files = tested.into_iter().map(|(path, _)| path.to_string()).collect();
        signatures.sort_by(|(a, _), (b, _)| b.cmp(a));
        rows.signatures = signatures.into_iter().map(|(_, row)| row).collect();
        rows
    }

    pub(in crate::engine) fn is_added(&self, path: &str, symbol: &str) -> bool {
        self.files.get(path).is_some_and(|file| {
            file.how == How::Added
                || file.symbols.iter().any(|row| {
                    matches!(row.how, How::Added | How::Renamed)
                        && symbol.strip_prefix(&*row.symbol).is_some_and(|rest| {
                            !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                        })
                })
        })
    }

    /// Returns the areas, and the commits below them.
    pub(in crate::engine) fn areas(
        &mut self,
        directories: &[String],
        files: &[Compared],
        commits: &[Commit],
    ) -> Vec<ChangedArea> {
        let mut areas: HashMap<&str, (f64, ChangedArea)> = HashMap::new();
        for Compared { file, mass, .. } in files {
            if mass.is_some() {
                continue;
            }
            let path = area_of(&file.path, directories);
            let (weight, area) = areas.entry(path).or_insert_with(|| {
                (0.0, ChangedArea { path: path.into(), ..ChangedArea::default() })
            });
            area.total_files += 1;
            for hunk in &file.hunks {
                area.added_lines += hunk.new_lines as usize;
                area.deleted_lines += hunk.old_lines as usize;
            }
            if let Some(row) = self.files.remove(&file.path) {
                *weight += worth(&row);
                area.files.push(row);
            }
        }
        for commit in commits {
            let mut n: BTreeMap<&str, usize> = BTreeMap::new();
            for path in &commit.files {
                let share = if is_test_file(path) || !is_compared(path) { 1 } else { 4 };
                let area = area_of(path, directories);
                // Generated and vendored files are in no area.
                if areas.contains_key(area) {
                    *n.entry(area).or_default() += share;
                }
            }
            let most = n.into_iter().max_by_key(|(path, n)| (*n, Reverse(*path)));
            if let Some((_, area)) = most.and_then(|(path, _)| areas.get_mut(path)) {
                area.total_commits += 1;
                area.commits.push(CommitLine {
                    commit: commit.id.clone(),
                    at: DateTime::from_timestamp(commit.at, 0).map(written).unwrap_or_default(),
                    subject: cut(&redact(&commit.subject).text, MAX_SUBJECT),
                    files: commit.files.len(),
                });
            }
        }
        let has_code = |commit: &&Commit| {
            commit.files.iter().any(|path| is_compared(path) && !is_test_file(path))
        };
        let with_code: HashSet<&str> =
            commits.iter().filter(has_code).map(|commit| &*commit.id).collect();
        let mut areas: Vec<(f64, ChangedArea)> = areas.into_values().collect();
        areas.sort_by(|(a, left), (b, right)| {
            b.total_cmp(a).then_with(|| left.path.cmp(&right.path))
        });
        let mut areas: Vec<ChangedArea> = areas.into_iter().map(|(_, area)| area).collect();
        for area in &mut areas {
            // Commits of documents and settings say less.
            area.commits.sort_by_key(|commit| !with_code.contains(&*commit.commit));
            area.files
                .sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.path.cmp(&b.path)));
        }
        areas
    }
}

/// How much a changed symbol tells about the change.
fn telling(row: &ChangedRow) -> f64 {
    let how = match row.how {
        How::Added | How::Renamed => 3.0,
        How::Deleted => 2.0,
        How::Changed | How::Planned => 1.0,
    };
    let is_data = SymbolKind::parse(&row.kind).is_some_and(SymbolKind::is_data);
    let kind = if is_data { 0.3 } else { 1.0 };
    let public = if row.public { 1.5 } else { 1.0 };
    how * kind * public * (1.0 + f64::from(row.lines)).ln()
}

/// How much a changed file tells. One without symbols tells little.
fn worth(file: &ChangedFileRow) -> f64 {
    0.1 + file.symbols.iter().map(telling).sum::<f64>()
}

/// Returns the folder to which a file is counted: the innermost of the main directories, or the first
/// folder of its path.
fn area_of<'a>(path: &'a str, directories: &[String]) -> &'a str {
    let is_in = |directory: &&String| {
        path.strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    let directory = directories.iter().filter(is_in).map(String::len).max();
    let end = directory.or_else(|| path.find('/'));
    end.map_or(".", |end| &path[..end])
}

/// Whether a symbol is in a module of tests beside the code.
fn is_in_tests(symbol: &str) -> bool {
    symbol.split("::").any(|part| matches!(part, "tests" | "test"))
}

/// What became of a symbol that a file lost, or where a symbol that it got comes from.
enum Moved {
    To,
    From(String),
}

/// Finds symbols that have another name or are in another file now: one that was added has most lines
/// of one that was deleted.
fn renames(files: &[Compared]) -> HashMap<(String, String), Moved> {
    let of = |how: How| {
        let all = files.iter().filter(|file| file.mass.is_none());
        let symbols = all.flat_map(|file| file.found.symbols.iter().map(|s| (&*file.file.path, s)));
        symbols.filter(move |(_, symbol)| symbol.how == how && !symbol.body.is_empty())
    };
    let deleted: Vec<(&str, &SymbolChange)> = of(How::Deleted).take(MAX_RENAMES).collect();
    let mut moved = HashMap::new();
    if deleted.is_empty() {
        return moved;
    }
    for (path, added) in of(How::Added) {
        let is_free = |(path, symbol): &&(&str, &SymbolChange)| {
            !moved.contains_key(&((*path).to_string(), symbol.symbol.clone()))
        };
        let may_be = |(old_path, old): &&(&str, &SymbolChange)| {
            old.kind == added.kind && (old.name == added.name) != (*old_path == path)
        };
        let found = (deleted.iter().filter(may_be).filter(is_free))
            .map(|old| (shared(&old.1.body, &added.body), old))
            .filter(|(share, _)| *share >= SAME)
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        if let Some((_, (old_path, old))) = found {
            let from = if *old_path == path { old.symbol.clone() } else { (*old_path).to_string() };
            moved.insert(((*old_path).to_string(), old.symbol.clone()), Moved::To);
            moved.insert((path.to_string(), added.symbol.clone()), Moved::From(from));
        }
    }
    moved
}

/// Returns the share of equal lines; 0 if there are too few to tell.
fn shared(old: &[String], new: &[String]) -> f64 {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    for line in old {
        *lines.entry(line).or_default() += 1;
    }
    let most = old.len().max(new.len());
    if most < LEAST_SAME {
        return 0.0;
    }
    let mut n_kept = 0_usize;
    for line in new {
        if let Some(left) = lines.get_mut(line.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            n_kept += 1;
        }
    }
    n_kept as f64 / most as f64
}

impl ChangesAnswer {
    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total_files == 0 && self.total_commits == 0
    }

    /// Returns the answer with at most `limit` rows in each list.
    pub(in crate::engine) fn with_at_most(mut self, limit: usize) -> Self {
        self.truncate_lists(limit);
        self.areas.truncate(limit);
        for area in &mut self.areas {
            area.files.truncate(limit);
            area.commits.truncate(limit);
            area.files.iter_mut().for_each(|file| file.symbols.truncate(limit));
        }
        self
    }

    fn truncate_lists(&mut self, n: usize) {
        self.uncommitted.truncate(n);
        self.signatures.truncate(n);
        self.dead.truncate(n);
        self.callers.truncate(n);
        self.tests.files.truncate(n);
    }

    /// Returns a copy with fewer details: `level` of them in the first areas, fewer in the later ones,
    /// and none in the last ones.
    #[must_use]
    pub fn first(&self, level: usize) -> Self {
        let mut answer = self.clone();
        answer.truncate_lists(level);
        for (n, area) in answer.areas.iter_mut().enumerate() {
            let level = if n < 2 * level { level >> (n / 3).min(63) } else { 0 };
            area.files.truncate(level * 2);
            area.commits.truncate(level);
            area.files.iter_mut().for_each(|file| file.symbols.truncate(1 + level));
        }
        answer
    }

    /// Returns the level from which on [`ChangesAnswer::first`] leaves nothing out of the first areas.
    #[must_use]
    pub fn top(&self) -> usize {
        let lists = [self.uncommitted.len(), self.signatures.len(), self.dead.len()];
        let of_area = |area: &ChangedArea| {
            let symbols = area.files.iter().map(|file| file.symbols.len());
            symbols.chain([area.files.len(), area.commits.len()]).max().unwrap_or(0)
        };
        let areas = self.areas.iter().enumerate().map(|(n, area)| of_area(area) << (n / 3).min(8));
        let others = [self.callers.len(), self.areas.len(), self.tests.files.len()];
        areas.chain(lists).chain(others).max().unwrap_or(0)
    }
}

/// Whether only white space, or the signs that formatters add and remove, differ.
pub(in crate::engine) fn is_reformatted(old: &str, new: &str) -> bool {
    fn said(text: &str) -> impl Iterator<Item = char> {
        let is_style = |c: &char| !c.is_whitespace() && !matches!(c, ',' | ';');
        text.chars().filter(is_style).map(|c| if c == '\'' { '"' } else { c })
    }
    said(old).eq(said(new))
}

/// Whether a change touches some of the lines `first` to `last` of the new text.
pub(in crate::engine) fn is_in_new_lines(file: &DiffFile, first: u32, last: u32) -> bool {
    file.before.is_none()
        || file.hunks.iter().any(|hunk| {
            let end = hunk.new_start.saturating_add(hunk.new_lines.max(1));
            hunk.new_start <= last && first < end
        })
}
