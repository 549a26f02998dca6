//! `cortex search`: prints ranked results for a question.

use anyhow::{Result, bail};
use console::style;
use serde::Serialize;

use super::args::{self, OfProject};
use super::outcome::Outcome;
use super::render::{self, line, place};
use crate::chunk::ChunkType;
use crate::config::MAX_LIMIT;
use crate::engine::{
    Call, ChunkRow, Filters, Kinds, Look, ResultRow, SearchAnswer, SearchMode, SearchRequest,
};
use crate::memory::RecalledMemory;
use crate::search::Highlighter;

/// Search the project by words and meaning. Updates the index first if files have changed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex search \"which chunks changed between two sets\"
  cortex search ChunkManager::reload --context 20
  cortex search --exact '\"write lock\" OR name:acquire' --paths src/store
  cortex search retry --languages rust --types definitions --json
  cortex search 'lang:rust path:src/serve \"Waits until\"'

Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    /// A question, words, or an identifier
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    #[command(flatten)]
    project: OfProject,
    /// Show at most this many files; the best ones may show two places [default: 10]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show only chunks of these types (repeat, or separate with commas)
    #[arg(long, alias = "type", value_name = "TYPE", value_delimiter = ',', value_parser = args::one_of::<ChunkType>(args::TYPES))]
    types: Vec<ChunkType>,
    /// Show only results in these languages, by name or file extension (repeat, or separate with
    /// commas)
    #[arg(long, alias = "lang", value_name = "LANGUAGE", value_delimiter = ',')]
    languages: Vec<String>,
    /// Show only files that match one of these globs, for example src/** or *.rs (repeat)
    #[arg(long, alias = "in", value_name = "GLOB")]
    paths: Vec<String>,
    /// Show only chunks that have all of these tags (repeat)
    #[arg(long, alias = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Rank by words and meaning, by meaning alone, or match the query syntax exactly
    #[arg(long, value_name = "MODE", default_value = "hybrid", value_parser = args::one_of::<SearchMode>(&["hybrid", "semantic", "exact"]))]
    mode: SearchMode,
    /// Same as --mode exact. Query syntax: words (all must occur), "a phrase", OR, +word, -word,
    /// field:word
    #[arg(long, conflicts_with = "mode")]
    exact: bool,
    /// Continue an earlier search from its `next_cursor` (see --json)
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Also show this many memories that match the question [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    memories: usize,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
    /// Show the features that make up each score
    #[arg(long)]
    explain: bool,
    /// Do not update the index first
    #[arg(long)]
    no_index: bool,
    /// Show this many lines of each result; 0 shows none [default: 6]
    #[arg(long, short = 'C', value_name = "N")]
    context: Option<usize>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let look = if args.no_index { Look::AtIndex } else { Look::AtTree };
    let engine = args.project.engine(look)?;
    let config = &engine.project.config;
    let (limit, context) =
        (args.limit.unwrap_or(config.limit), args.context.unwrap_or(config.context));
    if !(1..=MAX_LIMIT).contains(&limit) {
        bail!("-n is {limit}, but must be from 1 to {MAX_LIMIT}");
    }
    let Args { types, languages, paths, tags, .. } = args;
    let kinds = Kinds { types: types.clone(), languages: languages.clone() };
    let request = SearchRequest {
        query: args.query.join(" "),
        mode: if args.exact { SearchMode::Exact } else { args.mode },
        limit,
        filters: Filters { kinds, paths: paths.clone(), tags: tags.clone() },
        cursor: args.cursor.clone(),
        memories: args.memories,
        explain: args.explain,
        ..SearchRequest::default()
    };
    let mut answer = engine.search(&request, &Call::default())?;
    if answer.n_chunks == 0 && args.no_index {
        bail!(
            "{} has no index yet: run `cortex index`, or search without --no-index",
            engine.project.layout.root().display()
        );
    }
    if args.json {
        if context > 0 {
            answer.results = answer.results.into_iter().map(ResultRow::with_text).collect();
        }
        render::json(&Reply {
            query: &request.query,
            n_chunks: answer.n_chunks,
            memories: &answer.memories,
            answer: &answer,
        })?;
    } else {
        print(&answer, &request, context, args.explain)?;
    }
    let is_found = !answer.results.is_empty() || !answer.memories.is_empty();
    Ok(args::end(engine, if is_found { Outcome::Done } else { Outcome::NothingFound }))
}

fn print(
    answer: &SearchAnswer,
    request: &SearchRequest,
    context: usize,
    explain: bool,
) -> Result<()> {
    render::warnings(&answer.state);
    for note in &answer.notes {
        eprintln!("note: {}", render::printable(note));
    }
    let is_exact = request.mode == SearchMode::Exact;
    let mut words = if is_exact {
        Highlighter::exact(&request.query)
    } else {
        Highlighter::new(&request.query)
    };
    for row in &answer.results {
        print_row(row, &mut words, context, explain)?;
    }
    if !answer.memories.is_empty() {
        line(&style("remembered:").bold().to_string())?;
        answer.memories.iter().try_for_each(super::memory::print_found)?;
    }
    if answer.results.is_empty() {
        eprintln!("nothing found in {}", render::count(answer.n_chunks, "chunk"));
    }
    Ok(())
}

fn print_row(
    row: &ResultRow,
    words: &mut Highlighter,
    context: usize,
    explain: bool,
) -> Result<()> {
    let ResultRow { chunk, hit, .. } = row;
    let what = chunk.symbol.as_deref().or(chunk.title.as_deref()).unwrap_or_default();
    let what = render::printable(what);
    let gone = if chunk.deleted { " (deleted)" } else { "" };
    let place = place(chunk.start_line.zip(chunk.end_line), &hit.path) + gone;
    let room = render::width().saturating_sub(console::measure_text_width(&place) + 2);
    let what = console::truncate_str(&what, room, "…");
    line(format!("{}  {}", style(&place).cyan().bold(), style(what).green()).trim_end())?;
    if context > 0 {
        for l in render::snippet(&hit.chunk, words, context) {
            line(&l)?;
        }
    }
    if !row.others.is_empty() {
        let others: Vec<String> = row.others.iter().map(also).collect();
        let text = format!("   also {}", others.join(", "));
        line(&style(console::truncate_str(&text, render::width(), "…")).dim().to_string())?;
    }
    if explain {
        line(&format!("   score {:.3}", row.score))?;
        for part in &row.explain {
            line(&format!(
                "   {:>8.3} = {:.3} × {:+.2} {}",
                part.contribution, part.value, part.weight, part.feature
            ))?;
        }
    }
    line("")
}

fn also(chunk: &ChunkRow) -> String {
    let symbol = render::printable(chunk.symbol.as_deref().unwrap_or(""));
    format!("{} {symbol}", place(chunk.start_line.zip(chunk.end_line), "").trim_start_matches(':'))
        .trim_end()
        .to_string()
}

/// The JSON answer, documented in specs/cli-json.md.
#[derive(Serialize)]
struct Reply<'a> {
    query: &'a str,
    n_chunks: usize,
    #[serde(skip_serializing_if = "<[RecalledMemory]>::is_empty")]
    memories: &'a [RecalledMemory],
    #[serde(flatten)]
    answer: &'a SearchAnswer,
}
