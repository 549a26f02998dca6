//! The coding agents of this machine, as commands find them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::agents::{self, Agent, Home, Kind, Plan, Program, Record, Request, Scope};
use crate::config;
use crate::engine::Project;

/// A step that a user can take next: the command, and what it does.
pub(super) type Step = (&'static str, String);

/// The command that connects agents.
const INIT: &str = "cortex init";

/// Returns the places that the paths of agents begin with. Without a project, there are only those of
/// the user.
pub(super) fn home_of(project: Option<&Project>) -> Result<Home> {
    let home = config::home()
        .context("cannot determine your home directory (set HOME to its absolute path)")?;
    let config = if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        config::config_home().unwrap_or_else(|| home.join(".config"))
    };
    let project = project.map_or_else(|| home.clone(), |p| p.layout.root().to_path_buf());
    Ok(Home { home, config, project, path: std::env::var_os("PATH") })
}

/// Returns the directory that remembers what the files of agents held.
pub(super) fn record_dir() -> Result<PathBuf> {
    let state = config::state_home().context("cannot determine your state directory (set HOME)")?;
    Ok(state.join("cortex/agents"))
}

/// Returns the command that agents start. Agents often have another `PATH` than a shell, so it is
/// an absolute path. In files that others share it is our second name, if that leads here.
pub(super) fn program(given: Option<&str>, scope: Scope, home: &Home) -> Result<Program> {
    if let Some(given) = given {
        let mut words = given.split_whitespace().map(String::from);
        let path = words.next().context("--program is empty: name a command")?;
        return Ok(Program { path, args: words.collect() });
    }
    let own = std::env::current_exe().context("cannot determine the path of this program")?;
    let path = match home.second_name(&own) {
        Some(name) if scope == Scope::Project => name.to_string(),
        _ => own.to_str().context("the path of this program is not UTF-8: give --program")?.into(),
    };
    Ok(Program { path, args: Vec::new() })
}

/// Returns what `cortex init` would do to connect agents for the user.
pub(super) fn connecting(
    agents: Vec<&Agent>,
    known: &[Agent],
    home: &Home,
    record: &Record,
    program: Program,
) -> Plan {
    let (scope, kinds) = (Scope::User, vec![Kind::Server]);
    Plan::new(&Request { agents, scope, kinds, program, remove: false }, known, home, record)
}

/// The agents of this machine.
pub(super) struct Found {
    /// Those that start Cortex.
    connected: Vec<Agent>,
    others: Vec<Agent>,
}

impl Found {
    /// Looks for the agents, and reads their files.
    pub(super) fn on(home: &Home) -> Result<Self> {
        let program = program(None, Scope::User, home)?;
        let is_connected = |agent: &Agent| {
            let entries_of = |scope: &Scope| agents::entries(agent, home, *scope, &program);
            home.scopes().iter().flat_map(entries_of).any(|entry| entry.is_ours())
        };
        let found = agents::all().into_iter().filter(|agent| home.found(agent).is_some());
        let (connected, others) = found.partition(is_connected);
        Ok(Self { connected, others })
    }

    /// Says which agents are connected.
    pub(super) fn told(&self) -> String {
        let names = |agents: &[Agent]| {
            agents.iter().map(|agent| &*agent.name).collect::<Vec<_>>().join(", ")
        };
        let (connected, others) = (names(&self.connected), names(&self.others));
        match (connected.is_empty(), others.is_empty()) {
            (true, true) => "none found on this machine".into(),
            (false, true) => format!("{connected} connected"),
            (true, false) => format!("{others} found, not connected"),
            (false, false) => format!("{connected} connected; {others} not"),
        }
    }

    /// Returns the step that connects agents. There is none if one is connected: the user chose it.
    pub(super) fn step(&self, home: &Home) -> Result<Option<Step>> {
        if !self.connected.is_empty() || self.others.is_empty() {
            return Ok(None);
        }
        let program = program(None, Scope::User, home)?;
        let record = Record::load(&record_dir()?);
        let others = self.others.iter().collect();
        let plan = connecting(others, &agents::all(), home, &record, program);
        Ok(Some(if plan.changes.is_empty() {
            ("cortex doctor", "says why they cannot be connected".into())
        } else {
            (INIT, "connects them; it shows what changes, and asks".into())
        }))
    }
}

/// Says after the first index of a project what a newcomer can do next.
pub(super) fn after_first_index(project: &Path) -> Result<String> {
    let home = Home { project: project.to_path_buf(), ..home_of(None)? };
    let map = "`cortex map` says what this repository is.";
    Ok(match Found::on(&home)?.step(&home)? {
        Some((INIT, _)) => format!("`{INIT}` connects coding agents; {map}"),
        _ => map.into(),
    })
}
