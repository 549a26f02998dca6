//! Handles an event of an agent session: stores its memory, and gives the agent what helps it.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use uuid::Uuid;

use crate::agents::Event;
use crate::dir::Dir;
use crate::engine::AskError;
use crate::engine::door::project::{Project, ProjectError};
use crate::engine::door::serving::{AnswerFrom, Engine};
use crate::index::Mode;
use crate::memory::{
    self, CaptureError, Memories, Memory, MemoryStore, SessionError, StorageError,
};
use crate::store::{LeaderLock, Manifest};
use crate::text::chain;

/// Bytes at the end of a transcript that are read.
const TRANSCRIPT_END: u64 = 1 << 18;
/// A hook backs up a database up to this size; for a larger one a server, or the next `cortex
/// memory`, does.
const QUICKLY_COPIED: u64 = 32 << 20;
/// Share of memories without an index from which the end of an answer saves the index.
const WORTH_SAVING: f64 = 0.002;
/// A hook compares the tree with an index of up to this many bytes, because a user waits for it. It
/// holds about 15 000 files.
const QUICKLY_COMPARED: u64 = 150 << 20;
/// How long a briefing waits for the edits since the last session. This process needs the rest of its
/// time for git and for the briefing.
const BEFORE_BRIEFING: Duration = Duration::from_secs(1);

/// An event of an agent session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session starts; it receives the briefing.
    Start,
    /// The user sends a prompt; the agent receives memories that are relevant to it.
    Prompt,
    /// A tool is about to run; the agent receives memories about the file that it will change.
    BeforeTool,
    /// A tool has run; its change is stored.
    AfterTool,
    /// An answer ends; it is stored.
    Answer,
    /// A session ends; its summary is stored.
    End,
    /// The agent is about to compact its context; a summary is stored.
    BeforeCompact,
}

/// Why an event was not handled completely.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("the memory is lost, because the spool cannot be written")]
    Lost(#[source] StorageError),
    #[error("there is no new backup")]
    Backup(#[source] StorageError),
    #[error("the agent does not read the answer")]
    Unread(#[source] io::Error),
}

impl From<StorageError> for HookError {
    fn from(e: StorageError) -> Self {
        Self::Capture(e.into())
    }
}

impl HookError {
    /// Returns the error of the memories, if it is one.
    fn of_memories(&self) -> Option<&CaptureError> {
        match self {
            Self::Capture(e) | Self::Project(ProjectError::Memory(e)) => Some(e),
            _ => None,
        }
    }

    /// Returns whether storing would fail again later.
    fn is_bad_content(&self) -> bool {
        matches!(
            self.of_memories(),
            Some(
                CaptureError::EmptyContent
                    | CaptureError::StorageFailed(StorageError::ContentTooLong { .. })
            )
        )
    }

    /// Returns whether only a person can solve the error.
    fn needs_a_person(&self) -> bool {
        matches!(
            self.of_memories(),
            Some(CaptureError::StorageFailed(
                StorageError::Damaged { .. } | StorageError::Lost { .. }
            ))
        )
    }
}

/// Gives a text to the agent.
pub type Print<'a> = dyn Fn(&str) -> io::Result<()> + Sync + 'a;

/// One event of a session in a project.
pub struct Hook<'a> {
    event: SessionEvent,
    input: Event,
    engine: Engine,
    /// The memory of this event. Storing it again does not duplicate it.
    own: Option<Memory>,
    print: &'a Print<'a>,
}

impl<'a> Hook<'a> {
    /// Opens the project that the agent works in.
    ///
    /// # Errors
    /// When the project cannot be opened.
    #[expect(clippy::disallowed_methods, reason = "the directory that the agent is in")]
    pub fn new(
        event: SessionEvent,
        mut input: Event,
        print: &'a Print<'a>,
    ) -> Result<Self, HookError> {
        let project = Project::open(input.cwd.as_deref().filter(|d| d.is_dir()))?;
        if input.session_id.is_empty() && event != SessionEvent::Start {
            // For an agent that does not name its sessions.
            input.session_id = project.memory_home().current_session();
        }
        let own = match event {
            SessionEvent::Prompt => input.prompt_memory(),
            SessionEvent::AfterTool => input.tool_memory(project.layout.root()),
            SessionEvent::Answer => {
                input.answer_memory(input.transcript.as_deref().and_then(end_of).as_deref())
            }
            _ => None,
        };
        let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
        Ok(Self { event, input, engine, own, print })
    }

    /// Handles the event. Each write waits at most `busy` while another process holds the lock;
    /// then the memory goes to the spool.
    ///
    /// # Errors
    /// When a part fails. Everything else is done all the same.
    pub fn run(mut self, busy: Duration) -> Result<(), HookError> {
        if self.event == SessionEvent::End && !self.engine.remembers() {
            return Ok(());
        }
        let result = match self.engine.memories(busy).map_err(HookError::from) {
            Ok(memories) => self.with(&memories),
            Err(e) => self.keep(&e).and(Err(e)),
        };
        if let Err(e) = &result
            && self.event == SessionEvent::Start
            && e.needs_a_person()
        {
            // Otherwise the loss would stay unnoticed for long.
            self.print(&format!(
                "cortex cannot read the memories of this project. Let the user know: {}\n",
                chain(e)
            ))?;
        }
        if matches!(self.event, SessionEvent::Prompt | SessionEvent::Answer) {
            // The process ends: the system frees memory faster, and the next process reads SQLite's
            // log.
            std::mem::forget(self.engine);
        }
        result
    }

    fn with(&mut self, memories: &Memories) -> Result<(), HookError> {
        match self.event {
            SessionEvent::Prompt => {
                // The memory is stored while the index is loaded.
                let (loaded, remembered) =
                    rayon::join(|| self.engine.load_memories(), || self.remember(memories));
                let answered =
                    loaded.map_err(HookError::from).and_then(|()| self.answer_prompt(memories));
                remembered?;
                answered
            }
            SessionEvent::Start => {
                // The briefing contains what happened since the last session, also beside a server
                // that has just started and waits.
                let start = SystemTime::now();
                let catching_up = self.catch_up();
                let is_compared = catching_up
                    .as_ref()
                    .is_some_and(|is_done| is_done.recv_timeout(BEFORE_BRIEFING).is_ok());
                self.engine.project.record_past_now(memories, is_compared.then_some(start));
                if self.input.session_id.is_empty() {
                    self.input.session_id = match memories.sessions.start_session() {
                        Ok(id) | Err(SessionError::AlreadyActive { session_id: id }) => id,
                        Err(e) => return self.brief(memories).and(Err(e.into())),
                    };
                    self.brief(memories)?;
                } else {
                    let briefed = self.brief(memories);
                    self.remember(memories)?;
                    briefed?;
                }
                wait_for(catching_up);
                Ok(())
            }
            // This event needs no write first, and a user waits for it.
            SessionEvent::BeforeTool => {
                let answered = self.answer_tool(&memories.store);
                self.remember(memories)?;
                answered
            }
            SessionEvent::AfterTool => self.remember(memories),
            // A database that is not writable can still be read.
            SessionEvent::Answer => {
                let remembered = self.remember(memories);
                let catching_up = self.catch_up();
                self.engine.project.record_past_in(memories, None);
                // The user reads the answer now: this is the time to prepare the next query.
                self.engine.load_memories()?;
                self.engine.save(WORTH_SAVING);
                wait_for(catching_up);
                remembered
            }
            SessionEvent::End => {
                let catching_up = self.catch_up();
                self.engine.project.record_past_in(memories, None);
                self.summarise(memories)?;
                wait_for(catching_up);
                memories.sessions.end_session(&self.input.session_id)?;
                if memories.store.bytes()? <= QUICKLY_COPIED {
                    memory::back_up_if_due(&memories.store).map_err(HookError::Backup)?;
                }
                Ok(())
            }
            SessionEvent::BeforeCompact => {
                let remembered = self.remember(memories);
                self.summarise(memories).and(remembered)
            }
        }
    }

    /// Brings an index up to date in the background, which records edits that no other process saw.
    /// The channel receives a message if that succeeded.
    /// Returns `None` if there is nothing to do: without an index, in a project that is too large to be
    /// compared while a user waits, and under a server, except at the start of a session: the server may
    /// not have looked at the tree yet.
    fn catch_up(&self) -> Option<Receiver<()>> {
        let project = self.engine.project.clone();
        let index = Manifest::read(&project.layout).ok()??;
        let bytes: u64 = index.files.values().map(|file| file.bytes).sum();
        let is_start = self.event == SessionEvent::Start;
        let is_followed = LeaderLock::is_held(&project.layout);
        if bytes > QUICKLY_COMPARED || is_followed && !is_start {
            return None;
        }
        // A server that starts at the same time may be updating the index.
        let lock_wait = if is_start { BEFORE_BRIEFING } else { Duration::ZERO };
        let (done, is_done) = channel::<()>();
        let work = move || {
            let index =
                |found| project.index(found, Mode::Incremental, lock_wait, &|_| ()).map(|_| ());
            match project.bring_up_to_date(index) {
                // The hook may have stopped waiting.
                Ok(()) => drop(done.send(())),
                Err(e) => tracing::info!("the index is not updated by this hook: {e}"),
            }
        };
        // A hook whose time ends ends this thread: an index run that is cut off leaves no damage.
        thread::Builder::new().name("catch-up".into()).spawn(work).ok()?;
        Some(is_done)
    }

    /// Stores the memory of this event, or spools it.
    fn remember(&self, memories: &Memories) -> Result<(), HookError> {
        let captured = self.capture(memories);
        if let Err(e) = &captured {
            self.keep(e)?;
        }
        captured
    }

    fn capture(&self, Memories { capture, sessions, .. }: &Memories) -> Result<(), HookError> {
        if !self.input.session_id.is_empty() {
            sessions.resume(&self.input.session_id)?;
        }
        if let Some(memory) = &self.own {
            capture.capture_of_hook(memory.clone())?;
        }
        Ok(())
    }

    /// Spools a memory that could not be stored; the next process that opens the database stores
    /// it.
    fn keep(&self, e: &HookError) -> Result<(), HookError> {
        match self.own.clone().filter(|_| !e.is_bad_content()) {
            Some(memory) => {
                let home = self.engine.project.memory_home();
                home.keep_for_later(memory).map_err(HookError::Lost)
            }
            None => Ok(()),
        }
    }

    fn print(&self, text: &str) -> Result<(), HookError> {
        if text.is_empty() { Ok(()) } else { (self.print)(text).map_err(HookError::Unread) }
    }

    /// Prints a text for the agent, and then records the memories in it as received.
    fn give(&self, store: &MemoryStore, text: &str, ids: &[Uuid]) -> Result<(), HookError> {
        self.print(text)?;
        if !ids.is_empty() {
            store.give(&self.input.session_id, ids)?;
        }
        Ok(())
    }

    /// Prints the briefing of the session.
    fn brief(&self, Memories { store, .. }: &Memories) -> Result<(), HookError> {
        let (project, session) = (&self.engine.project, &self.input.session_id);
        // The agent's context no longer holds what it received.
        let has_forgotten =
            matches!(self.input.source.as_deref(), Some("clear" | "compact" | "startup"));
        let given = if has_forgotten { Vec::new() } else { store.given(session)? };
        let (briefing, ids) =
            memory::briefing(store, project.layout.root(), &given, memory::BRIEFING_TOKENS)?;
        let notice = project.memory_home().notice().map(|notice| format!("cortex: {notice}.\n"));
        self.print(&(notice.unwrap_or_default() + &briefing))?;
        if has_forgotten {
            store.take_back(session)?;
        }
        self.give(store, "", &ids)
    }

    /// Prints memories that are relevant to a prompt.
    fn answer_prompt(&self, memories: &Memories) -> Result<(), HookError> {
        let (store, session) = (&memories.store, &self.input.session_id);
        let Some(prompt) = self.input.prompt.as_deref().filter(|p| !p.trim().is_empty()) else {
            return Ok(());
        };
        let (text, ids) = self.engine.for_prompt(memories, prompt, &store.given(session)?)?;
        self.give(store, &text, &ids)
    }

    /// Prints memories about the file that a tool will change.
    fn answer_tool(&self, store: &MemoryStore) -> Result<(), HookError> {
        let Some(path) = self.input.file_below(self.engine.project.layout.root()) else {
            return Ok(());
        };
        let given = store.given(&self.input.session_id)?;
        let (text, ids) = memory::for_file(store, &path, &given)?;
        self.give(store, &text, &ids)
    }

    /// Stores a summary of the session so far.
    fn summarise(&self, Memories { store, capture, .. }: &Memories) -> Result<(), HookError> {
        if let Some(summary) = memory::summary(store, &self.input.session_id)? {
            capture.capture(summary)?;
        }
        Ok(())
    }
}

/// Waits for a thread that sends a message or closes its channel when it is done.
fn wait_for(is_done: Option<Receiver<()>>) {
    if let Some(is_done) = is_done {
        let _ = is_done.recv();
    }
}

/// Reads the end of a transcript.
fn end_of(transcript: &Path) -> Option<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = Dir::open(transcript.parent()?).ok()?.open_file(transcript.file_name()?).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_END))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_END).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
