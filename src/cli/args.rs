//! Arguments that many commands have, and earlier names of arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

use super::Outcome;
use super::progress::Bar;
use crate::engine::{Engine, Look, Project, Step};

/// Which project is meant.
#[derive(clap::Args)]
pub(super) struct OfProject {
    /// A directory of the project [default: the current one]
    #[arg(long = "project", value_name = "DIR", alias = "path", global = true)]
    directory: Option<PathBuf>,
}

impl OfProject {
    pub(super) fn open(&self) -> Result<Project> {
        Ok(Project::open(self.directory.as_deref())?)
    }

    /// The same, also when its settings cannot be used.
    pub(super) fn open_anyway(&self) -> Result<Project> {
        Ok(Project::open_anyway(self.directory.as_deref())?)
    }

    /// The project, to be asked; it is indexed first if that is needed.
    pub(super) fn engine(&self, look: Look) -> Result<Engine> {
        engine(self.open()?, look)
    }
}

/// A project, to be asked by a command that shows how far indexing is.
pub(super) fn engine(project: Project, look: Look) -> Result<Engine> {
    let bar = Bar::indexing(false);
    let tell = move |step: Step| match step {
        Step::Indexing(progress) => bar.show(progress),
        Step::Indexed(summary) => {
            bar.end();
            eprintln!("{}", super::index::one_line(summary));
        }
    };
    Ok(Engine::for_command(project, look, Box::new(tell))?)
}

/// The share of new memories from which on the index over them is saved: sooner, each question would pay for it.
const SAVED_FROM: f64 = 0.02;

/// Ends a command: what it loaded is saved for the next one.
pub(super) fn end(engine: Engine, outcome: Outcome) -> Outcome {
    engine.save(SAVED_FROM);
    engine.end();
    outcome
}

/// Types of chunks.
pub(super) const TYPES: &[&str] = &["symbols", "definitions", "data", "documentation"];

/// Reads one of these names as a value of a request, where they are spelled so, too.
pub(super) fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value::<T>(name.into()))
}

/// Earlier names of flags, each with the name that it has now.
const RENAMED: &[(&str, &str)] = &[
    ("--path", "--project"),
    ("--in", "--paths"),
    ("--lang", "--languages"),
    ("--type", "--types"),
    ("--tag", "--tags"),
    ("--not-source", "--exclude-sources"),
    ("--not-operation", "--exclude-operations"),
    ("--group", "--group-ids"),
];

/// Says which flags of a command line have other names now. They are understood all the same.
pub(super) fn warn_of_renamed(given: impl Iterator<Item = OsString>) {
    for flag in given.take_while(|arg| arg != "--").filter_map(|arg| arg.into_string().ok()) {
        let name = flag.split('=').next().unwrap_or_default();
        if let Some((old, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
            eprintln!("warning: {old} is called {new} now");
        }
    }
}
