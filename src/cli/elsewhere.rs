//! Selects other projects of the user than the current one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Deserialize;

use super::render::printable;
use crate::config;
use crate::dir::Dir;
use crate::engine::{
    AnswerFrom, AskedProject, Call, Engine, FrontEnd, OpenProject, Project, Team, chosen,
};
use crate::projects::{KnownProject, Projects};
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

/// The projects and packages that a command asks.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) packages: Vec<AskedProject>,
    pub(super) projects: Vec<KnownProject>,
    pub(super) warnings: Vec<String>,
}

impl Elsewhere {
    /// Returns the names as they were given.
    pub(super) fn names(&self) -> Vec<String> {
        self.repos.clone()
    }

    /// Returns the names of published repositories that are selected. A project here of the same name
    /// is asked in place of one.
    pub(super) fn published(&self, engine: &Engine, team: &Team) -> Result<Vec<String>> {
        let known = engine.project.all();
        let is_other =
            |name: &&String| path_of(name, &known).is_none() && known.named(name).is_err();
        let wanted: Vec<String> = self.repos.iter().filter(is_other).cloned().collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        match team.matching(&wanted) {
            // Projects here may answer to a glob.
            Err(e) if wanted.iter().all(|name| name.contains('*')) => {
                tell!(
                    "warning: published repositories are left out: {}",
                    printable(&e.to_string())
                );
                Ok(Vec::new())
            }
            names => Ok(names?),
        }
    }

    /// Returns what is selected; `None` if the current project is asked, or `published` repositories.
    pub(super) fn chosen(&self, engine: &Engine, published: &[String]) -> Result<Option<Chosen>> {
        if !published.is_empty() {
            return Ok(None);
        }
        let known = engine.project.all();
        if let Some(file) = &self.workspace {
            let roots = folders(file)?;
            let known = roots.iter().fold(known, |known, root| known.with(root));
            let there = known.there.into_iter().filter(|p| roots.contains(&p.root)).collect();
            return Ok(Some(Chosen { projects: there, ..Chosen::default() }));
        }
        if self.all {
            let (projects, warnings) = chosen(&known, &["*".to_string()])?;
            return Ok(Some(Chosen { projects, warnings, ..Chosen::default() }));
        }
        if self.repos.is_empty() {
            return Ok(None);
        }
        let (known, named) = self.with_paths(known)?;
        let (packages, named) = engine.packages_among(&known, &named, &Call::default())?;
        let (projects, warnings) = chosen(&known, &named)?;
        Ok(Some(Chosen { packages, projects, warnings }))
    }

    /// Replaces each path by the name of the project there, and adds that to the known ones.
    fn with_paths(&self, mut known: Projects) -> Result<(Projects, Vec<String>)> {
        let mut roots = Vec::new();
        let mut named = Vec::new();
        for text in &self.repos {
            let Some(path) = path_of(text, &known) else {
                named.push(text.clone());
                continue;
            };
            let root = root_of(&path)?;
            known = known.with(&root);
            roots.push(root);
        }
        let name =
            |root: PathBuf| known.there.iter().find(|p| p.root == root).map(|p| p.name.clone());
        named.extend(roots.into_iter().filter_map(name));
        Ok((known, named))
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

/// Opens projects for one question of the command line.
pub(super) fn opening(look: AnswerFrom) -> impl OpenProject {
    move |root: &Path| {
        let mut project = Project::open(Some(root))?;
        project.front_end = FrontEnd::CommandLine;
        Ok(Arc::new(Engine::for_command(project, look, Box::new(|_| ()))?))
    }
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
    roots.sort();
    roots.dedup();
    Ok(roots)
}
