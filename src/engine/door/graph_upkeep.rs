//! The thread that updates the code graph of a server.
//!
//! The graph of a large project takes longer to build than a client waits. So a question waits for
//! the thread a while, and then says how far it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::dir::{DirId, Stat};
use crate::engine::door::operation::{Advised, FrontEnd};
use crate::engine::{AskError, Call, Project};
use crate::graph::{CodeGraph, GraphError, TablesVersion};
use crate::index::Progress;
use crate::store::SourceTable;
use crate::text::count;
use crate::worker::Worker;

/// The pause of a thread that runs on request only.
const NO_PAUSE: Duration = Duration::from_hours(24);

/// Updates the code graph on a thread of its own.
pub(in crate::engine) struct GraphUpkeep {
    worker: Worker,
    shared: Arc<Shared>,
    front_end: FrontEnd,
    open: Mutex<Option<OpenGraph>>,
}

/// A database that stays open, so that its answers share what they read.
struct OpenGraph {
    graph: Arc<CodeGraph>,
    /// The file that was opened.
    file: Option<DirId>,
    /// The state in which it lacked nothing, and whether there were source files.
    complete: Option<(GraphState, bool)>,
}

/// What decides whether the graph has the rows of all files as they are indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct GraphState {
    /// The table of the source files.
    sources: Stat,
    scip: Vec<(String, String)>,
    rows: TablesVersion,
}

impl GraphState {
    /// Returns the present state; `None` if only an update can tell whether the graph is complete.
    pub(in crate::engine) fn of(project: &Project, graph: &CodeGraph) -> Option<Self> {
        if project.layout.is_foreign() || !project.rows_ahead.is_empty() {
            return None;
        }
        Some(Self {
            sources: SourceTable::stamp(&project.layout)?,
            scip: project.scip_stamps(),
            rows: graph.version().ok()?,
        })
    }
}

#[derive(Default)]
struct Shared {
    /// The files of the next update.
    sources: Mutex<Option<SourceTable>>,
    progress: Mutex<Option<Progress>>,
    /// The error of the last update.
    error: Mutex<Option<AskError>>,
}

impl GraphUpkeep {
    /// Starts the thread.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(in crate::engine) fn spawn(project: Arc<Project>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let front_end = project.front_end;
        let worker = Worker::spawn("code graph", move |_| {
            let sources = own.sources.lock().take();
            if let Some(sources) = sources {
                let tell = |progress| *own.progress.lock() = Some(progress);
                let updated = project.update_code_graph(sources, &tell);
                *own.progress.lock() = None;
                *own.error.lock() = updated.err().map(AskError::from);
            }
            NO_PAUSE
        })?;
        Ok(Self { worker, shared, front_end, open: Mutex::default() })
    }

    /// Returns the graph. It is opened again if another file is in the place of the database.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(in crate::engine) fn open(&self, project: &Project) -> Result<Arc<CodeGraph>, GraphError> {
        let mut open = self.open.lock();
        let file = || project.layout.code_graph_stat().map(|stat| stat.id);
        if let Some(open) = open.as_ref().filter(|open| open.file.is_some() && open.file == file())
        {
            return Ok(open.graph.clone());
        }
        let graph = Arc::new(project.code_graph()?);
        *open = Some(OpenGraph { graph: graph.clone(), file: file(), complete: None });
        Ok(graph)
    }

    /// Whether the database is open.
    pub(in crate::engine) fn is_open(&self) -> bool {
        self.open.lock().is_some()
    }

    /// Returns whether there are source files, if the graph was complete in this state.
    pub(in crate::engine) fn complete_in(
        &self,
        graph: &Arc<CodeGraph>,
        state: &GraphState,
    ) -> Option<bool> {
        let open = self.open.lock();
        let open = open.as_ref().filter(|open| Arc::ptr_eq(&open.graph, graph))?;
        open.complete.as_ref().filter(|(complete, _)| complete == state).map(|(_, has)| *has)
    }

    /// Notes that an update in this state changed nothing.
    pub(in crate::engine) fn note(
        &self,
        graph: &Arc<CodeGraph>,
        state: GraphState,
        has_sources: bool,
    ) {
        let mut open = self.open.lock();
        if let Some(open) = open.as_mut().filter(|open| Arc::ptr_eq(&open.graph, graph)) {
            open.complete = Some((state, has_sources));
        }
    }

    /// Updates the graph for these files, and waits for the end of that.
    ///
    /// # Errors
    /// When the update takes longer than the call waits, fails, or the call is cancelled.
    pub(in crate::engine) fn update(
        &self,
        sources: SourceTable,
        call: &Call,
    ) -> Result<(), AskError> {
        *self.shared.sources.lock() = Some(sources);
        let ticket = self.worker.handle().request();
        if self.worker.handle().wait(ticket, Instant::now() + call.wait.time(), &call.cancel) {
            return self.shared.error.lock().clone().map_or(Ok(()), Err);
        }
        call.check()?;
        let far = match *self.shared.progress.lock() {
            Some(Progress { done, total }) => {
                format!(": {done} of {} are read", count(total, "file"))
            }
            None => String::new(),
        };
        let [grep, search] = [Advised::Grep, Advised::Search].map(|of| self.front_end.name(of));
        Err(AskError::NotYet(format!(
            "the code graph is being built{far}. Call again, or pass wait_ms; {grep} and {search} answer meanwhile"
        )))
    }
}
