//! Measures indexing: the whole tree, and one changed file.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::bed::Bed;
use super::load::build;
use crate::chunk::Cancel;
use crate::index::Mode;
use crate::live::ChunkManager;
use crate::search::{Filter, Searcher};
use crate::source::Scope;
use crate::store::ChunkFiles;

/// Measures indexing the whole tree without an earlier index, vectors included.
///
/// # Errors
/// When the index cannot be written.
pub fn index_from_scratch(bed: &Bed) -> Result<Duration> {
    bed.layout().clean()?;
    let start = Instant::now();
    bed.index()?;
    Ok(start.elapsed())
}

/// Appends a word that occurs nowhere else to a file, and returns it: the `n`th one with this
/// beginning, which is a rare one.
pub(super) fn mark(bed: &Bed, path: &str, beginning: &str, n: usize) -> Result<String> {
    // It has only letters, so that it stays one token.
    let letters: String =
        n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
    let marker = format!("{beginning}{letters}");
    let file = bed.root().join(path);
    let text = fs::read_to_string(&file).with_context(|| format!("{path} cannot be read"))?;
    fs::write(&file, format!("{text}\n{marker}\n"))?;
    Ok(marker)
}

/// Measures changes of single files in a running server.
pub struct OneFile<'a> {
    bed: &'a Bed,
    manager: ChunkManager,
    paths: Vec<String>,
    n_changes: usize,
}

impl<'a> OneFile<'a> {
    /// Loads the index.
    ///
    /// # Errors
    /// When the index cannot be loaded, or no file has definitions.
    pub fn new(bed: &'a Bed) -> Result<Self> {
        let (manager, _) = build(bed, false)?;
        let paths = bed.source_files()?;
        ensure!(!paths.is_empty(), "there is no source file to change");
        Ok(Self { bed, manager, paths, n_changes: 0 })
    }

    /// Changes the next file, and measures the time until the change is found: look at the file,
    /// parse it, write and sync the chunk files, reload, search. The delay of the file watcher and
    /// its debouncing is not included.
    ///
    /// # Errors
    /// When a step fails, or the change is not found.
    pub fn change(&mut self) -> Result<Duration> {
        // Consecutive changes are in distant parts of the tree.
        let path = &self.paths[self.n_changes * 7919 % self.paths.len()];
        self.n_changes += 1;
        let marker = mark(self.bed, path, "zqx", self.n_changes)?;
        let scope = Scope::Paths(BTreeSet::from([path.clone()]));
        let indexer = &self.bed.indexer;
        let start = Instant::now();
        let look = indexer.look(&scope);
        indexer.run_after(look.found, Mode::Incremental, &scope, &|_| {})?;
        self.manager.reload(&Cancel::new(false))?;
        let snapshot = self.manager.current();
        let searcher =
            Searcher::new(&snapshot.feed(ChunkFiles::NAME).context("nothing is served")?.corpus);
        let found = searcher.search(
            &searcher.query(&marker, &crate::embed::StaticModel::knows)?,
            &[],
            &Filter::default(),
            1,
        )?;
        let time = start.elapsed();
        let is_found = found.hits.first().is_some_and(|hit| *hit.path == **path);
        ensure!(look.is_stale && is_found, "{marker} was written to {path} and is not found there");
        Ok(time)
    }
}
