//! `cortex` without a command: says where the current project stands, and names the next step.

use anyhow::Result;

use super::found::{Found, Step, home_of};
use super::outcome::Outcome;
use super::render::{below_home, count, fitted, line, printable};
use crate::config;
use crate::engine::{AnswerFrom, Call, Engine, Project, ProjectError, StatusRequest};
use crate::store::{self, RootError};

pub(super) fn run() -> Result<Outcome> {
    let (home, state, step) = match Project::open_anyway(None) {
        Ok(project) => {
            let home = home_of(Some(&project))?;
            let place = below_home(project.layout.root(), config::home().as_deref());
            let (state, step) = state(project);
            (home, format!("{state} ({place})"), step)
        }
        Err(ProjectError::Root(RootError::TooMuch { what, .. })) => {
            (home_of(None)?, format!("none, because this is {what}"), Some(elsewhere()))
        }
        Err(e) => return Err(e.into()),
    };
    let found = Found::on(&home)?;
    let step = match step {
        None => found.step(&home)?,
        step => step,
    };
    let (command, effect) = step.unwrap_or_else(|| {
        ("cortex search \"where are errors handled\"", "or your own question".into())
    });
    row("project", &state)?;
    row("agents", &found.told())?;
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

fn mends() -> String {
    "says why, and what mends it".into()
}

/// Says what is indexed. Returns also the step without which no question has an answer.
fn state(project: Project) -> (String, Option<Step>) {
    let layout = &project.layout;
    if !layout.is_indexed() && !layout.is_foreign() {
        let (n_files, _) = project.count_sources();
        let files = count(n_files, "file");
        return match (n_files, layout.is_project()) {
            (0, _) => ("no files to index".into(), Some(elsewhere())),
            _ if store::key_problem().is_some() => {
                ("its index cannot be kept".into(), Some(("cortex doctor", mends())))
            }
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
        return ("its index cannot be read".into(), Some(("cortex doctor", mends())));
    };
    if status.chunks == 0 {
        let effect = "says which files are left out, and why".into();
        return ("its index is empty".into(), Some(("cortex status -v", effect)));
    }
    let age = match status.newer() {
        Some(newer) => format!("{newer}, so the next search updates it"),
        None => "up to date".into(),
    };
    let size = format!("{} in {}", count(status.files, "file"), count(status.chunks, "chunk"));
    (format!("{size}, {age}"), None)
}
