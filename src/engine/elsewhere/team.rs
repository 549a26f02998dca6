//! The published repositories of a team: which of them a caller may ask, and what is published of a
//! project.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use globset::{Glob, GlobSet, GlobSetBuilder};
use parking_lot::Mutex;

use crate::address::Address;
use crate::embed::Embedder;
use crate::engine::door::filters::{of_languages, of_paths};
use crate::engine::door::freshness::{AnswerState, PublishedState};
use crate::engine::door::paths;
use crate::engine::door::serving::Engine;
use crate::engine::read::grep::{
    GrepAnswer, GrepRequest, Matches, Reading, matcher, position, wanted,
};
use crate::engine::read::patterns::find_lines;
use crate::engine::read::places::{
    AskedPlace, ReadAnswer, ReadPlace, ReadRequest, first_definition, text_of,
};
use crate::engine::{AskError, Call};
use crate::search::{Corpus, Sketched, nearest};
use crate::source::{self, CommitPlace};
use crate::team::{self, Cache, Depot, Meter, Record, RepositoryManifest, Shared, TeamError};
use crate::text::count;

/// Most repositories that are asked one question.
const MAX_ASKED: usize = 8;
/// How old the list of all repositories may be. One that is asked by its name is always as new as it is
/// published.
const LIST_AGE: Duration = Duration::from_secs(2);

/// How often a call that waits for a generation looks.
const POLL: Duration = Duration::from_millis(100);

/// A list of records, and when it was read.
type List = Option<(Instant, Arc<Vec<Record>>)>;

/// The published repositories that a caller may ask.
#[derive(Clone)]
pub struct Team {
    depot: Arc<dyn Depot>,
    cache: Arc<Cache>,
    list: Arc<Mutex<List>>,
    /// Which names the caller may see; `None` is all.
    allowed: Option<GlobSet>,
    /// Whether a question that names no repository is asked of all.
    pub asks_all: bool,
}

impl From<TeamError> for AskError {
    fn from(e: TeamError) -> Self {
        match e {
            TeamError::Unknown(_) => Self::NotFound(e.to_string()),
            TeamError::Search(e) => e.into(),
            e => Self::Failed(e.to_string()),
        }
    }
}

/// Bytes of what was read of all depots that a process keeps.
const CACHED: usize = 32 << 20;

/// The depots that this process opened, by their URLs. They are few: those of the user's settings.
static OPEN: Mutex<BTreeMap<String, Team>> = Mutex::new(BTreeMap::new());

impl Team {
    /// Opens the depot that a URL names, once in a process.
    ///
    /// # Errors
    /// When the URL names no depot.
    pub fn open(url: &str) -> Result<Self, TeamError> {
        let open = &mut *OPEN.lock();
        if let Some(team) = open.get(url) {
            return Ok(team.clone());
        }
        let team = Self {
            depot: team::open(url)?,
            cache: Arc::new(Cache::new(CACHED)),
            list: Arc::default(),
            allowed: None,
            asks_all: false,
        };
        open.insert(url.into(), team.clone());
        Ok(team)
    }

    /// Returns the same repositories for a caller who may see those alone whose names match one of some
    /// globs.
    ///
    /// # Errors
    /// When one is no glob.
    pub fn only(&self, globs: &[String]) -> Result<Self, globset::Error> {
        if globs.iter().any(|glob| glob == "*") {
            return Ok(self.clone());
        }
        let mut allowed = GlobSetBuilder::new();
        for glob in globs {
            allowed.add(Glob::new(glob)?);
        }
        Ok(Self { allowed: Some(allowed.build()?), ..self.clone() })
    }

    /// Returns what was measured of each call to the depot; nothing for a caller who may not see all.
    #[must_use]
    pub fn meters(&self) -> Vec<Meter> {
        if self.sees_all() { self.depot.meters() } else { Vec::new() }
    }

    /// Whether the caller may see every repository.
    #[must_use]
    pub fn sees_all(&self) -> bool {
        self.allowed.is_none()
    }

    fn may_see(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.is_match(name))
    }

    /// Returns the records of all repositories that the caller may see, by name.
    fn all(&self) -> Result<Vec<Record>, TeamError> {
        let list = &mut *self.list.lock();
        let records = match list {
            Some((read, records)) if read.elapsed() < LIST_AGE => records.clone(),
            _ => {
                let records = Arc::new(self.depot.records(None)?);
                *list = Some((Instant::now(), records.clone()));
                records
            }
        };
        let is_there = |record: &&Record| {
            self.may_see(&record.name)
                && RepositoryManifest::read(&record.name, &record.text)
                    .map_or(true, |manifest| manifest.generation > 0)
        };
        Ok(records.iter().filter(is_there).cloned().collect())
    }

    /// Returns the names of the repositories that the caller may see.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn names(&self) -> Result<Vec<String>, AskError> {
        Ok(self.all()?.into_iter().map(|record| record.name).collect())
    }

    /// Opens a repository by its name; `None` if the caller sees none of this name.
    pub(in crate::engine) fn named(&self, name: &str) -> Result<Option<Shared<'_>>, TeamError> {
        if !self.may_see(name) {
            return Ok(None);
        }
        match Shared::open(&*self.depot, &self.cache, name) {
            Ok(shared) => Ok(Some(shared)),
            Err(TeamError::Unknown(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Waits for the generation of a repository that a call names, as long as the call waits.
    pub(in crate::engine) fn waited<'a>(
        &'a self,
        mut found: Shared<'a>,
        call: &Call,
    ) -> Result<Shared<'a>, AskError> {
        let Some(least) = call.wait.min_generation else { return Ok(found) };
        let end = Instant::now() + call.wait.time();
        while found.manifest().generation < least {
            call.check()?;
            if Instant::now() > end {
                return Err(AskError::NotYet(format!(
                    "{} has generation {}, and not yet {least}",
                    found.name(),
                    found.manifest().generation
                )));
            }
            std::thread::sleep(POLL);
            let name = found.name().to_string();
            found = self.named(&name)?.ok_or(TeamError::Unknown(name))?;
        }
        Ok(found)
    }

    /// Opens the repositories that names or globs select, at most [`MAX_ASKED`]: of more, those that the
    /// question is about.
    ///
    /// # Errors
    /// When the depot fails, or what is stored of a repository that is named cannot be read.
    pub(in crate::engine) fn chosen(
        &self,
        wanted: &[String],
        question: &str,
    ) -> Result<Selected<'_>, TeamError> {
        let (mut unknown, mut warnings) = (Vec::new(), Vec::new());
        let (mut names, mut plain) = (BTreeSet::new(), BTreeSet::new());
        for name in wanted {
            match Glob::new(name) {
                Ok(glob) if is_glob(name) => {
                    let glob = glob.compile_matcher();
                    let mut matching = self.all()?;
                    matching.retain(|record| glob.is_match(&record.name));
                    if matching.is_empty() {
                        unknown.push(name.clone());
                    }
                    names.extend(matching.into_iter().map(|record| record.name));
                }
                _ if self.may_see(name) => {
                    names.insert(name.clone());
                    plain.insert(name.clone());
                }
                _ => unknown.push(name.clone()),
            }
        }
        if names.len() > MAX_ASKED {
            let mut all = Vec::new();
            for Record { name, text, .. } in self.all()?.iter().filter(|r| names.contains(&r.name))
            {
                let opened = Shared::of_record(&*self.depot, &self.cache, name, text);
                all.extend(unless_unreadable(opened, &mut warnings)?);
            }
            plain.retain(|name| !all.iter().any(|shared| shared.name() == name));
            unknown.extend(std::mem::take(&mut plain));
            names = about(&all, question, &mut warnings)?;
        }
        // The list may be older than what the caller has seen of a repository.
        let names: Vec<String> = names.into_iter().collect();
        let mut found = Vec::new();
        for Record { name, text, .. } in self.depot.records(Some(&names))? {
            let is_plain = plain.remove(&name);
            match Shared::of_record(&*self.depot, &self.cache, &name, &text) {
                Err(TeamError::Unknown(_)) if is_plain => unknown.push(name),
                Err(TeamError::Unknown(_)) => {}
                Err(e) if is_plain => return Err(e),
                opened => found.extend(unless_unreadable(opened, &mut warnings)?),
            }
        }
        unknown.extend(plain);
        Ok(Selected { found, unknown, warnings })
    }
}

/// Whether a name selects all that are like it.
pub(in crate::engine) fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// The published repositories that names or globs select.
pub(in crate::engine) struct Selected<'a> {
    pub(in crate::engine) found: Vec<Shared<'a>>,
    /// The names that select none.
    pub(in crate::engine) unknown: Vec<String>,
    /// Which ones are left out because what is stored of them cannot be read.
    pub(in crate::engine) warnings: Vec<String>,
}

/// Returns what was read of one of several repositories. What cannot be read of one costs only its own
/// answers: it gives `None` and a warning.
fn unless_unreadable<T>(
    read: Result<T, TeamError>,
    warnings: &mut Vec<String>,
) -> Result<Option<T>, TeamError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(
            unreadable @ (TeamError::Damaged(..)
            | TeamError::Newer { .. }
            | TeamError::Older { .. }),
        ) => {
            warnings.push(unreadable.to_string());
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Returns the names of the repositories that a question is about.
fn about(
    all: &[Shared],
    question: &str,
    warnings: &mut Vec<String>,
) -> Result<BTreeSet<String>, TeamError> {
    let mut sketches = Vec::new();
    for shared in all {
        let sketch = unless_unreadable(shared.sketch(), warnings)?;
        sketches.extend(sketch.map(|sketch| (shared.name(), sketch)));
    }
    let sketched: Vec<Sketched> = sketches
        .iter()
        .map(|(name, sketch)| Sketched { sketch, name, description: "", prior: 1.0 })
        .collect();
    let best = nearest(question, &sketched).into_iter().take(MAX_ASKED);
    Ok(best.map(|(at, _)| sketches[at].0.to_string()).collect())
}

/// A published repository that a question is about.
pub struct PublishedRepository<'a>(pub(in crate::engine) Shared<'a>);

/// Returns the state that answers.
pub(in crate::engine) fn state_of(repository: &Shared) -> PublishedState {
    let manifest = repository.manifest();
    PublishedState {
        repo: repository.name().into(),
        generation: manifest.generation,
        commit: manifest.commit.clone(),
    }
}

impl Engine {
    /// Returns the repositories of the team that the user's settings name, and a warning if they cannot
    /// be reached.
    #[must_use]
    pub fn team(&self) -> (Option<Team>, Option<String>) {
        match self.project.config.team_url.as_deref().map(Team::open) {
            None => (None, None),
            Some(Ok(team)) => (Some(team), None),
            Some(Err(e)) => (None, Some(format!("team.url: {e}"))),
        }
    }

    /// Whether the project is a checkout of a published repository: its git repository has a commit that
    /// was published.
    pub(in crate::engine) fn is_checkout_of(&self, repository: &Shared) -> bool {
        let commits: Vec<&str> = repository.manifest().commits.iter().map(String::as_str).collect();
        let places = source::commit_places(self.project.layout.root(), &commits);
        // A commit that git does not know is nowhere.
        places.values().any(|place| *place != CommitPlace::Nowhere)
    }
}

impl PublishedRepository<'_> {
    /// The name under which it was published.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    fn state(&self, call: &Call) -> AnswerState {
        let (warnings, published) = (call.warnings.clone(), vec![state_of(&self.0)]);
        AnswerState { warnings, published, projects: 1, ..AnswerState::default() }.in_brief(call)
    }

    /// Reads lines of published files, and finds the lines of patterns. A place that cannot be read is
    /// answered with its error.
    ///
    /// # Errors
    /// When none of the files or lines exist and no pattern can be searched for, or the depot fails.
    pub fn read_places(&self, request: &ReadRequest, call: &Call) -> Result<ReadAnswer, AskError> {
        let (patterns, places): (Vec<AskedPlace>, Vec<AskedPlace>) =
            request.asked()?.into_iter().partition(|asked| asked.is_pattern);
        let patterns = patterns.into_iter().map(|asked| asked.written).collect();
        let searched = find_lines(patterns, request.folds, |request| self.grep(request, call));
        let read = places.iter().map(|place| self.read_place(place)).collect();
        ReadAnswer::of(places, read, searched, Some(self.state(call)), call)
    }

    fn read_place(&self, asked: &AskedPlace) -> Result<ReadPlace, AskError> {
        if asked.is_chunk {
            return Err(AskError::Arguments("give the path of a file".into()));
        }
        let address = Address::parse(&asked.written);
        let path = address.path.trim_start_matches("./");
        let chunks = self.0.file(path)?.ok_or_else(|| {
            AskError::NotFound(format!(
                "{} has no file `{path}`: cortex_search finds files",
                self.name()
            ))
        })?;
        let mut named: Vec<(u32, u32)> = address.ranges().collect();
        if let Some(symbol) = &address.symbol {
            named.push(paths::lines_of(&chunks, path, symbol, || "give its lines".into())?);
        }
        let lines = asked.ranges(named)?;
        let definition = first_definition(chunks.iter().map(|chunk| &**chunk));
        let place = ReadPlace { path: Some(path.into()), ..ReadPlace::default() };
        place.of_text(&text_of(&chunks), &lines, definition.filter(|_| !asked.whole))
    }

    /// Finds lines in the published files that hold the words of the pattern.
    ///
    /// # Errors
    /// When the pattern has no words, a glob or the cursor is not valid, or the depot fails.
    pub fn grep(&self, request: &GrepRequest, call: &Call) -> Result<GrepAnswer, AskError> {
        let paths = of_paths(None, &request.paths)?;
        let (matcher, skipped) = (matcher(request)?, position(request.cursor.as_deref())?);
        let words = words_in(&request.pattern, request.regex);
        if words.is_empty() || request.invert {
            return Err(AskError::Arguments(
                "of a published repository only lines with whole words can be found: give a pattern that holds one".into(),
            ));
        }
        let corpus = self.0.holding(&words, MAX_HOLDING)?;
        call.check()?;
        let files = wanted(&corpus, &paths, &of_languages(&request.languages));
        let text = |path: &str| text_of(&corpus.chunks().read_file(path));
        let mut counts: Vec<(&str, usize)> =
            files.iter().map(|path| (*path, matcher.count(&text(path)))).collect();
        counts.retain(|(_, n)| *n > 0);
        let is_whole = corpus.chunks().len() < MAX_HOLDING;
        let mut state = self.state(call);
        if !is_whole {
            state.warnings.push(format!(
                "many places hold these words, and {} were searched: a rarer word finds all",
                count(files.len(), "file")
            ));
        }
        let mut page = Matches::new(&corpus, counts, files.len(), skipped, is_whole);
        if request.folds {
            page.fold(&paths.wanted);
        }
        let reading = Reading {
            lines: &|path| matcher.lines(&text(path)),
            chunks: &|path| corpus.chunks().read_file(path),
            text: &text,
        };
        Ok(page.answer(request, &reading, state))
    }
}

/// Most chunks of a published repository that are searched for a text.
pub(in crate::engine) const MAX_HOLDING: usize = 1_000;

/// Returns the words that a matching line surely holds, or one of them.
fn words_in(pattern: &str, is_regex: bool) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if !is_regex {
        return pattern.to_string();
    }
    // A word beside a sign of the syntax may be a part of one.
    let mut words = String::new();
    for part in pattern.split(|c: char| c.is_whitespace() || "|()^$\"'`,;:/<>=-".contains(c)) {
        let part = part.trim_start_matches("\\b").trim_end_matches("\\b");
        if part.len() > 2 && part.chars().all(is_word) {
            words.push_str(part);
            words.push(' ');
        }
    }
    words
}

/// The code and documents of a project as they are indexed.
pub struct ToPublish {
    pub corpus: Corpus,
    /// The commit that is checked out.
    pub commit: Option<String>,
}

impl Engine {
    /// Returns what is published of the project.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn to_publish(&self, call: &Call) -> Result<ToPublish, AskError> {
        self.with_code(call, |view| {
            let commit = source::head(self.project.layout.root());
            Ok(ToPublish { corpus: view.code.corpus.clone(), commit })
        })
    }

    /// The embedder of the project.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        self.manager.embedder()
    }
}
