//! The definition of a tool: its arguments, its schemas and its reply.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::budget::{DEFAULT_TOKENS, Format, TokenBudget};
use super::reply::{Reply, printable, printed};
use super::{schema, tolerant};
use crate::engine::{AskError, Call, Engine, Mentions, PublishedRepository, Scope, Wait};
use crate::source;

/// Arguments that agents rarely need. They are accepted, but not part of each tool's listed schema,
/// which an agent pays for in every conversation.
const UNLISTED: &[&str] = &[
    // Of all tools; the instructions of the server describe them once.
    "repo", "wait_ms", "min_generation", "max_tokens", "format", "cursor", "limit", "languages",
    // Of single tools; the page about the tools describes them.
    "chunk_id", "explain", "include_stats", "invert", "max_per_file", "memories", "mode",
    "multiline", "offset", "sort", "tags", "tests", "types", "unresolved", "until", "verbose",
];

/// A group of tools that a server lists together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolGroup {
    /// The few tools that answer most questions. A server lists them unless it is asked for others,
    /// because an agent pays for each listed tool in every conversation.
    Core,
    Search,
    Graph,
    Memory,
    /// Tools that change files of the project. A server answers their calls only on request.
    Edit,
    /// Questions that the page of a server asks. No server lists them.
    Page,
    /// Every tool.
    All,
}

impl ToolGroup {
    const NAMED: [(&'static str, Self); 6] = [
        ("core", Self::Core),
        ("search", Self::Search),
        ("graph", Self::Graph),
        ("memory", Self::Memory),
        ("edit", Self::Edit),
        ("all", Self::All),
    ];

    /// Returns the group of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, group)| group)
    }

    /// Returns the names of all groups.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::NAMED.into_iter().map(|(name, _)| name).collect()
    }

    /// Whether a tool belongs to the group.
    fn has(self, tool: &Tool) -> bool {
        match self {
            Self::Core => CORE.contains(&tool.name),
            Self::All => true,
            group => group == tool.group,
        }
    }
}

/// The tools of [`ToolGroup::Core`].
const CORE: [&str; 4] = ["cortex_explore", "cortex_grep", "cortex_read", "cortex_history"];

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
    /// Whether a call can wait for fresh data.
    pub waits: bool,
    /// The name that callers use, for example `cortex_search`.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it finds, in a phrase. Clients that load tools late show agents only this.
    pub when: &'static str,
    /// The purpose of the tool, and when to use it; agents read this.
    pub description: &'static str,
    /// Returns the JSON schema of all arguments.
    pub input_schema: fn() -> Map<String, Value>,
    /// Returns the JSON schema of the arguments that agents are shown.
    pub listed_schema: fn() -> Map<String, Value>,
    /// Returns the JSON schema of [`Answer::Json`].
    pub output_schema: fn() -> Map<String, Value>,
    pub(crate) run: fn(&Engine, &Call, Value, Format) -> Result<Answer, AskError>,
}

/// The answer of a tool in the form that the caller asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The text, and the same as JSON if the caller records which files it shows.
    Text(String, Value),
    Json(Value),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(text, _) => f.write_str(text),
            Self::Json(json) => write!(f, "{json:#}"),
        }
    }
}

/// Escapes control characters in an error message, because it quotes names and text of the
/// repository.
fn printable_error(e: AskError) -> AskError {
    let shown = |message: String| source::printable_message(&message);
    match e {
        AskError::Arguments(message) => AskError::Arguments(shown(message)),
        AskError::NotFound(message) => AskError::NotFound(shown(message)),
        AskError::Failed(message) => AskError::Failed(shown(message)),
        AskError::NotYet(message) => AskError::NotYet(shown(message)),
        AskError::Cancelled => AskError::Cancelled,
    }
}

/// The arguments of a tool, with everything else that defines the tool.
pub(crate) trait Question: DeserializeOwned + JsonSchema + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// What it finds, in a phrase: the instructions of the server list it.
    const WHEN: &'static str;
    /// The purpose of the tool, when to use it and when not.
    const DESCRIPTION: &'static str;
    const GROUP: ToolGroup = ToolGroup::Search;
    const EFFECT: Effect = Effect::None;
    const NEEDS_MEMORIES: bool = false;
    /// Whether the tool answers from the index, so that callers may wait for fresh data.
    const WAITS: bool = true;
    /// Its own arguments that are accepted, and not part of the listed schema.
    const UNLISTED: &'static [&'static str] = &[];
    /// The limit of the reply if the caller gives none.
    const TOKENS: usize = DEFAULT_TOKENS;
    /// Returns what may name another project or a published repository. In a question that is always
    /// about the project of the server, nothing does.
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |_| Mentions::default();
    type Reply: Reply;

    /// Answers within the budget.
    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<Self::Reply, AskError>;

    /// Answers of a published repository of a team.
    fn answer_published(
        self,
        _repository: &PublishedRepository,
        _call: &Call,
        _budget: TokenBudget,
    ) -> Result<Self::Reply, AskError> {
        Err(not_of_published(Self::NAME))
    }
}

/// Returns the error of a question about a published repository, unless it answers of those.
pub(crate) fn not_of_published(name: &str) -> AskError {
    AskError::Arguments(format!(
        "{name} answers of projects on this machine only: of published repositories ask cortex_search, cortex_read and cortex_grep"
    ))
}

impl Tool {
    /// Whether the tool belongs to one of these groups.
    pub(super) fn is_in(&self, groups: &[ToolGroup]) -> bool {
        groups.iter().any(|group| group.has(self))
    }

    /// Whether a server answers calls of the tool without listing it.
    pub(super) fn needs_no_listing(&self) -> bool {
        self.group != ToolGroup::Edit
    }

    pub(super) const fn of<Q: Question>() -> Self {
        Self {
            group: Q::GROUP,
            effect: Q::EFFECT,
            needs_memories: Q::NEEDS_MEMORIES,
            waits: Q::WAITS,
            name: Q::NAME,
            title: Q::TITLE,
            when: Q::WHEN,
            description: Q::DESCRIPTION,
            input_schema: arguments::<Q>,
            listed_schema: listed::<Q>,
            output_schema: schema::output::<Q::Reply>,
            run: answer::<Q>,
        }
    }

    /// Whether a call with these arguments waits for fresh data before it answers. A call whose
    /// arguments cannot be used does not.
    #[must_use]
    pub fn waits_for(&self, arguments: &Value) -> bool {
        let read = || tolerant::read_part(arguments, schema::once(schema::input::<Wait>));
        self.waits && read().is_ok_and(|asked| asked.as_object().is_some_and(|a| !a.is_empty()))
    }

    /// Answers a call, in the `usual` form unless the arguments name another. A panic becomes an
    /// error of this call alone.
    ///
    /// # Errors
    /// When the arguments cannot be used, or there is no answer.
    pub fn call(
        &self,
        engine: &Engine,
        call: &Call,
        arguments: Value,
        usual: Format,
    ) -> Result<Answer, AskError> {
        call.check()?;
        let run = || (self.run)(engine, call, arguments, usual);
        let answered = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            let name = self.name;
            Err(AskError::Failed(format!("{name} failed on these arguments; this is a bug of cortex, and other calls are not affected")))
        });
        answered.map_err(printable_error)
    }
}

/// Whether the tool can be asked of another project. What is changed, or remembered, is that of the
/// project where the agent works.
const fn reaches_others<Q: Question>() -> bool {
    matches!(Q::EFFECT, Effect::None) && matches!(Q::GROUP, ToolGroup::Search | ToolGroup::Graph)
}

/// The project that a question is asked of.
#[derive(Deserialize, JsonSchema)]
struct OfRepo {
    /// Ask this other project of the user, by its name.
    repo: Option<String>,
}

/// Returns the schema of a tool's arguments: its own, and those that many tools share.
fn arguments<Q: Question>() -> Map<String, Value> {
    let mut input = schema::input::<Q>();
    if Q::WAITS {
        schema::add(&mut input, schema::input::<Wait>());
    }
    if reaches_others::<Q>() {
        schema::add(&mut input, schema::input::<OfRepo>());
    }
    schema::add(&mut input, schema::input::<TokenBudget>());
    input
}

/// Returns the part of that schema that agents are shown. Every tool accepts the rest, too; the
/// instructions of the server describe it once.
fn listed<Q: Question>() -> Map<String, Value> {
    let mut input = schema::once(arguments::<Q>).clone();
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties
            .retain(|name, _| !UNLISTED.contains(&&**name) && !Q::UNLISTED.contains(&&**name));
        // The server checks the bounds.
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            let is_nothing = |value: &Value| [json!(false), json!(0), json!("")].contains(value);
            property.retain(|key, value| match &**key {
                "minimum" | "maximum" | "minLength" => false,
                "default" => !is_nothing(value),
                _ => true,
            });
        }
    }
    input
}

/// The reply of a tool to a command: as much of it as the command asked for.
pub(crate) struct Limited<R> {
    pub(crate) reply: R,
    budget: TokenBudget,
}

/// Answers a question as its tool does, in at most `max_tokens` or the usual limit of the tool.
pub(crate) fn limited<Q: Question>(
    question: Q,
    engine: &Engine,
    call: &Call,
    max_tokens: Option<usize>,
    format: Format,
) -> Result<Limited<Q::Reply>, AskError> {
    let budget = TokenBudget::of_command(max_tokens).or(Q::TOKENS, format);
    Ok(Limited { reply: question.answer(engine, call, budget)?, budget })
}

/// Answers a question as its tool does, without a limit.
pub(crate) fn whole<Q: Question>(question: Q, engine: &Engine) -> Result<Q::Reply, AskError> {
    question.answer(engine, &Call::default(), TokenBudget::WHOLE)
}

impl<R: Reply> Limited<R> {
    /// Returns the lines of the text form, without its warnings and the freshness of the index.
    pub(crate) fn lines(&self) -> Vec<String> {
        // The last line, which is always kept, is the empty one.
        let text = self.budget.bind_text(printed(&self.reply).join("\n") + "\n");
        text.lines().map(str::to_string).collect()
    }

    /// Returns the JSON form.
    pub(crate) fn json(&self) -> serde_json::Result<Value> {
        Ok(self.budget.bind_json(serde_json::to_value(&self.reply)?))
    }
}

/// Reads the arguments of a call by their schema. Returns them with the call, which then has the warnings
/// about them, too.
pub(crate) fn read_arguments(
    arguments: Value,
    schema: &Map<String, Value>,
    call: &Call,
) -> Result<(Value, Call), AskError> {
    let (arguments, about) = tolerant::read(arguments, schema)?;
    let warnings = [&call.warnings[..], &about].concat();
    Ok((arguments, Call { warnings, ..call.clone() }))
}

/// Returns what arguments that were read say.
pub(crate) fn deserialized<'de, T: Deserialize<'de>>(
    arguments: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, AskError> {
    T::deserialize(arguments)
        .map_err(|e| AskError::Arguments(format!("the arguments are not valid: {e}")))
}

/// Returns the JSON form of a reply.
pub(crate) fn json_of(reply: &impl Serialize) -> Result<Value, AskError> {
    serde_json::to_value(reply)
        .map_err(|e| AskError::Failed(format!("cannot write the reply as JSON: {e}")))
}

/// Reads the arguments, asks the engine, and writes the reply.
fn answer<Q: Question>(
    engine: &Engine,
    call: &Call,
    arguments: Value,
    usual: Format,
) -> Result<Answer, AskError> {
    let (arguments, call) = read_arguments(arguments, schema::once(self::arguments::<Q>), call)?;
    let wait = deserialized::<Wait>(&arguments)?;
    let budget = deserialized::<TokenBudget>(&arguments)?.or(Q::TOKENS, usual);
    let OfRepo { repo } = deserialized(&arguments)?;
    let mut question: Q = deserialized(arguments)?;
    let call = Call { wait, in_brief: true, ..call };
    let scope = engine.scope(repo.as_deref(), (Q::MENTIONS)(&mut question), &call)?;
    let reply = match &scope {
        Scope::Here => question.answer(engine, &call, budget)?,
        Scope::Other(other) => question.answer(&other.engine, &call, budget)?,
        Scope::Published(repository) => question.answer_published(repository, &call, budget)?,
    };
    Ok(match budget.format() {
        Format::Text => {
            let text = match &scope {
                // The last line says which index answered.
                Scope::Other(other) => format!("{} · in {}", reply.text(), printable(&other.name)),
                _ => reply.text(),
            };
            let json = if call.records_files { json_of(&reply)? } else { Value::Null };
            Answer::Text(budget.bind_text(text), json)
        }
        Format::Json => Answer::Json(budget.bind_json(json_of(&reply)?)),
    })
}
