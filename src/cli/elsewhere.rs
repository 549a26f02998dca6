//! Selects other projects of the user than the current one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use parking_lot::Mutex;
use serde::Deserialize;

use super::found::after_first_index;
use super::progress::Bar;
use super::render::printable;
use crate::config;
use crate::dir::Dir;
use crate::engine::{AnswerFrom, Call, Engine, FrontEnd, OpenProject, Project, ProjectError, Step};
use crate::projects::Projects;
use crate::store::Layout;

/// Longer workspace files are not read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Selects which projects a command asks.
#[derive(clap::Args)]
pub(super) struct Elsewhere {
    /// Search these projects, by name, glob of names, or path, or these dependencies, by name (repeat,
    /// or separate with commas)
    #[arg(long = "repo", value_name = "PROJECT", value_delimiter = ',')]
    repos: Vec<String>,
    /// Search all projects that were indexed
    #[arg(long, conflicts_with = "repos")]
    all: bool,
    /// Search the folders of this workspace: a file cortex.toml with `folders`, or an editor's
    /// .code-workspace
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repos", "all"])]
    workspace: Option<PathBuf>,
}

impl Elsewhere {
    /// Returns the names of what is selected, none for the current project alone, and the call that
    /// reaches it through the others.
    pub(super) fn selected(
        &self,
        engine: &Engine,
        look: AnswerFrom,
    ) -> Result<(Vec<String>, Arc<Others>, Call)> {
        let known = engine.project.all();
        let mut names = if self.all { vec!["*".to_string()] } else { Vec::new() };
        let mut roots = self.workspace.as_deref().map_or(Ok(Vec::new()), folders)?;
        for text in &self.repos {
            match path_of(text, &known) {
                Some(path) => roots.push(root_of(&path)?),
                None => names.push(text.clone()),
            }
        }
        let known = roots.iter().fold(known, |known, root| known.with(root));
        let of_roots = known.there.into_iter().filter(|project| roots.contains(&project.root));
        names.extend(of_roots.map(|project| project.name));
        // Only names and globs select published repositories.
        let (team, warning) = if self.repos.is_empty() { (None, None) } else { engine.team() };
        let others = Arc::new(Others::new(look, roots));
        let reached: Arc<dyn OpenProject> = others.clone();
        let warnings = warning.into_iter().collect();
        Ok((names, others, Call { others: Some(reached), team, warnings, ..Call::default() }))
    }
}

/// Returns an engine that shows the progress of indexing on stderr.
pub(super) fn engine(project: Project, look: AnswerFrom) -> Result<Engine, ProjectError> {
    let bar = Bar::indexing(false);
    let graph = Bar::graph(false);
    let place = if project.layout.is_in_cache() {
        printable(&project.layout.dot_cortex().display().to_string())
    } else {
        ".cortex/, which git ignores".into()
    };
    let root = project.layout.root().to_path_buf();
    let preparing = Mutex::new(None);
    let tell = move |step: Step| match step {
        Step::Indexing(progress) => bar.show(progress),
        Step::Indexed(summary) => {
            bar.end();
            tell!("{}", super::index::one_line(summary));
            tell!("The index is in {place}. Every search updates it first.");
            if let Ok(next) = after_first_index(&root) {
                tell!("Next: {next}");
            }
        }
        Step::Preparing(begins) => {
            *preparing.lock() = begins.then(|| Bar::phase("preparing the search"));
        }
        Step::Commits => tell!("Reading the history, which takes some seconds the first time."),
        Step::Graph(progress) => graph.show(progress),
    };
    Engine::for_command(project, look, Box::new(tell))
}

/// Opens the other projects of one question of the command line, and keeps them.
pub(super) struct Others {
    look: AnswerFrom,
    /// Roots of projects that need not be noted.
    roots: Vec<PathBuf>,
    /// By the roots under which they are known.
    pub(super) opened: Mutex<Vec<(PathBuf, Arc<Engine>)>>,
}

impl Others {
    pub(super) fn new(look: AnswerFrom, roots: Vec<PathBuf>) -> Self {
        Self { look, roots, opened: Mutex::default() }
    }
}

impl OpenProject for Others {
    fn engine(&self, root: &Path) -> Result<Arc<Engine>, ProjectError> {
        let mut project = Project::open(Some(root))?;
        project.front_end = FrontEnd::CommandLine;
        let engine = Arc::new(engine(project, self.look)?);
        self.opened.lock().push((root.to_path_buf(), engine.clone()));
        Ok(engine)
    }

    fn roots(&self) -> &[PathBuf] {
        &self.roots
    }
}

/// Returns the path that somebody wrote for a project. What looks like a path and is a name is a
/// name.
pub(super) fn path_of(text: &str, known: &Projects) -> Option<PathBuf> {
    let path = Path::new(text);
    let is_path = text.starts_with(['.', '/', '~'])
        || text.contains('/') && known.named(text).is_err() && Dir::open(path).is_ok();
    is_path.then(|| path.to_path_buf())
}

/// Returns the root of the project of a folder.
fn root_of(folder: &Path) -> Result<PathBuf> {
    let layout = Layout::discover(folder, config::home().as_deref())?;
    Ok(layout.root().to_path_buf())
}

/// A workspace of Cortex.
#[derive(Deserialize)]
struct OwnWorkspace {
    folders: Vec<PathBuf>,
}

/// A workspace of an editor.
#[derive(Deserialize)]
struct EditorWorkspace {
    folders: Vec<EditorFolder>,
}

#[derive(Deserialize)]
struct EditorFolder {
    path: PathBuf,
}

/// Reads the projects of a workspace file. A file inside a project may name folders of that project
/// only: it may have come with a clone, and a clone must not pull the user's other projects into an
/// answer.
fn folders(file: &Path) -> Result<Vec<PathBuf>> {
    let shown = file.display();
    let file = std::path::absolute(file).with_context(|| format!("--workspace {shown}"))?;
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        bail!("--workspace {shown}: this is no file");
    };
    let text = Dir::open(folder).and_then(|dir| dir.read_text(name, MAX_BYTES));
    let text = text.with_context(|| format!("--workspace {shown}: it cannot be read"))?;
    let named: Vec<PathBuf> = if file.extension().is_some_and(|ext| ext == "toml") {
        let workspace: OwnWorkspace = toml::from_str(&text)
            .with_context(|| format!("--workspace {shown}: write `folders = [\"a\", \"b\"]`"))?;
        workspace.folders
    } else {
        let parsed = parse_to_ast(&text, &CollectOptions::default(), &ParseOptions::default())
            .with_context(|| format!("--workspace {shown}: it is no JSON with comments"))?;
        let value = parsed.value.map_or(serde_json::Value::Null, serde_json::Value::from);
        let workspace: EditorWorkspace = serde_json::from_value(value)
            .with_context(|| format!("--workspace {shown}: it has no list `folders` of paths"))?;
        workspace.folders.into_iter().map(|folder| folder.path).collect()
    };
    let around = Layout::discover(folder, config::home().as_deref())?;
    // A folder that is no project is its own root.
    let is_project =
        [".git", ".cortex"].iter().any(|name| matches!(around.tree().stat(name), Ok(Some(_))));
    let mut roots = Vec::new();
    for path in named {
        let root = root_of(&folder.join(&path))?;
        if is_project && !root.starts_with(around.root()) {
            bail!(
                "--workspace {shown}: it is inside the project {}, so it may name only folders of that project, and {} is not one; move the file out of the project",
                around.root().display(),
                path.display()
            );
        }
        roots.push(root);
    }
    if roots.is_empty() {
        bail!(
            "--workspace {shown}: `folders` is empty, so there is nothing to search: name a folder"
        );
    }
    Ok(roots)
}
