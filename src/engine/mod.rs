//! One project, open to questions: what the command line, MCP and HTTP all ask.
//!
//! A [`Project`] is a directory with its settings; it can be indexed. An [`Engine`] serves it, and
//! has one method for each question, with a request and an answer that are the arguments and the
//! JSON of every front end. A server's engine is kept fresh by threads of its own; a command's
//! engine looks at the tree before it answers.

mod edit;
mod filters;
mod freshness;
mod graph;
mod map;
mod memory;
mod outline;
mod paths;
mod project;
mod read;
mod related;
mod rows;
mod search;
mod serving;
mod status;
mod survey;

pub use filters::{Filters, Kinds};
pub use freshness::{AnswerState, Freshness, Wait};
pub use graph::{GraphAnswer, GraphNode, GraphRequest, GraphRow};
pub use map::{MapAnswer, MapRequest};
pub use memory::{
    BriefingAnswer, RecallAnswer, RecallRequest, RememberAnswer, RememberRequest, SessionRow,
    SessionsAnswer,
};
pub use outline::{FileOutline, OutlineAnswer, OutlineRequest, OutlineSymbol, Outlined};
pub use project::{LONG_WAIT, Project, ProjectError, SHORT_WAIT};
pub use read::{ReadAnswer, ReadRequest};
pub use related::{RelatedAnswer, RelatedRequest, RelatedTo};
pub use rows::{ChunkRow, ResultRow, ScorePart};
pub(crate) use search::default_limit;
pub use search::{SearchAnswer, SearchMode, SearchRequest, SearchStats};
pub use serving::{Engine, Look, Step, Tell};
pub use status::{Indexing, Reloads, ResidentMemory, Secrets, StatusAnswer, StatusRequest};
pub use survey::{
    CountBy, CountSort, FileCount, FilesAnswer, FilesRequest, PatternAnswer, PatternRequest,
};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::chunk::Cancel;
use crate::edit::EditError;
use crate::graph::GraphError;
use crate::live::ReloadError;
use crate::memory::{CaptureError, RecallError, StorageError};
use crate::search::SearchError;

/// How a question is asked.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// How fresh the answer has to be.
    pub wait: Wait,
    /// Set when nobody waits for the answer any more.
    pub cancel: Arc<Cancel>,
    /// What was odd about the question; told with the answer.
    pub warnings: Vec<String>,
    /// Warnings are cut: whoever asks pays for each word.
    pub in_brief: bool,
}

impl Call {
    /// # Errors
    /// When the call was cancelled.
    pub fn check(&self) -> Result<(), AskError> {
        if self.cancel.load(Ordering::Relaxed) { Err(AskError::Cancelled) } else { Ok(()) }
    }
}

/// Why a question has no answer. The message says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The request cannot be used.
    #[error("{0}")]
    Arguments(String),
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Failed(String),
    #[error("the call was cancelled")]
    Cancelled,
}

impl From<SearchError> for AskError {
    fn from(e: SearchError) -> Self {
        match e {
            SearchError::Exact(e) => Self::Arguments(e.to_string()),
            e => Self::Failed(e.to_string()),
        }
    }
}

impl From<ReloadError> for AskError {
    fn from(e: ReloadError) -> Self {
        Self::Failed(chain(&e))
    }
}

impl From<ProjectError> for AskError {
    fn from(e: ProjectError) -> Self {
        Self::Failed(chain(&e))
    }
}

impl From<GraphError> for AskError {
    fn from(e: GraphError) -> Self {
        Self::Failed(e.to_string())
    }
}

impl From<EditError> for AskError {
    fn from(e: EditError) -> Self {
        match e {
            EditError::NotFound { .. } => Self::NotFound(e.to_string()),
            EditError::Io { .. } | EditError::Busy { .. } => Self::Failed(e.to_string()),
            e => Self::Arguments(e.to_string()),
        }
    }
}

impl From<CaptureError> for AskError {
    fn from(e: CaptureError) -> Self {
        match e {
            CaptureError::EmptyContent
            | CaptureError::StorageFailed(StorageError::ContentTooLong { .. }) => {
                Self::Arguments(e.to_string())
            }
            e => Self::Failed(e.to_string()),
        }
    }
}

impl From<StorageError> for AskError {
    fn from(e: StorageError) -> Self {
        CaptureError::from(e).into()
    }
}

impl From<RecallError> for AskError {
    fn from(e: RecallError) -> Self {
        match e {
            RecallError::Search(e) => e.into(),
            RecallError::Storage(e) => e.into(),
        }
    }
}

/// An error with its causes, on one line.
fn chain(e: &dyn std::error::Error) -> String {
    let mut text = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        text.extend([": ", &e.to_string()]);
        cause = e.source();
    }
    text
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
