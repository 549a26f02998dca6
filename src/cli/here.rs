//! `cortex` without a command: says what can be done in the current directory.

use anyhow::Result;

use super::init;
use super::outcome::Outcome;
use super::render::{count, fitted, line, printable};
use crate::agents::{self, Agent, Home, Scope, wired};
use crate::engine::{AnswerFrom, Call, Engine, Project, StatusRequest};

pub(super) fn run() -> Result<Outcome> {
    line("Cortex finds code by words, by meaning and by its call graph, offline.")?;
    let project = match Project::open_anyway(None) {
        Ok(project) => project,
        Err(e) => {
            line(&format!("here      {}", printable(&e.to_string())))?;
            line(
                "next      cd into a repository, then: cortex search \"where are retries counted\"",
            )?;
            return Ok(Outcome::Done);
        }
    };
    let row = |text: String| line(&fitted(&printable(&text)));
    row(format!("project   {}", project.layout.root().display()))?;
    let home = init::home_of(&project)?;
    row(format!("index     {}", index(project)?))?;
    row(format!("agents    {}", connected(&home)))?;
    line("try       cortex search \"where are retries counted\"   # a question, or a name")?;
    line("          cortex map                                  # what this repository is")?;
    line("          cortex graph callers NAME                   # who calls a function")?;
    line("          cortex init                                 # connect coding agents")?;
    line("help      cortex --help; cortex doctor checks the installation")?;
    Ok(Outcome::Done)
}

/// Says what is indexed.
fn index(project: Project) -> Result<String> {
    if !project.layout.is_indexed() && !project.layout.is_foreign() {
        let (n_files, _) = project.count_sources();
        if !project.layout.is_project() {
            return Ok("none: this is no project; `cortex index` makes it one".into());
        }
        return Ok(format!("none yet; the first search indexes {}", count(n_files, "file")));
    }
    let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
    let status = engine.status(StatusRequest { verbose: false }, &Call::default())?;
    let age = match status.newer() {
        Some(newer) => format!("; {newer}, so the next search updates it"),
        None => ", up to date".into(),
    };
    Ok(format!("{} in {}{age}", count(status.files, "file"), count(status.chunks, "chunk")))
}

/// Says which agents are connected, and which could be.
fn connected(home: &Home) -> String {
    let found: Vec<Agent> =
        agents::all().into_iter().filter(|agent| home.found(agent).is_some()).collect();
    if found.is_empty() {
        return "none found on this machine".into();
    }
    let is_wired = |agent: &Agent| {
        [Scope::User, Scope::Project].iter().any(|scope| !wired(agent, home, *scope).is_empty())
    };
    let (with, without): (Vec<&Agent>, Vec<&Agent>) =
        found.iter().partition(|agent| is_wired(agent));
    let names =
        |agents: &[&Agent]| agents.iter().map(|agent| &*agent.name).collect::<Vec<_>>().join(", ");
    match (with.is_empty(), without.is_empty()) {
        (false, true) => format!("{} connected", names(&with)),
        (true, _) => format!("{} found, not connected: cortex init", names(&without)),
        _ => format!("{} connected; {} not: cortex init", names(&with), names(&without)),
    }
}
