//! Arguments that many commands share.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

use super::elsewhere::{self, Others};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, count, printable};
use crate::engine::{
    AnswerFrom, Call, Engine, FrontEnd, Mentions, OpenProject, Project, ProjectError, Scope,
    single_globs,
};
use crate::text::chain;
use crate::tools::Reply;

/// Selects the project.
#[derive(clap::Args)]
pub(super) struct OfProject {
    /// Use the project of this directory [default: the current directory]
    #[arg(long = "project", value_name = "DIR", global = true)]
    directory: Option<PathBuf>,
}

impl OfProject {
    /// Selects the project of a directory.
    pub(super) fn at(directory: &Path) -> Self {
        Self { directory: Some(directory.to_path_buf()) }
    }

    pub(super) fn open(&self) -> Result<Project> {
        Ok(Project::open(self.directory.as_deref())?)
    }

    /// Opens the project. On a terminal, the user is asked whether a folder that is no project becomes
    /// one.
    pub(super) fn open_or_ask(&self) -> Result<Project> {
        match self.open() {
            Err(e) if matches!(e.downcast_ref(), Some(ProjectError::NoProject(_))) => {
                let project = Project::open_as_project(self.directory.as_deref())?;
                if !(io::stdin().is_terminal() && io::stderr().is_terminal() && agreed(&project)?) {
                    return Err(e);
                }
                project.layout.create()?;
                self.open()
            }
            opened => opened,
        }
    }

    /// Opens what stands in for the project of a directory that has none.
    pub(super) fn absent(&self, why: &ProjectError) -> Result<Project> {
        Ok(Project::absent(self.directory.as_deref(), why)?)
    }

    /// Opens the project even when its settings are invalid.
    pub(super) fn open_anyway(&self) -> Result<Project> {
        Ok(Project::open_anyway(self.directory.as_deref())?)
    }

    /// Opens the project as an engine. The first question indexes the project if that is needed.
    pub(super) fn engine(&self, look: AnswerFrom) -> Result<Engine> {
        engine(self.open_or_ask()?, look)
    }
}

/// Returns an engine for which a path is relative to the working directory if that is in the project.
fn engine(mut project: Project, look: AnswerFrom) -> Result<Engine> {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|h| h.strip_prefix(project.layout.root()).ok());
    project.front_end = FrontEnd::CommandLine;
    project.folder = below.map(Path::to_path_buf).unwrap_or_default();
    Ok(elsewhere::engine(project, look)?)
}

/// Selects what is asked, which may be another project than the current one.
#[derive(clap::Args)]
pub(super) struct OfAnyProject {
    #[command(flatten)]
    current: OfProject,
    /// Ask this other project, by its name or path, or this dependency, by its name; files of
    /// projects may also be written PROJECT:src/a.rs
    #[arg(long, value_name = "PROJECT", conflicts_with = "directory", global = true)]
    repo: Option<String>,
}

impl OfAnyProject {
    /// Opens the project from which the source is asked: the current one, or the one at the path that
    /// was given.
    pub(super) fn reach(&self, look: AnswerFrom) -> Result<Reach> {
        let (mut project, mut repo) = (self.current.open_or_ask()?, self.repo.clone());
        let path = |repo: &String| elsewhere::path_of(repo, &project.all());
        if let Some(root) = repo.as_ref().and_then(path) {
            (project, repo) = (OfProject::at(&root).open_or_ask()?, None);
        }
        let others: Arc<dyn OpenProject> = Arc::new(Others::new(look, Vec::new()));
        let call = Call { others: Some(others), ..Call::default() };
        Ok(Reach { here: Arc::new(engine(project, look)?), repo, call })
    }

    /// Opens the project or package that is asked as an engine, and takes its name off the places of
    /// the question.
    pub(super) fn engine<'a>(
        &self,
        look: AnswerFrom,
        places: impl IntoIterator<Item = &'a mut String>,
    ) -> Result<Arc<Engine>> {
        let reach = self.reach(look)?;
        let scope = reach.scope(places)?;
        Ok(reach.engine(&scope).clone())
    }
}

/// What the question of a command may be asked of.
pub(super) struct Reach {
    here: Arc<Engine>,
    repo: Option<String>,
    pub(super) call: Call,
}

impl Reach {
    /// Adds the published repositories.
    pub(super) fn with_team(mut self) -> Self {
        let (team, warning) = self.here.team();
        if self.repo.is_some() {
            render::warnings(warning.as_slice());
        }
        self.call.team = team;
        self
    }

    /// Decides what is asked, and takes its name off the places of the question.
    pub(super) fn scope<'a>(
        &self,
        places: impl IntoIterator<Item = &'a mut String>,
    ) -> Result<Scope<'_>> {
        Ok(self.here.scope(self.repo.as_deref(), Mentions::of(places), &self.call)?)
    }

    /// Returns the engine that answers, if no published repository does.
    pub(super) fn engine<'a>(&'a self, scope: &'a Scope) -> &'a Arc<Engine> {
        match scope {
            Scope::Other(other) => &other.engine,
            Scope::Here | Scope::Published(_) => &self.here,
        }
    }

    /// Returns how the paths of the answer are printed.
    pub(super) fn paths(&self, scope: &Scope) -> Paths {
        match scope {
            Scope::Published(repository) => Paths::of_published(repository.name()),
            Scope::Here | Scope::Other(_) => Paths::of(&self.engine(scope).project),
        }
    }
}

/// Selects the form of the answer.
#[derive(clap::Args)]
pub(super) struct Form {
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    pub(super) json: bool,
}

/// Asks whether a folder shall be indexed.
fn agreed(project: &Project) -> Result<bool> {
    let (n_files, _) = project.count_sources();
    let root = printable(&project.layout.root().display().to_string());
    let question =
        format!("{root} is not a project yet. Index it ({})? [y/N] ", count(n_files, "file"));
    confirmed(&question, io::stderr())
}

/// Asks a question that is answered by yes or no.
pub(super) fn confirmed(question: &str, mut out: impl Write) -> Result<bool> {
    out.write_all(question.as_bytes())?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Selects files by their paths.
#[derive(clap::Args)]
pub(super) struct Excluded {
    /// Leave out files that match one of these globs; same as !GLOB (repeat)
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
}

impl Excluded {
    /// Returns the globs of a request. If the project is here, a glob that begins with something in the
    /// working directory, `.` or `..` is relative to it.
    pub(super) fn with(&self, paths: &[String], project: Option<&Project>) -> Vec<String> {
        let local = |glob: &str| {
            let (not, glob) = glob.strip_prefix('!').map_or(("", glob), |glob| ("!", glob));
            let glob = project.map_or_else(|| glob.into(), |project| from_folder(glob, project));
            format!("{not}{glob}")
        };
        let wanted = single_globs(paths).into_iter().map(local);
        let unwanted =
            single_globs(&self.exclude).into_iter().map(|glob| local(&format!("!{glob}")));
        wanted.chain(unwanted).collect()
    }
}

/// Returns a glob relative to the root.
fn from_folder(glob: &str, project: &Project) -> String {
    let mut folder: Vec<&str> = project.folder.iter().filter_map(|part| part.to_str()).collect();
    if folder.is_empty() {
        return glob.to_string();
    }
    let (mut rest, mut is_here) = (glob, false);
    while let Some((first, after)) =
        rest.split_once('/').or((!rest.is_empty()).then_some((rest, "")))
    {
        match first {
            "." => {}
            // A glob that leads out of the project matches nothing, and a warning says so.
            ".." if folder.pop().is_none() => return glob.to_string(),
            ".." => is_here = true,
            _ => break,
        }
        is_here |= after.is_empty();
        rest = after;
    }
    let first = rest.split('/').next().unwrap_or_default();
    let is_there = || {
        let here = project.folder.join(first);
        !first.is_empty() && matches!(project.layout.tree().stat(&here), Ok(Some(_)))
    };
    if !is_here && !is_there() {
        return rest.to_string();
    }
    // The slash at the beginning binds the glob to the root.
    let folder: String =
        folder.into_iter().map(|part| format!("/{}", globset::escape(part))).collect();
    format!("{folder}/{}", if rest.is_empty() { "**" } else { rest })
}

/// Selects files by their languages.
#[derive(clap::Args)]
pub(super) struct Languages {
    /// Only files in these languages, by name or file extension (repeat, or separate with commas)
    #[arg(short = 't', long, value_name = "LANGUAGE", value_delimiter = ',')]
    languages: Vec<String>,
    /// Leave out files in these languages (repeat, or separate with commas)
    #[arg(short = 'T', long, aliases = ["not-type", "type-not"], value_name = "LANG", value_delimiter = ',')]
    not_languages: Vec<String>,
}

impl Languages {
    /// Returns the languages of a request.
    pub(super) fn wanted(&self) -> Vec<String> {
        let unwanted = self.not_languages.iter().map(|language| format!("!{language}"));
        self.languages.iter().cloned().chain(unwanted).collect()
    }
}

/// The index over memories is saved when at least this share of them is new. Saving it more often
/// would slow every question.
pub(super) const SAVED_FROM: f64 = 0.02;

/// Lets a first search answer before there is an index if a person waits for it. A program reads the
/// answer when the command has ended, so it gets one that is found by meaning as well.
pub(super) fn answer_early(engine: &Engine, form: &Form) {
    if !form.json && io::stdout().is_terminal() && io::stderr().is_terminal() {
        engine.answer_early();
    }
}

/// Ends a command: builds the index if the answer did not wait for it, and saves the loaded index for
/// the next command.
pub(super) fn end(engine: impl Into<Arc<Engine>>, outcome: Outcome) -> Outcome {
    let engine: Arc<Engine> = engine.into();
    if let Err(e) = engine.complete() {
        tell!("the index was not built, so the next search tries again: {}", chain(&e));
    }
    engine.save(SAVED_FROM);
    engine.end();
    outcome
}

/// Prints an answer, and ends the command.
pub(super) fn answered(
    engine: impl Into<Arc<Engine>>,
    as_json: bool,
    answer: &impl Reply,
    is_found: bool,
) -> Result<Outcome> {
    let engine: Arc<Engine> = engine.into();
    printed(&Paths::of(&engine.project), as_json, answer, is_found)?;
    Ok(end(engine, Outcome::of(is_found)))
}

/// Prints an answer.
pub(super) fn printed(
    paths: &Paths,
    as_json: bool,
    answer: &impl Reply,
    is_found: bool,
) -> Result<()> {
    if as_json { render::json(answer) } else { paths.print(answer, is_found) }
}

/// The names of the chunk types.
pub(super) const TYPES: &[&str] = &["symbols", "definitions", "data", "documentation"];

/// Longer questions on standard input are read up to here, in bytes.
const MAX_QUESTION: u64 = 1 << 20;

/// Returns the question on standard input.
pub(super) fn standard_input() -> Result<String> {
    let mut text = Vec::new();
    io::stdin().take(MAX_QUESTION).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Parses how many there shall be at most: one or more.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("give 1 or more".into()),
        Ok(n) => Ok(n),
        Err(_) => Err("it is not a whole number from 1".into()),
    }
}

/// Parses one of these names into a value of a request. Requests spell the names in the same way.
pub(super) fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value::<T>(name.into()))
}
