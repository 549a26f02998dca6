//! Reading everything, and finding out what changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::bed::Bed;
use crate::chunk::{Cancel, ChunkDelta, ChunkSet, CorpusCache, Feed};
use crate::live::ChunkManager;
use crate::search::CorpusBuilder;

/// Reads the chunk files and makes a set of them.
///
/// # Errors
/// When they cannot be loaded.
pub fn load(bed: &Bed) -> Result<(Arc<ChunkSet>, Duration)> {
    let start = Instant::now();
    let set = bed.load()?;
    Ok((set, start.elapsed()))
}

/// Opens what was saved beside the set itself: vectors `[i8; dimensions]` of all chunks, text index and files.
///
/// # Errors
/// When nothing was saved, or it does not fit.
pub fn open_saved(bed: &Bed) -> Result<Duration> {
    let mut feed = bed.feed();
    if feed.cache().and_then(CorpusCache::open).is_none() {
        bed.save()?;
    }
    let saved = feed.cache().and_then(CorpusCache::open).context("nothing was saved")?;
    let set = feed.restore(&*saved).context("the entries cannot be used")?;
    let start = Instant::now();
    let opened = CorpusBuilder::open(&saved, &set, bed.embedder().dimensions(), true).context("the indexes cannot be used")?;
    let time = start.elapsed();
    drop(opened);
    Ok(time)
}

/// Compares two sets of which `n_changed` chunks differ.
///
/// # Errors
/// When another number of chunks differs.
pub fn diff(old: &ChunkSet, new: &ChunkSet, n_changed: usize) -> Result<Duration> {
    let start = Instant::now();
    let delta = ChunkDelta::between(old, new);
    let time = start.elapsed();
    ensure!(delta.len() == n_changed, "{} chunks differ, not {n_changed}", delta.len());
    Ok(time)
}

/// What a server does first: load, and build all indexes, or take those that were saved.
///
/// # Errors
/// When the chunks cannot be loaded.
pub fn build(bed: &Bed, is_saved: bool) -> Result<(ChunkManager, Duration)> {
    if is_saved {
        bed.save()?;
    } else {
        bed.forget()?;
    }
    let start = Instant::now();
    let manager = bed.manager()?;
    manager.reload(&Cancel::new(false))?;
    Ok((manager, start.elapsed()))
}
