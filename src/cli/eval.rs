//! `cortex eval`: how well it searches, measured on sets of questions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde::Serialize;

use super::Outcome;
use super::render::{json, line};
use super::wire::{LONG_WAIT, Project};
use crate::eval::{self, Group, Question, Row, Scored, SourceText, Summary};
use crate::index::Mode;
use crate::search::{Filter, Hit, Query, Results, SearchError};
use crate::source::{self, LineLimit, Scope};
use crate::store::Layout;
use crate::syntax::{self, Kind};

/// Rows of an answer.
const ROWS: usize = 30;
/// Commits that questions are made from, the newest.
const COMMITS: usize = 3000;

/// Measure how well the right files are found: on questions made from the project itself, or on given ones.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex eval --self                              questions from this project's comments, commits and documents
  cortex eval --self ../other --write /tmp/other  keep the questions and the tree without their answers
  cortex eval --queries questions.jsonl --json    {\"query\": \"where are retries counted\", \"files\": [\"src/retry.rs\"]}
  cortex eval --queries a.jsonl b.jsonl --repos repos

Exit codes: 0 done, 1 no questions, 2 error.")]
#[command(group(clap::ArgGroup::new("set").required(true).args(["own", "queries"])))]
pub(super) struct Args {
    /// Make the questions from a project; what they were made from is hidden before they are asked
    #[arg(long = "self", value_name = "PATH", num_args = 0..=1, default_missing_value = ".")]
    own: Option<PathBuf>,
    /// Questions as JSON lines (specs/cli-json.md)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    queries: Vec<PathBuf>,
    /// Where the repositories are that the questions name [default: the current project is asked]
    #[arg(long, value_name = "DIR", requires = "queries")]
    repos: Option<PathBuf>,
    /// Questions of each kind, at most
    #[arg(long, value_name = "N", default_value_t = 40, requires = "own")]
    count: usize,
    /// Keep the questions (queries.jsonl) and the files that were searched (tree) in a new directory
    #[arg(long, value_name = "DIR", requires = "own")]
    write: Option<PathBuf>,
    /// Write what ranking knew of each candidate, as JSON lines
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let set = match &args.own {
        Some(path) => Set::of_project(path, args.count, args.write.as_deref())?,
        None => Set::read(&args.queries, args.repos.as_deref())?,
    };
    if set.questions.is_empty() {
        eprintln!("there are no questions: too few comments, commits and documents say what a file is for");
        return Ok(Outcome::NothingFound);
    }
    let mut features = args.features.as_deref().map(Lines::create).transpose()?;
    let mut scored = Vec::new();
    let bar = indicatif::ProgressBar::new(set.questions.len() as u64);
    let style = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} questions {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()));
    for (folder, questions) in set.by_folder() {
        bar.set_message(questions[0].repo.clone());
        let searcher = Searcher::open(&folder)?;
        for question in questions {
            let (results, ms) = searcher.ask(&question.query, ROWS)?;
            if let Some(features) = &mut features {
                features.put(&Candidates::new(question, &searcher.ask(&question.query, usize::MAX)?.0))?;
            }
            scored.push(eval::score(question, &rows(&results), ms));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    features.map(Lines::finish).transpose()?;
    let report = Report { n_questions: scored.len(), summary: Summary::new(&scored), questions: &scored };
    if args.json {
        json(&report)?
    } else {
        print(&report.summary)?
    }
    Ok(Outcome::Done)
}

/// Questions, and where they are asked.
struct Set {
    questions: Vec<Question>,
    /// The folder of each repository that is named.
    folders: BTreeMap<String, PathBuf>,
    /// Removed in the end.
    _copy: Option<Temporary>,
}

impl Set {
    /// Makes questions from a project and lays out a copy of it without their answers.
    fn of_project(path: &Path, count: usize, keep: Option<&Path>) -> Result<Self> {
        let project = Project::open(Some(path))?;
        let root = project.layout.root();
        let repo = root.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let mut files = read_tree(&project);
        let commits = source::commits(root, COMMITS).unwrap_or_else(|e| {
            eprintln!("no questions from commits: {e}");
            Vec::new()
        });
        let questions = eval::make(&repo, &mut files, &commits, count);
        let (directory, copy) = match keep {
            Some(directory) => (directory.to_path_buf(), None),
            None => {
                let directory = std::env::temp_dir().join(format!("cortex-eval-{}", std::process::id()));
                (directory.clone(), Some(Temporary(directory)))
            }
        };
        let tree = directory.join("tree");
        if tree.exists() {
            bail!("{} is there already: remove it, or give --write another directory", tree.display());
        }
        write_tree(&tree, &files, &project.layout.config_file()).with_context(|| format!("{} cannot be written", tree.display()))?;
        if keep.is_some() {
            let mut lines = Lines::create(&directory.join("queries.jsonl"))?;
            questions.iter().try_for_each(|q| lines.put(q))?;
            lines.finish()?;
        }
        Ok(Self { questions, folders: BTreeMap::from([(repo, tree)]), _copy: copy })
    }

    fn read(files: &[PathBuf], repos: Option<&Path>) -> Result<Self> {
        let mut questions = Vec::new();
        for file in files {
            let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
            questions.extend(eval::parse(&file.display().to_string(), &text)?);
        }
        let names: BTreeSet<&String> = questions.iter().map(|q| &q.repo).collect();
        let folders = match repos {
            None => names.into_iter().map(|name| (name.clone(), PathBuf::from("."))).collect(),
            Some(repos) => {
                let roots = benchmark_roots(repos)?;
                let folder = |name: &String| {
                    if name.is_empty() {
                        bail!("a question names no \"repo\", but --repos asks for one: add it, or leave --repos out");
                    }
                    let folder = repos.join(name).join(roots.get(name).map_or("", String::as_str));
                    if !folder.is_dir() {
                        bail!("{} is no directory, but there are questions about {name}: put the repository there", folder.display());
                    }
                    // The folder alone is searched, whatever repository it lies in.
                    Layout::at(&folder).create().with_context(|| format!("{} cannot be written", folder.display()))?;
                    Ok((name.clone(), folder))
                };
                names.into_iter().map(folder).collect::<Result<_>>()?
            }
        };
        Ok(Self { questions, folders, _copy: None })
    }

    /// The questions of each folder, folders in order of their names.
    fn by_folder(&self) -> BTreeMap<PathBuf, Vec<&Question>> {
        let mut out: BTreeMap<PathBuf, Vec<&Question>> = BTreeMap::new();
        for q in &self.questions {
            out.entry(self.folders.get(&q.repo).cloned().unwrap_or_default()).or_default().push(q);
        }
        out
    }
}

/// Which folder of a repository a benchmark indexes: `repos_used.json` beside the repositories or beside their directory.
fn benchmark_roots(repos: &Path) -> Result<BTreeMap<String, String>> {
    let beside = fs::canonicalize(repos).with_context(|| format!("--repos {}", repos.display()))?;
    let places = [Some(beside.as_path()), beside.parent()];
    let Some(file) = places.into_iter().flatten().map(|d| d.join("repos_used.json")).find(|f| f.is_file()) else {
        return Ok(BTreeMap::new());
    };
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let repos: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&text).with_context(|| format!("{} is no object of repositories", file.display()))?;
    Ok(repos.into_iter().filter_map(|(name, repo)| Some((name, repo.get("benchmark_root")?.as_str()?.to_string()))).collect())
}

/// The files of a project that are indexed, in order of their paths.
fn read_tree(project: &Project) -> Vec<SourceText> {
    let root = project.layout.root();
    let files = source::walk(root, &project.indexer(LONG_WAIT).walk, &Scope::All).files;
    let read = |file: source::SourceFile| {
        let bytes = fs::read(root.join(&file.path)).ok()?;
        let limit = match syntax::detect(&file.path, "").kind {
            Kind::Document(_) => LineLimit::Prose,
            Kind::Notebook => LineLimit::None,
            _ => LineLimit::Code,
        };
        source::check_content(&bytes, limit)
            .is_none()
            .then(|| SourceText { path: file.path, text: String::from_utf8_lossy(&bytes).into_owned() })
    };
    files.into_par_iter().filter_map(read).collect()
}

/// Writes a tree that is a project of its own, with the settings of another one.
fn write_tree(tree: &Path, files: &[SourceText], config: &Path) -> std::io::Result<()> {
    // Ignore files above it say nothing about it, and its settings are not looked for above it.
    fs::create_dir_all(tree.join(".git"))?;
    let layout = Layout::at(tree);
    layout.create()?;
    if config.is_file() {
        fs::copy(config, layout.config_file())?;
    }
    for file in files {
        let path = tree.join(&file.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, &file.text)?;
    }
    Ok(())
}

/// A directory that is removed at the end.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing can be done about a temporary directory that stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One project, loaded.
struct Searcher {
    manager: crate::live::ChunkManager,
}

impl Searcher {
    fn open(folder: &Path) -> Result<Self> {
        let project = Project::open(Some(folder))?;
        if project.is_stale() {
            project.index(Mode::Incremental, false, LONG_WAIT)?;
        }
        Ok(Self { manager: project.load()? })
    }

    /// The results, and how many milliseconds they took.
    fn ask(&self, query: &str, limit: usize) -> Result<(Results, f64)> {
        let snapshot = self.manager.current();
        let start = Instant::now();
        let query = Query::new(query);
        let vector = self.manager.embedder().embed_query(&query.text)?;
        let results: Result<Results, SearchError> = snapshot.code().corpus.search(&query, &vector, &Filter::default(), limit);
        Ok((results?, start.elapsed().as_secs_f64() * 1000.0))
    }
}

/// What a result shows, as a row that can be measured.
fn rows(results: &Results) -> Vec<Row> {
    let row = |hit: &Hit| {
        let m = &hit.chunk.metadata;
        Row { path: hit.path.to_string(), lines: m.start_line.zip(m.end_line) }
    };
    results.hits.iter().map(row).collect()
}

/// All that was ranked for one question: a line of `--features`.
#[derive(Serialize)]
struct Candidates<'a> {
    id: &'a str,
    repo: &'a str,
    category: &'a str,
    language: &'a str,
    query: &'a str,
    n_targets: usize,
    files: Vec<Candidate<'a>>,
}

#[derive(Serialize)]
struct Candidate<'a> {
    path: &'a str,
    /// Which targets it answers, by their places.
    targets: Vec<usize>,
    /// Each feature that is not 0.
    x: BTreeMap<&'static str, f64>,
}

impl<'a> Candidates<'a> {
    fn new(q: &'a Question, results: &'a Results) -> Self {
        let candidate = |hit: &'a Hit| Candidate {
            path: &hit.path,
            targets: q.targets.iter().enumerate().filter(|(_, t)| eval::matches(&hit.path, &t.path)).map(|(i, _)| i).collect(),
            x: hit.terms.iter().map(|t| (t.feature, t.value)).collect(),
        };
        Self {
            id: &q.id,
            repo: &q.repo,
            category: &q.category,
            language: &q.language,
            query: &q.query,
            n_targets: q.targets.len(),
            files: results.hits.iter().map(candidate).collect(),
        }
    }
}

/// A file of JSON lines that is being written.
struct Lines {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Lines {
    fn create(path: &Path) -> Result<Self> {
        let out = File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self { path: path.to_path_buf(), out: BufWriter::new(out) })
    }

    fn put(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)?;
        writeln!(self.out, "{text}").with_context(|| format!("{} cannot be written", self.path.display()))
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().with_context(|| format!("{} cannot be written", self.path.display()))
    }
}

/// The JSON answer; documented in specs/cli-json.md.
#[derive(Serialize)]
struct Report<'a> {
    n_questions: usize,
    #[serde(flatten)]
    summary: Summary,
    questions: &'a [Scored],
}

fn print(summary: &Summary) -> Result<()> {
    line(&format!("{:<26} {:>6} {:>8} {:>6} {:>6} {:>6} {:>6} {:>7}", "", "n", "NDCG@10", "R@1", "R@5", "R@10", "MRR", "span@5"))?;
    print_group("overall", &summary.overall)?;
    for groups in [&summary.by_category, &summary.by_language, &summary.by_repo] {
        // One group says what was said already.
        if groups.len() > 1 {
            line("")?;
            groups.iter().try_for_each(|(name, group)| print_group(name, group))?;
        }
    }
    line("")?;
    line(&format!("query: {:.1} ms half of the time, {:.1} ms in 95 of 100", summary.latency_ms.p50, summary.latency_ms.p95))
}

fn print_group(name: &str, g: &Group) -> Result<()> {
    let span = g.span_recall_5.map_or_else(String::new, |s| format!("{s:.3}"));
    let name = console::truncate_str(name, 26, "…");
    line(
        format!(
            "{name:<26} {:>6} {:>8.3} {:>6.3} {:>6.3} {:>6.3} {:>6.3} {span:>7}",
            g.n, g.ndcg, g.recall_1, g.recall_5, g.recall_10, g.mrr
        )
        .trim_end(),
    )
}
