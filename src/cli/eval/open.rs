//! A project of which questions are asked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::set;
use crate::cli::progress::Bar;
use crate::engine::{AnswerFrom, Call, Engine, LONG_WAIT, Project, SearchRequest};
use crate::eval::{Baseline, EvalQuestion};
use crate::index::Mode;
use crate::search::{Form, HiddenCommits, Hit};

/// An open project.
pub(super) struct EvaluatedProject {
    pub(super) engine: Engine,
    /// Paths that do not count as answers.
    left_out: BTreeSet<String>,
    /// The form that every question is ranked as.
    form: Option<Form>,
}

impl EvaluatedProject {
    /// Updates the index of a folder, with vectors, and loads it.
    pub(super) fn open(folder: &Path, own_files: &[PathBuf], form: Option<Form>) -> Result<Self> {
        let project = Project::open(Some(folder))?;
        let bar = Bar::indexing(false);
        if project.is_stale() {
            project.index(Mode::Incremental, LONG_WAIT, &|progress| bar.show(progress))?;
        }
        project.embed(&|_| ())?;
        let below = own_files.iter().filter_map(|f| f.strip_prefix(project.layout.root()).ok());
        let left_out = below.map(|f| f.to_string_lossy().into_owned()).collect();
        let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
        Ok(Self { engine, left_out, form })
    }

    /// Returns the files that answer, and the time in milliseconds.
    pub(super) fn ask(&self, question: &EvalQuestion, limit: usize) -> Result<(Vec<Hit>, f64)> {
        let hidden = HiddenCommits { since: question.commit.clone(), quotes: true };
        let request = SearchRequest {
            query: question.query.clone(),
            form: self.form,
            hidden_commits: Some(hidden),
            ..SearchRequest::default()
        };
        let (hits, time) = self.engine.hits(
            &request,
            limit.saturating_add(self.left_out.len()),
            &Call::default(),
        )?;
        let hits = hits.into_iter().filter(|hit| !self.left_out.contains(&*hit.path));
        Ok((hits.take(limit).collect(), time.as_secs_f64() * 1000.0))
    }

    pub(super) fn baseline(&self) -> Baseline {
        let mut files = set::read_tree(&self.engine.project);
        files.retain(|f| !self.left_out.contains(&f.path));
        Baseline::new(&files)
    }
}
