//! Composes the objects of one project from a directory and the environment.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::config::{self, Config};
use crate::embed::{Embedder, StaticModel};
use crate::index::{Indexer, Mode, Progress, Summary};
use crate::live::ChunkManager;
use crate::source::WalkOptions;
use crate::store::{self, Cancel, Layout, LoadedFiles, LoadedSet};

/// How long an index run waits for another one.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(60);
/// How long a search waits before it takes the index as it is.
pub(super) const SHORT_WAIT: Duration = Duration::from_secs(3);

/// A project: where it is and how it is set up.
pub(super) struct Project {
    pub(super) layout: Layout,
    pub(super) config: Config,
    walk: WalkOptions,
    embedder: Arc<dyn Embedder>,
}

impl Project {
    /// The project of a directory; by default of the current one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let start = match path {
            Some(path) => path.to_path_buf(),
            None => std::env::current_dir().context("the current directory cannot be had")?,
        };
        let layout = Layout::discover(&start, config::home().as_deref())?;
        // Variables that are not UTF-8 are none of ours.
        let env = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let config = Config::load(&layout.config_file(), env)?;
        let walk = WalkOptions {
            max_file_bytes: config.max_file_bytes,
            exclude: config.exclude.clone(),
            exclude_patterns: config.exclude_patterns.clone(),
        };
        Ok(Self { layout, config, walk, embedder: StaticModel::bundled() })
    }

    /// An indexer that waits so long for another process that indexes.
    pub(super) fn indexer(&self, lock_wait: Duration) -> Indexer<'_> {
        Indexer { lock_wait, layout: &self.layout, walk: &self.walk, embedder: &*self.embedder }
    }

    /// Runs the indexer, with a progress bar on a terminal.
    pub(super) fn index(&self, mode: Mode, quiet: bool, lock_wait: Duration) -> Result<Summary> {
        let bar = if quiet { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new(0) };
        bar.set_style(
            indicatif::ProgressStyle::with_template("indexing {wide_bar} {pos}/{len} files {elapsed}")
                .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()),
        );
        let report = |p: Progress| {
            bar.set_length(p.total as u64);
            bar.set_position(p.done as u64);
        };
        let summary = self.indexer(lock_wait).run(mode, &report);
        bar.finish_and_clear();
        summary.with_context(|| format!("{} was not indexed", self.layout.root().display()))
    }

    /// Reads the chunk files, without an index over them.
    pub(super) fn read_chunks(&self) -> Result<LoadedSet> {
        let embedder = (self.embedder.id(), self.embedder.dimensions());
        Ok(store::load(&self.layout, embedder, &LoadedFiles::default(), &Cancel::new(false))?)
    }

    /// Loads the index of the project as it is on disk, to be searched.
    pub(super) fn load(&self) -> Result<ChunkManager> {
        let manager = ChunkManager::new(self.layout.clone(), self.embedder.clone())?;
        manager.reload(&Cancel::new(false))?;
        Ok(manager)
    }
}
