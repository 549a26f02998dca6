//! One question to several projects: their answers are merged into one list.
//!
//! Each project ranks its own files, but how rare a word is follows from all projects together. So
//! the scores are comparable, and the best results of all are those with the highest scores.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use globset::Glob;

use crate::embed::{Embedder, StaticModel, vector_of_question};
use crate::engine::door::freshness::{AnswerState, Freshness};
use crate::engine::door::project::Project;
use crate::engine::door::rows::ResultRow;
use crate::engine::door::serving::{Engine, OpenProject, View};
use crate::engine::elsewhere::scope::{AskedProject, others};
use crate::engine::elsewhere::team::{MAX_HOLDING, Selected, is_glob, state_of};
use crate::engine::read::frames::with_places;
use crate::engine::read::search::{
    Found, Page, Ranking, SearchAnswer, SearchMode, SearchRequest, check_query, exact, ranked,
};
use crate::engine::{AskError, Call};
use crate::languages::is_record;
use crate::projects::{KnownProject, Projects};
use crate::search::{Corpus, Filter, Hit, Query, Results, Searcher, Statistics, Term};
use crate::team::Shared;
use crate::text::{chain, count};

/// The weight of the feature that the question names the project.
const PROJECT_NAME: f64 = 2.0;
/// The weight of the feature that those who use a package do not see the file, or have its source.
/// Declarations and READMEs are not raised: +.5 for them cost one first place of 14 (express).
const PACKAGE_ASIDE: f64 = -1.0;
/// Folders of a package that those who use it do not see; some have a `_` before them.
const INTERNAL: [&str; 10] = [
    "internal", "internals", "private", "detail", "details", "vendor", "vendored", "third_party",
    "generated", "examples",
];
/// Folders of what a package was built to.
const BUILT: [&str; 5] = ["dist", "build", "umd", "cjs", "esm"];

impl Engine {
    /// Searches what the request names: the projects, packages and published repositories of `repos`;
    /// otherwise this project, with its packages if the request has `deps`.
    ///
    /// # Errors
    /// When the request is not valid, a name is not known, this engine answers for one project only, or
    /// nothing that is asked can answer.
    pub fn search_scoped(
        &self,
        request: &SearchRequest,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        let asks_team = call.team.as_ref().is_some_and(|team| team.asks_all);
        if !request.repos.is_empty() || asks_team {
            self.search_together(request, call)
        } else if request.deps {
            self.search_with_packages(request, call)
        } else {
            self.search(request, call)
        }
    }

    /// Searches the projects, packages and published repositories that the request names.
    fn search_together(
        &self,
        request: &SearchRequest,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        check_together(request, call)?;
        let known = self.known_projects(call);
        let OfTeam { mut published, others: repos, mut warnings, failure } =
            self.published_among(&known, request, call)?;
        // The checkout that is worked in is newer than what was published of it.
        let own = published.iter().position(|repository| self.is_checkout_of(repository));
        let own = own.map(|at| published.remove(at).name().to_string());
        let (mut asked, names) = self.packages_among(&known, &repos, call)?;
        if call.others.is_none() && call.team.is_some() && !names.is_empty() {
            return Err(AskError::NotFound(format!(
                "no published repository is named `{}`: `repos: [\"*\"]` asks all, and the status lists them",
                names.join("`, `")
            )));
        }
        if !names.is_empty() {
            // A name may be that of a repository that cannot be asked now.
            let (wanted, of_names) = chosen(&known, &names).map_err(|e| failure.unwrap_or(e))?;
            let (projects, unopened) = open_projects(others(call)?, &wanted);
            asked.extend(projects);
            warnings.extend(of_names.into_iter().chain(unopened));
        }
        warnings.splice(0..0, call.warnings.iter().cloned());
        let mut asked: Vec<AskedEngine> = asked.iter().map(AskedProject::asked).collect();
        let is_asked = asked.iter().any(|asked| {
            !asked.is_package && asked.engine.project.layout.root() == self.project.layout.root()
        });
        let own = own.as_deref().filter(|_| !is_asked);
        asked.extend(own.map(|name| AskedEngine { name, engine: self, is_package: false }));
        let answer = search_all(&asked, published, request, &Call { warnings, ..call.clone() })?;
        self.with_memories(answer, request, call)
    }

    /// Opens the published repositories among the names of a request. A name of both is that of the
    /// project here, which is newer. If the depot fails, projects here can still answer.
    fn published_among<'c>(
        &self,
        known: &Projects,
        request: &SearchRequest,
        call: &'c Call,
    ) -> Result<OfTeam<'c>, AskError> {
        let everything = ["*".to_string()];
        let (Some(team), repos) = (&call.team, &*request.repos) else {
            return Ok(OfTeam { others: request.repos.clone(), ..OfTeam::default() });
        };
        let repos = if repos.is_empty() && team.asks_all { &everything } else { repos };
        let is_here = |name: &String| self.has_project(name, call);
        let (here, elsewhere): (Vec<String>, Vec<String>) =
            repos.iter().cloned().partition(is_here);
        if elsewhere.is_empty() {
            return Ok(OfTeam { others: here, ..OfTeam::default() });
        }
        let (selected, failure) = match team.chosen(&elsewhere, &request.query) {
            Ok(selected) => (selected, None),
            Err(e) if call.others.is_some() => {
                let warnings = vec![format!("published repositories are left out: {e}")];
                (
                    Selected { found: Vec::new(), unknown: elsewhere.clone(), warnings },
                    Some(e.into()),
                )
            }
            Err(e) => return Err(e.into()),
        };
        let Selected { found: mut published, unknown, warnings } = selected;
        // A generation is that of one repository.
        if call.wait.min_generation.is_some()
            && let ([one], [_]) = (&*published, repos)
            && !self.is_checkout_of(one)
        {
            published = vec![team.waited(published.remove(0), call)?];
        }
        // A glob may select both.
        let is_here_too = |shared: &Shared| {
            call.others.is_some() && known.there.iter().any(|p| p.name == shared.name())
        };
        published.retain(|shared| !is_here_too(shared));
        let globs = elsewhere.iter().filter(|name| name.contains('*') && call.others.is_some());
        let globs = globs.filter(|name| !unknown.contains(name)).filter(|name| {
            Glob::new(name).is_ok_and(|glob| {
                let glob = glob.compile_matcher();
                known.there.iter().any(|project| glob.is_match(&project.name))
            })
        });
        let others =
            here.into_iter().chain(globs.cloned()).chain(unknown.iter().cloned()).collect();
        Ok(OfTeam { published, others, warnings, failure })
    }
}

/// What the names of a request select of the repositories of a team.
#[derive(Default)]
struct OfTeam<'a> {
    published: Vec<Shared<'a>>,
    /// The names that are not, or not only, those of published repositories.
    others: Vec<String>,
    warnings: Vec<String>,
    /// Why the depot could not be asked.
    failure: Option<AskError>,
}

impl Engine {
    /// Opens the packages among names, and returns the other names, which are those of projects. A
    /// name of both is that of the project.
    fn packages_among(
        &self,
        known: &Projects,
        names: &[String],
        call: &Call,
    ) -> Result<(Vec<AskedProject>, Vec<String>), AskError> {
        let (mut packages, mut others) = (Vec::new(), Vec::new());
        for name in names {
            let package = match known.named(name) {
                Err(e) if e.is_nowhere() && !is_glob(name) => self.package_named(name, call)?,
                _ => None,
            };
            match package {
                Some((name, engine)) => {
                    packages.push(AskedProject { name, engine, is_package: true });
                }
                None => others.push(name.clone()),
            }
        }
        Ok((packages, others))
    }
}

impl AskedProject {
    fn asked(&self) -> AskedEngine<'_> {
        AskedEngine { name: &self.name, engine: &self.engine, is_package: self.is_package }
    }
}

/// Opens projects. One that cannot be opened is left out, and a warning says so.
fn open_projects(
    pool: &dyn OpenProject,
    wanted: &[KnownProject],
) -> (Vec<AskedProject>, Vec<String>) {
    let (mut asked, mut warnings) = (Vec::new(), Vec::new());
    for KnownProject { name, root } in wanted {
        match pool.engine(root) {
            Ok(engine) => {
                asked.push(AskedProject { name: name.clone(), engine, is_package: false });
            }
            Err(e) => warnings.push(left_out(name, root, &chain(&e))),
        }
    }
    (asked, warnings)
}

fn left_out(name: &str, root: &Path, why: &str) -> String {
    format!("{name} is left out: {why}. `cortex doctor --project {}` says more", root.display())
}

fn gone(root: &Path) -> String {
    format!(
        "{} is left out: it is no longer there. If it moved, run `cortex index` in its new place",
        root.display()
    )
}

/// Refuses what a search of several projects would leave out.
///
/// # Errors
/// When the request or the call asks for something that belongs to one project.
fn check_together(request: &SearchRequest, call: &Call) -> Result<(), AskError> {
    let refuse = |why: &str| Err(AskError::Arguments(why.into()));
    if request.deps {
        return refuse(
            "`deps` searches what one project depends on, and this search asks several projects or published repositories: ask one project with `deps` (an agent names it by `repo`), or name the packages as projects",
        );
    }
    let asks_one = matches!(&*request.repos, [name] if !is_glob(name));
    if call.wait.min_generation.is_some() && !asks_one {
        return refuse(
            "`min_generation` is a generation of one project, and this search asks several: name one project, or leave `min_generation` out",
        );
    }
    Ok(())
}

/// Selects projects by names or globs of names; `*` selects all. Returns them in the order of their
/// names, and warnings.
fn chosen(
    known: &Projects,
    wanted: &[String],
) -> Result<(Vec<KnownProject>, Vec<String>), AskError> {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for name in wanted {
        match known.named(name) {
            Ok(project) => {
                found.push(project.clone());
                continue;
            }
            Err(e) if !is_glob(name) => {
                let moved = known.take_gone(|root| !name.is_empty() && root.ends_with(name));
                if moved.is_empty() || !e.is_nowhere() {
                    return Err(AskError::Arguments(e.to_string()));
                }
                warnings.extend(moved.into_iter().map(gone));
                continue;
            }
            Err(_) => {}
        }
        let glob = Glob::new(name)
            .map_err(|e| AskError::Arguments(format!("`{name}` is no glob: {e}")))?
            .compile_matcher();
        let n = found.len();
        found.extend(known.there.iter().filter(|project| glob.is_match(&project.name)).cloned());
        if found.len() == n {
            return Err(AskError::Arguments(format!("no project has a name like `{name}`")));
        }
        let moved = known.take_gone(|root| glob.is_match(root.file_name().unwrap_or_default()));
        warnings.extend(moved.into_iter().map(gone));
    }
    found.sort();
    found.dedup();
    warnings.dedup();
    Ok((found, warnings))
}

/// An engine that is asked, with the name by which results name it.
#[derive(Clone, Copy)]
pub(in crate::engine) struct AskedEngine<'a> {
    pub(in crate::engine) name: &'a str,
    pub(in crate::engine) engine: &'a Engine,
    pub(in crate::engine) is_package: bool,
}

impl AskedEngine<'_> {
    /// Returns the warning that this project does not answer.
    fn left_out(&self, why: &AskError) -> String {
        left_out(self.name, self.engine.project.layout.root(), &why.to_string())
    }

    /// Returns a warning of this project. The project that asks has no name.
    fn says(&self, warning: &str) -> String {
        if self.name.is_empty() { warning.into() } else { format!("{}: {warning}", self.name) }
    }

    /// Says of a row that it is of this project or package. The project that asks has no name.
    fn placed(&self, row: ResultRow) -> ResultRow {
        if self.is_package {
            row.in_package(self.name)
        } else if self.name.is_empty() {
            row
        } else {
            row.of_project(self.name)
        }
    }
}

/// One of those that answer together.
enum Participant<'a> {
    /// A project or package, with the snapshot that answers.
    Here { project: AskedEngine<'a>, view: View },
    /// A published repository, with the files that were proposed.
    Shared { repository: Box<Shared<'a>>, corpus: Option<Box<Corpus>> },
}

impl Participant<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Here { project, .. } => project.name,
            Self::Shared { repository, .. } => repository.name(),
        }
    }

    fn generation(&self) -> u64 {
        match self {
            Self::Here { view, .. } => view.code.generation,
            Self::Shared { repository, .. } => repository.manifest().generation,
        }
    }

    fn n_chunks(&self) -> usize {
        match self {
            Self::Here { view, .. } => view.code.corpus.chunks().len(),
            Self::Shared { repository, .. } => {
                usize::try_from(repository.whole().size.chunks()).unwrap_or(usize::MAX)
            }
        }
    }

    fn freshness(&self) -> Freshness {
        match self {
            Self::Here { view, .. } => view.state.index.clone(),
            Self::Shared { .. } => Freshness::default(),
        }
    }

    /// Returns the warning that it does not answer.
    fn left_out(&self, why: &AskError) -> String {
        match self {
            Self::Here { project, .. } => project.left_out(why),
            Self::Shared { repository, .. } => format!("{} is left out: {why}", repository.name()),
        }
    }

    /// Returns the project and its corpus, if all of its files are here.
    fn here(&self) -> Option<(&Project, &Corpus)> {
        match self {
            Self::Here { project, view } => Some((&*project.engine.project, &view.code.corpus)),
            Self::Shared { .. } => None,
        }
    }

    /// Returns the filter of a request for its files.
    fn filter(&self, request: &SearchRequest) -> Result<Filter, AskError> {
        request.filters.filter(self.here().map(|(project, _)| project))
    }

    /// The corpus that answers.
    fn corpus(&self) -> &Corpus {
        match self {
            Self::Here { view, .. } => &view.code.corpus,
            Self::Shared { corpus, .. } => {
                corpus.as_ref().expect("its files are read before it is asked")
            }
        }
    }

    /// Counts the words of a query.
    fn statistics(&self, query: &Query) -> Result<Statistics, AskError> {
        Ok(match self {
            Self::Here { view, .. } => Searcher::new(&view.code.corpus).statistics(query)?,
            Self::Shared { repository, .. } => repository.statistics(query)?,
        })
    }

    /// Returns the row of a hit.
    fn row(&self, hit: Hit, explain: bool) -> ResultRow {
        let row = ResultRow::new(Arc::new(hit), self.corpus().chunks(), explain);
        match self {
            Self::Here { project, .. } => {
                project.placed(row.unless_gone(&|path| project.engine.project.has_file(path)))
            }
            Self::Shared { repository, .. } => row.of_project(repository.name()),
        }
    }
}

/// Searches several projects. A project that cannot answer is left out, and a warning says so.
///
/// # Errors
/// When the request is not valid, the call is cancelled, or no project can answer.
pub fn search_many(
    projects: &[AskedProject],
    request: &SearchRequest,
    call: &Call,
) -> Result<SearchAnswer, AskError> {
    check_together(request, call)?;
    let asked: Vec<AskedEngine> = projects.iter().map(AskedProject::asked).collect();
    search_all(&asked, Vec::new(), request, call)
}

/// Searches several projects, each with its engine, and published repositories.
///
/// # Errors
/// Same as [`search_many`].
pub(in crate::engine) fn search_all(
    projects: &[AskedEngine],
    published: Vec<Shared>,
    request: &SearchRequest,
    call: &Call,
) -> Result<SearchAnswer, AskError> {
    check_query(request)?;
    let (mut parts, mut warnings, mut last) = (Vec::new(), call.warnings.clone(), None);
    let quiet = Call { warnings: Vec::new(), ..call.clone() };
    parts.extend(
        published.into_iter().map(|repository| Participant::Shared {
            repository: Box::new(repository),
            corpus: None,
        }),
    );
    for project in projects.iter().copied() {
        match project.engine.with_code(&quiet, Ok) {
            Ok(view) => {
                warnings.extend(troubles(&project, &view, request.mode));
                parts.push(Participant::Here { project, view });
            }
            Err(AskError::Cancelled) => return Err(AskError::Cancelled),
            Err(e) => {
                warnings.push(project.left_out(&e));
                last = Some(e);
            }
        }
    }
    if parts.is_empty() {
        match last {
            Some(e) => return Err(e),
            None if !warnings.is_empty() => return Err(AskError::NotFound(warnings.join("; "))),
            None => {}
        }
    }
    let generation = parts.iter().fold(0u64, |sum, part| sum.wrapping_add(part.generation()));
    let page = Page::new(request.cursor.as_deref(), request.n_results(), generation)?;
    warnings.extend(page.changed_from(request.cursor.as_deref()));
    let start = Instant::now();
    let found = ask_all(&mut parts, request, page.n_wanted(), &mut warnings)?;
    let took = start.elapsed();
    call.check()?;
    let Some(mut results) = merged(found) else { return Ok(SearchAnswer::default()) };
    let is_cut = results.hits.len() >= page.n_wanted();
    results.hits.truncate(page.n_wanted());
    let here = parts.iter().enumerate().filter_map(|(at, part)| {
        let (project, corpus) = part.here()?;
        Some((at, project, corpus))
    });
    let here: Vec<(usize, &Project, &Corpus)> = here.collect();
    // All files of a published repository are not known here.
    if here.len() == parts.len() {
        let files = here.iter().map(|(_, project, corpus)| (*project, &**corpus.chunks()));
        warnings.extend(request.filters.idle(&files.collect::<Vec<_>>()));
    }
    if request.mode != SearchMode::Exact {
        results.hits = with_places(&here, &request.query, results.hits);
    }
    let row = |hit: Hit| Some(parts[hit.part].row(hit, request.explain));
    let n_chunks = parts.iter().map(Participant::n_chunks).sum();
    let of_parts: Vec<Freshness> = parts.iter().map(Participant::freshness).collect();
    let index = Freshness {
        pending: of_parts.iter().map(|index| index.pending).sum(),
        vectors_pending: of_parts.iter().map(|index| index.vectors_pending).sum(),
        ..Freshness::default()
    };
    let published = parts.iter().filter_map(|part| match part {
        Participant::Here { .. } => None,
        Participant::Shared { repository, .. } => Some(state_of(repository)),
    });
    let published = published.collect();
    let state = AnswerState { index, warnings, projects: parts.len(), published }.in_brief(call);
    Ok(Ranking { results, is_cut, n_chunks, took }.answer(request, page, state, row))
}

/// Asks each project. One that cannot answer is taken out of `parts`, and a warning says so. Returns
/// the results in the order of `parts`.
fn ask_all(
    parts: &mut Vec<Participant>,
    request: &SearchRequest,
    n: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<Results>, AskError> {
    loop {
        match ask(parts, request, n) {
            Ok((found, of_models)) => {
                warnings.extend(of_models);
                return Ok(found);
            }
            // A damaged index costs only its own answers.
            Err(Unanswered { at, why: why @ (AskError::Failed(_) | AskError::NotYet(_)) })
                if parts.len() > 1 =>
            {
                warnings.push(parts.remove(at).left_out(&why));
            }
            Err(Unanswered { why, .. }) => return Err(why),
        }
    }
}

/// Merges the results of several projects; `None` if there are none.
fn merged(found: Vec<Results>) -> Option<Results> {
    let placed = |(part, mut results): (usize, Results)| {
        for hit in &mut results.hits {
            hit.part = part;
        }
        results
    };
    let mut all = found.into_iter().enumerate().map(placed).reduce(|mut all, more| {
        all.total += more.total;
        all.hits.extend(more.hits);
        all
    })?;
    all.hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.file().cmp(&b.file())));
    Some(all)
}

/// A project that cannot answer, by its place in the list of those asked.
struct Unanswered {
    at: usize,
    why: AskError,
}

/// Asks each project. Returns the results in the order of `parts`, and warnings.
fn ask(
    parts: &mut [Participant],
    request: &SearchRequest,
    n: usize,
) -> Result<(Vec<Results>, Vec<String>), Unanswered> {
    let by = |at: usize| move |why: AskError| Unanswered { at, why };
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    if request.mode == SearchMode::Exact {
        for (at, part) in parts.iter_mut().enumerate() {
            let exact = exact_in(part, request, n).map_err(by(at))?;
            warnings.extend(exact.warning.filter(|_| found.is_empty()));
            found.push(exact.results);
        }
        return Ok((found, warnings));
    }
    let query = request.refined(parsed(parts, &request.query)?);
    let (mut pooled, mut counts) = (Statistics::default(), Vec::new());
    for (at, statistics) in at_once(parts, |part| part.statistics(&query)).into_iter().enumerate() {
        counts.push(statistics.map_err(by(at))?);
        pooled.add(&counts[at]);
    }
    let embedder = parts.iter().find_map(|part| match part {
        Participant::Here { project, .. } => Some(project.engine.manager.embedder()),
        Participant::Shared { .. } => None,
    });
    let vectors = at_once(parts, |part| match part {
        Participant::Here { project, .. } => {
            let embedder = project.engine.manager.embedder();
            let (vector, warning) = vector_of_question(embedder, &query.meant);
            Ok((vector, warning.map(|warning| project.says(&warning))))
        }
        Participant::Shared { repository, corpus } => {
            let (vector, warning) = vector_for(repository, embedder, &query.meant);
            let filter = request.filters.filter(None)?;
            *corpus = Some(Box::new(repository.extract(&query, &vector, &filter, &pooled)?));
            Ok::<_, AskError>((vector, warning))
        }
    });
    for ((at, part), vector) in parts.iter().enumerate().zip(vectors) {
        let (vector, warning) = vector.map_err(by(at))?;
        let is_semantic = request.mode == SearchMode::Semantic && warning.is_none();
        warnings.extend(warning);
        let filter = part.filter(request).map_err(by(at))?;
        let (searcher, vector) = (Searcher::new(part.corpus()), (&*vector, is_semantic));
        let results = ranked(searcher, &query, vector, &filter, n, Some(&pooled));
        let mut results = results.map_err(|why| by(at)(why.into()))?;
        if is_semantic {
            found.push(results);
            continue;
        }
        let named = naming(&query, part.name(), &counts[at], &pooled);
        prefer(&mut results, "project_name", PROJECT_NAME, |_: &Hit| named);
        if matches!(part, Participant::Here { project, .. } if project.is_package) {
            let has_sources = results.hits.iter().any(|hit| is_source(&hit.path));
            prefer(&mut results, "package_aside", PACKAGE_ASIDE, |hit| {
                f64::from(u8::from(is_aside(&hit.path, has_sources)))
            });
        }
        found.push(results);
    }
    Ok((found, warnings))
}

/// Calls a function for each part. Those of the team have threads of their own, because most of their
/// time is spent waiting for a depot.
fn at_once<R: Send>(
    parts: &mut [Participant],
    of: impl Fn(&mut Participant) -> R + Sync,
) -> Vec<R> {
    let of = &of;
    std::thread::scope(|scope| {
        let begin = |part| match part {
            &mut Participant::Here { .. } => Err(part),
            Participant::Shared { .. } => Ok(scope.spawn(move || of(part))),
        };
        let begun: Vec<_> = parts.iter_mut().map(begin).collect();
        let end = |begun| match begun {
            Err(part) => of(part),
            Ok(thread) => {
                let thread: std::thread::ScopedJoinHandle<R> = thread;
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        };
        begun.into_iter().map(end).collect()
    })
}

/// Parses a question to all parts.
fn parsed(parts: &[Participant], question: &str) -> Result<Query, Unanswered> {
    let (mut corpora, mut shared): (Vec<&Corpus>, Vec<&Shared>) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Participant::Here { view, .. } => corpora.push(&view.code.corpus),
            Participant::Shared { repository, .. } => shared.push(repository),
        }
    }
    if shared.is_empty() {
        let all: Vec<Searcher> = corpora.into_iter().map(Searcher::new).collect();
        return Searcher::query_of_all(&all, question, &StaticModel::knows).map_err(|why| {
            let is_damaged = |s: &Searcher| s.query(question, &StaticModel::knows).is_err();
            let at = all.iter().position(is_damaged).unwrap_or(0);
            Unanswered { at, why: why.into() }
        });
    }
    let query = Shared::query(&shared, &corpora, question, &StaticModel::knows);
    query.map_err(|why| {
        let at = parts.iter().position(|part| matches!(part, Participant::Shared { .. }));
        Unanswered { at: at.unwrap_or(0), why: why.into() }
    })
}

/// Returns the vector of a question for a published repository; empty, with a warning, if its vectors
/// are those of another embedder than the asking project's.
fn vector_for(
    repository: &Shared,
    own: Option<&dyn Embedder>,
    meant: &str,
) -> (Vec<f32>, Option<String>) {
    let bundled = StaticModel::bundled();
    let own = own.unwrap_or(&*bundled);
    let theirs = &repository.manifest().embedder;
    if own.id() == theirs {
        return vector_of_question(own, meant);
    }
    let warning = format!(
        "{} was published with vectors of {theirs}, and this project has those of {}: only words count there",
        repository.name(),
        own.id()
    );
    (Vec::new(), Some(warning))
}

/// Answers an exact query of one part.
fn exact_in(part: &mut Participant, request: &SearchRequest, n: usize) -> Result<Found, AskError> {
    let filter = &part.filter(request)?;
    match part {
        Participant::Here { view, .. } => {
            Ok(exact(Searcher::new(&view.code.corpus), &request.query, filter, n)?)
        }
        Participant::Shared { repository, corpus } => {
            let holding = corpus.insert(Box::new(repository.holding(&request.query, MAX_HOLDING)?));
            Ok(exact(Searcher::new(holding), &request.query, filter, n)?)
        }
    }
}

/// Returns how clearly a question names a project, from 0 to 1: its words hold all words of the
/// name. A word that the other projects use often is less likely meant as a name.
fn naming(query: &Query, name: &str, own: &Statistics, pooled: &Statistics) -> f64 {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    // The version of a package.
    let name = name.split_once('@').map_or(&*name, |(name, _)| name);
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let rarities = words.map(|word| pooled.rarity_beside(own, query, word).unwrap_or(0.0));
    rarities.reduce(f64::min).unwrap_or(0.0)
}

/// Adds a feature to the scores of results.
fn prefer(results: &mut Results, feature: &'static str, weight: f64, value: impl Fn(&Hit) -> f64) {
    for hit in &mut results.hits {
        let term = Term { feature, value: value(hit), weight };
        if term.value != 0.0 {
            hit.score += term.contribution();
            hit.terms.push(term);
        }
    }
}

/// Whether a file of a package is an internal matter of it, or what was built from its sources,
/// if `has_sources`.
fn is_aside(path: &str, has_sources: bool) -> bool {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    folders.split('/').any(|folder| {
        INTERNAL.contains(&folder.trim_start_matches('_')) || has_sources && BUILT.contains(&folder)
    }) || is_record(&path)
        || name.contains(".min.")
}

fn is_source(path: &str) -> bool {
    path.starts_with("lib/") || path.starts_with("src/")
}

/// Returns what a reader has to know of one project: its warnings, which chunks cannot be found by
/// meaning, and whether it has no index.
fn troubles(project: &AskedEngine, view: &View, mode: SearchMode) -> Vec<String> {
    let mut out: Vec<String> = view.state.warnings.iter().map(|w| project.says(w)).collect();
    let pending = view.state.index.pending;
    if pending > 0 {
        let changed = format!("{} changed since the index was made", count(pending, "file"));
        out.push(project.says(&changed));
    }
    if view.code.corpus.chunks().is_empty() && out.is_empty() {
        out.push(format!("{} has no index yet: run `cortex index` there", project.name));
    }
    // A package is indexed by other commands.
    let lacking = project.engine.lacking_vectors(&view.code, mode).filter(|_| !project.is_package);
    out.extend(lacking.map(|lacking| project.says(&lacking)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_hides_or_built_stands_aside() {
        for (path, has_sources, expected) in [
            ("src/lib.rs", true, false),
            ("dist/index.js", false, false),
            ("dist/node/axios.cjs", true, true),
            ("pip/_vendor/rich/text.py", false, true),
            ("httpx/_client.py", false, false),
            ("lib/internal/queue.d.ts", false, true),
            ("dist/axios.min.js", false, true),
            ("CHANGELOG.md", false, true),
        ] {
            assert_eq!(is_aside(path, has_sources), expected, "{path}");
        }
    }
}
