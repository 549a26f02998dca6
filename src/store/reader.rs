//! Chunk files → one consistent set of chunks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io, thread};

use rayon::prelude::*;

use super::chunk_file::{ChunkFileError, parse_chunk_file};
use super::layout::next_path;
use super::{FileEntry, Layout, Manifest, TIMESTAMP_TICK, WriteLock};
use crate::chunk::{Chunk, ChunkSet, ChunkType};

/// How long a reader waits for a writer that is between its renames.
const SETTLE_DEADLINE: Duration = Duration::from_secs(2);
const SETTLE_POLL: Duration = Duration::from_millis(5);

/// Set from another thread to end a load early.
pub type Cancel = AtomicBool;

/// A consistent set, and what is needed to load the next one incrementally.
#[derive(Debug)]
pub struct LoadedSet {
    pub set: ChunkSet,
    /// The manifest's; `None` when another program wrote the files.
    pub generation: Option<u64>,
    /// For people: duplicate ids, ignored vectors, a torn set.
    pub warnings: Vec<String>,
    /// How many files were parsed rather than reused.
    pub n_parsed: usize,
    /// Pass it to the next [`load`].
    pub files: LoadedFiles,
}

/// What was read of each chunk file, so that an unchanged file is not read again.
#[derive(Debug, Clone, Default)]
pub struct LoadedFiles {
    files: HashMap<ChunkType, Arc<LoadedFile>>,
    embedder: String,
}

#[derive(Debug)]
struct LoadedFile {
    stamp: Option<Stamp>,
    entry: FileEntry,
    chunks: Arc<Vec<Arc<Chunk>>>,
    warning: Option<String>,
}

/// What the file system says of a file; equal stamps mean equal content unless the stamp is too fresh to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: SystemTime,
    inode: u64,
}

/// Why nothing was loaded; what is being served stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    File(#[from] ChunkFileError),
    #[error("{}: cannot be read: {source}", path.display())]
    Manifest { path: PathBuf, source: io::Error },
    #[error("the load was cancelled")]
    Cancelled,
}

/// Loads the four chunk files, in parallel, re-reading only those that changed since `previous`.
/// A missing file is an empty type. Concurrent loads are independent.
///
/// `embedder` (id, dimensions): inline vectors are kept only in files whose header names it.
///
/// # Errors
/// A file that cannot be read or parsed, or cancellation (asked before each file).
pub fn load(layout: &Layout, embedder: (&str, usize), previous: &LoadedFiles, cancel: &Cancel) -> Result<LoadedSet, LoadError> {
    let start = Instant::now();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let loaded = load_once(layout, embedder, previous, cancel)?;
        let (files, manifest) = match loaded {
            Attempt::Consistent(files, manifest) => (files, manifest.map(|m| (m.generation, None))),
            Attempt::Torn(files, manifest) => {
                // A writer may be between two renames: look again. Without one, a second look must agree.
                let writing = WriteLock::is_held(layout);
                if (writing && start.elapsed() < SETTLE_DEADLINE) || attempt == 1 {
                    thread::sleep(SETTLE_POLL);
                    continue;
                }
                let warning = format!(
                    "{} does not match the chunk files: they were changed by another program or torn; run `cortex index` to repair",
                    layout.manifest().display()
                );
                (files, Some((manifest.generation, Some(warning))))
            }
        };
        return Ok(assemble(files, manifest, previous, embedder.0));
    }
}

type Files = Vec<(ChunkType, Arc<LoadedFile>)>;

enum Attempt {
    Consistent(Files, Option<Manifest>),
    Torn(Files, Manifest),
}

fn assemble(files: Files, manifest: Option<(u64, Option<String>)>, previous: &LoadedFiles, embedder: &str) -> LoadedSet {
    let mut warnings: Vec<String> = files.iter().filter_map(|(_, f)| f.warning.clone()).collect();
    let (generation, torn) = manifest.map_or((None, None), |(g, w)| (Some(g), w));
    warnings.extend(torn);
    let n_parsed = files.iter().filter(|(t, f)| !previous.files.get(t).is_some_and(|p| Arc::ptr_eq(&p.chunks, &f.chunks))).count();
    let (set, duplicates) = ChunkSet::new(files.iter().flat_map(|(_, f)| f.chunks.iter().cloned()).collect::<Vec<_>>());
    warnings.extend(duplicates.iter().map(|d| format!("the id {} occurs more than once; the last chunk with it is used", d.id)));
    LoadedSet {
        set,
        generation,
        warnings,
        n_parsed,
        files: LoadedFiles { files: files.into_iter().collect(), embedder: embedder.to_string() },
    }
}

/// One look at the files. The order matters: the manifest before the files, since it is written after them.
fn load_once(layout: &Layout, embedder: (&str, usize), previous: &LoadedFiles, cancel: &Cancel) -> Result<Attempt, LoadError> {
    let read_manifest = |path: PathBuf| Manifest::read(&path).map_err(|source| LoadError::Manifest { path, source });
    let manifest = read_manifest(layout.manifest())?;
    let files = read_all(layout, embedder, previous, cancel, None)?;
    if manifest.as_ref().is_some_and(|m| matches(m, &files)) {
        return Ok(Attempt::Consistent(files, manifest));
    }
    // A writer that died between its renames left a complete set: `.next` files finish what was renamed so far.
    if let Some(next) = read_manifest(next_path(&layout.manifest()))? {
        let rolled = read_all(layout, embedder, previous, cancel, Some(&next))?;
        if matches(&next, &rolled) {
            return Ok(Attempt::Consistent(rolled, Some(next)));
        }
    }
    match manifest {
        Some(manifest) => Ok(Attempt::Torn(files, manifest)),
        // A first manifest that came while the files were read: they may be older than it.
        None if layout.manifest().exists() => load_once(layout, embedder, previous, cancel),
        None => Ok(Attempt::Consistent(files, None)),
    }
}

fn matches(manifest: &Manifest, files: &[(ChunkType, Arc<LoadedFile>)]) -> bool {
    ChunkType::ALL.iter().all(|t| {
        let there = files.iter().find(|(ft, _)| ft == t).map(|(_, f)| &f.entry);
        manifest.entry(*t) == there
    })
}

fn read_all(
    layout: &Layout,
    embedder: (&str, usize),
    previous: &LoadedFiles,
    cancel: &Cancel,
    next: Option<&Manifest>,
) -> Result<Files, LoadError> {
    let read = |t: ChunkType| -> Result<Option<(ChunkType, Arc<LoadedFile>)>, LoadError> {
        if cancel.load(Ordering::Relaxed) {
            return Err(LoadError::Cancelled);
        }
        let previous = previous.files.get(&t).filter(|_| previous.embedder == embedder.0);
        let path = layout.chunk_file(t);
        let file = read_file(&path, t, embedder, previous);
        let wanted = next.and_then(|m| m.entry(t));
        if let Some(wanted) = wanted
            && !file.as_ref().is_ok_and(|f| f.as_ref().is_some_and(|f| f.entry == *wanted))
        {
            return Ok(read_file(&next_path(&path), t, embedder, previous)?.map(|f| (t, f)));
        }
        Ok(file?.map(|f| (t, f)))
    };
    let read: Result<Vec<_>, _> = ChunkType::ALL.into_par_iter().map(read).collect();
    Ok(read?.into_iter().flatten().collect())
}

fn read_file(
    path: &Path,
    file_type: ChunkType,
    (embedder, dimensions): (&str, usize),
    previous: Option<&Arc<LoadedFile>>,
) -> Result<Option<Arc<LoadedFile>>, ChunkFileError> {
    let unreadable = |source| ChunkFileError::Read { path: path.to_path_buf(), source };
    let stamp = match fs::metadata(path) {
        Ok(m) => stamp(&m),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable(e)),
    };
    if let Some(previous) = previous
        && stamp.is_some()
        && previous.stamp == stamp
    {
        return Ok(Some(previous.clone()));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let entry = FileEntry::of(&bytes);
    if let Some(previous) = previous.filter(|p| p.entry == entry) {
        let chunks = previous.chunks.clone();
        return Ok(Some(Arc::new(LoadedFile { stamp, entry, chunks, warning: previous.warning.clone() })));
    }
    let mut parsed = parse_chunk_file(path, &bytes, file_type)?;
    drop(bytes);
    let header = parsed.header.unwrap_or_default();
    let mut warning = None;
    if header.embedder != embedder || header.dimensions != dimensions {
        let mut n_ignored = 0;
        for chunk in parsed.chunks.iter_mut().filter(|c| c.embedding.is_some()) {
            n_ignored += 1;
            // The chunk was made a moment ago and nobody else has it: this does not copy.
            Arc::make_mut(chunk).embedding = None;
        }
        if n_ignored > 0 {
            let whose = if header.embedder.is_empty() { "an unnamed embedder" } else { &header.embedder };
            warning = Some(format!("{}: {n_ignored} inline vectors of {whose} are ignored and made anew by {embedder}", path.display()));
        }
    }
    Ok(Some(Arc::new(LoadedFile { stamp, entry, chunks: Arc::new(parsed.chunks), warning })))
}

/// `None` when the file was written so recently that it could change without a new time stamp.
fn stamp(m: &fs::Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let modified = m.modified().ok()?;
    let settled = SystemTime::now().duration_since(modified).is_ok_and(|age| age > TIMESTAMP_TICK);
    settled.then_some(Stamp { bytes: m.len(), modified, inode: m.ino() })
}
