//! Answers questions about one project, for the command line, MCP and HTTP.
//!
//! A [`Project`] is a directory with its settings; it can be indexed. An [`Engine`] serves it and
//! has one method for each question. Its request and its answer are the arguments and the JSON of
//! every front end. The engine of a server has threads that keep it fresh; the engine of a command
//! compares the tree with the index before it answers, unless [`AnswerFrom::Index`] is given.

mod affected;
mod beside;
mod change_rows;
mod changed;
mod changes;
mod coloured;
mod commits;
mod deps;
mod diffs;
mod drawing;
mod edit;
mod explore;
mod filters;
mod freshness;
mod gram_filters;
mod graph;
mod graph_rows;
mod graph_upkeep;
mod grep;
mod history;
mod hook;
mod impact;
mod kinds;
mod many;
mod map;
mod memory;
mod near;
mod operation;
mod outline;
mod outside;
mod package_search;
mod packages;
mod past;
mod past_of_question;
mod paths;
mod pool;
mod project;
mod read;
mod read_patterns;
mod related;
mod rename;
mod reverts;
mod routes;
mod rows;
mod scan;
mod scip;
mod search;
mod serving;
mod statements;
mod status;
mod team;
mod tested;
mod tied;
mod timeline;
mod treemap;
mod unknown;
mod unused;
mod used;
mod uses;
mod warm_up;
mod why;

pub use crate::team::Meter;
pub use affected::{TestGroup, TestsByClass};
pub use change_rows::{
    ChangeCount, ChangedArea, ChangedFileRow, ChangedRow, ChangesAnswer, CommitLine, DeadRow,
    NewCallers, SignatureRow, Since, TestChanges,
};
pub use changed::How;
pub use changes::ChangesRequest;
pub use coloured::{ColoursAnswer, ColoursRequest};
pub use deps::{DependenciesAnswer, DependenciesRequest, Dependency, Ecosystem};
pub use drawing::{DrawingAnswer, DrawingRequest};
pub use explore::{ExploreAnswer, ExploreRequest, ShownFile, Subject, TextLines};
pub use filters::{Filters, Kinds, Tests, single_globs};
pub use freshness::{AnswerState, Freshness, PublishedState, Wait};
pub use graph::{
    GraphAnswer, GraphNode, GraphRequest, GraphRow, NameUse, Namesake, NotListed, UnknownName,
    UsesInFile,
};
pub use grep::{GrepAnswer, GrepFile, GrepLine, GrepLines, GrepRequest};
pub use hook::{Hook, HookError, SessionEvent};
pub use impact::{ChangedSymbol, DeletedUse, ImpactAnswer, ImpactRequest, NextFile, Together};
pub use kinds::Fold;
pub use many::{AskedProject, OpenProject, chosen, open_projects, search_many};
pub use map::{MapAnswer, MapRequest};
pub use memory::{
    BriefingAnswer, RecallAnswer, RecallRequest, RememberAnswer, RememberRequest, SessionRow,
    SessionsAnswer,
};
pub use operation::{Advised, FrontEnd};
pub use outline::{FileOutline, OutlineAnswer, OutlineRequest, OutlineSymbol, Outlined};
pub use outside::OutsideName;
pub use packages::{PackageRow, PackagesAnswer, UNUSED, remove_packages};
pub use pool::{Changes, Pool, PoolLimits, Pooled};
pub use project::{LONG_WAIT, Project, ProjectError, SHORT_WAIT};
pub use read::{ReadAnswer, ReadGap, ReadPlace, ReadRange, ReadRequest, ReadRow};
pub use read_patterns::{FileLines, ReadPattern, pattern_in};
pub use related::{RelatedAnswer, RelatedRequest, RelatedTo};
pub use rename::{
    LineOfText, RenameAnswer, RenameRequest, RenamedFile, RenamedLine, UncertainLine,
};
pub use reverts::RevertNote;
pub use routes::Client;
pub use rows::{ChunkRow, ExcerptRow, ResultRow, ScorePart, Window};
pub use scan::{
    CountBy, CountSort, FileCount, FilesAnswer, FilesRequest, PatternAnswer, PatternRequest,
};
pub use search::{SearchAnswer, SearchMode, SearchRequest, SearchStats};
pub use serving::{AnswerFrom, Engine, Step, Tell};
pub use status::{Indexing, Reloads, ResidentMemory, Secrets, StatusAnswer, StatusRequest};
pub use team::{AskedRepository, PublishedRepository, Team, ToPublish};
pub use used::{FileUses, FileUsesRequest, MeasuredPrecision, SymbolUses};

pub use diffs::ChangedPlace;
pub use history::{HistoryAnswer, HistoryRequest, HistoryRow};
pub use past::{CommitRow, PastAnswer, PastRequest};
pub use timeline::{
    BriefingRequest, BriefingText, MemoriesAnswer, MemoriesRequest, MemoryRow, PinRequest,
};
pub use treemap::{TreemapAnswer, TreemapRequest, TreemapRow};
pub use why::{WhyAnswer, WhyCommit, WhyDocument, WhyPassed, WhyRequest};

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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
