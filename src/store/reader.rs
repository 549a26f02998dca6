//! Loads the chunk files as one consistent set of chunks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{io, thread};

use bitcode::{Decode, Encode};
use parking_lot::RwLock;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::chunk_file::{CLOSE, ChunkFileError, GENERATOR, Header, ParsedFile, Source, parse_block, parse_chunk_file};
use super::foreign::{Bytes, ForeignLines, VectorRow};
use super::layout::{MANIFEST, in_chunks, next_name};
use super::others::{MAX_FILES, Which};
use super::packing::{MAX_HEADER_BYTES, Packing, frame_length, may_unpack_to, unpack, unpack_frame, with_last_frame};
use super::{Block, FileEntry, IndexCache, Layout, Manifest, TIMESTAMP_TICK, VectorCache, WriteLock};
use crate::chunk::{
    Cancel, ChunkId, ChunkSet, ChunkType, CorpusCache, Entry, Feed, FeedError, Fingerprint, LineStore, Loaded, SaveWriter, SavedFiles,
    StoredVectors,
};
use crate::dir::Stat;

/// Largest chunk file of another program that is read, in bytes, and the largest sum of those beside an index. They are parsed whole, which takes a
/// multiple of that in memory.
const MAX_FOREIGN_BYTES: u64 = 512 << 20;
/// How long a reader waits for a writer that is between its renames.
const SETTLE_DEADLINE: Duration = Duration::from_secs(2);
const SETTLE_POLL: Duration = Duration::from_millis(5);
/// Files without a manifest are loaded after nobody has written them for this long. The required time falls towards [`LEAST_QUIET`] the longer the
/// reader waits.
const QUIET: Duration = Duration::from_millis(100);
const LEAST_QUIET: Duration = Duration::from_millis(30);

/// The chunk files of a project as a feed. It keeps what it read: it does not read an unchanged file again, and parses only the changed lines of a
/// changed file.
#[derive(Debug)]
pub struct ChunkFiles {
    layout: Layout,
    /// The active embedder. Inline vectors count only in files whose header names it.
    embedder: String,
    dimensions: usize,
    known: HashMap<Which, Arc<LoadedFile>>,
    /// The chunks of the known files.
    set: Arc<ChunkSet>,
    /// Ids that occur more than once in the known files.
    duplicates: Vec<ChunkId>,
    cache: IndexCache,
    /// Whether the last load had a manifest.
    had_manifest: bool,
}

/// Number of duplicate ids that the warnings name.
const MAX_NAMED: usize = 10;

#[derive(Debug)]
struct LoadedFile {
    stamp: Option<Stamp>,
    entry: FileEntry,
    content: FileContent,
    warning: Option<String>,
}

#[derive(Debug, Clone)]
enum FileContent {
    /// A file of any writer, all of it in memory.
    Parsed(Arc<ParsedFile>),
    /// A file of ours that matches its manifest.
    Blocks(Arc<Vec<LoadedBlock>>),
}

impl FileContent {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Parsed(a), Self::Parsed(b)) => Arc::ptr_eq(a, b),
            (Self::Blocks(a), Self::Blocks(b)) => Arc::ptr_eq(a, b),
            // Two files without chunks are equal.
            (a, b) => a.entries().next().is_none() && b.entries().next().is_none(),
        }
    }

    fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let (parsed, blocks) = match self {
            Self::Parsed(file) => (&*file.entries, &[][..]),
            Self::Blocks(blocks) => (&[][..], &***blocks),
        };
        parsed.iter().chain(blocks.iter().flat_map(|b| &b.entries))
    }
}

/// A block with the entries of its chunks.
#[derive(Debug, Clone)]
struct LoadedBlock {
    block: Block,
    lines: Arc<BlockLines>,
    entries: Vec<Arc<Entry>>,
}

/// A chunk file that is held open. After the file was replaced, closing it frees its pages, which takes 30 ms for 130 MB. A separate thread closes
/// it, so that the reload or the query that uses it last does not wait for that.
#[derive(Debug)]
struct HeldFile {
    /// Unique among the held files of this process.
    number: u64,
    file: Option<File>,
}

impl HeldFile {
    fn new(file: File) -> Arc<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { number: NUMBER.fetch_add(1, Ordering::Relaxed), file: Some(file) })
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> Option<()> {
        self.file.as_ref()?.read_exact_at(bytes, offset).ok()
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        let file = self.file.take();
        // If no thread can be started, the file is closed on this one.
        let _ = thread::Builder::new().name("close".into()).spawn(move || drop(file));
    }
}

/// Some lines of a chunk file. The file is held open, so the lines can still be read after it was replaced.
#[derive(Debug)]
struct BlockLines(RwLock<BlockLocation>);

/// The place of a block in a file.
#[derive(Debug, Clone)]
struct BlockLocation {
    file: Arc<HeldFile>,
    start: u64,
    /// Length of its lines in bytes, unpacked.
    bytes: u32,
    /// Length of the block in a packed file, in bytes; 0 in a plain file.
    packed: u32,
}

impl BlockLines {
    fn at(file: &Arc<HeldFile>, start: u64, block: &Block) -> Self {
        Self(RwLock::new(BlockLocation { file: file.clone(), start, bytes: block.bytes, packed: block.packed }))
    }

    fn place(&self) -> BlockLocation {
        self.0.read().clone()
    }

    /// Sets the place of the same lines in the file that replaced the previous one.
    fn move_to(&self, file: &Arc<HeldFile>, start: u64, block: &Block) {
        let there = BlockLocation { file: file.clone(), start, bytes: block.bytes, packed: block.packed };
        *self.0.write() = there;
    }
}

impl LineStore for BlockLines {
    fn read(&self, at: Range<u32>) -> Option<Vec<u8>> {
        let BlockLocation { file, start, bytes, packed } = self.place();
        if packed == 0 {
            let mut line = vec![0; at.len()];
            file.read_exact_at(&mut line, start + u64::from(at.start))?;
            return Some(line);
        }
        let unpack = || {
            let mut frame = vec![0; packed as usize];
            file.read_exact_at(&mut frame, start)?;
            unpack_frame(&frame, bytes as usize)
        };
        with_last_frame((file.number, start), unpack, |lines| Some(lines.get(at.start as usize..at.end as usize)?.to_vec()))?
    }
}

/// A file that was read and not parsed. Parsing begins after all files are known to belong together: it takes long, and writers do not wait for it.
#[derive(Debug)]
enum Raw {
    /// An unchanged file.
    Known(Arc<LoadedFile>),
    New {
        path: PathBuf,
        stamp: Option<Stamp>,
        entry: FileEntry,
        bytes: Vec<u8>,
    },
    /// A file of ours of which only the unknown blocks were read.
    Blocks {
        stamp: Option<Stamp>,
        entry: FileEntry,
        file: Arc<HeldFile>,
        blocks: Vec<(u64, RawBlock)>,
    },
}

#[derive(Debug)]
enum RawBlock {
    Known(Block, LoadedBlock),
    New(Block, Vec<u8>),
}

impl Raw {
    fn entry(&self) -> &FileEntry {
        match self {
            Self::Known(file) => &file.entry,
            Self::New { entry, .. } | Self::Blocks { entry, .. } => entry,
        }
    }
}

/// The identity of a file in the file system. Equal stamps mean equal content, unless the stamp is too fresh to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
struct Stamp {
    bytes: u64,
    modified_ns: u64,
    inode: u64,
}

/// Why nothing was loaded. The snapshot that is served stays unchanged.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    File(#[from] ChunkFileError),
    #[error("the manifest of the chunk files cannot be read: {source}")]
    Manifest { source: io::Error },
    #[error("{}: it says which chunk files belong together, and cannot be understood; run `cortex index` to repair", path.display())]
    Senseless { path: PathBuf },
    #[error("{}: it is gone, and was there before; run `cortex index` to repair", path.display())]
    Gone { path: PathBuf },
    #[error("the load was cancelled")]
    Cancelled,
}

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
        }
    }

    /// Loads the four chunk files and the further files of other programs. Reads only files that changed since the last load, and parses them in
    /// parallel. A missing file counts as empty.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the load is cancelled (checked before each file). Also when the manifest cannot be understood
    /// although the previous load had one, or when a file is gone that it names and that was loaded before.
    pub fn load(&mut self, cancel: &Cancel) -> Result<Loaded, LoadError> {
        let start = Instant::now();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let began = SystemTime::now();
            let look = self.look(cancel);
            let others = self.read_others(cancel);
            // The files may be half of what another program is about to write.
            let quiet = QUIET.saturating_sub(start.elapsed() / 10).max(LEAST_QUIET);
            let unsettled = self.is_being_written(began, quiet) && !cancel.load(Ordering::Relaxed);
            let again = match &look {
                _ if unsettled => true,
                // A writer may be between two renames, so look again. If no writer is active, a second look must agree.
                Ok(Look::Torn(..) | Look::Senseless(_)) => attempt == 1 || WriteLock::is_held(&self.layout),
                _ => false,
            };
            if again && (attempt == 1 || start.elapsed() < SETTLE_DEADLINE) {
                thread::sleep(SETTLE_POLL);
                continue;
            }
            let others = others?;
            return match look? {
                Look::Consistent(files, manifest) => self.assemble(files, others, manifest, None),
                Look::Torn(files, manifest) => {
                    // The set of the previous load is better than a part of this one.
                    let is_gone = |t: &ChunkType| {
                        let is_known = self.known.contains_key(&Which::Of(*t));
                        manifest.entry(*t).is_some() && is_known && !files.iter().any(|(there, _)| *there == Which::Of(*t))
                    };
                    if let Some(gone) = ChunkType::ALL.iter().copied().find(is_gone) {
                        return Err(LoadError::Gone { path: manifest.chunk_file(&self.layout, gone) });
                    }
                    let warning = format!(
                        "{} does not match the chunk files: they were changed by another program or torn; run `cortex index` to repair",
                        self.layout.manifest().display()
                    );
                    self.assemble(files, others, Some(manifest), Some(warning))
                }
                Look::Senseless(files) => {
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

    /// Whether files without a manifest are being replaced. Only a manifest could tell that they belong together, so this function looks for
    /// anything in their directory that was written less than `quiet` before `began`, or since then. That may be a file that will be renamed later;
    /// a rename itself changes the time stamp of the directory. Beside an index of ours, only the files of other programs count.
    fn is_being_written(&self, began: SystemTime, quiet: Duration) -> bool {
        let Ok(directory) = self.layout.chunks() else { return false };
        let stat = |name: &OsString| directory.stat(name).ok().flatten();
        let recent = |stat: Stat| stat.modified + quiet > began && stat.modified <= SystemTime::now();
        if self.layout.is_foreign() {
            let files = directory.list().unwrap_or_default();
            return files.iter().filter_map(|(name, _)| stat(name)).chain(directory.own_stat().ok()).any(recent);
        }
        self.layout.other_chunk_files().into_iter().filter_map(|name| stat(&name.into())).any(recent)
    }

    fn assemble(
        &mut self,
        files: RawFiles,
        others: RawFiles,
        manifest: Option<Manifest>,
        torn: Option<String>,
    ) -> Result<Loaded, LoadError> {
        let parse = |(which, raw): (Which, Raw)| {
            let file = match self.parse(raw, &which) {
                Err(e) if which.is_other() => Arc::new(self.unusable(&which, &e)),
                file => file?,
            };
            Ok((which, file))
        };
        // If several chunks have the same id, the last one wins. The files under our names come last.
        let files = others.into_par_iter().chain(files).map(parse).collect::<Result<Vec<_>, ChunkFileError>>()?;
        let mut warnings: Vec<String> = files.iter().filter_map(|(_, f)| f.warning.clone()).collect();
        warnings.extend(torn);
        let n_parsed = files.iter().filter(|(t, f)| !self.known.get(t).is_some_and(|p| p.content.is(&f.content))).count();
        if n_parsed > 0 || files.len() != self.known.len() {
            let entries = files.iter().flat_map(|(_, f)| f.content.entries().cloned()).collect::<Vec<_>>();
            let (set, duplicates) = ChunkSet::new(entries);
            self.set = Arc::new(set);
            self.duplicates = duplicates.into_iter().map(|d| d.id).collect();
        }
        let set = self.set.clone();
        let twice = |id| format!("the id {id} occurs more than once; the last chunk with it is used (further files come first)");
        warnings.extend(self.duplicates.iter().take(MAX_NAMED).map(twice));
        if let Some(more) = self.duplicates.len().checked_sub(MAX_NAMED).filter(|n| *n > 0) {
            warnings.push(format!("{more} more ids occur more than once"));
        }
        self.known = files.into_iter().collect();
        self.had_manifest = manifest.is_some();
        let (generation, indexed_at) = manifest.map_or((None, None), |m| (Some(m.generation), m.indexed_at));
        Ok(Loaded { set, generation, indexed_at, warnings, n_parsed })
    }

    /// Looks at the files once. It reads the manifest before the files, since a writer writes it after them.
    fn look(&self, cancel: &Cancel) -> Result<Look, LoadError> {
        let unreadable = |source| LoadError::Manifest { source };
        let manifest = Manifest::read(&self.layout).map_err(unreadable)?;
        let files = match &manifest {
            Some(manifest) => self.read_blocks(manifest, cancel)?,
            None => None,
        };
        let files = match files {
            Some(files) => files,
            None => self.read_all(cancel, manifest.as_ref(), false)?,
        };
        if manifest.as_ref().is_some_and(|m| matches(m, &files)) {
            return Ok(Look::Consistent(files, manifest));
        }
        // A writer that died between its renames left a complete set: the `.next` files are those that it did not rename.
        if let Some(next) = Manifest::read_next(&self.layout).map_err(unreadable)? {
            let rolled = self.read_all(cancel, Some(&next), true)?;
            if matches(&next, &rolled) {
                return Ok(Look::Consistent(rolled, Some(next)));
            }
        }
        match manifest {
            Some(manifest) => Ok(Look::Torn(files, manifest)),
            // The first manifest appeared while the files were read, so they may be older than it.
            None if Manifest::read(&self.layout).map_err(unreadable)?.is_some() => self.look(cancel),
            None if self.layout.has(MANIFEST) => Ok(Look::Senseless(files)),
            None => Ok(Look::Consistent(files, None)),
        }
    }

    /// Reads the new blocks of files that match the manifest. Returns `None` if the manifest states no blocks or anything differs from it: then the
    /// caller reads the files whole and compares them.
    fn read_blocks(&self, manifest: &Manifest, cancel: &Cancel) -> Result<Option<RawFiles>, LoadError> {
        let written = self.layout.stat(MANIFEST).ok().flatten().map(|stat| stat.modified);
        let read = |t: ChunkType| -> Result<Option<Option<(Which, Raw)>>, LoadError> {
            if cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let name = manifest.chunk_name(t);
            Ok(match manifest.entry(t) {
                Some(entry) => self.read_blocks_of(&name, t, entry, manifest.blocks(t), written).map(|raw| Some((Which::Of(t), raw))),
                None => (!self.layout.has(&self.layout.chunk_name_found(t))).then_some(None),
            })
        };
        let read: Result<Vec<_>, _> = ChunkType::ALL.into_par_iter().map(read).collect();
        Ok(read?.into_iter().collect::<Option<Vec<_>>>().map(|files| files.into_iter().flatten().collect()))
    }

    fn read_blocks_of(&self, name: &str, t: ChunkType, entry: &FileEntry, blocks: &[Block], written: Option<SystemTime>) -> Option<Raw> {
        let mut file = self.layout.open_file(name).ok()?;
        let metadata = Stat::of(&file).ok()?;
        let stamp = stamp(&metadata);
        let known = self.known.get(&Which::Of(t));
        if let Some(known) = known.filter(|k| k.stamp.is_some() && k.stamp == stamp && k.entry == *entry) {
            return Some(Raw::Known(known.clone()));
        }
        if blocks.is_empty() {
            // The file has no chunks, or an older version without blocks wrote the manifest.
            return self.read_file(name, &Which::Of(t)).ok()?.filter(|raw| raw.entry() == entry);
        }
        if metadata.bytes != entry.bytes {
            return None;
        }
        // The writer renames the manifest last, so another program may have changed a file that is younger.
        let is_older = metadata.modified < written?;
        if !is_older && FileEntry::of_file(&mut file).ok()? != *entry {
            return None;
        }
        let known: FxHashMap<&str, &LoadedBlock> = match known.map(|k| &k.content) {
            Some(FileContent::Blocks(blocks)) => blocks.iter().map(|b| (&*b.block.hash, b)).collect(),
            _ => FxHashMap::default(),
        };
        let mut start = match Packing::of(name) {
            Packing::Plain => {
                let in_blocks: u64 = blocks.iter().map(|b| u64::from(b.bytes)).sum();
                entry.bytes.checked_sub(in_blocks + CLOSE.len() as u64)?
            }
            Packing::Zstd => {
                let mut header = vec![0; MAX_HEADER_BYTES.min(usize::try_from(entry.bytes).unwrap_or(MAX_HEADER_BYTES))];
                file.read_exact_at(&mut header, 0).ok()?;
                frame_length(&header)? as u64
            }
        };
        let (mut starts, mut n_unpacked) = (Vec::with_capacity(blocks.len()), 0);
        for block in blocks {
            starts.push((start, block));
            start += u64::from(block.bytes_in_file());
            n_unpacked += u64::from(block.bytes);
            // A manifest from a cloned repository may state anything.
            if start > entry.bytes || !may_unpack_to(entry.bytes, n_unpacked) {
                return None;
            }
        }
        let read = |(start, block): (u64, &Block)| {
            if let Some(known) = known.get(&*block.hash) {
                return Some((start, RawBlock::Known(block.clone(), (*known).clone())));
            }
            let mut bytes = vec![0; block.bytes_in_file() as usize];
            file.read_exact_at(&mut bytes, start).ok()?;
            if block.packed > 0 {
                bytes = unpack_frame(&bytes, block.bytes as usize)?;
            }
            block.is(&bytes).then(|| (start, RawBlock::New(block.clone(), bytes)))
        };
        let blocks = starts.into_par_iter().map(read).collect::<Option<Vec<_>>>()?;
        Some(Raw::Blocks { stamp, entry: entry.clone(), file: HeldFile::new(file), blocks })
    }

    /// Reads whole files. If `is_next`, the manifest is the `.next` one, and a file that does not match it is read under its `.next` name.
    fn read_all(&self, cancel: &Cancel, manifest: Option<&Manifest>, is_next: bool) -> Result<RawFiles, LoadError> {
        let read = |t: ChunkType| -> Result<Option<(Which, Raw)>, LoadError> {
            if cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let name = manifest.map_or_else(|| self.layout.chunk_name_found(t), |m| m.chunk_name(t));
            let file = self.read_file(&name, &Which::Of(t));
            let wanted = manifest.filter(|_| is_next).and_then(|m| m.entry(t));
            if let Some(wanted) = wanted
                && !file.as_ref().is_ok_and(|f| f.as_ref().is_some_and(|f| f.entry() == wanted))
            {
                return Ok(self.read_file(&next_name(&name), &Which::Of(t))?.map(|f| (Which::Of(t), f)));
            }
            Ok(file?.map(|f| (Which::Of(t), f)))
        };
        let read: Result<Vec<_>, _> = ChunkType::ALL.into_par_iter().map(read).collect();
        Ok(read?.into_iter().flatten().collect())
    }

    /// Reads the further files of other programs, within the limits. If one cannot be read, the others are served all the same.
    fn read_others(&self, cancel: &Cancel) -> Result<RawFiles, LoadError> {
        let mut room = MAX_FOREIGN_BYTES;
        let read = |(at, name): (usize, String)| {
            if cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let (path, which) = (in_chunks(&name), Which::other(&name));
            let n_bytes = self.layout.stat(&path).ok().flatten().map_or(0, |stat| Packing::of(&path).most_bytes(stat.bytes));
            let left = room.checked_sub(n_bytes).filter(|_| at < MAX_FILES);
            let file = match left {
                Some(left) => {
                    room = left;
                    self.read_file(&path, &which)
                }
                None => Err(ChunkFileError::Read {
                    source: io::Error::other(format!(
                        "{}: beside an index at most {MAX_FILES} files of other programs are read, of {} MB together",
                        self.layout.full(&path).display(),
                        MAX_FOREIGN_BYTES >> 20
                    )),
                }),
            };
            let file = file.unwrap_or_else(|e| Some(Raw::Known(Arc::new(self.unusable(&which, &e)))));
            Ok(file.map(|file| (which, file)))
        };
        self.layout.other_chunk_files().into_iter().enumerate().map(read).filter_map(Result::transpose).collect()
    }

    /// Describes a further file that cannot be used. The content that was read from it before stays.
    fn unusable(&self, which: &Which, e: &ChunkFileError) -> LoadedFile {
        let (known, e) = (self.known.get(which), e.of_others());
        let (content, entry) = match known {
            Some(known) => (known.content.clone(), known.entry.clone()),
            None => (FileContent::Parsed(Arc::default()), FileEntry::of(&[])),
        };
        let served = if content.entries().next().is_some() { "what was read of it before is served" } else { "it is not served" };
        LoadedFile { stamp: None, entry, content, warning: Some(format!("{e}; {served}; repair or remove the file")) }
    }

    fn read_file(&self, name: &str, which: &Which) -> Result<Option<Raw>, ChunkFileError> {
        let path = self.layout.full(name);
        let unreadable = |source| ChunkFileError::Read { source };
        let stamp = match self.layout.stat(name) {
            Ok(Some(stat)) => stamp(&stat),
            Ok(None) => return Ok(None),
            Err(e) => return Err(unreadable(e)),
        };
        let known = self.known.get(which);
        if let Some(known) = known
            && stamp.is_some()
            && known.stamp == stamp
        {
            return Ok(Some(Raw::Known(known.clone())));
        }
        let bytes = match self.layout.read(name, MAX_FOREIGN_BYTES) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(unreadable)?,
        };
        let entry = FileEntry::of(&bytes);
        if let Some(known) = known.filter(|k| k.entry == entry) {
            let LoadedFile { content, warning, .. } = &**known;
            let again = LoadedFile { stamp, entry, content: content.clone(), warning: warning.clone() };
            return Ok(Some(Raw::Known(Arc::new(again))));
        }
        Ok(Some(Raw::New { path, stamp, entry, bytes }))
    }

    fn parse(&self, raw: Raw, which: &Which) -> Result<Arc<LoadedFile>, ChunkFileError> {
        let file_type = which.chunk_type();
        let (path, stamp, entry, bytes) = match raw {
            Raw::Known(file) => return Ok(file),
            Raw::Blocks { stamp, entry, file, blocks } => {
                let load = |(start, raw)| load_block(raw, file_type, &file, start);
                let malformed = || ChunkFileError::Malformed {
                    path: self.layout.full(&self.layout.chunk_name_found(file_type)),
                    line: 1,
                    column: 1,
                    message: "its manifest states it, but it holds something else than chunks".into(),
                };
                let blocks = blocks.into_par_iter().map(load).collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
                let as_before = match self.known.get(which).map(|k| &k.content) {
                    Some(FileContent::Blocks(before)) if before.iter().eq(&blocks) => Some(before.clone()),
                    _ => None,
                };
                let content = FileContent::Blocks(as_before.unwrap_or_else(|| Arc::new(blocks)));
                return Ok(Arc::new(LoadedFile { stamp, entry, content, warning: None }));
            }
            Raw::New { path, stamp, entry, bytes } => (path, stamp, entry, bytes),
        };
        let before = match self.known.get(which).map(|k| &k.content) {
            Some(FileContent::Parsed(parsed)) => Some(&**parsed),
            _ => None,
        };
        let bytes = match Packing::of(&path.to_string_lossy()) {
            Packing::Plain => bytes,
            Packing::Zstd => unpack(&bytes).map_err(|e| ChunkFileError::Malformed {
                path: path.clone(),
                line: 1,
                column: 1,
                message: format!("it cannot be unpacked: {e}"),
            })?,
        };
        let is_ours = |header: &Header, n| header.embedder == self.embedder && n == self.dimensions;
        let mut content = parse_chunk_file(&path, &bytes, file_type, before, is_ours)?;
        let mut warning = self.warning(&path, &content);
        if which.is_other() && content.header.as_ref().is_some_and(|h| h.generator.starts_with(GENERATOR)) {
            // This is a copy of a file of ours, and its content may be outdated.
            let copy = "Cortex wrote this chunk file under another name, so it is not served; remove it";
            (content, warning) = (ParsedFile::default(), Some(format!("{}: {copy}", path.display())));
        }
        Ok(Arc::new(LoadedFile { stamp, entry, content: FileContent::Parsed(Arc::new(content)), warning }))
    }

    /// Returns a warning if the file has inline vectors that do not count. The warning names their embedder.
    fn warning(&self, path: &std::path::Path, content: &ParsedFile) -> Option<String> {
        let n = content.dimensions.filter(|_| !content.keeps_vectors)?;
        let whose = match content.header.as_ref().map_or("", |h| &h.embedder) {
            "" => "an unnamed embedder".into(),
            own if own == self.embedder => format!("{n} numbers, not {},", self.dimensions),
            other => other.to_string(),
        };
        let (n_ignored, embedder) = (content.n_vectors(), &self.embedder);
        Some(format!("{}: {n_ignored} inline vectors of {whose} are ignored and made anew by {embedder}", path.display()))
    }
}

/// Two blocks are equal if they share the same lines in memory.
impl PartialEq for LoadedBlock {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.lines, &other.lines)
    }
}

const SAVED: &str = "chunks.bin";
/// The lines of chunks from other programs, and their vectors.
const KEPT_LINES: &str = "kept-lines.bin";
const KEPT_VECTORS: &str = "kept-vectors.bin";

/// A chunk file in its saved form.
#[derive(Encode, Decode)]
struct SavedChunkFile {
    which: Which,
    entry: FileEntry,
    content: SavedFileContent,
}

#[derive(Encode, Decode)]
enum SavedFileContent {
    Blocks(Vec<SavedBlock>),
    Kept(Box<SavedForeignFile>),
}

#[derive(Encode, Decode)]
struct SavedBlock {
    start: u64,
    block: Block,
    lines: Vec<SavedLine>,
}

/// The saved content of another program's file.
#[derive(Encode, Decode)]
struct SavedForeignFile {
    stamp: Option<Stamp>,
    warning: Option<String>,
    header: Option<Header>,
    dimensions: Option<usize>,
    keeps_vectors: bool,
    sources: Vec<Source>,
    /// The type of each line.
    types: Vec<ChunkType>,
    lines: Vec<SavedLine>,
    rows: Vec<VectorRow>,
}

#[derive(Encode, Decode)]
struct SavedLine {
    id: ChunkId,
    /// Index into the saved paths.
    path: Option<u32>,
    /// Index into the saved languages.
    language: Option<u32>,
    hash: Fingerprint,
    start: u32,
    end: u32,
}

#[derive(Default, Encode, Decode)]
struct SavedChunkFiles {
    had_manifest: bool,
    paths: Vec<Arc<str>>,
    languages: Vec<Arc<str>>,
    files: Vec<SavedChunkFile>,
}

/// Distinct texts with their positions.
#[derive(Default)]
struct Positions(FxHashMap<Arc<str>, u32>, Vec<Arc<str>>);

impl Positions {
    fn of(&mut self, text: &Arc<str>) -> u32 {
        *self.0.entry(text.clone()).or_insert_with(|| {
            self.1.push(text.clone());
            u32::try_from(self.1.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// The texts that many saved lines share.
#[derive(Default)]
struct Shared {
    paths: Positions,
    languages: Positions,
}

impl Shared {
    /// Returns the line of a chunk in its saved form; `None` for a chunk whose text is only in memory.
    fn save(&mut self, entry: &Entry, at: Option<Range<u32>>) -> Option<SavedLine> {
        let (hash, place) = entry.line()?;
        let at = at.unwrap_or(place);
        let (path, language) = (entry.file_path.as_ref().map(|p| self.paths.of(p)), entry.language.as_ref().map(|l| self.languages.of(l)));
        Some(SavedLine { id: entry.id.clone(), path, language, hash, start: at.start, end: at.end })
    }
}

/// The shared texts, read again.
struct SharedTexts {
    paths: Vec<Arc<str>>,
    languages: Vec<Arc<str>>,
}

impl SharedTexts {
    fn entry(&self, line: SavedLine, chunk_type: ChunkType, lines: &Arc<dyn LineStore>) -> Option<Arc<Entry>> {
        let text = |at: Option<u32>, all: &[Arc<str>]| at.map(|at| all.get(at as usize).cloned().ok_or(())).transpose().ok();
        let (path, language) = (text(line.path, &self.paths)?, text(line.language, &self.languages)?);
        let place = (line.hash, lines.clone(), line.start..line.end);
        Some(Arc::new(Entry::of_known_line(line.id, path, chunk_type, language, place)))
    }
}

impl ChunkFiles {
    /// Returns the known files in their saved form, and adds lines and vectors of other programs to `kept`. Returns `None` if ids are duplicated,
    /// or a file holds more than its lines can restore.
    fn to_save(&self, kept: &mut ForeignLines) -> Option<SavedChunkFiles> {
        if !self.duplicates.is_empty() {
            return None;
        }
        let mut shared = Shared::default();
        let mut files = Vec::new();
        for which in in_order(&self.known) {
            let file = &self.known[which];
            let content = match &file.content {
                FileContent::Blocks(blocks) => {
                    SavedFileContent::Blocks(blocks.iter().map(|b| b.to_save(&mut shared)).collect::<Option<_>>()?)
                }
                // This is a file of ours that does not match its manifest.
                FileContent::Parsed(parsed) if self.had_manifest && !which.is_other() && !parsed.entries.is_empty() => return None,
                FileContent::Parsed(parsed) => {
                    let first = kept.rows.len();
                    let line = |entry: &Arc<Entry>| {
                        let line = entry.kept_line()?;
                        entry.kept_vector().map_or(Some(()), |vector| kept.add_vector(&vector))?;
                        let at = kept.add(&[std::str::from_utf8(&line).ok()?])?;
                        shared.save(entry, Some(at))
                    };
                    let lines = parsed.entries.iter().map(line).collect::<Option<_>>()?;
                    SavedFileContent::Kept(Box::new(SavedForeignFile {
                        stamp: file.stamp,
                        warning: file.warning.clone(),
                        header: parsed.header.clone(),
                        dimensions: parsed.dimensions,
                        keeps_vectors: parsed.keeps_vectors,
                        sources: parsed.sources.clone(),
                        types: parsed.entries.iter().map(|e| e.chunk_type).collect(),
                        lines,
                        rows: kept.rows[first..].to_vec(),
                    }))
                }
            };
            files.push(SavedChunkFile { which: which.clone(), entry: file.entry.clone(), content });
        }
        Some(SavedChunkFiles { had_manifest: self.had_manifest, paths: shared.paths.1, languages: shared.languages.1, files })
    }

    fn restore_file(&self, file: SavedChunkFile, shared: &SharedTexts, saved: &dyn SavedFiles) -> Option<LoadedFile> {
        let SavedChunkFile { which, entry, content } = file;
        let chunk_type = which.chunk_type();
        match content {
            SavedFileContent::Blocks(blocks) => {
                let name = match blocks.first() {
                    Some(first) if first.block.packed > 0 => Layout::chunk_name(chunk_type, Packing::Zstd),
                    Some(_) => Layout::chunk_name(chunk_type, Packing::Plain),
                    None => self.layout.chunk_name_found(chunk_type),
                };
                let file = HeldFile::new(self.layout.open_file(&name).ok()?);
                let load = |SavedBlock { start, block, lines: saved_lines }: SavedBlock| {
                    let lines = Arc::new(BlockLines::at(&file, start, &block));
                    let as_lines: Arc<dyn LineStore> = lines.clone();
                    let entries = saved_lines.into_iter().map(|line| shared.entry(line, chunk_type, &as_lines)).collect::<Option<_>>()?;
                    Some(LoadedBlock { block, lines, entries })
                };
                let blocks = blocks.into_par_iter().map(load).collect::<Option<Vec<_>>>()?;
                // The stamp is left out: another file may have the name by now.
                Some(LoadedFile { stamp: None, entry, content: FileContent::Blocks(Arc::new(blocks)), warning: None })
            }
            SavedFileContent::Kept(file) => {
                let SavedForeignFile { stamp, warning, header, dimensions, keeps_vectors, sources, types, lines, rows } = *file;
                let bytes = |name| saved.open(name).map(Bytes::Saved).ok();
                let kept = if lines.is_empty() {
                    ForeignLines::default()
                } else {
                    ForeignLines { text: bytes(KEPT_LINES)?, vectors: bytes(KEPT_VECTORS)?, rows }
                };
                let kept: Arc<dyn LineStore> = Arc::new(kept);
                let entry_of = |(line, t)| shared.entry(line, t, &kept);
                let entries = lines.into_iter().zip(types).map(entry_of).collect::<Option<Vec<_>>>()?;
                let parsed = ParsedFile { header, entries, sources, dimensions, keeps_vectors };
                Some(LoadedFile { stamp, entry, content: FileContent::Parsed(Arc::new(parsed)), warning })
            }
        }
    }
}

impl LoadedBlock {
    fn to_save(&self, shared: &mut Shared) -> Option<SavedBlock> {
        let lines = self.entries.iter().map(|entry| shared.save(entry, None)).collect::<Option<_>>()?;
        let BlockLocation { start, packed, .. } = self.lines.place();
        Some(SavedBlock { start, block: Block { packed, ..self.block.clone() }, lines })
    }
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
        let mut kept = ForeignLines::default();
        let files = self.to_save(&mut kept).ok_or_else(|| io::Error::other("they hold an id twice, or chunks in memory"))?;
        if let (Bytes::Here(lines), Bytes::Here(vectors)) = (&kept.text, &kept.vectors)
            && !lines.is_empty()
        {
            saving.put(KEPT_LINES, lines)?;
            saving.put(KEPT_VECTORS, vectors)?;
        }
        saving.put(SAVED, &bitcode::encode(&files))
    }

    fn restore(&mut self, saved: &dyn SavedFiles) -> Option<Arc<ChunkSet>> {
        let SavedChunkFiles { had_manifest, paths, languages, files } = bitcode::decode(&saved.read(SAVED).ok()?).ok()?;
        let shared = SharedTexts { paths, languages };
        let restore = |file: SavedChunkFile| Some((file.which.clone(), Arc::new(self.restore_file(file, &shared, saved)?)));
        let known = files.into_par_iter().map(restore).collect::<Option<HashMap<_, _>>>()?;
        let entries = in_order(&known).flat_map(|which| known[which].content.entries().cloned());
        self.set = Arc::new(ChunkSet::of_unique(entries.collect()));
        self.known = known;
        self.had_manifest = had_manifest;
        Some(self.set.clone())
    }

    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors> {
        Box::new(VectorCache::read_wanted(&self.layout, &self.embedder, self.dimensions, wanted))
    }
}

/// Turns a raw block into a loaded one, located in the file that holds it now.
fn load_block(raw: RawBlock, file_type: ChunkType, file: &Arc<HeldFile>, start: u64) -> Option<LoadedBlock> {
    match raw {
        RawBlock::Known(block, known) => {
            known.lines.move_to(file, start, &block);
            Some(known)
        }
        RawBlock::New(block, bytes) => {
            let lines = Arc::new(BlockLines::at(file, start, &block));
            let as_lines: Arc<dyn LineStore> = lines.clone();
            let entries = parse_block(&bytes, file_type, &as_lines)?;
            Some(LoadedBlock { block, lines, entries })
        }
    }
}

type RawFiles = Vec<(Which, Raw)>;

/// Returns the files in the order in which their chunks are in the set.
fn in_order(files: &HashMap<Which, Arc<LoadedFile>>) -> impl Iterator<Item = &Which> {
    let mut all: Vec<&Which> = files.keys().collect();
    all.sort();
    all.into_iter()
}

enum Look {
    Consistent(RawFiles, Option<Manifest>),
    Torn(RawFiles, Manifest),
    /// The manifest cannot be understood.
    Senseless(RawFiles),
}

fn matches(manifest: &Manifest, files: &[(Which, Raw)]) -> bool {
    ChunkType::ALL.iter().all(|t| {
        let there = files.iter().find(|(which, _)| *which == Which::Of(*t)).map(|(_, f)| f.entry());
        manifest.entry(*t) == there
    })
}

/// Returns the stamp of a file; `None` if it was written so recently that it could change again under the same time stamp.
fn stamp(stat: &Stat) -> Option<Stamp> {
    let settled = SystemTime::now().duration_since(stat.modified).is_ok_and(|age| age > TIMESTAMP_TICK);
    let modified_ns = stat.modified.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok())?;
    settled.then_some(Stamp { bytes: stat.bytes, modified_ns, inode: stat.id.1 })
}
