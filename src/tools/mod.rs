//! What agents and programs can ask: one file a tool, each with its arguments, its reply and the way from one to the
//! other. No transport: the same tools answer over MCP and HTTP.

mod budget;
mod context;
mod edit_file;
mod edit_json;
mod edit_reply;
mod exact;
mod files;
mod filters;
mod graph;
mod hits;
mod memory_add;
mod memory_delete;
mod memory_reply;
mod memory_search;
mod memory_sessions;
mod outline;
mod paths;
mod pattern;
mod read;
mod related;
mod schema;
mod search;
mod status;
mod tolerant;

pub use context::{Context, Freshness, Remembered, Taken, Wait};
pub use graph::{NO_SOURCES, code_graph};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::chunk::Cancel;
use crate::search::SearchError;
use crate::source;

/// Tools that are offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Search,
    Graph,
    Memory,
    /// Changes files of the project: offered only where that was asked for.
    Edit,
}

impl Group {
    const ALL: [(&'static str, Self); 4] =
        [("search", Self::Search), ("graph", Self::Graph), ("memory", Self::Memory), ("edit", Self::Edit)];

    /// The group of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, group)| group)
    }

    /// Of all groups.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::ALL.into_iter().map(|(name, _)| name).collect()
    }
}

/// What a call does beside answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    None,
    Adds,
    Destroys,
}

/// A tool as a transport sees it.
pub struct Tool {
    pub group: Group,
    pub effect: Effect,
    /// Listed only once something is remembered: until then it has nothing to work on.
    pub needs_memories: bool,
    /// `cortex_search`
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For agents: what it is good for.
    pub description: &'static str,
    /// JSON schema of the arguments.
    pub input_schema: fn() -> Map<String, Value>,
    /// JSON schema of [`Answer::structured`].
    pub output_schema: fn() -> Map<String, Value>,
    pub(crate) run: fn(&Context, &Call, Value) -> Result<Answer, ToolError>,
}

/// Every tool, in the order in which they are listed.
pub const ALL: &[Tool] = &[
    Tool::of::<search::Args>(),
    Tool::of::<exact::Args>(),
    Tool::of::<related::Args>(),
    Tool::of::<outline::Args>(),
    Tool::of::<read::Args>(),
    Tool::of::<status::Args>(),
    Tool::of::<graph::Args>(),
    Tool::of::<pattern::Args>(),
    Tool::of::<files::Args>(),
    Tool::of::<memory_add::Args>(),
    Tool::of::<memory_search::NodeSearch>(),
    Tool::of::<memory_search::FactSearch>(),
    Tool::of::<memory_delete::Args>(),
    Tool::of::<memory_sessions::Args>(),
    Tool::of::<edit_file::Args>(),
    Tool::of::<edit_json::Args>(),
];

/// The tools of these groups.
#[must_use]
pub fn of_groups(groups: &[Group]) -> Vec<&'static Tool> {
    ALL.iter().filter(|t| groups.contains(&t.group)).collect()
}

/// What a tool answers: the same twice, for readers and for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    pub structured: Value,
}

/// One call of a tool.
#[derive(Debug, Default)]
pub struct Call {
    /// Set when nobody waits for the answer any more.
    pub cancel: Arc<Cancel>,
}

impl Call {
    /// # Errors
    /// When the call was cancelled.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.cancel.load(Ordering::Relaxed) { Err(ToolError::Cancelled) } else { Ok(()) }
    }
}

/// Why a tool gave no answer. The message says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments cannot be used.
    #[error("{0}")]
    Arguments(String),
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Failed(String),
    #[error("the call was cancelled")]
    Cancelled,
}

impl ToolError {
    /// The error as it may be shown: a message quotes names and text of the repository.
    fn printable(self) -> Self {
        let shown = |message: String| source::printable_lines(&message).into_owned();
        match self {
            Self::Arguments(message) => Self::Arguments(shown(message)),
            Self::NotFound(message) => Self::NotFound(shown(message)),
            Self::Failed(message) => Self::Failed(shown(message)),
            Self::Cancelled => Self::Cancelled,
        }
    }
}

impl From<SearchError> for ToolError {
    fn from(e: SearchError) -> Self {
        match e {
            SearchError::Exact(e) => Self::Arguments(e.to_string()),
            e => Self::Failed(e.to_string()),
        }
    }
}

/// The arguments of a tool, and with them the tool.
trait Question: DeserializeOwned + JsonSchema {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const GROUP: Group = Group::Search;
    const EFFECT: Effect = Effect::None;
    const NEEDS_MEMORIES: bool = false;
    type Reply: Reply;

    fn answer(self, asked: Asked) -> Result<Self::Reply, ToolError>;
}

/// Where a question is asked.
struct Asked<'a> {
    context: &'a Context,
    call: &'a Call,
    /// What was odd about the arguments.
    warnings: Vec<String>,
}

impl Asked<'_> {
    /// Takes what is served now, with the warnings that the reply begins with.
    fn take(&self, wait: &Wait) -> Result<Taken, ToolError> {
        let mut taken = self.context.take(wait, self.call)?;
        taken.warnings = self.warnings.iter().cloned().chain(taken.warnings).collect();
        Ok(taken)
    }
}

/// Which state of the repository a reply describes, and what to know of it. Part of every reply.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct State {
    /// What the reply describes.
    index: Freshness,
    /// What to know before trusting the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Most warnings in one reply, and the characters of each.
const MAX_WARNINGS: usize = 5;
const MAX_WARNING: usize = 300;

impl State {
    fn new(index: Freshness, mut warnings: Vec<String>) -> Self {
        if warnings.len() > MAX_WARNINGS {
            let n_more = warnings.len() - (MAX_WARNINGS - 1);
            warnings.truncate(MAX_WARNINGS - 1);
            warnings.push(format!("and {n_more} more warnings: run `cortex status`"));
        }
        Self { index, warnings: warnings.iter().map(|w| budget::cut(w, MAX_WARNING)).collect() }
    }
}

/// A reply that can be read and parsed.
trait Reply: Serialize + JsonSchema {
    fn state(&self) -> &State;

    /// For a reader, with as few words as will do.
    fn lines(&self) -> Vec<String>;

    /// All of it: warnings, which must be seen, come first.
    fn text(&self) -> String {
        let State { index, warnings } = self.state();
        let mut freshness = vec![format!("generation {}{}", index.generation, if index.local { " (local)" } else { "" })];
        freshness.extend(index.head.as_ref().map(|head| format!("HEAD {head}")));
        if index.pending > 0 {
            freshness.push(format!("{} pending", count(index.pending, "file")));
        }
        if index.vectors_pending > 0 {
            freshness.push(format!("{} pending", count(index.vectors_pending, "vector")));
        }
        let mut lines: Vec<String> = warnings.iter().map(|w| format!("warning: {w}")).collect();
        lines.extend(self.lines());
        lines.push(freshness.join(" · "));
        source::printable_lines(&lines.join("\n")).into_owned()
    }
}

impl Tool {
    const fn of<Q: Question>() -> Self {
        Self {
            group: Q::GROUP,
            effect: Q::EFFECT,
            needs_memories: Q::NEEDS_MEMORIES,
            name: Q::NAME,
            title: Q::TITLE,
            description: Q::DESCRIPTION,
            input_schema: schema::input::<Q>,
            output_schema: schema::output::<Q::Reply>,
            run: answer::<Q>,
        }
    }

    /// The tool with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|t| t.name == name)
    }

    /// Answers a call. A panic is an error of this call alone.
    ///
    /// # Errors
    /// When the arguments cannot be used, or there is no answer.
    pub fn call(&self, context: &Context, call: &Call, arguments: Value) -> Result<Answer, ToolError> {
        call.check()?;
        let answered = catch_unwind(AssertUnwindSafe(|| (self.run)(context, call, arguments))).unwrap_or_else(|_| {
            let name = self.name;
            Err(ToolError::Failed(format!("{name} failed on these arguments; this is a bug of cortex, and other calls are not affected")))
        });
        answered.map_err(ToolError::printable)
    }
}

/// Reads the arguments, asks, writes the reply.
fn answer<Q: Question>(context: &Context, call: &Call, arguments: Value) -> Result<Answer, ToolError> {
    let (arguments, warnings) = tolerant::read(arguments, &schema::input::<Q>())?;
    let question = Q::deserialize(arguments).map_err(|e| ToolError::Arguments(format!("the arguments are not understood: {e}")))?;
    let reply = question.answer(Asked { context, call, warnings })?;
    let structured = serde_json::to_value(&reply).map_err(|e| ToolError::Failed(format!("the reply cannot be written: {e}")))?;
    Ok(Answer { text: reply.text(), structured })
}

/// `1 file`, `2 files`.
#[must_use]
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Text from a repository as it may be shown on a line: nothing in it breaks the line, speaks to a terminal or turns it around.
#[must_use]
pub fn printable(text: &str) -> String {
    source::printable(text).into_owned()
}

#[cfg(test)]
mod tests;
