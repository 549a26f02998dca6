//! Measures chunk files of another program: loading them, loading the saved corpus,
//! and following changes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use memchr::memmem::find;

use super::bed::Bed;
use crate::chunk::{Cancel, Feed};
use crate::live::ChunkManager;

/// A project that has given chunk files and no index of its own.
pub struct Given {
    bed: Bed,
    /// The largest chunk file. Each change is made to its first chunk.
    largest: PathBuf,
    n_changes: u32,
}

impl Given {
    /// Copies the files of a directory.
    ///
    /// # Errors
    /// When the files cannot be copied, or there are none.
    pub fn new(dir: &Path) -> Result<Self> {
        let bed = Bed::beside(dir)?;
        let files = fs::read_dir(bed.layout().chunks_dir())?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?;
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |m| m.len());
        let largest = files.into_iter().max_by_key(size).context("there are no files")?;
        let this = Self { bed, largest, n_changes: 0 };
        this.settle()?;
        Ok(this)
    }

    /// Measures reading all files into a set for the first time.
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

    /// Measures serving the corpus that an earlier process saved, with unchanged files.
    ///
    /// # Errors
    /// When the corpus cannot be saved or restored.
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

    /// Returns a manager that has loaded the files.
    ///
    /// # Errors
    /// When the files cannot be loaded.
    pub fn serve(&self) -> Result<ChunkManager> {
        let manager = self.bed.manager()?;
        manager.reload(&Cancel::new(false))?;
        Ok(manager)
    }

    /// Changes one chunk of the largest file, and measures the reload.
    ///
    /// # Errors
    /// When the reload finds other than one changed chunk.
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
        ensure!(
            reload.published && reload.n_updated == 1,
            "one chunk changed, and the reload found {reload:?}"
        );
        Ok(time)
    }

    /// Sets old modification times: a reader waits for files that were written just now, since
    /// they may be incomplete.
    fn settle(&self) -> Result<()> {
        let dir = self.bed.layout().chunks_dir();
        let time = SystemTime::now() - Duration::from_hours(1)
            + Duration::from_secs(self.n_changes.into());
        File::open(&self.largest)?.set_modified(time)?;
        for entry in fs::read_dir(&dir)? {
            let file = File::open(entry?.path())?;
            if file.metadata()?.modified()?.elapsed().is_ok_and(|age| age < Duration::from_mins(1))
            {
                file.set_modified(time)?;
            }
        }
        File::open(dir)?.set_modified(time)?;
        Ok(())
    }
}
