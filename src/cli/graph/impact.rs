//! `cortex graph impact --diff` and `--files`: says what a change touches.

use anyhow::Result;

use super::{Args, Impact, told};
use crate::cli::args::end;
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::json;
use crate::engine::{Call, ImpactRequest};

pub(super) fn run(of: &Impact, args: &Args) -> Result<Outcome> {
    let mut request = ImpactRequest {
        range: of.diff.clone(),
        files: of.files.clone(),
        depth: of.around.steps.depth,
        limit: of.around.rows.limit,
    };
    let engine = args.engine(&mut request.files)?;
    let answer = engine.impact(&request, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        let lines = answer.shown(&Paths::of(&engine.project));
        told(&answer.state, &lines, !answer.is_empty())?;
    }
    let outcome = if answer.is_empty() { Outcome::NothingFound } else { Outcome::Done };
    Ok(end(engine, outcome))
}
