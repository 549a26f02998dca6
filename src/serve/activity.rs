//! What a server did: the calls of programs, its reloads, and the processes on the project.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call_log::{CallLog, KeptQuestion, Latency, Recorded, ToolUse};
use crate::engine::Engine;
use crate::live::{GenerationRow, ReloadLog, ReloadRow};
use crate::store::{LeaderLock, WriteLock};

/// Asks what this server did.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ActivityRequest {}

/// What agents asked this server, and what it did. Kept in memory, since its start.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActivityAnswer {
    /// Whether questions and times are kept (`serve.activity`); else they are only counted.
    keeps_questions: bool,
    /// Number of calls of programs since the start. Calls of the page are not counted here, nor
    /// those to other processes, such as `cortex mcp`.
    calls: u64,
    /// The day of `tools` in the time zone of the server: YYYY-MM-DD.
    day: NaiveDate,
    /// What programs asked today, by tool.
    tools: Vec<ToolUse>,
    /// The last 50 questions of programs, the newest first.
    questions: Vec<KeptQuestion>,
    /// Times of the last 500 answers, also of those to the page, by minute, the oldest first.
    latency: Vec<Latency>,
    /// The last 100 reloads that published or failed, the newest first.
    reloads: Vec<ReloadRow>,
    /// Number of chunks of the last 200 generations that were served, the oldest first.
    generations: Vec<GenerationRow>,
    /// The processes on this project, as far as locks tell.
    processes: Processes,
}

/// What is known about the processes on this project. A lock does not tell the id of its holder.
#[derive(Debug, Serialize, JsonSchema)]
struct Processes {
    /// Process id of this server.
    own_pid: u32,
    /// Whether this server follows the changes of files.
    own_leads: bool,
    /// Whether another process follows them.
    other_leads: bool,
    /// Whether a process, this or another, is writing the index now.
    is_writing: bool,
}

impl Processes {
    fn of(engine: &Engine) -> Self {
        let layout = &engine.project.layout;
        let own_leads = engine.indexing().is_some_and(|indexing| indexing.status().leads);
        Self {
            own_pid: std::process::id(),
            own_leads,
            other_leads: !own_leads && LeaderLock::is_held(layout),
            is_writing: WriteLock::is_held(layout),
        }
    }
}

impl ActivityRequest {
    pub(super) fn answer(engine: &Engine, log: &CallLog) -> ActivityAnswer {
        let ReloadLog { reloads, generations } = engine.manager.log();
        let Recorded { keeps_questions, n_calls, day, tools, questions, latency } = log.recorded();
        ActivityAnswer {
            keeps_questions,
            calls: n_calls,
            day,
            tools,
            questions,
            latency,
            reloads: reloads.into_iter().rev().collect(),
            generations: generations.into(),
            processes: Processes::of(engine),
        }
    }
}
