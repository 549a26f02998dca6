//! One index run: plan, parse in batches, embed, merge with the old chunk files, publish.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use rayon::prelude::*;

use super::chunker::{chunk_file, chunk_lines};
use super::plan::{Action, IndexPlan, trusted_before};
use super::report::{Progress, Summary};
use crate::chunk::{Cancel, Chunk, ChunkSet, ChunkType, Quantized};
use crate::dir::Dir;
use crate::embed::{EmbedError, Embedder, passage};
use crate::languages;
use crate::secrets::redact_file;
use crate::source::{self, FileChange, LineLimit, Scope, Skip, SourceFile, SourceTree, WalkOptions, sha256};
use crate::store::{
    self, Announcement, ChunkFiles, ChunkLines, ChunkWriter, EmbedLock, Header, Layout, LoadError, LockError, Manifest, Packing,
    SourceEntry, SourceTable, VectorCache, VectorWriter, WriteLock,
};

/// Source that is parsed at once; bounds the memory of a run.
const BATCH_BYTES: u64 = 32 << 20;
const BATCH_FILES: usize = 512;
/// Texts whose vectors are made before they are written, by an embedder that takes its time.
const EMBED_BATCH: usize = 16;
/// Changes when the same source could give other chunks: a hash of the code that makes them.
const CHUNKER_VERSION: &str = env!("CORTEX_CHUNKS");

/// How much is taken from the last run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Unchanged files are not parsed again.
    Incremental,
    /// Every file is parsed; chunk files of other programs are replaced.
    Full,
}

/// Why a run ended without a new generation. What was there is still there.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("the index cannot be written")]
    Write(#[source] io::Error),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("{}: these chunk files were written by another program and stay as they are; `cortex index --full` replaces them", path.display())]
    Foreign { path: PathBuf },
    #[error("the index run was cancelled")]
    Cancelled,
    #[error("the index run ended in a panic; this is a bug of cortex")]
    Panic,
}

impl From<io::Error> for IndexError {
    fn from(e: io::Error) -> Self {
        Self::Write(e)
    }
}

/// Writes the chunk files of one project.
#[derive(Clone)]
pub struct Indexer {
    pub layout: Layout,
    pub walk: WalkOptions,
    pub embedder: Arc<dyn Embedder>,
    /// How chunk files are written.
    pub packing: Packing,
    /// Chunks of deleted files stay, with a mark.
    pub keep_deleted: bool,
    /// How long a run waits for another one.
    pub lock_wait: Duration,
    /// Ends a run early.
    pub cancel: Arc<Cancel>,
    /// Is told which files changed since they were indexed, before the new generation is there.
    pub journal: Option<Arc<Journal>>,
}

/// Keeps what happened to files. A run that fails afterwards tells it again.
pub type Journal = dyn Fn(&[FileChange]) + Send + Sync;

/// The tree, or a part of it, beside the index.
#[derive(Debug)]
pub struct TreeScan {
    /// They differ.
    pub is_stale: bool,
    /// Every directory of that part that is not ignored, relative to the root.
    pub directories: Vec<String>,
}

impl Indexer {
    /// Whether the tree differs from the index. Looks at names, sizes and time stamps, and reads only files whose
    /// stamp cannot be trusted; those that turn out unchanged get their new stamps noted, so as not to be read again.
    /// An index of another program is never stale.
    #[must_use]
    pub fn look(&self, scope: &Scope) -> TreeScan {
        let walked_at_ns = now_ns();
        let walk = || source::walk(self.layout.root(), &self.walk, scope);
        let (SourceTree { files, directories, .. }, table) = rayon::join(walk, || self.valid_table());
        TreeScan { is_stale: self.differs(table, files, scope, walked_at_ns), directories }
    }

    fn differs(&self, table: Option<SourceTable>, files: Vec<SourceFile>, scope: &Scope, walked_at_ns: u64) -> bool {
        if self.layout.is_foreign() {
            return false;
        }
        let is_whole = Manifest::read(&self.layout).is_ok_and(|m| m.is_some_and(|m| m.is_whole(&self.layout)));
        if !is_whole || self.layout.has_strangers() {
            return true;
        }
        let Some(mut table) = table else { return true };
        let plan = IndexPlan::new(self.layout.root(), &table, files, scope, false, self.keeping());
        if !plan.is_empty() {
            return true;
        }
        let stamps = plan.into_kept();
        let is_better = *scope == Scope::All && {
            let (then, now) = (trusted_before(table.walked_at_ns), trusted_before(walked_at_ns));
            stamps.values().any(|e| (then..now).contains(&e.modified_ns))
        };
        if (stamps != table.files || is_better)
            && let Ok(_lock) = WriteLock::acquire(&self.layout, Duration::ZERO)
            && Manifest::read(&self.layout).is_ok_and(|m| m == table.manifest)
        {
            // Failing to note it costs only time.
            table.files = stamps;
            if *scope == Scope::All {
                table.walked_at_ns = walked_at_ns;
            }
            let _ = table.write(&self.layout);
        }
        false
    }

    fn keeping(&self) -> Option<&WalkOptions> {
        Some(&self.walk).filter(|_| self.keep_deleted)
    }

    /// The files of the tree and what is in them, for who needs no chunks of them: where another program writes those, no run looks at the
    /// tree. Only files that changed since the last look are read.
    #[must_use]
    pub fn look_at_sources(&self) -> SourceTable {
        let walked_at_ns = now_ns();
        let before = SourceTable::read(&self.layout).unwrap_or_default();
        let tree = source::walk(self.layout.root(), &self.walk, &Scope::All);
        let skipped = tree.skipped.iter().map(|(path, skip, detail)| (path.clone(), skip.describe(detail.as_deref()))).collect();
        let plan = IndexPlan::new(self.layout.root(), &before, tree.files, &Scope::All, before.rules != self.rules(), None);
        let root = Dir::open(self.layout.root()).ok();
        let look = |(path, action)| match action {
            Action::Keep(entry) => Some((path, entry)),
            Action::Parse(file) => Some((path, self.read(root.as_ref()?, &file)?.0)),
            Action::Retire(_) | Action::Drop => None,
        };
        let files = plan.actions.into_par_iter().filter_map(look).collect();
        // It belongs to no manifest: no run takes it for its own.
        let table = SourceTable { rules: self.rules(), walked_at_ns, skipped, files, ..SourceTable::default() };
        if table != before
            && let Ok(_lock) = WriteLock::acquire(&self.layout, Duration::ZERO)
            && self.layout.is_foreign()
        {
            // Failing to note it costs only time.
            let _ = self.layout.create().and_then(|()| table.write(&self.layout));
        }
        table
    }

    /// The table of the last run, if the chunk files are still that run's.
    fn valid_table(&self) -> Option<SourceTable> {
        let table = SourceTable::read(&self.layout)?;
        let manifest = Manifest::read(&self.layout).ok()??;
        (table.manifest.as_ref() == Some(&manifest) && table.rules == self.rules()).then_some(table)
    }

    /// Everything beside the files themselves that decides what the index holds.
    fn rules(&self) -> String {
        format!(
            "cortex {}, chunker {CHUNKER_VERSION}, max {}, exclude {:?}, embedder {}, {:?}",
            env!("CARGO_PKG_VERSION"),
            self.walk.max_file_bytes,
            self.walk.exclude_patterns,
            self.embedder.id(),
            self.packing
        )
    }

    /// Brings the index up to date, or that part of it that is in scope. (A full run, and one that finds nothing usable,
    /// takes in everything.)
    ///
    /// # Errors
    /// When another process keeps the lock, the disk is full or refuses, the embedder fails, the run is cancelled, or the
    /// chunk files are another program's and the mode is not [`Mode::Full`]. The last generation stays complete.
    pub fn run(&self, mode: Mode, scope: &Scope, progress: &(dyn Fn(Progress) + Sync)) -> Result<Summary, IndexError> {
        let start = Instant::now();
        let lock = WriteLock::acquire(&self.layout, self.lock_wait)?;
        self.layout.create()?;
        let announcement = Announcement::of_run(&self.layout, &lock);
        let progress = &|p: Progress| {
            announcement.progress(p.done, p.total);
            progress(p);
        };
        store::recover(&self.layout, &lock)?;
        match (self.layout.is_foreign(), mode) {
            (true, Mode::Incremental) => return Err(IndexError::Foreign { path: self.layout.chunks_dir() }),
            (true, Mode::Full) => {}
            (false, _) => store::set_others_aside(&self.layout, &lock)?,
        }
        let previous = self.previous(mode);
        let scope = if previous.reparse { &Scope::All } else { scope };
        let walked_at_ns = now_ns();
        let tree = source::walk(self.layout.root(), &self.walk, scope);
        let mut summary = Summary::default();
        let old_skipped = previous.table.skipped.iter().filter(|(path, _)| !scope.contains(path));
        let mut skipped: BTreeMap<String, String> = old_skipped.map(|(path, why)| (path.clone(), why.clone())).collect();
        skipped.extend(tree.skipped.iter().map(|(path, skip, detail)| (path.clone(), skip.describe(detail.as_deref()))));
        let plan = IndexPlan::new(self.layout.root(), &previous.table, tree.files, scope, previous.reparse, self.keeping());
        let mut table = SourceTable {
            manifest: None,
            rules: self.rules(),
            // Files out of scope were looked at then, not now.
            walked_at_ns: if *scope == Scope::All { walked_at_ns } else { previous.table.walked_at_ns },
            indexed_at: Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
            skipped,
            files: BTreeMap::new(),
        };
        let manifest = match &previous.manifest {
            Some(manifest) if plan.is_empty() && !previous.reparse => {
                table.files = plan.into_kept();
                manifest.clone()
            }
            _ => self.write(&lock, &previous, plan, &mut table, &mut summary, progress)?,
        };
        summary.generation = manifest.generation;
        summary.skipped = table.n_skipped();
        summary.skipped_files = table.all_skipped().map(|(path, reason)| (path.to_string(), reason.to_string())).collect();
        for entry in table.files.values() {
            summary.n_files += usize::from(!entry.deleted && entry.n_chunks.iter().any(|n| *n > 0));
            for (t, n) in ChunkType::ALL.iter().zip(entry.n_chunks) {
                *summary.chunks.entry(t.as_str()).or_default() += n as usize;
            }
        }
        self.compact_vectors(&lock, &manifest, summary.n_chunks())?;
        table.manifest = Some(manifest);
        table.write(&self.layout)?;
        store::remove_unused_vectors(&self.layout, &lock, self.embedder.id());
        summary.skipped_files.sort();
        summary.ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(summary)
    }

    fn previous(&self, mode: Mode) -> Previous {
        let manifest = Manifest::read(&self.layout).ok().flatten();
        let intact = manifest.as_ref().is_some_and(|m| m.is_intact(&self.layout));
        if !intact {
            // Torn, damaged or foreign: nothing of it can be copied. The generation goes on counting.
            let manifest = manifest.map(|m| Manifest { files: BTreeMap::new(), ..m });
            let replaces_others = mode == Mode::Full && self.layout.is_foreign();
            return Previous { manifest, table: SourceTable::default(), reparse: true, intact, is_known: false, replaces_others };
        }
        match self.valid_table() {
            Some(table) => Previous { manifest, table, reparse: mode == Mode::Full, intact, is_known: true, replaces_others: false },
            // The chunks are ours but the stamps are gone, or the rules changed: parse all, keep the chunks' own stamps.
            None => {
                let table = manifest.as_ref().map(|m| self.table_from_chunks(m)).unwrap_or_default();
                Previous { manifest, table, reparse: true, intact, is_known: false, replaces_others: false }
            }
        }
    }

    /// Which file has how many lines in which chunk file, read from the chunk files themselves.
    fn table_from_chunks(&self, manifest: &Manifest) -> SourceTable {
        let mut table = SourceTable::default();
        for (i, t) in ChunkType::ALL.into_iter().enumerate() {
            let Ok(mut lines) = ChunkLines::open(&self.layout, manifest, t) else { continue };
            while let Ok(Some(line)) = lines.next_line() {
                let path = Chunk::from_json(line, t).ok().and_then(|c| c.metadata.file_path);
                table.files.entry(path.unwrap_or_default()).or_default().n_chunks[i] += 1;
            }
        }
        table
    }

    fn write(
        &self,
        lock: &WriteLock,
        previous: &Previous,
        plan: IndexPlan,
        table: &mut SourceTable,
        summary: &mut Summary,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Manifest, IndexError> {
        let header = Header::ours(self.embedder.id(), self.embedder.dimensions());
        let intact = previous.manifest.as_ref().filter(|_| previous.intact);
        let open = |t| intact.map_or_else(|| Ok(ChunkLines::default()), |m| ChunkLines::open(&self.layout, m, t));
        let mut merge = Merge {
            old: ChunkType::ALL.into_iter().map(open).collect::<io::Result<_>>()?,
            copying: [0; 4],
            new: ChunkWriter::create(&self.layout, lock, &header, self.packing)?,
            now: DateTime::from_timestamp_millis(Utc::now().timestamp_millis()).unwrap_or_default(),
        };
        if previous.replaces_others {
            merge.new.replace_others();
        }
        let mut embed = EmbedStep {
            embedder: &*self.embedder,
            cache: VectorCache::read(&self.layout, self.embedder.id(), self.embedder.dimensions()),
            writer: VectorWriter::append(&self.layout, lock, self.embedder.id(), self.embedder.dimensions())?,
            done: HashSet::new(),
        };
        let total = plan.actions.values().filter(|a| matches!(a, Action::Parse(_))).count();
        let done = AtomicUsize::new(0);
        let root = Dir::open(self.layout.root())?;
        let mut changes = Vec::new();
        progress(Progress { done: 0, total });
        for batch in batches(plan.actions) {
            let parsed: Vec<(String, Action, Option<Parsed>)> = batch
                .into_par_iter()
                .map(|(path, action)| {
                    let Action::Parse(file) = &action else { return (path, action, None) };
                    if self.cancel.load(Ordering::Relaxed) {
                        return (path, action, None);
                    }
                    let parsed = self.parse(&root, file);
                    progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
                    (path, action, parsed)
                })
                .collect();
            if self.cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            if self.embedder.is_immediate() {
                embed.embed(parsed.iter().filter_map(|(_, _, p)| p.as_ref()).flat_map(|p| &p.chunks))?;
            }
            for (path, action, parsed) in parsed {
                let old_n = previous.table.files.get(&path).map_or([0; 4], |e| e.n_chunks);
                match (action, parsed) {
                    (Action::Keep(entry), _) => {
                        merge.copy(old_n)?;
                        table.files.insert(path, entry);
                    }
                    (Action::Parse(_), Some(parsed)) => {
                        summary.n_parsed += 1;
                        summary.parsed_bytes += parsed.entry.bytes;
                        let symbols = merge.replace(old_n, parsed.chunks)?;
                        changes.extend(previous.change(&path, Some(&parsed.entry), symbols));
                        table.files.insert(path, parsed.entry);
                    }
                    (Action::Retire(entry), _) => {
                        summary.n_removed += 1;
                        let symbols = merge.retire(old_n)?;
                        changes.extend(previous.change(&path, None, symbols));
                        table.files.insert(path, entry);
                    }
                    _ => {
                        summary.n_removed += 1;
                        let symbols = merge.replace(old_n, Vec::new())?;
                        changes.extend(previous.change(&path, None, symbols));
                    }
                }
            }
        }
        summary.n_embedded = embed.writer.finish()?;
        merge.finish()?;
        if let Some(journal) = self.journal.as_ref().filter(|_| !changes.is_empty()) {
            journal(&changes);
        }
        let manifest = merge.new.publish(previous.manifest.as_ref(), summary.n_parsed + summary.n_removed)?;
        // The last handle on replaced files: to give their blocks back takes the file system as long as to write the new ones.
        let old = merge.old;
        rayon::spawn(move || drop(old));
        summary.changed = Some(&manifest) != previous.manifest.as_ref();
        Ok(manifest)
    }

    /// Reads one file. Without bytes it cannot be read or is not text, and the entry says why; `None`: it has just gone.
    fn read(&self, root: &Dir, file: &SourceFile) -> Option<(SourceEntry, Option<Vec<u8>>)> {
        let mut entry =
            SourceEntry { bytes: file.bytes, modified_ns: file.modified_ns, changed_ns: file.changed_ns, ..SourceEntry::default() };
        let bytes = match root.read(&file.path, self.walk.max_bytes()) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
            Err(e) => {
                entry.skipped = Some(Skip::Unreadable.describe(Some(&e.to_string())));
                return Some((entry, None));
            }
        };
        entry.sha256 = sha256(&bytes);
        entry.bytes = bytes.len() as u64;
        let lines = match languages::detect(&file.path, "").kind {
            languages::LanguageKind::Document(_) => LineLimit::Prose,
            // Outputs, pictures among them, stand in it as long lines, and are left out later.
            languages::LanguageKind::Notebook => LineLimit::None,
            _ => LineLimit::Code,
        };
        if let Some(skip) = source::check_content(&bytes, lines) {
            entry.skipped = Some(skip.describe(None));
            return Some((entry, None));
        }
        Some((entry, Some(bytes)))
    }

    /// Reads and chunks one file. One that is not for indexing gives no chunks.
    fn parse(&self, root: &Dir, file: &SourceFile) -> Option<Parsed> {
        let (mut entry, bytes) = self.read(root, file)?;
        let Some(bytes) = bytes else { return Some(Parsed { entry, chunks: Vec::new() }) };
        // Invalid UTF-8 (Latin-1 comments) is no reason to lose the file.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // Before anything is made of the text, so that no chunk, vector or index holds a secret.
        let redacted = redact_file(text);
        entry.secrets = redacted.found.into_iter().map(|(line, rule)| (line, rule.to_string())).collect();
        let text = &*redacted.text;
        // A parser that panics on a file is no reason to lose it, or the others.
        let chunks = std::panic::catch_unwind(|| chunk_file(&file.path, text)).unwrap_or_else(|_| chunk_lines(&file.path, text));
        for chunk in &chunks {
            entry.n_chunks[chunk.chunk_type as usize] += 1;
        }
        Some(Parsed { entry, chunks })
    }

    /// Makes the vectors that [`Indexer::run`] left out, because the embedder takes its time, of whatever chunk files are
    /// there; `progress` is called when there are new ones. The write lock is held only while a batch is written. Returns how many were made;
    /// `None`: another process is at it.
    ///
    /// # Errors
    /// When the chunk files cannot be read, the embedder fails, the cache cannot be written, or the run is cancelled. What was
    /// made until then is kept.
    pub fn embed_rest(&self, progress: &dyn Fn(Progress)) -> Result<Option<usize>, IndexError> {
        let (id, dimensions) = (self.embedder.id(), self.embedder.dimensions());
        let Some(_alone) = EmbedLock::try_acquire(&self.layout)? else { return Ok(None) };
        let set = ChunkFiles::new(self.layout.clone(), id, dimensions).load(&self.cancel)?.set;
        let missing = self.without_vectors(&set);
        drop(set);
        let (mut done, total) = (0, missing.len());
        for batch in missing.chunks(EMBED_BATCH) {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            let passages: Vec<_> = batch.iter().map(|c| passage(c)).collect();
            let vectors = self.embedder.embed_passages(&passages)?;
            let lock = WriteLock::acquire(&self.layout, self.lock_wait)?;
            self.layout.create()?;
            let mut writer = VectorWriter::append(&self.layout, &lock, id, dimensions)?;
            for (passage, vector) in passages.iter().zip(&vectors) {
                writer.put(passage.key(), &Quantized::new(vector))?;
            }
            done += writer.finish()?;
            progress(Progress { done, total });
        }
        Ok(Some(done))
    }

    /// The chunks of a set whose vectors are yet to be made, one for each passage.
    #[must_use]
    pub fn without_vectors(&self, set: &ChunkSet) -> Vec<Arc<Chunk>> {
        let cache = VectorCache::read(&self.layout, self.embedder.id(), self.embedder.dimensions());
        let mut seen = HashSet::new();
        let mut is_missing = |c: &Chunk| {
            let key = passage(c).key();
            c.embedding.is_none() && !cache.contains(key) && seen.insert(key)
        };
        set.all().iter().filter_map(|e| e.chunk()).filter(|c| is_missing(c)).collect()
    }

    /// Rewrites the vector cache when most of it belongs to texts that are gone.
    fn compact_vectors(&self, lock: &WriteLock, manifest: &Manifest, n_chunks: usize) -> io::Result<()> {
        const SLACK: usize = 4096;
        let (id, dimensions) = (self.embedder.id(), self.embedder.dimensions());
        let n_records = VectorCache::count_records(&self.layout, id, dimensions);
        let is_worth_it = |n_chunks: usize| n_records >= 2 * n_chunks + SLACK;
        if !is_worth_it(n_chunks) {
            return Ok(());
        }
        // Vectors of other programs' chunks are in the same cache.
        let others = match &*self.layout.other_chunk_files() {
            [] => Arc::default(),
            _ => ChunkFiles::new(self.layout.clone(), id, dimensions).load(&self.cancel).map_err(io::Error::other)?.set,
        };
        if !is_worth_it(n_chunks + others.len()) {
            return Ok(());
        }
        let cache = VectorCache::read(&self.layout, id, dimensions);
        let mut writer = VectorWriter::replace(&self.layout, lock, id, dimensions)?;
        let mut done = HashSet::new();
        let mut keep = |chunk: &Chunk| {
            let key = passage(chunk).key();
            let vector = cache.get(key).filter(|_| done.insert(key));
            vector.map_or(Ok(()), |vector| writer.put(key, &vector))
        };
        for t in ChunkType::ALL {
            let mut lines = ChunkLines::open(&self.layout, manifest, t)?;
            while let Some(line) = lines.next_line()? {
                Chunk::from_json(line, t).map_or(Ok(()), |chunk| keep(&chunk))?;
            }
        }
        others.all().iter().filter_map(|entry| entry.chunk()).try_for_each(|chunk| keep(&chunk))?;
        writer.finish().map(|_| ())
    }
}

fn now_ns() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

struct Previous {
    manifest: Option<Manifest>,
    table: SourceTable,
    /// Nothing is kept unparsed.
    reparse: bool,
    /// The chunk files are those of the manifest, line for line.
    intact: bool,
    /// The table says what each file was.
    is_known: bool,
    /// All chunk files are another program's, and the user wants them replaced.
    replaces_others: bool,
}

impl Previous {
    /// What happened to the content of a file, as far as that is known.
    fn change(&self, path: &str, now: Option<&SourceEntry>, symbols: Vec<String>) -> Option<FileChange> {
        let content = |entry: Option<&SourceEntry>| entry.filter(|e| !e.deleted).map(|e| e.sha256.clone());
        let (before, after) = (content(self.table.files.get(path)), content(now));
        // A file that cannot be read has no hash.
        let is_known = self.is_known && [&before, &after].iter().all(|hash| hash.as_ref().is_none_or(|hash| !hash.is_empty()));
        (is_known && before != after).then(|| FileChange { path: path.to_string(), before, after, symbols })
    }
}

struct Parsed {
    entry: SourceEntry,
    chunks: Vec<Chunk>,
}

/// Cuts the plan into batches of bounded size, in order.
fn batches(actions: BTreeMap<String, Action>) -> Vec<Vec<(String, Action)>> {
    let mut out = vec![Vec::new()];
    let (mut bytes, mut files) = (0, 0);
    for (path, action) in actions {
        if let Action::Parse(file) = &action {
            bytes += file.bytes;
            files += 1;
        }
        // Never empty: it starts with one batch.
        out.last_mut().expect("a batch").push((path, action));
        if bytes >= BATCH_BYTES || files >= BATCH_FILES {
            out.push(Vec::new());
            (bytes, files) = (0, 0);
        }
    }
    out
}

/// Lines that are copied at once, at most.
const COPY_LINES: usize = 1024;

/// Old chunk files in, new chunk files out, file by file in the order of their paths.
struct Merge<'a> {
    /// One for each type, each at the first chunk of the file whose turn it is, but for what is to be copied.
    old: Vec<ChunkLines>,
    /// Lines of each type that are to be copied next.
    copying: [usize; 4],
    new: ChunkWriter<'a>,
    now: DateTime<Utc>,
}

impl Merge<'_> {
    /// Copies the chunks of an unchanged file.
    fn copy(&mut self, n_chunks: [u32; 4]) -> io::Result<()> {
        for (i, n) in n_chunks.into_iter().enumerate() {
            self.copying[i] += n as usize;
            if self.copying[i] >= COPY_LINES {
                self.copy_now(i)?;
            }
        }
        Ok(())
    }

    fn copy_now(&mut self, i: usize) -> io::Result<()> {
        let (lines, _) = self.old[i].next_lines(std::mem::take(&mut self.copying[i]))?;
        self.new.put_lines(ChunkType::ALL[i], lines)
    }

    /// Everything is in the new files.
    fn finish(&mut self) -> io::Result<()> {
        (0..self.old.len()).try_for_each(|i| self.copy_now(i))
    }

    /// Writes the chunks of a file that is gone, marked. Returns their symbols.
    fn retire(&mut self, old_n: [u32; 4]) -> io::Result<Vec<String>> {
        let mut symbols = BTreeSet::new();
        for (i, t) in ChunkType::ALL.into_iter().enumerate() {
            self.copy_now(i)?;
            for _ in 0..old_n[i] {
                if let Some(line) = self.old[i].next_line()?
                    && let Ok(mut chunk) = Chunk::from_json(line, t)
                {
                    chunk.metadata.mark_deleted();
                    chunk.updated_at = self.now;
                    self.new.put(t, &chunk.to_json())?;
                    symbols.extend(chunk.metadata.symbol);
                }
            }
        }
        Ok(symbols.into_iter().collect())
    }

    /// Writes the new chunks of a file; those whose content did not change keep their time stamps. Returns the symbols of those
    /// that did, or are new or gone.
    fn replace(&mut self, old_n: [u32; 4], chunks: Vec<Chunk>) -> io::Result<Vec<String>> {
        let mut old: HashMap<String, Chunk> = HashMap::new();
        for (i, t) in ChunkType::ALL.into_iter().enumerate() {
            self.copy_now(i)?;
            for _ in 0..old_n[i] {
                if let Some(line) = self.old[i].next_line()?
                    && let Ok(chunk) = Chunk::from_json(line, t)
                {
                    old.insert(chunk.id.to_string(), chunk);
                }
            }
        }
        let mut symbols = BTreeSet::new();
        for mut chunk in chunks {
            let before = old.remove(&*chunk.id);
            if before.as_ref().is_none_or(|before| before.text != chunk.text) {
                symbols.extend(chunk.metadata.symbol.clone());
            }
            (chunk.created_at, chunk.updated_at) = match before {
                Some(before) if before.content() == chunk.content() => (before.created_at, before.updated_at),
                Some(before) => (before.created_at, self.now),
                None => (self.now, self.now),
            };
            self.new.put(chunk.chunk_type, &chunk.to_json())?;
        }
        symbols.extend(old.into_values().filter_map(|chunk| chunk.metadata.symbol));
        Ok(symbols.into_iter().collect())
    }
}

/// Embeds what the cache does not hold yet.
struct EmbedStep<'a> {
    embedder: &'a dyn Embedder,
    cache: VectorCache,
    writer: VectorWriter,
    done: HashSet<store::VectorKey>,
}

impl EmbedStep<'_> {
    fn embed<'c>(&mut self, chunks: impl Iterator<Item = &'c Chunk>) -> Result<(), IndexError> {
        let (mut keys, mut passages) = (Vec::new(), Vec::new());
        for passage in chunks.map(passage) {
            let key = passage.key();
            if !self.cache.contains(key) && self.done.insert(key) {
                keys.push(key);
                passages.push(passage);
            }
        }
        for (key, vector) in keys.iter().zip(self.embedder.embed_passages(&passages)?) {
            self.writer.put(*key, &Quantized::new(&vector))?;
        }
        Ok(())
    }
}
