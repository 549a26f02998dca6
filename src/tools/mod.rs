//! What agents and programs can ask: one file a tool, each with its arguments, its reply and the way from one to the
//! other. No transport: the same tools answer over MCP and HTTP.

mod context;
mod tolerant;

pub use context::{Context, Freshness, Taken, Wait};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::chunk::Cancel;

/// A tool as a transport sees it.
pub struct Tool {
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
pub const ALL: &[Tool] = &[];

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

/// A reply that can be read and parsed.
trait Reply: Serialize + JsonSchema {
    /// For a reader, with as few words as will do.
    fn text(&self) -> String;
}

impl Tool {
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
        catch_unwind(AssertUnwindSafe(|| (self.run)(context, call, arguments))).unwrap_or_else(|_| {
            let name = self.name;
            Err(ToolError::Failed(format!("{name} failed on these arguments; this is a bug of cortex, and other calls are not affected")))
        })
    }
}

/// Reads the arguments, runs the tool, writes the reply. `A` and `R` are a tool's arguments and reply.
fn answer<A: DeserializeOwned, R: Reply>(arguments: Value, run: impl FnOnce(A) -> Result<R, ToolError>) -> Result<Answer, ToolError> {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    let arguments =
        serde_json::from_value(arguments).map_err(|e| ToolError::Arguments(format!("the arguments are not understood: {e}")))?;
    let reply = run(arguments)?;
    let structured = serde_json::to_value(&reply).map_err(|e| ToolError::Failed(format!("the reply cannot be written: {e}")))?;
    Ok(Answer { text: reply.text(), structured })
}

/// The schema of a type, without references and without a union where a value may be left out.
fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
