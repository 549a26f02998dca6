//! What a process made of the chunk files, kept for the next one: `cache/index-*`, directories that never change.
//!
//! Written beside its place and renamed; who has opened one keeps its files, even when they are removed. `saved.json` says
//! what each file contains. A file that is not the one that was written (by its stamp, else by its hash) makes all of it
//! void, as does another version of the program.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::layout::is_older;
use super::{FileEntry, Layout};
use crate::chunk::{Cache, Saved, SavedFile, Saving};

/// Raised when what is saved, or what is made of the same chunks, changes.
const FORMAT: u32 = 3;
const CONTENTS: &str = "saved.json";
const PREFIX: &str = "index-";
const UNFINISHED: &str = "unfinished-";
/// Who writes for so long has died.
const ABANDONED: Duration = Duration::from_hours(1);

/// The cache of what the chunk files of a project are served from, for one embedder.
#[derive(Debug)]
pub struct IndexCache {
    directory: PathBuf,
    /// Everything beside the chunk files that decides what is in it.
    version: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: String,
    files: BTreeMap<String, Written>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    #[serde(flatten)]
    entry: FileEntry,
    inode: u64,
    modified_ns: u128,
}

impl IndexCache {
    #[must_use]
    pub fn new(layout: &Layout, embedder: &str) -> Self {
        let version = format!("cortex {}, format {FORMAT}, {embedder}", env!("CARGO_PKG_VERSION"));
        Self { directory: layout.cache_dir(), version }
    }

    /// The same of what is remembered.
    #[must_use]
    pub fn of_memories(layout: &Layout, embedder: &str) -> Self {
        let version = format!("cortex {} memories, format {FORMAT}, {embedder}", env!("CARGO_PKG_VERSION"));
        Self { directory: layout.memory_cache(), version }
    }

    fn all(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with(prefix)).map(|e| e.path()).collect()
    }

    fn open_directory(&self, path: &Path) -> Option<SavedIndex> {
        let contents: Contents = serde_json::from_slice(&fs::read(path.join(CONTENTS)).ok()?).ok()?;
        if contents.version != self.version {
            return None;
        }
        let open = |(name, written): (String, Written)| {
            let file = File::open(path.join(&name)).ok()?;
            let n_bytes = written.entry.bytes;
            written.is(&file).then(|| (name, Arc::new(OpenFile { file, n_bytes })))
        };
        let files = contents.files.into_par_iter().map(open).collect::<Option<_>>()?;
        Some(SavedIndex(files))
    }
}

impl Written {
    fn of(path: &Path, entry: FileEntry) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { entry, inode: metadata.ino(), modified_ns: modified_ns(&metadata)? })
    }

    /// Whether what is there now is what was written.
    fn is(&self, file: &File) -> bool {
        let Ok(metadata) = file.metadata() else { return false };
        let same_stamp = (metadata.len(), metadata.ino()) == (self.entry.bytes, self.inode)
            && modified_ns(&metadata).is_ok_and(|modified| modified == self.modified_ns);
        same_stamp
            || metadata.len() == self.entry.bytes && read(file, 0..self.entry.bytes).is_ok_and(|bytes| FileEntry::of(&bytes) == self.entry)
    }
}

fn read(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let n_bytes = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; n_bytes];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes)
}

fn modified_ns(metadata: &fs::Metadata) -> io::Result<u128> {
    metadata.modified()?.duration_since(UNIX_EPOCH).map(|d| d.as_nanos()).map_err(io::Error::other)
}

impl Cache for IndexCache {
    fn open(&self) -> Option<Arc<dyn Saved>> {
        let mut all: Vec<(SystemTime, PathBuf)> =
            self.all(PREFIX).into_iter().filter_map(|p| Some((fs::metadata(&p).and_then(|m| m.modified()).ok()?, p))).collect();
        all.sort();
        let newest = all.into_iter().rev().find_map(|(_, path)| self.open_directory(&path))?;
        Some(Arc::new(newest))
    }

    fn save(&self, write: &mut dyn FnMut(&mut dyn Saving) -> io::Result<()>) -> io::Result<()> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = self.directory.join(format!("{UNFINISHED}{}-{number}", std::process::id()));
        // What is saved was said to the user alone, perhaps.
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        let mut saving = Unfinished { cache: self, path, files: BTreeMap::new() };
        write(&mut saving)?;
        let contents = serde_json::to_vec(&Contents { version: self.version.clone(), files: saving.finish()? })?;
        fs::write(saving.path.join(CONTENTS), &contents)?;
        let place = self.directory.join(format!("{PREFIX}{:032x}", xxh3_128(&contents)));
        fs::rename(&saving.path, &place)?;
        // The others are of no use any more; whoever is about to open one makes do without.
        let unfinished = self.all(UNFINISHED).into_iter().filter(|path| is_older(path, ABANDONED));
        for old in self.all(PREFIX).into_iter().filter(|p| *p != place).chain(unfinished) {
            let _ = fs::remove_dir_all(old);
        }
        Ok(())
    }
}

/// A directory that is being written; removed when it is not finished.
struct Unfinished<'a> {
    cache: &'a IndexCache,
    path: PathBuf,
    files: BTreeMap<String, FileEntry>,
}

impl Unfinished<'_> {
    /// Everything is on the disk; returns what there is.
    fn finish(&self) -> io::Result<BTreeMap<String, Written>> {
        // Beside one another: the disk takes as long for ten files as for one.
        let finish = |(name, entry): (&String, &FileEntry)| {
            let path = self.path.join(name);
            File::open(&path)?.sync_all()?;
            Ok((name.clone(), Written::of(&path, entry.clone())?))
        };
        self.files.par_iter().map(finish).collect()
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // Gone when it was renamed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Saving for Unfinished<'_> {
    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        File::create_new(self.path.join(name))?.write_all(content)?;
        self.files.insert(name.into(), FileEntry::of(content));
        Ok(())
    }

    fn keep(&mut self, name: &str, from: &dyn Saved) -> io::Result<()> {
        let bytes = from.read(name)?;
        let path = self.path.join(name);
        if !self.cache.all(PREFIX).iter().any(|old| fs::hard_link(old.join(name), &path).is_ok()) {
            File::create_new(&path)?.write_all(&bytes)?;
        }
        self.files.insert(name.into(), FileEntry::of(&bytes));
        Ok(())
    }
}

/// A cache that was opened. Its files are held open: another process may remove them.
#[derive(Debug)]
struct SavedIndex(HashMap<String, Arc<OpenFile>>);

impl Saved for SavedIndex {
    fn open(&self, name: &str) -> io::Result<Arc<dyn SavedFile>> {
        match self.0.get(name) {
            Some(file) => Ok(file.clone()),
            None => Err(io::Error::new(io::ErrorKind::NotFound, format!("{name} was not saved"))),
        }
    }
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    n_bytes: u64,
}

impl SavedFile for OpenFile {
    fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        read(&self.file, range)
    }
}
