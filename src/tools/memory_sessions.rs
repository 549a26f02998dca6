//! `list_sessions`: lists the sessions of agents in this project.

use schemars::JsonSchema;
use serde::Deserialize;

use super::budget::TokenBudget;
use super::memory_search::ten;
use super::reply::{Look, Reply, printable};
use super::tool::{Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, SessionRow, SessionsAnswer};
use crate::text::count;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Maximum number of sessions, newest first.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

impl Question for Args {
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const WHEN: &'static str = "when agents worked here.";
    const DESCRIPTION: &'static str =
        "List when agents worked in this project, and how many memories each session has.";
    const GROUP: ToolGroup = ToolGroup::Memory;
    const NEEDS_MEMORIES: bool = true;
    const WAITS: bool = false;
    type Reply = SessionsAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        _: TokenBudget,
    ) -> Result<SessionsAnswer, AskError> {
        engine.sessions(self.limit, call)
    }
}

impl Reply for SessionsAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let line = |s: &SessionRow| {
            let n = usize::try_from(s.memories).unwrap_or(usize::MAX);
            printable(&format!("{} {} {} {}", s.started_at, s.status, s.id, count(n, "memory")))
        };
        if self.sessions.is_empty() {
            vec![format!("{} so far", count(0, "session"))]
        } else {
            self.sessions.iter().map(line).collect()
        }
    }
}
