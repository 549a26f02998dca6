//! Writes the rows of the code graph beside the index: each file that an index run parses gives its
//! chunks and its rows.
//!
//! One thread writes, in batches of one transaction, while the others parse. The graph is derived, so
//! a run does not depend on it: if the database is busy or cannot be written, the run goes on without
//! it, and the next question reads the files that lack rows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::graph::{CodeGraph, Database, FileRows, GraphError};
use crate::index::{FileRelations, HandOn, RelationsRun, RelationsSink};
use crate::store::Layout;

/// Most files whose rows wait for the thread that writes them. A run hands on the files of a batch at
/// once, and would wait if there were fewer.
const QUEUED_FILES: usize = 512;
/// Most files of one transaction.
const BATCH_FILES: usize = 128;
/// How long rows wait for others of the same transaction.
const BATCH_WAIT: Duration = Duration::from_millis(100);
/// How long a run waits for another process that writes the graph.
pub(in crate::engine) const BUSY: Duration = Duration::from_secs(2);
/// From this number of files on, a run first asks which rows are there.
const MANY_FILES: usize = 64;

/// The files whose rows are newer than the index, because their run has not ended: the run that wrote
/// them, and the hash of their content.
#[derive(Debug, Default)]
pub(in crate::engine) struct RowsAhead {
    files: Mutex<HashMap<String, (u64, String)>>,
    n_runs: AtomicU64,
}

impl RowsAhead {
    /// Returns the hash of the content that the rows of a file are to describe.
    pub(in crate::engine) fn hash(&self, path: &str) -> Option<String> {
        self.files.lock().get(path).map(|(_, hash)| hash.clone())
    }

    /// Whether no run is ahead of the index.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.files.lock().is_empty()
    }
}

/// Receives the relations of the files of index runs.
pub(in crate::engine) struct GraphRows {
    pub(in crate::engine) layout: Layout,
    pub(in crate::engine) ahead: Arc<RowsAhead>,
    /// Whether a run ends only when its rows are written, because the process ends then.
    pub(in crate::engine) waits: bool,
}

impl RelationsSink for GraphRows {
    fn take_over(&self, from: &Layout, is_checked: bool) {
        let Ok(()) = self.layout.prepare_code_graph() else { return };
        let mark = (!is_checked).then(|| from.graph_mark());
        if let Err(e) = CodeGraph::copy(&from.code_graph(), mark, &database_of(&self.layout)) {
            tracing::info!("the code graph of {} is not taken: {e}", from.root().display());
        }
    }

    fn begin(&self, n_files: usize) -> Option<Box<dyn RelationsRun>> {
        if n_files == 0 {
            return None;
        }
        let (sender, receiver) = sync_channel(QUEUED_FILES);
        let known: Arc<KnownHashes> = Arc::default();
        let (layout, own) = (self.layout.clone(), known.clone());
        let write = move || {
            // Dropping the receiver ends the work of the threads that parse.
            if let Err(e) = write(&layout, &receiver, n_files, &own) {
                tracing::info!("the code graph is not written beside the index: {e}");
            }
            own.has_ended.store(true, Ordering::Relaxed);
        };
        let writer = std::thread::Builder::new().name("graph rows".into()).spawn(write).ok()?;
        Some(Box::new(Run {
            id: self.ahead.n_runs.fetch_add(1, Ordering::Relaxed),
            ahead: self.ahead.clone(),
            known,
            sender: Some(sender),
            writer: Some(writer).filter(|_| self.waits),
        }))
    }
}

/// What the thread that writes tells those that parse.
#[derive(Debug, Default)]
struct KnownHashes {
    /// The rows that were there before.
    hashes: OnceLock<HashMap<String, String>>,
    /// Whether the thread receives nothing any more.
    has_ended: AtomicBool,
}

/// One index run.
struct Run {
    id: u64,
    ahead: Arc<RowsAhead>,
    known: Arc<KnownHashes>,
    sender: Option<SyncSender<FileRows>>,
    writer: Option<JoinHandle<()>>,
}

impl RelationsRun for Run {
    fn wants(&self, path: &str, hash: &str) -> bool {
        let there = self.known.hashes.get().and_then(|hashes| hashes.get(path));
        !self.known.has_ended.load(Ordering::Relaxed)
            && there.is_none_or(|there| there.as_str() != hash)
    }

    fn take(
        &self,
        FileRelations { path, hash, text, relations }: FileRelations,
        known: Option<&mut Option<String>>,
    ) -> HandOn {
        let rows = FileRows::new(path, hash, text, relations);
        if let Some(known) = known {
            *known = rows.to_json();
        }
        self.hand_on(path, hash, rows)
    }

    fn take_known(&self, path: &str, hash: &str, known: &str) -> Option<HandOn> {
        Some(self.hand_on(path, hash, FileRows::from_json(path, hash, known)?))
    }
}

impl Run {
    fn hand_on(&self, path: &str, hash: &str, rows: FileRows) -> HandOn {
        let (id, ahead, sender) = (self.id, self.ahead.clone(), self.sender.clone());
        let (path, hash) = (path.to_string(), hash.to_string());
        Box::new(move || {
            ahead.files.lock().insert(path, (id, hash));
            // It fails if the thread has ended.
            let _ = sender.is_some_and(|sender| sender.send(rows).is_ok());
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(writer) = self.writer.take() {
            // A panic of the thread costs only the rows.
            let _ = writer.join();
        }
        self.ahead.files.lock().retain(|_, (run, _)| *run != self.id);
    }
}

/// Returns the database of the code graph of a project.
pub(in crate::engine) fn database_of(layout: &Layout) -> Database {
    Database { path: layout.code_graph(), mark: layout.graph_mark() }
}

/// Makes the place of that database.
pub(in crate::engine) fn prepared_database(layout: &Layout) -> Result<Database, GraphError> {
    let unwritable = |e: std::io::Error| GraphError::Unwritable {
        path: layout.code_graph(),
        source: Box::new(e),
    };
    layout.prepare_code_graph().map_err(unwritable)?;
    Ok(database_of(layout))
}

/// Writes the rows of a run until it ends.
fn write(
    layout: &Layout,
    rows: &Receiver<FileRows>,
    n_files: usize,
    known: &KnownHashes,
) -> Result<(), GraphError> {
    let graph = CodeGraph::open_within(&prepared_database(layout)?, BUSY)?;
    if n_files >= MANY_FILES {
        graph.expect_many();
        let hashes = renewed(&graph, CodeGraph::hashes)?;
        // It is set only here.
        let _ = known.hashes.set(hashes);
    }
    while let Some(batch) = next_batch(rows) {
        renewed(&graph, |graph| graph.put(&batch))?;
    }
    if n_files >= MANY_FILES {
        graph.settle();
    }
    Ok(())
}

/// Does something with the graph. If the database is damaged, does it again with an empty one.
fn renewed<T>(
    graph: &CodeGraph,
    work: impl Fn(&CodeGraph) -> Result<T, GraphError>,
) -> Result<T, GraphError> {
    match work(graph) {
        Err(GraphError::Damaged { .. }) => {
            graph.renew()?;
            work(graph)
        }
        done => done,
    }
}

/// Waits for the rows of the next transaction. Returns `None` at the end of the run.
fn next_batch(rows: &Receiver<FileRows>) -> Option<Vec<FileRows>> {
    let mut batch = vec![rows.recv().ok()?];
    let end = Instant::now() + BATCH_WAIT;
    while batch.len() < BATCH_FILES {
        match rows.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(file) => batch.push(file),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(batch)
}
