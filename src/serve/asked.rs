//! The questions of the page that are no tools of agents. The JSON API answers them as it answers
//! tools, and its description lists them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::activity::{ActivityAnswer, ActivityRequest};
use super::calls::AskedServer;
use crate::engine::{
    AskError, BriefingRequest, BriefingText, Call, ColoursAnswer, ColoursRequest, DrawingAnswer,
    DrawingRequest, Engine, FileUses, FileUsesRequest, MapAnswer, MemoriesAnswer, MemoriesRequest,
    Mentions, PastAnswer, PastRequest, PatchAnswer, PatchRequest, PinRequest, ResultRow, Scope,
    SearchAnswer, SearchRequest, TreemapAnswer, TreemapRequest,
};
use crate::tools::{
    Answer, Effect, Format, Question, Tool, ToolGroup, deserialized, input_schema, json_of,
    not_of_published, output_schema, read_arguments, schema_once,
};

/// The arguments of a question of the page, with everything else that defines it.
trait PageArguments: DeserializeOwned + JsonSchema + 'static {
    /// Its path is `/api/NAME`.
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::None;
    /// Returns what may name another project, as for a tool.
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |_| Mentions::default();
    type Answer: Serialize + JsonSchema;

    /// Answers on a thread that may block.
    fn answer(self, engine: &Engine, call: &Call) -> Result<Self::Answer, AskError>;
}

/// All of them.
pub(super) const ALL: &[Tool] = &[
    tool::<AboutRequest>(),
    tool::<ActivityRequest>(),
    tool::<ColoursRequest>(),
    tool::<FindRequest>(),
    tool::<DrawingRequest>(),
    tool::<FileUsesRequest>(),
    tool::<OverviewRequest>(),
    tool::<PastRequest>(),
    tool::<PatchRequest>(),
    tool::<TreemapRequest>(),
    tool::<MemoriesRequest>(),
    tool::<BriefingRequest>(),
    tool::<PinRequest>(),
];

/// Returns a question as a tool that answers in JSON, without a limit of tokens.
const fn tool<A: PageArguments>() -> Tool {
    Tool {
        group: ToolGroup::Page,
        effect: A::EFFECT,
        needs_memories: false,
        waits: false,
        name: A::NAME,
        title: A::TITLE,
        when: "",
        description: A::DESCRIPTION,
        input_schema: input_schema::<A>,
        listed_schema: input_schema::<A>,
        output_schema: output_schema::<A::Answer>,
        run: answer::<A>,
    }
}

fn answer<A: PageArguments>(
    engine: &Engine,
    call: &Call,
    arguments: Value,
    _: Format,
) -> Result<Answer, AskError> {
    let (arguments, call) = read_arguments(arguments, schema_once(input_schema::<A>), call)?;
    let mut question: A = deserialized(arguments)?;
    let answer = match engine.scope(None, (A::MENTIONS)(&mut question), &call)? {
        Scope::Here => question.answer(engine, &call)?,
        Scope::Other(other) => question.answer(&other.engine, &call)?,
        Scope::Published(_) => return Err(not_of_published(A::NAME)),
    };
    Ok(Answer::Json(json_of(&answer)?))
}

/// Asks what the page has to know first.
#[derive(Deserialize, JsonSchema)]
struct AboutRequest {}

/// What the page has to know first.
#[derive(Serialize, JsonSchema)]
struct About {
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

    fn answer(self, engine: &Engine, call: &Call) -> Result<About, AskError> {
        let project = &engine.project;
        let root = project.layout.root();
        Ok(About {
            name: root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            root: root.display().to_string(),
            branch: project.branch(),
            version: env!("CARGO_PKG_VERSION"),
            read_only: AskedServer::of(call)?.read_only,
            editor: project.config.editor.clone(),
        })
    }
}

impl PageArguments for ColoursRequest {
    const NAME: &'static str = "colours";
    const TITLE: &'static str = "Colour code";
    const DESCRIPTION: &'static str = "Returns the colours of pieces of code. It reads no file.";
    type Answer = ColoursAnswer;

    fn answer(self, _: &Engine, _: &Call) -> Result<ColoursAnswer, AskError> {
        Ok(ColoursRequest::answer(&self))
    }
}

impl PageArguments for ActivityRequest {
    const NAME: &'static str = "activity";
    const TITLE: &'static str = "Activity";
    const DESCRIPTION: &'static str = "Returns what programs asked this server, how long answers took, and its last reloads. All of it is in memory only.";
    type Answer = ActivityAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<ActivityAnswer, AskError> {
        Ok(ActivityRequest::answer(engine, &AskedServer::of(call)?.log))
    }
}

/// Searches as one types: a few lines of each result, and no reply to fit into a limit of tokens.
#[derive(Deserialize, JsonSchema)]
struct FindRequest {
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
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| (SearchRequest::MENTIONS)(&mut q.search);
    type Answer = SearchAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<SearchAnswer, AskError> {
        let request = SearchRequest { one_per_file: true, ..self.search };
        let mut answer = engine.search_scoped(&request, call)?;
        answer.results = ResultRow::best(answer.results, &answer.excerpts, self.lines);
        Ok(answer)
    }
}

impl PageArguments for DrawingRequest {
    const NAME: &'static str = "drawing";
    const TITLE: &'static str = "Draw the code graph";
    const DESCRIPTION: &'static str = "Draws an answer of the code graph in columns: callers left of the target, callees right of it. Returns boxes and curves with their places, and with `format` also the drawing as a text.";
    type Answer = DrawingAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<DrawingAnswer, AskError> {
        engine.drawing(&self, call)
    }
}

impl PageArguments for FileUsesRequest {
    const NAME: &'static str = "file_uses";
    const TITLE: &'static str = "Uses of the symbols of a file";
    const DESCRIPTION: &'static str = "Counts the users and tests of each symbol of a file, and says how often the calls that the code graph shows in its language were right where that was measured.";
    type Answer = FileUses;

    fn answer(self, engine: &Engine, call: &Call) -> Result<FileUses, AskError> {
        engine.file_uses(&self, call)
    }
}

impl PageArguments for PastRequest {
    const NAME: &'static str = "past";
    const TITLE: &'static str = "What the past says";
    const DESCRIPTION: &'static str =
        "Finds the memories and the commits whose words answer a question.";
    type Answer = PastAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<PastAnswer, AskError> {
        engine.past(&self, call)
    }
}

impl PageArguments for PatchRequest {
    const NAME: &'static str = "patch";
    const TITLE: &'static str = "Lines of a change";
    const DESCRIPTION: &'static str = "Returns the lines that a range of commits, or what is not committed, adds and removes, each with its number and with the lines around it. Secrets are hidden, and long changes are cut.";
    type Answer = PatchAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<PatchAnswer, AskError> {
        engine.patch(&self, call)
    }
}

/// Asks what the project is, as far as nobody has to wait for it.
#[derive(Deserialize, JsonSchema)]
struct OverviewRequest {}

impl PageArguments for OverviewRequest {
    const NAME: &'static str = "overview";
    const TITLE: &'static str = "What the project is, at once";
    const DESCRIPTION: &'static str = "Returns what `map` returns. It never builds the code graph: while the graph lacks many files, the main files and types are missing, and a warning says so.";
    type Answer = MapAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<MapAnswer, AskError> {
        engine.map_at_hand(call)
    }
}

impl PageArguments for TreemapRequest {
    const NAME: &'static str = "treemap";
    const TITLE: &'static str = "Sizes of directories";
    const DESCRIPTION: &'static str = "Sums up the files below a directory, two levels deep: lines, language, changes, references.";
    type Answer = TreemapAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<TreemapAnswer, AskError> {
        engine.treemap(&self, call)
    }
}

impl PageArguments for MemoriesRequest {
    const NAME: &'static str = "memories";
    const TITLE: &'static str = "List memories";
    const DESCRIPTION: &'static str =
        "Lists what is remembered, with the sessions that it comes from.";
    type Answer = MemoriesAnswer;

    fn answer(self, engine: &Engine, call: &Call) -> Result<MemoriesAnswer, AskError> {
        engine.timeline(&self, call)
    }
}

impl PageArguments for BriefingRequest {
    const NAME: &'static str = "briefing";
    const TITLE: &'static str = "What the next session is told";
    const DESCRIPTION: &'static str =
        "Returns the text that the next session of an agent receives at its start, with its size.";
    type Answer = BriefingText;

    fn answer(self, engine: &Engine, call: &Call) -> Result<BriefingText, AskError> {
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

    fn answer(self, engine: &Engine, _: &Call) -> Result<Pinned, AskError> {
        engine.pin(&self.id, self.pinned)?;
        Ok(Pinned { id: self.id, pinned: self.pinned })
    }
}

/// The memory as it is now.
#[derive(Serialize, JsonSchema)]
struct Pinned {
    id: String,
    pinned: bool,
}
