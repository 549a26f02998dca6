//! `cortex status`: what is indexed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use super::Outcome;
use super::render::{self, count, json, printable};
use super::wire::Project;
use crate::chunk::{ChunkType, Loaded};
use crate::search::HNSW_FROM;
use crate::store::{Activity, SourceTable};

/// Show what is indexed, how old it is and what was skipped.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex status --json")]
pub(super) struct Args {
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// List every skipped file with the reason, and every secret that was hidden
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Serialize)]
struct Status {
    root: PathBuf,
    /// Why that directory is the root.
    root_reason: &'static str,
    /// The directory of the index: `.cortex`, or one in the user's cache.
    kept_in: PathBuf,
    generation: u64,
    /// Nobody counts generations of these files; each process that serves them counts its own.
    local: bool,
    /// Another program wrote the chunk files.
    foreign: bool,
    /// Files of other programs that are served beside the index, by their names in `chunks`.
    other_files: Vec<String>,
    indexed_at: Option<String>,
    /// Files changed since then.
    stale: bool,
    /// What a process is indexing now: files done of total, and paths that wait.
    indexing: Option<Activity>,
    n_files: usize,
    n_chunks: usize,
    /// Chunk files that were parsed for this.
    n_parsed: usize,
    chunks: BTreeMap<&'static str, usize>,
    /// What makes the vectors.
    embedder: String,
    /// Vectors that it is yet to make.
    vectors_pending: usize,
    languages: BTreeMap<String, usize>,
    skipped: BTreeMap<String, usize>,
    skipped_files: BTreeMap<String, String>,
    /// Secrets that were taken out while indexing.
    n_secrets: usize,
    /// Where they are, and which rule found each.
    secrets: Vec<Secret>,
    /// Settings of files that do not count, and why.
    ignored_settings: Vec<String>,
    warnings: Vec<String>,
}

/// A place where a secret was taken out of what is indexed. Nothing says what it was.
#[derive(Serialize)]
struct Secret {
    path: String,
    line: u32,
    rule: String,
}

/// Secrets that are named without `--verbose`.
const SECRETS_SHOWN: usize = 5;

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let project = Project::open(args.path.as_deref())?;
    let Loaded { set: chunks, generation, mut warnings, n_parsed, .. } = project.read_chunks()?;
    warnings.extend(project.layout.tracked_private_files());
    let table = SourceTable::read(&project.layout).unwrap_or_default();
    let mut languages: BTreeMap<String, usize> = BTreeMap::new();
    for path in chunks.files() {
        let language = chunks.by_file(path).find_map(|e| e.language.as_deref());
        *languages.entry(language.unwrap_or("unknown").to_string()).or_default() += 1;
    }
    let skipped_files: BTreeMap<String, String> = table.all_skipped().map(|(p, r)| (p.to_string(), r.to_string())).collect();
    let secrets: Vec<Secret> =
        table.all_secrets().map(|(path, line, rule)| Secret { path: path.to_string(), line, rule: rule.to_string() }).collect();
    // Whoever serves such files counts what it sees of them, from 1.
    let foreign = generation.is_none() && !chunks.is_empty();
    let status = Status {
        root: project.layout.root().to_path_buf(),
        root_reason: project.layout.reason(),
        kept_in: project.layout.dot_cortex(),
        generation: generation.unwrap_or(u64::from(foreign)),
        local: foreign,
        foreign,
        other_files: project.layout.other_chunk_files(),
        indexed_at: Some(table.indexed_at.clone()).filter(|t| !t.is_empty()),
        stale: project.is_stale(),
        indexing: Some(Activity::read(&project.layout)).filter(|a| a.pending() > 0),
        n_files: chunks.files().count(),
        n_chunks: chunks.len(),
        n_parsed,
        chunks: ChunkType::ALL.iter().map(|t| (t.as_str(), chunks.count(*t))).collect(),
        embedder: project.embedder().id().to_string(),
        vectors_pending: project.n_without_vectors(&chunks),
        languages,
        skipped: table.n_skipped(),
        skipped_files,
        n_secrets: secrets.len(),
        secrets,
        ignored_settings: project.config.ignored.clone(),
        warnings,
    };
    if args.json {
        json(&status)?;
    } else {
        print(&status, args.verbose)?;
    }
    Ok(if status.n_chunks == 0 { Outcome::NothingFound } else { Outcome::Done })
}

fn print(s: &Status, verbose: bool) -> Result<()> {
    let line = |text: &str| render::line(&printable(text));
    line(&format!("project     {} ({})", s.root.display(), s.root_reason))?;
    line(&format!("kept in     {}", s.kept_in.display()))?;
    for ignored in &s.ignored_settings {
        line(&format!("ignored     {ignored}"))?;
    }
    if let Some(Activity { done, total, queued }) = s.indexing {
        line(&format!("indexing    {done} of {}, {queued} more changed", count(total, "file")))?;
    }
    for warning in &s.warnings {
        eprintln!("warning: {}", printable(warning));
    }
    if s.n_chunks == 0 {
        line("index       none yet: run `cortex index`")?;
        return Ok(());
    }
    let whose = if s.foreign { ", written by another program" } else { "" };
    let local = if s.local { " (local: each process counts its own)" } else { "" };
    line(&format!("index       generation {}{local}{whose}, {} parsed", s.generation, count(s.n_parsed, "chunk file")))?;
    if let Some(at) = &s.indexed_at {
        let age =
            chrono::DateTime::parse_from_rfc3339(at).map_or_else(|_| at.clone(), |t| ago(chrono::Utc::now().signed_duration_since(t)));
        line(&format!("age         {age}, {}", if s.stale { "files changed since" } else { "up to date" }))?;
    }
    if !s.other_files.is_empty() {
        line(&format!("beside it   {}, written by other programs", s.other_files.join(", ")))?;
    }
    let list = |m: &mut dyn Iterator<Item = (String, usize)>| m.map(|(k, n)| format!("{n} {k}")).collect::<Vec<_>>().join(", ");
    line(&format!("chunks      {} ({})", s.n_chunks, list(&mut s.chunks.iter().map(|(k, n)| (k.to_string(), *n)))))?;
    let pending = if s.vectors_pending > 0 { format!(", {} to be made", s.vectors_pending) } else { String::new() };
    let graph = if s.n_chunks >= HNSW_FROM { "; so many that a server asks a graph of them (HNSW), built once and saved" } else { "" };
    line(&format!("vectors     by {}{pending}{graph}", s.embedder))?;
    let mut languages: Vec<_> = s.languages.iter().map(|(k, n)| (k.clone(), *n)).collect();
    languages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let languages = if languages.is_empty() { String::new() } else { format!(" ({})", list(&mut languages.into_iter())) };
    let files = if s.n_files == 0 { "none that a chunk names".into() } else { s.n_files.to_string() };
    line(&format!("files       {files}{languages}"))?;
    if !s.skipped.is_empty() {
        line(&format!("skipped     {}", list(&mut s.skipped.iter().map(|(k, n)| (k.clone(), *n)))))?;
    }
    if verbose {
        for (path, reason) in &s.skipped_files {
            line(&format!("  {path}: {reason}"))?;
        }
    }
    if s.n_secrets > 0 {
        line(&format!("secrets     {} hidden in the index and in every reply", count(s.n_secrets, "secret")))?;
        let shown = if verbose { s.n_secrets } else { SECRETS_SHOWN };
        for Secret { path, line: at, rule } in s.secrets.iter().take(shown) {
            line(&format!("  {path}:{at}: {rule}"))?;
        }
        if s.n_secrets > shown {
            line(&format!("  and {} more: --verbose lists them", s.n_secrets - shown))?;
        }
    }
    Ok(())
}

fn ago(age: chrono::TimeDelta) -> String {
    let (d, h, m) = (age.num_days(), age.num_hours(), age.num_minutes());
    let unit = |n: i64, what| format!("{} ago", count(usize::try_from(n).unwrap_or(0), what));
    match () {
        () if d > 0 => unit(d, "day"),
        () if h > 0 => unit(h, "hour"),
        () if m > 0 => unit(m, "minute"),
        () => "just now".into(),
    }
}
