//! `cortex serve`: serves the programs of this machine over HTTP.

mod published;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use tokio_util::sync::CancellationToken;

use self::published::Served;
use super::args::OfProject;
use super::browser;
use super::outcome::Outcome;
use super::render::line;
use super::server::place;
use crate::config::{self, Config};
use crate::engine::{Changes, Engine, Pooled, Project};
use crate::serve::{
    self, App, Calls, Front, Given, RequestedServer, Running, RunningNote, Signals, Token, Want,
};
use crate::store::ServerFile;
use crate::tools::{self, Tool, ToolGroup};

/// Serve agents and programs over HTTP: MCP, a JSON API, events and metrics.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex serve
  cortex serve --detach
  cortex serve --from postgres://me@db.example.com/cortex --clients clients.toml
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
    /// Serve in the background, by the server of this machine, and end this command; `cortex server
    /// stop` ends that
    #[arg(long)]
    detach: bool,
    /// Require this token as `Authorization: Bearer …`. Other users can see command lines, so
    /// prefer the variable
    #[arg(long, value_name = "T", env = "CORTEX_SERVE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Serve what is published to this depot, and no project: `postgres://user@host/database` or
    /// `milvus://host:port/database`. Pass a password by `CORTEX_TEAM_URL`; then `--from team`
    #[arg(long, value_name = "URL", conflicts_with_all = ["detach", "directory", "watch", "no_watch", "tools", "edit_trusted_files", "read_only"])]
    from: Option<String>,
    /// Let only the clients in this file ask: it has a token and globs of repositories for each
    #[arg(long, value_name = "FILE", requires = "from")]
    clients: Option<PathBuf>,
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

/// Selects the tools that a server lists.
#[derive(clap::Args)]
pub(super) struct Offered {
    /// List these groups of tools to agents: core, search, graph, memory, edit, all (separate with
    /// commas). Other tools can be called by name, but those that edit files only if listed [default:
    /// core]
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
            [] => vec![ToolGroup::Core],
            names => names.iter().map(named).collect::<Result<_>>()?,
        };
        Ok(tools::of_groups(&groups))
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    if let Some(from) = &args.from {
        return published::run(Served {
            from,
            address: args.address,
            port: args.port,
            token: args.token.clone(),
            clients: args.clients.as_ref(),
        });
    }
    if args.detach {
        line(&in_background(args, &args.project.open_or_ask()?)?.url())?;
        return Ok(Outcome::Done);
    }
    serve_and_show(args, None)
}

impl Args {
    /// Whether the server of the machine can serve as wanted: it follows changes, and what one user
    /// of a project allows does not hold for the others.
    pub(super) fn is_for_all(&self) -> bool {
        let Offered { edit_trusted_files, read_only, .. } = self.offered;
        self.following.wanted() && !edit_trusted_files && !read_only
    }
}

/// Returns what the user asks of a server: by flags, variables, and settings that decide who may do
/// what.
fn asked(args: &Args, project: &Project) -> Result<RequestedServer> {
    let Config { address, port, token, tools, .. } = &project.config;
    let is_set = |key: &str| project.config.is_set(key);
    let is_chosen = !args.offered.tools.is_empty() || !tools.is_empty();
    Ok(RequestedServer {
        address: args.address.or_else(|| is_set("serve.address").then_some(*address)),
        port: args.port.or_else(|| is_set("serve.port").then_some(*port)),
        token: args.token.clone().or_else(|| token.clone()).filter(|token| !token.is_empty()),
        tools: is_chosen
            .then(|| args.offered.tools(project).map(|tools| names(&tools)))
            .transpose()?,
        read_only: args.offered.read_only,
        edit_trusted: args.offered.edit_trusted_files,
        no_watch: !args.following.wanted(),
    })
}

fn names(tools: &[&'static Tool]) -> BTreeSet<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

/// Returns the server of the project, if one runs.
///
/// # Errors
/// [`InTheWay`](crate::serve::InTheWay) if it does not give what the user asks for.
pub(super) fn running(args: &Args, project: &Project) -> Result<Option<Running>> {
    let Some(state) = config::state_home() else { return Ok(None) };
    let running = Running::of(&state, project.layout.root());
    if let Some(running) = &running {
        running.check(&asked(args, project)?)?;
    }
    Ok(running)
}

/// Returns where the project is served. If it is not, the server of this machine begins to.
///
/// # Errors
/// [`InTheWay`](crate::serve::InTheWay) if a server runs that does not give what the user asks for.
pub(super) fn in_background(args: &Args, project: &Project) -> Result<Running> {
    ensure!(
        args.is_for_all(),
        "--detach cannot be combined with --no-watch, --read-only or --edit-trusted-files"
    );
    if let Some(running) = running(args, project)? {
        return Ok(running);
    }
    place()?.ask_or_start(&Want::Http {
        root: project.layout.root().to_path_buf(),
        tools: names(&args.offered.tools(project)?).into_iter().collect(),
        address: args.address.unwrap_or(project.config.address),
        port: args.port.unwrap_or(project.config.port),
        token: args.token.clone().or_else(|| project.config.token.clone()),
    })?;
    // Another command may have been first, and have asked for something else.
    let running = running(args, project)?.context("the server of this machine does not answer")?;
    if let Some((wanted, given)) = running.other_port() {
        tell!("port {wanted} is taken, so this is {given}");
    }
    Ok(running)
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
    let mut project = args.project.open_or_ask()?;
    project.config.edit_trusted |= args.offered.edit_trusted_files;
    let address = args.address.unwrap_or(project.config.address);
    let token = args.token.clone().or_else(|| project.config.token.clone());
    let wanted = args.port.unwrap_or(project.config.port);
    let token = token.and_then(Token::chosen);
    let state = config::state_home();
    let Front { listener, access, kept } = Front::open(address, wanted, token, state.as_deref())?;
    let at = listener.local_addr()?;

    let changes = Changes::default();
    let follow = args.following.wanted();
    let tools = args.offered.tools(&project)?;
    let engine = Arc::new(Engine::for_server(project, follow, changes.callback())?);
    let keeps_questions = engine.project.config.activity;
    let given = Given {
        address,
        port: wanted,
        tools: names(&tools),
        read_only: args.offered.read_only,
        edit_trusted: engine.project.config.edit_trusted,
        follows: follow,
        is_shared: false,
    };
    let pooled = Arc::new(Pooled::open(engine.clone(), changes));
    let calls = Calls::new(pooled, tools, keeps_questions).with_unlisted();
    let calls = calls.read_only(args.offered.read_only);
    let closing = CancellationToken::new();
    let layout = &engine.project.layout;
    let refuses_others = access.is_by_user();
    let passes = access.clone();
    let router = serve::router(App { calls, closing: closing.clone() }, access);
    let url = format!("http://{at}");
    let result = serve::run(async {
        // From here on a signal ends the server in an orderly way.
        let mut signals = Signals::catch()?;
        let is_project = layout.is_there();
        let file = is_project.then(|| ServerFile::write(layout, &url)).transpose();
        let _file = file.inspect_err(|e| tracing::warn!("{}: {e}", layout.server().display()));
        let root = layout.root();
        let note = state.map(|state| RunningNote::write(&state, root, at, &passes, given));
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
        serve::serve(listener, router, refuses_others, closing, signals.wait()).await
    });
    serve::let_go(engine);
    result.with_context(|| format!("{url} was not served"))?;
    Ok(Outcome::Done)
}
