//! The definition of a tool: its arguments, its schemas and its reply.

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::budget::TokenBudget;
use super::reply::Reply;
use super::{schema, tolerant};
use crate::engine::{AskError, Call, Engine, Wait};
use crate::source;

/// A group of tools that a server offers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolGroup {
    Search,
    Graph,
    Memory,
    /// Tools that change files of the project. A server offers them only on request.
    Edit,
}

impl ToolGroup {
    const ALL: [(&'static str, Self); 4] = [
        ("search", Self::Search),
        ("graph", Self::Graph),
        ("memory", Self::Memory),
        ("edit", Self::Edit),
    ];

    /// Returns the group of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, group)| group)
    }

    /// Returns the names of all groups.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::ALL.into_iter().map(|(name, _)| name).collect()
    }
}

/// The side effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    None,
    Adds,
    Destroys,
}

/// A tool as a transport sees it.
pub struct Tool {
    pub group: ToolGroup,
    pub effect: Effect,
    /// Whether the tool is listed only after the first memory is stored.
    pub needs_memories: bool,
    /// The name that callers use, for example `cortex_search`.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// The purpose of the tool, and when to use it; agents read this.
    pub description: &'static str,
    /// Returns the JSON schema of the arguments.
    pub input_schema: fn() -> Map<String, Value>,
    /// Returns the JSON schema of [`Answer::structured`].
    pub output_schema: fn() -> Map<String, Value>,
    pub(crate) run: fn(&Engine, &Call, Value) -> Result<Answer, AskError>,
}

/// The answer of a tool, once as text for readers and once as JSON for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    pub structured: Value,
}

/// Escapes control characters in an error message, because it quotes names and text of the
/// repository.
fn printable_error(e: AskError) -> AskError {
    let shown = |message: String| source::printable_lines(&message).into_owned();
    match e {
        AskError::Arguments(message) => AskError::Arguments(shown(message)),
        AskError::NotFound(message) => AskError::NotFound(shown(message)),
        AskError::Failed(message) => AskError::Failed(shown(message)),
        AskError::Cancelled => AskError::Cancelled,
    }
}

/// The arguments of a tool, with everything else that defines the tool.
pub(super) trait Question: DeserializeOwned + JsonSchema {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const GROUP: ToolGroup = ToolGroup::Search;
    const EFFECT: Effect = Effect::None;
    const NEEDS_MEMORIES: bool = false;
    /// Whether the tool answers from the index, so that callers may wait for fresh data.
    const WAITS: bool = true;
    /// Whether callers may limit the tokens of the reply.
    const HAS_BUDGET: bool = true;
    type Reply: Reply;

    /// Answers in at most `max_tokens` tokens.
    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<Self::Reply, AskError>;
}

impl Tool {
    pub(super) const fn of<Q: Question>() -> Self {
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

    /// Answers a call. A panic becomes an error of this call alone.
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

/// Returns the schema of a tool's arguments: its own, and those that many tools share.
fn arguments<Q: Question>() -> Map<String, Value> {
    let mut input = schema::input::<Q>();
    if Q::WAITS {
        schema::add(&mut input, schema::input::<Wait>());
    }
    if Q::HAS_BUDGET {
        schema::add(&mut input, schema::input::<TokenBudget>());
    }
    input
}

/// Reads the arguments, asks the engine, and writes the reply.
fn answer<Q: Question>(engine: &Engine, call: &Call, arguments: Value) -> Result<Answer, AskError> {
    let (arguments, warnings) = tolerant::read(arguments, &self::arguments::<Q>())?;
    let wrong =
        |e: serde_json::Error| AskError::Arguments(format!("the arguments are not valid: {e}"));
    let wait = Wait::deserialize(&arguments).map_err(wrong)?;
    let TokenBudget { max_tokens } = TokenBudget::deserialize(&arguments).map_err(wrong)?;
    let question = Q::deserialize(arguments).map_err(wrong)?;
    let call = Call { wait, cancel: call.cancel.clone(), warnings, in_brief: true };
    let reply = question.answer(engine, &call, max_tokens)?;
    let structured = serde_json::to_value(&reply)
        .map_err(|e| AskError::Failed(format!("cannot write the reply as JSON: {e}")))?;
    Ok(Answer { text: reply.text(), structured })
}
