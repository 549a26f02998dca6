//! `cortex doctor`: checks everything that an answer depends on, and names the command that mends it.

use std::fmt::Display;
use std::path::Path;

use anyhow::{Context as _, Result};
use console::style;
use serde::Serialize;

use super::args::OfProject;
use super::found::{self, home_of, record_dir};
use super::init::Shown;
use super::outcome::Outcome;
use super::render::{self, count, line, printable};
use super::server;
use crate::agents::{self, Agent, Entry, Home, PROGRAMS, Plan, Record, Scope, unreadable};
use crate::config;
use crate::engine::{AnswerFrom, Call, Engine, Project, ProjectError, StatusRequest};
use crate::platform;
use crate::store;

/// Check the installation, the agents, the index, watches, permissions and disk space.
///
/// Each line is one fact and, after an arrow, the command or the change that mends it. The exit code is 1
/// if anything is wrong.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex doctor")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    /// Print the checks as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

/// Less free space is too little for an index.
const LEAST_FREE: u64 = 1 << 30;
/// The limit of watches that editors advise.
const USUAL_WATCHES: usize = 1 << 19;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grade {
    Good,
    /// It works, and something is to know.
    Note,
    Bad,
}

/// What a check found.
#[derive(Debug, Serialize)]
struct Check {
    subject: &'static str,
    grade: Grade,
    text: String,
    /// The command, or the change, that mends it, unless the text names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Default, Serialize)]
struct Report {
    checks: Vec<Check>,
}

impl Report {
    fn good(&mut self, subject: &'static str, text: impl Display) {
        self.add(subject, Grade::Good, text, None);
    }

    fn note(&mut self, subject: &'static str, text: impl Display, remedy: &str) {
        self.add(subject, Grade::Note, text, Some(remedy));
    }

    fn bad(&mut self, subject: &'static str, text: impl Display, remedy: &str) {
        self.add(subject, Grade::Bad, text, Some(remedy));
    }

    /// Adds a message that says itself what to do.
    fn told(&mut self, subject: &'static str, grade: Grade, text: impl Display) {
        self.add(subject, grade, text, None);
    }

    fn add(
        &mut self,
        subject: &'static str,
        grade: Grade,
        text: impl Display,
        remedy: Option<&str>,
    ) {
        let (text, remedy) = (text.to_string(), remedy.map(String::from));
        self.checks.push(Check { subject, grade, text, remedy });
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut report = Report::default();
    let mut unusable = None;
    if let Err(e) = args.project.open() {
        match e.downcast_ref::<ProjectError>() {
            Some(why) if why.is_no_project() => report.told("project", Grade::Note, why),
            Some(ProjectError::Config(why)) => unusable = Some(why.to_string()),
            _ => report.told("project", Grade::Bad, format!("{e:#}")),
        }
    }
    if let Some(why) = &unusable {
        report.bad("settings", why, "correct it there, or take it out");
    }
    match args.project.open_anyway() {
        Ok(project) => {
            settings(&mut report, &project, unusable.as_deref());
            programs(&mut report, &home_of(Some(&project))?)?;
            check(&mut report, project);
        }
        Err(_) => programs(&mut report, &home_of(None)?)?,
    }
    if args.json {
        render::json(&report)?;
    } else {
        print(&report)?;
    }
    let is_good = report.checks.iter().all(|check| check.grade != Grade::Bad);
    Ok(Outcome::of(is_good))
}

fn print(report: &Report) -> Result<()> {
    for check in &report.checks {
        let mark = match check.grade {
            Grade::Good => style("ok  ").green(),
            Grade::Note => style("note").yellow(),
            Grade::Bad => style("BAD ").red().bold(),
        };
        let remedy = check.remedy.as_ref().map_or_else(String::new, |r| format!(" -> {r}"));
        let text = printable(&format!("{}{remedy}", check.text));
        line(&format!("{mark} {:<10} {text}", check.subject))?;
    }
    Ok(())
}

/// What the project alone decides.
fn check(report: &mut Report, project: Project) {
    server(report, &project);
    place(report, &project);
    watches(report, &project);
    index(report, project);
}

/// The settings that are left out, but for the file that `unusable` names: that was told.
fn settings(report: &mut Report, project: &Project, unusable: Option<&str>) {
    let is_told = |ignored: &&String| unusable.is_some_and(|why| ignored.ends_with(why));
    for ignored in project.config.ignored.iter().filter(|ignored| !is_told(ignored)) {
        report.told("settings", Grade::Note, ignored);
    }
}

/// This program, and the agents that start it.
fn programs(report: &mut Report, home: &Home) -> Result<()> {
    let own = std::env::current_exe().context("cannot determine the path of this program")?;
    program(report, home, &own);
    agents(report, home)
}

/// Which program answers to our names.
fn program(report: &mut Report, home: &Home, own: &Path) {
    let shown = own.display();
    report.good("program", format!("cortex {} at {shown}", env!("CARGO_PKG_VERSION")));
    let others = agents::others_on_path(home, own);
    let folder = own.parent().unwrap_or(Path::new("/")).display();
    let add = match own.file_name() {
        Some(name) if PROGRAMS.iter().any(|known| name == *known) => {
            format!("put {folder} first in PATH")
        }
        _ => format!("call this program cortex, and put {folder} first in PATH"),
    };
    match others.first {
        None => report.note("program", "no cortex is on PATH", &add),
        Some(first) if others.foreign.contains(&first) => {
            let text = format!("`cortex` starts another program: {}", first.display());
            let remedy = match home.second_name(own) {
                Some(name) => format!("use `{name}`, the second name of this one"),
                None => add,
            };
            report.note("program", text, &remedy);
        }
        Some(_) => {}
    }
}

/// The agents of this machine, and whether they start this program.
fn agents(report: &mut Report, home: &Home) -> Result<()> {
    let shown = Shown(home);
    let known = agents::all();
    let record = Record::load(&record_dir()?);
    let own = found::program(None, Scope::User, home)?;
    let mut n_found = 0;
    let mut verified: Vec<(Entry, Option<String>)> = Vec::new();
    for agent in known.iter().filter(|agent| home.found(agent).is_some()) {
        n_found += 1;
        let connecting = |entry: Option<&Entry>| {
            let plan = found::connecting(vec![agent], &known, home, &record, own.clone());
            remedy(&plan, agent, entry, &shown)
        };
        let mut entries = Vec::new();
        let mut is_readable = true;
        for scope in home.scopes() {
            let program = found::program(None, *scope, home)?;
            for refused in unreadable(agent, home, *scope) {
                is_readable = false;
                let path = shown.path(&refused.path);
                let text = format!("{}: cannot read {path}: {}", agent.name, refused.why);
                let init = command(agent, *scope);
                report.bad("agent", text, &format!("repair {path}, then: {init}"));
            }
            entries.extend(agents::entries(agent, home, *scope, &program));
        }
        if entries.is_empty() && is_readable {
            let text = format!("{} is not connected", agent.name);
            report.note("agent", text, &connecting(None));
        }
        for entry in entries {
            let is_same = |known: &Entry| {
                let Entry { command, scope, is_as_written, .. } = known;
                (command, scope, is_as_written)
                    == (&entry.command, &entry.scope, &entry.is_as_written)
            };
            let known = verified.iter().find(|(known, _)| is_same(known));
            let error = match known {
                Some((_, error)) => error.clone(),
                None => {
                    let error = entry.verify(home).err();
                    verified.push((entry.clone(), error.clone()));
                    error
                }
            };
            let path = shown.path(&entry.path);
            match error {
                None => report.good("agent", format!("{}: {path} starts it", agent.name)),
                Some(why) => report.bad(
                    "agent",
                    format!("{}: {path}: `{}`: {why}", agent.name, entry.command.join(" ")),
                    &connecting(Some(&entry)),
                ),
            }
        }
    }
    if n_found == 0 {
        report.good("agent", "no coding agent is found on this machine");
    }
    Ok(())
}

/// Returns the command that connects an agent.
fn command(agent: &Agent, scope: Scope) -> String {
    let scope = if scope == Scope::Project { " --scope project" } else { "" };
    format!("cortex init --agents {}{scope}", agent.id)
}

/// Returns what connects an agent again, or for the first time. `plan` is what `init` would do for the
/// user: it leaves alone what it did not write, and has nothing to do where the file is right and the
/// program fails.
fn remedy(plan: &Plan, agent: &Agent, entry: Option<&Entry>, shown: &Shown) -> String {
    let take_out = |path: &Path, scope| {
        let path = shown.path(path);
        format!("take the entry `cortex` out of {path}, then: {}", command(agent, scope))
    };
    match (entry, plan.refused.first()) {
        (Some(entry), _) if entry.scope == Scope::Project => take_out(&entry.path, Scope::Project),
        (Some(entry), Some(_)) => take_out(&entry.path, Scope::User),
        (None, Some(refused)) => format!("in {}: {}", shown.path(&refused.path), refused.why),
        (Some(entry), None) if plan.changes.is_empty() => {
            format!("run `{}`: it says why it fails", entry.command.join(" "))
        }
        _ => command(agent, Scope::User),
    }
}

/// Whether agents can reach the one server of this machine.
fn server(report: &mut Report, project: &Project) {
    if !project.config.shared {
        return report.good("server", "each agent has one of its own (serve.shared = false)");
    }
    let own = match server::place() {
        Ok(place) => place,
        Err(e) => {
            let text = format!("{e:#}; until that is mended, each agent has a server of its own");
            return report.told("server", Grade::Bad, text);
        }
    };
    let servers = server::running();
    match servers.iter().find(|(place, _)| place.socket() == own.socket()) {
        Some((_, server)) => {
            let agents = server.projects.iter().map(|project| project.agents).sum();
            report.good(
                "server",
                format!(
                    "process {} serves {} to {}",
                    server.pid,
                    count(server.projects.len(), "project"),
                    count(agents, "agent")
                ),
            );
        }
        None => report.good("server", "it starts with the first agent"),
    }
}

/// The place of the index: permissions and space.
fn place(report: &mut Report, project: &Project) {
    let layout = &project.layout;
    let root = layout.root().display().to_string();
    // Where no project is, the first line says what to do.
    if layout.is_project() {
        report.good("project", format!("{root} ({})", layout.reason()));
    }
    let in_cache = config::user_file()
        .map(|file| format!("set location = \"cache\" under [index] in {}", file.display()));
    if layout.is_in_cache() {
        let dir = layout.dot_cortex();
        report.good("place", format!("the index is kept in {}", dir.display()));
    } else if !layout.is_writable() {
        let remedy = in_cache.clone().unwrap_or_else(|| "make it writable".into());
        report.bad("place", format!("{root} cannot be written"), &remedy);
    }
    if let Some(why) = store::key_problem() {
        report.bad(
            "state",
            format!("the key of the index cannot be kept, so every command indexes anew: {why}"),
            "set XDG_STATE_HOME to a directory that you may write",
        );
    }
    match layout.tree().free_bytes() {
        Ok(free) if free < LEAST_FREE => {
            let other = in_cache.filter(|_| !layout.is_in_cache());
            let remedy = other.map_or_else(String::new, |other| format!(", or {other}"));
            let text = format!("only {} MB are free", free >> 20);
            report.bad("disk", text, &format!("free some space{remedy}"));
        }
        Ok(free) => report.good("disk", format!("{} GB are free", free >> 30)),
        Err(e) => report.note("disk", e, "check that the file system is mounted"),
    }
    if let Some(tracked) = layout.tracked_private_files() {
        report.told("git", Grade::Bad, tracked);
    }
}

/// Whether the system lets a server watch every directory.
fn watches(report: &mut Report, project: &Project) {
    let (n_files, n_directories) = project.count_sources();
    match platform::max_watches() {
        Some(most) if n_directories > most / 2 => report.bad(
            "watches",
            format!(
                "{} to watch, but the limit of all programs is {most}",
                count(n_directories, "directory")
            ),
            &format!("sudo sysctl fs.inotify.max_user_watches={}", watches_for(n_directories)),
        ),
        Some(most) => report.good(
            "watches",
            format!("{n_directories} of at most {most} directories, {}", count(n_files, "file")),
        ),
        None => {}
    }
}

/// Returns a limit of watches that suffices for so many directories, with room for other programs.
fn watches_for(n_directories: usize) -> usize {
    USUAL_WATCHES.max(n_directories.saturating_mul(4).next_power_of_two())
}

/// The index, and what its answers warn of.
fn index(report: &mut Report, project: Project) {
    let layout = &project.layout;
    if !layout.is_indexed() && !layout.is_foreign() {
        // An index does not stay without its key, and no folder gets one unasked.
        if layout.is_project() && store::key_problem().is_none() {
            report.note("index", "there is none yet", "cortex index");
        }
        return;
    }
    let status = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))
        .map_err(|e| e.to_string())
        .and_then(|engine| {
            engine
                .status(StatusRequest { verbose: false }, &Call::default())
                .map_err(|e| e.to_string())
        });
    let status = match status {
        Ok(status) => status,
        Err(why) => return report.bad("index", why, "cortex index --full"),
    };
    let text = format!("{} in {}", count(status.files, "file"), count(status.chunks, "chunk"));
    if let Some(newer) = status.newer() {
        report.note("index", format!("{text}; {newer}"), "cortex index (a search does it, too)");
    } else {
        report.good("index", format!("{text}, up to date"));
    }
    if status.state.index.vectors_pending > 0 {
        let text = format!("{} lack a vector", count(status.state.index.vectors_pending, "chunk"));
        report.note("index", text, "cortex index");
    }
    for warning in &status.state.warnings {
        report.told("index", Grade::Bad, warning);
    }
}
