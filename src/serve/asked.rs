//! The questions of the page that are no tools of agents. The JSON API answers them as it answers
//! tools, and its description lists them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::activity::{ActivityAnswer, ActivityRequest};
use super::calls::Calls;
use crate::engine::{
    AskError, BriefingRequest, BriefingText, Call, ColoursAnswer, ColoursRequest, DrawingAnswer,
    DrawingRequest, Engine, FileUses, FileUsesRequest, MemoriesAnswer, MemoriesRequest, PastAnswer,
    PastRequest, PinRequest, ResultRow, SearchAnswer, SearchRequest, TreemapAnswer, TreemapRequest,
};
use crate::source;
use crate::tools::{Effect, input_schema, output_schema, schema_once, tolerant_arguments};

/// The arguments of a question of the page, with everything else that defines it.
pub(super) trait PageArguments: DeserializeOwned + JsonSchema + 'static {
    /// Its path is `/api/NAME`.
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::None;
    type Answer: Serialize + JsonSchema;

    /// Answers on a thread that may block.
    fn answer(self, engine: &Engine, calls: &Calls, call: &Call) -> Result<Self::Answer, AskError>;
}

/// A question of the page as the server sees it.
pub(super) struct PageQuestion {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) input_schema: fn() -> Map<String, Value>,
    pub(super) output_schema: fn() -> Map<String, Value>,
    pub(super) answer: fn(Value, &Engine, &Calls, &Call) -> Result<Value, AskError>,
}

/// All of them.
pub(super) const ALL: &[PageQuestion] = &[
    PageQuestion::of::<AboutRequest>(),
    PageQuestion::of::<ActivityRequest>(),
    PageQuestion::of::<ColoursRequest>(),
    PageQuestion::of::<FindRequest>(),
    PageQuestion::of::<DrawingRequest>(),
    PageQuestion::of::<FileUsesRequest>(),
    PageQuestion::of::<PastRequest>(),
    PageQuestion::of::<TreemapRequest>(),
    PageQuestion::of::<MemoriesRequest>(),
    PageQuestion::of::<BriefingRequest>(),
    PageQuestion::of::<PinRequest>(),
];

impl PageQuestion {
    const fn of<A: PageArguments>() -> Self {
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

fn answer<A: PageArguments>(
    arguments: Value,
    engine: &Engine,
    calls: &Calls,
    call: &Call,
) -> Result<Value, AskError> {
    let (arguments, warnings) = tolerant_arguments(arguments, schema_once(input_schema::<A>))?;
    let question: A = serde_json::from_value(arguments)
        .map_err(|e| AskError::Arguments(format!("the arguments are not valid: {e}")))?;
    let call = Call { warnings, ..call.clone() };
    serde_json::to_value(question.answer(engine, calls, &call)?)
        .map_err(|e| AskError::Failed(format!("cannot write the answer as JSON: {e}")))
}

/// Asks what the page has to know first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AboutRequest {}

/// What the page has to know first.
#[derive(Serialize, JsonSchema)]
pub(super) struct About {
    /// The last part of the root's path.
    name: String,
    /// Root of the project, an absolute path.
    root: String,
    /// The branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Version of Cortex.
    version: &'static str,
    /// Whether nothing can be changed.
    read_only: bool,
    /// The address that opens `{path}`, an absolute path, at `{line}` in the user's editor.
    editor: String,
}

impl PageArguments for AboutRequest {
    const NAME: &'static str = "about";
    const TITLE: &'static str = "About this server";
    const DESCRIPTION: &'static str =
        "Returns the project of this server, and how its files are opened in an editor.";
    type Answer = About;

    fn answer(self, engine: &Engine, calls: &Calls, _: &Call) -> Result<About, AskError> {
        let project = &engine.project;
        let root = project.layout.root();
        Ok(About {
            name: root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            root: root.display().to_string(),
            branch: source::branch(root),
            version: env!("CARGO_PKG_VERSION"),
            read_only: calls.read_only,
            editor: project.config.editor.clone(),
        })
    }
}

impl PageArguments for ColoursRequest {
    const NAME: &'static str = "colours";
    const TITLE: &'static str = "Colour code";
    const DESCRIPTION: &'static str = "Returns the colours of pieces of code. It reads no file.";
    type Answer = ColoursAnswer;

    fn answer(self, _: &Engine, _: &Calls, _: &Call) -> Result<ColoursAnswer, AskError> {
        Ok(ColoursRequest::answer(&self))
    }
}

impl PageArguments for ActivityRequest {
    const NAME: &'static str = "activity";
    const TITLE: &'static str = "Activity";
    const DESCRIPTION: &'static str = "Returns what programs asked this server, how long answers took, and its last reloads. All of it is in memory only.";
    type Answer = ActivityAnswer;

    fn answer(self, engine: &Engine, calls: &Calls, _: &Call) -> Result<ActivityAnswer, AskError> {
        Ok(ActivityRequest::answer(engine, calls))
    }
}

/// Searches as one types: a few lines of each result, and no reply to fit into a limit of tokens.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FindRequest {
    #[serde(flatten)]
    search: SearchRequest,
    /// Number of lines of each result.
    #[serde(default = "eight")]
    #[schemars(range(min = 0, max = 50))]
    lines: usize,
}

fn eight() -> usize {
    8
}

impl PageArguments for FindRequest {
    const NAME: &'static str = "find";
    const TITLE: &'static str = "Search as you type";
    const DESCRIPTION: &'static str = "Finds what the search finds, and returns the best lines of each result. It is faster, because it fits nothing into a limit of tokens.";
    type Answer = SearchAnswer;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<SearchAnswer, AskError> {
        let request = SearchRequest { one_per_file: true, ..self.search };
        let mut answer = engine.search(&request, call)?;
        answer.results = ResultRow::best(answer.results, &answer.excerpts, self.lines);
        Ok(answer)
    }
}

impl PageArguments for DrawingRequest {
    const NAME: &'static str = "drawing";
    const TITLE: &'static str = "Draw the code graph";
    const DESCRIPTION: &'static str = "Draws an answer of the code graph in columns: callers left of the target, callees right of it. Returns boxes and curves with their places, and with `format` also the drawing as a text.";
    type Answer = DrawingAnswer;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<DrawingAnswer, AskError> {
        engine.drawing(&self, call)
    }
}

impl PageArguments for FileUsesRequest {
    const NAME: &'static str = "file_uses";
    const TITLE: &'static str = "Uses of the symbols of a file";
    const DESCRIPTION: &'static str = "Counts the users and tests of each symbol of a file, and says how often the calls that the code graph shows in its language were right where that was measured.";
    type Answer = FileUses;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<FileUses, AskError> {
        engine.file_uses(&self, call)
    }
}

impl PageArguments for PastRequest {
    const NAME: &'static str = "past";
    const TITLE: &'static str = "What the past says";
    const DESCRIPTION: &'static str =
        "Finds the memories and the commits whose words answer a question.";
    type Answer = PastAnswer;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<PastAnswer, AskError> {
        engine.past(&self, call)
    }
}

impl PageArguments for TreemapRequest {
    const NAME: &'static str = "treemap";
    const TITLE: &'static str = "Sizes of directories";
    const DESCRIPTION: &'static str = "Sums up the files below a directory, two levels deep: lines, language, changes, references.";
    type Answer = TreemapAnswer;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<TreemapAnswer, AskError> {
        engine.treemap(&self, call)
    }
}

impl PageArguments for MemoriesRequest {
    const NAME: &'static str = "memories";
    const TITLE: &'static str = "List memories";
    const DESCRIPTION: &'static str =
        "Lists what is remembered, with the sessions that it comes from.";
    type Answer = MemoriesAnswer;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<MemoriesAnswer, AskError> {
        engine.timeline(&self, call)
    }
}

impl PageArguments for BriefingRequest {
    const NAME: &'static str = "briefing";
    const TITLE: &'static str = "What the next session is told";
    const DESCRIPTION: &'static str =
        "Returns the text that the next session of an agent receives at its start, with its size.";
    type Answer = BriefingText;

    fn answer(self, engine: &Engine, _: &Calls, call: &Call) -> Result<BriefingText, AskError> {
        engine.next_briefing(call)
    }
}

impl PageArguments for PinRequest {
    const NAME: &'static str = "pin";
    const TITLE: &'static str = "Pin a memory";
    const DESCRIPTION: &'static str =
        "Makes a memory a part of the text that every session begins with, or of none.";
    const EFFECT: Effect = Effect::Adds;
    type Answer = Pinned;

    fn answer(self, engine: &Engine, _: &Calls, _: &Call) -> Result<Pinned, AskError> {
        engine.pin(&self.id, self.pinned)?;
        Ok(Pinned { id: self.id, pinned: self.pinned })
    }
}

/// The memory as it is now.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pinned {
    id: String,
    pinned: bool,
}
