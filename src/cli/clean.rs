//! `cortex clean`: removes the index.

use std::time::Duration;

use anyhow::Result;

use super::args::OfProject;
use super::outcome::Outcome;
use super::render::line;
use crate::store::WriteLock;

/// Remove the index: chunks, caches and the code graph. Configuration and memories are kept.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex clean")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let project = args.project.open()?;
    let layout = &project.layout;
    if !layout.has_derived() {
        line(&format!("nothing to remove in {}", layout.dot_cortex().display()))?;
        return Ok(Outcome::Done);
    }
    let _lock = WriteLock::acquire(layout, Duration::from_secs(10))?;
    let foreign = layout.is_foreign();
    layout.clean()?;
    let what = if foreign {
        "the caches (the chunk files are another program's and stay)"
    } else {
        "chunks and caches"
    };
    line(&format!("removed {what} from {}", layout.dot_cortex().display()))?;
    Ok(Outcome::Done)
}
