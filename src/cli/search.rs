//! `cortex search`: prints ranked results for a question.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, Result, bail};
use console::style;
use serde::Serialize;

use super::args::{self, Form, OfProject};
use super::elsewhere::{Elsewhere, Others};
use super::outcome::Outcome;
use super::paths::Paths;
use super::render::{self, line};
use crate::chunk::ChunkType;
use crate::config::MAX_LIMIT;
use crate::engine::{
    AnswerFrom, Call, ChunkRow, Engine, Filters, Kinds, ResultRow, SearchAnswer, SearchMode,
    SearchRequest, Tests,
};
use crate::memory::RecalledMemory;
use crate::projects::KnownProject;
use crate::search::Highlighter;
use crate::text::MAX_LINE;
use crate::tools::{Look, facts_lines, joined, row_lines};

/// Number of results that the text shows if nobody says how many, and of the lines of a screen that
/// they share.
const FIRST_RESULTS: usize = 5;
const SCREEN: usize = 40;
/// Number of lines of each result in JSON.
const JSON_LINES: usize = 6;
/// Most columns of a line that lists names.
const MAX_WIDTH: usize = 100;

/// By the name of a project, how its paths are printed. The current project has no name.
type PathsByProject = BTreeMap<Option<String>, Paths>;

/// Search the project by words and meaning. Updates the index first if files have changed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex search \"which chunks changed between two sets\"
  cortex search ChunkManager::reload --lines 20
  cortex search --exact '\"write lock\" OR name:acquire' --paths src/store
  cortex search retry --languages rust --types definitions --json
  cargo test 2>&1 | cortex search -
  cortex search retry -T markdown --exclude tests
  cortex search --deps \"recursion limit when JSON is read\"
  cortex search --repo . \"which chunks changed between two sets\"
  cortex search 'lang:rust path:src/serve \"Waits until\"'

Exit codes: 0 results found, 1 nothing found, 2 error.")]
pub(super) struct Args {
    /// A question, words, an identifier or a stack trace; - reads it from standard input
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    elsewhere: Elsewhere,
    /// Show at most this many results; a file may have several, but with -l each is a file; the text shows 5 unless it is given [default: 10]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show only chunks of these types (repeat, or separate with commas)
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = args::one_of::<ChunkType>(args::TYPES))]
    types: Vec<ChunkType>,
    #[command(flatten)]
    languages: args::Languages,
    /// Show only files that match one of these globs, for example src/** or *.rs (repeat)
    #[arg(long, value_name = "GLOB")]
    paths: Vec<String>,
    #[command(flatten)]
    excluded: args::Excluded,
    /// Show only chunks that have all of these tags (repeat)
    #[arg(long, value_name = "TAG")]
    tags: Vec<String>,
    /// Leave files of tests out, or show only these
    #[arg(long, value_name = "WHICH", value_parser = args::one_of::<Tests>(&["none", "only"]))]
    tests: Option<Tests>,
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
    /// Print only the paths, best first
    #[arg(short = 'l', long = "files", conflicts_with_all = ["explain", "context"])]
    files_only: bool,
    /// Open the best result in $EDITOR, at its line
    #[arg(long, conflicts_with_all = ["json", "files_only"])]
    open: bool,
    /// Also show this many memories that match the question [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    memories: usize,
    #[command(flatten)]
    form: Form,
    /// Show the features that make up each score
    #[arg(long)]
    explain: bool,
    /// Also search the sources of dependencies, which `cortex deps index` or this option indexes
    #[arg(long)]
    deps: bool,
    /// Do not update the index first
    #[arg(long)]
    no_index: bool,
    /// Show this many lines of each result, without blank lines and brackets; 0 shows none; with automatic, the results share a screen [default: automatic]
    #[arg(long = "lines", short_alias = 'C', alias = "context", value_name = "N")]
    context: Option<usize>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let look = if args.no_index { AnswerFrom::Index } else { AnswerFrom::Tree };
    let engine = args.project.engine(look)?;
    args::answer_early(&engine, &args.form);
    let config = &engine.project.config;
    let (limit, context) = (args.limit.unwrap_or(config.limit), args.context.or(config.context));
    if !(1..=MAX_LIMIT).contains(&limit) {
        bail!("-n is {limit}, but must be from 1 to {MAX_LIMIT}");
    }
    let Args { types, languages, paths, tags, .. } = args;
    let kinds = Kinds { types: types.clone(), languages: languages.wanted() };
    let (repos, others, call) = args.elsewhere.selected(&engine, look)?;
    let request = SearchRequest {
        query: if args.query == ["-"] { args::standard_input()? } else { args.query.join(" ") },
        mode: if args.exact { SearchMode::Exact } else { args.mode },
        limit,
        filters: Filters {
            kinds,
            paths: args.excluded.with(paths, Some(&engine.project)),
            tags: tags.clone(),
            tests: args.tests,
        },
        repos,
        cursor: args.cursor.clone(),
        memories: args.memories,
        explain: args.explain,
        deps: args.deps,
        one_per_file: args.files_only,
        with_facts: !args.form.json && !args.files_only,
        ..SearchRequest::default()
    };
    let mut answer = engine.search_scoped(&request, &call)?;
    let paths = paths_by_project(&answer, &engine, &others, &call);
    if answer.n_chunks == 0 && args.no_index {
        bail!(
            "{} has no index yet: run `cortex index`, or search without --no-index",
            engine.project.layout.root().display()
        );
    }
    if args.form.json {
        let n_lines = context.unwrap_or(JSON_LINES);
        answer.results = ResultRow::best(answer.results, &answer.excerpts, n_lines);
        if n_lines > 0 {
            answer.results = answer.results.into_iter().map(ResultRow::with_text).collect();
        }
        render::json(&Reply {
            query: &request.query,
            n_chunks: answer.n_chunks,
            memories: &answer.memories,
            answer: &answer,
        })?;
    } else if args.files_only {
        render::warnings(&answer.state.warnings);
        for (repo, path) in paths_of(&answer) {
            let paths = &paths[repo];
            line(&paths.linked(path, None, paths.shown(path)))?;
        }
    } else {
        let n_named = answer.results.iter().take_while(|row| row.hit.line.is_some()).count();
        let n_shown = args.limit.unwrap_or(FIRST_RESULTS.max(n_named));
        answer.results = match context {
            Some(n_lines) => ResultRow::best(answer.results, &answer.excerpts, n_lines),
            None => ResultRow::screen(answer.results, &answer.excerpts, n_shown, SCREEN),
        };
        print(&answer, &request, &paths, n_shown)?;
    }
    if args.open {
        open_best(&answer, &paths)?;
    }
    let is_found = !answer.results.is_empty() || !answer.memories.is_empty();
    Ok(args::end(engine, Outcome::of(is_found)))
}

/// Returns how paths are printed, and saves what was loaded of other projects.
fn paths_by_project(
    answer: &SearchAnswer,
    engine: &Engine,
    others: &Others,
    call: &Call,
) -> PathsByProject {
    let mut paths = PathsByProject::from([(None, Paths::of(&engine.project))]);
    let opened = others.opened.lock();
    let known = if opened.is_empty() { Vec::new() } else { engine.known_projects(call).there };
    for (root, engine) in &*opened {
        for KnownProject { name, .. } in known.iter().filter(|project| project.root == *root) {
            paths.insert(Some(name.clone()), Paths::of_named(&engine.project, name));
        }
        engine.save(args::SAVED_FROM);
    }
    for name in answer.results.iter().filter_map(|row| row.repo.as_ref()) {
        paths.entry(Some(name.clone())).or_insert_with(|| Paths::of_published(name));
    }
    paths
}

/// Returns the path of each result once, in their order.
fn paths_of(answer: &SearchAnswer) -> Vec<(&Option<String>, &str)> {
    let mut paths: Vec<(&Option<String>, &str)> = Vec::new();
    for row in &answer.results {
        if !paths.contains(&(&row.repo, row.place())) {
            paths.push((&row.repo, row.place()));
        }
    }
    paths
}

/// Opens the best result in the editor of the user.
fn open_best(answer: &SearchAnswer, paths: &PathsByProject) -> Result<()> {
    let in_project = |row: &&ResultRow| row.package.is_none() && paths[&row.repo].are_here();
    let Some(row) = answer.results.iter().find(in_project) else { return Ok(()) };
    let editor = std::env::var("VISUAL").or_else(|_| std::env::var("EDITOR"));
    let Ok(editor) = editor else { bail!("--open: set EDITOR to the command of your editor") };
    let path = paths[&row.repo].full(row.place());
    let line = row.hit.line.or(row.chunk.start_line).unwrap_or(1);
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut command = std::process::Command::new(program);
    command.args(words);
    let name = Path::new(program).file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if ["code", "codium", "cursor", "windsurf", "zed", "subl", "hx", "helix"].contains(&name) {
        if name.starts_with("cod") || ["cursor", "windsurf"].contains(&name) {
            command.arg("--goto");
        }
        command.arg(format!("{}:{line}", path.display()));
    } else {
        // vi, emacs, nano and most others.
        command.arg(format!("+{line}")).arg(path);
    }
    let status = command.status().with_context(|| format!("--open: `{editor}` cannot be run"))?;
    if !status.success() {
        bail!("--open: `{editor}` ended with {status}");
    }
    Ok(())
}

fn print(
    answer: &SearchAnswer,
    request: &SearchRequest,
    paths: &PathsByProject,
    n_shown: usize,
) -> Result<()> {
    render::warnings(&answer.state.warnings);
    for note in &answer.notes {
        tell!("note: {}", render::printable(note));
    }
    let is_exact = request.mode == SearchMode::Exact;
    let words = if is_exact {
        Highlighter::exact(&request.query)
    } else {
        Highlighter::new(&request.query)
    };
    let words = RefCell::new(words);
    let room = render::width().min(MAX_WIDTH);
    let shown = &answer.results[..n_shown.min(answer.results.len())];
    for (i, row) in shown.iter().enumerate() {
        let look = Marked { paths: &paths[&row.repo], repo: row.repo.as_deref(), words: &words };
        for text in row_lines(&look, row) {
            line(&text)?;
        }
        if let Some(facts) = answer.named.as_ref().filter(|_| i == 0) {
            facts_lines(&look, facts, room).iter().try_for_each(|text| line(text))?;
        } else if i == 0 || !row.explain.is_empty() {
            let is_new = |other: &&ChunkRow| !is_shown(shown, row, other);
            let others = row.others.iter().filter(is_new).filter_map(also_here);
            let others: Vec<String> = others.collect();
            if !others.is_empty() {
                render::faint(joined("   also here  ", &others, " · ", room))?;
            }
        }
    }
    if !answer.memories.is_empty() {
        line(&style("remembered:").bold().to_string())?;
        answer.memories.iter().try_for_each(super::memory::print_found)?;
    }
    if answer.results.is_empty() {
        tell!("nothing found in {}", render::count(answer.n_chunks, "chunk"));
        tell!("Try other words, or `cortex grep` for a text as it is written.");
    }
    let mut next = Vec::new();
    let n_more = answer.results.len() - shown.len();
    if n_more > 0 {
        next.push(format!("{n_more} more: -n {}", answer.results.len()));
    }
    if let Some(first) = shown.first().filter(|row| row.hit.definition.is_some())
        && let Some(name) = &first.chunk.symbol
        && matches!(first.chunk.kind.as_deref(), Some("function" | "method"))
    {
        next.push(format!("callers: cortex graph callers {}", render::printable(name)));
    }
    if !next.is_empty() {
        render::faint(next.join("  ·  "))?;
    }
    Ok(())
}

/// Shows lines of a file with the words of the query marked.
struct Marked<'a> {
    paths: &'a Paths,
    /// The project that an address begins with.
    repo: Option<&'a str>,
    words: &'a RefCell<Highlighter>,
}

impl Marked<'_> {
    /// Returns a line of code after its number.
    fn code(&self, number: &impl Display, text: &str) -> String {
        let text = render::with_words(text, render::room_of_code(), &mut self.words.borrow_mut());
        format!("{number} {text}")
    }
}

impl Look for Marked<'_> {
    fn lines(&self, path: &str, lines: &str) -> String {
        let path =
            self.repo.and_then(|repo| path.strip_prefix(repo)?.strip_prefix(':')).unwrap_or(path);
        self.paths.lines(path, lines)
    }

    fn name(&self, name: &str) -> String {
        self.paths.name(name)
    }

    fn aside(&self, text: &str) -> String {
        self.paths.aside(text)
    }

    fn row(&self, text: String) -> String {
        self.paths.row(text)
    }

    fn numbered(&self, number: usize, text: &str) -> String {
        self.code(&style(format!("{number:>6}")).dim(), text)
    }

    fn marked(&self, number: usize, text: &str) -> String {
        self.code(&style(format!(">{number:>5}")).bold(), text)
    }

    fn found_in(&self, text: &str) -> String {
        render::with_words(text, MAX_LINE, &mut self.words.borrow_mut())
    }
}

/// Names another place of a file: `224 apply`.
/// Whether a row of the same file has the lines of another place of it, or its name.
fn is_shown(shown: &[ResultRow], of: &ResultRow, other: &ChunkRow) -> bool {
    let rows = shown.iter().filter(|row| row.path == of.path && row.repo == of.repo);
    rows.flat_map(|row| &row.excerpts).any(|excerpt| {
        let lines = excerpt.start_line..=excerpt.end_line;
        other.symbol.as_deref() == Some(&*excerpt.symbol)
            || other.start_line.is_some_and(|line| lines.contains(&line))
    })
}

fn also_here(other: &ChunkRow) -> Option<String> {
    Some(format!("{} {}", other.start_line?, render::printable(other.symbol.as_deref()?)))
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
