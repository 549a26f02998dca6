//! The questions of the page that are no tools of agents. The JSON API answers them as it answers
//! tools, and its description lists them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::activity::{ActivityAnswer, ActivityRequest};
use super::calls::Calls;
use crate::engine::{AskError, Call, ColoursAnswer, ColoursRequest};
use crate::tools::{Effect, input_schema, output_schema, tolerant_arguments};

/// The arguments of a question of the page, with everything else that defines it.
pub(super) trait Asked: DeserializeOwned + JsonSchema {
    /// Its path is `/api/NAME`.
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::None;
    type Answer: Serialize + JsonSchema;

    /// Answers on a thread that may block.
    fn answer(self, calls: &Calls, call: &Call) -> Result<Self::Answer, AskError>;
}

/// A question of the page as the server sees it.
pub(super) struct PageQuestion {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) input_schema: fn() -> Map<String, Value>,
    pub(super) output_schema: fn() -> Map<String, Value>,
    pub(super) answer: fn(Value, &Calls, &Call) -> Result<Value, AskError>,
}

/// All of them.
pub(super) const ALL: &[PageQuestion] =
    &[PageQuestion::of::<ColoursRequest>(), PageQuestion::of::<ActivityRequest>()];

impl PageQuestion {
    const fn of<A: Asked>() -> Self {
        Self {
            name: A::NAME,
            title: A::TITLE,
            description: A::DESCRIPTION,
            effect: A::EFFECT,
            input_schema: input_schema::<A>,
            output_schema: output_schema::<A::Answer>,
            answer: answer::<A>,
        }
    }

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|question| question.name == name)
    }
}

fn answer<A: Asked>(arguments: Value, calls: &Calls, call: &Call) -> Result<Value, AskError> {
    let (arguments, warnings) = tolerant_arguments(arguments, &input_schema::<A>())?;
    let question: A = serde_json::from_value(arguments)
        .map_err(|e| AskError::Arguments(format!("the arguments are not valid: {e}")))?;
    let call = Call { warnings, ..call.clone() };
    serde_json::to_value(question.answer(calls, &call)?)
        .map_err(|e| AskError::Failed(format!("cannot write the answer as JSON: {e}")))
}

impl Asked for ColoursRequest {
    const NAME: &'static str = "colours";
    const TITLE: &'static str = "Colour code";
    const DESCRIPTION: &'static str = "Returns the colours of pieces of code. It reads no file.";
    type Answer = ColoursAnswer;

    fn answer(self, _: &Calls, _: &Call) -> Result<ColoursAnswer, AskError> {
        Ok(ColoursRequest::answer(&self))
    }
}

impl Asked for ActivityRequest {
    const NAME: &'static str = "activity";
    const TITLE: &'static str = "Activity";
    const DESCRIPTION: &'static str = "Returns what programs asked this server, how long answers took, and its last reloads. All of it is in memory only.";
    type Answer = ActivityAnswer;

    fn answer(self, calls: &Calls, _: &Call) -> Result<ActivityAnswer, AskError> {
        Ok(ActivityRequest::answer(calls))
    }
}
