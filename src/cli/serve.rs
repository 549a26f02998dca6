//! `cortex serve`: serves the programs of this machine over HTTP.

use std::net::IpAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio_util::sync::CancellationToken;

use super::args::OfProject;
use super::browser;
use super::outcome::Outcome;
use super::render::line;
use crate::config;
use crate::engine::{Changes, Engine, Pooled, Project};
use crate::serve::{self, Access, App, Calls, RunningNote, Signals, Token};
use crate::store::ServerFile;
use crate::tools::{self, Tool, ToolGroup};

/// Serve agents and programs over HTTP: MCP, a JSON API, events and metrics.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex serve
  curl -s 'http://127.0.0.1:7717/api/search?query=where+are+retries+counted'
  CORTEX_SERVE_TOKEN=… cortex serve --address 0.0.0.0

The server indexes in the background and follows changes. It prints its address and keeps it in .cortex/server.json while it runs. Without a token it answers only programs of the user who started it.")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) project: OfProject,
    /// Listen on this address; an address that other machines reach needs a token [default:
    /// 127.0.0.1]
    #[arg(long, value_name = "IP", value_parser = config::address)]
    address: Option<IpAddr>,
    /// Listen on this port, or on the next free one; 0 picks any free port [default: 7717]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Require this token as `Authorization: Bearer …`. Other users can see command lines, so
    /// prefer the variable
    #[arg(long, value_name = "T", env = "CORTEX_SERVE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    offered: Offered,
}

/// Selects whether a server indexes.
#[derive(clap::Args)]
pub(super) struct Following {
    /// Index and follow changes (the default)
    #[arg(long, overrides_with = "no_watch")]
    watch: bool,
    /// Serve the existing index only; other processes may still update it
    #[arg(long, overrides_with = "watch")]
    no_watch: bool,
}

impl Following {
    /// A server indexes what a command would index: every folder that is accepted as a project.
    pub(super) fn wanted(&self) -> bool {
        self.watch || !self.no_watch
    }
}

/// Selects the tools that a server offers.
#[derive(clap::Args)]
pub(super) struct Offered {
    /// Offer these groups of tools: search, graph, memory, edit (separate with commas) [default:
    /// search,graph,memory]
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    tools: Vec<String>,
    /// Let the edit tools change files that programs run or trust: hidden files, CLAUDE.md, CI
    /// pipelines
    #[arg(long)]
    pub(super) edit_trusted_files: bool,
    /// Refuse every call that changes a file or a memory
    #[arg(long)]
    pub(super) read_only: bool,
}

impl Offered {
    pub(super) fn tools(&self, project: &Project) -> Result<Vec<&'static Tool>> {
        let wanted = if self.tools.is_empty() { &project.config.tools } else { &self.tools };
        let named = |name: &String| {
            ToolGroup::named(name).with_context(|| {
                format!(
                    "there is no group of tools `{name}`; there are {}",
                    ToolGroup::names().join(", ")
                )
            })
        };
        let groups = match &**wanted {
            [] => vec![ToolGroup::Search, ToolGroup::Graph, ToolGroup::Memory],
            names => names.iter().map(named).collect::<Result<_>>()?,
        };
        Ok(tools::of_groups(&groups))
    }
}

/// Returns the token of this user, for a system that does not tell users apart.
fn kept_token() -> Result<Token> {
    let advice = "the system does not tell which programs are yours, and no token can be kept: set CORTEX_SERVE_TOKEN to one that clients must send";
    let state = config::state_home().context(advice)?;
    Token::kept(&state).context(advice)
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    serve_and_show(args, None)
}

/// A view of the page, whose address is printed in place of that of the server.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    /// Its path and query.
    pub(super) view: &'a str,
    pub(super) in_browser: bool,
}

/// Serves, and shows a view of the page as soon as it can be asked for.
pub(super) fn serve_and_show(args: &Args, shown: Option<Shown>) -> Result<Outcome> {
    let mut project = args.project.open()?;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let address = args.address.unwrap_or(project.config.address);
    let token = args.token.clone().or_else(|| project.config.token.clone());
    let mut access = Access::new(address, token.and_then(Token::chosen))?;
    let wanted = args.port.unwrap_or(project.config.port);
    let listener = serve::bind(address, wanted)?;
    let tells_users_apart = address.is_loopback() && serve::knows_own_programs(&listener);
    let kept = access.is_by_user() && !tells_users_apart;
    let kept = kept.then(kept_token).transpose()?;
    if let Some(token) = kept.clone() {
        access = Access::new(address, Some(token))?;
    }
    let access = access.telling_users_apart(tells_users_apart);
    let at = listener.local_addr()?;

    let changes = Changes::default();
    let follow = args.following.wanted();
    let tools = args.offered.tools(&project)?;
    let engine = Arc::new(Engine::for_server(project, follow, changes.callback())?);
    let keeps_questions = engine.project.config.activity;
    let pooled = Arc::new(Pooled::open(engine.clone(), changes));
    let calls = Calls::new(pooled, tools, keeps_questions).read_only(args.offered.read_only);
    let closing = CancellationToken::new();
    let layout = &engine.project.layout;
    let refuses_others = access.is_by_user();
    let passes = access.clone();
    let router = serve::router(App { calls, closing: closing.clone() }, access);
    let url = format!("http://{at}");
    let result = serve::run(async {
        // From here on a signal ends the server in an orderly way.
        let signals = Signals::catch()?;
        let is_project = layout.is_there();
        let file = is_project.then(|| ServerFile::write(layout, &url)).transpose();
        let _file = file.inspect_err(|e| tracing::warn!("{}: {e}", layout.server().display()));
        let root = layout.root();
        let note = config::state_home().map(|state| RunningNote::write(&state, root, at, &passes));
        let _note = note
            .transpose()
            .inspect_err(|e| tracing::warn!("`cortex open` will not find this server: {e}"));
        match shown {
            Some(Shown { view, in_browser }) => {
                let address = serve::page_address(at, view, passes.ticket().as_deref());
                line(&address).map_err(std::io::Error::other)?;
                if in_browser {
                    browser::show(&address);
                }
            }
            None => line(&url).map_err(std::io::Error::other)?,
        }
        if wanted != 0 && wanted != at.port() {
            tell!("port {wanted} is taken, so this is {}", at.port());
        }
        if let Some(token) = &kept {
            tell!(
                "the system does not tell which programs are yours, so clients must send `Authorization: Bearer …` with a token: {}",
                token.place()
            );
        }
        tell!(
            "open it in a browser; MCP is at {url}/mcp, the JSON API at {url}/api/openapi.json; Ctrl-C ends it"
        );
        serve::serve(listener, router, refuses_others, closing, signals).await
    });
    serve::let_go(engine);
    result.with_context(|| format!("{url} was not served"))?;
    Ok(Outcome::Done)
}
