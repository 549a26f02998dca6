//! Every path of a project's `.cortex`.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use super::packing::{EXTENSION, Packing};
use super::writer::at;
use crate::chunk::ChunkType;

/// Name of the folder that holds everything that Cortex writes.
const DOT_CORTEX: &str = ".cortex";

/// How the names of vector files begin.
const VECTORS: &str = "vectors-";

/// Written to `.cortex/.gitignore`: what Cortex derives stays out of the user's history, and what it remembers, too.
const GITIGNORE: &str =
    "# Written by cortex; config.toml is yours to commit.\n/chunks/\n/cache/\n/graph/\n/memory*\n/*.lock\n/server.json\n/.gitignore\n";
/// How those begin that are ours to bring up to date.
const OURS: [&str; 2] = ["# Derived by cortex;", "# Written by cortex;"];

/// The paths of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

/// Why a directory cannot be a project root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("{path}: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} is not a directory: give the folder of a project")]
    NotADirectory { path: PathBuf },
    #[error("{path} is {what}, too much to index: give the folder of a project, or run `git init` in it first")]
    TooMuch { path: PathBuf, what: &'static str },
}

impl Layout {
    /// The project that `start` belongs to: the nearest ancestor with `.cortex` or `.git`, else `start` itself.
    ///
    /// # Errors
    /// When `start` is no readable directory, or the root would be `/` or the home directory.
    pub fn discover(start: &Path, home: Option<&Path>) -> Result<Self, RootError> {
        let start = fs::canonicalize(start).map_err(|source| RootError::Unreadable { path: start.to_path_buf(), source })?;
        if !start.is_dir() {
            return Err(RootError::NotADirectory { path: start });
        }
        let home = home.and_then(|h| fs::canonicalize(h).ok());
        let too_much = |path: &Path| {
            if path.parent().is_none() {
                Some("the root of the file system")
            } else if Some(path) == home.as_deref() {
                Some("the home directory")
            } else {
                None
            }
        };
        // A `.git` or `.cortex` in the home directory (dotfiles) does not make everything below it one project.
        let marked = |d: &&Path| too_much(d).is_none() && (d.join(DOT_CORTEX).is_dir() || d.join(".git").exists());
        let root = start.ancestors().find(marked).unwrap_or(&start).to_path_buf();
        match too_much(&root) {
            Some(what) => Err(RootError::TooMuch { path: root, what }),
            None => Ok(Self { root }),
        }
    }

    /// The project at exactly this directory, wherever it is.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// The directory that is indexed.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.cortex`
    #[must_use]
    pub fn dot_cortex(&self) -> PathBuf {
        self.root.join(DOT_CORTEX)
    }

    /// `.cortex/config.toml`, the user's.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.dot_cortex().join("config.toml")
    }

    /// `.cortex/chunks`, the public contract.
    #[must_use]
    pub fn chunks_dir(&self) -> PathBuf {
        self.dot_cortex().join("chunks")
    }

    /// The chunk file of a type.
    #[must_use]
    pub fn chunk_file(&self, chunk_type: ChunkType) -> PathBuf {
        self.chunks_dir().join(Self::chunk_file_name(chunk_type))
    }

    /// The same, written in this way.
    pub(super) fn chunk_file_as(&self, chunk_type: ChunkType, packing: Packing) -> PathBuf {
        self.chunks_dir().join(Self::chunk_file_name_as(chunk_type, packing))
    }

    /// Where it may be, written in one way or the other.
    pub(super) fn chunk_files(&self, chunk_type: ChunkType) -> [PathBuf; 2] {
        [Packing::Plain, Packing::Zstd].map(|packing| self.chunk_file_as(chunk_type, packing))
    }

    /// The one that is there, when nobody says how it is written.
    pub(super) fn chunk_file_found(&self, chunk_type: ChunkType) -> PathBuf {
        let packed = self.chunk_file_as(chunk_type, Packing::Zstd);
        let plain = self.chunk_file(chunk_type);
        if !plain.exists() && packed.exists() { packed } else { plain }
    }

    /// File name of a type's chunk file.
    #[must_use]
    pub fn chunk_file_name(chunk_type: ChunkType) -> &'static str {
        match chunk_type {
            ChunkType::Symbols => "code-symbols.json",
            ChunkType::Definitions => "code-definitions.json",
            ChunkType::Data => "code-data.json",
            ChunkType::Documentation => "doc-chunks.json",
        }
    }

    /// The same, written in this way.
    pub(super) fn chunk_file_name_as(chunk_type: ChunkType, packing: Packing) -> String {
        let extension = if packing == Packing::Zstd { EXTENSION } else { "" };
        Self::chunk_file_name(chunk_type).to_string() + extension
    }

    /// `.cortex/chunks/manifest.json`
    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.chunks_dir().join("manifest.json")
    }

    /// `.cortex/cache`, may be deleted at any time.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.dot_cortex().join("cache")
    }

    /// The stamps of the indexed source files.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.cache_dir().join("sources.json")
    }

    /// The vectors of one embedder.
    #[must_use]
    pub fn vectors(&self, embedder_id: &str) -> PathBuf {
        let safe: String = embedder_id.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
        self.cache_dir().join(format!("{VECTORS}{safe}.bin"))
    }

    /// The vector files of all embedders that ever were in use here.
    pub(super) fn all_vectors(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache_dir()).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with(VECTORS)).map(|e| e.path()).collect()
    }

    /// Who calls whom; derived from the source files.
    #[must_use]
    pub fn code_graph(&self) -> PathBuf {
        self.graph_dir().join("code-graph.db")
    }

    fn graph_dir(&self) -> PathBuf {
        self.dot_cortex().join("graph")
    }

    /// The lock that every writer of chunk files takes.
    #[must_use]
    pub fn write_lock(&self) -> PathBuf {
        self.dot_cortex().join("write.lock")
    }

    /// The lock of the process that watches the source tree.
    #[must_use]
    pub fn leader_lock(&self) -> PathBuf {
        self.dot_cortex().join("leader.lock")
    }

    /// The lock of the process that has vectors made.
    #[must_use]
    pub fn embed_lock(&self) -> PathBuf {
        self.dot_cortex().join("embed.lock")
    }

    /// How far the index run is that is under way.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.cache_dir().join("run.json")
    }

    /// How many changed paths wait for an index run.
    #[must_use]
    pub fn queue(&self) -> PathBuf {
        self.cache_dir().join("queue.json")
    }

    /// Where the HTTP server of this project listens, while it runs.
    #[must_use]
    pub fn server(&self) -> PathBuf {
        self.dot_cortex().join("server.json")
    }

    /// What is remembered; the user's, and no clean-up touches it.
    #[must_use]
    pub fn memory(&self) -> PathBuf {
        self.dot_cortex().join("memory.db")
    }

    /// The id of the session that is under way.
    #[must_use]
    pub fn current_session(&self) -> PathBuf {
        self.dot_cortex().join("memory.session")
    }

    /// What is to be remembered and could not be stored in time.
    #[must_use]
    pub fn memory_spool(&self) -> PathBuf {
        self.dot_cortex().join("memory.spool")
    }

    /// What went wrong in hooks, which must not tell anybody else.
    #[must_use]
    pub fn memory_log(&self) -> PathBuf {
        self.dot_cortex().join("memory.log")
    }

    /// What was made of the memories, for the next process.
    #[must_use]
    pub(super) fn memory_cache(&self) -> PathBuf {
        self.cache_dir().join("memory")
    }

    /// Makes `.cortex` and what must be in it before anything is written there.
    ///
    /// # Errors
    /// When a directory or the `.gitignore` cannot be written.
    pub fn create(&self) -> io::Result<()> {
        for dir in [self.chunks_dir(), self.cache_dir()] {
            fs::create_dir_all(&dir).map_err(|e| at(&dir, &e))?;
        }
        let gitignore = self.dot_cortex().join(".gitignore");
        let is_the_users = |text: &String| *text == GITIGNORE || !OURS.iter().any(|first| text.starts_with(first));
        if fs::read_to_string(&gitignore).as_ref().is_ok_and(is_the_users) {
            return Ok(());
        }
        // Many processes may start at once: each renames its own.
        let own = self.dot_cortex().join(format!(".gitignore.{}", std::process::id()));
        fs::write(&own, GITIGNORE).and_then(|()| fs::rename(&own, &gitignore)).map_err(|e| at(&gitignore, &e))
    }

    /// Whether the chunk files are another program's: they are there, and no manifest is or was about to be.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let manifest = self.manifest();
        !manifest.exists() && !next_path(&manifest).exists() && ChunkType::ALL.iter().any(|t| self.chunk_file_found(*t).exists())
    }

    /// Removes what Cortex derived (chunks, caches, the code graph), and nothing that is the user's or another program's.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clean(&self) -> io::Result<()> {
        let gone = |path: &Path, result: io::Result<()>| match result {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(at(path, &e)),
            _ => Ok(()),
        };
        if !self.is_foreign() {
            // The manifest last: files without it would look like another program's.
            let chunk_files = ChunkType::ALL.iter().flat_map(|t| self.chunk_files(*t));
            let files: Vec<PathBuf> = chunk_files.chain([self.manifest()]).flat_map(|p| [next_path(&p), p]).collect();
            for path in &files {
                gone(path, fs::remove_file(path))?;
            }
            // Stays when it holds something else.
            let _ = fs::remove_dir(self.chunks_dir());
        }
        gone(&self.graph_dir(), fs::remove_dir_all(self.graph_dir()))?;
        gone(&self.cache_dir(), fs::remove_dir_all(self.cache_dir()))
    }
}

/// Whether nobody has written it for so long.
pub(super) fn is_older(path: &Path, than: Duration) -> bool {
    fs::metadata(path).and_then(|m| m.modified()).is_ok_and(|at| at.elapsed().is_ok_and(|age| age > than))
}

/// The path that a file is written under until it is complete.
pub(super) fn next_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".next");
    PathBuf::from(name)
}
