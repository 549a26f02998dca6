//! What earlier sessions and commits say about a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::Entry;
use crate::embed::StaticModel;
use crate::engine::door::serving::{Engine, View};
use crate::engine::memory::recall::{RecallRequest, written};
use crate::engine::memory::timeline::MemoryRow;
use crate::engine::{AskError, Call};
use crate::memory::RecalledMemory;
use crate::search::Searcher;

/// A memory that is less similar to the question than this, of 2, is not shown.
pub(in crate::engine) const LEAST_EVIDENCE: f64 = 0.6;
/// A commit whose message holds less of the question than this is not shown.
const LEAST_SHARE: f64 = 0.25;
/// Most files that are named for a commit.
const MAX_FILES: usize = 5;

/// A question about the past.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct PastRequest {
    /// A question, some words, or a name.
    pub query: String,
    /// Most memories, and most commits.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 50))]
    pub limit: usize,
}

fn five() -> usize {
    5
}

/// What was said and done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastAnswer {
    /// Memories that answer it, best first.
    pub memories: Vec<MemoryRow>,
    /// Commits whose messages answer it, best first.
    pub commits: Vec<CommitRow>,
}

/// A commit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitRow {
    pub id: String,
    /// First line of the message.
    pub title: String,
    pub at: String,
    /// The first files that it changed.
    pub files: Vec<String>,
    /// Number of files that it changed.
    pub total_files: usize,
    /// Share of the question that its message holds, 0 to 1.
    pub share: f64,
}

impl CommitRow {
    /// Returns `None` if the commit cannot be read.
    fn new(share: f64, commit: &Entry) -> Option<Self> {
        let chunk = commit.chunk()?;
        let files = &chunk.metadata.files;
        Some(Self {
            id: chunk.id.strip_prefix("commit:").unwrap_or(&chunk.id).to_string(),
            title: chunk.title.clone(),
            at: written(chunk.created_at),
            files: files.iter().take(MAX_FILES).cloned().collect(),
            total_files: files.len(),
            share: (share * 100.0).round() / 100.0,
        })
    }
}

impl Engine {
    /// Finds the memories and the commits that answer a question.
    ///
    /// # Errors
    /// When the index or the memories cannot be read.
    pub fn past(&self, request: &PastRequest, call: &Call) -> Result<PastAnswer, AskError> {
        let memories = if self.remembers() {
            self.recall(&RecallRequest::about(&request.query, request.limit), call)?.results
        } else {
            Vec::new()
        };
        let View { code, .. } = self.view_now(call)?;
        let query = Searcher::new(&code.corpus).query(&request.query, &StaticModel::knows)?;
        let commits = code.corpus.commits_about(&query, request.limit);
        let commits = commits.into_iter().take_while(|(share, _)| *share >= LEAST_SHARE);
        let is_near = |found: &&RecalledMemory| found.evidence >= LEAST_EVIDENCE;
        Ok(PastAnswer {
            memories: memories.iter().filter(is_near).map(MemoryRow::new).collect(),
            commits: commits.filter_map(|(share, commit)| CommitRow::new(share, commit)).collect(),
        })
    }
}
