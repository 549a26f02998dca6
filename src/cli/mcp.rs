//! `cortex mcp`: serves one agent over standard input and output.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::args::OfProject;
use super::outcome::Outcome;
use super::serve::{Following, Offered};
use crate::dir::Dir;
use crate::engine::{AnswerFrom, Engine, FrontEnd, Pool, Project};
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
    refuse_plugin(&project)?;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let follow = args.following.wanted();
    let tools = args.offered.tools(&project)?;
    let changes = Changes::default();
    let mut engine = Engine::for_server(project, follow, changes.callback())?;
    // Standard input and output reach only the user's own agent.
    engine.others = Some(Arc::new(Pool::new(AnswerFrom::Tree, FrontEnd::Tools)));
    let engine = Arc::new(engine);
    let calls = Calls::new(engine.clone(), tools).read_only(args.offered.read_only);
    let result = serve::run(serve::stdio(calls, changes));
    serve::let_go(engine);
    result?;
    Ok(Outcome::Done)
}

/// Agents that read Agent Plugins start the server of a plugin in the folder of that plugin, which
/// holds nothing that a user asks about.
///
/// # Errors
/// When that folder is the project.
fn refuse_plugin(project: &Project) -> Result<()> {
    let plugin = std::env::var_os("PLUGIN_ROOT");
    let plugin = plugin.and_then(|path| Dir::open(Path::new(&path)).ok());
    let root = project.layout.root();
    ensure!(
        !plugin.is_some_and(|plugin| Dir::open(root).is_ok_and(|root| root.id() == plugin.id())),
        "{}: this is the folder of the plugin, not of a project; name the project with --project DIR, or let `cortex init` configure the agent",
        root.display()
    );
    Ok(())
}
