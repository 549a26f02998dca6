//! Asks each question of a set as an agent would, and measures what the model reads.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use super::open::EvaluatedProject;
use super::set::Set;
use crate::bench::McpProcess;
use crate::cli::render::{self, line};
use crate::engine::{Call, GrepRequest};
use crate::eval::{EvalQuestion, ExpectedAnswer, TOKENS, TokenRecall, TokenSums};
use crate::search::search_words;
use crate::source::{self, MAX_BYTES};
use crate::tools::{Format, Tool};

/// Most files that the reader of whole files reads.
const MAX_FILES_READ: usize = 10;

/// Another server of the protocol to compare with.
#[derive(clap::Args)]
pub(super) struct OtherServer {
    /// Also ask this MCP server, a command that speaks on standard input and output (with --tokens)
    #[arg(long, value_name = "COMMAND", requires = "tokens")]
    server: Option<String>,
    /// The tool of that server
    #[arg(long, value_name = "NAME", default_value = "search", requires = "server")]
    server_tool: String,
    /// Its arguments as JSON, with {query} and {folder}
    #[arg(
        long,
        value_name = "JSON",
        default_value = r#"{"query": "{query}", "repo": "{folder}"}"#,
        requires = "server"
    )]
    server_arguments: String,
}

/// The report of `--tokens`, documented in specs/cli-json.md.
#[derive(Serialize)]
struct Report {
    n_questions: usize,
    sizes: [usize; TOKENS.len()],
    replies: Vec<TokenRecall>,
}

/// Measures all questions and prints the report.
pub(super) fn run(
    set: &Set,
    other: &OtherServer,
    own_files: &[PathBuf],
    as_json: bool,
) -> Result<()> {
    let (mut fitted, mut default, mut files, mut others) =
        <(TokenSums, TokenSums, TokenSums, TokenSums)>::default();
    for (folder, questions) in set.by_folder() {
        let project = EvaluatedProject::open(&folder, own_files)?;
        let root = project.engine.project.layout.root().to_path_buf();
        let mut server = match &other.server {
            Some(command) => Some(McpProcess::start_with(command, &root)?),
            None => None,
        };
        for question in questions {
            let text_of = |path: &str| text_of(&project, path);
            let wanted = ExpectedAnswer::new(question, text_of);
            fitted.add(&wanted, |size| search(&project, question, Some(size)));
            let reply = search(&project, question, None);
            default.add(&wanted, |_| reply.clone());
            let reading = read_by_matches(&project, question)?;
            files.add(&wanted, |_| reading.clone());
            if let Some(server) = &mut server {
                let reply = ask(server, other, &root, question)?;
                others.add(&wanted, |_| reply.clone());
            }
        }
    }
    let mut replies = vec![
        fitted.recall("cortex_search, max_tokens as given"),
        default.recall("cortex_search, default"),
        files.recall("grep, then files by matches"),
    ];
    if let Some(command) = &other.server {
        replies.push(others.recall(command));
    }
    let report = Report { n_questions: set.questions.len(), sizes: TOKENS, replies };
    if as_json { render::json(&report) } else { print(&report) }
}

/// Returns the text that a model gets for a question.
fn search(project: &EvaluatedProject, question: &EvalQuestion, size: Option<usize>) -> String {
    let mut arguments = json!({ "query": question.query });
    if let Some(size) = size {
        // Cortex counts 3.5 bytes for a token, this measure 4.
        arguments["max_tokens"] = (size * 8 / 7).into();
    }
    let tool = Tool::named("cortex_search");
    let answer = tool.map(|t| t.call(&project.engine, &Call::default(), arguments, Format::Text));
    answer.and_then(Result::ok).map_or_else(String::new, |answer| answer.to_string())
}

/// Returns the text of a file of the project.
fn text_of(project: &EvaluatedProject, path: &str) -> Option<String> {
    let tree = project.engine.project.layout.tree();
    let bytes = tree.read(path, MAX_BYTES).ok()?;
    Some(source::text_of(&bytes).into_owned())
}

/// Returns what a model reads that greps for the words of the question and then reads the files
/// with most matches.
fn read_by_matches(project: &EvaluatedProject, question: &EvalQuestion) -> Result<String> {
    let words = search_words(&question.query);
    let request = GrepRequest {
        pattern: words.join("|"),
        regex: true,
        ignore_case: true,
        count: true,
        limit: 10_000,
        ..GrepRequest::default()
    };
    let mut found = project.engine.grep(&request, &Call::default())?.found;
    found.files.sort_by(|a, b| b.matches.cmp(&a.matches).then_with(|| a.path.cmp(&b.path)));
    let mut out = String::new();
    for file in found.files.iter().take(MAX_FILES_READ) {
        let text = text_of(project, &file.path).unwrap_or_default();
        let _ = writeln!(out, "{}\n{text}", file.path);
    }
    Ok(out)
}

/// Returns the reply of another server.
fn ask(
    server: &mut McpProcess,
    other: &OtherServer,
    root: &Path,
    question: &EvalQuestion,
) -> Result<String> {
    let quoted = |text: &str| {
        let json = Value::from(text).to_string();
        json[1..json.len() - 1].to_string()
    };
    let arguments = other
        .server_arguments
        .replace("{query}", &quoted(&question.query))
        .replace("{folder}", &quoted(&root.display().to_string()));
    let arguments: Value = serde_json::from_str(&arguments)
        .with_context(|| format!("--server-arguments: {arguments} is not JSON"))?;
    let reply =
        server.ask("tools/call", &json!({ "name": other.server_tool, "arguments": arguments }))?;
    ensure!(reply["isError"] != true, "the other server refused: {reply}");
    let texts = reply["content"].as_array().into_iter().flatten();
    Ok(texts.filter_map(|c| c["text"].as_str()).collect::<Vec<_>>().join("\n"))
}

fn print(report: &Report) -> Result<()> {
    let columns: String = report.sizes.iter().fold(String::new(), |mut s, size| {
        let _ = write!(s, " {size:>6}");
        s
    });
    line(&format!("{:<36}{columns} {:>8}", "tokens read", "reply"))?;
    for (what, of) in
        [("file", (|r| r.file) as fn(&TokenRecall) -> [f64; TOKENS.len()]), ("lines", |r| r.lines)]
    {
        line(what)?;
        for reply in &report.replies {
            let shares: String = of(reply).iter().fold(String::new(), |mut s, share| {
                let _ = write!(s, " {share:>6.3}");
                s
            });
            let name = console::truncate_str(&reply.name, 34, "…");
            line(&format!("  {name:<34}{shares} {:>8.0}", reply.tokens))?;
        }
    }
    line(&format!("{} questions", report.n_questions))
}
