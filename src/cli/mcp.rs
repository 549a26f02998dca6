//! `cortex mcp`: the tools for an agent that starts this program.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::Outcome;
use super::serve::{Following, Offered};
use super::wire::Project;
use crate::serve::{self, Calls};

/// Serve an agent over standard input and output (Model Context Protocol).
#[derive(clap::Args)]
#[command(after_help = "Example, as an agent's configuration:
  {\"mcpServers\": {\"cortex\": {\"command\": \"cortex\", \"args\": [\"mcp\", \"--path\", \"/path/to/project\"]}}}

It indexes in the background and follows changes. It ends when standard input does.")]
pub(super) struct Args {
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    offered: Offered,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut project = Project::open(args.path.as_deref())?;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let follow = args.following.wanted(&project);
    let context = Arc::new(project.serve(follow, Arc::new(|| ()))?);
    let result = serve::run(serve::stdio(Calls::new(context.clone(), args.offered.tools(&project)?)));
    serve::let_go(context);
    result?;
    Ok(Outcome::Done)
}
