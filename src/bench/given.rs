//! Chunk files of another program, in the way that a user has them: read where they are, kept for the next process, followed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use memchr::memmem::find;

use super::bed::Bed;
use crate::chunk::{Cancel, Feed};
use crate::live::ChunkManager;

/// Given chunk files in a project that has no index of its own.
pub struct Given {
    bed: Bed,
    /// The largest of them, whose first chunk changes.
    largest: PathBuf,
    n_changes: u32,
}

impl Given {
    /// Copies of the files in a directory.
    ///
    /// # Errors
    /// When they cannot be copied, or there are none.
    pub fn new(dir: &Path) -> Result<Self> {
        let bed = Bed::beside(dir)?;
        let files = fs::read_dir(bed.layout().chunks_dir())?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |m| m.len());
        let largest = files.into_iter().max_by_key(size).context("there are no files")?;
        let this = Self { bed, largest, n_changes: 0 };
        this.settle()?;
        Ok(this)
    }

    /// Reads everything for the first time, and takes it into a set.
    ///
    /// # Errors
    /// When a file cannot be used.
    pub fn load(&self) -> Result<Duration> {
        let mut feed = self.bed.feed();
        let start = Instant::now();
        let loaded = Feed::load(&mut feed, &Cancel::new(false))?;
        let time = start.elapsed();
        ensure!(!loaded.set.is_empty(), "no chunk was read");
        Ok(time)
    }

    /// Serves what was saved by an earlier process: the files are as they were then.
    ///
    /// # Errors
    /// When it cannot be saved, or not used.
    pub fn load_saved(&self) -> Result<Duration> {
        if self.bed.feed().cache().and_then(crate::chunk::CorpusCache::open).is_none() {
            self.bed.save()?;
        }
        let start = Instant::now();
        let manager = self.bed.manager()?;
        manager.reload(&Cancel::new(false))?;
        let time = start.elapsed();
        ensure!(manager.metrics().n_files_parsed == 0, "a file was parsed");
        Ok(time)
    }

    /// What serves the files, loaded.
    ///
    /// # Errors
    /// When they cannot be loaded.
    pub fn serve(&self) -> Result<ChunkManager> {
        let manager = self.bed.manager()?;
        manager.reload(&Cancel::new(false))?;
        Ok(manager)
    }

    /// Changes one chunk of the largest file, and takes it in.
    ///
    /// # Errors
    /// When not exactly one chunk changed.
    pub fn reload(&mut self, manager: &ChunkManager) -> Result<Duration> {
        self.n_changes += 1;
        let mut bytes = fs::read(&self.largest)?;
        let key = find(&bytes, b"\"text\"").context("no chunk has a text")? + b"\"text\"".len();
        let quote = bytes[key..].iter().position(|b| *b == b'"').context("no chunk has a text")?;
        let at = key + quote + 1;
        bytes.splice(at..at, format!("revision{} ", self.n_changes).into_bytes());
        fs::write(&self.largest, bytes)?;
        self.settle()?;
        let start = Instant::now();
        let reload = manager.reload(&Cancel::new(false))?;
        let time = start.elapsed();
        ensure!(reload.published && reload.n_updated == 1, "one chunk changed, and the reload found {reload:?}");
        Ok(time)
    }

    /// Files that were just written are waited for. These are as they will stay.
    fn settle(&self) -> Result<()> {
        let dir = self.bed.layout().chunks_dir();
        let time = SystemTime::now() - Duration::from_hours(1) + Duration::from_secs(self.n_changes.into());
        File::open(&self.largest)?.set_modified(time)?;
        for entry in fs::read_dir(&dir)? {
            let file = File::open(entry?.path())?;
            if file.metadata()?.modified()?.elapsed().is_ok_and(|age| age < Duration::from_mins(1)) {
                file.set_modified(time)?;
            }
        }
        File::open(dir)?.set_modified(time)?;
        Ok(())
    }
}
