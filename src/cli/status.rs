//! `cortex status`: shows the state of the index.

use anyhow::Result;

use super::args::OfProject;
use super::outcome::Outcome;
use super::render::{self, count, json, printable};
use crate::engine::{AnswerFrom, Call, StatusAnswer, StatusRequest};
use crate::search::HNSW_FROM;
use crate::text::cut;

/// Longest list of names, in characters.
const MAX_NAMES: usize = 200;

/// Show what is indexed, how old the index is, and what was skipped.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex status --json
  cortex status -v")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// List every skipped file with its reason, what ignore files and hidden names leave out, by
    /// which rule, and the place of every redacted secret
    #[arg(long, short)]
    verbose: bool,
}

/// Number of secrets that are listed without `--verbose`.
const SECRETS_SHOWN: usize = 5;

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let engine = args.project.engine(AnswerFrom::Index)?;
    let status =
        engine.status(StatusRequest { verbose: args.verbose || args.json }, &Call::default())?;
    if args.json {
        json(&status)?;
    } else {
        print(&status, args.verbose)?;
    }
    Ok(if status.chunks == 0 { Outcome::NothingFound } else { Outcome::Done })
}

/// Prints what git adds: commits, and repositories inside of the project.
fn print_repositories(s: &StatusAnswer) -> Result<()> {
    if s.commits > 0 {
        render::line(&format!("commits     {}, whose messages help to rank", s.commits))?;
    }
    if !s.nested.is_empty() {
        render::line(&format!(
            "nested      {}: indexed with the project, without their commits",
            printable(&cut(&s.nested.join(", "), MAX_NAMES))
        ))?;
    }
    Ok(())
}

fn print(s: &StatusAnswer, verbose: bool) -> Result<()> {
    let line = |text: &str| render::line(&printable(text));
    line(&format!("project     {} ({})", s.root, s.root_reason))?;
    line(&format!("kept in     {}", s.kept_in))?;
    for ignored in &s.ignored_settings {
        line(&format!("ignored     {ignored}"))?;
    }
    let (index, running) = (&s.state.index, &s.indexing);
    if running.total + running.queued > 0 {
        line(&format!(
            "indexing    {} of {}, {} more changed",
            running.done,
            count(running.total, "file"),
            running.queued
        ))?;
    }
    render::warnings(&s.state);
    if s.chunks == 0 {
        line("index       none yet: run `cortex index`")?;
        return Ok(());
    }
    let whose = if s.foreign { ", written by another program" } else { "" };
    let local = if index.local { " (local: each process counts its own)" } else { "" };
    line(&format!(
        "index       generation {}{local}{whose}, {} parsed",
        index.generation,
        count(s.files_parsed, "chunk file")
    ))?;
    if let Some(at) = &index.indexed_at {
        let age = chrono::DateTime::parse_from_rfc3339(at)
            .map_or_else(|_| at.clone(), |t| ago(chrono::Utc::now().signed_duration_since(t)));
        line(&format!("age         {age}, {}", s.newer().unwrap_or("up to date")))?;
    }
    if !s.other_files.is_empty() {
        line(&format!("beside it   {}, written by other programs", s.other_files.join(", ")))?;
    }
    let list = |m: &mut dyn Iterator<Item = (&str, usize)>| {
        m.map(|(k, n)| format!("{n} {k}")).collect::<Vec<_>>().join(", ")
    };
    line(&format!(
        "chunks      {} ({})",
        s.chunks,
        list(&mut s.chunk_types.iter().map(|(k, n)| (*k, *n)))
    ))?;
    print_repositories(s)?;
    let pending = if index.vectors_pending > 0 {
        format!(", {} to be made", index.vectors_pending)
    } else {
        String::new()
    };
    let graph = if s.chunks >= HNSW_FROM {
        "; so many that a server asks a graph of them (HNSW), built once and saved"
    } else {
        ""
    };
    line(&format!("vectors     by {}{pending}{graph}", s.embedder))?;
    let mut languages: Vec<_> = s.languages.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    languages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let languages = if languages.is_empty() {
        String::new()
    } else {
        format!(" ({})", list(&mut languages.into_iter()))
    };
    let files = if s.files == 0 { "none that a chunk names".into() } else { s.files.to_string() };
    line(&format!("files       {files}{languages}"))?;
    if !s.skipped.is_empty() {
        line(&format!(
            "skipped     {}",
            list(&mut s.skipped.iter().map(|(k, n)| (k.as_str(), *n)))
        ))?;
    }
    for (path, reason) in &s.skipped_files {
        line(&format!("  {path}: {reason}"))?;
    }
    if let Some(left) = s.left_out.as_ref().filter(|_| verbose) {
        line(&format!("left out    {} by name or by an ignore file", left.total))?;
        left.first.iter().try_for_each(|row| line(&format!("  {}", row.line())))?;
        let n_more = left.total - left.first.len();
        if n_more > 0 {
            line(&format!("  and {n_more} more"))?;
        }
    }
    if s.secrets.total > 0 {
        line(&format!(
            "secrets     {} hidden in the index and in every reply",
            count(s.secrets.total, "secret")
        ))?;
        let shown = if verbose { s.secrets.total } else { SECRETS_SHOWN };
        for secret in s.secrets.first.iter().take(shown) {
            line(&format!("  {}:{}: {}", secret.path, secret.line, secret.rule))?;
        }
        if s.secrets.total > shown {
            line(&format!("  and {} more: --verbose lists them", s.secrets.total - shown))?;
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
