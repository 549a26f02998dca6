//! `cortex eval --graph`: measures the inference of the code graph.

use std::path::Path;

use anyhow::Result;

use super::files::JsonLinesWriter;
use crate::cli::args::end;
use crate::cli::elsewhere::engine;
use crate::cli::outcome::Outcome;
use crate::cli::render::{json, line};
use crate::engine::{AnswerFrom, Call, Project};
use crate::graph::Counts;

/// Compares inferred calls with imported SCIP indexes. Differences go to the file `save`.
pub(super) fn run(save: Option<&Path>, as_json: bool) -> Result<Outcome> {
    let project = Project::open(None)?;
    let engine = engine(project, AnswerFrom::Tree)?;
    let comparison = engine.compare_graph(&Call::default())?;
    if let Some(save) = save {
        let mut save = JsonLinesWriter::create(save)?;
        comparison.differences.iter().try_for_each(|d| save.put(d))?;
        save.finish()?;
    }
    if as_json {
        json(&comparison)?;
    } else {
        line(
            "language      files  pairs  precision  recall  members: precision  recall  unseen  called  no caller  not even a candidate",
        )?;
        for (language, counts) in &comparison.languages {
            print(language, counts)?;
        }
    }
    let is_empty = comparison.languages.is_empty();
    Ok(end(engine, if is_empty { Outcome::NothingFound } else { Outcome::Done }))
}

fn print(language: &str, counts: &Counts) -> Result<()> {
    let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    let Counts { files, pairs, right, wrong, member_pairs, member_right, member_wrong, .. } =
        counts;
    line(&format!(
        "{language:<12} {files:>6} {pairs:>6} {:>10.3} {:>7.3} {:>19.3} {:>7.3} {:>7} {:>7} {:>10} {:>21}",
        share(*right, right + wrong),
        share(*right, *pairs),
        share(*member_right, member_right + member_wrong),
        share(*member_right, *member_pairs),
        counts.unseen,
        counts.called,
        counts.without_caller,
        counts.without_candidate,
    ))?;
    for (from, n, right) in &counts.confidences {
        line(&format!(
            "    confidence from {from:.1}: {n:>7} meanings, {:.2} right",
            share(*right, *n)
        ))?;
    }
    Ok(())
}
