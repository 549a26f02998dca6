//! `list_sessions`: when agents worked here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory_search::ten;
use super::{Asked, Group, Question, Reply, State, ToolError, count, printable};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Most sessions, newest first.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Sessions {
    /// Newest first.
    sessions: Vec<Listed>,
    #[serde(flatten)]
    state: State,
}

/// One session.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// As the agent names it.
    id: String,
    /// Active, Completed or Abandoned.
    status: &'static str,
    /// When it began.
    started_at: String,
    /// When it ended, or was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// Memories of it.
    memories: u32,
}

impl Question for Args {
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const DESCRIPTION: &'static str = "When agents worked in this project, and how much is remembered of each session.";
    const GROUP: Group = Group::Memory;
    const NEEDS_MEMORIES: bool = true;
    type Reply = Sessions;

    fn answer(self, asked: Asked) -> Result<Sessions, ToolError> {
        let written = |at: chrono::DateTime<chrono::Utc>| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
        let Some(memories) = asked.memories_so_far()? else {
            return Ok(Sessions { sessions: Vec::new(), state: asked.state_without_memories() });
        };
        let sessions = memories.store.sessions(self.limit)?;
        let listed = sessions.into_iter().map(|s| Listed {
            status: s.status.as_str(),
            started_at: written(s.started_at),
            ended_at: s.ended_at.map(written),
            memories: s.memory_count,
            id: s.id,
        });
        Ok(Sessions { sessions: listed.collect(), state: asked.memory_state(&memories) })
    }
}

impl Reply for Sessions {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let line = |s: &Listed| {
            let n = usize::try_from(s.memories).unwrap_or(usize::MAX);
            let n = if n == 1 { "1 memory".into() } else { format!("{n} memories") };
            printable(&format!("{} {} {} {n}", s.started_at, s.status, s.id))
        };
        if self.sessions.is_empty() { vec![format!("{} so far", count(0, "session"))] } else { self.sessions.iter().map(line).collect() }
    }
}
