//! The index of the commits of a project, held open between questions.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

use crate::chunk::{Cancel, Chunk, Feed};
use crate::embed::{BundledModel, Embedder};
use crate::engine::AskError;
use crate::engine::door::project::{Project, SHORT_WAIT};
use crate::engine::door::reverts::{RevertNote, Reverts};
use crate::index::index_commits;
use crate::live::ChunkManager;
use crate::source;
use crate::store::{ChunkFiles, CommitTable, CommitsStamp};
use crate::text::chain;
use crate::work::STACK_BYTES;

/// The index of commits that an engine holds open. Clones share it.
#[derive(Clone, Default)]
pub(in crate::engine) struct OpenCommits(Arc<Mutex<Option<Arc<Commits>>>>);

/// The commits up to one checked-out commit.
pub(in crate::engine) struct Commits {
    pub(in crate::engine) stamp: CommitsStamp,
    pub(in crate::engine) manager: Arc<ChunkManager>,
    /// The properties that filters test.
    pub(in crate::engine) table: CommitTable,
    /// Which of them undo others.
    pub(in crate::engine) reverts: Reverts,
}

impl Commits {
    /// Returns the chunk of a commit.
    pub(in crate::engine) fn chunk(&self, id: &str) -> Option<Arc<Chunk>> {
        let snapshot = self.manager.current();
        let served = snapshot.feed(ChunkFiles::NAME)?;
        served.corpus.chunks().by_id(&format!("commit:{id}"))?.chunk()
    }

    /// Returns what reverted or reapplied a commit, and what it reverted or reapplied itself.
    pub(in crate::engine) fn notes_on(&self, id: &str) -> Vec<RevertNote> {
        self.reverts.notes_on(id, |other| self.chunk(other))
    }
}

impl OpenCommits {
    /// Whether the index is open, and nobody reads commits just now.
    pub(in crate::engine) fn is_open(&self) -> bool {
        self.0.try_lock().is_some_and(|open| open.is_some())
    }

    /// Returns the commits up to the checked-out one, or `None` if they are not read within `patience`:
    /// the rest is read in the background.
    pub(in crate::engine) fn within(
        &self,
        project: &Arc<Project>,
        patience: Duration,
    ) -> Option<Result<Arc<Commits>, AskError>> {
        let head = source::head(project.layout.root());
        // The thread that holds the lock reads the commits just now.
        let open = self.0.try_lock_for(patience)?.clone();
        if let Some(commits) = open.filter(|commits| Some(&commits.stamp.head) == head.as_ref()) {
            return Some(Ok(commits));
        }
        let (sender, receiver) = channel();
        let (all, project) = (self.clone(), project.clone());
        let read = move || {
            // Nobody listens if it took too long.
            let _ = sender.send(all.up_to_date(&project, SHORT_WAIT, &|| ()));
        };
        let thread = std::thread::Builder::new().name("commits".into()).stack_size(STACK_BYTES);
        thread.spawn(read).ok()?;
        receiver.recv_timeout(patience).ok()
    }

    /// Returns the commits up to the checked-out one. Calls `first` before the history is read for
    /// the first time. `wait`: for another process that reads it.
    pub(in crate::engine) fn up_to_date(
        &self,
        project: &Project,
        wait: Duration,
        first: &dyn Fn(),
    ) -> Result<Arc<Commits>, AskError> {
        let mut open = self.0.lock();
        let head = source::head(project.layout.root());
        let is_current = |commits: &&Arc<Commits>| Some(&commits.stamp.head) == head.as_ref();
        if let Some(commits) = open.as_ref().filter(is_current) {
            return Ok(commits.clone());
        }
        let layout = project.layout.of_commits();
        if head.is_some() && CommitsStamp::read(&layout).is_none() {
            first();
        }
        let model = BundledModel;
        let (stamp, table) = index_commits(&project.layout, (model.id(), model.dimensions()), wait)
            .map_err(|e| AskError::Failed(chain(&e)))?;
        let manager = match open.as_ref() {
            Some(commits) => commits.manager.clone(),
            None => {
                let feed = ChunkFiles::new(layout, model.id(), model.dimensions());
                let feeds: Vec<Box<dyn Feed>> = vec![Box::new(feed)];
                Arc::new(ChunkManager::new(feeds, Arc::new(model))?)
            }
        };
        manager.reload_feed(ChunkFiles::NAME, &Cancel::new(false))?;
        manager.save_feed(ChunkFiles::NAME, 0.0);
        let reverts = Reverts::of(&table);
        let commits = Arc::new(Commits { stamp, manager, table, reverts });
        *open = Some(commits.clone());
        Ok(commits)
    }
}
