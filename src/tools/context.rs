//! What every tool works with: the snapshot that it answers from, and what is to be said about its freshness.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Tool, ToolError};
use crate::index::IndexingService;
use crate::live::{ChunkManager, GivenUp, Reloader, Served, Snapshot};
use crate::memory::{CaptureError, Facts, MDFileWatcher, Memories, MemoryHome, Recording};
use crate::source;
use crate::store::{Activity, Layout, Manifest};

/// How long the first answers wait for an index that is being loaded.
const FIRST_LOAD: Duration = Duration::from_secs(5);
/// How long a call waits that names a generation and no time.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// How long an edit waits until it is indexed.
const AFTER_EDIT: Duration = Duration::from_secs(3);
/// Longest wait.
const MAX_WAIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);
/// How often one who waits for a generation looks at the files.
const LOOK: Duration = Duration::from_millis(200);
/// Hexadecimal digits of a commit: as many as tell it from all others.
const COMMIT_DIGITS: usize = 12;

/// One project as the tools see it.
pub struct Context {
    pub layout: Layout,
    pub manager: Arc<ChunkManager>,
    pub reloader: Reloader,
    /// `None` when this process only serves what is on disk.
    pub indexing: Option<IndexingService>,
    /// `None` where nothing is remembered.
    pub memory: Option<Remembered>,
    /// The tools that edit may change files that programs execute or trust.
    pub edit_trusted: bool,
}

/// What is remembered of the project.
pub struct Remembered {
    pub home: MemoryHome,
    /// What filters ask of the memories that are served.
    pub facts: Facts,
    /// Watches notes, while this lives.
    pub notes: Option<MDFileWatcher>,
    /// Records what happens to files, while this lives.
    pub recording: Option<Recording>,
    /// What was opened last, and the number of its file.
    open: Mutex<Option<(u64, Arc<Memories>)>>,
}

impl Remembered {
    #[must_use]
    pub fn new(home: MemoryHome, facts: Facts, notes: Option<MDFileWatcher>) -> Self {
        Self { home, facts, notes, recording: None, open: Mutex::default() }
    }

    /// The memories that are there now; the database is made if there is none. `busy`: how long to wait at most while others write.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn memories(&self, busy: Duration) -> Result<Arc<Memories>, CaptureError> {
        let mut open = self.open.lock();
        let there = || self.home.identity();
        if let Some((_, memories)) = open.as_ref().filter(|(identity, _)| Some(*identity) == there()) {
            return Ok(memories.clone());
        }
        let memories = Arc::new(self.home.open(busy)?);
        *open = there().map(|identity| (identity, memories.clone()));
        Ok(memories)
    }
}

/// How fresh the answer has to be. Part of the arguments of every tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Wait {
    /// Wait until the index has at least this generation (an earlier reply states it).
    #[schemars(range(min = 0))]
    pub min_generation: Option<u64>,
    /// After editing files: first index what changed, and wait up to so many milliseconds for it.
    #[schemars(range(min = 0, max = 60000))]
    pub wait_ms: Option<u64>,
}

/// Which state of the repository an answer describes. Part of every reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Freshness {
    /// Counts the changes of the index; everything in a reply is of this one.
    pub generation: u64,
    /// Only this process counts it so.
    // Whoever writes the chunk files does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// When that generation was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_at: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Files known to have changed since.
    pub pending: usize,
    /// Chunks that are found by their words alone until their vectors are made.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub vectors_pending: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What a tool answers from.
pub struct Taken {
    pub snapshot: Arc<Snapshot>,
    pub index: Freshness,
    /// What the reader should know: what is wrong with the index, what was waited for in vain.
    pub warnings: Vec<String>,
}

impl Context {
    /// Takes what is served now, after waiting as long as the caller wants to.
    ///
    /// # Errors
    /// When the call is cancelled meanwhile.
    pub fn take(&self, wait: &Wait, call: &Call) -> Result<Taken, ToolError> {
        let mut warnings = Vec::new();
        if self.manager.metrics().n_reloads == 0 || self.manager.current().damage().is_some() {
            // Nothing is loaded yet, or what is loaded cannot be searched: an answer from nothing would be worse than one a moment later.
            let _ = self.reloader.handle().wait(self.reloader.handle().request(), Instant::now() + FIRST_LOAD, &call.cancel);
        }
        if wait.min_generation.is_some() || wait.wait_ms.is_some() {
            warnings.extend(self.wait(wait, call));
        }
        call.check()?;
        let snapshot = self.manager.current();
        let (activity, n_unserved) = (Activity::read(&self.layout), self.unserved(snapshot.code()));
        warnings.extend(self.troubles(&snapshot, activity, n_unserved));
        Ok(Taken { index: self.state_of(&snapshot, activity.pending() + n_unserved), snapshot, warnings })
    }

    /// Waits; says so if it was in vain.
    fn wait(&self, wait: &Wait, call: &Call) -> Option<String> {
        let time = wait.wait_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_WAIT);
        let deadline = Instant::now() + time;
        let mut in_time = true;
        let mut in_vain = None;
        if wait.wait_ms.is_some() {
            match &self.indexing {
                _ if self.layout.is_foreign() => in_vain = Some("another program writes this index, and it alone brings it up to date"),
                None => in_vain = Some("this server does not index: run `cortex index`, and changes are seen"),
                Some(indexing) => in_time = indexing.handle().wait(indexing.sync(), deadline, &call.cancel),
            }
        }
        let reload = || self.reloader.handle().wait(self.reloader.handle().request(), deadline, &call.cancel);
        in_time &= reload();
        let generation = || self.manager.current().code().generation;
        if let Some(wanted) = wait.min_generation {
            let mut next_look = Instant::now() + LOOK;
            while generation() < wanted && Instant::now() < deadline && call.check().is_ok() {
                std::thread::sleep(POLL);
                if Instant::now() >= next_look {
                    let _ = reload();
                    next_look = Instant::now() + LOOK;
                }
            }
            if generation() < wanted {
                return Some(format!(
                    "generation {wanted} was not reached within {} ms: this is generation {}",
                    time.as_millis(),
                    generation()
                ));
            }
        }
        if let Some(why) = in_vain {
            return Some(format!("wait_ms has no effect: {why}"));
        }
        (!in_time).then(|| format!("waited {} ms, and not every change is indexed yet: call again, or wait longer", time.as_millis()))
    }

    /// Takes in a file that was just written, so that the next question finds what it is now; or says why that may not be so.
    pub(super) fn index_now(&self, path: &str, call: &Call) -> Option<String> {
        let indexing = match &self.indexing {
            _ if self.layout.is_foreign() => return Some("written; another program writes the index, and brings it up to date".into()),
            None => return Some("written; this server does not index: run `cortex index`, and the change is found".into()),
            Some(indexing) => indexing,
        };
        let deadline = Instant::now() + AFTER_EDIT;
        let is_done = indexing.handle().wait(indexing.on_file_changed(path), deadline, &call.cancel)
            && self.reloader.handle().wait(self.reloader.handle().request(), deadline, &call.cancel);
        let late = || format!("written, but not indexed within {} ms: searches find it as it was until then", AFTER_EDIT.as_millis());
        (!is_done).then(late)
    }

    /// What is wrong, or not ready, for people and agents.
    fn troubles(&self, snapshot: &Snapshot, activity: Activity, n_unserved: usize) -> Vec<String> {
        let code = snapshot.code();
        let moved = self.layout.tree().check_in_place().err().map(|e| e.to_string());
        let mut troubles: Vec<String> = moved.into_iter().chain(code.warnings.clone()).collect();
        troubles.extend(snapshot.damage());
        if let Some(e) = self.manager.metrics().last_error {
            troubles.push(format!("{e}. The last good generation is served"));
        }
        let status = self.indexing.as_ref().map(IndexingService::status).unwrap_or_default();
        // Without a generation there was never anything to look at: whoever leads is at it.
        let has_looked = status.has_looked || (self.indexing.is_some() && !status.leads && code.generation > 0);
        let error = status.last_error.or(status.lock_error);
        troubles.extend(error.map(|e| format!("the index was not brought up to date: {e}")));
        troubles.extend(status.embed_error.map(|e| format!("vectors are not made, so some results are found by words alone: {e}")));
        if self.manager.metrics().given_up == GivenUp::Vectors {
            troubles.push("results are found by words alone: the server was over its budget of memory, live.memory_mb".into());
        }
        let Activity { done, total, .. } = activity;
        if code.corpus.chunks().is_empty() {
            troubles.push(match &self.indexing {
                _ if total > 0 => format!("the index is being built: {done} of {total} files are done. Call again, or pass wait_ms"),
                _ if n_unserved > 0 || self.manager.metrics().n_reloads == 0 => {
                    "the index is being loaded. Call again, or pass wait_ms".into()
                }
                Some(_) if !has_looked => "the index is being built. Call again, or pass wait_ms".into(),
                Some(_) => "there is nothing to index here".into(),
                None => "there is no index: run `cortex index`".into(),
            });
        } else if self.indexing.is_some() && !has_looked {
            troubles.push("the files have not been compared with the index yet: they may have changed. Call again, or pass wait_ms".into());
        }
        troubles
    }

    /// Files of a generation that is written, and not served yet.
    fn unserved(&self, code: &Served) -> usize {
        match Manifest::read(&self.layout) {
            Ok(Some(manifest)) if manifest.generation > code.generation || code.local => manifest.n_changed,
            _ => 0,
        }
    }

    /// Ends what is to say something at the end of the process: the watcher of notes.
    pub fn stop(&self) {
        if let Some(notes) = self.memory.as_ref().and_then(|remembered| remembered.notes.as_ref()) {
            notes.stop();
        }
    }

    /// Whether a tool is listed now. One that is not is answered all the same.
    #[must_use]
    pub fn lists(&self, tool: &Tool) -> bool {
        !tool.needs_memories || self.memory.as_ref().is_some_and(|remembered| remembered.home.is_in_use())
    }

    /// Which state a snapshot is.
    #[must_use]
    pub fn freshness(&self, snapshot: &Snapshot) -> Freshness {
        self.state_of(snapshot, Activity::read(&self.layout).pending() + self.unserved(snapshot.code()))
    }

    fn state_of(&self, snapshot: &Snapshot, pending: usize) -> Freshness {
        let code = snapshot.code();
        Freshness {
            generation: code.generation,
            // Before anything is loaded nobody counts.
            local: code.local && code.generation > 0,
            indexed_at: code.indexed_at.clone(),
            head: source::head(self.layout.root()).map(|h| h.chars().take(COMMIT_DIGITS).collect()),
            pending,
            vectors_pending: code.n_without_vectors,
        }
    }
}
