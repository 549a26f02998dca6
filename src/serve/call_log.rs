//! The record of the calls of a server: numbers of calls and tokens by tool, the last questions, and
//! how long answers took. In memory only and bounded; the page shows it.
//!
//! Calls of the page itself are not what an agent asked, so only their times count.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use chrono::{DateTime, Local, NaiveDate, Utc};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::access::SEC_FETCH_SITE;
use crate::live::{Served, milliseconds, push};
use crate::secrets::redact;
use crate::text::{cut, folded, head, tokens_of_bytes};
use crate::tools::Answer;

/// Most questions that are kept.
const MAX_QUESTIONS: usize = 50;
/// Most times of answers that are kept.
const MAX_TIMES: usize = 500;
/// Most bytes of the arguments in which secrets are looked for. It is far more than is kept, so a
/// secret that is cut here is not kept.
const MAX_LOOKED_AT: usize = 8 << 10;
/// Most characters of the arguments that are kept.
const MAX_QUESTION: usize = 160;
/// Most characters of the name of a program that are kept.
const MAX_NAME: usize = 60;
/// Most paths of an answer that are kept.
const MAX_SHOWN: usize = 8;
/// Most values of an answer in which paths are looked for.
const MAX_SEARCHED_VALUES: usize = 5000;
/// Most bytes of a path that an answer names.
const MAX_PATH: usize = 4096;
/// Arguments about the form of the answer, which say nothing about the question.
const OF_THE_FORM: [&str; 9] = [
    "max_tokens", "limit", "max_nodes", "max_facts", "format", "wait_ms", "min_generation",
    "include_stats", "cursor",
];

/// The caller of a tool.
#[derive(Debug, Clone)]
pub(super) enum Caller {
    /// The page of this server.
    Page,
    /// A program, by the name that it gives itself.
    Program(String),
}

impl Caller {
    /// Returns the sender of an HTTP request. Only browsers send `Sec-Fetch-Site`, and a page cannot
    /// change it.
    pub(super) fn over_http(headers: &HeaderMap) -> Self {
        if headers.get(SEC_FETCH_SITE).is_some_and(|site| site == "same-origin") {
            return Self::Page;
        }
        let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        let product = agent.and_then(|agent| agent.split_whitespace().next());
        Self::Program(product.unwrap_or("a program over HTTP").into())
    }
}

/// The record of the calls of one server.
#[derive(Debug)]
pub(super) struct CallLog {
    /// Whether questions and times are kept, and not only counted.
    keeps: bool,
    kept: Mutex<Kept>,
    /// Number of calls of programs since the start.
    n_calls: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The day of `tools`, in the time zone of the server.
    day: NaiveDate,
    tools: BTreeMap<&'static str, ToolUse>,
    questions: VecDeque<KeptQuestion>,
    times: VecDeque<(DateTime<Utc>, Duration)>,
}

/// A call that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    tool: &'static str,
    at: DateTime<Utc>,
    /// `None` for the page.
    asked: Option<Question>,
}

#[derive(Debug)]
struct Question {
    by: String,
    text: String,
    n_bytes: usize,
}

/// How a call ended.
pub(super) enum Outcome<'a> {
    Answered(&'a Answer),
    /// With an error of this kind, whose text has so many bytes.
    Failed {
        kind: &'static str,
        n_bytes: usize,
    },
}

/// What the record holds.
pub(super) struct Recorded {
    pub(super) keeps_questions: bool,
    pub(super) n_calls: u64,
    pub(super) day: NaiveDate,
    /// By name.
    pub(super) tools: Vec<ToolUse>,
    /// The newest first.
    pub(super) questions: Vec<KeptQuestion>,
    pub(super) latency: Vec<Latency>,
}

impl CallLog {
    pub(super) fn new(keeps: bool) -> Self {
        Self { keeps, kept: Mutex::default(), n_calls: watch::Sender::new(0) }
    }

    /// Returns a receiver of the number of calls of programs since the start.
    pub(super) fn n_calls(&self) -> watch::Receiver<u64> {
        self.n_calls.subscribe()
    }

    pub(super) fn recorded(&self) -> Recorded {
        let mut kept = self.kept.lock();
        Recorded {
            keeps_questions: self.keeps,
            n_calls: *self.n_calls.borrow(),
            tools: kept.today().values().cloned().collect(),
            day: kept.day,
            questions: kept.questions.iter().rev().cloned().collect(),
            latency: kept.latency(),
        }
    }

    /// Whether the files that an answer shows are kept.
    pub(super) fn keeps_files(&self, begun: &Begun) -> bool {
        self.keeps && begun.asked.is_some()
    }

    /// Notes what is asked, before the tool takes the arguments.
    pub(super) fn begin(&self, tool: &'static str, caller: Caller, arguments: &Value) -> Begun {
        let question = |name: String| Question {
            by: if self.keeps { kept_text(&name, MAX_NAME) } else { String::new() },
            text: if self.keeps { question_line(arguments) } else { String::new() },
            n_bytes: if arguments.is_null() { 0 } else { n_bytes_of(arguments) },
        };
        let asked = match caller {
            Caller::Page => None,
            Caller::Program(name) => Some(question(name)),
        };
        Begun { tool, at: Utc::now(), asked }
    }

    /// Notes how the call ended. `code` names the paths that an answer may show.
    pub(super) fn end(
        &self,
        begun: Begun,
        outcome: &Outcome,
        took: Duration,
        code: Option<&Served>,
    ) {
        let Begun { tool, at, asked } = begun;
        let (n_bytes, failed) = match outcome {
            _ if asked.is_none() => (0, None),
            Outcome::Answered(Answer::Text(text, _)) => (text.len(), None),
            Outcome::Answered(Answer::Json(json)) => (n_bytes_of(json), None),
            Outcome::Failed { kind, n_bytes } => (*n_bytes, Some(*kind)),
        };
        let shown = match (&asked, outcome, code) {
            (Some(_), Outcome::Answered(answer), Some(code)) if self.keeps => {
                paths_in(answer, code)
            }
            _ => Vec::new(),
        };
        let mut kept = self.kept.lock();
        if self.keeps && matches!(outcome, Outcome::Answered(_)) {
            push(&mut kept.times, (at, took), MAX_TIMES);
        }
        let Some(Question { by, text, n_bytes: n_asked }) = asked else { return };
        let (asked, read) = (tokens_of_bytes(n_asked), tokens_of_bytes(n_bytes));
        let tools = kept.today();
        let row = tools.entry(tool).or_insert_with(|| ToolUse::of(tool));
        row.calls += 1;
        row.failed += u64::from(failed.is_some());
        row.tokens_asked += asked as u64;
        row.tokens_read += read as u64;
        if self.keeps {
            let question = KeptQuestion {
                at,
                tool,
                by,
                question: text,
                milliseconds: milliseconds(took),
                tokens_read: read,
                failed,
                shown,
            };
            push(&mut kept.questions, question, MAX_QUESTIONS);
        }
        drop(kept);
        self.n_calls.send_modify(|n| *n += 1);
    }
}

impl Kept {
    /// Returns the numbers of today. They begin anew at midnight.
    fn today(&mut self) -> &mut BTreeMap<&'static str, ToolUse> {
        let today = Local::now().date_naive();
        if self.day != today {
            self.day = today;
            self.tools.clear();
        }
        &mut self.tools
    }

    /// Returns the times of the answers by the minute in which they began, the oldest first.
    fn latency(&self) -> Vec<Latency> {
        let mut minutes: BTreeMap<i64, Vec<Duration>> = BTreeMap::new();
        for (at, took) in &self.times {
            minutes.entry(at.timestamp().div_euclid(60)).or_default().push(*took);
        }
        let point = |(minute, mut took): (i64, Vec<Duration>)| {
            took.sort_unstable();
            let rank = |percent: usize| took[(took.len() * percent).div_ceil(100) - 1];
            Some(Latency {
                at: DateTime::from_timestamp(minute * 60, 0)?,
                calls: took.len(),
                p50_ms: milliseconds(rank(50)),
                p99_ms: milliseconds(rank(99)),
            })
        };
        minutes.into_iter().filter_map(point).collect()
    }
}

/// Returns a text of a caller on one line, without secrets and cut.
fn kept_text(text: &str, n_chars: usize) -> String {
    cut(&folded(&redact(head(text, MAX_LOOKED_AT)).text), n_chars)
}

/// Returns the arguments that say what is asked.
fn question_line(arguments: &Value) -> String {
    let mut line = Beginning { bytes: Vec::new(), room: MAX_LOOKED_AT };
    let asked = arguments.as_object().into_iter().flatten();
    for (name, value) in asked.filter(|(name, _)| !OF_THE_FORM.contains(&name.as_str())) {
        let written = match value {
            Value::Null => Ok(()),
            Value::String(text) => writeln!(line, "{name}: {text}"),
            other => writeln!(line, "{name}: {other}"),
        };
        if written.is_err() {
            break;
        }
    }
    kept_text(&String::from_utf8_lossy(&line.bytes), MAX_QUESTION)
}

/// Keeps the beginning of what is written, and refuses the rest.
struct Beginning {
    bytes: Vec<u8>,
    room: usize,
}

impl Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the length of a JSON value as it is sent. Nothing is kept of what is written.
fn n_bytes_of(json: &Value) -> usize {
    struct Counted(usize);
    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counted, json);
    counted.0
}

/// Returns the first indexed files that an answer names. Other words of a repository's text are not
/// kept.
fn paths_in(answer: &Answer, code: &Served) -> Vec<String> {
    let chunks = code.corpus.chunks();
    let mut found = Vec::new();
    let mut add = |path: &str| {
        let is_path = path.len() <= MAX_PATH && chunks.by_file(path).next().is_some();
        if is_path && !found.iter().any(|known| known == path) {
            found.push(path.to_string());
        }
        found.len() < MAX_SHOWN
    };
    let (Answer::Text(_, json) | Answer::Json(json)) = answer;
    let (mut waiting, mut n_left) = (VecDeque::from([json]), MAX_SEARCHED_VALUES);
    while let Some(value) = waiting.pop_front() {
        let n_waiting = waiting.len();
        match value {
            Value::String(text) if !add(text) => break,
            Value::Object(fields) => waiting.extend(fields.values().take(n_left)),
            Value::Array(items) => waiting.extend(items.iter().take(n_left)),
            _ => {}
        }
        n_left -= waiting.len() - n_waiting;
    }
    found
}

/// What programs asked one tool today. Tokens are estimated from bytes: one for 3.5 bytes of the text
/// or of the JSON as it is sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ToolUse {
    tool: &'static str,
    calls: u64,
    /// Number of calls that got an error.
    failed: u64,
    /// Tokens of the arguments.
    tokens_asked: u64,
    /// Tokens of the replies, with those of errors.
    tokens_read: u64,
}

impl ToolUse {
    fn of(tool: &'static str) -> Self {
        Self { tool, calls: 0, failed: 0, tokens_asked: 0, tokens_read: 0 }
    }
}

/// A question of a program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct KeptQuestion {
    /// When it was asked, RFC 3339.
    at: DateTime<Utc>,
    tool: &'static str,
    /// The name of the program, as it says.
    by: String,
    /// The arguments on one line, cut, without secrets and without those about the form of the answer.
    question: String,
    milliseconds: f64,
    /// Tokens of the reply.
    tokens_read: usize,
    /// The kind of the error, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'static str>,
    /// The first indexed files that the reply names, at most 8.
    shown: Vec<String>,
}

/// The times of the answers of one minute.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Latency {
    /// The beginning of the minute, RFC 3339.
    at: DateTime<Utc>,
    /// Number of answers.
    calls: usize,
    /// Half of them took at most so long, in milliseconds.
    p50_ms: f64,
    /// 99 of 100 took at most so long, in milliseconds.
    p99_ms: f64,
}
