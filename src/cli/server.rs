//! `cortex server`: the one server of this machine, which all agents of a user share.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Subcommand;

use super::outcome::Outcome;
use super::render::{count, json, line, printable};
use crate::config::{self, Config};
use crate::engine::PoolLimits;
use crate::platform::detach;
use crate::serve::{Host, ServerPlace, ServerStatus, Want};
use crate::work::compute_threads;

/// Most projects that are open at a time. Each has some eight threads, four inotify instances of the
/// 128 that Linux gives a user, and a watch for each directory.
const MOST_OPEN: usize = 24;
/// How long the server may take until it listens, or until it has ended.
const PATIENCE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(5);

/// Show, start or stop the server that all agents of this user share.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex server status
  cortex server stop

`cortex mcp` starts the server when an agent needs it. It serves all projects of this user: a project opens with its first question and is closed when it is not asked for long, or when memory is short (serve.idle_minutes, serve.memory_mb).")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Show the servers of this user, and the projects that they serve
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End the servers of this user; the next question of an agent starts one again
    Stop,
    /// Start the server in the background, unless it runs
    Start,
    /// Run the server in the foreground, for systemd or launchd
    Run,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    match args.action {
        Action::Status { json } => status(json),
        Action::Stop => stop(),
        Action::Start => start(),
        Action::Run => host(),
    }
}

/// Returns the place of the server that answers as this process would.
pub(super) fn place() -> Result<ServerPlace> {
    let program = std::env::current_exe().context("cannot find the program's own file")?;
    let settings = config::settings_of_environment();
    let mut failed = None;
    for home in config::socket_homes() {
        match ServerPlace::of(&home, &program, &settings) {
            Ok(place) => return Ok(place),
            Err(e) => failed = Some(e),
        }
    }
    Err(failed.map_or_else(|| anyhow!("there is no home directory for the socket"), Into::into))
}

fn host() -> Result<Outcome> {
    let user = config::user_file();
    let config = Config::load_or_default(None, user.as_deref(), config::environment())?;
    let place = place()?;
    compute_threads();
    let limits = PoolLimits { bytes: config.shared_bytes, idle: config.idle, open: MOST_OPEN };
    Host::new(limits, config::state_home())
        .serve(&place)
        .with_context(|| format!("{} was not served", place.socket().display()))?;
    Ok(Outcome::Done)
}

fn start() -> Result<Outcome> {
    let place = place()?;
    if place.ask(&Want::Status).is_ok() {
        return Ok(Outcome::Done);
    }
    let mut server = Command::new(std::env::current_exe()?);
    server.args(["server", "run"]).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    let mut server = detach(&mut server).spawn()?;
    let start = Instant::now();
    while place.ask(&Want::Status).is_err() {
        if let Some(ended) = server.try_wait()?
            && !ended.success()
        {
            bail!("the server ended: {ended}");
        }
        if start.elapsed() > PATIENCE {
            bail!("the server does not answer after {} s", PATIENCE.as_secs());
        }
        thread::sleep(POLL);
    }
    Ok(Outcome::Done)
}

/// Returns the servers that run.
pub(super) fn running() -> Vec<(ServerPlace, ServerStatus)> {
    let places = config::socket_homes().into_iter().filter_map(|home| ServerPlace::all(&home).ok());
    let asked = |place: ServerPlace| {
        let (_, status) = place.ask(&Want::Status).ok()?;
        Some((place, status?))
    };
    places.flatten().filter_map(asked).collect()
}

fn status(as_json: bool) -> Result<Outcome> {
    let servers = running();
    if as_json {
        let servers: Vec<_> = servers.iter().map(|(_, status)| status).collect();
        json(&serde_json::json!({ "servers": servers }))?;
        return Ok(Outcome::of(!servers.is_empty()));
    }
    if servers.is_empty() {
        line("no server runs; the first agent that needs it starts it")?;
        return Ok(Outcome::NothingFound);
    }
    let own = place().ok().map(|place| place.socket());
    for (place, server) in &servers {
        let other = if own == Some(place.socket()) {
            ""
        } else {
            ", with other settings or of another version"
        };
        line(&format!(
            "server    {} (process {}), up {}{other}",
            server.version,
            server.pid,
            time(server.uptime_s)
        ))?;
        let held = server.resident_bytes.map_or_else(String::new, |b| format!("{} of ", b >> 20));
        line(&format!(
            "memory    {held}{} MB; it ends after {} without an agent",
            server.budget_bytes >> 20,
            time(server.idle_s)
        ))?;
        line(&format!("log       {}", printable(&place.log().display().to_string())))?;
        for project in &server.projects {
            let state = if project.open {
                count(project.chunks, "chunk")
            } else {
                "closed until the next question".into()
            };
            line(&format!(
                "project   {}: {}, {state}, asked {} ago{}",
                printable(&project.root.display().to_string()),
                count(project.agents, "agent"),
                time(project.idle_s),
                project.url.as_ref().map_or_else(String::new, |url| format!(", page {url}"))
            ))?;
        }
    }
    Ok(Outcome::Done)
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

fn stop() -> Result<Outcome> {
    let servers = running();
    if servers.is_empty() {
        line("no server runs")?;
        return Ok(Outcome::NothingFound);
    }
    for (place, server) in servers {
        place.ask(&Want::Stop)?;
        let start = Instant::now();
        while place
            .ask(&Want::Status)
            .is_ok_and(|(_, now)| now.is_some_and(|s| s.pid == server.pid))
        {
            if start.elapsed() > PATIENCE {
                bail!("process {} does not end", server.pid);
            }
            thread::sleep(POLL);
        }
        line(&format!("stopped process {}", server.pid))?;
    }
    Ok(Outcome::Done)
}
