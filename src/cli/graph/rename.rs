//! `cortex graph rename`: renames a symbol everywhere.

use anyhow::Result;

use super::shared::Shared;
use crate::cli::args::answered;
use crate::cli::outcome::Outcome;
use crate::engine::{Call, RenameRequest};

#[derive(clap::Args)]
pub(super) struct Rename {
    /// A symbol name, `Type::method` or `file:line`
    target: String,
    /// The new name
    new_name: String,
    /// Write the files [default: show what would change]
    #[arg(long)]
    apply: bool,
    /// Rename an uncertain place, too (repeat or separate with commas)
    #[arg(long, value_name = "PATH:LINE", value_delimiter = ',')]
    also: Vec<String>,
    /// Leave uncertain places as they are
    #[arg(long)]
    skip_uncertain: bool,
}

pub(super) fn run(of: &Rename, shared: &Shared) -> Result<Outcome> {
    let mut request = RenameRequest {
        target: of.target.clone(),
        new_name: of.new_name.clone(),
        apply: of.apply,
        also: of.also.clone(),
        skip_uncertain: of.skip_uncertain,
    };
    let engine = shared.engine([&mut request.target])?;
    let answer = engine.rename(&request, &Call::default())?;
    answered(engine, shared.json, &answer, true)
}
