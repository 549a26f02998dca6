//! The data that a process computed from the chunk files, saved for the next process: directories
//! `cache/index-*`, which never change.
//!
//! A directory is written under a temporary name and then renamed. A process that has opened one
//! can read its files even after they were removed. `saved.json` states the content of each file.
//! If a file is not the one that was written (by its stamp, else by its hash), the whole directory
//! is void. It is also void for another version of the program.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::seal::without_seal;
use super::{FileEntry, Layout};
use crate::chunk::{CorpusCache, SaveWriter, SavedFile, SavedFiles};
use crate::dir::{Dir, OpenMode, OwnedDir, PRIVATE_DIR, PRIVATE_FILE, Stat};
use crate::platform::read_exact_at;

/// A hash of the code that decides what is saved and what is computed from the same chunks. It
/// changes with that code.
const FORMAT: &str = env!("VERSION_OF_SAVED");
const CONTENTS: &str = "saved.json";
const PREFIX: &str = "index-";
const UNFINISHED: &str = "unfinished-";
/// Largest `saved.json` that is read, in bytes.
const MAX_CONTENTS: u64 = 1 << 20;
/// An unfinished directory without a lock that is older than this was left by a writer that crashed.
const SOON: Duration = Duration::from_mins(1);
/// Held in an unfinished directory by its writer. The system releases it when the writer dies.
const WRITER: &str = "writer.lock";

/// The cache of what is served from the chunk files of a project, for one embedder.
#[derive(Debug)]
pub struct IndexCache {
    layout: Layout,
    place: OwnedDir,
    /// Everything besides the chunk files that decides what the cache holds.
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
        Self { layout: layout.clone(), place: layout.cache_place(false), version }
    }

    /// The cache of what is served from the memories.
    #[must_use]
    pub fn of_memories(layout: &Layout, embedder: &str) -> Self {
        let version =
            format!("cortex {} memories, format {FORMAT}, {embedder}", env!("CARGO_PKG_VERSION"));
        Self { layout: layout.clone(), place: layout.cache_place(true), version }
    }

    fn open_directory(&self, dir: &Dir) -> Option<SavedIndex> {
        let mut contents = dir.read(CONTENTS, MAX_CONTENTS).ok()?;
        let contents: Contents =
            serde_json::from_slice(self.layout.unsealed(CONTENTS, &mut contents)?).ok()?;
        if contents.version != self.version {
            return None;
        }
        let open = |(name, written): (String, Written)| {
            let mut file = dir.open_file(&name).ok()?;
            let n_bytes = written.entry.bytes;
            written.is(&mut file).then(|| (name, Arc::new(OpenFile { file, n_bytes })))
        };
        let files = contents.files.into_par_iter().map(open).collect::<Option<_>>()?;
        Some(SavedIndex(files))
    }
}

/// Copies the newest saved index of `from` to `layout`. A process that opens it checks its files as any
/// others.
pub(super) fn take_over(layout: &Layout, from: &Layout) -> io::Result<()> {
    let theirs = from.cache_place(false).open()?;
    let Some(newest) = all(&theirs, PREFIX).pop() else { return Ok(()) };
    let (theirs, to) = (theirs.dir(&newest)?, layout.cache_place(false).make(PRIVATE_DIR)?);
    let mut contents = theirs.read(CONTENTS, MAX_CONTENTS)?;
    let Some(contents) = from.unsealed(CONTENTS, &mut contents) else { return Ok(()) };
    let name = format!("{UNFINISHED}{:032x}", fastrand::u128(..));
    let own = to.make_dir(&name, PRIVATE_DIR)?;
    let lock = own.file(WRITER, OpenMode::New, PRIVATE_FILE)?;
    lock.lock()?;
    for (file, _) in theirs.list()?.into_iter().filter(|(file, _)| file != CONTENTS) {
        io::copy(&mut theirs.open_file(&file)?, &mut own.create(&file, PRIVATE_FILE)?)?;
    }
    own.replace(CONTENTS, &layout.sealed(CONTENTS, contents), PRIVATE_FILE, false)?;
    own.remove_file(WRITER)?;
    to.rename(&name, &newest)
}

/// Seals the saved indexes that came with an archive.
pub(super) fn adopt(layout: &Layout) -> io::Result<()> {
    let dir = layout.cache_place(false).open()?;
    for name in all(&dir, PREFIX) {
        let own = dir.dir(&name)?;
        let mut contents = own.read(CONTENTS, MAX_CONTENTS)?;
        if let Some((_, contents)) = without_seal(&mut contents) {
            own.replace(CONTENTS, &layout.sealed(CONTENTS, contents), PRIVATE_FILE, false)?;
        }
    }
    Ok(())
}

/// Returns the names in `dir` that begin with `prefix`, oldest first.
fn all(dir: &Dir, prefix: &str) -> Vec<String> {
    let names =
        dir.list().unwrap_or_default().into_iter().filter_map(|(name, _)| name.into_string().ok());
    let dated = names
        .filter(|name| name.starts_with(prefix))
        .filter_map(|name| Some((dir.stat(&name).ok()??.modified, name)));
    let mut all: Vec<(SystemTime, String)> = dated.collect();
    all.sort();
    all.into_iter().map(|(_, name)| name).collect()
}

/// Removes the directories of writers that died.
fn remove_abandoned(dir: &Dir) {
    let is_abandoned = |name: &String| match dir.open_file(format!("{name}/{WRITER}")) {
        Ok(lock) => lock.try_lock().is_ok(),
        // It is about to be locked, or about to be renamed.
        Err(_) => matches!(dir.stat(name), Ok(Some(stat)) if stat.is_older(SOON)),
    };
    for name in all(dir, UNFINISHED).into_iter().filter(is_abandoned) {
        let _ = dir.remove_dir(name);
    }
}

impl Written {
    fn of(file: &File, entry: FileEntry) -> io::Result<Self> {
        let stat = Stat::of(file)?;
        Ok(Self { entry, inode: stat.id.1, modified_ns: modified_ns(&stat)? })
    }

    /// Whether `file` still is what was written.
    fn is(&self, file: &mut File) -> bool {
        let Ok(stat) = Stat::of(file) else { return false };
        let same_stamp = (stat.bytes, stat.id.1) == (self.entry.bytes, self.inode)
            && modified_ns(&stat).is_ok_and(|modified| modified == self.modified_ns);
        same_stamp
            || stat.bytes == self.entry.bytes
                && FileEntry::of_file(file).is_ok_and(|entry| entry == self.entry)
    }
}

fn read(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let n_bytes =
        usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; n_bytes];
    read_exact_at(file, &mut bytes, range.start)?;
    Ok(bytes)
}

fn modified_ns(stat: &Stat) -> io::Result<u128> {
    stat.modified.duration_since(UNIX_EPOCH).map(|d| d.as_nanos()).map_err(io::Error::other)
}

impl CorpusCache for IndexCache {
    fn open(&self) -> Option<Arc<dyn SavedFiles>> {
        let dir = self.place.open().ok()?;
        let mut names = all(&dir, PREFIX);
        loop {
            let open = |name: &String| self.open_directory(&dir.dir(name).ok()?);
            if let Some(newest) = names.iter().rev().find_map(open) {
                return Some(Arc::new(newest));
            }
            // Another process may have replaced the directory after it was listed.
            let now = all(&dir, PREFIX);
            if now == names {
                return None;
            }
            names = now;
        }
    }

    fn save(&self, write: &mut dyn FnMut(&mut dyn SaveWriter) -> io::Result<()>) -> io::Result<()> {
        let dir = self.place.make(PRIVATE_DIR)?;
        let name = format!("{UNFINISHED}{:032x}", fastrand::u128(..));
        let own = dir.make_dir(&name, PRIVATE_DIR)?;
        let lock = own.file(WRITER, OpenMode::New, PRIVATE_FILE)?;
        lock.lock()?;
        let mut saving = Unfinished { dir: &dir, own, name, files: BTreeMap::new() };
        write(&mut saving)?;
        let contents = serde_json::to_vec(&Contents {
            version: self.version.clone(),
            files: saving.finish()?,
        })?;
        saving.write(CONTENTS, &self.layout.sealed(CONTENTS, &contents))?;
        saving.own.remove_file(WRITER)?;
        let place = format!("{PREFIX}{:032x}", xxh3_128(&contents));
        dir.rename(&saving.name, &place)?;
        // The older ones are useless now. A process that is about to open one does without a cache.
        for old in all(&dir, PREFIX).into_iter().filter(|name| *name != place) {
            let _ = dir.remove_dir(old);
        }
        remove_abandoned(&dir);
        Ok(())
    }
}

/// A directory that is being written. Dropping it removes the directory, unless it was renamed to
/// its final name.
struct Unfinished<'a> {
    /// The parent directory.
    dir: &'a Dir,
    own: Dir,
    name: String,
    files: BTreeMap<String, FileEntry>,
}

impl Unfinished<'_> {
    /// Syncs all files to the disk and returns them.
    fn finish(&self) -> io::Result<BTreeMap<String, Written>> {
        // In parallel: the disk takes as long for ten files as for one.
        let finish = |(name, entry): (&String, &FileEntry)| {
            let file = self.own.open_file(name)?;
            file.sync_all()?;
            Ok((name.clone(), Written::of(&file, entry.clone())?))
        };
        self.files.par_iter().map(finish).collect()
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.own.file(name, OpenMode::New, PRIVATE_FILE)?.write_all(content)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // This fails if the directory was renamed: then it is complete.
        let _ = self.dir.remove_dir(&self.name);
    }
}

impl SaveWriter for Unfinished<'_> {
    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.write(name, content)?;
        self.files.insert(name.into(), FileEntry::of(content));
        Ok(())
    }

    fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> io::Result<()> {
        let bytes = from.read(name)?;
        let linked = |old: &String| {
            self.dir.hard_link(format!("{old}/{name}"), format!("{}/{name}", self.name)).is_ok()
        };
        if !all(self.dir, PREFIX).iter().any(linked) {
            self.write(name, &bytes)?;
        }
        self.files.insert(name.into(), FileEntry::of(&bytes));
        Ok(())
    }
}

/// An opened cache. Its files are held open, since another process may remove them.
#[derive(Debug)]
struct SavedIndex(HashMap<String, Arc<OpenFile>>);

impl SavedFiles for SavedIndex {
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
