//! Compares the answers of published repositories with those of the same repositories here.

use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;

use super::open::{EvaluatedProject, request};
use super::set::Set;
use crate::cli::progress::Bar;
use crate::cli::render;
use crate::embed::{StaticModel, vector_of_question};
use crate::engine::Call;
use crate::eval::{self, FILES, FoundFile};
use crate::search::{Filter, Hit, Query, Results, Searcher};
use crate::team::{self, Cache, Publication, Publisher, Shared};

/// Number of first files that are compared.
const COMPARED: usize = 10;
/// How much of what the depot holds is kept in memory.
const CACHED: usize = 64 << 20;

/// The comparison.
#[derive(Debug, Default, Serialize)]
struct Report {
    questions: usize,
    /// Questions whose first ten files are the same, in the same order.
    same_files: usize,
    /// Of those, the ones with the same chunks, lines and parts of scores.
    same_rows: usize,
    ndcg_here: f64,
    ndcg_there: f64,
    /// Milliseconds of a question there, the median.
    milliseconds: f64,
    /// Seconds that publishing took, rows that were stored, and bytes of facts.
    publish_seconds: f64,
    rows: usize,
    bytes: u64,
    /// Files that a question looked at, the mean.
    files: f64,
    /// Questions with other files.
    different: Vec<Different>,
}

#[derive(Debug, Serialize)]
struct Different {
    repo: String,
    query: String,
    here: Vec<String>,
    there: Vec<String>,
}

/// Publishes the repositories of a set, asks every question, and prints the comparison.
pub(super) fn run(set: &Set, url: &str, json: bool) -> Result<()> {
    let depot = team::open(url)?;
    let cache = Cache::new(CACHED);
    let clock = || chrono::Utc::now().timestamp();
    let mut report = Report::default();
    let mut times = Vec::new();
    let bar = Bar::questions(set.questions.len());
    for (folder, questions) in set.by_folder() {
        let name = questions[0].repo.clone();
        bar.say(name.clone());
        let engine = EvaluatedProject::open(&folder, &[], None)?.engine;
        let served = engine.to_publish(&Call::default())?.corpus;
        let embedder = engine.embedder();
        let publication = Publication {
            name: &name,
            commit: "",
            embedder: embedder.id(),
            corpus: &served,
            who: "eval",
        };
        let start = Instant::now();
        let published = Publisher::new(&*depot, &clock, &|_, _| ()).publish(&publication)?;
        report.publish_seconds += start.elapsed().as_secs_f64();
        report.rows += published.rows;
        report.bytes += published.bytes;
        let here = Searcher::new(&served);
        for question in questions {
            let asked = request(question, FILES, None);
            let refined = |query: Query| asked.refined(query);
            let query = refined(here.query(&question.query, &StaticModel::knows)?);
            let (vector, _) = vector_of_question(embedder, &query.meant);
            let filter = Filter::default();
            let local = here.search(&query, &vector, &filter, FILES)?;
            let start = Instant::now();
            let shared = Shared::open(&*depot, &cache, &name)?;
            let query = Shared::query(&[&shared], &[], &question.query, &StaticModel::knows)?;
            let query = refined(query);
            let (vector, _) = vector_of_question(embedder, &query.meant);
            let statistics = shared.statistics(&query)?;
            let corpus = shared.extract(&query, &vector, &filter, &statistics)?;
            report.files += corpus.paths().count() as f64;
            let remote = Searcher::new(&corpus).search_among(
                &query,
                &vector,
                &filter,
                FILES,
                &statistics,
            )?;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            report.add(question, &local, &remote);
            bar.advance();
        }
    }
    bar.end();
    let n = report.questions.max(1) as f64;
    report.ndcg_here /= n;
    report.ndcg_there /= n;
    report.files /= n;
    times.sort_by(f64::total_cmp);
    report.milliseconds = *times.get(times.len() / 2).context("there are no questions")?;
    if json {
        return render::json(&report);
    }
    render::line(&format!(
        "{} of {} questions have the same first {COMPARED} files, {} of them with the same places and scores",
        report.same_files, report.questions, report.same_rows
    ))?;
    render::line(&format!(
        "NDCG@{COMPARED} here {:.4}, there {:.4}",
        report.ndcg_here, report.ndcg_there
    ))?;
    render::line(&format!(
        "a question there: {:.1} ms (median), {:.0} files; publishing: {:.1} s, {} rows, {} bytes of facts",
        report.milliseconds, report.files, report.publish_seconds, report.rows, report.bytes
    ))?;
    for Different { repo, query, here, there } in &report.different {
        render::line(&format!("{repo}: {query}"))?;
        for (here, there) in here.iter().zip(there).filter(|(a, b)| a != b) {
            render::line(&format!("  here {here}, there {there}"))?;
        }
    }
    Ok(())
}

impl Report {
    fn add(&mut self, question: &eval::EvalQuestion, local: &Results, remote: &Results) {
        let score = |results: &Results| {
            let file = |hit: &Hit| FoundFile { path: hit.path.to_string(), lines: hit.lines };
            eval::score(question, &results.hits.iter().map(file).collect::<Vec<_>>(), 0.0).ndcg
        };
        let paths = |results: &Results| -> Vec<String> {
            results.hits.iter().take(COMPARED).map(|hit| hit.path.to_string()).collect()
        };
        let row = |hit: &Hit| (hit.chunk.id.clone(), hit.lines, hit.terms.clone());
        self.questions += 1;
        self.ndcg_here += score(local);
        self.ndcg_there += score(remote);
        let (here, there) = (paths(local), paths(remote));
        if here != there {
            let (repo, query) = (question.repo.clone(), question.query.clone());
            self.different.push(Different { repo, query, here, there });
            return;
        }
        self.same_files += 1;
        let rows =
            |results: &Results| -> Vec<_> { results.hits.iter().take(COMPARED).map(row).collect() };
        let rows = rows(local) == rows(remote);
        self.same_rows += usize::from(rows);
    }
}
