//! Tells what happened since a commit, a date or the last session: by area and symbol, with what lost
//! its last use, what got new callers, and the commits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::chunk::Origin;
use crate::engine::door::filters::{idle_paths, of_paths};
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::changed::{
    FileChange, How, MAX_COMPARED, Texts, changed, how_of, is_compared, shown, texts,
};
use crate::engine::memory::recall::written;
use crate::engine::past::change_rows::{
    ChangeCount, ChangesAnswer, Compared, DeadRow, NewCallers, Rows, Since, is_in_new_lines,
    is_reformatted,
};
use crate::engine::{AskError, Call};
use crate::graph::{self, CodeGraph, UnusedQuery};
use crate::languages::is_test_file;
use crate::live::Served;
use crate::memory::{Period, Session, SessionStatus, now};
use crate::source::{self, Beginning, Commit, DiffError, DiffFile, Hunk};
use crate::text::count;

/// Default of the number of rows of each list.
const LIMIT: usize = 30;
/// Largest number of commits that are read.
const MAX_COMMITS: usize = 1_000;
/// Largest number of commits of the last day.
const LAST_DAY: usize = 20;
/// Largest number of names whose new callers are looked up, and how long that may take.
const MAX_NAMES: usize = 60;
const MAX_WORDS: usize = 1_000;
const TIME: Duration = Duration::from_secs(2);
/// Largest number of names of callers in a row.
const MAX_CALLERS: usize = 3;
/// Shorter names say nothing about one symbol.
const LEAST_NAME: usize = 3;
/// Number of sessions among which the last one is looked for.
const SESSIONS: usize = 5;

/// The arguments of the question what happened.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ChangesRequest {
    /// A commit, a date or an age: HEAD~3, 2026-01-31, 3d. Default: the last session, else the last
    /// day with commits.
    pub since: Option<String>,
    /// Only files below this folder, or that match this glob.
    pub path: Option<String>,
    /// Maximum number of rows of each list. Default: 30.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
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
        let patterns: Vec<String> = request.path.iter().cloned().collect();
        let wanted = of_paths(Some(&self.project), &patterns)?;
        let (beginning, reason, mut limits) = self.beginning(asked)?;
        let View { code, state } = self.view(call)?;
        let root = self.project.layout.root();
        let start = beginning.start.as_deref();
        let difference = source::difference_since(root, start).map_err(cannot_tell)?;
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
        if files.is_empty() && commits.is_empty() {
            limits.extend(idle_paths(&[(&*self.project, &**code.corpus.chunks())], &patterns));
        }
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
                        let found = source::before(root, at.timestamp()).map_err(cannot_tell)?;
                        (found, asked.to_string())
                    }
                    (Err(DiffError::Range(why)), _) => {
                        return Err(AskError::Arguments(format!(
                            "{why}; or a date or an age (2026-01-31, 12h, 3d, 2w)"
                        )));
                    }
                    (Err(e), _) => return Err(cannot_tell(e)),
                }
            }
            None => match self.last_session()? {
                Some(at) => {
                    // A commit of the session's last second is one of the session.
                    let found = source::before(root, at.timestamp() + 1).map_err(cannot_tell)?;
                    (found, format!("the last session, which ended {}", written(at)))
                }
                None => {
                    let found = source::from_last_day(root, LAST_DAY).map_err(cannot_tell)?;
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
        Ok(Some(memories.store.last_activity(last)?).filter(|at| *at <= now()))
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
        let mut texts = texts(&self.project, false, &chosen).map_err(cannot_tell)?;
        let before = texts.len();
        let is_missing = |file: &&&DiffFile| {
            file.old_blob.is_some() && texts.get(&file.path).is_none_or(|(old, _)| old.is_none())
        };
        let missing: Vec<String> =
            chosen.iter().filter(is_missing).map(|file| file.path.clone()).collect();
        for path in &missing {
            texts.remove(path);
        }
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
            graph.around(&places, &work)
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

fn n_lines(file: &DiffFile) -> u64 {
    file.hunks.iter().map(|hunk| u64::from(hunk.old_lines) + u64::from(hunk.new_lines)).sum()
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

fn cannot_tell(e: DiffError) -> AskError {
    unanswered(e, "what changed")
}

/// Says why git has no answer to `what`, and what to do.
pub(in crate::engine) fn unanswered(e: DiffError, what: &str) -> AskError {
    match e {
        DiffError::Range(why) => AskError::Arguments(why),
        DiffError::NoRepository(why) => AskError::Arguments(format!(
            "there is no history: {why}; run it in a clone, or `git init` and commit first"
        )),
        DiffError::Failed(why) => AskError::Failed(format!(
            "git cannot say {what}: {why}; `git status` and `git fsck` show what is wrong"
        )),
    }
}
