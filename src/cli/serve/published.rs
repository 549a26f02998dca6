//! `cortex serve --from`: serves the published repositories of a team. It keeps nothing that cannot be
//! read again, so any number of these servers can stand behind a load balancer.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::cli::outcome::Outcome;
use crate::cli::render::line;
use crate::cli::temporary::PrivateFolder;
use crate::config;
use crate::dir::Dir;
use crate::engine::{Changes, Engine, Pooled, Project, Team};
use crate::serve::{self, Access, App, Calls, Front, Signals, Token};
use crate::tools::Tool;

/// The tools that answer of published repositories.
const TOOLS: [&str; 4] = ["cortex_search", "cortex_read", "cortex_grep", "cortex_status"];
/// Longest file of clients, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Shortest token of a client: one that cannot be guessed.
const MIN_TOKEN: usize = 16;

/// The clients of a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clients {
    client: Vec<Client>,
}

/// One of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    /// For people.
    #[serde(rename = "name")]
    _name: Option<String>,
    token: String,
    /// Names and globs of the repositories that it may see.
    repos: Vec<String>,
}

/// What is served, and to whom.
pub(super) struct Served<'a> {
    /// The depot's URL, or `team` for that of the settings.
    pub(super) from: &'a str,
    pub(super) address: Option<IpAddr>,
    pub(super) port: Option<u16>,
    pub(super) token: Option<String>,
    pub(super) clients: Option<&'a PathBuf>,
}

pub(super) fn run(served: Served) -> Result<Outcome> {
    // The server has no project, and its tools ask for one: it is empty.
    let folder = PrivateFolder::new()?;
    let mut project = Project::open_as_project(Some(folder.dir.path()))?;
    let config = project.config.clone();
    let url = match served.from {
        "team" => config
            .team_url
            .clone()
            .context("--from team: no URL is in CORTEX_TEAM_URL or team.url")?,
        url => url.to_string(),
    };
    project.config.team_url = None;
    let mut team = Team::open(&url)?;
    team.asks_all = true;
    team.names().context("the depot cannot be asked")?;

    let address = served.address.unwrap_or(config.address);
    let wanted = served.port.unwrap_or(config.port);
    let clients = served.clients.map(|file| read(file)).transpose()?;
    let token = served.token.or(config.token);
    ensure!(
        clients.is_none() || token.is_none(),
        "--clients names the tokens, so leave --token, CORTEX_SERVE_TOKEN and serve.token out"
    );
    let first = clients.as_ref().and_then(|clients| clients.client.first());
    let token = first.map(|client| client.token.clone()).or(token).and_then(Token::chosen);
    let state = config::state_home();
    let Front { listener, access, kept } = Front::open(address, wanted, token, state.as_deref())?;
    let at = listener.local_addr()?;

    let changes = Changes::default();
    let engine = Arc::new(Engine::for_server(project, false, changes.callback())?);
    let pooled = Arc::new(Pooled::open(engine.clone(), changes));
    let tools: Vec<&'static Tool> = TOOLS.into_iter().filter_map(Tool::named).collect();
    let closing = CancellationToken::new();
    let refuses_others = access.is_by_user();
    let router = |team: Team, access: Access| {
        let calls = Calls::new(pooled.clone(), tools.clone(), false).of_team(team);
        serve::router(App { calls, closing: closing.clone() }, access)
    };
    let router = match clients {
        None => router(team, access),
        Some(Clients { client }) => {
            let mut routers = Vec::new();
            for client in client {
                let token = Token::of_client(client.token).context("a client has no token")?;
                let team = team.only(&client.repos)?;
                let access = Access::new(address, Some(token.clone()))?;
                routers.push((token, router(team, access)));
            }
            serve::of_clients(routers)
        }
    };
    let url = format!("http://{at}");
    let result = serve::run(async {
        let mut signals = Signals::catch()?;
        line(&url).map_err(std::io::Error::other)?;
        if let Some(token) = &kept {
            tell!("clients must send `Authorization: Bearer …` with a token: {}", token.place());
        }
        tell!("MCP is at {url}/mcp, the JSON API at {url}/api/openapi.json; Ctrl-C ends it");
        serve::serve(listener, router, refuses_others, closing.clone(), signals.wait()).await
    });
    serve::let_go(engine);
    result.with_context(|| format!("{url} was not served"))?;
    Ok(Outcome::Done)
}

/// Reads the file of clients.
fn read(file: &Path) -> Result<Clients> {
    let shown = file.display();
    let file = std::path::absolute(file).with_context(|| format!("--clients {shown}"))?;
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        bail!("--clients {shown}: this is no file");
    };
    let dir = Dir::open(folder).with_context(|| format!("--clients {shown}: it cannot be read"))?;
    let text = dir.read_text(name, MAX_BYTES);
    let text = text.with_context(|| format!("--clients {shown}: it cannot be read"))?;
    let advice = "write `[[client]]` with `token = \"…\"` and `repos = [\"shop/*\"]` for each";
    let clients: Clients =
        toml::from_str(&text).with_context(|| format!("--clients {shown}: {advice}"))?;
    ensure!(!clients.client.is_empty(), "--clients {shown}: it names no client: {advice}");
    for (at, client) in clients.client.iter().enumerate() {
        ensure!(
            client.token.len() >= MIN_TOKEN,
            "--clients {shown}: the token of client {} is shorter than {MIN_TOKEN} characters: `openssl rand -hex 32` makes one",
            at + 1
        );
        let is_twice = clients.client[..at].iter().any(|other| other.token == client.token);
        ensure!(!is_twice, "--clients {shown}: client {} has the token of another one", at + 1);
    }
    Ok(clients)
}
