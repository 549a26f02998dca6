//! The project on which a benchmark runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::generate::source_tree;
use crate::chunk::{Cancel, Chunk, ChunkSet, ChunkType, Quantized};
use crate::embed::{EmbedError, Embedder, Passage, StaticModel, passage};
use crate::index::{Indexer, Mode};
use crate::live::ChunkManager;
use crate::platform::drop_cached;
use crate::source::{self, Scope, WalkOptions};
use crate::store::{
    self, ChunkFiles, ChunkLines, ChunkWriter, Header, Layout, Manifest, Packing, VectorCache,
    VectorWriter, WriteLock, parse_chunk_file,
};

/// Fixed seed, so that generated corpora are the same on all machines.
const SEED: u64 = 1;

/// The origin of the chunks of a bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BedOrigin {
    /// Files generated from a seed.
    Generated,
    /// The files of a project.
    Project,
    /// Chunk files without their source tree.
    Chunks,
}

/// An indexed project in a temporary directory, which is removed when this is dropped. The vectors
/// are the bundled model's, or the inline vectors of given chunks.
pub struct Bed {
    pub(super) indexer: Indexer,
    pub(super) origin: BedOrigin,
}

impl Bed {
    /// Generates and indexes files that yield about `n_chunks` chunks.
    ///
    /// # Errors
    /// When the temporary directory cannot be written.
    pub fn generated(n_chunks: usize) -> Result<Self> {
        let bed = Self::empty(BedOrigin::Generated, StaticModel::bundled())?;
        for file in source_tree(SEED, n_chunks) {
            bed.write(&file.path, file.text.as_bytes())?;
        }
        bed.index()?;
        Ok(bed)
    }

    /// Copies the files of the project at `root` that would be indexed, and indexes them.
    ///
    /// # Errors
    /// When a file cannot be copied, or the project has nothing to index.
    pub fn copy_of(root: &Path, walk: &WalkOptions) -> Result<Self> {
        let bed = Self::empty(BedOrigin::Project, StaticModel::bundled())?;
        for file in source::walk(root, walk, &Scope::All).files {
            let from = root.join(&file.path);
            let content =
                fs::read(&from).with_context(|| format!("{} cannot be read", from.display()))?;
            bed.write(&file.path, &content)?;
        }
        bed.index()?;
        anyhow::ensure!(
            !bed.load()?.is_empty(),
            "{} has nothing to measure with: give --chunks N for a generated project",
            root.display()
        );
        Ok(bed)
    }

    /// Rewrites the chunk files of a directory in Cortex's own layout; inline vectors go
    /// to the vector cache.
    ///
    /// # Errors
    /// When the files cannot be read, or hold no chunks.
    pub fn of_chunks(dir: &Path) -> Result<Self> {
        let given = read_given(dir)?;
        let Some(first) = given.iter().find_map(|(_, chunks)| chunks.first()) else {
            bail!(
                "{} holds no chunks: give a directory with code-definitions.json and the like",
                dir.display()
            );
        };
        let embedder: Arc<dyn Embedder> = match &first.embedding {
            Some(v) => Arc::new(GivenVectors { id: "given".into(), dimensions: v.len() }),
            None => StaticModel::bundled(),
        };
        let bed = Self::empty(BedOrigin::Chunks, embedder)?;
        bed.write_chunks(&given)?;
        Ok(bed)
    }

    /// Copies the chunk files of a directory unchanged, as files of another program. Their vectors
    /// count if the header names their embedder.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub(super) fn beside(dir: &Path) -> Result<Self> {
        let mut embedder = GivenVectors { id: "given".into(), dimensions: 1 };
        let mut files = Vec::new();
        for t in ChunkType::ALL {
            let name = Layout::chunk_file_name(t);
            let path = dir.join(name);
            if !path.exists() {
                continue;
            }
            let parsed = parse_chunk_file(&path, &fs::read(&path)?, t, None, |_, _| false)?;
            embedder.dimensions = parsed.dimensions.unwrap_or(embedder.dimensions);
            if let Some(header) = parsed.header.filter(|h| !h.embedder.is_empty()) {
                embedder.id = header.embedder;
            }
            files.push((path, name));
        }
        let bed = Self::empty(BedOrigin::Chunks, Arc::new(embedder))?;
        for (path, name) in files {
            fs::copy(&path, bed.layout().chunks_dir().join(name))
                .with_context(|| format!("{} cannot be copied", path.display()))?;
        }
        Ok(bed)
    }

    fn empty(origin: BedOrigin, embedder: Arc<dyn Embedder>) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("cortex-bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&root)?;
        let layout = Layout::at(&root)?;
        // The programs that are measured have the same state directory.
        store::use_key_of(Some(layout.dot_cortex()));
        let walk = WalkOptions {
            max_file_bytes: 1 << 20,
            exclude: globset::GlobSet::empty(),
            exclude_patterns: Vec::new(),
            included: source::Included::default(),
            origins: source::OriginSettings::default(),
            package: None,
        };
        let bed = Self {
            indexer: Indexer {
                layout,
                walk,
                embedder,
                packing: Some(Packing::Plain),
                keep_deleted: false,
                history: false,
                lock_wait: Duration::ZERO,
                cancel: Arc::default(),
                journal: None,
                relations: None,
                known: None,
                archives: None,
            },
            origin,
        };
        bed.layout().create()?;
        Ok(bed)
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<()> {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| fs::write(&path, content))?;
        Ok(())
    }

    pub(super) fn index(&self) -> Result<()> {
        self.indexer.run(Mode::Incremental, &Scope::All, &|_| {})?;
        Ok(())
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.indexer.layout
    }

    pub(super) fn root(&self) -> &Path {
        self.layout().root()
    }

    pub(super) fn embedder(&self) -> &dyn Embedder {
        &*self.indexer.embedder
    }

    /// Whether the bed has the source files of its chunks.
    pub(super) fn has_tree(&self) -> bool {
        self.origin != BedOrigin::Chunks
    }

    /// Whether another process of this program computes the same vectors.
    pub(super) fn can_be_served(&self) -> bool {
        self.embedder().id() == StaticModel::bundled().id()
    }

    /// Returns a feed of the chunk files that has read nothing yet.
    pub(super) fn feed(&self) -> ChunkFiles {
        ChunkFiles::new(self.layout().clone(), self.embedder().id(), self.embedder().dimensions())
    }

    /// Reads all chunks from the files.
    pub(super) fn load(&self) -> Result<Arc<ChunkSet>> {
        Ok(self.feed().load(&Cancel::new(false))?.set)
    }

    /// Returns a manager that has loaded nothing yet.
    pub(super) fn manager(&self) -> Result<ChunkManager> {
        Ok(ChunkManager::new(vec![Box::new(self.feed())], self.indexer.embedder.clone())?)
    }

    /// Saves the corpus of the chunks for the next process.
    pub(super) fn save(&self) -> Result<()> {
        let manager = self.manager()?;
        manager.reload(&Cancel::new(false))?;
        manager.save(0.0);
        Ok(())
    }

    /// Removes the saved corpus.
    pub(super) fn forget(&self) -> Result<()> {
        for entry in fs::read_dir(self.layout().cache_dir())? {
            let path = entry?.path();
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }

    /// Returns the paths of all files that are saved for the next process: chunks, vectors, indexes
    /// and the code graph.
    pub(super) fn saved_files(&self) -> Result<Vec<PathBuf>> {
        let (mut files, mut dirs) = (Vec::new(), vec![self.layout().dot_cortex()]);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir)? {
                let entry = entry?;
                let found = if entry.file_type()?.is_dir() { &mut dirs } else { &mut files };
                found.push(entry.path());
            }
        }
        Ok(files)
    }

    /// Returns the bytes that the saved index takes on disk.
    pub(super) fn saved_bytes(&self) -> Result<u64> {
        self.saved_files()?.iter().map(|path| Ok(fs::metadata(path)?.len())).sum()
    }

    /// Drops the saved files from the memory of the system. Returns whether all left it.
    pub(super) fn cool(&self) -> Result<bool> {
        let mut is_cold = true;
        for path in self.saved_files()? {
            is_cold &= drop_cached(&fs::File::open(path)?)?;
        }
        Ok(is_cold)
    }

    /// Returns the paths of the source files that have definitions.
    pub(super) fn source_files(&self) -> Result<Vec<String>> {
        let set = self.load()?;
        let definitions = set.all().iter().filter(|c| c.chunk_type == ChunkType::Definitions);
        let paths: BTreeSet<&str> = definitions.filter_map(|e| e.file_path.as_deref()).collect();
        Ok(paths.into_iter().map(String::from).collect())
    }

    fn n_chunks(&self) -> Result<usize> {
        let manifest = Manifest::read(self.layout())?.context("there is no index")?;
        let count = |t| {
            let (mut lines, mut n) = (ChunkLines::open(self.layout(), &manifest, t)?, 0);
            while lines.next_line()?.is_some() {
                n += 1;
            }
            Ok(n)
        };
        ChunkType::SEARCHED.into_iter().map(count).sum()
    }

    fn write_chunks(&self, given: &Given) -> Result<()> {
        let (layout, id, dimensions) =
            (self.layout(), self.embedder().id(), self.embedder().dimensions());
        let lock = WriteLock::acquire(layout, Duration::ZERO)?;
        let mut writer =
            ChunkWriter::create(layout, &lock, &Header::ours(id, dimensions), Packing::Plain)?;
        let mut vectors = VectorWriter::append(layout, &lock, id, dimensions)?;
        for (t, chunks) in given {
            let passages: Vec<Passage> = chunks.iter().map(|c| passage(c)).collect();
            let made = self.embedder().embed_passages(&passages)?;
            for ((chunk, passage), made) in chunks.iter().zip(&passages).zip(made) {
                vectors.put(
                    passage.key(),
                    &Quantized::new(chunk.embedding.as_deref().unwrap_or(&made)),
                )?;
                writer.put(*t, &Chunk { embedding: None, ..(**chunk).clone() }.to_json())?;
            }
        }
        vectors.finish()?;
        writer.publish(None, 0)?;
        Ok(())
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // If the temporary directory cannot be removed, it stays.
        let _ = fs::remove_dir_all(self.root());
    }
}

/// Writes the next generation, in which `n` chunks, spread over all, have a new text
/// and the same vectors.
///
/// # Errors
/// When the generation cannot be written.
pub fn change(bed: &Bed, n: usize) -> Result<()> {
    let (layout, id, dimensions) = (bed.layout(), bed.embedder().id(), bed.embedder().dimensions());
    let total = bed.n_chunks()?;
    let lock = WriteLock::acquire(layout, Duration::ZERO)?;
    let manifest = Manifest::read(layout)?.context("there is no index")?;
    let generation = manifest.generation.to_string();
    let cache = VectorCache::read(layout, id, dimensions);
    let mut writer =
        ChunkWriter::create(layout, &lock, &Header::ours(id, dimensions), Packing::Plain)?;
    let mut vectors = VectorWriter::append(layout, &lock, id, dimensions)?;
    let mut i = 0;
    for t in ChunkType::SEARCHED {
        let mut lines = ChunkLines::open(layout, &manifest, t)?;
        while let Some(line) = lines.next_line()? {
            let is_changed = i * n / total != (i + 1) * n / total;
            i += 1;
            if !is_changed {
                writer.put(t, line)?;
                continue;
            }
            let mut chunk = Chunk::from_json(line, t).map_err(|(_, e)| e)?;
            let vector = cache.get(passage(&chunk).key());
            chunk.text.extend(["\nrevision ", &generation]);
            chunk.updated_at += chrono::TimeDelta::seconds(1);
            if let Some(vector) = vector {
                vectors.put(passage(&chunk).key(), &vector)?;
            }
            writer.put(t, &chunk.to_json())?;
        }
    }
    vectors.finish()?;
    writer.publish(Some(&manifest), 1)?;
    Ok(())
}

type Given = Vec<(ChunkType, Vec<Arc<Chunk>>)>;

/// Reads and parses the chunk files of a directory.
pub(super) fn read_given(dir: &Path) -> Result<Given> {
    let read = |t: ChunkType| {
        let path: PathBuf = dir.join(Layout::chunk_file_name(t));
        match fs::read(&path) {
            Ok(bytes) => Ok((
                t,
                parse_chunk_file(&path, &bytes, t, None, |_, _| true)?
                    .entries
                    .iter()
                    .filter_map(|e| e.chunk())
                    .collect(),
            )),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((t, Vec::new())),
            Err(e) => Err(anyhow::Error::new(e).context(path.display().to_string())),
        }
    };
    ChunkType::ALL.into_par_iter().map(read).collect()
}

/// The embedder of given vectors. It cannot compute any itself.
struct GivenVectors {
    id: String,
    dimensions: usize,
}

impl Embedder for GivenVectors {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![vec![0.0; self.dimensions]; passages.len()])
    }

    fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(vec![1.0 / (self.dimensions as f32).sqrt(); self.dimensions])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkDelta;

    #[test]
    fn as_many_chunks_change_as_asked_and_all_keep_vectors() {
        let bed = Bed::generated(150).unwrap();
        let mut before = bed.load().unwrap();
        assert_eq!(bed.n_chunks().unwrap(), before.len());
        for n in [1, 7, 40] {
            change(&bed, n).unwrap();
            let after = bed.load().unwrap();
            let delta = ChunkDelta::between(&before, &after);
            assert_eq!((delta.updated.len(), delta.len()), (n, n));
            let cache =
                VectorCache::read(bed.layout(), bed.embedder().id(), bed.embedder().dimensions());
            assert!(
                after.all().iter().all(|e| cache.contains(passage(&e.chunk().unwrap()).key())),
                "no vector is made during a measurement"
            );
            before = after;
        }
        let dir = bed.root().to_path_buf();
        drop(bed);
        assert!(!dir.exists());
    }

    #[test]
    fn a_copy_has_what_the_project_has() {
        let project = Bed::generated(60).unwrap();
        let copy = Bed::copy_of(project.root(), &project.indexer.walk).unwrap();
        let ids =
            |bed: &Bed| bed.load().unwrap().all().iter().map(|c| c.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&project), ids(&copy));
        let chunks = Bed::of_chunks(&project.layout().chunks_dir()).unwrap();
        assert_eq!(ids(&project), ids(&chunks));
        assert!(!chunks.has_tree() && chunks.can_be_served());
    }
}
