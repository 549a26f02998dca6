//! Runs tools for every transport: on threads that may block, a limited number at
//! a time, with metrics.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::call_log::{CallLog, Caller, Outcome};
use super::counters::ToolCounters;
use crate::engine::{AskError, Call, Engine, OpenProject, Pooled, Team};
use crate::tools::{Answer, Effect, Format, Tool, ToolGroup, callable};
use crate::work::turns::{ClientId, Turns};

/// Most calls that run at the same time. Most calls only wait, so there may be more than cores.
const MAX_CALLS: usize = 64;
/// Most of them that may be calls that request to wait, so that the others find a place.
const MAX_WAITING: usize = MAX_CALLS / 2;
/// How long a call waits for a free place.
const PATIENCE: Duration = Duration::from_secs(1);

/// The tools over one project, ready to be called from asynchronous code.
pub struct Calls {
    pub(super) project: Arc<Pooled>,
    /// The tools that can be called.
    pub(super) tools: Vec<&'static Tool>,
    /// The tools that agents are shown.
    pub(super) listed: Vec<&'static Tool>,
    pub(super) metrics: Arc<ToolCounters>,
    pub(super) log: Arc<CallLog>,
    /// Whether nothing may be changed by a call.
    pub(super) read_only: bool,
    /// Opens the user's other projects; `None` if the callers may ask this project only.
    others: Option<Arc<dyn OpenProject>>,
    /// The published repositories that the callers may ask, if the settings of the project do not say.
    pub(super) team: Option<Team>,
    /// Places of all calls on the project.
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Places of the calls of one client, or of all over HTTP.
    own: Arc<Semaphore>,
    client: ClientId,
}

/// The server that received a call, for the questions about it.
pub(super) struct AskedServer {
    /// Whether nothing may be changed by a call.
    pub(super) read_only: bool,
    pub(super) log: Arc<CallLog>,
}

impl AskedServer {
    pub(super) fn of(call: &Call) -> Result<&Self, AskError> {
        let server = call.server.as_ref().and_then(|server| server.downcast_ref());
        server.ok_or_else(|| {
            AskError::Failed("no server received this call (this is a bug of cortex)".into())
        })
    }
}

/// Counts the clients of this process.
static N_CLIENTS: AtomicU64 = AtomicU64::new(1);
/// The turns of calls that compute. A client without one does not wait long, because turns may be held
/// by calls that wait for a first index.
static COMPUTING: LazyLock<Turns> = LazyLock::new(|| {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    Turns::new(n_cores, Duration::from_millis(100))
});

/// Follows the name of what a server does not do that was started with `--read-only`.
pub(super) const READ_ONLY: &str =
    "changes data, and this server was started with --read-only: start one without";

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallError {
    #[error("{MAX_CALLS} calls are running already: try again in a moment")]
    Busy,
    #[error(
        "{MAX_WAITING} calls wait already: leave out wait_ms and min_generation to be answered from the index as it is"
    )]
    TooManyWait,
    #[error(transparent)]
    Tool(#[from] AskError),
}

impl CallError {
    /// Returns the label of the error in the metrics.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Busy | Self::TooManyWait => "busy",
            Self::Tool(AskError::Arguments(_)) => "arguments",
            Self::Tool(AskError::NotFound(_)) => "not_found",
            Self::Tool(AskError::Failed(_)) => "failed",
            Self::Tool(AskError::NotYet(_)) => "not_yet",
            Self::Tool(AskError::Cancelled) => "cancelled",
        }
    }

    fn outcome<'a>(&self) -> Outcome<'a> {
        Outcome::Failed { kind: self.kind(), n_bytes: self.to_string().len() }
    }
}

impl Calls {
    /// Creates the calls of `tools` on a project, which are all listed. With `keeps_questions`, the
    /// last questions are kept in memory.
    #[must_use]
    pub fn new(project: Arc<Pooled>, tools: Vec<&'static Tool>, keeps_questions: bool) -> Self {
        let log = Arc::new(CallLog::new(keeps_questions));
        Self {
            project,
            listed: tools.clone(),
            tools,
            metrics: Arc::default(),
            log,
            read_only: false,
            others: None,
            team: None,
            running: Arc::new(Semaphore::new(MAX_CALLS)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            own: Arc::new(Semaphore::new(MAX_CALLS)),
            client: N_CLIENTS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the calls of one more client of the same project, which share its limits and records.
    /// They reach no other project.
    #[must_use]
    pub fn of_client(&self, tools: Vec<&'static Tool>) -> Self {
        Self {
            metrics: self.metrics.clone(),
            log: self.log.clone(),
            running: self.running.clone(),
            waiting: self.waiting.clone(),
            ..Self::new(self.project.clone(), tools, false)
        }
    }

    /// Refuses everything that changes files or memories, if `read_only`.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        for tools in [&mut self.tools, &mut self.listed] {
            tools.retain(|tool| !read_only || tool.effect == Effect::None);
        }
        self
    }

    /// Lets the callers also call tools that are not listed, by their names.
    #[must_use]
    pub fn with_unlisted(mut self) -> Self {
        self.tools = callable(&self.listed);
        self
    }

    /// Whether agents are shown a tool.
    pub(super) fn lists(&self, tool: &Tool) -> bool {
        let is_listed = self.listed.iter().any(|listed| listed.name == tool.name);
        is_listed && (!tool.needs_memories || self.project.remembers())
    }

    /// Lets the callers ask other projects, too. They must be programs of the user alone.
    #[must_use]
    pub fn reaching(mut self, others: Arc<dyn OpenProject>) -> Self {
        self.others = Some(others);
        self
    }

    /// Lets the callers ask published repositories.
    #[must_use]
    pub fn of_team(mut self, team: Team) -> Self {
        self.team = Some(team);
        self
    }

    /// Returns the tool with this name, or an error message that lists the tools.
    pub(super) fn tool(&self, name: &str) -> Result<&'static Tool, String> {
        self.tools.iter().copied().find(|t| t.name == name).ok_or_else(|| {
            if self.read_only && Tool::named(name).is_some_and(|t| t.effect != Effect::None) {
                return format!("{name} {READ_ONLY}");
            }
            let names: Vec<&str> = self.tools.iter().map(|t| t.name).collect();
            format!("there is no tool `{name}`; the tools are {}", names.join(", "))
        })
    }

    /// Calls a tool, which answers in the `usual` form unless the arguments name another, and notes
    /// who asked what. Dropping the returned future cancels the call.
    pub(super) async fn run(
        &self,
        tool: &'static Tool,
        arguments: Value,
        usual: Format,
        caller: Caller,
    ) -> Result<Answer, CallError> {
        // What the page asks is not what agents ask, so no record of it stays.
        let is_of_page = tool.group == ToolGroup::Page;
        let log = if is_of_page { Arc::new(CallLog::new(false)) } else { self.log.clone() };
        let (start, metrics, noted) = (Instant::now(), self.metrics.clone(), log.clone());
        let refused = |e: CallError, caller: Caller| {
            self.metrics.record(tool.name, e.kind(), start.elapsed());
            let begun = noted.begin(tool.name, caller, &Value::Null);
            noted.end(begun, &e.outcome(), start.elapsed(), None);
            Err(e)
        };
        let asking = caller.clone();
        let waits = tool.waits_for(&arguments);
        let call = move |engine: &Engine, call: &Call| {
            let begun = log.begin(tool.name, asking, &arguments);
            let call = &Call { records_files: log.keeps_files(&begun), ..call.clone() };
            // A call that waits for others computes little.
            let is_wanted = || !call.cancel.load(Ordering::Relaxed);
            let _turn = (!waits).then(|| COMPUTING.take(call.client, is_wanted));
            let result = tool.call(engine, call, arguments, usual).map_err(CallError::from);
            let took = start.elapsed();
            metrics.record(tool.name, result.as_ref().err().map_or("ok", CallError::kind), took);
            let snapshot = engine.manager.current();
            let outcome = result.as_ref().map_or_else(CallError::outcome, Outcome::Answered);
            log.end(begun, &outcome, took, snapshot.corpora.first().map(|code| &**code));
            result
        };
        let _place = if waits {
            let place = timeout(PATIENCE, self.waiting.clone().acquire_owned()).await;
            let Ok(Ok(place)) = place else {
                return refused(CallError::TooManyWait, caller);
            };
            Some(place)
        } else {
            None
        };
        match self.blocking(call).await {
            Ok(result) => result,
            Err(e) => refused(e, caller),
        }
    }

    /// Waits until no call of this client is running.
    pub(super) async fn finished(&self) {
        // The semaphore is never closed, and all its permits are free when no call runs.
        let _ = self.own.acquire_many(u32::try_from(MAX_CALLS).unwrap_or(u32::MAX)).await;
    }

    /// Returns the engine, and opens it if it is closed.
    pub(super) async fn engine(&self) -> Result<Arc<Engine>, CallError> {
        if let Some(engine) = self.project.engine_if_open() {
            return Ok(engine);
        }
        let project = self.project.clone();
        let opened = spawn_blocking(move || project.engine()).await.map_err(|e| e.to_string());
        Ok(opened.map_err(AskError::Failed)?.map_err(AskError::from)?)
    }

    /// Opens what questions need, in the background: a client that connects asks soon.
    pub(super) fn warm_up(&self) {
        let project = self.project.clone();
        drop(spawn_blocking(move || {
            // The first call tells why a project cannot be opened.
            if let Ok(engine) = project.engine() {
                engine.warm_up();
            }
        }));
    }

    /// Waits until no call on the project is running.
    pub(super) async fn all_finished(&self) {
        let _ = self.running.acquire_many(u32::try_from(MAX_CALLS).unwrap_or(u32::MAX)).await;
    }

    /// Runs work that may block or compute on a thread of the blocking pool.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &Call) -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let place = |places: &Arc<Semaphore>| timeout(PATIENCE, places.clone().acquire_owned());
        let (Ok(Ok(permit)), Ok(Ok(own))) = (place(&self.running).await, place(&self.own).await)
        else {
            return Err(CallError::Busy);
        };
        let (project, others) = (self.project.clone(), self.others.clone());
        let server = AskedServer { read_only: self.read_only, log: self.log.clone() };
        let server: Option<Arc<dyn Any + Send + Sync>> = Some(Arc::new(server));
        let call = Call { client: self.client, server, ..Call::default() };
        let own_team = self.team.clone();
        let _cancel = CancelOnDrop(call.cancel.clone());
        let task = spawn_blocking(move || {
            let result = project.engine().map(|engine| {
                let may_reach = engine.project.config.other_projects;
                let others = others.filter(|_| may_reach);
                let (team, warning) = match own_team {
                    None if others.is_some() => engine.team(),
                    team => (team, None),
                };
                let warnings = warning.into_iter().collect();
                work(&engine, &Call { warnings, others, team, ..call })
            });
            // Released only now, since a thread with a cancelled call counts, too.
            drop((permit, own));
            result
        });
        let done = task.await.map_err(|e| {
            AskError::Failed(format!(
                "the call failed: {e}; this is a bug of cortex, please report it"
            ))
        })?;
        Ok(done.map_err(AskError::from)?)
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
