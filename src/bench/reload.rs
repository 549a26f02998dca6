//! Measures reloads after chunks changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustc_hash::FxHashSet;

use super::bed::{Bed, change};
use crate::chunk::{Cancel, ChunkDelta, ChunkSet, Feed, Quantized, StoredVectors};
use crate::embed::passage;
use crate::live::ChunkManager;
use crate::search::{CorpusBuilder, Read, VectorSource};
use crate::store::ChunkFiles;

/// The steps of a reload: read what changed; compare; read chunks and vectors of what changed;
/// update text index, vectors and files. Publishing is left out, since it only swaps a pointer.
pub const STEPS: [&str; 4] = ["load", "diff", "vectors", "update"];

/// Measures the reload of a manager after `n` chunks changed.
///
/// # Errors
/// When the reload fails, or finds a different number of changes.
pub fn reload(bed: &Bed, manager: &ChunkManager, n: usize) -> Result<Duration> {
    change(bed, n)?;
    let start = Instant::now();
    let reload = manager.reload(&Cancel::new(false))?;
    let time = start.elapsed();
    ensure!(
        reload.published && reload.n_updated == n,
        "{n} chunks changed, and the reload found {reload:?}"
    );
    Ok(time)
}

/// Measures the steps of a reload one by one, with the parts that a manager consists of.
pub struct Steps<'a> {
    bed: &'a Bed,
    feed: ChunkFiles,
    builder: CorpusBuilder,
    served: Arc<ChunkSet>,
}

impl<'a> Steps<'a> {
    /// Loads all chunks.
    ///
    /// # Errors
    /// When the chunks cannot be loaded.
    pub fn new(bed: &'a Bed) -> Result<Self> {
        let builder = CorpusBuilder::new(bed.embedder().dimensions())?;
        let mut this = Self { bed, feed: bed.feed(), builder, served: Arc::default() };
        this.catch_up()?;
        Ok(this)
    }

    /// Measures one reload after `n` chunks changed. Returns the time of each of [`STEPS`].
    ///
    /// # Errors
    /// When a step fails.
    pub fn reload(&mut self, n: usize) -> Result<[Duration; STEPS.len()]> {
        change(self.bed, n)?;
        self.step()
    }

    /// Reloads changes that were made by other questions, without measuring.
    ///
    /// # Errors
    /// When a step fails.
    pub fn catch_up(&mut self) -> Result<()> {
        self.step().map(drop)
    }

    fn step(&mut self) -> Result<[Duration; STEPS.len()]> {
        let mut times = [Duration::ZERO; STEPS.len()];
        let mut last = Instant::now();
        let mut next = |i: usize| {
            times[i] = last.elapsed();
            last = Instant::now();
        };
        let set = self.feed.load(&Cancel::new(false))?.set;
        next(0);
        let delta = ChunkDelta::between(&self.served, &set);
        next(1);
        let indexed = delta.updated.iter().filter(|c| !c.metadata_only).map(|c| &c.new);
        let chunks = delta.added.iter().chain(indexed).filter_map(|entry| entry.chunk());
        let wanted: FxHashSet<_> = chunks.map(|c| passage(&c).key()).collect();
        let mut vectors = Stored(self.feed.vectors(&wanted));
        next(2);
        let corpus = self.builder.update(set.clone(), &delta, &mut vectors)?;
        next(3);
        drop(corpus);
        self.served = set;
        Ok(times)
    }
}

struct Stored(Box<dyn StoredVectors>);

impl VectorSource for Stored {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        chunks.iter().map(|(_, chunk)| self.0.get(passage(chunk).key())).collect()
    }
}
