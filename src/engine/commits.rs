//! The index of the commits of a project, held open between questions.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::project::Project;
use super::reverts::Reverts;
use super::{AskError, chain};
use crate::chunk::{Cancel, Chunk, Feed};
use crate::embed::{BundledModel, Embedder};
use crate::index::index_commits;
use crate::live::ChunkManager;
use crate::source;
use crate::store::{ChunkFiles, CommitTable, CommitsStamp};

/// The index of commits that an engine holds open.
#[derive(Default)]
pub(super) struct OpenCommits(Mutex<Option<Arc<Commits>>>);

/// The commits up to one checked-out commit.
pub(super) struct Commits {
    pub(super) stamp: CommitsStamp,
    pub(super) manager: Arc<ChunkManager>,
    /// The properties that filters test.
    pub(super) table: CommitTable,
    /// Which of them undo others.
    pub(super) reverts: Reverts,
}

impl Commits {
    /// Returns the chunk of a commit.
    pub(super) fn chunk(&self, id: &str) -> Option<Arc<Chunk>> {
        let snapshot = self.manager.current();
        let served = snapshot.feed(ChunkFiles::NAME)?;
        served.corpus.chunks().by_id(&format!("commit:{id}"))?.chunk()
    }
}

impl OpenCommits {
    /// Whether the index is open, and nobody reads commits just now.
    pub(super) fn is_open(&self) -> bool {
        self.0.try_lock().is_some_and(|open| open.is_some())
    }

    /// Returns the commits up to the checked-out one. Calls `first` before the history is read for
    /// the first time. `wait`: for another process that reads it.
    pub(super) fn up_to_date(
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
