//! Finds the commits that removed or added lines with a text, or code of a shape.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use memchr::memmem::Finder;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::door::commits::Commits;
use crate::engine::door::operation::FrontEnd;
use crate::engine::door::project::Project;
use crate::engine::{AskError, Call};
use crate::index::{MAX_PATCHES, index_patches};
use crate::languages::{LanguageKind, detect};
use crate::source::{self, LineChange, PatchReach, PatchText};
use crate::store::PatchFrame;
use crate::syntax::{Pattern, outline};
use crate::text::{chain, count};

/// Most places of a commit that a row shows, and most lines of each side of one.
const MAX_PLACES: usize = 3;
const MAX_LINES: usize = 4;
/// Most commits whose files are parsed to find code of a shape, and the time of processors for that.
const MAX_PARSED: usize = 200;
const PARSING: Duration = Duration::from_secs(5);
/// Longest time for which Cortex asks git for commits beyond the indexed ones.
const OLDER: Duration = Duration::from_secs(10);
/// Most bytes of the lines of one commit that a question asks git for.
const MAX_PATCH: usize = 4 << 20;
/// Shortest text that is searched, in bytes.
const SHORTEST: usize = 2;

/// What commits must have removed or added.
pub(in crate::engine) enum Wanted {
    /// A text within a line.
    Text(Finder<'static>),
    Expression(regex::Regex),
    /// Code of a shape; lines with the word are its candidates.
    Shape {
        pattern: String,
        word: Finder<'static>,
    },
}

/// A place that a commit changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedPlace {
    /// Relative to the root.
    pub path: String,
    /// The function or type around it, as the commit left it; empty if there is none.
    pub symbol: String,
    /// First line: after the commit, or before it if nothing was added.
    pub line: u32,
    /// Lines that the commit removed.
    pub removed: Vec<String>,
    /// Lines that it added.
    pub added: Vec<String>,
}

/// A commit that removed or added what was wanted.
pub(in crate::engine) struct Changing {
    pub(in crate::engine) id: String,
    /// Number of lines with it that the commit added and removed.
    pub(in crate::engine) n_added: usize,
    pub(in crate::engine) n_removed: usize,
    pub(in crate::engine) places: Vec<ChangedPlace>,
    /// Whether it only moved the lines to other files.
    only_moves: bool,
}

/// Commits that removed or added something.
#[derive(Default)]
pub(in crate::engine) struct Changes {
    /// Newest first.
    pub(in crate::engine) commits: Vec<Changing>,
    /// Number of commits that were found, of which these are the newest.
    pub(in crate::engine) total: usize,
    /// Number of commits whose lines were searched.
    pub(in crate::engine) searched: usize,
    pub(in crate::engine) notes: Vec<String>,
}

impl Wanted {
    /// Reads a request.
    pub(in crate::engine) fn new(
        text: &str,
        is_regex: bool,
        is_shape: bool,
    ) -> Result<Self, AskError> {
        let refused = |why: String| Err(AskError::Arguments(why));
        let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
        if text.len() < SHORTEST || text.contains('\n') {
            return refused("`changed` is part of one line, of at least two characters".into());
        }
        if is_shape {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let words = text.split(|c| !is_part(c)).filter(|word| !word.contains('$'));
            let Some(word) = words.max_by_key(|word| word.len()).filter(|w| w.len() >= SHORTEST)
            else {
                return refused(format!("`{text}` has no word that could be looked up"));
            };
            return Ok(Self::Shape { pattern: text.into(), word: finder(word) });
        }
        if !is_regex {
            return Ok(Self::Text(finder(text)));
        }
        match regex::RegexBuilder::new(text).size_limit(1 << 20).build() {
            Ok(expression) => Ok(Self::Expression(expression)),
            Err(e) => refused(format!("`{text}` is not a regular expression: {e}")),
        }
    }

    /// Returns a text that each line with it has.
    fn needle(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Shape { word: text, .. } => {
                std::str::from_utf8(text.needle()).ok()
            }
            Self::Expression(_) => None,
        }
    }

    fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Text(text) | Self::Shape { word: text, .. } => {
                text.find(line.as_bytes()).is_some()
            }
            Self::Expression(expression) => expression.is_match(line),
        }
    }

    /// Returns what a commit did to lines with it. Lines that only moved within their file, or whose
    /// white space changed, do not count; lines that moved to another file count if no others do.
    fn changed_by(&self, id: &str, text: &str) -> Option<Changing> {
        if !matches!(self, Self::Expression(_)) && !self.is_in(text) {
            return None;
        }
        let lines: Vec<LineChange> = PatchText::lines(text).collect();
        let found: Vec<&LineChange> = lines.iter().filter(|line| self.is_in(line.text)).collect();
        // More lines after the commit than before it, of the repository and of each file.
        let mut more: HashMap<String, i64> = HashMap::new();
        let mut more_in: HashMap<(&str, String), i64> = HashMap::new();
        for line in &found {
            let n = if line.is_added { 1 } else { -1 };
            *more.entry(dense(line.text)).or_default() += n;
            *more_in.entry((line.path, dense(line.text))).or_default() += n;
        }
        let fits = |line: &LineChange, n: i64| if line.is_added { n > 0 } else { n < 0 };
        let is_change = |line: &LineChange| fits(line, more[&dense(line.text)]);
        let is_move = |line: &LineChange| fits(line, more_in[&(line.path, dense(line.text))]);
        let only_moves = !found.iter().any(|line| is_change(line));
        let counts = |line: &&&LineChange| if only_moves { is_move(line) } else { is_change(line) };
        let found: Vec<&LineChange> = found.iter().filter(counts).copied().collect();
        let n_added = found.iter().filter(|line| line.is_added).count();
        let mut shown: Vec<usize> = found.iter().map(|line| line.change).collect();
        shown.dedup();
        if shown.is_empty() {
            return None;
        }
        let places = shown.iter().take(MAX_PLACES).map(|change| {
            let own: Vec<&LineChange> = lines.iter().filter(|l| l.change == *change).collect();
            self.place(&own)
        });
        Some(Changing {
            id: id.to_string(),
            n_added,
            n_removed: found.len() - n_added,
            places: places.collect(),
            only_moves,
        })
    }

    /// Returns the lines of one change, around those that are wanted.
    fn place(&self, lines: &[&LineChange]) -> ChangedPlace {
        let side = |is_added: bool| -> Vec<&LineChange> {
            let side: Vec<&LineChange> =
                lines.iter().copied().filter(|line| line.is_added == is_added).collect();
            let first = side.iter().position(|line| self.is_in(line.text)).unwrap_or(0);
            let from = first.min(side.len().saturating_sub(MAX_LINES));
            side.into_iter().skip(from).take(MAX_LINES).collect()
        };
        let (removed, added) = (side(false), side(true));
        let text = |side: &[&LineChange]| side.iter().map(|l| l.text.to_string()).collect();
        let first = added.first().or(removed.first());
        ChangedPlace {
            path: first.map_or("", |line| line.path).to_string(),
            symbol: first.map_or("", |line| line.around).to_string(),
            line: first.map_or(0, |line| line.number),
            removed: text(&removed),
            added: text(&added),
        }
    }
}

/// Returns a line without its white space.
fn dense(line: &str) -> String {
    line.split_whitespace().collect()
}

/// The commits among which changes are searched.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Bounds<'a> {
    /// Only these, if it is set.
    pub(in crate::engine) allowed: Option<&'a HashSet<String>>,
    /// Largest number of commits that are found.
    pub(in crate::engine) limit: usize,
    /// Whether Cortex also asks git for commits beyond the indexed ones.
    pub(in crate::engine) older: bool,
}

/// Finds the newest commits that changed what is wanted.
pub(in crate::engine) fn changes(
    project: &Project,
    commits: &Commits,
    wanted: &Wanted,
    Bounds { allowed, limit, older }: Bounds,
    wait: Duration,
    call: &Call,
) -> Result<Changes, AskError> {
    let table = &commits.table;
    let patches = index_patches(&project.layout, table, wait, &|| call.check().is_ok())
        .map_err(|e| AskError::Failed(chain(&e)));
    call.check()?;
    let patches = patches?;
    let at: HashMap<&str, usize> =
        table.commits.iter().enumerate().map(|(at, commit)| (&*commit.id, at)).collect();
    let is_allowed = |id: &str| allowed.is_none_or(|allowed| allowed.contains(id));
    let read = |id: &str, text: &str| {
        let at = *at.get(id).filter(|_| is_allowed(id))?;
        let change = wanted.changed_by(id, text);
        let lacks = (PatchText::is_cut(text), PatchText::lacks_files(text));
        (change.is_some() || lacks != (false, false)).then_some((at, change, lacks))
    };
    let of_frame = |frame: &PatchFrame| frame.read(read).unwrap_or_default();
    let mut all: Vec<_> = patches.frames.par_iter().flat_map_iter(of_frame).collect();
    all.sort_by_key(|(at, ..)| *at);
    // Commits of which a part is kept that lacks what is wanted, and those with files that are not.
    let (mut partly, mut n_without) = (Vec::new(), 0);
    let mut found = Vec::new();
    for (at, change, (is_cut, lacks_files)) in all {
        if change.is_none() && is_cut {
            partly.push(&*table.commits[at].id);
        }
        n_without += usize::from(change.is_none() && lacks_files);
        found.extend(change.map(|change| (at, change)));
    }
    let ids = patches.frames.iter().flat_map(|frame| &frame.commits).map(|(id, _)| &**id);
    let known: HashSet<&str> = ids.filter(|id| at.contains_key(id)).collect();
    let searched = known.len();
    let mut out = Changes { searched, ..Changes::default() };
    out.notes.extend(patches.cut.as_ref().map(|why| {
        format!("of the lines of the newest {MAX_PATCHES} commits not all were read: {why}")
    }));
    if !partly.is_empty() && (older || found.is_empty()) {
        let rest = rest_of(project, &partly, wanted, &mut out.notes, call)?;
        let place = |change: Changing| Some((*at.get(&*change.id)?, change));
        found.extend(rest.into_iter().filter_map(place));
        found.sort_by_key(|(at, _)| *at);
    } else if !partly.is_empty() {
        out.notes.push(format!(
            "{} changed more lines than are kept, and the others were not searched: {} asks git for them",
            count(partly.len(), "commit"),
            how_older(project)
        ));
    }
    if found.is_empty() && n_without > 0 {
        out.notes.push(format!(
            "{} changed files that are large or not text, whose lines were not searched",
            count(n_without, "commit")
        ));
    }
    let mut found: Vec<Changing> = found.into_iter().map(|(_, found)| found).collect();
    let all = table.commits.iter().map(|commit| &*commit.id);
    let beyond: Vec<&str> = all.filter(|id| !known.contains(id)).collect();
    if older && !beyond.is_empty() && found.len() < limit {
        let reach = PatchReach { longest: OLDER, max_bytes: MAX_PATCH, having: wanted.needle() };
        let cut = source::patches(project.layout.root(), &beyond, reach, &mut |patch| {
            out.searched += 1;
            if is_allowed(&patch.id) {
                found.extend(wanted.changed_by(&patch.id, &patch.text));
            }
            found.len() < limit && call.check().is_ok()
        });
        let cut = cut.map_err(|e| AskError::Failed(chain(&e)))?;
        if cut.is_some() && found.len() < limit {
            out.notes.push(format!(
                "Cortex asked git for {} s, and searched {} of {} commits",
                OLDER.as_secs(),
                out.searched,
                table.commits.len()
            ));
        }
    } else if !beyond.is_empty() {
        out.notes.push(format!(
            "only the newest {searched} of {} commits were searched: {} asks git for the others",
            table.commits.len(),
            how_older(project)
        ));
    }
    call.check()?;
    // A commit that moved lines explains them only where none wrote them.
    if found.iter().any(|commit| !commit.only_moves) {
        found.retain(|commit| !commit.only_moves);
    }
    if let Wanted::Shape { pattern, .. } = wanted {
        let n = found.len();
        let (kept, n_parsed) = shaped(project, found, pattern, limit, call)?;
        if n_parsed < n && kept.len() < limit {
            out.notes
                .push(format!("the files of the newest {n_parsed} of {n} candidates were parsed"));
        }
        found = kept;
    }
    out.total = found.len();
    found.truncate(limit);
    name_symbols(project, &mut found);
    out.commits = found;
    Ok(out)
}

/// Asks git for all lines of commits of which a part is kept, and returns those that changed what is
/// wanted.
fn rest_of(
    project: &Project,
    partly: &[&str],
    wanted: &Wanted,
    notes: &mut Vec<String>,
    call: &Call,
) -> Result<Vec<Changing>, AskError> {
    let reach = PatchReach { longest: OLDER, max_bytes: MAX_PATCH, having: wanted.needle() };
    let (mut found, mut n_cut) = (Vec::new(), 0);
    let cut = source::patches(project.layout.root(), partly, reach, &mut |patch| {
        n_cut += usize::from(PatchText::is_cut(&patch.text));
        found.extend(wanted.changed_by(&patch.id, &patch.text));
        call.check().is_ok()
    });
    call.check()?;
    if let Some(why) = cut.map_err(|e| AskError::Failed(chain(&e)))? {
        notes.push(format!(
            "{} changed more lines than are kept, and not all of these were searched: {why}",
            count(partly.len(), "commit")
        ));
    } else if n_cut > 0 {
        notes.push(format!(
            "{} changed more than {} MiB of lines: only these were searched",
            count(n_cut, "commit"),
            MAX_PATCH >> 20
        ));
    }
    Ok(found)
}

/// Names the option that asks git.
fn how_older(project: &Project) -> &'static str {
    if project.front_end == FrontEnd::CommandLine { "--older" } else { "`older`" }
}

/// Keeps the commits after which a file has another number of matches than before. Also returns how
/// many commits were looked at.
fn shaped(
    project: &Project,
    found: Vec<Changing>,
    pattern: &str,
    limit: usize,
    call: &Call,
) -> Result<(Vec<Changing>, usize), AskError> {
    let work = call.work().at_most(PARSING);
    let mut patterns: HashMap<String, Option<Pattern>> = HashMap::new();
    let (mut kept, mut n_parsed) = (Vec::new(), 0);
    for mut commit in found.into_iter().take(MAX_PARSED) {
        call.check()?;
        if kept.len() == limit || !work.goes_on() {
            break;
        }
        n_parsed += 1;
        let mut paths: Vec<&str> = commit.places.iter().map(|place| &*place.path).collect();
        paths.dedup();
        let sides = paths
            .iter()
            .flat_map(|path| [(format!("{}^", commit.id), *path), (commit.id.clone(), *path)]);
        let sides: Vec<(String, &str)> = sides.collect();
        let texts = source::texts_at(project.layout.root(), &sides)
            .map_err(|e| AskError::Failed(chain(&e)))?;
        let (mut n_added, mut n_removed) = (0, 0);
        for (path, texts) in paths.iter().zip(texts.chunks(2)) {
            let Some(text) = texts[1].as_ref().or(texts[0].as_ref()) else { continue };
            let LanguageKind::Code(grammar) = detect(path, text).kind else { continue };
            let name = grammar.spec.name;
            let pattern =
                patterns.entry(name.into()).or_insert_with(|| Pattern::new(name, pattern).ok());
            let Some(pattern) = pattern else { continue };
            let count = |text: &Option<String>| text.as_ref().map_or(0, |t| pattern.find(t).len());
            let (before, after) = (count(&texts[0]), count(&texts[1]));
            n_added += after.saturating_sub(before);
            n_removed += before.saturating_sub(after);
        }
        if n_added + n_removed > 0 {
            (commit.n_added, commit.n_removed) = (n_added, n_removed);
            kept.push(commit);
        }
    }
    if patterns.values().all(Option::is_none) && !patterns.is_empty() {
        return Err(AskError::Arguments(format!(
            "`{pattern}` is not code in the languages of the files that were changed"
        )));
    }
    Ok((kept, n_parsed))
}

/// Names the function or type around each place, as the commit left it.
fn name_symbols(project: &Project, found: &mut [Changing]) {
    let sides = found.iter().flat_map(|commit| {
        commit.places.iter().map(|place| {
            let id = &commit.id;
            let side = if place.added.is_empty() { format!("{id}^") } else { id.clone() };
            (side, &*place.path)
        })
    });
    let sides: Vec<(String, &str)> = sides.collect();
    let Ok(texts) = source::texts_at(project.layout.root(), &sides) else { return };
    let places = found.iter_mut().flat_map(|commit| &mut commit.places);
    for (place, text) in places.zip(texts) {
        let Some(text) = text else { continue };
        let LanguageKind::Code(grammar) = detect(&place.path, &text).kind else { continue };
        let Some(outline) = outline(grammar, &text) else { continue };
        let around = outline
            .symbols
            .iter()
            .filter(|symbol| (symbol.start_line..=symbol.end_line).contains(&place.line))
            .max_by_key(|symbol| symbol.depth);
        place.symbol = around.map(|symbol| symbol.name.clone()).unwrap_or_default();
    }
}
