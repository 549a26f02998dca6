//! A session: one run of an agent in the project.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

names!(
    /// The state of a session.
    SessionStatus { Active = "Active", Completed = "Completed", Abandoned = "Abandoned" }
);

/// One session of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub status: SessionStatus,
    pub memory_count: u32,
}

impl Session {
    /// Creates a session that goes on and has no memories yet.
    pub(super) fn begun(id: &str, started_at: DateTime<Utc>) -> Self {
        let status = SessionStatus::Active;
        Self { id: id.into(), started_at, ended_at: None, status, memory_count: 0 }
    }
}
