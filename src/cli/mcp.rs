//! `cortex mcp`: serves one agent over standard input and output.

use std::sync::Arc;

use anyhow::Result;

use super::args::OfProject;
use super::outcome::Outcome;
use super::serve::{Following, Offered};
use crate::engine::Engine;
use crate::serve::{self, Calls, Changes};

/// Serve one agent over standard input and output (Model Context Protocol).
#[derive(clap::Args)]
#[command(after_help = "Example, as an agent's configuration:
  {\"mcpServers\": {\"cortex\": {\"command\": \"cortex\", \"args\": [\"mcp\", \"--project\", \"/path/to/project\"]}}}

The server indexes in the background and follows changes. It ends when standard input is closed.")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    offered: Offered,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut project = args.project.open()?;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let follow = args.following.wanted();
    let tools = args.offered.tools(&project)?;
    let changes = Changes::default();
    let engine = Arc::new(Engine::for_server(project, follow, changes.callback())?);
    let result = serve::run(serve::stdio(Calls::new(engine.clone(), tools), changes));
    serve::let_go(engine);
    result?;
    Ok(Outcome::Done)
}
