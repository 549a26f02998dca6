//! The first lines between a client and the server, as JSON. Both are the same program.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The first line of a client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "want")]
pub enum Want {
    /// From here on the connection is that of an agent (Model Context Protocol).
    Mcp {
        /// The root of its project.
        root: PathBuf,
        /// Names of the tools that it is offered.
        tools: Vec<String>,
        read_only: bool,
    },
    /// What the server does, as [`ServerStatus`].
    Status,
    /// The server shall end.
    Stop,
}

/// The first line of the server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Ok,
    Status(ServerStatus),
    Error(String),
}

impl Reply {
    pub(super) fn into_result(self) -> io::Result<Option<ServerStatus>> {
        match self {
            Self::Ok => Ok(None),
            Self::Status(status) => Ok(Some(status)),
            Self::Error(why) => Err(io::Error::other(why)),
        }
    }
}

/// What a server does.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerStatus {
    pub version: String,
    pub pid: u32,
    /// Path of the program.
    pub program: PathBuf,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Resident bytes of the process, and its limit.
    pub resident_bytes: Option<u64>,
    pub budget_bytes: u64,
    /// Seconds without a client until the server ends.
    pub idle_s: u64,
    /// The last one asked first.
    pub projects: Vec<ProjectStatus>,
}

/// A project of a server.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProjectStatus {
    pub root: PathBuf,
    /// Number of agents that are connected.
    pub agents: usize,
    /// Whether it is open; a closed one opens with the next question.
    pub open: bool,
    /// Number of chunks that are served.
    pub chunks: usize,
    /// Seconds since the last question.
    pub idle_s: u64,
}
