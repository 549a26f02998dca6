//! A project of which questions are asked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::set;
use crate::cli::progress::Bar;
use crate::engine::{AnswerFrom, Call, Engine, LONG_WAIT, Project, ResultRow, SearchRequest};
use crate::eval::{Baseline, EvalQuestion};
use crate::index::Mode;
use crate::search::HiddenCommits;

/// An open project.
pub(super) struct EvaluatedProject {
    pub(super) engine: Arc<Engine>,
    /// Paths that do not count as answers.
    left_out: BTreeSet<String>,
}

impl EvaluatedProject {
    /// Updates the index of a folder, with vectors, and loads it.
    pub(super) fn open(folder: &Path, own_files: &[PathBuf]) -> Result<Self> {
        let project = Project::open(Some(folder))?;
        let bar = Bar::indexing(false);
        if project.is_stale() {
            project.index(None, Mode::Incremental, LONG_WAIT, &|progress| bar.show(progress))?;
        }
        project.embed(&|_| ())?;
        let below = own_files.iter().filter_map(|f| f.strip_prefix(project.layout.root()).ok());
        let left_out = below.map(|f| f.to_string_lossy().into_owned()).collect();
        let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
        let engine = Arc::new(engine);
        Ok(Self { engine, left_out })
    }

    /// Returns the rows that a reply shows, and the time of the search in milliseconds.
    pub(super) fn ask(
        &self,
        question: &EvalQuestion,
        limit: usize,
    ) -> Result<(Vec<ResultRow>, f64)> {
        let limit_with_own = limit.saturating_add(self.left_out.len());
        let request = request(question, limit_with_own);
        let answer = self.engine.search(&request, &Call::default())?;
        let is_left_out = |row: &ResultRow| self.left_out.contains(&*row.hit.path);
        let rows = answer.results.into_iter().filter(|row| !is_left_out(row));
        Ok((rows.take(limit).collect(), answer.stats.map_or(0.0, |stats| stats.milliseconds)))
    }

    pub(super) fn baseline(&self) -> Baseline {
        let mut files = set::read_tree(&self.engine.project);
        files.retain(|f| !self.left_out.contains(&f.path));
        Baseline::new(&files)
    }
}

/// Returns the search that asks a question. What gives the answer away is hidden from it.
pub(super) fn request(question: &EvalQuestion, limit: usize) -> SearchRequest {
    SearchRequest {
        query: question.query.clone(),
        limit,
        include_stats: true,
        hidden_commits: Some(HiddenCommits { since: question.commit.clone(), quotes: true }),
        ..SearchRequest::default()
    }
}
