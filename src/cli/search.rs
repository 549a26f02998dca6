//! `cortex search`: ranked results for a question.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use console::style;
use serde::Serialize;

use super::Outcome;
use super::render::{self, count, line, place};
use super::wire::{LONG_WAIT, Project, SHORT_WAIT};
use crate::chunk::{Cancel, Chunk, ChunkSet, ChunkType};
use crate::config::{MAX_LIMIT, globs};
use crate::index::{IndexError, Mode};
use crate::live::{ChunkManager, Served};
use crate::memory::{MemoryFilter, RecalledMemory};
use crate::search::{Filter, Highlighter, Hit, Query, Results};

/// Search the project of the current directory. Indexes it first if that is needed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex search \"which chunks changed between two sets\"
  cortex search ChunkManager::reload --context 20
  cortex search --exact '\"write lock\" OR name:acquire' --in src/store
  cortex search retry --lang rust --type definitions --json
  cortex search 'lang:rust path:src/serve \"shut down\"'

Exit codes: 0 found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    /// A question, some words, or an identifier
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    /// A directory of the project [default: the current one]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// How many files [default: 10]; the best of them may show two places
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Only chunks of these types
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<TypeArg>,
    /// Only these languages (rust, python, markdown …)
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',')]
    languages: Vec<String>,
    /// Only paths that match one of these globs
    #[arg(long = "in", value_name = "GLOB")]
    paths: Vec<String>,
    /// Only chunks with all of these tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Query syntax instead of ranking by meaning: words (all must occur), "phrases", OR, +word, -word, field:word
    #[arg(long)]
    exact: bool,
    /// Also this many of the memories that answer best
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    memories: usize,
    /// Print JSON (specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
    /// Search the index as it is, even if files changed since
    #[arg(long)]
    no_index: bool,
    /// Lines shown of each result, 0 for none [default: 6]
    #[arg(long, short = 'C', value_name = "N")]
    context: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TypeArg {
    Symbols,
    Definitions,
    Data,
    Documentation,
}

impl From<TypeArg> for ChunkType {
    fn from(t: TypeArg) -> Self {
        match t {
            TypeArg::Symbols => Self::Symbols,
            TypeArg::Definitions => Self::Definitions,
            TypeArg::Data => Self::Data,
            TypeArg::Documentation => Self::Documentation,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let text = args.query.join(" ");
    if text.trim().is_empty() || !args.exact && Query::new(&text).is_empty() {
        let why = if text.trim().is_empty() { "is empty" } else { "has no words" };
        bail!("the query {why}: ask a question, or give some words or an identifier");
    }
    let project = Project::open(args.path.as_deref())?;
    let limit = args.limit.unwrap_or(project.config.limit);
    if !(1..=MAX_LIMIT).contains(&limit) {
        bail!("-n is {limit}, but must be from 1 to {MAX_LIMIT}");
    }
    let filter = Filter {
        condition: None,
        types: args.types.iter().map(|t| (*t).into()).collect(),
        languages: args.languages.iter().map(|l| l.to_lowercase()).collect(),
        paths: globs(&args.paths).map_err(|e| anyhow::anyhow!("--in: {e}"))?,
        tags: args.tags.clone(),
    };
    let manager = if args.no_index { project.load()? } else { load_fresh(&project)? };
    let (results, warnings) = manager.ask(|snapshot| find(args, &text, &filter, limit, &manager, snapshot.code()))?;
    let snapshot = manager.current();
    let code = snapshot.code();
    if code.corpus.chunks().is_empty() && args.no_index {
        bail!("{} has no index yet: run `cortex index`, or search without --no-index", project.layout.root().display());
    }
    let context = args.context.unwrap_or(project.config.context);
    if let Some(notice) = project.memory_home().notice().filter(|_| args.memories > 0) {
        eprintln!("{notice}");
    }
    let memories =
        if args.memories > 0 { super::memory::recall(&project, &text, &MemoryFilter::default(), args.memories)? } else { Vec::new() };
    if args.json {
        let reply = Reply::new(&text, code, &results, args.explain, context, &warnings);
        render::json(&Reply { memories: &memories, ..reply })?;
    } else {
        for warning in &warnings {
            eprintln!("warning: {}", render::printable(warning));
        }
        for note in &results.notes {
            eprintln!("note: {}", render::printable(note));
        }
        let mut words = Highlighter::new(&text);
        for hit in &results.hits {
            print_hit(hit, &mut words, context, args.explain)?;
        }
        if !memories.is_empty() {
            line(&style("remembered:").bold().to_string())?;
            memories.iter().try_for_each(super::memory::print_found)?;
        }
        if results.hits.is_empty() {
            eprintln!("nothing found in {} chunks{}", code.corpus.chunks().len(), unknown_languages(code, &filter));
        }
    }
    manager.save(0.0);
    // The process ends: the system frees all of it at once.
    std::mem::forget((snapshot, manager));
    Ok(if results.hits.is_empty() && memories.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Answers the question, and gives the warnings that belong to the answer.
fn find(args: &Args, text: &str, filter: &Filter, limit: usize, manager: &ChunkManager, code: &Served) -> Result<(Results, Vec<String>)> {
    let mut warnings = code.warnings.clone();
    if args.exact {
        return Ok((code.corpus.search_exact(text, filter, limit)?, warnings));
    }
    let query = code.corpus.query(text)?;
    if code.n_without_vectors > 0 {
        let n = count(code.n_without_vectors, "chunk");
        warnings.push(format!(
            "{n} of {} can be found by words alone until `cortex index` has had the vectors made",
            code.corpus.chunks().len()
        ));
    }
    let vector = manager.embedder().embed_query(&query.text).unwrap_or_else(|e| {
        warnings.push(format!("the question has no vector, so this is found by words alone: {e}"));
        Vec::new()
    });
    Ok((code.corpus.search(&query, &vector, filter, limit)?, warnings))
}

/// A hint for languages that nothing here is written in.
fn unknown_languages(code: &Served, filter: &Filter) -> String {
    let unknown = filter.unknown_languages(code.corpus.chunks());
    unknown.map_or_else(String::new, |(unknown, there)| {
        format!("; nothing here is written in {} (there are {})", unknown.join(", "), there.join(", "))
    })
}

/// Loads the index, and brings it up to date first where that is needed. If that cannot be done, an index that is there is
/// still searched.
fn load_fresh(project: &Project) -> Result<ChunkManager> {
    let (manager, all) = (project.manager()?, Cancel::new(false));
    // Mostly nothing has changed: what is there is loaded while that is found out.
    let (is_stale, loaded) = rayon::join(|| project.is_stale(), || manager.reload(&all));
    if !is_stale {
        loaded?;
        return Ok(manager);
    }
    let first = !project.layout.is_indexed();
    match project.index(Mode::Incremental, false, if first { LONG_WAIT } else { SHORT_WAIT }) {
        Ok(summary) if first => eprintln!("{}", super::index::one_line(&summary)),
        Ok(_) => {}
        Err(e) if first || !matches!(e.downcast_ref::<IndexError>(), Some(IndexError::Lock(_) | IndexError::Write(_))) => return Err(e),
        Err(e) => eprintln!("warning: {}; searching the index as it was", render::printable(&format!("{e:#}"))),
    }
    manager.reload(&all)?;
    Ok(manager)
}

fn print_hit(hit: &Hit, words: &mut Highlighter, context: usize, explain: bool) -> Result<()> {
    let what = if hit.chunk.title == *hit.path { String::new() } else { render::printable(&hit.chunk.title) };
    let gone = if hit.chunk.metadata.is_deleted() { " (deleted)" } else { "" };
    let place = place(hit.lines, &hit.path) + gone;
    let room = render::width().saturating_sub(console::measure_text_width(&place) + 2);
    let what = console::truncate_str(&what, room, "…");
    line(format!("{}  {}", style(&place).cyan().bold(), style(what).green()).trim_end())?;
    if context > 0 {
        for l in render::snippet(&hit.chunk, words, context) {
            line(&l)?;
        }
    }
    if !hit.others.is_empty() {
        let also: Vec<String> = hit.others.iter().filter_map(|e| e.chunk()).map(|c| also(&c)).collect();
        let text = format!("   also {}", also.join(", "));
        line(&style(console::truncate_str(&text, render::width(), "…")).dim().to_string())?;
    }
    if explain {
        line(&format!("   score {:.3}", hit.score))?;
        for t in &hit.terms {
            line(&format!("   {:>8.3} = {:.3} × {:+.2} {}", t.contribution(), t.value, t.weight, t.feature))?;
        }
    }
    line("")
}

fn also(chunk: &Chunk) -> String {
    let symbol = render::printable(chunk.metadata.symbol.as_deref().unwrap_or(""));
    format!("{} {symbol}", place(chunk.metadata.start_line.zip(chunk.metadata.end_line), "").trim_start_matches(':')).trim_end().to_string()
}

/// The JSON answer; documented in specs/cli-json.md.
#[derive(Serialize)]
struct Reply<'a> {
    query: &'a str,
    generation: u64,
    /// This process counts the generation, because whoever writes the chunk files does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local: bool,
    n_chunks: usize,
    total: usize,
    results: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "<[RecalledMemory]>::is_empty")]
    memories: &'a [RecalledMemory],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    #[serde(flatten)]
    chunk: Span,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_start_line: Option<u32>,
    others: Vec<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<Part>>,
}

#[derive(Serialize)]
struct Span {
    chunk_id: String,
    chunk_type: ChunkType,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_chunks: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
}

#[derive(Serialize)]
struct Part {
    feature: &'static str,
    value: f64,
    weight: f64,
    contribution: f64,
}

impl<'a> Reply<'a> {
    fn new(query: &'a str, code: &'a Served, results: &'a Results, explain: bool, context: usize, warnings: &'a [String]) -> Self {
        let set = code.corpus.chunks();
        let row = |hit: &'a Hit| Row {
            file_path: hit.chunk.metadata.file_path.as_deref(),
            chunk: Span { start_line: hit.lines.map(|l| l.0), end_line: hit.lines.map(|l| l.1), ..Span::new(&hit.chunk, set) },
            text_start_line: hit.chunk.metadata.start_line.filter(|_| context > 0),
            score: hit.score,
            text: (context > 0).then_some(&*hit.chunk.text),
            others: hit.others.iter().filter_map(|e| e.chunk()).map(|c| Span::new(&c, set)).collect(),
            explain: explain.then(|| {
                let part =
                    |t: &crate::search::Term| Part { feature: t.feature, value: t.value, weight: t.weight, contribution: t.contribution() };
                hit.terms.iter().map(part).collect()
            }),
        };
        Self {
            query,
            generation: code.generation,
            local: code.local && code.generation > 0,
            n_chunks: code.corpus.chunks().len(),
            total: results.total,
            results: results.hits.iter().map(row).collect(),
            memories: &[],
            warnings,
            notes: &results.notes,
        }
    }
}

impl Span {
    fn new(chunk: &Chunk, set: &ChunkSet) -> Self {
        let m = &chunk.metadata;
        let place = set.place_in_file(&chunk.id);
        Self {
            chunk_id: chunk.id.to_string(),
            chunk_type: chunk.chunk_type,
            title: chunk.title.clone(),
            language: m.language.clone(),
            symbol: m.symbol.clone(),
            start_line: m.start_line,
            end_line: m.end_line,
            chunk_index: place.map(|p| p.0),
            total_chunks: place.map(|p| p.1),
            deleted: m.is_deleted(),
        }
    }
}
