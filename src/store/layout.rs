//! Every path below the `.cortex` of a project.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_128;

use super::chunk_file::{is_ours, is_stranger};
use super::packing::{EXTENSION, Packing};
use crate::chunk::ChunkType;
use crate::dir::{
    Dir, FileKind, OpenMode, OwnedDir, PRIVATE_DIR, SHARED_DIR, SHARED_FILE, SharedDir, Stat,
    if_there, own_user,
};
use crate::source;

/// Name of the directory that holds everything that Cortex writes.
const DOT_CORTEX: &str = ".cortex";

const IGNORE: &str = ".gitignore";
/// Files that stay in `.cortex` as long as nobody begins to remove the directory.
const MARKERS: [&str; 3] = [IGNORE, WRITE_LOCK, LEADER_LOCK];

/// Prefix of the names of vector files.
const VECTORS: &str = "vectors-";

/// Content of `.cortex/.gitignore`: keeps derived files and memories out of the user's history.
const GITIGNORE: &str = "# Written by cortex; config.toml is yours to commit.\n/chunks/\n/cache/\n/graph/\n/memory*\n/.unfinished-*\n/*.lock\n/server.json\n/.gitignore\n";
/// Rules for `.git/info/exclude`: they exclude what belongs to this user or to this checkout. A
/// team may commit chunk files and the configuration, so these are not listed.
const EXCLUDE: &[&str] = &[
    "/.cortex/memory*", "/.cortex/cache/", "/.cortex/graph/", "/.cortex/*.lock",
    "/.cortex/server.json", "/.cortex/.unfinished-*",
];
/// One example file for each of those rules.
const PRIVATE: &[&str] = &[
    ".cortex/memory.db", ".cortex/cache/sources.json", ".cortex/graph/code-graph.db",
    ".cortex/write.lock", ".cortex/server.json", ".cortex/.unfinished-0",
];
/// Appended to a `.cortex/.gitignore` of the repository that lets git add private files. Nothing
/// outranks the last rules of that file.
const ADDED: &str = "\n# Added by cortex: these stay out of the repository.\n/memory*\n/cache/\n/graph/\n/*.lock\n/server.json\n/.unfinished-*\n";
/// Beginnings of the `.gitignore` files that Cortex wrote and may update.
const OURS: [&str; 2] = ["# Derived by cortex;", "# Written by cortex;"];

/// The indexes of packages of others, below the user's cache directory.
const PACKAGES: &str = "cortex/packages";

/// Names below `.cortex`.
pub(super) const CHUNKS: &str = "chunks";
pub(super) const CACHE: &str = "cache";
pub(super) const GRAPH: &str = "graph";
const CODE_GRAPH: &str = "code-graph.db";
const MEMORY_CACHE: &str = "cache/memory";
pub(super) const MANIFEST: &str = "chunks/manifest.json";
pub(super) const SOURCES: &str = "cache/sources.json";
pub(super) const GRAMS: &str = "cache/grams.bin";
pub(super) const RUN: &str = "cache/run.json";
pub(super) const QUEUE: &str = "cache/queue.json";
pub(super) const SERVER: &str = "server.json";
const COMMITS: &str = "cache/commits";
pub(super) const PACKAGE: &str = "package.json";
pub(super) const WORDS: &str = "words.bin";
pub(super) const WRITE_LOCK: &str = "write.lock";
pub(super) const LEADER_LOCK: &str = "leader.lock";
pub(super) const EMBED_LOCK: &str = "embed.lock";

/// The paths of one project. All access to its files goes through this type, below directories that
/// are held open.
#[derive(Debug, Clone)]
pub struct Layout {
    tree: SharedDir,
    /// Why that directory is the root, in words for people.
    reason: &'static str,
    /// Whether a directory says that it is a project, or a user did.
    is_project: bool,
    /// `.cortex` of the project, even if the index is in the user's cache.
    own: OwnedDir,
    /// Set when this process has told git what to leave out, or could not.
    told_git: Arc<Once>,
    /// `.cortex`, or a directory in the user's cache that replaces it.
    pub(super) place: OwnedDir,
}

/// Why a directory cannot be a project root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("cannot open {path} as a project: give a folder that exists and may be read")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} is not a directory: give the folder of a project")]
    NotADirectory { path: PathBuf },
    #[error(
        "{path} is {what}, and no project: give the folder of a project, for example `cortex index FOLDER`"
    )]
    TooMuch { path: PathBuf, what: &'static str },
}

impl Layout {
    /// Finds the project that `start` belongs to: the nearest directory at or above it that belongs
    /// to the same user and holds `.git` or a `.cortex` of Cortex. If there is none, the project is
    /// `start` itself. The search never accepts `/`, the home directory, or a parent that everybody
    /// may write to.
    ///
    /// # Errors
    /// When `start` is not a readable directory, or the root would be `/`, the home directory or a
    /// directory for temporary files.
    #[expect(clippy::disallowed_methods, reason = "the root, which the user chose")]
    pub fn discover(start: &Path, home: Option<&Path>) -> Result<Self, RootError> {
        let unreadable = |source| RootError::Unreadable { path: start.to_path_buf(), source };
        let start = std::fs::canonicalize(start).map_err(unreadable)?;
        if !start.is_dir() {
            return Err(RootError::NotADirectory { path: start });
        }
        let home = home.and_then(|h| std::fs::canonicalize(h).ok());
        let too_much = |path: &Path| {
            if path.parent().is_none() {
                Some("the root of the file system")
            } else if Some(path) == home.as_deref() {
                Some("the home directory")
            } else if is_of_the_system(path) {
                Some("a directory of the system")
            } else if is_temporary(path) {
                Some("a folder for temporary files of all users")
            } else {
                None
            }
        };
        let owner = |path: &Path| {
            Dir::open(path).and_then(|dir| dir.own_stat()).map(|stat| stat.owner).ok()
        };
        let users = [Some(own_user()), owner(&start)];
        // A `.git` or `.cortex` in the home directory (for dotfiles) does not make everything below
        // it one project.
        let may_be = |d: &&Path| too_much(d).is_none() && users.contains(&owner(d));
        let found = start.ancestors().filter(may_be).find_map(|d| Some((d, mark_of(d)?)));
        let is_project = found.is_some();
        let (root, reason) = found.unwrap_or((
            &start,
            "no folder at or above the current one holds .git or an index of yours",
        ));
        match too_much(root) {
            Some(what) => Err(RootError::TooMuch { path: root.to_path_buf(), what }),
            None => match Self::at(root) {
                Ok(layout) => Ok(Self { reason, is_project, ..layout }),
                Err(source) => Err(RootError::Unreadable { path: root.to_path_buf(), source }),
            },
        }
    }

    /// Opens the project at exactly this directory, without a search.
    ///
    /// # Errors
    /// When the directory cannot be opened.
    pub fn at(root: &Path) -> io::Result<Self> {
        let tree = Arc::new(Dir::open(root)?);
        let own = OwnedDir::marked(tree.clone(), DOT_CORTEX, &MARKERS);
        Ok(Self {
            place: own.clone(),
            own,
            reason: "it was named",
            is_project: true,
            told_git: Arc::new(Once::new()),
            tree,
        })
    }

    /// Opens a directory that is no project, to stand in for one.
    ///
    /// # Errors
    /// When the directory cannot be opened.
    #[expect(clippy::disallowed_methods, reason = "a directory that the user chose")]
    pub fn absent(directory: &Path) -> io::Result<Self> {
        let layout = Self::at(&std::fs::canonicalize(directory)?)?;
        Ok(Self { is_project: false, reason: "it is no project", ..layout })
    }

    /// Moves the index of the project to a directory below the user's cache.
    ///
    /// # Errors
    /// When that directory cannot be made.
    pub fn in_cache(self, cache_home: &Path) -> io::Result<Self> {
        let id = format!("{:032x}", xxh3_128(self.root().as_os_str().as_encoded_bytes()));
        let layout = self.placed(cache_home, Path::new("cortex").join(id))?;
        layout.place.make(PRIVATE_DIR)?;
        Ok(layout)
    }

    /// Names the index of a package of others below the user's cache. `key` names the package and
    /// where it lies. The index may not exist yet.
    ///
    /// # Errors
    /// When the cache cannot be made or opened.
    pub fn of_package(self, cache_home: &Path, key: &str) -> io::Result<Self> {
        self.placed(cache_home, Path::new(PACKAGES).join(key))
    }

    /// Names the index of the commits of the project. It may not exist yet.
    #[must_use]
    pub fn of_commits(&self) -> Self {
        Self { place: self.place.below(COMMITS), ..self.clone() }
    }

    /// Opens the directory of the indexes of packages; `None` if there is none.
    pub(super) fn packages(cache_home: &Path) -> io::Result<Option<Dir>> {
        if_there(Dir::open(cache_home).and_then(|cache| cache.dir(PACKAGES)))
    }

    /// Returns when a file of the index was written last; `None` if it is not there.
    pub(super) fn modified(&self, name: &str) -> Option<SystemTime> {
        Some(self.data().ok()?.stat(name).ok()??.modified)
    }

    /// Places the index of the project below the user's cache.
    #[expect(clippy::disallowed_methods, reason = "the cache directory, which the user chose")]
    pub(super) fn placed(self, cache_home: &Path, path: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(cache_home)?;
        let place = OwnedDir::new(Arc::new(Dir::open(cache_home)?), path);
        Ok(Self { place, ..self })
    }

    /// Returns `.cortex` of the project, even if the index is in the user's cache.
    #[must_use]
    pub fn own_place(&self) -> OwnedDir {
        self.own.clone()
    }

    /// Whether the index is in the user's cache: because the project is not writable, or because
    /// the user wants it so.
    #[must_use]
    pub fn is_in_cache(&self) -> bool {
        self.place.path() != self.tree.full(DOT_CORTEX)
    }

    /// Whether this user may write the index into the project.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        match self.place.open() {
            Ok(dir) => {
                dir.is_writable()
                    && [CHUNKS, CACHE]
                        .iter()
                        .all(|name| dir.dir(name).is_ok_and(|d| d.is_writable()) || !self.has(name))
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {
                self.tree.is_writable()
                    && self
                        .tree
                        .own_stat()
                        .is_ok_and(|stat| stat.owner == own_user() || own_user() != 0)
            }
            Err(_) => false,
        }
    }

    /// Whether the root is a project: it holds `.git` or a `.cortex` of Cortex, a user named it as one,
    /// or its index is in the user's cache.
    #[must_use]
    pub fn is_project(&self) -> bool {
        self.is_project || self.is_in_cache() && self.has_derived()
    }

    /// Why the root is the root, in words for people.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// The directory that is indexed.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.tree.path()
    }

    /// The same directory, held open.
    #[must_use]
    pub fn tree(&self) -> &SharedDir {
        &self.tree
    }

    /// Opens `.cortex`.
    ///
    /// # Errors
    /// When it is missing, is a link, belongs to another user, or the project was moved or removed.
    pub(super) fn data(&self) -> io::Result<Dir> {
        self.place.open()
    }

    /// Opens the directory of the chunk files.
    pub(super) fn chunks(&self) -> io::Result<Dir> {
        self.data()?.dir(CHUNKS)
    }

    /// The cache directory of the memories or of the chunk files. It may not exist yet.
    pub(super) fn cache_place(&self, of_memories: bool) -> OwnedDir {
        self.place.below(if of_memories { MEMORY_CACHE } else { CACHE })
    }

    /// The full path of a file in `.cortex`, for messages.
    pub(super) fn full(&self, name: &str) -> PathBuf {
        self.dot_cortex().join(name)
    }

    pub(super) fn read(&self, name: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
        self.data()?.read(name, max_bytes)
    }

    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        self.data()?.open_file(name)
    }

    /// Returns what the file system says about the name; `None` if nothing has it.
    pub(super) fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        if_there(self.data())?.map_or(Ok(None), |dir| dir.stat(name))
    }

    /// Whether something has the name, even if it is unusable.
    pub(super) fn has(&self, name: &str) -> bool {
        self.stat(name).is_ok_and(|stat| stat.is_some())
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        if_there(self.data().and_then(|dir| dir.remove_file(name))).map(drop)
    }

    /// Replaces the content of a small file that can be derived again.
    pub(super) fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.data()?.replace(name, content, SHARED_FILE, false)
    }

    /// `.cortex`
    #[must_use]
    pub fn dot_cortex(&self) -> PathBuf {
        self.place.path()
    }

    /// `.cortex/chunks`, whose files are a public format.
    #[must_use]
    pub fn chunks_dir(&self) -> PathBuf {
        self.full(CHUNKS)
    }

    /// The path of the chunk file of a type.
    #[must_use]
    pub fn chunk_file(&self, chunk_type: ChunkType) -> PathBuf {
        self.chunks_dir().join(Self::chunk_file_name(chunk_type))
    }

    /// The name of a type's chunk file below `.cortex`, with this packing.
    pub(super) fn chunk_name(chunk_type: ChunkType, packing: Packing) -> String {
        in_chunks(&Self::chunk_file_name_as(chunk_type, packing))
    }

    /// The names that a type's chunk file may have below `.cortex`, one for each packing.
    pub(super) fn chunk_names(chunk_type: ChunkType) -> [String; 2] {
        [Packing::Plain, Packing::Zstd].map(|packing| Self::chunk_name(chunk_type, packing))
    }

    /// The name of the chunk file that exists, for callers that do not know its packing. The plain
    /// one comes first.
    pub(super) fn chunk_name_found(&self, chunk_type: ChunkType) -> String {
        let [plain, packed] = Self::chunk_names(chunk_type);
        if !self.has(&plain) && self.has(&packed) { packed } else { plain }
    }

    /// The file name of a type's chunk file, not packed.
    #[must_use]
    pub fn chunk_file_name(chunk_type: ChunkType) -> &'static str {
        match chunk_type {
            ChunkType::Symbols => "code-symbols.json",
            ChunkType::Definitions => "code-definitions.json",
            ChunkType::Data => "code-data.json",
            ChunkType::Documentation => "doc-chunks.json",
            ChunkType::History => "code-history.json",
        }
    }

    /// The file name of a type's chunk file, with this packing.
    pub(super) fn chunk_file_name_as(chunk_type: ChunkType, packing: Packing) -> String {
        let extension = if packing == Packing::Zstd { EXTENSION } else { "" };
        Self::chunk_file_name(chunk_type).to_string() + extension
    }

    /// `.cortex/chunks/manifest.json`
    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.full(MANIFEST)
    }

    /// `.cortex/cache`, which may be deleted at any time.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.full(CACHE)
    }

    /// The path of the table with the stamps of the indexed source files.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.full(SOURCES)
    }

    /// The name of the vector file of one embedder.
    pub(super) fn vectors(embedder_id: &str) -> String {
        let safe: String = embedder_id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        format!("{CACHE}/{VECTORS}{safe}.bin")
    }

    /// Returns the vector files of all embedders that were ever used here.
    pub(super) fn all_vectors(&self) -> Vec<String> {
        let names = self
            .data()
            .and_then(|dir| dir.dir(CACHE))
            .and_then(|cache| cache.list())
            .unwrap_or_default();
        let names = names.into_iter().map(|(name, _)| name.to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with(VECTORS))
            .map(|name| format!("{CACHE}/{name}"))
            .collect()
    }

    /// The database of the code graph, derived from the source files.
    #[must_use]
    pub fn code_graph(&self) -> PathBuf {
        self.full(GRAPH).join(CODE_GRAPH)
    }

    /// Returns what the file system says about the database of the code graph; `None` if there is none.
    #[must_use]
    pub fn code_graph_stat(&self) -> Option<Stat> {
        self.stat(&format!("{GRAPH}/{CODE_GRAPH}")).ok().flatten()
    }

    /// The file in which the HTTP server of this project states its address while it runs.
    #[must_use]
    pub fn server(&self) -> PathBuf {
        self.full(SERVER)
    }

    /// Creates `.cortex` and what it must contain before anything else is written there.
    ///
    /// # Errors
    /// When a directory or the `.gitignore` cannot be written.
    pub fn create(&self) -> io::Result<()> {
        let dir = self.place.make(SHARED_DIR)?;
        for name in [CHUNKS, CACHE] {
            dir.make_dir(name, SHARED_DIR)?.remove_abandoned();
        }
        dir.remove_abandoned();
        // An index in the cache is in no repository.
        if self.is_in_cache() { Ok(()) } else { self.keep_out_of_git(&dir) }
    }

    /// Keeps private files out of the repository. Our own `.gitignore` does that, but the
    /// repository may have one with any rules, which may also arrive later by a checkout. So the
    /// rules go to `.git/info/exclude`, too. A `.gitignore` outranks that file: if git would still
    /// add a private file, our rules are appended to `.cortex/.gitignore`, which outranks all
    /// others.
    fn keep_out_of_git(&self, dir: &Dir) -> io::Result<()> {
        // Once: `.git` may be removed by and by, and nothing is written into it then.
        self.told_git.call_once(|| {
            if let Err(e) = source::exclude_from_git(self.root(), EXCLUDE) {
                tracing::debug!("nothing is added to .git/info/exclude: {e}");
            }
        });
        let is_ours = |text: &[u8]| OURS.iter().any(|first| text.starts_with(first.as_bytes()));
        let text = match dir.read(IGNORE, MAX_GITIGNORE) {
            Ok(text) if text == GITIGNORE.as_bytes() => return Ok(()),
            // The rules of the repository stay.
            Ok(text) if !is_ours(&text) => {
                if text.ends_with(ADDED.as_bytes())
                    || source::not_ignored_by_git(self.root(), PRIVATE).is_empty()
                {
                    return Ok(());
                }
                [text, ADDED.into()].concat()
            }
            _ => GITIGNORE.into(),
        };
        dir.replace(IGNORE, &text, SHARED_FILE, false)
    }

    /// Returns a warning if git tracks private files of `.cortex`: their names and the remedy.
    #[must_use]
    pub fn tracked_private_files(&self) -> Option<String> {
        let glob = |path: &str| {
            let name = path.split('/').nth(1).unwrap_or_default().to_lowercase();
            let of_kind = |glob: &&&str| match glob.split_once('*') {
                Some((before, after)) => name.starts_with(before) && name.ends_with(after),
                None => name == **glob,
            };
            ["memory*", "*.lock", "cache", "graph", "server.json"].iter().find(of_kind).copied()
        };
        let mut files = source::tracked_by_git(self.root(), DOT_CORTEX);
        files.retain(|path| glob(path).is_some());
        let globs: BTreeSet<&str> = files.iter().filter_map(|path| glob(path)).collect();
        let either_case =
            if files.iter().all(|path| path.starts_with(DOT_CORTEX)) { "" } else { ":(icase)" };
        // A command that people copy must not contain names from the repository.
        let paths = globs
            .into_iter()
            .map(|glob| format!(" '{either_case}{DOT_CORTEX}/{glob}'"))
            .collect::<String>();
        let more = if files.len() > MAX_SHOWN {
            format!(" and {} more", files.len() - MAX_SHOWN)
        } else {
            String::new()
        };
        files.truncate(MAX_SHOWN);
        (!files.is_empty()).then(|| {
            format!(
                "git tracks private files, which everybody with the repository can read: {}{more}; run git rm --cached -rf{paths}",
                files.join(", ")
            )
        })
    }

    /// Creates the directory of the code graph if it is missing. The database need not exist.
    ///
    /// # Errors
    /// When the directory cannot be created, or something that is in the place of a file cannot be
    /// removed. SQLite opens the file by its path.
    pub fn prepare_code_graph(&self) -> io::Result<()> {
        let dir = self.place.make(SHARED_DIR)?.make_dir(GRAPH, SHARED_DIR)?;
        for end in ["", "-wal", "-shm", "-journal"] {
            let name = format!("{CODE_GRAPH}{end}");
            match dir.stat(&name)? {
                // The database is derived, so whatever is in its place, such as a link, is not
                // worth keeping.
                Some(stat) if stat.kind == FileKind::Directory => dir.remove_dir(&name)?,
                Some(stat) if !stat.is_sole_file() => dir.remove_file(&name)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether another program wrote the chunk files: one of them does not begin as ours do, and there
    /// is no manifest and no `.next` manifest. (If all of them begin as ours do, the manifest was
    /// lost, and the index is built anew.)
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let is_theirs = |dir: &Dir| {
            let names = ChunkType::ALL.iter().map(|t| self.chunk_name_found(*t));
            names.into_iter().any(|name| self.has(&name) && !is_ours(dir, &name))
        };
        !self.has(MANIFEST)
            && !self.has(&next_name(MANIFEST))
            && self.data().is_ok_and(|dir| is_theirs(&dir))
    }

    /// When the index was last compared with the tree and written; `None` without a table of source
    /// files.
    #[must_use]
    pub fn compared_at(&self) -> Option<SystemTime> {
        self.modified(SOURCES)
    }

    /// Whether `.cortex` exists and is usable.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.data().is_ok()
    }

    /// Whether there is anything that [`Layout::clean`] would remove.
    #[must_use]
    pub fn has_derived(&self) -> bool {
        [CHUNKS, CACHE, GRAPH].iter().any(|name| self.has(name))
    }

    /// Removes what Cortex derived (chunks, caches, the code graph). Keeps files of the user and of
    /// other programs.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clean(&self) -> io::Result<()> {
        let Some(dir) = if_there(self.data())? else { return Ok(()) };
        if !self.is_foreign() {
            // Remove the manifest last: chunk files without one would look like another program's.
            let chunk_files = ChunkType::ALL.into_iter().flat_map(Self::chunk_names);
            for name in chunk_files.chain([MANIFEST.into()]) {
                self.remove(&next_name(&name))?;
                if name == MANIFEST || !is_stranger(&dir, &name) {
                    self.remove(&name)?;
                }
            }
            // The directory stays if it holds anything else.
            let _ = dir.remove_empty_dir(CHUNKS);
        }
        for name in [GRAPH, CACHE] {
            match dir.stat(name)? {
                None => {}
                Some(Stat { kind: FileKind::Directory, .. }) => dir.remove_dir(name)?,
                // If a link or a file is in its place, remove that, not what it points to.
                Some(_) => dir.remove_file(name)?,
            }
        }
        Ok(())
    }

    /// Returns the bytes of all files of the index.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.data().map_or(0, |dir| bytes_below(&dir, MAX_DEPTH))
    }

    /// Opens a file for locking; creates it if it is missing.
    pub(super) fn lock_file(&self, name: &str) -> io::Result<File> {
        let file = self.place.make(SHARED_DIR)?.file(name, OpenMode::Update, SHARED_FILE)?;
        // From here on it is missed if somebody removes it.
        self.place.open()?;
        Ok(file)
    }
}

/// Largest `.gitignore` that is read, in bytes; our own is far smaller.
const MAX_GITIGNORE: u64 = 1 << 16;
/// Number of file names that a warning shows.
const MAX_SHOWN: usize = 3;

/// Returns why a directory can be the root of a project: it holds `.git`, or a `.cortex` that
/// belongs to this user.
fn mark_of(directory: &Path) -> Option<&'static str> {
    let dir = Dir::open(directory).ok()?;
    if dir.stat(".git").is_ok_and(|stat| stat.is_some()) {
        return Some("it holds .git");
    }
    let has =
        |name: &&str| dir.stat(Path::new(DOT_CORTEX).join(name)).is_ok_and(|stat| stat.is_some());
    let is_ours = |stat: Stat| stat.kind == FileKind::Directory && stat.owner == own_user();
    let is_written = || {
        let text = dir.read(Path::new(DOT_CORTEX).join(IGNORE), MAX_GITIGNORE).unwrap_or_default();
        OURS.iter().any(|first| text.starts_with(first.as_bytes()))
    };
    let is_index = dir.stat(DOT_CORTEX).is_ok_and(|stat| stat.is_some_and(is_ours))
        && (["config.toml", CHUNKS, "memory.db"].iter().any(has) || is_written());
    is_index.then_some("it holds a .cortex of yours")
}

/// Deepest folder of an index.
const MAX_DEPTH: usize = 4;

/// Returns the bytes of the files in a folder and in the folders below it.
fn bytes_below(dir: &Dir, depth: usize) -> u64 {
    let bytes = |(name, kind): (std::ffi::OsString, FileKind)| match kind {
        FileKind::Directory if depth > 0 => {
            dir.dir(name).map_or(0, |below| bytes_below(&below, depth - 1))
        }
        _ => dir.stat(name).ok().flatten().map_or(0, |stat| stat.bytes),
    };
    dir.list().unwrap_or_default().into_iter().map(bytes).sum()
}

/// Directories of the operating system, whatever is in them.
const OF_THE_SYSTEM: &str = "bin boot dev etc home lib lib32 lib64 libx32 proc run sbin sys usr \
    usr/bin usr/include usr/lib usr/lib32 usr/lib64 usr/libexec usr/libx32 usr/local usr/sbin \
    usr/share usr/src var var/cache var/lib var/log var/run var/spool Applications Library System \
    Users Volumes private private/etc private/var nix";
/// Directories that hold no files of a user, at any depth.
const NO_FILES: [&str; 3] = ["dev", "proc", "sys"];

fn is_of_the_system(directory: &Path) -> bool {
    let Ok(path) = directory.strip_prefix("/") else { return false };
    OF_THE_SYSTEM.split_ascii_whitespace().any(|known| path == Path::new(known))
        || NO_FILES.iter().any(|known| path.starts_with(known))
}

/// Whether everybody may create files in the directory, and only their owners may remove them, as
/// in `/tmp`.
fn is_temporary(directory: &Path) -> bool {
    const STICKY_FOR_ALL: u32 = 0o1002;
    Dir::open(directory)
        .and_then(|dir| dir.own_stat())
        .is_ok_and(|stat| stat.mode & STICKY_FOR_ALL == STICKY_FOR_ALL)
}

pub(super) fn in_chunks(name: &str) -> String {
    format!("{CHUNKS}/{name}")
}

/// The name of a file until it is complete. The name is fixed, since readers and the next writer
/// look for it after a crash. Anything that already has the name is removed before the file is
/// created.
pub(super) fn next_name(name: &str) -> String {
    format!("{name}.next")
}
