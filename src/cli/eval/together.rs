//! Asks all repositories of a set together.

use anyhow::Result;

use super::open::{EvaluatedProject, request};
use super::set::Set;
use crate::cli::progress::Bar;
use crate::engine::{AskedProject, Call, search_many};
use crate::eval::{self, FILES, FoundFile, Scored};

/// Asks every question of all repositories. A file of another repository than the question's is a
/// wrong answer.
pub(super) fn ask(set: &Set) -> Result<Vec<Scored>> {
    let mut projects = Vec::new();
    for (folder, questions) in set.by_folder() {
        let engine = EvaluatedProject::open(&folder, &[])?.engine;
        projects.push(AskedProject { name: questions[0].repo.clone(), engine, is_package: false });
    }
    let bar = Bar::questions(set.questions.len());
    let mut scored = Vec::new();
    for question in &set.questions {
        let answer = search_many(&projects, &request(question, FILES), &Call::default())?;
        let found = answer.results.iter().map(|row| {
            let is_own = row.repo.as_ref() == Some(&question.repo);
            let path = row.path.clone().unwrap_or_default();
            FoundFile {
                // No target has such a path.
                path: if is_own { path } else { format!("{}:", row.address()) },
                lines: row.chunk.start_line.zip(row.chunk.end_line),
            }
        });
        let found: Vec<FoundFile> = found.collect();
        let ms = answer.stats.map_or(0.0, |stats| stats.milliseconds);
        scored.push(eval::score(question, &found, ms));
        bar.advance();
    }
    bar.end();
    Ok(scored)
}
