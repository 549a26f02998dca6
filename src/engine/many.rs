//! One question to several projects: their answers are merged into one list.
//!
//! Each project ranks its own files, but how rare a word is follows from all projects together. So
//! the scores are comparable, and the best results of all are those with the highest scores.

use std::sync::Arc;
use std::time::Instant;

use globset::Glob;

use super::freshness::{AnswerState, Freshness};
use super::rows::ResultRow;
use super::search::{
    Page, SearchAnswer, SearchMode, SearchRequest, SearchStats, check_query, exact,
};
use super::serving::{Engine, OpenProject, View};
use super::{AskError, Call, chain};
use crate::embed::{StaticModel, vector_of_question};
use crate::excerpt::{Compared, Excerpts};
use crate::projects::{KnownProject, Projects};
use crate::search::{Filter, Hit, Results, Searcher, Statistics};
use crate::text::count;

impl Engine {
    /// Opens another project of the user, by its name.
    ///
    /// # Errors
    /// When there is no such project, or this engine answers for one project only.
    pub fn other(&self, name: &str) -> Result<Arc<Self>, AskError> {
        let known = self.project.all();
        let project = known.named(name).map_err(|e| AskError::Arguments(e.to_string()))?;
        Ok(self.pool()?.engine(&project.root)?)
    }

    /// Searches the projects that the request names.
    ///
    /// # Errors
    /// Those of [`search_many`]; when a name is no project, or this engine answers for one project
    /// only.
    pub fn search_in_projects(
        &self,
        request: &SearchRequest,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        let pool = self.pool()?;
        let (wanted, mut warnings) = chosen(&self.project.all(), &request.repos)?;
        let (asked, unopened) = open_projects(pool, &wanted)?;
        warnings.extend(unopened);
        warnings.splice(0..0, call.warnings.iter().cloned());
        search_many(&asked, request, &Call { warnings, ..call.clone() })
    }

    fn pool(&self) -> Result<&dyn OpenProject, AskError> {
        self.others.as_deref().ok_or_else(|| {
            AskError::Arguments("this server answers for one project only: leave `repo` and `repos` out, or ask the server of that project".into())
        })
    }
}

/// A project that is asked, with the name by which results name it.
#[derive(Clone)]
pub struct AskedProject {
    pub name: String,
    pub engine: Arc<Engine>,
}

/// Opens projects. One that cannot be opened is left out, and a warning says so.
///
/// # Errors
/// When none can be opened.
pub fn open_projects(
    pool: &dyn OpenProject,
    wanted: &[KnownProject],
) -> Result<(Vec<AskedProject>, Vec<String>), AskError> {
    let (mut asked, mut warnings) = (Vec::new(), Vec::new());
    for KnownProject { name, root } in wanted {
        match pool.engine(root) {
            Ok(engine) => asked.push(AskedProject { name: name.clone(), engine }),
            Err(e) => warnings.push(format!("{name} is left out: {}", chain(&e))),
        }
    }
    if asked.is_empty() {
        return Err(AskError::Failed(warnings.join("; ")));
    }
    Ok((asked, warnings))
}

/// Selects projects by names or globs of names; `*` selects all. Returns them in the order of their
/// names, and warnings.
///
/// # Errors
/// When a name is no project or several, or a glob matches none.
pub fn chosen(
    known: &Projects,
    wanted: &[String],
) -> Result<(Vec<KnownProject>, Vec<String>), AskError> {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for name in wanted {
        if !name.contains(['*', '?', '[', '{']) {
            let project = known.named(name).map_err(|e| AskError::Arguments(e.to_string()))?;
            found.push(project.clone());
            continue;
        }
        let glob = Glob::new(name)
            .map_err(|e| AskError::Arguments(format!("`{name}` is no glob: {e}")))?
            .compile_matcher();
        let n = found.len();
        found.extend(known.there.iter().filter(|project| glob.is_match(&project.name)).cloned());
        if found.len() == n {
            return Err(AskError::Arguments(format!("no project has a name like `{name}`")));
        }
        let gone =
            known.gone.iter().filter(|root| glob.is_match(root.file_name().unwrap_or_default()));
        warnings.extend(
            gone.map(|root| format!("{} is left out: it is no longer there", root.display())),
        );
    }
    found.sort();
    found.dedup();
    warnings.dedup();
    Ok((found, warnings))
}

/// An engine that is asked, with the name by which results name it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    pub(super) engine: &'a Engine,
}

/// How the results of several engines follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By score.
    Score,
    /// By score, after the best results of the first engine, which fill at most a third of a page.
    FirstEngine,
}

/// An engine that has a snapshot to answer from.
struct Part<'a> {
    project: Asked<'a>,
    view: View,
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
    let asked = |project: &'_ AskedProject| (project.name.clone(), project.engine.clone());
    let asked: Vec<(String, Arc<Engine>)> = projects.iter().map(asked).collect();
    let asked: Vec<Asked> = asked.iter().map(|(name, engine)| Asked { name, engine }).collect();
    search_all(&asked, Order::Score, request, call)
}

/// Does the same with engines.
///
/// # Errors
/// Same as [`search_many`].
pub(super) fn search_all(
    projects: &[Asked],
    order: Order,
    request: &SearchRequest,
    call: &Call,
) -> Result<SearchAnswer, AskError> {
    check_query(request)?;
    let filter = request.filters.filter()?;
    let (mut parts, mut warnings, mut last) = (Vec::new(), call.warnings.clone(), None);
    let quiet = Call { warnings: Vec::new(), ..call.clone() };
    for project in projects.iter().copied() {
        match project.engine.with_code(&quiet, Ok) {
            Ok(view) => {
                warnings.extend(troubles(project.name, &view));
                parts.push(Part { project, view });
            }
            Err(AskError::Cancelled) => return Err(AskError::Cancelled),
            Err(e) => {
                warnings.push(format!("{} is left out: {e}", project.name));
                last = Some(e);
            }
        }
    }
    if let Some(e) = last.filter(|_| parts.is_empty()) {
        return Err(e);
    }
    let generation = parts.iter().fold(0u64, |sum, p| sum.wrapping_add(p.view.code.generation));
    let mut page = Page::new(request.cursor.as_deref(), request.limit, generation)?;
    warnings.extend(page.changed_from(request.cursor.as_deref()));
    let start = Instant::now();
    let found = ask(&parts, request, &filter, page.n_wanted(), &mut warnings)?;
    let milliseconds = (start.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
    call.check()?;
    let total = found.iter().map(|results| results.total).sum();
    let Some(first) = found.first() else { return Ok(SearchAnswer::default()) };
    let (meant, notes) = (first.meant.clone(), first.notes.clone());
    let (mut wanted, wants_places) = (first.wanted.clone(), first.wants_places);
    let mut hits: Vec<Hit> = Vec::new();
    for (at, results) in found.into_iter().enumerate() {
        // Two projects may have the same path.
        hits.extend(
            results
                .hits
                .into_iter()
                .map(|hit| Hit { path: format!("{at}:{}", hit.path).into(), ..hit }),
        );
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    if order == Order::FirstEngine {
        let mut n_first = 0;
        hits.sort_by_cached_key(|hit| {
            let is_first = hit.path.starts_with("0:");
            n_first += usize::from(is_first);
            if !is_first {
                1
            } else if n_first <= request.limit.div_ceil(3) {
                0
            } else {
                2
            }
        });
    }
    let is_cut = hits.len() >= page.n_wanted();
    hits.truncate(page.n_wanted());
    let nearest = hits.iter().map(Hit::meaning).fold(0.0, f64::max);
    let mut n_before = 0;
    hits.retain(|hit| {
        n_before += 1;
        n_before == 1 || request.mode != SearchMode::Hybrid || hit.is_evident(nearest)
    });
    let mut compared = Compared::default();
    compared.add(hits.iter(), &meant, &mut wanted);
    let hits = compared.rows(hits, wants_places && !request.one_per_file, is_cut);
    page.n_found = hits.len();
    let of_page = hits.into_iter().skip(page.offset).take(page.limit);
    let row = |hit: Hit| {
        let at = hit.path.split(':').next().and_then(|at| at.parse::<usize>().ok())?;
        let Part { project, view } = parts.get(at)?;
        let row = ResultRow::new(Arc::new(hit), view.code.corpus.chunks(), request.explain)
            .unless_gone(&|path| project.engine.project.has_file(path));
        Some(row.of_project(project.name))
    };
    let rows: Vec<ResultRow> = of_page.filter_map(row).collect();
    let hits: Vec<&Hit> = rows.iter().map(|row| &*row.hit).collect();
    compared.add(hits.iter().copied(), &meant, &mut wanted);
    let excerpts = Excerpts::of(&hits, compared, &mut wanted);
    let n = rows.len();
    let results = ResultRow::best(rows, &excerpts, 0);
    let n_chunks = parts.iter().map(|part| part.view.code.corpus.chunks().len()).sum();
    let index = Freshness {
        generation,
        pending: parts.iter().map(|part| part.view.state.index.pending).sum(),
        vectors_pending: parts.iter().map(|part| part.view.state.index.vectors_pending).sum(),
        ..Freshness::default()
    };
    Ok(SearchAnswer {
        next_cursor: page.next(n),
        results,
        total,
        stats: request.include_stats.then_some(SearchStats {
            chunks: n_chunks,
            candidates: total,
            milliseconds,
        }),
        notes,
        state: AnswerState { index, warnings }.in_brief(call),
        excerpts: Arc::new(excerpts),
        n_chunks,
        page,
        ..SearchAnswer::default()
    })
}

/// Asks each project. The results are in the order of `parts`.
fn ask(
    parts: &[Part],
    request: &SearchRequest,
    filter: &Filter,
    n: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<Results>, AskError> {
    let searchers: Vec<Searcher> =
        parts.iter().map(|part| Searcher::new(&part.view.code.corpus)).collect();
    if request.mode == SearchMode::Exact {
        let mut found = Vec::new();
        for searcher in searchers {
            let exact = exact(searcher, &request.query, filter, n)?;
            warnings.extend(exact.warning.filter(|_| found.is_empty()));
            found.push(exact.results);
        }
        return Ok(found);
    }
    let mut query = Searcher::query_of_all(&searchers, &request.query, &StaticModel::knows)?;
    if let Some(form) = request.form {
        query = query.with_form(form);
    }
    if let Some(hidden) = &request.hidden_commits {
        query = query.without_commits(hidden.clone());
    }
    let mut pooled = Statistics::default();
    for searcher in &searchers {
        pooled.add(&searcher.statistics(&query)?);
    }
    let mut found = Vec::new();
    for (part, searcher) in parts.iter().zip(searchers) {
        let embedder = part.project.engine.manager.embedder();
        let (vector, warning) = vector_of_question(embedder, &query.meant);
        let is_semantic = request.mode == SearchMode::Semantic && warning.is_none();
        warnings.extend(warning.map(|warning| format!("{}: {warning}", part.project.name)));
        found.push(if is_semantic {
            searcher.by_meaning(&vector, filter, n)?
        } else {
            searcher.search_among(&query, &vector, filter, n, &pooled)?
        });
    }
    Ok(found)
}

/// Returns what a reader has to know of one project: its warnings, and whether it has no index.
fn troubles(name: &str, view: &View) -> Vec<String> {
    let mut out: Vec<String> =
        view.state.warnings.iter().map(|warning| format!("{name}: {warning}")).collect();
    let pending = view.state.index.pending;
    if pending > 0 {
        out.push(format!("{name}: {} changed since the index was made", count(pending, "file")));
    }
    if view.code.corpus.chunks().is_empty() && out.is_empty() {
        out.push(format!("{name} has no index yet: run `cortex index` there"));
    }
    out
}
