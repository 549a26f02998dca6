//! The tools that agents and programs call, one file per tool (the two searches in memories share
//! one). A tool reads its arguments, asks the engine, and cuts the answer to a number of tokens. The
//! tools know no transport: MCP and HTTP serve the same ones.

mod budget;
mod changes;
mod edit_file;
mod edit_json;
mod edit_reply;
mod explore;
mod files;
mod graph;
mod grep;
mod history;
mod hits;
mod impact;
mod map;
mod memory_add;
mod memory_delete;
mod memory_reply;
mod memory_search;
mod memory_sessions;
mod outline;
mod pattern;
mod read;
mod related;
mod rename;
mod reply;
mod schema;
mod search;
mod status;
mod tolerant;
mod tool;
mod why;

pub use self::budget::Format;
pub(crate) use self::hits::{facts_lines, joined, row_lines};
pub(crate) use self::outline::Args as OutlineArgs;
pub(crate) use self::reply::{Look, Reply, printed};
pub use self::reply::{printable, printable_code, shown_place};
pub(crate) use self::schema::once as schema_once;
pub use self::schema::{input as input_schema, output as output_schema};
pub use self::tool::{Answer, Effect, Tool, ToolGroup};
pub(crate) use self::tool::{
    Question, deserialized, json_of, limited, not_of_published, read_arguments, whole,
};
pub use self::why::{WHY_TOKENS, why_lines};
use crate::engine::{
    ChangesRequest, ExploreRequest, FilesRequest, GrepRequest, HistoryRequest, ImpactRequest,
    MapRequest, PatternRequest, ReadRequest, RelatedRequest, RenameRequest, SearchRequest,
    StatusRequest, WhyRequest,
};

/// All tools, in the order in which they are listed.
pub const ALL: &[Tool] = &[
    Tool::of::<ExploreRequest>(),
    Tool::of::<SearchRequest>(),
    Tool::of::<GrepRequest>(),
    Tool::of::<MapRequest>(),
    Tool::of::<RelatedRequest>(),
    Tool::of::<WhyRequest>(),
    Tool::of::<HistoryRequest>(),
    Tool::of::<ChangesRequest>(),
    Tool::of::<outline::Args>(),
    Tool::of::<ReadRequest>(),
    Tool::of::<StatusRequest>(),
    Tool::of::<graph::Args>(),
    Tool::of::<ImpactRequest>(),
    Tool::of::<PatternRequest>(),
    Tool::of::<FilesRequest>(),
    Tool::of::<memory_add::Args>(),
    Tool::of::<memory_search::NodeSearch>(),
    Tool::of::<memory_search::FactSearch>(),
    Tool::of::<memory_delete::Args>(),
    Tool::of::<memory_sessions::Args>(),
    Tool::of::<edit_file::Args>(),
    Tool::of::<edit_json::Args>(),
    Tool::of::<RenameRequest>(),
];

/// Returns the tools of these groups.
#[must_use]
pub fn of_groups(groups: &[ToolGroup]) -> Vec<&'static Tool> {
    ALL.iter().filter(|tool| tool.is_in(groups)).collect()
}

/// Returns the tools whose calls a server answers that lists these. A tool that changes files must be
/// listed; the others are called by name, too, because a skill or a program may know them.
#[must_use]
pub fn callable(listed: &[&'static Tool]) -> Vec<&'static Tool> {
    let is_listed = |tool: &Tool| listed.iter().any(|listed| listed.name == tool.name);
    ALL.iter().filter(|tool| tool.needs_no_listing() || is_listed(tool)).collect()
}

impl Tool {
    /// Returns the tool of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|t| t.name == name)
    }
}

#[cfg(test)]
mod tests;
