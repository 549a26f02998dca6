//! Tells what happened since a commit, a date or the last session: by area and symbol, with what lost
//! its last use, what got new callers, and the commits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changed::{
    FileChange, How, MAX_COMPARED, SymbolChange, Texts, changed, how_of, is_compared, shown, texts,
};
use super::filters::of_paths;
use super::freshness::AnswerState;
use super::memory::written;
use super::serving::{Engine, View};
use super::{AskError, Call};
use crate::chunk::Origin;
use crate::graph::{self, CodeGraph, Depth, UnusedQuery};
use crate::languages::{is_test_file, is_test_path};
use crate::live::Served;
use crate::memory::{Period, Select, Session, SessionStatus, now};
use crate::secrets::redact;
use crate::source::{self, Beginning, Commit, DiffError, DiffFile, Hunk};
use crate::syntax::SymbolKind;
use crate::text::{count, cut};

/// Default of the number of rows of each list.
const LIMIT: usize = 30;
/// Largest number of commits that are read.
const MAX_COMMITS: usize = 1_000;
/// Largest number of commits of the last day.
const LAST_DAY: usize = 20;
/// Most characters of a subject.
const MAX_SUBJECT: usize = 100;
/// Largest number of names whose new callers are looked up, and how long that may take.
const MAX_NAMES: usize = 60;
const MAX_WORDS: usize = 1_000;
const TIME: Duration = Duration::from_secs(2);
/// Largest number of names of callers in a row.
const MAX_CALLERS: usize = 3;
/// Shorter names say nothing about one symbol.
const LEAST_NAME: usize = 3;
/// A symbol has another name if at least this share of its lines stayed, of at least so many.
const SAME: f64 = 0.6;
const LEAST_SAME: usize = 3;
/// Largest number of deleted symbols that are compared with added ones.
const MAX_RENAMES: usize = 200;
/// Number of sessions among which the last one is looked for.
const SESSIONS: usize = 5;

/// The arguments of the question what happened.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ChangesRequest {
    /// A commit (`HEAD~3`, `v1.2`), a date (`2026-01-31`) or an age (`12h`, `3d`, `2w`). Default: since
    /// the last session, otherwise the last day with commits.
    pub since: Option<String>,
    /// Only files below this folder, or that match this glob.
    pub path: Option<String>,
    /// Maximum number of rows of each list. Default: 30.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
}

/// What happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangesAnswer {
    pub since: Since,
    /// Number of commits without merges, up to 1000.
    pub total_commits: usize,
    /// Whether there are more commits than these.
    pub more_commits: bool,
    /// Number of files that differ.
    pub total_files: usize,
    /// Number of lines that are new, and of those that are gone.
    pub added_lines: usize,
    pub deleted_lines: usize,
    /// Files with changes that no commit holds yet.
    pub uncommitted: Vec<String>,
    pub total_uncommitted: usize,
    /// Public symbols with another signature.
    pub signatures: Vec<SignatureRow>,
    pub total_signatures: usize,
    /// Symbols that lost their last use.
    pub dead: Vec<DeadRow>,
    pub total_dead: usize,
    /// Symbols with new callers.
    pub callers: Vec<NewCallers>,
    pub total_callers: usize,
    pub tests: TestChanges,
    /// The areas with changes, those with most first.
    pub areas: Vec<ChangedArea>,
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
    pub what: String,
    pub files: usize,
}

/// A public symbol with another signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignatureRow {
    /// Relative to the root.
    pub path: String,
    pub line: u32,
    pub symbol: String,
    pub before: String,
    pub after: String,
}

/// A symbol that lost its last use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeadRow {
    /// Relative to the root.
    pub path: String,
    pub line: u32,
    pub symbol: String,
    /// The file in which the last use was.
    pub used_in: String,
}

/// A symbol with new callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewCallers {
    /// Relative to the root.
    pub path: String,
    pub line: u32,
    pub symbol: String,
    /// Number of new users, and of all users; tests are none.
    pub new: usize,
    pub total: usize,
    /// The first new users.
    pub names: Vec<String>,
}

/// What happened to tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestChanges {
    pub added: usize,
    pub changed: usize,
    pub deleted: usize,
    /// The files of these tests, those with most first.
    pub files: Vec<String>,
    pub total_files: usize,
}

/// A folder with changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedArea {
    /// Relative to the root; `.` for files of the root.
    pub path: String,
    /// Number of files that changed in it.
    pub total_files: usize,
    pub added_lines: usize,
    pub deleted_lines: usize,
    /// The files with the most telling changes first.
    pub files: Vec<ChangedFileRow>,
    /// The commits that changed mostly this area: those that changed code first, then the newest.
    pub commits: Vec<CommitLine>,
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
    pub total_symbols: usize,
}

/// A changed symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedRow {
    pub symbol: String,
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
    pub at: String,
    /// First line of the message, without secrets.
    pub subject: String,
    /// Number of files that it changed.
    pub files: usize,
}

/// How often a name was written in the lines that are gone, and in those that are new.
#[derive(Default)]
struct NameChange {
    gone: usize,
    new: usize,
    /// By file, how many more of the new lines have it; negative for fewer.
    by_file: HashMap<String, isize>,
    /// Whether it is written as a name of code somewhere: called, in upper case, or with `_`.
    is_name: bool,
}

/// A file of the change, compared.
struct Compared<'a> {
    file: &'a DiffFile,
    /// What it is if it says little: generated, vendored, formatting only.
    mass: Option<&'static str>,
    found: FileChange,
}

impl Engine {
    /// Tells what happened since a commit, a date or the last session, with the working tree.
    ///
    /// # Errors
    /// When the request is not valid, git does not answer, or the index cannot be read.
    pub fn changes(
        &self,
        request: &ChangesRequest,
        call: &Call,
    ) -> Result<ChangesAnswer, AskError> {
        let asked = request.since.as_deref().map(str::trim).filter(|since| !since.is_empty());
        let path = request.path.as_deref().map(|path| path.trim_start_matches("./"));
        let path = path.filter(|path| !matches!(*path, "" | "."));
        let patterns: Vec<String> = path.map(String::from).into_iter().collect();
        let wanted = of_paths(&patterns)?;
        let (beginning, reason, mut limits) = self.beginning(asked)?;
        let View { code, state } = self.view(call)?;
        let root = self.project.layout.root();
        let start = beginning.start.as_deref();
        let difference = source::difference_since(root, start).map_err(unanswered)?;
        if let Some(why) = &difference.cut {
            limits.push(format!("the difference is not complete: {why}"));
        }
        let (mut files, n_hidden) = shown(&self.project, difference.files);
        files.retain(|file| wanted.is_match(&file.path));
        if n_hidden > 0 {
            let n = count(n_hidden, "file");
            limits.push(format!("{n} left out: hidden, or may hold secrets"));
        }
        call.check()?;
        let (commits, more_commits) =
            self.commits_since(start, &|path| wanted.is_match(path), &mut limits);
        let pending = source::difference(root, None).map(|found| found.files).unwrap_or_default();
        let pending: HashMap<&str, &DiffFile> =
            pending.iter().map(|file| (&*file.path, file)).collect();

        let (files, texts) = self.compare(&code, &files, &commits, &mut limits, call)?;
        call.check()?;
        let names = names_of(&texts, &files);
        let mut rows = Rows::of(&files, &pending);
        let graph = self.of_graph(&code, &files, &names, &rows, call);
        let (dead, callers) = match graph {
            Ok(found) => found,
            Err(AskError::Cancelled) => return Err(AskError::Cancelled),
            Err(e) => {
                limits.push(format!("what lost its last use or got new callers is unknown: {e}"));
                (Vec::new(), Vec::new())
            }
        };
        let directories = self.main_directories(&code);
        let limit = request.limit.unwrap_or(LIMIT).max(1);
        let mut uncommitted: Vec<String> = files
            .iter()
            .filter(|file| pending.contains_key(&*file.file.path))
            .map(|file| file.file.path.clone())
            .collect();
        uncommitted.sort_unstable();
        let lines = |of: fn(&Hunk) -> u32| {
            let hunks = files.iter().flat_map(|file| &file.file.hunks);
            hunks.map(|hunk| of(hunk) as usize).sum()
        };
        let mut mass: BTreeMap<&str, usize> = BTreeMap::new();
        files
            .iter()
            .filter_map(|file| file.mass)
            .for_each(|what| *mass.entry(what).or_default() += 1);
        let areas = rows.areas(&directories, &files, &commits);
        let answer = ChangesAnswer {
            since: Since { commit: beginning.start.clone().unwrap_or_default(), reason },
            total_commits: commits.len(),
            more_commits,
            total_files: files.len(),
            added_lines: lines(|hunk| hunk.new_lines),
            deleted_lines: lines(|hunk| hunk.old_lines),
            total_uncommitted: uncommitted.len(),
            uncommitted,
            total_signatures: rows.signatures.len(),
            signatures: rows.signatures,
            total_dead: dead.len(),
            dead,
            total_callers: callers.len(),
            callers,
            tests: rows.tests,
            total_areas: areas.len(),
            areas,
            mass: mass
                .into_iter()
                .map(|(what, files)| ChangeCount { what: what.into(), files })
                .collect(),
            limits,
            state: state.in_brief(call),
        };
        Ok(answer.with_at_most(limit))
    }

    /// Finds where the change begins, why there, and what there is to say about it.
    fn beginning(&self, asked: Option<&str>) -> Result<(Beginning, String, Vec<String>), AskError> {
        let root = self.project.layout.root();
        let mut limits = Vec::new();
        let (found, mut reason) = match asked {
            Some(asked) => {
                let named = source::named(root, asked.strip_suffix("..").unwrap_or(asked));
                let time = || Period::parse(Some(asked), None, Utc::now()).ok()?.since;
                match (named, time()) {
                    (Ok(found), _) => (found, asked.to_string()),
                    // What git knows by this name comes first: a tag may look like a date.
                    (Err(DiffError::Range(_)), Some(at)) if !asked.starts_with('-') => {
                        let found = source::before(root, at.timestamp()).map_err(unanswered)?;
                        (found, asked.to_string())
                    }
                    (Err(DiffError::Range(why)), _) => {
                        return Err(AskError::Arguments(format!(
                            "{why}; or a date or an age (2026-01-31, 12h, 3d, 2w)"
                        )));
                    }
                    (Err(e), _) => return Err(unanswered(e)),
                }
            }
            None => match self.last_session()? {
                Some(at) => {
                    // A commit of the session's last second is one of the session.
                    let found = source::before(root, at.timestamp() + 1).map_err(unanswered)?;
                    (found, format!("the last session, which ended {}", written(at)))
                }
                None => {
                    let found = source::from_last_day(root, LAST_DAY).map_err(unanswered)?;
                    (found, "the last day with commits; no session is known".into())
                }
            },
        };
        if let Some(other) = &found.other {
            reason.push_str(", which is not part of HEAD: since the last common commit");
            let n = source::commits_between(root, found.start.as_deref(), other, MAX_COMMITS);
            if let Ok(log) = n {
                limits.push(format!(
                    "{} of {} are not in HEAD and not told",
                    count(log.commits.len(), "commit"),
                    asked.unwrap_or_default()
                ));
            }
        }
        if found.is_cut {
            limits.push(
                "the clone is shallow: older commits are missing (`git fetch --unshallow` gets them)"
                    .into(),
            );
        }
        Ok((found, reason, limits))
    }

    /// Returns when the last session ended that is not the current one.
    fn last_session(&self) -> Result<Option<DateTime<Utc>>, AskError> {
        let Some(memories) = self.memories_so_far()? else { return Ok(None) };
        let current = memories.sessions.current_session().ok().flatten();
        let sessions = memories.store.sessions(SESSIONS)?;
        let is_other = |session: &&Session| Some(&session.id) != current.as_ref();
        let Some(last) = sessions.iter().find(is_other) else { return Ok(None) };
        if let (SessionStatus::Completed, Some(ended_at)) = (last.status, last.ended_at) {
            return Ok(Some(ended_at));
        }
        // An abandoned session was ended long after its last memory.
        let newest = Select { session_id: Some(last.id.clone()), limit: 1, ..Select::default() };
        let newest = memories.store.select(&newest)?.first().map(|memory| memory.created_at);
        Ok(newest.max(Some(last.started_at)).filter(|at| *at <= now()))
    }

    /// Returns the commits that changed something wanted, newest first, and whether there are more.
    fn commits_since(
        &self,
        start: Option<&str>,
        is_wanted: &dyn Fn(&str) -> bool,
        limits: &mut Vec<String>,
    ) -> (Vec<Commit>, bool) {
        let root = self.project.layout.root();
        let head = source::head(root).unwrap_or_default();
        match source::commits_between(root, start, &head, MAX_COMMITS) {
            Ok(log) => {
                if let Some(why) = log.cut {
                    limits.push(format!("not all commits are told: {why}"));
                }
                let more = log.commits.len() >= MAX_COMMITS;
                let mut commits = log.commits;
                commits.retain(|commit| commit.files.iter().any(|file| is_wanted(file)));
                (commits, more)
            }
            // Without a commit in the range, git prints nothing.
            Err(_) if start == Some(&*head) => (Vec::new(), false),
            Err(why) => {
                limits.push(format!("the commits are unknown: {why}"));
                (Vec::new(), false)
            }
        }
    }

    /// Compares the texts of the files that tell most.
    fn compare<'f>(
        &self,
        code: &Served,
        files: &'f [DiffFile],
        commits: &[Commit],
        limits: &mut Vec<String>,
        call: &Call,
    ) -> Result<(Vec<Compared<'f>>, Texts), AskError> {
        let mut touched: HashMap<&str, usize> = HashMap::new();
        for path in commits.iter().flat_map(|commit| &commit.files) {
            *touched.entry(path).or_default() += 1;
        }
        let mut chosen: Vec<&DiffFile> = files
            .iter()
            .filter(|file| is_compared(&file.path) && mass_of(code, &file.path).is_none())
            .collect();
        chosen.sort_by_key(|file| {
            let n = touched.get(&*file.path).copied().unwrap_or_default();
            (Reverse(n), Reverse(n_lines(file)), &file.path)
        });
        if chosen.len() > MAX_COMPARED {
            let rest = &chosen[MAX_COMPARED..];
            let folder =
                |file: &&DiffFile| file.path.rsplit_once('/').map_or(".", |(f, _)| f).to_string();
            let folders: HashSet<String> = rest.iter().map(folder).collect();
            limits.push(format!(
                "and {} in {}, of which the symbols are not compared: `path` asks for one folder",
                count(rest.len(), "file"),
                count(folders.len(), "folder")
            ));
            chosen.truncate(MAX_COMPARED);
        }
        let mut texts = texts(&self.project, false, &chosen).map_err(unanswered)?;
        let before = texts.len();
        let is_missing = |file: &&&DiffFile| {
            file.old_blob.is_some() && texts.get(&file.path).is_none_or(|(old, _)| old.is_none())
        };
        let missing: Vec<String> =
            chosen.iter().filter(is_missing).map(|file| file.path.clone()).collect();
        missing.iter().for_each(|path| drop(texts.remove(path)));
        if texts.len() < before {
            limits.push(format!(
                "{}: git has no former text of them here (a partial clone?), so their symbols are not compared",
                count(missing.len(), "file")
            ));
        }
        let work = call.work();
        let compare = |file: &'f DiffFile| {
            let mut mass = mass_of(code, &file.path);
            let mut found = FileChange::default();
            if let Some((old, new)) = texts.get(&file.path)
                && work.goes_on()
            {
                if let (Some(old), Some(new)) = (old, new)
                    && !file.hunks.is_empty()
                    && is_reformatted(old, new)
                {
                    mass = Some("formatting only");
                } else if how_of(file) != How::Renamed || !file.hunks.is_empty() {
                    found = changed(&file.path, old.as_deref(), new.as_deref(), &file.hunks);
                }
            }
            Compared { file, mass, found }
        };
        let compared = files.par_iter().map(compare).collect();
        if work.is_spent() {
            limits.push("comparing the files took too long: some symbols are missing".into());
        }
        Ok((compared, texts))
    }

    /// Asks the graph which symbols lost their last use, and which got new callers.
    fn of_graph(
        &self,
        code: &Served,
        files: &[Compared],
        names: &HashMap<String, NameChange>,
        rows: &Rows,
        call: &Call,
    ) -> Result<(Vec<DeadRow>, Vec<NewCallers>), AskError> {
        let is_lost = |name: &str| names.get(name).is_some_and(|change| change.gone > change.new);
        let dead = if names.keys().any(|name| is_lost(name)) {
            self.dead(code, names, rows, call)?
        } else {
            Vec::new()
        };
        Ok((dead, self.new_callers(files, names, rows, call)?))
    }

    fn dead(
        &self,
        code: &Served,
        names: &HashMap<String, NameChange>,
        rows: &Rows,
        call: &Call,
    ) -> Result<Vec<DeadRow>, AskError> {
        let mut paths: Vec<&str> =
            code.corpus.chunks().files().filter(|path| self.project.may_read(path)).collect();
        paths.sort_unstable();
        paths.dedup();
        let read = |path: &str| self.project.read_text(path).ok();
        let query = UnusedQuery {
            files: &paths,
            read: &read,
            is_asked: &|path| mass_of(code, path).is_none(),
            is_library: &|_, _| false,
            with_public: true,
        };
        let (found, ..) = self.ask_graph_in_time(call, |graph, work| graph.unused(query, work))?;
        let dead = found.results.into_iter().filter_map(|symbol| {
            let node = symbol.node;
            let change = names.get(&*node.name).filter(|change| change.gone > change.new)?;
            if rows.is_added(&node.file, &node.symbol) {
                return None;
            }
            let (used_in, _) = change.by_file.iter().min_by_key(|(path, n)| (**n, *path))?;
            Some(DeadRow {
                used_in: used_in.clone(),
                path: node.file,
                line: node.line,
                symbol: node.symbol,
            })
        });
        Ok(dead.collect())
    }

    fn new_callers(
        &self,
        files: &[Compared],
        names: &HashMap<String, NameChange>,
        rows: &Rows,
        call: &Call,
    ) -> Result<Vec<NewCallers>, AskError> {
        let mut gained: Vec<(&str, usize)> = names
            .iter()
            .filter(|(_, change)| change.is_name && change.new > change.gone)
            .map(|(name, change)| (&**name, change.new - change.gone))
            .collect();
        gained.sort_by_key(|(name, n)| (Reverse(*n), *name));
        gained.truncate(MAX_WORDS);
        let written: Vec<String> = gained.iter().map(|(name, _)| (*name).to_string()).collect();
        let hunks: HashMap<&str, &DiffFile> =
            files.iter().map(|file| (&*file.file.path, file.file)).collect();
        let work = call.work().at_most(TIME);
        let ask = |graph: &CodeGraph| {
            let mut targets: Vec<graph::Node> = Vec::new();
            for name in &written {
                if targets.len() >= MAX_NAMES || !work.goes_on() {
                    break;
                }
                let nodes = graph.named(std::slice::from_ref(name), &work)?;
                // Of several symbols of a name, the words do not tell which is meant.
                if let [node] = &nodes[0][..]
                    && node.line > 0
                    && node.name == *name
                    && !is_test_file(&node.file)
                    && !rows.is_added(&node.file, &node.symbol)
                {
                    targets.push(node.clone());
                }
            }
            let places: Vec<String> =
                targets.iter().map(|node| format!("{}:{}", node.file, node.line)).collect();
            graph.around(&places, Depth::Brief, &work)
        };
        let (around, _) = self.ask_graph(call, ask)?;
        let mut found: Vec<(bool, NewCallers)> = Vec::new();
        for around in around.into_iter().flatten() {
            let Some(change) = names.get(&*around.node.name) else { continue };
            let is_new = |user: &&graph::Neighbour| {
                change.by_file.get(&user.node.file).is_some_and(|n| *n > 0)
                    && hunks.get(&*user.node.file).is_some_and(|file| {
                        user.sites.iter().any(|line| is_in_new_lines(file, *line, *line))
                    })
            };
            let new: Vec<String> =
                around.users.iter().filter(is_new).map(|user| user.node.symbol.clone()).collect();
            if !new.is_empty() {
                let is_function = around.node.is_function();
                found.push((
                    is_function,
                    NewCallers {
                        path: around.node.file,
                        line: around.node.line,
                        symbol: around.node.symbol,
                        new: new.len(),
                        total: around.users.len(),
                        names: new.into_iter().take(MAX_CALLERS).collect(),
                    },
                ));
            }
        }
        // What a call does tells more than which type is used.
        found.sort_by(|(is_a, a), (is_b, b)| {
            is_b.cmp(is_a).then(b.new.cmp(&a.new)).then_with(|| a.path.cmp(&b.path))
        });
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }
}

/// Says what a file is that says little when it changes.
fn mass_of(code: &Served, path: &str) -> Option<&'static str> {
    let mut of_file = code.corpus.chunks().by_file(path);
    let known = of_file.next().and_then(|entry| entry.chunk()).map(|chunk| chunk.metadata.origin());
    match known.unwrap_or_else(|| Origin::of_path(path)) {
        Origin::Generated => Some("generated"),
        Origin::Vendored => Some("vendored"),
        Origin::Ordinary => source::is_never_read(path).then_some("lock files and binaries"),
    }
}

/// Whether only white space, or the signs that formatters add and remove, differ.
fn is_reformatted(old: &str, new: &str) -> bool {
    fn said(text: &str) -> impl Iterator<Item = char> {
        let is_style = |c: &char| !c.is_whitespace() && !matches!(c, ',' | ';');
        text.chars().filter(is_style).map(|c| if c == '\'' { '"' } else { c })
    }
    said(old).eq(said(new))
}

fn n_lines(file: &DiffFile) -> u64 {
    file.hunks.iter().map(|hunk| u64::from(hunk.old_lines) + u64::from(hunk.new_lines)).sum()
}

/// Whether a change touches some of the lines `first` to `last` of the new text.
fn is_in_new_lines(file: &DiffFile, first: u32, last: u32) -> bool {
    file.before.is_none()
        || file.hunks.iter().any(|hunk| {
            let end = hunk.new_start.saturating_add(hunk.new_lines.max(1));
            hunk.new_start <= last && first < end
        })
}

/// Counts the names in the lines that differ.
fn names_of(texts: &Texts, files: &[Compared]) -> HashMap<String, NameChange> {
    let mut names: HashMap<String, NameChange> = HashMap::new();
    for Compared { file, mass, .. } in files {
        let Some((old, new)) = texts.get(&file.path).filter(|_| mass.is_none()) else { continue };
        let mut note = |text: &Option<String>, side: fn(&Hunk) -> (u32, u32), sign: isize| {
            let lines: Vec<&str> = text.as_deref().unwrap_or_default().lines().collect();
            let all = file.hunks.is_empty().then_some(&lines[..]);
            let of_hunk = |hunk: &Hunk| {
                let (start, n) = side(hunk);
                let start = (start as usize).saturating_sub(1).min(lines.len());
                &lines[start..start.saturating_add(n as usize).min(lines.len())]
            };
            for line in all.into_iter().chain(file.hunks.iter().map(of_hunk)).flatten() {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                // Each word ends with the sign behind it.
                for part in line.split_inclusive(|c| !is_part(c)) {
                    let word = part.trim_end_matches(|c| !is_part(c));
                    if word.len() < LEAST_NAME {
                        continue;
                    }
                    let is_name = part.ends_with('(')
                        || word.contains('_')
                        || word.starts_with(char::is_uppercase);
                    let known = match names.get_mut(word) {
                        Some(known) => known,
                        None => names.entry(word.to_string()).or_default(),
                    };
                    known.is_name |= is_name;
                    *(if sign < 0 { &mut known.gone } else { &mut known.new }) += 1;
                    *known.by_file.entry(file.path.clone()).or_default() += sign;
                }
            }
        };
        let is_moved = how_of(file) == How::Renamed && file.hunks.is_empty();
        if !is_moved {
            note(old, |hunk| (hunk.old_start, hunk.old_lines), -1);
            note(new, |hunk| (hunk.new_start, hunk.new_lines), 1);
        }
    }
    names
}

/// Says why git has no answer, and what to do.
fn unanswered(e: DiffError) -> AskError {
    match e {
        DiffError::Range(why) => AskError::Arguments(why),
        DiffError::NoRepository(why) => AskError::Arguments(format!(
            "there is no history: {why}; run it in a clone, or `git init` and commit first"
        )),
        DiffError::Failed(why) => AskError::Failed(format!(
            "git cannot say what changed: {why}; `git status` and `git fsck` show what is wrong"
        )),
    }
}

/// The rows of an answer.
struct Rows {
    /// By path.
    files: HashMap<String, ChangedFileRow>,
    signatures: Vec<SignatureRow>,
    tests: TestChanges,
}

impl Rows {
    fn of(files: &[Compared], pending: &HashMap<&str, &DiffFile>) -> Self {
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

    fn is_added(&self, path: &str, symbol: &str) -> bool {
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
    fn areas(
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
                (
                    0.0,
                    ChangedArea {
                        path: path.into(),
                        total_files: 0,
                        added_lines: 0,
                        deleted_lines: 0,
                        files: Vec::new(),
                        commits: Vec::new(),
                        total_commits: 0,
                    },
                )
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
                *n.entry(area_of(path, directories)).or_default() += share;
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
    old.iter().for_each(|line| *lines.entry(line).or_default() += 1);
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
    fn with_at_most(mut self, limit: usize) -> Self {
        self.uncommitted.truncate(limit);
        self.signatures.truncate(limit);
        self.dead.truncate(limit);
        self.callers.truncate(limit);
        self.tests.files.truncate(limit);
        self.areas.truncate(limit);
        for area in &mut self.areas {
            area.files.truncate(limit);
            area.commits.truncate(limit);
            area.files.iter_mut().for_each(|file| file.symbols.truncate(limit));
        }
        self
    }

    /// Returns a copy with fewer details: `level` of them in the first areas, fewer in the later ones,
    /// and none in the last ones.
    #[must_use]
    pub fn first(&self, level: usize) -> Self {
        let mut answer = self.clone();
        answer.uncommitted.truncate(level);
        answer.signatures.truncate(level);
        answer.dead.truncate(level);
        answer.callers.truncate(level);
        answer.tests.files.truncate(level);
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
