//! Loads the chunk files as one consistent set of chunks.

mod lines;
mod loaded;
mod parse;
mod read;
mod saved;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use self::loaded::{KnownFiles, in_order, unusable};
use self::parse::FileParser;
pub use self::read::LoadError;
use self::read::{Consistency, FileReader, Raw, RawFiles};
use super::cache::IndexCache;
use super::chunk_file::ChunkFileError;
use super::layout::Layout;
use super::lock::WriteLock;
use super::manifest::Manifest;
use super::others::ChunkFileId;
use super::vectors::VectorCache;
use crate::chunk::{
    Cancel, ChunkId, ChunkSet, ChunkType, CorpusCache, Feed, FeedError, Fingerprint, Loaded,
    SaveWriter, SavedFiles, StoredVectors,
};
use crate::dir::Stat;

/// How long a reader waits for writers: for one that is between its renames, and for another program
/// that goes on writing.
const SETTLE_DEADLINE: Duration = Duration::from_secs(2);
const SETTLE_POLL: Duration = Duration::from_millis(5);
/// A command loads files without a manifest after nobody has written them for this long. The required
/// time falls towards [`LEAST_QUIET`] the longer it waits.
const QUIET: Duration = Duration::from_millis(100);
const LEAST_QUIET: Duration = Duration::from_millis(30);
/// A server waits at most this many times as long as files must be quiet, and no longer than
/// [`longest_wait`].
const MAX_QUIETS: u32 = 10;

/// The chunk files of a project as a feed. It keeps what it read: it does not read an unchanged
/// file again, and parses only the changed lines of a changed file.
#[derive(Debug)]
pub struct ChunkFiles {
    layout: Layout,
    /// The active embedder. Inline vectors count only in files whose header names it.
    embedder: String,
    dimensions: usize,
    known: KnownFiles,
    /// The chunks of the known files.
    set: Arc<ChunkSet>,
    /// Ids that occur more than once in the known files.
    duplicates: Vec<ChunkId>,
    cache: IndexCache,
    /// Whether the last load had a manifest.
    had_manifest: bool,
    /// How long files without a manifest must be quiet before they replace those that are served.
    debounce: Option<Duration>,
}

/// Number of duplicate ids that the warnings name.
const MAX_NAMED: usize = 10;

impl ChunkFiles {
    /// The name of the feed.
    pub const NAME: &str = "code";

    /// Creates the feed of a project's chunk files. It reads nothing yet.
    #[must_use]
    pub fn new(layout: Layout, embedder: &str, dimensions: usize) -> Self {
        let cache = IndexCache::new(&layout, embedder);
        Self {
            layout,
            embedder: embedder.into(),
            dimensions,
            known: HashMap::new(),
            set: Arc::default(),
            duplicates: Vec::new(),
            cache,
            had_manifest: false,
            debounce: None,
        }
    }

    /// Lets the feed of a server wait until files of another program are quiet for this long, so that
    /// it serves no half of what the program writes. The first load does not wait for it.
    #[must_use]
    pub fn debounced(self, debounce: Duration) -> Self {
        Self { debounce: Some(debounce), ..self }
    }

    /// Loads the chunk file of each type and the further files of other programs. Reads only files
    /// that changed since the last load, and parses them in parallel. A missing file counts as
    /// empty.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the load is cancelled (checked before each file).
    /// Also when the manifest cannot be understood although the previous load had one, or when a
    /// file is gone that it names and that was loaded before.
    pub fn load(&mut self, cancel: &Cancel) -> Result<Loaded, LoadError> {
        let (start, longest) = (Instant::now(), longest_wait(self.debounce));
        if let Some(debounce) = self.debounce.filter(|_| !self.known.is_empty()) {
            let limit = longest.min(debounce * MAX_QUIETS);
            while self.is_being_written(SystemTime::now(), debounce)
                && start.elapsed() < limit
                && !cancel.load(Ordering::Relaxed)
            {
                thread::sleep((debounce / 10).max(SETTLE_POLL));
            }
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            let began = SystemTime::now();
            let reader = self.reader(cancel);
            let (look, others) = (reader.look(), reader.read_others());
            // The files may be half of what another program is about to write.
            let quiet = QUIET.saturating_sub(start.elapsed() / 10).max(LEAST_QUIET);
            let unsettled = self.is_being_written(began, quiet) && !cancel.load(Ordering::Relaxed);
            let again = match &look {
                _ if unsettled => true,
                // A writer may be between two renames, so look again. If no writer is active, and
                // none has published since the look began, a second look must agree.
                Ok(Consistency::Torn(_, manifest)) => {
                    attempt == 1
                        || WriteLock::is_held(&self.layout)
                        || !matches!(Manifest::read(&self.layout), Ok(Some(now)) if now == *manifest)
                }
                Ok(Consistency::Senseless(_)) => attempt == 1 || WriteLock::is_held(&self.layout),
                _ => false,
            };
            if again && (attempt == 1 || start.elapsed() < longest) {
                thread::sleep(SETTLE_POLL);
                continue;
            }
            let others = others?;
            return match look? {
                Consistency::Consistent(files, manifest) => {
                    self.assemble(files, others, manifest, None)
                }
                Consistency::Torn(files, manifest) => {
                    // The set of the previous load is better than a part of this one.
                    let is_gone = |t: &ChunkType| {
                        let is_known = self.known.contains_key(&ChunkFileId::Of(*t));
                        manifest.entry(*t).is_some()
                            && is_known
                            && !files.iter().any(|(there, _)| *there == ChunkFileId::Of(*t))
                    };
                    if let Some(gone) = ChunkType::ALL.iter().copied().find(is_gone) {
                        let path = manifest.chunk_file(&self.layout, gone);
                        let is_there = self.layout.has(&manifest.chunk_name(gone));
                        return Err(if is_there {
                            LoadError::Changed { path }
                        } else {
                            LoadError::Gone { path }
                        });
                    }
                    let warning = format!(
                        "{} does not match the chunk files: they were changed by another program or torn; run `cortex index` to repair",
                        self.layout.manifest().display()
                    );
                    self.assemble(files, others, Some(manifest), Some(warning))
                }
                Consistency::Senseless(files) => {
                    let senseless = LoadError::Senseless { path: self.layout.manifest() };
                    if self.had_manifest {
                        return Err(senseless);
                    }
                    // Load the chunk files without a manifest.
                    self.assemble(files, others, None, Some(senseless.to_string()))
                }
            };
        }
    }

    /// Whether files without a manifest are being replaced. Only a manifest could tell that they
    /// belong together, so this function looks for anything in their directory that was written
    /// less than `quiet` before `began`, or since then. That may be a file that will be renamed
    /// later; a rename itself changes the time stamp of the directory. Beside an index of ours,
    /// only the files of other programs count.
    fn is_being_written(&self, began: SystemTime, quiet: Duration) -> bool {
        let Ok(directory) = self.layout.chunks() else { return false };
        let stat = |name: &OsString| directory.stat(name).ok().flatten();
        let recent =
            |stat: Stat| stat.modified + quiet > began && stat.modified <= SystemTime::now();
        if self.layout.is_foreign() {
            let files = directory.list().unwrap_or_default();
            return files
                .iter()
                .filter_map(|(name, _)| stat(name))
                .chain(directory.own_stat().ok())
                .any(recent);
        }
        self.layout
            .other_chunk_files()
            .into_iter()
            .filter_map(|name| stat(&name.into()))
            .any(recent)
    }

    fn assemble(
        &mut self,
        files: RawFiles,
        others: RawFiles,
        manifest: Option<Manifest>,
        torn: Option<String>,
    ) -> Result<Loaded, LoadError> {
        let parser = FileParser {
            layout: &self.layout,
            known: &self.known,
            embedder: &self.embedder,
            dimensions: self.dimensions,
        };
        let parse = |(which, raw): (ChunkFileId, Raw)| {
            let file = match parser.parse(raw, &which) {
                Err(e) if which.is_other() => Arc::new(unusable(&self.known, &which, &e)),
                file => file?,
            };
            Ok((which, file))
        };
        // If several chunks have the same id, the last one wins. The files under our names come
        // last.
        let files = others
            .into_par_iter()
            .chain(files)
            .map(parse)
            .collect::<Result<Vec<_>, ChunkFileError>>()?;
        let mut warnings: Vec<String> =
            files.iter().filter_map(|(_, f)| f.warning.clone()).collect();
        let is_torn = torn.is_some();
        warnings.extend(torn);
        let n_parsed = files
            .iter()
            .filter(|(t, f)| !self.known.get(t).is_some_and(|p| p.content.is(&f.content)))
            .count();
        if n_parsed > 0 || files.len() != self.known.len() {
            let entries =
                files.iter().flat_map(|(_, f)| f.content.entries().cloned()).collect::<Vec<_>>();
            let (set, duplicates) = ChunkSet::new(entries);
            self.set = Arc::new(set);
            self.duplicates = duplicates.into_iter().map(|d| d.id).collect();
        }
        let set = self.set.clone();
        let twice = |id| {
            format!(
                "the id {id} occurs more than once; the last chunk with it is used (further files come first). Give each chunk an id of its own"
            )
        };
        warnings.extend(self.duplicates.iter().take(MAX_NAMED).map(twice));
        if let Some(more) = self.duplicates.len().checked_sub(MAX_NAMED).filter(|n| *n > 0) {
            warnings.push(format!(
                "{more} more ids occur more than once: give each chunk an id of its own"
            ));
        }
        self.known = files.into_iter().collect();
        self.had_manifest = manifest.is_some();
        let (generation, indexed_at) =
            manifest.map_or((None, None), |m| (Some(m.generation), m.indexed_at));
        Ok(Loaded { set, generation, indexed_at, warnings, is_torn, n_parsed })
    }

    fn reader<'a>(&'a self, cancel: &'a Cancel) -> FileReader<'a> {
        FileReader { layout: &self.layout, known: &self.known, cancel }
    }
}

/// Returns how long a load waits for writers. A server is woken when files were quiet for `debounce`,
/// or after that time if they were not, so both waits together take no longer than
/// [`SETTLE_DEADLINE`]. Only a user who sets a longer quiet waits longer.
fn longest_wait(debounce: Option<Duration>) -> Duration {
    let debounce = debounce.unwrap_or_default();
    SETTLE_DEADLINE.saturating_sub(debounce).max(debounce)
}

impl Feed for ChunkFiles {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn load(&mut self, cancel: &Cancel) -> Result<Loaded, FeedError> {
        Self::load(self, cancel).map_err(|e| FeedError(Box::new(e)))
    }

    fn cache(&self) -> Option<&dyn CorpusCache> {
        Some(&self.cache)
    }

    fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()> {
        if !self.duplicates.is_empty() {
            return Err(io::Error::other("an id occurs more than once in the chunk files"));
        }
        saved::save(&self.known, self.had_manifest, saving)
    }

    fn restore(&mut self, saved: &dyn SavedFiles) -> Option<Arc<ChunkSet>> {
        let (known, had_manifest) = saved::restore(&self.layout, saved)?;
        let entries = in_order(&known).flat_map(|which| known[which].content.entries().cloned());
        self.set = Arc::new(ChunkSet::of_unique(entries.collect()));
        (self.known, self.had_manifest) = (known, had_manifest);
        Some(self.set.clone())
    }

    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors> {
        Box::new(VectorCache::read_wanted(&self.layout, &self.embedder, self.dimensions, wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: a file that another program rewrote without a pause was taken after five seconds.
    #[test]
    fn a_file_that_is_always_being_written_is_taken_after_two_seconds() {
        let ms = Duration::from_millis;
        for debounce in [0, 1, 50, 100, 500, 999, 1_000].map(ms) {
            assert!(debounce + longest_wait(Some(debounce)) <= ms(2_000), "{debounce:?}");
        }
        assert_eq!(longest_wait(None), ms(2_000));
        assert_eq!(longest_wait(Some(ms(5_000))), ms(5_000), "a user wants a longer quiet");
    }
}
