//! `cortex mcp`: connects one agent, over standard input and output, with the server of the machine.

use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, ensure};
use parking_lot::Mutex;

use super::args::OfProject;
use super::outcome::Outcome;
use super::serve::{Following, Offered};
use super::server::place;
use crate::dir::Dir;
use crate::engine::{AnswerFrom, Changes, Engine, Pool, PoolLimits, Pooled, Project, ProjectError};
use crate::platform::{LocalStream, end_with_parent};
use crate::serve::{self, Bridge, Calls, Want};
use crate::tools::Tool;
use crate::work::compute_threads;

/// Most other projects that a process that serves alone keeps open.
const MOST_OPEN: usize = 4;

/// Serve one agent over standard input and output (Model Context Protocol).
#[derive(clap::Args)]
#[command(after_help = "Example, as an agent's configuration:
  {\"mcpServers\": {\"cortex\": {\"command\": \"cortex\", \"args\": [\"mcp\", \"--project\", \"/path/to/project\"]}}}

All agents of this user share one server, which starts with the first of them, indexes in the background, follows changes, and ends when nobody needs it (`cortex server status`). If it cannot be reached, this process serves alone. It ends when standard input is closed.")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    offered: Offered,
    /// Serve without the server of the machine (serve.shared = false)
    #[arg(long)]
    alone: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    // A client starts this in any folder. Where no project is, the agent is told so, call by call.
    let mut project = args.project.open().or_else(|e| match e.downcast_ref::<ProjectError>() {
        Some(why) if why.is_no_project() => args.project.absent(why),
        _ => Err(e),
    })?;
    refuse_plugin(&project)?;
    let follow = args.following.wanted();
    let (tools, read_only) = (args.offered.tools(&project)?, args.offered.read_only);
    // What only this agent wants does not hold for the others of the same project.
    let is_shared =
        project.config.shared && !args.alone && follow && !args.offered.edit_trusted_files;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let want = is_shared.then(|| Want::Mcp {
        root: project.layout.root().to_path_buf(),
        tools: tools.iter().map(|tool| tool.name.to_string()).collect(),
        read_only,
    });
    let place = want.as_ref().map(|_| place()).transpose();
    let engine: Arc<OnceLock<Arc<Engine>>> = Arc::default();
    let own = Own { project: Mutex::new(Some(project)), follow, tools, read_only };
    let opened = engine.clone();
    let dial = move || {
        if let (Some(want), Ok(Some(place))) = (&want, &place)
            && opened.get().is_none()
        {
            match place.ask_or_start(want) {
                Ok(stream) => return Ok(stream),
                Err(e) => tracing::warn!(
                    "serving alone, because the server of this machine cannot be reached: {e}"
                ),
            }
        }
        if let Err(e) = &place {
            tracing::warn!("serving alone: {e:#}");
        }
        own.serve(&opened)
    };
    let let_go = move || {
        if let Some(engine) = engine.get() {
            serve::let_go(engine.clone());
        }
    };
    end_with_parent(let_go.clone())?;
    let bridge = Bridge::new(Box::new(dial), Box::new(std::io::stdout()));
    let result = bridge.carry(std::io::stdin().lock());
    let_go();
    result?;
    Ok(Outcome::Done)
}

/// What this process needs to serve by itself.
struct Own {
    /// `None` once it is served.
    project: Mutex<Option<Project>>,
    follow: bool,
    tools: Vec<&'static Tool>,
    read_only: bool,
}

impl Own {
    /// Serves from a thread of this process, for its whole life.
    fn serve(&self, opened: &OnceLock<Arc<Engine>>) -> std::io::Result<BufReader<LocalStream>> {
        let taken = || std::io::Error::other("the server of this process has ended");
        let project = self.project.lock().take().ok_or_else(taken)?;
        compute_threads();
        let (changes, keeps_questions) = (Changes::default(), project.config.activity);
        let (bytes, idle) = (project.config.shared_bytes, project.config.idle);
        let limits = PoolLimits { bytes, idle, open: 1 + MOST_OPEN };
        let engine = match project.is_absent() {
            Some(_) => Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ())),
            None => Engine::for_server(project, self.follow, changes.callback()),
        };
        let engine = Arc::new(engine.map_err(std::io::Error::other)?);
        let _ = opened.set(engine.clone());
        let pooled = Arc::new(Pooled::open(engine.clone(), changes));
        let pool = Arc::new(Pool::new(limits).with(pooled.clone()));
        let calls = Calls::new(pooled, self.tools.clone(), keeps_questions).with_unlisted();
        let calls = calls.read_only(self.read_only);
        serve::alone(calls, pool).map(BufReader::new)
    }
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
