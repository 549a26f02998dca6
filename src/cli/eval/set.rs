//! The questions of one run and the folders to search: given ones, or made from a project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rayon::prelude::*;

use super::files::{JsonLinesWriter, read_file};
use crate::dir::{SHARED_DIR, SHARED_FILE};
use crate::engine::{LONG_WAIT, Project};
use crate::eval::{self, EvalQuestion, SourceText};
use crate::index::{MAX_COMMITS, commit_chunk, line_limit};
use crate::languages::detect;
use crate::platform::make_private_dir;
use crate::source::{self, Commit, CommitLog, Scope};
use crate::store::Layout;

/// Number of newest commits that questions are made from.
const COMMITS: usize = 3000;
/// The chunk file with the history of the project, relative to the copy: that of another program,
/// since the copy has no commits.
const HISTORY: &str = ".cortex/chunks/code-history.git.json";
/// The settings of a project, relative to its root.
const CONFIG: &str = ".cortex/config.toml";
/// Larger settings are not read, as in any other command.
const MAX_CONFIG: u64 = 64 << 10;

/// Questions, and where to ask them.
pub(super) struct Set {
    pub(super) questions: Vec<EvalQuestion>,
    /// The folder of each repository.
    folders: BTreeMap<String, PathBuf>,
    /// Removed when the set is dropped.
    _copy: Option<Temporary>,
}

impl Set {
    /// Makes questions from a project and writes a copy of it without their answers.
    pub(super) fn of_project(path: &Path, count: usize, keep: Option<&Path>) -> Result<Self> {
        let project = Project::open(Some(path))?;
        let root = project.layout.root();
        let repo = root.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let mut files = read_tree(&project);
        let log = source::commits(root, MAX_COMMITS).unwrap_or_else(|e| {
            tell!("no questions from commits: {e}");
            CommitLog::default()
        });
        if let Some(why) = &log.cut {
            tell!("questions only from the newest {} commits: {why}", log.commits.len());
        }
        let commits = log.commits;
        let newest = &commits[..commits.len().min(COMMITS)];
        let questions = eval::make(&repo, &mut files, newest, count);
        let (directory, copy) = match keep {
            Some(directory) => (directory.to_path_buf(), None),
            None => {
                let copy = Temporary::new()?;
                (copy.0.clone(), Some(copy))
            }
        };
        let tree = directory.join("tree");
        if tree.exists() {
            bail!(
                "{} is there already: remove it, or give --write another directory",
                tree.display()
            );
        }
        write_tree(&tree, &files, &commits, &project)
            .with_context(|| format!("{} cannot be written", tree.display()))?;
        if keep.is_some() {
            let mut lines = JsonLinesWriter::create(&directory.join("queries.jsonl"))?;
            questions.iter().try_for_each(|q| lines.put(q))?;
            lines.finish()?;
        }
        Ok(Self { questions, folders: BTreeMap::from([(repo, tree)]), _copy: copy })
    }

    pub(super) fn read(files: &[PathBuf], repos: Option<&Path>) -> Result<Self> {
        let mut questions = Vec::new();
        for file in files {
            let text = read_file(file)?;
            questions.extend(eval::parse(&file.display().to_string(), &text)?);
        }
        let names: BTreeSet<&String> = questions.iter().map(|q| &q.repo).collect();
        let folders = match repos {
            None => names.into_iter().map(|name| (name.clone(), PathBuf::from("."))).collect(),
            Some(repos) => {
                let roots = benchmark_roots(repos)?;
                let folder = |name: &String| {
                    if name.is_empty() {
                        bail!(
                            "a question names no \"repo\", but --repos asks for one: add it, or leave --repos out"
                        );
                    }
                    let repo = repos.join(name);
                    let folder = roots.get(name).map_or(repo.clone(), |root| repo.join(root));
                    if !folder.is_dir() {
                        bail!(
                            "{} is no directory, but there are questions about {name}: put the repository there",
                            folder.display()
                        );
                    }
                    // Only the folder is searched, not the repository around it.
                    Layout::at(&folder)
                        .and_then(|layout| layout.create())
                        .with_context(|| format!("{} cannot be written", folder.display()))?;
                    Ok((name.clone(), folder))
                };
                names.into_iter().map(folder).collect::<Result<_>>()?
            }
        };
        Ok(Self { questions, folders, _copy: None })
    }

    /// Returns the questions of each folder, folders in order of their names.
    pub(super) fn by_folder(&self) -> BTreeMap<PathBuf, Vec<&EvalQuestion>> {
        let mut out: BTreeMap<PathBuf, Vec<&EvalQuestion>> = BTreeMap::new();
        for q in &self.questions {
            out.entry(self.folders.get(&q.repo).cloned().unwrap_or_default()).or_default().push(q);
        }
        out
    }
}

/// Reads which folder of each repository a benchmark indexes: `repos_used.json` beside the
/// repositories or beside their directory.
fn benchmark_roots(repos: &Path) -> Result<BTreeMap<String, String>> {
    let beside = fs::canonicalize(repos).with_context(|| format!("--repos {}", repos.display()))?;
    let places = [Some(beside.as_path()), beside.parent()];
    let Some(file) =
        places.into_iter().flatten().map(|d| d.join("repos_used.json")).find(|f| f.is_file())
    else {
        return Ok(BTreeMap::new());
    };
    let text = read_file(&file)?;
    let repos: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text)
        .with_context(|| format!("{} is no object of repositories", file.display()))?;
    Ok(repos
        .into_iter()
        .filter_map(|(name, repo)| Some((name, repo.get("benchmark_root")?.as_str()?.to_string())))
        .collect())
}

/// Returns the indexed files of a project in order of their paths.
pub(super) fn read_tree(project: &Project) -> Vec<SourceText> {
    let files =
        source::walk(project.layout.root(), &project.indexer(LONG_WAIT).walk, &Scope::All).files;
    let read = |file: source::SourceFile| {
        let bytes = project.layout.tree().read(&file.path, source::MAX_BYTES).ok()?;
        let limit = line_limit(detect(&file.path, ""));
        source::check_content(&bytes, limit)
            .is_none()
            .then(|| SourceText { path: file.path, text: source::text_of(&bytes).into_owned() })
    };
    files.into_par_iter().filter_map(read).collect()
}

/// Writes a tree that is a project of its own, with the settings of another one.
fn write_tree(
    tree: &Path,
    files: &[SourceText],
    commits: &[Commit],
    of: &Project,
) -> std::io::Result<()> {
    // With `.git`, ignore files and settings above it do not apply.
    fs::create_dir_all(tree.join(".git"))?;
    let layout = Layout::at(tree)?;
    layout.create()?;
    let copy = layout.tree();
    // A link would not be followed: the repository may have put it there.
    if let Ok(settings) = of.layout.tree().read(CONFIG, MAX_CONFIG) {
        copy.replace(CONFIG, &settings, SHARED_FILE, false)?;
    }
    if of.config.history {
        let lines: Vec<String> =
            commits.iter().filter_map(commit_chunk).map(|chunk| chunk.to_json()).collect();
        let text = format!("{{\"chunks\":[\n{}\n]}}\n", lines.join(",\n"));
        copy.make_dir(Path::new(".cortex/chunks"), SHARED_DIR)?;
        copy.replace(HISTORY, text.as_bytes(), SHARED_FILE, false)?;
    }
    for file in files {
        if let Some(folder) =
            Path::new(&file.path).parent().filter(|folder| !folder.as_os_str().is_empty())
        {
            copy.make_dir(folder, SHARED_DIR)?;
        }
        copy.replace(&file.path, file.text.as_bytes(), SHARED_FILE, false)?;
    }
    Ok(())
}

/// A directory that is removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    /// Creates a directory of this user under an unpredictable name.
    fn new() -> Result<Self> {
        let directory =
            std::env::temp_dir().join(format!("cortex-eval-{:032x}", fastrand::u128(..)));
        let made = make_private_dir(&directory, false);
        made.with_context(|| format!("{} cannot be made", directory.display()))?;
        Ok(Self(directory))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
