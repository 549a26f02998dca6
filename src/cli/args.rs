//! Arguments that many commands share.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

use super::elsewhere;
use super::outcome::Outcome;
use super::paths::Paths;
use super::progress::Bar;
use super::render::{self, count, printable};
use crate::engine::{
    AnswerFrom, Engine, FrontEnd, Mentions, Project, ProjectError, Step, single_globs,
};
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
        let mut project = self.open_or_ask()?;
        let here = std::env::current_dir().ok();
        let below = here.as_deref().and_then(|h| h.strip_prefix(project.layout.root()).ok());
        project.front_end = FrontEnd::CommandLine;
        project.folder = below.map(Path::to_path_buf).unwrap_or_default();
        engine(project, look)
    }
}

/// Selects the project, which may be another one than the current.
#[derive(clap::Args)]
pub(super) struct OfAnyProject {
    #[command(flatten)]
    current: OfProject,
    /// Ask this other project, by its name or path; a file of it may also be written
    /// PROJECT:src/a.rs
    #[arg(long, value_name = "PROJECT", conflicts_with = "directory", global = true)]
    repo: Option<String>,
}

impl OfAnyProject {
    /// Opens the project that is asked as an engine, and takes its name off the places of the
    /// question.
    pub(super) fn engine<'a>(
        &self,
        look: AnswerFrom,
        places: impl IntoIterator<Item = &'a mut String>,
    ) -> Result<Engine> {
        let current = self.current.open_or_ask()?;
        let repo = self.repo.as_deref();
        if let Some(root) = repo.and_then(|repo| elsewhere::path_of(repo, &current.all())) {
            return OfProject::at(&root).engine(look);
        }
        match current.other(repo, &mut Mentions::of(places))? {
            Some(other) => OfProject::at(&other.root).engine(look),
            None => self.current.engine(look),
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
    /// Returns the globs of a request. A glob that begins with something in the working directory,
    /// `.` or `..` is relative to it.
    pub(super) fn with(&self, paths: &[String], project: &Project) -> Vec<String> {
        let local = |glob: &str| {
            let (not, glob) = glob.strip_prefix('!').map_or(("", glob), |glob| ("!", glob));
            format!("{not}{}", from_folder(glob, project))
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

/// Returns an engine that shows the progress of indexing on stderr.
pub(super) fn engine(project: Project, look: AnswerFrom) -> Result<Engine> {
    let bar = Bar::indexing(false);
    let graph = Bar::graph(false);
    let place = if project.layout.is_in_cache() {
        printable(&project.layout.dot_cortex().display().to_string())
    } else {
        ".cortex/, which git ignores".into()
    };
    let tell = move |step: Step| match step {
        Step::Indexing(progress) => bar.show(progress),
        Step::Indexed(summary) => {
            bar.end();
            tell!("{}", super::index::one_line(summary));
            tell!("The index is in {place}. Every search updates it first.");
            tell!(
                "Next: `cortex init` connects coding agents; `cortex map` says what this repository is."
            );
        }
        Step::Commits => tell!("Reading the history, which takes some seconds the first time."),
        Step::Graph(progress) => graph.show(progress),
    };
    Ok(Engine::for_command(project, look, Box::new(tell))?)
}

/// The index over memories is saved when at least this share of them is new. Saving it more often
/// would slow every question.
pub(super) const SAVED_FROM: f64 = 0.02;

/// Ends a command: saves the loaded index for the next command.
pub(super) fn end(engine: Engine, outcome: Outcome) -> Outcome {
    engine.save(SAVED_FROM);
    engine.end();
    outcome
}

/// Prints an answer, and ends the command.
pub(super) fn answered(
    engine: Engine,
    as_json: bool,
    answer: &impl Reply,
    is_found: bool,
) -> Result<Outcome> {
    if as_json {
        render::json(answer)?;
    } else {
        Paths::of(&engine.project).print(answer, is_found)?;
    }
    Ok(end(engine, Outcome::of(is_found)))
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
