//! What a server did: the calls of programs, its reloads, and the processes on the project.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call_log::{KeptQuestion, Latency, Recorded, ToolUse, milliseconds};
use super::calls::Calls;
use crate::engine::Engine;
use crate::live::{LoggedGeneration, LoggedReload};
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

/// A reload of the index.
#[derive(Debug, Serialize, JsonSchema)]
struct ReloadRow {
    /// When it ended, RFC 3339.
    at: DateTime<Utc>,
    milliseconds: f64,
    /// The generation of the code that is served after it.
    generation: u64,
    /// Number of chunks.
    added: usize,
    updated: usize,
    deleted: usize,
    /// The first files with added or updated chunks, at most 3.
    files: Vec<String>,
    /// Why it failed, or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl From<LoggedReload> for ReloadRow {
    fn from(reload: LoggedReload) -> Self {
        let LoggedReload { at, took, generation, n_added, n_updated, n_deleted, files, error } =
            reload;
        let milliseconds = milliseconds(took);
        let (added, updated, deleted) = (n_added, n_updated, n_deleted);
        Self { at, milliseconds, generation, added, updated, deleted, files, error }
    }
}

/// The chunks of one generation.
#[derive(Debug, Serialize, JsonSchema)]
struct GenerationRow {
    /// When it was served first, RFC 3339.
    at: DateTime<Utc>,
    generation: u64,
    /// Number of chunks by type.
    chunks: BTreeMap<&'static str, usize>,
}

impl From<LoggedGeneration> for GenerationRow {
    fn from(LoggedGeneration { at, generation, chunks }: LoggedGeneration) -> Self {
        Self { at, generation, chunks: chunks.into_iter().collect() }
    }
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
    pub(super) fn answer(engine: &Engine, calls: &Calls) -> ActivityAnswer {
        let reloads = engine.manager.log();
        let Recorded { keeps_questions, n_calls, day, tools, questions, latency } =
            calls.log.recorded();
        ActivityAnswer {
            keeps_questions,
            calls: n_calls,
            day,
            tools,
            questions,
            latency,
            reloads: reloads.reloads.into_iter().rev().map(Into::into).collect(),
            generations: reloads.generations.into_iter().map(Into::into).collect(),
            processes: Processes::of(engine),
        }
    }
}
