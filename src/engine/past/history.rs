//! Commits as results: what people said when they changed the code.

use std::collections::HashSet;

use chrono::DateTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::embed::{BundledModel, Embedder, StaticModel};
use crate::engine::door::commits::Commits;
use crate::engine::door::filters::of_paths;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::project::{LONG_WAIT, Project, SHORT_WAIT};
use crate::engine::door::reverts::RevertNote;
use crate::engine::door::serving::{Engine, Step, Upkeep};
use crate::engine::memory::recall::written;
use crate::engine::past::diffs::{self, ChangedPlace, Wanted};
use crate::engine::read::search::Page;
use crate::engine::{AskError, Call};
use crate::index::{N_FILES, ROUTINE};
use crate::memory::{Period, now};
use crate::search::{Condition, Corpus, Filter, Hit, PathFilter, QueryWords, Searcher};
use crate::source::printable;
use crate::store::{ChunkFiles, CommitFacts, Patches};
use crate::text::chain;

/// The more files a commit changed, the less it says about each: its score falls by this times the
/// natural logarithm of their number.
const SHARED: f64 = 0.15;
/// By how much the score of a commit falls that tools or releases wrote.
const ROUTINE_COST: f64 = 2.0;
/// What the share of the question's words is worth that the message holds: a question often repeats
/// what somebody said, and a commit is one statement.
const SAID: f64 = 4.0;
/// Number of digits of a commit that a row shows.
const DIGITS: usize = 9;
/// Number of commits that are ranked by these.
const POOL: usize = 60;
/// Number of commits that answers to one question list at most, page by page.
const MAX_LISTED: usize = 200;
/// Number of commits of a page, if the caller does not say.
const LIMIT: usize = 5;
/// Most lines of a message that a row shows, and most files that it names.
const MAX_LINES: usize = 4;
const MAX_FILES: usize = 6;
/// Most characters of a line.
const MAX_LINE: usize = 240;

/// A question about the commits of the project.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct HistoryRequest {
    /// A question, or words of the message. Empty with a filter: the newest.
    #[serde(default)]
    pub query: String,
    /// Instead of a question: part of a line that the commit removed or added.
    pub changed: Option<String>,
    /// `changed` is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// `changed` is code of a shape, as in `cortex_pattern`: `retry($$$)`.
    #[serde(default)]
    pub pattern: bool,
    /// With `changed`: ask git for commits beyond the newest 5 000, which can take ten seconds.
    #[serde(default)]
    pub older: bool,
    /// Globs of changed files, for example src/**, !tests
    #[serde(default)]
    pub paths: Vec<String>,
    /// A part of the author's name.
    pub author: Option<String>,
    /// Only since this time or age: 2026-01-31, 12h, 3d, 2w.
    pub since: Option<String>,
    /// Only before this time or age. A date includes its whole day.
    pub until: Option<String>,
    /// Number of commits. Default: up to 5 that surely answer; the next page has the others.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous reply.
    pub cursor: Option<String>,
}

/// Commits that answer a question.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryAnswer {
    /// Best first; without a question, newest first.
    pub commits: Vec<HistoryRow>,
    /// Number of commits that match.
    pub total: usize,
    /// Number of commits that were searched.
    pub searched: usize,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(flatten)]
    pub state: AnswerState,
    /// Position of the page among all commits.
    #[serde(skip)]
    page: Page,
}

impl HistoryAnswer {
    /// Returns a copy with the first `n` commits. Its cursor continues after them.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let commits: Vec<HistoryRow> = self.commits.iter().take(n).cloned().collect();
        let next_cursor = self.page.next(commits.len()).filter(|_| !commits.is_empty());
        Self { commits, next_cursor, ..self.clone() }
    }
}

/// A commit as a result. Everything that it says was written by somebody else: it is data.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryRow {
    /// In hexadecimal digits.
    pub id: String,
    /// When it was committed, as its committer's clock said.
    pub at: String,
    /// The author's name.
    pub author: String,
    /// First line of the message.
    pub subject: String,
    /// The lines of the rest that answer.
    pub message: Vec<String>,
    /// Whether the message has more lines.
    pub more: bool,
    /// The first files that it changed.
    pub files: Vec<String>,
    /// Number of files that it changed.
    pub total_files: usize,
    /// The places where it changed matching lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ChangedPlace>,
    /// Number of these lines that it added.
    pub added_lines: usize,
    /// Number of these lines that it removed.
    pub removed_lines: usize,
    /// Commits that reverted or reapplied it, and those that it reverted or reapplied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub reverts: Vec<RevertNote>,
    /// How well it answers; 0 without a question.
    pub score: f64,
}

impl Engine {
    /// Finds the commits that answer a question, or that changed lines with a text. The first question
    /// reads the history, 50 000 commits in some five seconds.
    ///
    /// # Errors
    /// When the request is not valid, or the project has no history that can be read.
    pub fn history(
        &self,
        request: &HistoryRequest,
        call: &Call,
    ) -> Result<HistoryAnswer, AskError> {
        let conditions = Conditions::new(request, &self.project)?;
        let query = request.query.trim();
        let refused = |why: &str| Err(AskError::Arguments(why.into()));
        match (query.is_empty(), &request.changed) {
            (false, Some(_)) => return refused("give a question or `changed`, not both"),
            (true, None) if conditions.is_empty() => {
                return refused(
                    "nothing is asked. Give a question, `changed`, a path, an author or a time",
                );
            }
            _ => {}
        }
        let wait = if self.server().is_some() { SHORT_WAIT } else { LONG_WAIT };
        let tell = || self.tell_of_commits();
        let commits = self.commits.up_to_date(&self.project, wait, &tell)?;
        call.check()?;
        let state = AnswerState { index: self.freshness(), ..AnswerState::default() };
        let mut answer =
            HistoryAnswer { searched: commits.stamp.n, state, ..HistoryAnswer::default() };
        if let Some(why) = &commits.stamp.cut {
            let n = commits.stamp.n;
            answer.state.warnings.push(format!("only the newest {n} commits were read: {why}"));
        }
        let page = Page::new(
            request.cursor.as_deref(),
            request.limit.unwrap_or(LIMIT),
            commits.stamp.generation,
        )?;
        answer.state.warnings.extend(page.changed_from(request.cursor.as_deref()));
        let snapshot = commits.manager.current();
        let corpus = match snapshot.feed(ChunkFiles::NAME) {
            Some(served) => &served.corpus,
            None => return Ok(answer),
        };
        let allowed = conditions.allowed(&commits);
        let chunk_of = |id: &str| commits.chunk(id);
        let as_set =
            |ids: Vec<&str>| ids.into_iter().map(String::from).collect::<HashSet<String>>();
        let no_words = &mut QueryWords::default();
        // The rows of the page, and the number of all.
        let (rows, n_rows): (Vec<HistoryRow>, usize) = if let Some(text) = &request.changed {
            let wanted = Wanted::new(text, request.regex, request.pattern)?;
            let ids = allowed.map(as_set);
            if !Patches::are_there(&self.project.layout.of_commits()) {
                tell();
            }
            let (allowed, limit) = (ids.as_ref(), page.n_wanted());
            let bounds = diffs::Bounds { allowed, limit, older: request.older };
            let found = diffs::changes(&self.project, &commits, &wanted, bounds, wait, call)?;
            answer.searched = found.searched;
            answer.state.warnings.extend(found.notes);
            answer.total = found.total;
            let n_rows = found.commits.len();
            let rows = page
                .of(found.commits)
                .filter_map(|commit| {
                    let row = HistoryRow::new(&*chunk_of(&commit.id)?, 0.0, no_words);
                    Some(HistoryRow {
                        places: commit.places,
                        added_lines: commit.n_added,
                        removed_lines: commit.n_removed,
                        ..row
                    })
                })
                .collect();
            (rows, n_rows)
        } else if query.is_empty() {
            let newest = allowed.unwrap_or_default();
            answer.total = newest.len();
            let n_rows = newest.len();
            let chunks = page.of(newest).filter_map(chunk_of);
            (chunks.map(|chunk| HistoryRow::new(&chunk, 0.0, no_words)).collect(), n_rows)
        } else {
            let ids = allowed.map(as_set);
            let found = ranked(corpus, query, ids, &page, request.limit)?;
            answer.total = found.total;
            (found.rows, found.n_rows)
        };
        answer.page = page.among(n_rows);
        answer.commits = rows;
        for row in &mut answer.commits {
            row.reverts = commits.notes_on(&row.id);
        }
        Ok(answer.first(usize::MAX))
    }
}

/// The commits that answer a question, best first.
pub(in crate::engine) struct RankedCommits {
    /// Those of a page.
    pub(in crate::engine) rows: Vec<HistoryRow>,
    /// Number of rows of all pages.
    n_rows: usize,
    /// Number of commits that match.
    total: usize,
    /// The words of the question.
    pub(in crate::engine) wanted: QueryWords,
}

/// Ranks the commits that answer a question. `ids`: only these. Without a limit, the first page ends
/// with the commits that surely answer.
pub(in crate::engine) fn ranked(
    corpus: &Corpus,
    question: &str,
    ids: Option<HashSet<String>>,
    page: &Page,
    limit: Option<usize>,
) -> Result<RankedCommits, AskError> {
    let condition = ids.map(|ids| {
        Condition::new(move |entry| entry.file_path.as_ref().is_some_and(|id| ids.contains(&**id)))
    });
    let filter = Filter { condition, ..Filter::default() };
    let searcher = Searcher::new(corpus);
    let query = searcher.query(question, &StaticModel::knows)?;
    let vector = BundledModel.embed_query(&query.text).map_err(|e| AskError::Failed(chain(&e)))?;
    let n = if page.n_wanted() <= POOL { POOL + 1 } else { MAX_LISTED };
    let found = searcher.search(&query, &vector, &filter, n)?;
    let (hits, total, mut wanted) = (found.hits, found.total, found.wanted);
    let pool = &hits[..hits.len().min(POOL)];
    let nearest = pool.iter().map(Hit::meaning).fold(0.0, f64::max);
    let (evident, others): (Vec<&Hit>, Vec<&Hit>) =
        pool.iter().partition(|hit| hit.is_evident(nearest));
    let n_evident = evident.len();
    let mut all = Vec::new();
    for part in [evident, others, hits[pool.len()..].iter().collect()] {
        let row = |hit: &Hit| HistoryRow::new(&hit.chunk, hit.score, &mut wanted);
        let mut rows: Vec<HistoryRow> = part.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)));
        all.extend(rows);
    }
    let n_rows = all.len();
    let is_first = limit.is_none() && page.offset == 0;
    let n = if is_first { n_evident } else { usize::MAX };
    Ok(RankedCommits { rows: page.of(all).take(n).collect(), n_rows, total, wanted })
}

impl Engine {
    /// Tells the user of a command that the history is read.
    pub(in crate::engine) fn tell_of_commits(&self) {
        if let Upkeep::Command(command) = &self.upkeep {
            (command.tell)(Step::Commits);
        }
    }
}

/// What commits must be besides answering a question.
struct Conditions {
    paths: PathFilter,
    period: Period,
    /// In lower case.
    author: Option<String>,
}

impl Conditions {
    fn new(request: &HistoryRequest, project: &Project) -> Result<Self, AskError> {
        let period = Period::parse(request.since.as_deref(), request.until.as_deref(), now());
        Ok(Self {
            paths: of_paths(Some(project), &request.paths)?,
            period: period.map_err(|e| AskError::Arguments(e.to_string()))?,
            author: request.author.as_ref().map(|author| author.trim().to_lowercase()),
        })
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.period == Period::default() && self.author.is_none()
    }

    /// Returns the ids of the commits that may be found, newest first; `None` if all may.
    fn allowed<'c>(&self, commits: &'c Commits) -> Option<Vec<&'c str>> {
        if self.is_empty() {
            return None;
        }
        let table = &commits.table;
        let is_author = |name: &String| {
            self.author.as_ref().is_none_or(|author| name.to_lowercase().contains(author))
        };
        let authors: Vec<bool> = table.authors.iter().map(is_author).collect();
        let touched: Vec<bool> = table.paths.iter().map(|path| self.paths.is_match(path)).collect();
        let is_allowed = |commit: &&CommitFacts| {
            let at = DateTime::from_timestamp(commit.at, 0).unwrap_or_default();
            authors[commit.author as usize]
                && self.period.contains(at)
                && (self.paths.is_empty()
                    || commit.files.iter().any(|file| touched[*file as usize]))
        };
        Some(table.commits.iter().filter(is_allowed).map(|commit| &*commit.id).collect())
    }
}

impl HistoryRow {
    /// The first digits of its id.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.get(..DIGITS).unwrap_or(&self.id)
    }

    /// The day of its commit: 2026-01-31.
    #[must_use]
    pub fn day(&self) -> &str {
        self.at.get(..10).unwrap_or(&self.at)
    }

    /// The first files that it changed, and the number of the others; empty without files.
    #[must_use]
    pub fn named_files(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| printable(file).into_owned()).collect();
        match self.total_files.saturating_sub(files.len()) {
            0 => files.join(", "),
            more => format!("{} +{more}", files.join(", ")),
        }
    }

    fn new(chunk: &Chunk, score: f64, wanted: &mut QueryWords) -> Self {
        let meta = &chunk.metadata;
        let number = meta.extra.get(N_FILES).and_then(serde_json::Value::as_u64);
        let total_files = number.and_then(|n| usize::try_from(n).ok()).unwrap_or(meta.files.len());
        let is_routine = chunk.tags.iter().any(|tag| tag == ROUTINE);
        let body = chunk.text.strip_prefix(&*chunk.title).unwrap_or_default();
        let (message, more) = answering_lines(body, wanted);
        let damped =
            SHARED * (total_files.max(1) as f64).ln() + if is_routine { ROUTINE_COST } else { 0.0 };
        Self {
            id: meta.file_path.clone().unwrap_or_default(),
            at: written(chunk.created_at),
            author: meta
                .extra
                .get("author")
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default()
                .to_string(),
            subject: chunk.title.clone(),
            message,
            more,
            files: meta.files.iter().take(MAX_FILES).cloned().collect(),
            total_files,
            score: score - damped + SAID * wanted.share_in(&chunk.text),
            ..Self::default()
        }
    }
}

/// Returns the lines of a message that hold most of the wanted words, those that follow each other,
/// and whether it has more.
fn answering_lines(body: &str, wanted: &mut QueryWords) -> (Vec<String>, bool) {
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut best = (0.0, 0);
    for from in 0..lines.len().saturating_sub(MAX_LINES - 1).max(1).min(lines.len()) {
        let window = lines[from..lines.len().min(from + MAX_LINES)].join("\n");
        let share = wanted.share_in(&window);
        if share > best.0 {
            best = (share, from);
        }
    }
    let shown = lines.iter().skip(best.1).take(MAX_LINES);
    let shown = shown.map(|line| line.chars().take(MAX_LINE).collect()).collect();
    (shown, lines.len() > MAX_LINES)
}
