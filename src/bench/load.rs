//! Measures loading the index and comparing two of its states.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::bed::Bed;
use crate::chunk::{Cancel, ChunkDelta, ChunkSet, CorpusCache, Feed};
use crate::live::ChunkManager;
use crate::search::CorpusBuilder;

/// Measures reading the chunk files into a set.
///
/// # Errors
/// When the files cannot be loaded.
pub fn load(bed: &Bed) -> Result<(Arc<ChunkSet>, Duration)> {
    let start = Instant::now();
    let set = bed.load()?;
    Ok((set, start.elapsed()))
}

/// Measures opening the saved corpus: the vectors `[i8; dimensions]` of all chunks,
/// text index and files.
///
/// # Errors
/// When no corpus was saved, or it does not match the chunk files.
pub fn open_saved(bed: &Bed) -> Result<Duration> {
    let mut feed = bed.feed();
    if feed.cache().and_then(CorpusCache::open).is_none() {
        bed.save()?;
    }
    let saved = feed.cache().and_then(CorpusCache::open).context("nothing was saved")?;
    let set = feed.restore(&*saved).context("the entries cannot be used")?;
    let start = Instant::now();
    let opened = CorpusBuilder::open(&saved, &set, bed.embedder().dimensions(), true)
        .context("the indexes cannot be used")?;
    let time = start.elapsed();
    drop(opened);
    Ok(time)
}

/// Measures the comparison of two sets that differ in `n_changed` chunks.
///
/// # Errors
/// When a different number of chunks differs.
pub fn diff(old: &ChunkSet, new: &ChunkSet, n_changed: usize) -> Result<Duration> {
    let start = Instant::now();
    let delta = ChunkDelta::between(old, new);
    let time = start.elapsed();
    ensure!(delta.len() == n_changed, "{} chunks differ, not {n_changed}", delta.len());
    Ok(time)
}

/// Measures the start of a server: it loads the chunks, and builds all indexes or
/// opens the saved ones.
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
