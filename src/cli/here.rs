//! `cortex` without a command: says where the current project stands, and names the next step.

use std::path::Path;

use anyhow::Result;

use super::init;
use super::outcome::Outcome;
use super::render::{below_home, count, fitted, line, printable};
use crate::agents::{self, Agent, Entry, Home, Kind, Plan, Record, Request, Scope};
use crate::config;
use crate::engine::{AnswerFrom, Call, Engine, Project, ProjectError, StatusRequest};
use crate::store::RootError;

/// A step that is left: the command, and what it does.
type Step = (&'static str, String);

pub(super) fn run() -> Result<Outcome> {
    let (home, state, step) = match Project::open_anyway(None) {
        Ok(project) => {
            let home = init::home_of(Some(&project))?;
            let place = below_home(project.layout.root(), config::home().as_deref());
            let (state, step) = state(project);
            (home, format!("{state} ({place})"), step)
        }
        Err(ProjectError::Root(RootError::TooMuch { what, .. })) => {
            (init::home_of(None)?, format!("none, because this is {what}"), Some(elsewhere()))
        }
        Err(e) => return Err(e.into()),
    };
    let (connected, others) = found(&home)?;
    let step = match step {
        None => connecting(&home, &connected, &others)?,
        step => step,
    };
    let (command, effect) = step.unwrap_or_else(|| {
        ("cortex search \"where are errors handled\"", "or your own question".into())
    });
    row("project", &state)?;
    row("agents", &told(&connected, &others))?;
    // A command that is cut cannot be copied.
    line(&format!("{:<10}{command}   # {effect}", "next"))?;
    Ok(Outcome::Done)
}

fn row(name: &str, text: &str) -> Result<()> {
    line(&fitted(&printable(&format!("{name:<10}{text}"))))
}

/// Returns the step of a user who is in no folder with code.
fn elsewhere() -> Step {
    ("cd FOLDER", "a repository of yours; then `cortex` names the next step".into())
}

/// Says what is indexed. Returns also the step without which no question has an answer.
fn state(project: Project) -> (String, Option<Step>) {
    let layout = &project.layout;
    if !layout.is_indexed() && !layout.is_foreign() {
        let (n_files, _) = project.count_sources();
        let files = count(n_files, "file");
        return match (n_files, layout.is_project()) {
            (0, _) => ("no files to index".into(), Some(elsewhere())),
            (_, true) => {
                let effect = format!("reads {files}; your first question does it, too");
                (format!("{files}, no index yet"), Some(("cortex index", effect)))
            }
            (_, false) => {
                let effect = "makes this folder a project, and indexes it".into();
                (format!("{files}, no .git and no index"), Some(("cortex index", effect)))
            }
        };
    }
    let status = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))
        .ok()
        .and_then(|engine| engine.status(StatusRequest { verbose: false }, &Call::default()).ok());
    let Some(status) = status else {
        let effect = "says why, and what mends it".into();
        return ("the index cannot be read".into(), Some(("cortex doctor", effect)));
    };
    if status.chunks == 0 {
        let effect = "says which files are left out, and why".into();
        return ("the index is empty".into(), Some(("cortex status -v", effect)));
    }
    let age = match status.newer() {
        Some(newer) => format!("{newer}, so the next search updates it"),
        None => "up to date".into(),
    };
    let size = format!("{} in {}", count(status.files, "file"), count(status.chunks, "chunk"));
    (format!("{size}, {age}"), None)
}

/// Returns the agents of this machine: those that start Cortex, and the others.
fn found(home: &Home) -> Result<(Vec<Agent>, Vec<Agent>)> {
    let program = init::program(None, Scope::User, home)?;
    let is_connected = |agent: &Agent| {
        home.scopes()
            .iter()
            .any(|scope| agents::entries(agent, home, *scope, &program).iter().any(Entry::is_ours))
    };
    let found = agents::all().into_iter().filter(|agent| home.found(agent).is_some());
    Ok(found.partition(is_connected))
}

/// Says which agents are connected.
fn told(connected: &[Agent], others: &[Agent]) -> String {
    let names =
        |agents: &[Agent]| agents.iter().map(|agent| &*agent.name).collect::<Vec<_>>().join(", ");
    match (connected.is_empty(), others.is_empty()) {
        (true, true) => "none found on this machine".into(),
        (false, true) => format!("{} connected", names(connected)),
        (true, false) => format!("{} found, not connected", names(others)),
        (false, false) => format!("{} connected; {} not", names(connected), names(others)),
    }
}

/// Returns the step that connects agents. There is none if one is connected: the user chose it.
fn connecting(home: &Home, connected: &[Agent], others: &[Agent]) -> Result<Option<Step>> {
    if !connected.is_empty() || others.is_empty() {
        return Ok(None);
    }
    let request = Request {
        agents: others.iter().collect(),
        scope: Scope::User,
        kinds: vec![Kind::Server],
        program: init::program(None, Scope::User, home)?,
        remove: false,
    };
    let record = Record::load(&init::record_dir()?);
    let plan = Plan::new(&request, &agents::all(), home, &record);
    Ok(Some(if plan.changes.is_empty() {
        ("cortex doctor", "says why they cannot be connected".into())
    } else {
        ("cortex init", "connects them; it shows what changes, and asks".into())
    }))
}

/// Says after the first index of a project what a newcomer can do next.
pub(super) fn after_first_index(project: &Path) -> Result<String> {
    let home = Home { project: project.to_path_buf(), ..init::home_of(None)? };
    let (connected, others) = found(&home)?;
    Ok(match connecting(&home, &connected, &others)? {
        Some(("cortex init", _)) => {
            "`cortex init` connects coding agents; `cortex map` says what this repository is."
                .into()
        }
        _ => "`cortex map` says what this repository is.".into(),
    })
}
