//! Answers questions about one project, for the command line, MCP and HTTP.
//!
//! A [`Project`] is a directory with its settings; it can be indexed. An [`Engine`] serves it and
//! has one method for each question. Its request and its answer are the arguments and the JSON of
//! every front end. The engine of a server has threads that keep it fresh; the engine of a command
//! compares the tree with the index before it answers, unless [`AnswerFrom::Index`] is given.

mod door;
mod elsewhere;
mod explore;
mod graph;
mod memory;
mod past;
mod read;

pub use crate::team::Meter;
pub use door::*;
pub use elsewhere::*;
pub use explore::{ExploreAnswer, ExploreRequest, ShownFile, Subject, TextLines};
pub use graph::*;
pub use memory::*;
pub use past::*;
pub use read::*;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::chunk::Cancel;
use crate::edit::EditError;
use crate::graph::GraphError;
use crate::live::ReloadError;
use crate::memory::{CaptureError, RecallError, StorageError};
use crate::search::SearchError;
use crate::text::chain;
use crate::work::WorkBudget;
use crate::work::turns::ClientId;

/// The conditions of one question: freshness, cancellation, warnings, and what it may reach.
#[derive(Clone, Default)]
pub struct Call {
    /// How fresh the answer has to be.
    pub wait: Wait,
    /// Set when the caller no longer waits for the answer.
    pub cancel: Arc<Cancel>,
    /// Warnings about the question itself; the answer repeats them.
    pub warnings: Vec<String>,
    /// Whether to shorten warnings, for callers that pay for each word.
    pub in_brief: bool,
    /// Opens the user's other projects; `None` if the caller may ask one project only.
    pub others: Option<Arc<dyn OpenProject>>,
    /// The published repositories that the caller may ask.
    pub team: Option<Team>,
    /// The server that received the call, for questions about the server itself, which know its type.
    pub server: Option<Arc<dyn Any + Send + Sync>>,
    /// Whether the caller records which files a reply shows: then a text comes with its JSON form.
    pub records_files: bool,
    /// The client that asks, if several do.
    pub client: ClientId,
    /// Most time of processors that each search in the code graph may take, if it is less than usual.
    pub time: Option<Duration>,
}

impl Call {
    /// Starts the budget of the work for this call.
    #[must_use]
    pub fn work(&self) -> WorkBudget {
        let work = WorkBudget::new(self.cancel.clone()).of_client(self.client);
        self.time.into_iter().fold(work, WorkBudget::at_most)
    }

    /// Fails if the call was cancelled.
    ///
    /// # Errors
    /// [`AskError::Cancelled`].
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
    /// The requested file, chunk, symbol or memory does not exist.
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Failed(String),
    /// What the answer needs is still being made.
    #[error("{0}")]
    NotYet(String),
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

/// Whether a number is 0, so that an answer leaves it out.
fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}
