//! `cortex doctor`: checks everything that an answer depends on, and names the command that mends it.

use std::fmt::Display;
use std::path::Path;

use anyhow::Result;
use console::style;
use serde::Serialize;

use super::args::OfProject;
use super::init::{self, Shown};
use super::outcome::Outcome;
use super::render::{self, count, line, printable};
use super::server;
use crate::agents::{self, Entry, Home, Scope, unreadable};
use crate::engine::{AnswerFrom, Call, Engine, Project, ProjectError, StatusRequest};
use crate::platform;
use crate::store;

/// Check the installation, the agents, the index, watches, permissions and disk space.
///
/// Each line says what is wrong and the command that mends it. The exit code is 1 if anything is.
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
    /// The command, or the change, that mends it.
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
    match args.project.open() {
        Ok(project) => check(&mut report, project)?,
        Err(e) => {
            match e.downcast_ref::<ProjectError>() {
                Some(why) if why.is_no_project() => {
                    report.note("project", why, "do that, or go to the folder of a project");
                }
                // The settings are invalid.
                _ => {
                    let remedy = "correct the file that the message names";
                    report.bad("settings", format!("{e:#}"), remedy);
                }
            }
            if let Ok(project) = args.project.open_anyway() {
                check(&mut report, project)?;
            }
        }
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
        line(&format!("{mark} {:<10} {}", check.subject, printable(&check.text)))?;
        if let Some(remedy) = &check.remedy {
            line(&format!("                -> {}", printable(remedy)))?;
        }
    }
    Ok(())
}

fn check(report: &mut Report, project: Project) -> Result<()> {
    let home = init::home_of(&project)?;
    match std::env::current_exe() {
        Ok(own) => {
            program(report, &home, &own);
            agents(report, &home)?;
        }
        Err(e) => report.bad("program", e, "install cortex-codesearch again"),
    }
    server(report, &project);
    place(report, &project);
    watches(report, &project);
    index(report, project);
    Ok(())
}

/// Which program answers to our names.
fn program(report: &mut Report, home: &Home, own: &Path) {
    let shown = own.display();
    report.good("program", format!("cortex {} at {shown}", env!("CARGO_PKG_VERSION")));
    let others = agents::others_on_path(home, own);
    let is_first =
        others.first.as_deref().is_some_and(|first| !others.foreign.iter().any(|f| f == first));
    match others.first {
        None => report.note(
            "program",
            "no cortex is on PATH",
            &format!("add {} to PATH", own.parent().unwrap_or(Path::new("/")).display()),
        ),
        Some(first) if !is_first => report.note(
            "program",
            format!("`cortex` starts another program: {}", first.display()),
            "use `cortex-codesearch`, the second name of this one; agents get the absolute path",
        ),
        Some(_) => {}
    }
    if !others.has_second_name {
        report.note(
            "program",
            "the second name cortex-codesearch is not on PATH",
            "install the package cortex-codesearch, which brings both",
        );
    }
}

/// The agents of this machine, and whether they start this program.
fn agents(report: &mut Report, home: &Home) -> Result<()> {
    let shown = Shown(home);
    let mut n_found = 0;
    let mut verified: Vec<(Entry, Option<String>)> = Vec::new();
    for agent in agents::all() {
        if home.found(&agent).is_none() {
            continue;
        }
        n_found += 1;
        let mut entries = Vec::new();
        for scope in [Scope::User, Scope::Project] {
            let program = init::program(None, scope, home)?;
            for refused in unreadable(&agent, home, scope) {
                let path = shown.path(&refused.path);
                let text = format!("{}: cannot read {path}: {}", agent.name, refused.why);
                report.bad("agent", text, &format!("repair {path}, then: cortex init"));
            }
            entries.extend(agents::entries(&agent, home, scope, &program));
        }
        if entries.is_empty() {
            let remedy = format!("cortex init --agents {}", agent.id);
            report.note("agent", format!("{} is not connected", agent.name), &remedy);
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
                    &entry.remedy(&agent.id, &path),
                ),
            }
        }
    }
    if n_found == 0 {
        report.good("agent", "no coding agent is found on this machine");
    }
    Ok(())
}

/// Whether agents can reach the one server of this machine.
fn server(report: &mut Report, project: &Project) {
    if !project.config.shared {
        return report.good("server", "each agent has one of its own (serve.shared = false)");
    }
    let own = match server::place() {
        Ok(place) => place,
        Err(e) => {
            let remedy =
                "mend what the message says; until then each agent has a server of its own";
            return report.bad("server", format!("{e:#}"), remedy);
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
    let root = project.layout.root().display().to_string();
    report.good("project", format!("{root} ({})", project.layout.reason()));
    let tree = project.layout.tree();
    if project.layout.is_in_cache() {
        let dir = project.layout.dot_cortex();
        report.good("place", format!("the index is kept in {}", dir.display()));
    } else if !project.layout.is_writable() {
        report.bad(
            "place",
            format!("{root} cannot be written"),
            "set index.location = \"cache\" in ~/.config/cortex/config.toml",
        );
    }
    if let Some(why) = store::key_problem() {
        report.bad(
            "state",
            format!("the key of the index cannot be kept, so every command indexes anew: {why}"),
            "set XDG_STATE_HOME to a directory that you may write",
        );
    }
    match tree.free_bytes() {
        Ok(free) if free < LEAST_FREE => report.bad(
            "disk",
            format!("only {} MB are free", free >> 20),
            "free some space, or set index.location = \"cache\" in ~/.config/cortex/config.toml",
        ),
        Ok(free) => report.good("disk", format!("{} GB are free", free >> 30)),
        Err(e) => report.note("disk", e, "check that the file system is mounted"),
    }
    if let Some(tracked) = project.layout.tracked_private_files() {
        report.bad("git", tracked, "git rm --cached the files that the message names");
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
            "sudo sysctl fs.inotify.max_user_watches=524288",
        ),
        Some(most) => report.good(
            "watches",
            format!("{n_directories} of at most {most} directories, {}", count(n_files, "file")),
        ),
        None => {}
    }
}

/// The index, and what its answers warn of.
fn index(report: &mut Report, project: Project) {
    if !project.layout.is_indexed() && !project.layout.is_foreign() {
        return report.note("index", "there is none yet", "cortex index");
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
    for ignored in &status.ignored_settings {
        report.note("settings", ignored, "put it into ~/.config/cortex/config.toml if you want it");
    }
    for warning in &status.state.warnings {
        report.bad("index", warning, "do what the message says");
    }
}
