//! `cortex hook`: what an agent calls when something happens in its session.
//!
//! A hook never stands in anybody's way: whatever goes wrong, it ends with exit code 0 and says nothing; what went wrong stands in
//! `.cortex/memory.log`.

mod install;

use std::io::{Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use chrono::Utc;
use serde_json::json;
use uuid::Uuid;

use super::Outcome;
use super::wire::Project;
use crate::chunk::Cancel;
use crate::dir::{Dir, How};
use crate::live::ChunkManager;
use crate::memory::{self, CaptureError, Facts, HookInput, Memories, Memory, Recall, StorageError};

/// Remember an agent's sessions, and tell it what is known (Claude Code's hooks).
#[derive(clap::Args)]
#[command(after_help = "Example: cortex hook install")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(clap::Subcommand)]
enum Sub {
    /// Have Claude Code call cortex in this project
    Install(install::Args),
    /// Have it do so no longer
    Uninstall(install::Args),
    #[command(flatten)]
    Event(Event),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Subcommand)]
enum Event {
    /// A session begins: tells what is remembered
    SessionStart,
    /// The user asked something: tells what may help
    PromptSubmit,
    /// A tool is about to run: tells what is known of the file that it changes
    PreTool,
    /// A tool has run: remembers what it changed
    PostTool,
    /// The agent has answered: remembers what
    Stop,
    /// A session ends: remembers what it was about
    SessionEnd,
    /// The agent is about to forget the beginning of its session: remembers what it was about
    PreCompact,
}

/// How long a hook takes at most, in all.
const DEADLINE: Duration = Duration::from_millis(280);
/// How long it waits for another process's write.
const BUSY: Duration = Duration::from_millis(60);
/// Larger input is no hook's.
const MAX_INPUT: u64 = 64 << 20;
/// How much of the end of a transcript is looked at.
const TRANSCRIPT_END: u64 = 1 << 18;
const LOG: &str = "memory.log";
/// The log is begun anew when it is larger.
const MAX_LOG: u64 = 1 << 20;
/// A database up to this size is backed up by a hook; a larger one by a server, or the next `cortex memory`.
const QUICKLY_COPIED: u64 = 32 << 20;
/// Memories that were not indexed yet and that a question has to index: from so many on, the end of an answer does it.
const WORTH_SAVING: f64 = 0.002;

/// An answer for the agent, if there is one.
type Told = Option<String>;

pub(super) fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Sub::Install(args) => install::install(args),
        Sub::Uninstall(args) => install::uninstall(args),
        Sub::Event(event) => {
            answer(*event);
            Ok(Outcome::Done)
        }
    }
}

impl Event {
    /// What the agent calls it.
    fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::PromptSubmit => "UserPromptSubmit",
            Self::PreTool => "PreToolUse",
            Self::PostTool => "PostToolUse",
            Self::Stop => "Stop",
            Self::SessionEnd => "SessionEnd",
            Self::PreCompact => "PreCompact",
        }
    }
}

/// Does what is to be done within the time there is, and prints what the agent is told.
fn answer(event: Event) {
    let deadline = Instant::now() + DEADLINE;
    let (sender, told) = channel();
    // On a thread: whatever holds it up, the agent goes on. The process ends under it.
    let work = move || {
        // A panic is noted as any other error, and not shouted out.
        panic::set_hook(Box::new(|_| {}));
        let run = || read_input().and_then(|input| Hook::new(event, input)?.run(&sender));
        let result =
            panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(anyhow::anyhow!("a panic; this is a bug of cortex")));
        if let Err(e) = result {
            log(None, event, &format!("{e:#}"));
        }
        drop(sender);
    };
    if thread::Builder::new().name("hook".into()).spawn(work).is_err() {
        return;
    }
    // Whoever is done hangs up.
    if let Ok(Some(context)) = told.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        let reply = json!({ "hookSpecificOutput": { "hookEventName": event.name(), "additionalContext": context } });
        let _ = writeln!(std::io::stdout(), "{reply}");
    }
    // What is done after the answer (an index is saved) may take what is left of the time.
    let _ = told.recv_timeout(deadline.saturating_duration_since(Instant::now()));
}

fn read_input() -> Result<HookInput> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_INPUT).read_to_end(&mut bytes).context("standard input")?;
    serde_json::from_slice(&bytes).context("what the agent tells is no JSON of a hook")
}

struct Hook {
    event: Event,
    input: HookInput,
    project: Project,
    /// What is remembered of this event. However often it is stored, it is one.
    own: Option<Memory>,
}

impl Hook {
    fn new(event: Event, input: HookInput) -> Result<Self> {
        let project = Project::open(input.cwd.as_deref().filter(|d| d.is_dir()))?;
        let own = match event {
            Event::PromptSubmit => input.prompt_memory(),
            Event::PostTool => input.tool_memory(),
            Event::Stop => input.answer_memory(input.transcript_path.as_deref().and_then(end_of).as_deref()),
            _ => None,
        };
        Ok(Self { event, input, project, own })
    }

    fn run(&self, told: &Sender<Told>) -> Result<()> {
        let result = self.project.memories_within(BUSY).and_then(|memories| self.with(&memories, told));
        if let Err(e) = &result {
            if let Some(memory) = self.own.clone().filter(|_| !is_bad_content(e)) {
                self.project.memory_home().keep_for_later(memory).context("it is lost")?;
            }
            if self.event == Event::SessionStart && is_lost(e) {
                // Nobody else would notice for long.
                let _ = told.send(Some(format!("What cortex remembers of this project cannot be told. Let the user know: {e:#}\n")));
            }
            log(Some(&self.project), self.event, &format!("{e:#}"));
        }
        Ok(())
    }

    fn with(&self, memories: &Memories, told: &Sender<Told>) -> Result<()> {
        if self.event == Event::PromptSubmit {
            // What must not be lost is stored while the index is loaded.
            let (loaded, remembered) = rayon::join(|| self.load(), || self.remember(memories));
            let answered = loaded.and_then(|loaded| self.tell(loaded, memories, told));
            return remembered.and(answered);
        }
        // What cannot be written can be read all the same.
        self.remember(memories).and(self.answer(memories, told))
    }

    fn remember(&self, Memories { capture, sessions, .. }: &Memories) -> Result<()> {
        if !self.input.session_id.is_empty() {
            sessions.resume(&self.input.session_id)?;
        }
        if let Some(memory) = &self.own {
            capture.capture(memory.clone())?;
        }
        Ok(())
    }

    fn answer(&self, Memories { store, capture, sessions }: &Memories, told: &Sender<Told>) -> Result<()> {
        let session = &self.input.session_id;
        let tell = |(text, ids): (String, Vec<Uuid>)| -> Result<()> {
            let _ = told.send(Some(text).filter(|t| !t.is_empty()));
            store.give(session, &ids)?;
            Ok(())
        };
        match self.event {
            Event::SessionStart => {
                // What it was told it has forgotten.
                let has_forgotten = matches!(self.input.source.as_deref(), Some("clear" | "compact" | "startup"));
                let given = if has_forgotten { Vec::new() } else { store.given(session)? };
                let briefing = memory::briefing(store, &given, memory::BRIEFING_TOKENS)?;
                let cleared = if has_forgotten { store.take_back(session) } else { Ok(()) };
                let notice = self.project.memory_home().notice().map(|notice| format!("cortex: {notice}.\n"));
                tell((notice.unwrap_or_default() + &briefing.0, briefing.1))?;
                cleared?;
            }
            Event::PromptSubmit | Event::PostTool => {}
            Event::PreTool => {
                let Some(path) = self.input.file(self.project.layout.root()) else { return Ok(()) };
                tell(memory::for_file(store, &path, &store.given(session)?)?)?;
            }
            Event::Stop => {
                // The user reads: now is the time to make the next question quick.
                let (manager, _) = self.load()?;
                manager.save(WORTH_SAVING);
                std::mem::forget(manager);
            }
            Event::SessionEnd | Event::PreCompact => {
                if let Some(summary) = memory::summary(store, session)? {
                    capture.capture(summary)?;
                }
                if self.event == Event::SessionEnd {
                    sessions.end_session(session)?;
                    if store.bytes()? <= QUICKLY_COPIED {
                        memory::back_up_if_due(store).context("there is no new backup")?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Hook {
    /// The memories, to be searched.
    fn load(&self) -> Result<(ChunkManager, Facts)> {
        let (manager, facts) = self.project.memory_manager()?;
        manager.reload(&Cancel::new(false))?;
        Ok((manager, facts))
    }

    /// Tells what may help with a prompt.
    fn tell(&self, (manager, facts): (ChunkManager, Facts), memories: &Memories, told: &Sender<Told>) -> Result<()> {
        let (store, session) = (&memories.store, &self.input.session_id);
        let Some(prompt) = self.input.prompt.as_deref().filter(|p| !p.trim().is_empty()) else { return Ok(()) };
        let snapshot = manager.current();
        let recall = Recall {
            corpus: &snapshot.code().corpus,
            facts: &facts,
            store,
            embedder: manager.embedder(),
            root: self.project.layout.root(),
        };
        let given: Vec<Uuid> = store.given(session)?.into_iter().chain(self.own.as_ref().map(|m| m.id)).collect();
        let (text, ids) = memory::for_prompt(&recall, prompt, &given, memory::now())?;
        let _ = told.send(Some(text).filter(|t| !t.is_empty()));
        let given = store.give(session, &ids);
        // The process ends: the system frees all of it at once.
        std::mem::forget((snapshot, manager));
        given?;
        Ok(())
    }
}

/// Later it would be no better.
fn is_bad_content(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(CaptureError::EmptyContent | CaptureError::StorageFailed(StorageError::ContentTooLong { .. })))
}

/// Only a person can help.
fn is_lost(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(CaptureError::StorageFailed(StorageError::Damaged { .. } | StorageError::Lost { .. })))
        || matches!(e.downcast_ref(), Some(StorageError::Damaged { .. } | StorageError::Lost { .. }))
}

/// The end of a transcript.
fn end_of(transcript: &Path) -> Option<String> {
    use std::io::{Seek, SeekFrom};
    let mut file = Dir::open(transcript.parent()?).ok()?.open_file(transcript.file_name()?).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_END))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_END).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Notes what went wrong, where that can be noted.
fn log(project: Option<&Project>, event: Event, what: &str) {
    let fallback = if project.is_none() { Project::open_anyway(None).ok() } else { None };
    let Some(dir) = project.or(fallback.as_ref()).and_then(|p| p.memory_home().place().open().ok()) else { return };
    if dir.stat(LOG).is_ok_and(|stat| stat.is_some_and(|stat| stat.bytes > MAX_LOG || !stat.is_sole_file())) {
        let _ = dir.remove_file(LOG);
    }
    let line = format!("{} {}: {what}\n", Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true), event.name());
    // There is nobody to be told that this failed.
    let _ = dir.file(LOG, How::Append, 0o600).and_then(|mut file| file.write_all(line.as_bytes()));
}
