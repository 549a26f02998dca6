//! What agents and programs can ask: one file a tool, each with its arguments, its reply and the way from one to the
//! other. No transport: the same tools answer over MCP and HTTP.

mod budget;
mod edit_file;
mod edit_json;
mod edit_reply;
mod exact;
mod files;
mod graph;
mod hits;
mod memory_add;
mod memory_delete;
mod memory_reply;
mod memory_search;
mod memory_sessions;
mod outline;
mod pattern;
mod read;
mod related;
mod schema;
mod search;
mod status;
mod tolerant;

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::budget::Budget;
use crate::engine::{
    AskError, Call, Engine, FilesRequest, GraphRequest, PatternRequest, ReadRequest, RelatedRequest, SearchRequest, State, StatusRequest,
    Wait,
};
use crate::source;
use crate::text::count;

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
    pub(crate) run: fn(&Engine, &Call, Value) -> Result<Answer, AskError>,
}

/// Every tool, in the order in which they are listed.
pub const ALL: &[Tool] = &[
    Tool::of::<SearchRequest>(),
    Tool::of::<exact::Args>(),
    Tool::of::<RelatedRequest>(),
    Tool::of::<outline::Args>(),
    Tool::of::<ReadRequest>(),
    Tool::of::<StatusRequest>(),
    Tool::of::<GraphRequest>(),
    Tool::of::<PatternRequest>(),
    Tool::of::<FilesRequest>(),
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

/// The error as it may be shown: a message quotes names and text of the repository.
fn printable_error(e: AskError) -> AskError {
    let shown = |message: String| source::printable_lines(&message).into_owned();
    match e {
        AskError::Arguments(message) => AskError::Arguments(shown(message)),
        AskError::NotFound(message) => AskError::NotFound(shown(message)),
        AskError::Failed(message) => AskError::Failed(shown(message)),
        AskError::Cancelled => AskError::Cancelled,
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
    /// It answers from the index, which the caller may want to be fresh.
    const WAITS: bool = true;
    /// The reply is cut to a number of tokens.
    const HAS_BUDGET: bool = true;
    type Reply: Reply;

    /// Answers in at most so many tokens.
    fn answer(self, engine: &Engine, call: &Call, max_tokens: usize) -> Result<Self::Reply, AskError>;
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
            input_schema: arguments::<Q>,
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
    pub fn call(&self, engine: &Engine, call: &Call, arguments: Value) -> Result<Answer, AskError> {
        call.check()?;
        let answered = catch_unwind(AssertUnwindSafe(|| (self.run)(engine, call, arguments))).unwrap_or_else(|_| {
            let name = self.name;
            Err(AskError::Failed(format!("{name} failed on these arguments; this is a bug of cortex, and other calls are not affected")))
        });
        answered.map_err(printable_error)
    }
}

/// The schema of a tool's arguments: those of its question, and those that many tools have.
fn arguments<Q: Question>() -> Map<String, Value> {
    let mut input = schema::input::<Q>();
    if Q::WAITS {
        schema::add(&mut input, schema::input::<Wait>());
    }
    if Q::HAS_BUDGET {
        schema::add(&mut input, schema::input::<Budget>());
    }
    input
}

/// Reads the arguments, asks, writes the reply.
fn answer<Q: Question>(engine: &Engine, call: &Call, arguments: Value) -> Result<Answer, AskError> {
    let (arguments, warnings) = tolerant::read(arguments, &self::arguments::<Q>())?;
    let wrong = |e: serde_json::Error| AskError::Arguments(format!("the arguments are not understood: {e}"));
    let wait = Wait::deserialize(&arguments).map_err(wrong)?;
    let Budget { max_tokens } = Budget::deserialize(&arguments).map_err(wrong)?;
    let question = Q::deserialize(arguments).map_err(wrong)?;
    let call = Call { wait, cancel: call.cancel.clone(), warnings, in_brief: true };
    let reply = question.answer(engine, &call, max_tokens)?;
    let structured = serde_json::to_value(&reply).map_err(|e| AskError::Failed(format!("the reply cannot be written: {e}")))?;
    Ok(Answer { text: reply.text(), structured })
}

/// Text from a repository as it may be shown on a line: nothing in it breaks the line, speaks to a terminal or turns it around.
#[must_use]
pub fn printable(text: &str) -> String {
    source::printable(text).into_owned()
}

#[cfg(test)]
mod tests;
