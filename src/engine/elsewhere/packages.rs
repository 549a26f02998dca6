//! The indexes of the packages that a project depends on. Each version of a package is indexed once
//! for this user, and all projects share the index.
//!
//! The key of an index is made of the ecosystem, the name, the version and the place of the sources,
//! so a project that brings its own `node_modules` cannot change what another one reads. Settings of
//! the project do not count, only those of the user.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, UNIX_EPOCH};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::chunk::Cancel;
use crate::config::{self, Config};
use crate::deps::{self, Dependency, Ecosystem};
use crate::dir::Dir;
use crate::engine::door::project::{LONG_WAIT, Project, ProjectError};
use crate::engine::door::serving::{AnswerFrom, Engine};
use crate::engine::elsewhere::deps::DependenciesRequest;
use crate::engine::{AskError, Call};
use crate::index::{Indexer, Mode, Progress};
use crate::live::ChunkManager;
use crate::search::Sketch;
use crate::source::{PackageParts, Scope, WalkOptions, sha256};
use crate::store::{ChunkFiles, Layout, PackageRecord, Packing, remove_unused};
use crate::text::chain;

/// The number is that of the form of the key.
const KEY: &str = "package 1";
/// Hexadecimal digits of a key.
const KEY_DIGITS: usize = 32;
/// How often an index run asks whether its time is over.
const POLL: Duration = Duration::from_millis(20);
/// An index that no question used for this long is removed.
pub const UNUSED: Duration = Duration::from_hours(90 * 24);
/// The files of a package that are left out: nobody who uses it reads its tests and benchmarks. The
/// folders `test` and `spec` count only at the top, since they are public in some packages.
const LEFT_OUT: [&str; 14] = [
    "test/**",
    "spec/**",
    "e2e/**",
    "**/tests/**",
    "**/Tests/**",
    "**/__tests__/**",
    "**/testdata/**",
    "**/benches/**",
    "**/benchmarks/**",
    "**/*_test.go",
    "**/*_test.py",
    "**/test_*.py",
    "**/*.{test,spec}.{js,jsx,ts,tsx,mjs,cjs}",
    "**/*_spec.rb",
];

/// Where the indexes of packages are, and the settings that they are made with.
pub(in crate::engine) struct Shelf {
    cache_home: PathBuf,
    config: Config,
    left_out: GlobSet,
}

/// A package whose sources are on this machine.
#[derive(Clone)]
pub(in crate::engine) struct Package {
    pub(in crate::engine) dependency: Dependency,
    root: PathBuf,
    shelf: Arc<Shelf>,
}

/// The packages of a project, and the state of their indexes.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PackagesAnswer {
    /// By ecosystem, name and version.
    pub packages: Vec<PackageRow>,
    /// Number of packages with an index.
    pub n_indexed: usize,
    /// Number of packages that were indexed now.
    pub n_new: usize,
    /// Bytes of all these indexes on disk.
    pub bytes: u64,
    pub ms: u64,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A package and its index.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PackageRow {
    /// `name@version`, as the paths of its files begin.
    pub package: String,
    pub ecosystem: String,
    pub is_direct: bool,
    pub n_files: usize,
    pub n_chunks: usize,
    /// Bytes of the index on disk.
    pub bytes: u64,
    /// Time that the index took now; 0 if it was there.
    pub ms: u64,
    /// Why it has no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Returns the globs of the files that those who use a package do not see, relative to its folder.
pub(in crate::engine) fn left_out() -> Result<GlobSet, AskError> {
    let mut left_out = GlobSetBuilder::new();
    for glob in LEFT_OUT {
        let glob = GlobBuilder::new(glob).literal_separator(true).build();
        left_out.add(glob.map_err(|e| AskError::Failed(e.to_string()))?);
    }
    left_out.build().map_err(|e| AskError::Failed(e.to_string()))
}

impl Shelf {
    /// Returns the shelf of this user.
    pub(in crate::engine) fn open() -> Result<Arc<Self>, AskError> {
        let cache_home = config::cache_home().ok_or_else(|| {
            AskError::Failed(
                "there is no place for the indexes of packages: set XDG_CACHE_HOME or HOME".into(),
            )
        })?;
        let config = Project::user_config().map_err(|e| AskError::Failed(chain(&e)))?;
        Ok(Arc::new(Self { cache_home, config, left_out: left_out()? }))
    }

    /// Returns the package of a dependency.
    ///
    /// # Errors
    /// Why its sources cannot be read.
    pub(in crate::engine) fn package(
        self: &Arc<Self>,
        dependency: Dependency,
    ) -> Result<Package, String> {
        match (&dependency.root, &dependency.archive, &dependency.missing) {
            (Some(root), ..) => Ok(Package { root: root.clone(), dependency, shelf: self.clone() }),
            (None, Some(archive), _) => Err(format!(
                "its sources are packed in {}: unpack them to search them",
                archive.display()
            )),
            (None, None, why) => Err(why.clone().unwrap_or_default()),
        }
    }
}

impl Package {
    /// Returns how the paths of its files begin.
    pub(in crate::engine) fn label(&self) -> String {
        label(&self.dependency)
    }

    fn key(&self) -> String {
        let Dependency { ecosystem, name, version, parts, .. } = &self.dependency;
        let root = self.root.to_string_lossy();
        let said = [KEY, ecosystem.name(), name, version, &root].into_iter();
        // No part of the key holds the separator.
        let said: Vec<&str> = said.chain(parts.iter().map(String::as_str)).collect();
        sha256(said.join("\0").as_bytes())[..KEY_DIGITS].to_string()
    }

    /// Names the index, which is in the user's cache.
    fn layout(&self) -> io::Result<Layout> {
        Layout::at(&self.root)?.of_package(&self.shelf.cache_home, &self.key())
    }

    /// Opens the package as a project.
    fn project(&self) -> Result<Project, ProjectError> {
        let mut project = Project::new(self.layout()?, self.shelf.config.clone());
        project.walk = WalkOptions {
            max_file_bytes: project.walk.max_file_bytes,
            exclude: self.shelf.left_out.clone(),
            exclude_patterns: LEFT_OUT.map(String::from).to_vec(),
            included: crate::source::Included::default(),
            origins: crate::source::OriginSettings::default(),
            package: Some(PackageParts(self.dependency.parts.clone())),
        };
        Ok(project)
    }

    /// Returns what changes when the package is installed again: the times and the inodes of its
    /// folders.
    fn stamp(&self, root: &Dir) -> String {
        let parts = &self.dependency.parts;
        let here = [".".to_string()];
        let folders = if parts.is_empty() { &here[..] } else { parts };
        let stamp = |path: &String| {
            let stat = if path == "." { root.own_stat().ok() } else { root.stat(path).ok()? }?;
            let ns = |time: std::time::SystemTime| {
                time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
            };
            Some(format!("{}.{}.{}", stat.id.1, ns(stat.modified), ns(stat.changed)))
        };
        let stamps: Vec<String> = folders.iter().filter_map(stamp).collect();
        sha256(stamps.join(" ").as_bytes())
    }

    /// Returns the record of the index, if it is complete and belongs to what is installed now.
    pub(in crate::engine) fn record(&self) -> Option<PackageRecord> {
        let project = self.project().ok()?;
        self.record_of(&project)
    }

    fn record_of(&self, project: &Project) -> Option<PackageRecord> {
        let record = PackageRecord::read(&project.layout)?;
        let is_current = record.rules == indexer(project).rules()
            && record.stamp == self.stamp(project.layout.tree())
            && record.name == self.dependency.name
            && record.version == self.dependency.version;
        is_current.then_some(record)
    }

    /// Indexes the package, unless it is indexed. Returns the record, and the time that it took.
    /// `stop` ends the work after the file that is parsed. `wait` is for a process that indexes the
    /// same package.
    fn index(
        &self,
        stop: &Arc<Cancel>,
        wait: Duration,
    ) -> Result<(PackageRecord, Duration), ProjectError> {
        let start = Instant::now();
        let project = self.project()?;
        if let Some(record) = self.record_of(&project) {
            record.used(&project.layout);
            return Ok((record, Duration::ZERO));
        }
        let stamp = self.stamp(project.layout.tree());
        let indexer = Indexer { cancel: stop.clone(), lock_wait: wait, ..indexer(&project) };
        let root = project.layout.root().to_path_buf();
        let summary = indexer
            .run(Mode::Incremental, &Scope::All, &|_: Progress| ())
            .map_err(|source| ProjectError::Index { root, source })?;
        let feeds: Vec<Box<dyn crate::chunk::Feed>> = vec![Box::new(project.chunk_files())];
        let manager = ChunkManager::new(feeds, project.embedder.clone())?;
        manager.reload_feed(ChunkFiles::NAME, stop)?;
        manager.save_feed(ChunkFiles::NAME, 0.0);
        let snapshot = manager.current();
        let words = snapshot.feed(ChunkFiles::NAME).map(|code| Sketch::of(&code.corpus));
        let words = words.transpose().map_err(crate::live::ReloadError::from)?.unwrap_or_default();
        let record = PackageRecord {
            ecosystem: self.dependency.ecosystem.name().into(),
            name: self.dependency.name.clone(),
            version: self.dependency.version.clone(),
            root: self.root.to_string_lossy().into_owned(),
            rules: indexer.rules(),
            stamp,
            description: deps::description(project.layout.tree(), &self.dependency),
            n_files: summary.n_files,
            n_chunks: summary.n_chunks(),
            bytes: project.layout.n_bytes(),
        };
        record.write(&project.layout, &words.bytes())?;
        Ok((record, start.elapsed()))
    }

    /// Reads the words of the index.
    pub(in crate::engine) fn sketch(&self) -> Option<Sketch> {
        Sketch::read(&PackageRecord::read_words(&self.layout().ok()?).ok()?)
    }
}

/// Returns the indexer of a package: of its files alone, without a history or a code graph.
fn indexer(project: &Project) -> Indexer {
    Indexer {
        packing: Some(Packing::Zstd),
        keep_deleted: false,
        history: false,
        ..project.indexer_alone(LONG_WAIT)
    }
}

/// Returns how the paths of the files of a dependency begin.
pub(in crate::engine) fn label(dependency: &Dependency) -> String {
    format!("{}@{}", dependency.name, dependency.version)
}

/// Indexes packages on all cores, in their order, until `deadline` or the end of the call, which also
/// end the work within a package. Calls `tell` after each.
pub(in crate::engine) fn index_all(
    packages: &[Package],
    deadline: Option<Instant>,
    call: &Call,
    tell: &(dyn Fn(Progress) + Sync),
) -> Vec<Option<Result<(PackageRecord, Duration), ProjectError>>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<_>>> = packages.iter().map(|_| Mutex::new(None)).collect();
    let stop = Arc::new(Cancel::new(false));
    let is_over = || deadline.is_some_and(|at| Instant::now() >= at) || call.check().is_err();
    let work = |_working: Sender<()>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(package) = packages.get(at) else { break };
            if is_over() {
                break;
            }
            let wait = deadline.map_or(LONG_WAIT, |at| at.duration_since(Instant::now()));
            let result = package.index(&stop, wait);
            if result.is_err() && stop.load(Ordering::Relaxed) {
                break;
            }
            *results[at].lock() = Some(result);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            tell(Progress { done, total: packages.len() });
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let (working, ended) = channel();
        for _ in 0..n_threads.min(packages.len()) {
            let working = working.clone();
            scope.spawn(|| work(working));
        }
        drop(working);
        while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
            if is_over() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    let results: Vec<_> = results.into_iter().map(Mutex::into_inner).collect();
    let is_new = |result: &Option<Result<(PackageRecord, Duration), ProjectError>>| matches!(result, Some(Ok((_, took))) if !took.is_zero());
    if results.iter().any(is_new)
        && let Some(package) = packages.first()
    {
        let _ = remove_unused(&package.shelf.cache_home, UNUSED);
    }
    results
}

/// Removes the indexes of packages that no question of this user used for `age`. Returns how many
/// these were, and their bytes.
///
/// # Errors
/// When there is no place for such indexes, or it cannot be read.
pub fn remove_packages(age: Duration) -> Result<(usize, u64), AskError> {
    let shelf = Shelf::open()?;
    remove_unused(&shelf.cache_home, age).map_err(|e| AskError::Failed(e.to_string()))
}

impl Project {
    /// Indexes packages that the project depends on, those that a manifest names first. A package
    /// that is indexed is not read again.
    ///
    /// # Errors
    /// When a name is not a valid glob, there is no place for the indexes, or the call was cancelled.
    pub fn index_packages(
        &self,
        request: &DependenciesRequest,
        call: &Call,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<PackagesAnswer, AskError> {
        let start = Instant::now();
        let found = self.dependencies(request, call)?;
        let shelf = Shelf::open()?;
        let mut rows = Vec::new();
        let mut packages = Vec::new();
        for dependency in found.dependencies {
            let row = PackageRow {
                package: label(&dependency),
                ecosystem: dependency.ecosystem.name().into(),
                is_direct: dependency.is_direct,
                ..PackageRow::default()
            };
            let missing = match shelf.package(dependency) {
                Ok(package) => {
                    packages.push((rows.len(), package));
                    None
                }
                Err(why) => Some(why),
            };
            rows.push(PackageRow { missing, ..row });
        }
        packages.sort_by_key(|(_, package)| !package.dependency.is_direct);
        let (places, packages): (Vec<usize>, Vec<Package>) = packages.into_iter().unzip();
        let results = index_all(&packages, None, call, tell);
        call.check()?;
        for (at, result) in places.into_iter().zip(results) {
            match result {
                Some(Ok((record, took))) => {
                    let PackageRecord { n_files, n_chunks, bytes, .. } = record;
                    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                    rows[at] = PackageRow { n_files, n_chunks, bytes, ms, ..rows[at].clone() };
                }
                Some(Err(e)) => rows[at].missing = Some(chain(&e)),
                None => rows[at].missing = Some("not indexed yet".into()),
            }
        }
        let indexed = || rows.iter().filter(|row| row.missing.is_none());
        Ok(PackagesAnswer {
            n_indexed: indexed().count(),
            n_new: indexed().filter(|row| row.ms > 0).count(),
            bytes: indexed().map(|row| row.bytes).sum(),
            ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            warnings: found.warnings,
            packages: rows,
        })
    }
}

/// An address in a package: `serde@1.0.228/src/lib.rs`, with the name of the ecosystem and a colon
/// before it where the packages of two have one name and version.
pub(in crate::engine) struct InPackage {
    /// How the paths of the package begin, as the caller wrote it.
    pub(in crate::engine) label: String,
    /// The rest of the address: a path, lines or a symbol, relative to the folder of the package.
    pub(in crate::engine) below: String,
    pub(in crate::engine) engine: Arc<Engine>,
}

impl InPackage {
    /// Returns a path of the package as the caller of the project reads it.
    pub(in crate::engine) fn outside(&self, path: &str) -> String {
        if path.is_empty() { self.label.clone() } else { format!("{}/{path}", self.label) }
    }
}

/// Whether a text may be an address in a package. It needs no look at the dependencies.
fn may_be_in_package(written: &str) -> bool {
    // `@scope/name@version` has its second `@` after the name.
    let name_and_rest = written.trim_start_matches('@').split_once('@');
    let is_name =
        |name: &str| !name.is_empty() && !name.starts_with(['.', '/']) && !name.ends_with('/');
    name_and_rest.is_some_and(|(name, rest)| is_name(name) && !rest.is_empty())
}

/// Returns the rest of an address that begins with a dependency and its version.
fn below<'w>(dependency: &Dependency, written: &'w str) -> Option<&'w str> {
    let rest = written.strip_prefix(&*dependency.name)?.strip_prefix('@')?;
    let rest = rest.strip_prefix(&*dependency.version)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Splits an address that begins with the name of an ecosystem and a colon.
fn of_ecosystem(written: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = written.split_once(':')?;
    let known = Ecosystem::NAMES.iter().position(|known| *known == name)?;
    Some((Ecosystem::NAMES[known], rest))
}

fn several(written: &str, found: &[Dependency]) -> AskError {
    let mut names: Vec<&str> = found.iter().map(|d| d.ecosystem.name()).collect();
    names.dedup();
    AskError::Arguments(format!(
        "`{written}` may be a package of {}: put the name and a colon before it",
        names.join(" or ")
    ))
}

/// Returns the numbers of a version, which order versions well enough to find the newest.
pub(in crate::engine) fn numbers(version: &str) -> Vec<u64> {
    let digits = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    digits.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

/// Says which versions of a package the project uses, if an address names it with another one.
fn other_version(all: &[Dependency], written: &str) -> Option<AskError> {
    let is_named = |d: &&Dependency| {
        let rest = written.strip_prefix(&*d.name).and_then(|rest| rest.strip_prefix('@'));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v'))
    };
    let versions: Vec<&str> = all.iter().filter(is_named).map(|d| &*d.version).collect();
    let name = &all.iter().find(is_named)?.name;
    let versions = versions.join(" and ");
    Some(AskError::NotFound(format!("`{written}`: this project uses {name} {versions}")))
}

impl Engine {
    /// Opens the package of a name: `serde`, `serde@1.0.228`, `npm:serde`. Of several versions it is
    /// the newest that the project uses. Returns how its paths begin; `None` if the project depends
    /// on no such package.
    ///
    /// # Errors
    /// When packages of several ecosystems have the name, or the sources are not here or cannot be
    /// indexed.
    pub(in crate::engine) fn package_named(
        &self,
        written: &str,
        call: &Call,
    ) -> Result<Option<(String, Arc<Self>)>, AskError> {
        let (ecosystem, name) = match of_ecosystem(written) {
            Some((ecosystem, name)) => (Some(ecosystem), name),
            None => (None, written),
        };
        let mut found =
            self.project.dependencies(&DependenciesRequest::default(), call)?.dependencies;
        found.retain(|d| {
            (d.name == name || label(d) == name)
                && ecosystem.is_none_or(|e| d.ecosystem.name() == e)
        });
        if found.iter().any(|d| d.root.is_some()) {
            found.retain(|d| d.root.is_some());
        }
        let Some(dependency) = found.iter().max_by_key(|d| numbers(&d.version)).cloned() else {
            return Ok(None);
        };
        if found.iter().any(|d| d.ecosystem != dependency.ecosystem) {
            return Err(several(written, &found));
        }
        let label = label(&dependency);
        let package = Shelf::open()?.package(dependency);
        let package = package.map_err(|why| AskError::NotFound(format!("{label}: {why}")))?;
        Ok(Some((label, self.engine_of(&package, call)?)))
    }

    /// Opens the package in which an address lies; `None` if the project depends on no such package.
    ///
    /// # Errors
    /// When several packages fit, or the sources are not here or cannot be indexed.
    pub(in crate::engine) fn in_package(
        &self,
        written: &str,
        call: &Call,
    ) -> Result<Option<InPackage>, AskError> {
        if !may_be_in_package(written) {
            return Ok(None);
        }
        let of_ecosystem = of_ecosystem(written);
        let all = self.project.dependencies(&DependenciesRequest::default(), call)?.dependencies;
        let fits = |d: &Dependency| match of_ecosystem {
            Some((name, rest)) => {
                if d.ecosystem.name() == name {
                    below(d, rest)
                } else {
                    None
                }
            }
            None => below(d, written),
        };
        let mut found: Vec<(Dependency, String)> =
            all.iter().filter_map(|d| Some((d.clone(), fits(d)?.to_string()))).collect();
        if found.len() > 1 && found.iter().any(|(d, _)| d.root.is_some()) {
            found.retain(|(d, _)| d.root.is_some());
        }
        if found.len() > 1 {
            let found: Vec<Dependency> = found.into_iter().map(|(d, _)| d).collect();
            return Err(several(written, &found));
        }
        let Some((dependency, below)) = found.pop() else {
            return other_version(&all, of_ecosystem.map_or(written, |(_, rest)| rest))
                .map_or(Ok(None), Err);
        };
        let label = written[..written.len() - below.len()].trim_end_matches('/').to_string();
        let package = Shelf::open()?.package(dependency);
        let package = package.map_err(|why| AskError::NotFound(format!("{label}: {why}")))?;
        Ok(Some(InPackage { engine: self.engine_of(&package, call)?, below, label }))
    }

    /// Returns the engine of a package, and indexes it if it is not indexed.
    pub(in crate::engine) fn engine_of(
        &self,
        package: &Package,
        call: &Call,
    ) -> Result<Arc<Self>, AskError> {
        let (record, _) = package.index(&call.cancel, LONG_WAIT)?;
        let id = format!("{} {}", package.key(), record.stamp);
        if let Some(engine) = self.packages.get(&id) {
            return Ok(engine);
        }
        let mut project = package.project()?;
        project.front_end = self.project.front_end;
        let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
        let engine = Arc::new(engine);
        self.packages.put(id, engine.clone());
        Ok(engine)
    }
}

impl Call {
    /// Returns the conditions for a question to a package: it has its own generations.
    pub(in crate::engine) fn of_package(&self) -> Self {
        Self { cancel: self.cancel.clone(), in_brief: self.in_brief, ..Self::default() }
    }
}
