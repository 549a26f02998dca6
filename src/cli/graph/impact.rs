//! `cortex graph impact --diff` and `--files`: says what a change touches.

use anyhow::Result;

use super::shared::{Around, Shared};
use crate::cli::args::answered;
use crate::cli::outcome::Outcome;
use crate::engine::{Call, ImpactRequest};

#[derive(clap::Args)]
pub(super) struct Impact {
    /// A symbol name, `Type::method`, `file:line`, or a file
    #[arg(required_unless_present_any = ["diff", "files"])]
    pub(super) target: Option<String>,
    /// Ask about the working tree against HEAD, or about a commit or range (HEAD~3, main..)
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["target", "files", "draw"])]
    diff: Option<String>,
    /// Ask about files and symbols that you plan to change (repeat or separate with commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["target", "draw"])]
    files: Vec<String>,
    #[command(flatten)]
    pub(super) around: Around,
}

pub(super) fn run(of: &Impact, shared: &Shared) -> Result<Outcome> {
    let mut request = ImpactRequest {
        range: of.diff.clone(),
        files: of.files.clone(),
        depth: of.around.steps.depth,
        limit: of.around.rows.limit,
    };
    let engine = shared.engine(&mut request.files)?;
    let answer = engine.impact(&request, &Call::default())?;
    answered(engine, shared.json, &answer, !answer.is_empty())
}
