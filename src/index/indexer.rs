//! An index run: plans, parses in batches, embeds, merges with the old chunk files, publishes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Utc};
use rayon::prelude::*;

use super::checked;
use super::history::{self, HistoryUpdate, Reading};
use super::parsed::{CHUNKER_VERSION, MadeBy, Parsed, Store, parsed};
use super::plan::{Action, IndexPlan};
use super::relating::{RelationsRun, RelationsSink};
use super::report::{Progress, Summary};
use crate::archives::{Archive, Archives, Wanted};
use crate::chunk::{Cancel, Chunk, ChunkSet, ChunkType, CountByType, Quantized};
use crate::dir::{Dir, MachineWatch, Stat};
use crate::embed::{EmbedError, Embedder, passage};
use crate::known::KnownStore;
use crate::source::{self, FileChange, Scope, Skip, SourceFile, SourceTree, WalkOptions, sha256};
use crate::store::{
    self, Announcement, ChunkFiles, ChunkLines, ChunkTimes, ChunkWriter, EmbedLock, Header, Layout,
    LoadError, LockError, Manifest, NewFilters, Packing, SourceEntry, SourceTable, VectorCache,
    VectorWriter, WriteLock, trusted_before,
};

/// Most source that is parsed at once (bytes and files), to bound the memory of a run.
const BATCH_BYTES: u64 = 32 << 20;
const BATCH_FILES: usize = 512;
/// Number of passages that a slow embedder embeds before their vectors are written.
const EMBED_BATCH: usize = 16;
/// Chunk files of more source than this are packed, which saves three quarters of their bytes. A
/// smaller index stays readable by every program.
const LARGE_BYTES: u64 = 64 << 20;

/// How much of the last run is reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Unchanged files are not parsed again.
    Incremental,
    /// Every file is parsed; chunk files of other programs are replaced.
    Full,
}

/// Why a run ended without a new generation. The previous generation is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("the index cannot be written")]
    Write(#[source] io::Error),
    #[error("the files cannot be read, so the index stays as it was")]
    Read(#[source] io::Error),
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
    /// The packing of chunk files. `None`: that of the existing index; a new one is packed if its
    /// sources have more than 64 MB.
    pub packing: Option<Packing>,
    /// Whether the chunks of deleted files stay, with a mark.
    pub keep_deleted: bool,
    /// Whether messages of commits are indexed.
    pub history: bool,
    /// How long a run waits for the write lock.
    pub lock_wait: Duration,
    /// Cancels a run when it is set.
    pub cancel: Arc<Cancel>,
    /// Receives the files that changed since they were indexed, before the new
    /// generation is published.
    pub journal: Option<Arc<Journal>>,
    /// Receives the relations of the files that a run parses.
    pub relations: Option<Arc<dyn RelationsSink>>,
    /// Holds what this user's runs found out about files, by their content.
    pub known: Option<KnownStore>,
    /// Where a project without an index finds one to begin with.
    pub archives: Option<Archives>,
}

/// Records changes of files. If a run fails after the call, the next one reports them again.
pub type Journal = dyn Fn(&[FileChange]) + Send + Sync;

/// The difference between the tree, or a part of it, and the index.
#[derive(Debug)]
pub struct TreeScan {
    /// Whether they differ.
    pub is_stale: bool,
    /// Whether they differ only in their commits.
    pub only_commits: bool,
    /// Every directory of the part that is not ignored, relative to the root.
    pub directories: Vec<String>,
    /// What a run begins with that follows, if files differ from a usable index.
    pub found: Option<Found>,
}

/// The walk and the plan of a look, so that the run after it need not make them again.
#[derive(Debug)]
pub struct Found {
    scope: Scope,
    /// Tells `table` from any other. It was taken before the table was read.
    stamp: Stat,
    table: SourceTable,
    compared: Compared,
}

impl Found {
    /// Whether the plan is that of a run with this scope that holds the write lock now. Each run
    /// replaces the table, so a plan from the table that is still there is as good as one made under
    /// the lock. A file that changed since the walk keeps the stamps of the walk, and the next look
    /// compares its content.
    fn is_of(&self, scope: &Scope, layout: &Layout, _lock: &WriteLock) -> bool {
        self.scope == *scope && SourceTable::stamp(layout) == Some(self.stamp)
    }
}

/// The tree, or a part of it, as a walk found it.
struct Walked {
    machine: MachineWatch,
    at_ns: u64,
    tree: SourceTree,
}

/// A walk, compared with the table of the last run.
#[derive(Debug)]
struct Compared {
    machine: MachineWatch,
    walked_at_ns: u64,
    /// Number of bytes of all files.
    bytes: u64,
    /// The files that are not read: path and reason.
    skipped: BTreeMap<String, String>,
    plan: IndexPlan,
}

impl Indexer {
    /// Compares the tree with the index by names, sizes and time stamps. Reads only files whose
    /// stamps cannot be trusted, and stores the new stamps of unchanged ones. An index of
    /// another program is never stale.
    #[must_use]
    pub fn look(&self, scope: &Scope) -> TreeScan {
        let machine = MachineWatch::begin();
        let stamped = || (SourceTable::stamp(&self.layout), self.valid_table());
        let (mut walked, (stamp, table)) = rayon::join(|| self.walk(scope, machine), stamped);
        let directories = std::mem::take(&mut walked.tree.directories);
        let has_head = table
            .as_ref()
            .map(|table| !history::is_stale(self.head().as_deref(), table.history.as_ref()));
        let (differs, planned) = self.differs(table, walked, scope);
        let only_commits = !differs && has_head == Some(false) && !self.layout.is_foreign();
        let found = planned.zip(stamp).map(|((table, compared), stamp)| Found {
            scope: scope.clone(),
            stamp,
            table,
            compared,
        });
        TreeScan { is_stale: differs || only_commits, only_commits, directories, found }
    }

    /// Whether the files differ; and if they differ from a usable index, its table and how.
    fn differs(
        &self,
        table: Option<SourceTable>,
        walked: Walked,
        scope: &Scope,
    ) -> (bool, Option<(SourceTable, Compared)>) {
        if self.layout.is_foreign() {
            return (false, None);
        }
        let is_whole =
            Manifest::read(&self.layout).is_ok_and(|m| m.is_some_and(|m| m.is_whole(&self.layout)));
        if !is_whole || self.layout.has_strangers() {
            return (true, None);
        }
        let Some(mut table) = table else { return (true, None) };
        let compared = self.compare(walked, &table, scope, false);
        if !compared.plan.is_empty() {
            return (true, Some((table, compared)));
        }
        let Compared { walked_at_ns, plan, .. } = compared;
        let stamps = plan.into_kept();
        let is_better = *scope == Scope::All && {
            let (then, now) = (trusted_before(table.walked_at_ns), trusted_before(walked_at_ns));
            stamps.values().any(|e| (then..now).contains(&e.modified_ns))
        };
        if (stamps != table.files || is_better)
            && let Ok(_lock) = WriteLock::acquire(&self.layout, Duration::ZERO)
            && Manifest::read(&self.layout).is_ok_and(|m| m == table.manifest)
        {
            // A failure costs only time.
            table.files = stamps;
            if *scope == Scope::All {
                table.walked_at_ns = walked_at_ns;
            }
            let _ = table.write(&self.layout);
        }
        (false, None)
    }

    fn walk(&self, scope: &Scope, machine: MachineWatch) -> Walked {
        let at_ns = now_ns();
        Walked { machine, at_ns, tree: source::walk(self.layout.root(), &self.walk, scope) }
    }

    /// Plans what to do with each file of a walk, and with those of the table that it did not find.
    fn compare(&self, walked: Walked, table: &SourceTable, scope: &Scope, full: bool) -> Compared {
        let Walked { machine, at_ns: walked_at_ns, tree } = walked;
        let bytes = tree.files.iter().map(|file| file.bytes).sum();
        let skipped = described(&tree.skipped);
        let root = self.layout.root();
        let plan = IndexPlan::new(root, table, tree.files, scope, full, self.keeping());
        Compared { machine, walked_at_ns, bytes, skipped, plan }
    }

    /// Returns the commit whose history is to be in the index.
    pub(super) fn head(&self) -> Option<String> {
        source::head(self.layout.root()).filter(|_| self.history)
    }

    fn keeping(&self) -> Option<&WalkOptions> {
        Some(&self.walk).filter(|_| self.keep_deleted)
    }

    /// Returns the files of the tree and their hashes, for projects whose chunk files another
    /// program writes. Reads only files that changed since the last look.
    #[must_use]
    pub fn look_at_sources(&self) -> SourceTable {
        let walked_at_ns = now_ns();
        let before = SourceTable::read(&self.layout).unwrap_or_default();
        let tree = source::walk(self.layout.root(), &self.walk, &Scope::All);
        let skipped = described(&tree.skipped);
        let plan = IndexPlan::new(
            self.layout.root(),
            &before,
            tree.files,
            &Scope::All,
            before.rules != self.rules(),
            None,
        );
        let root = Dir::open(self.layout.root()).ok();
        let look = |(path, action)| match action {
            Action::Keep(entry) => Some((path, entry)),
            Action::Parse(file) => Some((path, self.read(root.as_ref()?, &file)?.0)),
            Action::Retire(_) | Action::Drop => None,
        };
        let files = plan.actions.into_par_iter().filter_map(look).collect();
        // The table belongs to no manifest, so no run mistakes it for its own.
        let table = SourceTable {
            rules: self.rules(),
            walked_at_ns,
            skipped,
            files,
            ..SourceTable::default()
        };
        if table != before
            && let Ok(_lock) = WriteLock::acquire(&self.layout, Duration::ZERO)
            && self.layout.is_foreign()
        {
            // A failure costs only time.
            let _ = self.layout.create().and_then(|()| table.write(&self.layout));
        }
        table
    }

    /// Returns the table of the last run, if the chunk files and the rules are still the same.
    fn valid_table(&self) -> Option<SourceTable> {
        let table = SourceTable::read(&self.layout)?;
        let manifest = Manifest::read(&self.layout).ok()??;
        self.is_valid(&table, &manifest).then_some(table)
    }

    fn is_valid(&self, table: &SourceTable, manifest: &Manifest) -> bool {
        table.manifest.as_ref() == Some(manifest) && table.rules == self.rules()
    }

    /// Returns everything besides the files that decides what the index holds.
    #[must_use]
    pub fn rules(&self) -> String {
        format!(
            "cortex {}, chunker {CHUNKER_VERSION}, max {}, exclude {:?}, hidden {}, include {:?}, embedder {}, {:?}",
            env!("CARGO_PKG_VERSION"),
            self.walk.max_file_bytes,
            self.walk.exclude_patterns,
            self.walk.included.hidden,
            self.walk.included.patterns,
            self.embedder.id(),
            self.packing
        )
    }

    /// Brings the index up to date, or the part that is in scope. A full run, or one that finds no
    /// usable index, ignores the scope.
    ///
    /// # Errors
    /// When another process keeps the lock, a file cannot be written, the embedder fails, the run
    /// is cancelled, or another program wrote the chunk files and the mode is not [`Mode::Full`].
    /// The last generation stays complete.
    pub fn run(
        &self,
        mode: Mode,
        scope: &Scope,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary, IndexError> {
        self.run_after(None, mode, scope, progress)
    }

    /// Brings the index up to date after a look. What it `found` is used if nobody wrote the index
    /// since.
    ///
    /// # Errors
    /// Those of [`Indexer::run`].
    pub fn run_after(
        &self,
        found: Option<Found>,
        mode: Mode,
        scope: &Scope,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Summary, IndexError> {
        let start = Instant::now();
        let once = |trusts, found| self.run_once(mode, trusts, scope, progress, found, None);
        let (mut summary, reading) = match once(true, found) {
            // The manifest is wrong about the blocks of the old files, so they cannot be copied.
            Err(IndexError::Write(e)) if e.kind() == io::ErrorKind::InvalidData => {
                once(false, None)?
            }
            done => done?,
        };
        if let Some(reading) = reading {
            // The index is published, and other processes may write while git still lists commits.
            let nothing = Scope::Paths(BTreeSet::new());
            if let Some(late) = reading.finish(&self.cancel) {
                let (mode, late) = (Mode::Incremental, Some(late));
                let (after, _) = self.run_once(mode, true, &nothing, progress, None, late)?;
                summary.generation = after.generation;
            }
        }
        summary.ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(summary)
    }

    /// Runs once, and takes nothing from the old chunk files unless it `trusts` them.
    /// `found` is what a look before the run found.
    /// `late` are the commits that an earlier pass did not wait for; the pass returns those that it
    /// does not wait for itself.
    fn run_once(
        &self,
        mode: Mode,
        trusts: bool,
        scope: &Scope,
        progress: &(dyn Fn(Progress) + Sync),
        found: Option<Found>,
        late: Option<HistoryUpdate>,
    ) -> Result<(Summary, Option<Reading>), IndexError> {
        let machine = MachineWatch::begin();
        let lock = WriteLock::acquire(&self.layout, self.lock_wait)?;
        self.layout.create()?;
        let announcement = Announcement::of_run(&self.layout, &lock);
        let progress = &|p: Progress| {
            announcement.progress(p.done, p.total);
            progress(p);
        };
        store::recover(&self.layout, &lock)?;
        match (self.layout.is_foreign(), mode) {
            (true, Mode::Incremental) => {
                return Err(IndexError::Foreign { path: self.layout.chunks_dir() });
            }
            (true, Mode::Full) => {}
            (false, _) => store::set_others_aside(&self.layout, &lock)?,
        }
        let found = found.filter(|found| found.is_of(scope, &self.layout, &lock));
        let (known, compared) =
            found.map(|Found { table, compared, .. }| (table, compared)).unzip();
        let (previous, downloaded) = self.beginning(mode, trusts, known, &lock);
        let scope = if previous.reparse { &Scope::All } else { scope };
        // A table that was not taken has another plan.
        let compared = compared.filter(|_| previous.is_known && !previous.reparse);
        let Compared { machine, walked_at_ns, bytes, skipped: new_skipped, plan } = compared
            .unwrap_or_else(|| {
                let walked = self.walk(scope, machine);
                self.compare(walked, &previous.table, scope, previous.reparse)
            });
        let packing = self.packing_of(&previous, bytes);
        let mut summary = Summary { downloaded, ..Summary::default() };
        let old_skipped = previous.table.skipped.iter().filter(|(path, _)| !scope.contains(path));
        let mut skipped: BTreeMap<String, String> =
            old_skipped.map(|(path, why)| (path.clone(), why.clone())).collect();
        skipped.extend(new_skipped);
        self.check(machine)?;
        let mut table = SourceTable {
            manifest: None,
            rules: self.rules(),
            // Files out of scope were compared at the earlier time, not now.
            walked_at_ns: if *scope == Scope::All {
                walked_at_ns
            } else {
                previous.table.walked_at_ns
            },
            skipped,
            files: BTreeMap::new(),
            history: None,
            grams: previous.table.grams.clone().filter(|_| !previous.reparse),
        };
        let head = self.head();
        let known = previous.table.history.as_ref().filter(|_| mode != Mode::Full);
        let late = late.filter(|late| late.is_awaited(known));
        let is_current = plan.is_empty()
            && !previous.reparse
            && late.is_none()
            && !history::is_stale(head.as_deref(), known);
        let mut reading = None;
        // It ends when the table of this run is written.
        let mut relating = None;
        let manifest = match &previous.manifest {
            Some(manifest) if is_current => {
                table.files = plan.into_kept();
                table.history = known.cloned();
                manifest.clone()
            }
            _ => {
                let root = self.layout.root().to_path_buf();
                let history = match late {
                    Some(late) => late,
                    None => HistoryUpdate::begin(root, head, known)?,
                };
                let sink = self.relations.as_ref();
                relating = sink.and_then(|sink| sink.begin(plan.n_parsed()));
                let relating = relating.as_deref();
                let work = RunWork { plan, history, packing, relating, mode, machine };
                let (manifest, left) =
                    self.write(&lock, &previous, work, &mut table, &mut summary, progress)?;
                reading = left;
                manifest
            }
        };
        summary.generation = manifest.generation;
        summary.take(&table);
        self.compact_vectors(&lock, &manifest, summary.n_chunks())?;
        table.manifest = Some(manifest);
        table.write(&self.layout)?;
        store::remove_unused_vectors(&self.layout, &lock, self.embedder.id());
        // Others may write chunk files while the rest is received.
        drop((announcement, lock));
        drop(relating);
        Ok((summary, reading))
    }

    fn packing_of(&self, previous: &Previous, bytes: u64) -> Packing {
        let existing = previous.manifest.as_ref().filter(|_| !previous.reparse);
        let by_size = || if bytes > LARGE_BYTES { Packing::Zstd } else { Packing::Plain };
        self.packing.or_else(|| existing?.packing()).unwrap_or_else(by_size)
    }

    /// Returns what an earlier run left here. `known` is its table, if a look has read it.
    fn previous(&self, mode: Mode, trusts: bool, known: Option<SourceTable>) -> Previous {
        let manifest = Manifest::read(&self.layout).ok().flatten();
        let intact = trusts && manifest.as_ref().is_some_and(|m| m.is_intact(&self.layout));
        let nothing = Previous { reparse: true, intact, ..Previous::default() };
        if !intact {
            // Incomplete, damaged or foreign files cannot be copied. The generation continues to
            // count, also when the manifest was lost.
            let manifest = manifest.or_else(|| {
                SourceTable::read(&self.layout)?.manifest.filter(Manifest::is_plausible)
            });
            let manifest = manifest.map(|m| Manifest { files: BTreeMap::new(), ..m });
            let replaces_others = mode == Mode::Full && self.layout.is_foreign();
            let times = ChunkTimes::read(&self.layout);
            return Previous { manifest, replaces_others, times, ..nothing };
        }
        let is_valid = |table: &SourceTable| {
            manifest.as_ref().is_some_and(|manifest| self.is_valid(table, manifest))
        };
        match known.or_else(|| SourceTable::read(&self.layout)).filter(is_valid) {
            Some(table) => {
                let reparse = mode == Mode::Full;
                Previous { manifest, table, reparse, is_known: true, ..nothing }
            }
            // The chunks are ours, but the table is missing or the rules changed: parse all files,
            // and keep the time stamps of unchanged chunks.
            None => {
                let table =
                    manifest.as_ref().map(|m| self.table_from_chunks(m)).unwrap_or_default();
                Previous { manifest, table, ..nothing }
            }
        }
    }

    /// Returns what an earlier run left, here, in another working tree of the repository, or in an
    /// archive; and that archive.
    fn beginning(
        &self,
        mode: Mode,
        trusts: bool,
        known: Option<SourceTable>,
        lock: &WriteLock,
    ) -> (Previous, Option<Archive>) {
        let is_new =
            mode == Mode::Incremental && !self.layout.is_indexed() && !self.layout.is_foreign();
        let is_taken = is_new && !self.layout.is_in_cache() && self.take_worktree(lock);
        let archive = (is_new && !is_taken).then(|| self.take_archive(lock)).flatten();
        let mut previous = self.previous(mode, trusts, known);
        if is_taken || archive.is_some() {
            // No file changed: this is the first look at them, and each is compared by content.
            previous.is_known = false;
            previous.table.files.values_mut().for_each(|file| file.modified_ns = 0);
        }
        (previous, archive)
    }

    /// Begins a project without an index with an archive. What is not true of a file is not taken:
    /// the file is parsed.
    fn take_archive(&self, lock: &WriteLock) -> Option<Archive> {
        let archives = self.archives.as_ref()?;
        let wanted = Wanted { layout: &self.layout, rules: &self.rules() };
        let taken = archives.take(wanted).map_err(|e| e.to_string()).and_then(|found| {
            let Some((aside, archive)) = found else { return Ok(None) };
            checked::check(&aside.layout, self.layout.tree(), wanted.rules, self.walk.max_bytes())
                .and_then(|()| store::take_over(&self.layout, &aside.layout, lock))
                .map_err(|e| format!("{}: {e}", archives.place()))
                .map(|is_taken| {
                    if let Some(relations) = self.relations.as_ref().filter(|_| is_taken) {
                        relations.take_over(&aside.layout, true);
                    }
                    is_taken.then_some(archive)
                })
        });
        match taken {
            Ok(None) => {
                tracing::info!("no index of this project is at {}", archives.place());
                None
            }
            Ok(archive) => archive,
            Err(e) => {
                let e = source::printable(&e);
                tracing::warn!("every file is indexed, because no index could be taken: {e}");
                None
            }
        }
    }

    /// Begins a project without an index with that of another working tree of its repository.
    fn take_worktree(&self, lock: &WriteLock) -> bool {
        for root in source::other_worktrees(self.layout.root()) {
            let Ok(other) = Layout::at(&root) else { continue };
            match store::take_over(&self.layout, &other, lock) {
                Ok(false) => {}
                Ok(true) => {
                    tracing::info!("begun with the index of {}", root.display());
                    if let Some(relations) = &self.relations {
                        relations.take_over(&other, false);
                    }
                    return true;
                }
                Err(e) => tracing::info!("the index of {} is not taken: {e}", root.display()),
            }
        }
        false
    }

    /// Counts the lines of each source file in each chunk file.
    fn table_from_chunks(&self, manifest: &Manifest) -> SourceTable {
        let mut table = SourceTable::default();
        for (i, t) in ChunkType::SEARCHED.into_iter().enumerate() {
            let Ok(mut lines) = ChunkLines::open(&self.layout, manifest, t) else { continue };
            while let Ok(Some(line)) = lines.next_line() {
                let path = Chunk::from_json(line, t).ok().and_then(|c| c.metadata.file_path);
                table.files.entry(path.unwrap_or_default()).or_default().n_chunks[i] += 1;
            }
        }
        table
    }

    fn embed_step<'a>(&'a self, lock: &'a WriteLock) -> io::Result<EmbedStep<'a>> {
        let (id, dimensions) = (self.embedder.id(), self.embedder.dimensions());
        Ok(EmbedStep {
            embedder: &*self.embedder,
            cache: VectorCache::read(&self.layout, id, dimensions),
            writer: VectorWriter::append(&self.layout, lock, id, dimensions)?,
            done: HashSet::new(),
        })
    }

    fn write(
        &self,
        lock: &WriteLock,
        previous: &Previous,
        RunWork { plan, history, packing, relating, mode, machine }: RunWork,
        table: &mut SourceTable,
        summary: &mut Summary,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Manifest, Option<Reading>), IndexError> {
        let header = Header::ours(self.embedder.id(), self.embedder.dimensions());
        let intact = previous.manifest.as_ref().filter(|_| previous.intact);
        let open = |t| {
            intact
                .map_or_else(|| Ok(ChunkLines::default()), |m| ChunkLines::open(&self.layout, m, t))
        };
        let mut merge = Merge {
            old: ChunkType::SEARCHED.into_iter().map(open).collect::<io::Result<_>>()?,
            copying: [0; ChunkType::SEARCHED.len()],
            new: ChunkWriter::create(&self.layout, lock, &header, packing)?,
            now: DateTime::from_timestamp_millis(Utc::now().timestamp_millis()).unwrap_or_default(),
            times: &previous.times,
        };
        if previous.replaces_others {
            merge.new.replace_others();
        }
        let mut embed = self.embed_step(lock)?;
        let root = Dir::open(self.layout.root())?;
        let total = plan.n_parsed();
        let known = self.known.as_ref().filter(|_| total > 0).and_then(KnownStore::open);
        let is_write_only = mode == Mode::Full;
        let store = known.as_ref().map(|known| Store { known, is_write_only });
        let done = AtomicUsize::new(0);
        let parsing = Parsing { root: &root, done, total, progress, relating, store };
        let mut changes = Vec::new();
        let mut filters = NewFilters::default();
        progress(Progress { done: 0, total });
        for batch in batches(plan.actions) {
            let parsed: Vec<(String, Action, Option<Parsed>)> = batch
                .into_par_iter()
                .map(|(path, action)| {
                    let parsed = self.parse_if_changed(&action, &parsing);
                    (path, action, parsed)
                })
                .collect();
            if self.cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            self.check(machine)?;
            if self.embedder.is_immediate() {
                embed.embed(
                    parsed.iter().filter_map(|(_, _, p)| p.as_ref()).flat_map(|p| &p.chunks),
                )?;
            }
            let mut new_values = Vec::new();
            for (path, action, mut parsed) in parsed {
                let is_known = matches!(&parsed, Some(Parsed { made_by: MadeBy::Store, .. }));
                let before = previous.table.files.get(&path);
                if let Some(Parsed { entry, filter, made_by, hand_on, .. }) = &mut parsed {
                    if let MadeBy::Parser(value) = made_by {
                        new_values.extend(value.take());
                    }
                    if let Some(hand_on) = hand_on.take() {
                        hand_on();
                    }
                    entry.count_timeouts(before);
                    filters.add(&entry.sha256, filter);
                }
                let old_n = before.map_or(CountByType::default(), |e| e.n_chunks);
                let entry = parsed.as_ref().map(|p| p.entry.clone());
                let symbols = merge.put(&action, parsed, old_n)?;
                summary.count(&action, entry.as_ref(), is_known);
                if !matches!(action, Action::Keep(_)) {
                    changes.extend(previous.change(&path, entry.as_ref(), symbols));
                }
                let (Action::Keep(kept) | Action::Retire(kept)) = action else {
                    table.files.extend(entry.map(|entry| (path, entry)));
                    continue;
                };
                table.files.insert(path, kept);
            }
            if let Some(known) = &known {
                known.put(&new_values);
            }
        }
        summary.n_embedded = embed.writer.finish()?;
        merge.finish()?;
        let mut old_history = open(ChunkType::History)?;
        let (stamp, reading) = history.write(&mut old_history, &mut merge.new)?;
        table.history = stamp;
        if let Some(journal) = self.journal.as_ref().filter(|_| !changes.is_empty()) {
            journal(&changes);
        }
        let manifest = merge.new.publish(previous.manifest.as_ref(), summary.n_changed())?;
        // A failure costs only time: files without a filter are read.
        let hashes = table.files.values().map(|entry| &*entry.sha256);
        table.grams = filters
            .write(&self.layout, lock, table.grams.as_ref(), hashes)
            .inspect_err(|e| tracing::warn!("searches for lines will read all files: {e}"))
            .unwrap_or_default();
        // The last handles of the replaced files. Freeing their blocks can take as long as writing
        // the new files, so another thread closes them.
        let old = merge.old;
        rayon::spawn(move || drop(old));
        summary.changed = Some(&manifest) != previous.manifest.as_ref();
        Ok((manifest, reading))
    }

    /// Checks that what the run has read so far is the tree.
    fn check(&self, machine: MachineWatch) -> Result<(), IndexError> {
        machine.check(self.layout.root()).map_err(IndexError::Read)
    }

    /// Parses the file of an [`Action::Parse`], unless the run was cancelled.
    fn parse_if_changed(&self, action: &Action, parsing: &Parsing) -> Option<Parsed> {
        let Action::Parse(file) = action else { return None };
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let parsed = self.parse(file, parsing);
        (parsing.progress)(Progress {
            done: parsing.done.fetch_add(1, Ordering::Relaxed) + 1,
            total: parsing.total,
        });
        parsed
    }

    /// Reads one file. Without bytes, it cannot be read or is not text, and the entry says why.
    /// Returns `None` if the file was just removed.
    pub(super) fn read(
        &self,
        root: &Dir,
        file: &SourceFile,
    ) -> Option<(SourceEntry, Option<Vec<u8>>)> {
        let mut entry = SourceEntry {
            bytes: file.bytes,
            modified_ns: file.modified_ns,
            changed_ns: file.changed_ns,
            origin: file.origin,
            ..SourceEntry::default()
        };
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
        if let Some(skip) = checked::check_content(&file.path, &bytes) {
            entry.skipped = Some(skip.describe(None));
            return Some((entry, None));
        }
        Some((entry, Some(bytes)))
    }

    /// Reads and chunks one file. A file that is not for indexing gives no chunks.
    fn parse(&self, file: &SourceFile, parsing: &Parsing) -> Option<Parsed> {
        let (entry, bytes) = self.read(parsing.root, file)?;
        let Some(bytes) = bytes else {
            let made_by = MadeBy::Parser(None);
            return Some(Parsed {
                entry,
                chunks: Vec::new(),
                filter: Vec::new(),
                hand_on: None,
                made_by,
            });
        };
        let relating = parsing.relating.filter(|run| run.wants(&file.path, &entry.sha256));
        Some(parsed(&file.path, &bytes, entry, parsing.store, relating))
    }

    /// Makes the vectors that [`Indexer::run`] left to later because the embedder is slow, for all
    /// chunk files. Calls `progress` after each batch, and holds the write lock only to write one.
    /// Returns their number, or `None` if another process makes them.
    ///
    /// # Errors
    /// When the chunk files cannot be read, the embedder fails, the cache cannot be written, or the
    /// run is cancelled. Vectors of completed batches are kept.
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

    /// Returns the chunks of a set that still need vectors, one for each passage.
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

    /// Rewrites the vector cache if most of it belongs to texts that no longer exist.
    fn compact_vectors(
        &self,
        lock: &WriteLock,
        manifest: &Manifest,
        n_chunks: usize,
    ) -> io::Result<()> {
        const SLACK: usize = 4096;
        let (id, dimensions) = (self.embedder.id(), self.embedder.dimensions());
        let n_records = VectorCache::count_records(&self.layout, id, dimensions);
        let is_worth_it = |n_chunks: usize| n_records >= 2 * n_chunks + SLACK;
        if !is_worth_it(n_chunks) {
            return Ok(());
        }
        // The cache also holds vectors of other programs' chunks.
        let others = match &*self.layout.other_chunk_files() {
            [] => Arc::default(),
            _ => {
                ChunkFiles::new(self.layout.clone(), id, dimensions)
                    .load(&self.cancel)
                    .map_err(io::Error::other)?
                    .set
            }
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
        for t in ChunkType::SEARCHED {
            let mut lines = ChunkLines::open(&self.layout, manifest, t)?;
            while let Some(line) = lines.next_line()? {
                Chunk::from_json(line, t).map_or(Ok(()), |chunk| keep(&chunk))?;
            }
        }
        others.all().iter().filter_map(|entry| entry.chunk()).try_for_each(|chunk| keep(&chunk))?;
        writer.finish().map(|_| ())
    }
}

/// Returns the reasons as people read them, by path.
fn described(skipped: &[(String, Skip, Option<String>)]) -> BTreeMap<String, String> {
    let describe = |(path, skip, detail): &(String, Skip, Option<String>)| {
        (path.clone(), skip.describe(detail.as_deref()))
    };
    skipped.iter().map(describe).collect()
}

fn now_ns() -> u64 {
    source::nanoseconds(SystemTime::now())
}

#[derive(Default)]
struct Previous {
    manifest: Option<Manifest>,
    table: SourceTable,
    /// Whether every file must be parsed.
    reparse: bool,
    /// Whether the chunk files are complete and are those of the manifest.
    intact: bool,
    /// Whether the table has the hash of each file's former content.
    is_known: bool,
    /// Whether another program wrote all chunk files and the user wants them replaced.
    replaces_others: bool,
    /// The time stamps of chunks in files that are not intact.
    times: ChunkTimes,
}

impl Previous {
    /// Returns the change of a file's content; `None` without one, or if a content is unknown.
    fn change(
        &self,
        path: &str,
        now: Option<&SourceEntry>,
        symbols: Vec<String>,
    ) -> Option<FileChange> {
        let content =
            |entry: Option<&SourceEntry>| entry.filter(|e| !e.deleted).map(|e| e.sha256.clone());
        let (before, after) = (content(self.table.files.get(path)), content(now));
        // A file that cannot be read has no hash.
        let is_known = self.is_known
            && [&before, &after]
                .iter()
                .all(|hash| hash.as_ref().is_none_or(|hash| !hash.is_empty()));
        (is_known && before != after).then(|| FileChange {
            path: path.to_string(),
            before,
            after,
            symbols,
        })
    }
}

/// What a run that is not up to date has to do, and how.
struct RunWork<'a> {
    plan: IndexPlan,
    history: HistoryUpdate,
    packing: Packing,
    relating: Option<&'a dyn RelationsRun>,
    mode: Mode,
    machine: MachineWatch,
}

/// The state that all parsing threads share.
struct Parsing<'a> {
    root: &'a Dir,
    done: AtomicUsize,
    total: usize,
    progress: &'a (dyn Fn(Progress) + Sync),
    relating: Option<&'a dyn RelationsRun>,
    store: Option<Store<'a>>,
}

/// Splits the plan into batches of bounded size, in order.
fn batches(actions: BTreeMap<String, Action>) -> Vec<Vec<(String, Action)>> {
    let mut out = vec![Vec::new()];
    let (mut bytes, mut files) = (0, 0);
    for (path, action) in actions {
        if let Action::Parse(file) = &action {
            bytes += file.bytes;
            files += 1;
        }
        // The list starts with one batch, so it is never empty.
        out.last_mut().expect("a batch").push((path, action));
        if bytes >= BATCH_BYTES || files >= BATCH_FILES {
            out.push(Vec::new());
            (bytes, files) = (0, 0);
        }
    }
    out
}

/// Merges old chunk files into new ones, file by file in the order of their paths.
struct Merge<'a> {
    /// The old chunk file of each type, at the first chunk of the current file, apart
    /// from lines still to copy.
    old: Vec<ChunkLines>,
    /// Number of lines of each type that are to be copied next.
    copying: [usize; ChunkType::SEARCHED.len()],
    new: ChunkWriter<'a>,
    now: DateTime<Utc>,
    /// The time stamps of chunks that cannot be copied.
    times: &'a ChunkTimes,
}

impl Merge<'_> {
    /// Writes the chunks of a file by its action; `old_n` has its old lines by type. Returns
    /// the symbols that changed.
    fn put(
        &mut self,
        action: &Action,
        parsed: Option<Parsed>,
        old_n: CountByType,
    ) -> io::Result<Vec<String>> {
        match action {
            Action::Keep(_) => {
                self.copying.iter_mut().zip(old_n).for_each(|(sum, n)| *sum += n as usize);
                Ok(Vec::new())
            }
            Action::Retire(_) => self.retire(old_n),
            Action::Parse(_) | Action::Drop => {
                self.replace(old_n, parsed.map(|p| p.chunks).unwrap_or_default())
            }
        }
    }

    /// Copies the chunks of the unchanged files before this one.
    fn copy_now(&mut self, i: usize) -> io::Result<()> {
        let n = std::mem::take(&mut self.copying[i]);
        self.new.copy(ChunkType::SEARCHED[i], &mut self.old[i], n).map(|_| ())
    }

    /// Copies the remaining lines.
    fn finish(&mut self) -> io::Result<()> {
        (0..self.old.len()).try_for_each(|i| self.copy_now(i))
    }

    /// Returns the old chunks of a file, each with the type of its chunk file, after the chunks of the
    /// files before it were copied.
    fn take_old(&mut self, old_n: CountByType) -> io::Result<Vec<(ChunkType, Chunk)>> {
        let mut chunks = Vec::new();
        for (i, t) in ChunkType::SEARCHED.into_iter().enumerate() {
            self.copy_now(i)?;
            for _ in 0..old_n[i] {
                if let Some(line) = self.old[i].next_line()?
                    && let Ok(chunk) = Chunk::from_json(line, t)
                {
                    chunks.push((t, chunk));
                }
            }
        }
        Ok(chunks)
    }

    /// Writes the chunks of a deleted file with a mark. Returns their symbols.
    fn retire(&mut self, old_n: CountByType) -> io::Result<Vec<String>> {
        let mut symbols = BTreeSet::new();
        for (t, mut chunk) in self.take_old(old_n)? {
            chunk.metadata.mark_deleted();
            chunk.updated_at = self.now;
            self.new.put(t, &chunk.to_json())?;
            symbols.extend(chunk.metadata.symbol);
        }
        Ok(symbols.into_iter().collect())
    }

    /// Writes the new chunks of a file; unchanged ones keep their time stamps. Returns the symbols
    /// of chunks that are new or gone, or whose text changed.
    fn replace(&mut self, old_n: CountByType, chunks: Vec<Chunk>) -> io::Result<Vec<String>> {
        let old = self.take_old(old_n)?.into_iter();
        let mut old: HashMap<String, Chunk> =
            old.map(|(_, chunk)| (chunk.id.to_string(), chunk)).collect();
        let mut symbols = BTreeSet::new();
        for mut chunk in chunks {
            let before = old.remove(&*chunk.id);
            if before.as_ref().is_none_or(|before| before.text != chunk.text) {
                symbols.extend(chunk.metadata.symbol.clone());
            }
            (chunk.created_at, chunk.updated_at) = match before {
                Some(before) if before.content() == chunk.content() => {
                    (before.created_at, before.updated_at)
                }
                Some(before) => (before.created_at, self.now),
                None => self.times.of(&chunk, self.now),
            };
            self.new.put(chunk.chunk_type, &chunk.to_json())?;
        }
        symbols.extend(old.into_values().filter_map(|chunk| chunk.metadata.symbol));
        Ok(symbols.into_iter().collect())
    }
}

/// Embeds the passages that the cache does not hold yet.
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
