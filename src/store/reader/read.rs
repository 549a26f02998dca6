//! Reads the chunk files whose content changed, and tells whether they belong together.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::lines::HeldFile;
use super::loaded::{FileContent, KnownFiles, LoadedBlock, LoadedFile, Stamp, stamp, unusable};
use crate::chunk::{Cancel, ChunkType};
use crate::dir::{Stat, if_there};
use crate::store::blocks::{read_block, starts};
use crate::store::chunk_file::{ChunkFileError, is_ours};
use crate::store::layout::{Layout, MANIFEST, in_chunks, next_name};
use crate::store::manifest::{Block, FileEntry, Manifest};
use crate::store::others::{ChunkFileId, MAX_FILES};
use crate::store::packing::Packing;

/// Largest chunk file of another program that is read, in bytes, and the largest sum of those
/// beside an index. They are parsed whole, which takes a multiple of that in memory.
const MAX_FOREIGN_BYTES: u64 = 512 << 20;

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
    #[error("{}: it is not the file that cortex wrote, so it is not used; run `cortex index` to repair", path.display())]
    Changed { path: PathBuf },
    #[error("the load was cancelled")]
    Cancelled,
}

/// A file that was read and not parsed. Parsing begins after all files are known to belong
/// together: it takes long, and writers do not wait for it.
#[derive(Debug)]
pub(super) enum Raw {
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
pub(super) enum RawBlock {
    Known(Block, LoadedBlock),
    New(Block, Vec<u8>),
}

impl Raw {
    pub(super) fn entry(&self) -> &FileEntry {
        match self {
            Self::Known(file) => &file.entry,
            Self::New { entry, .. } | Self::Blocks { entry, .. } => entry,
        }
    }
}

pub(super) type RawFiles = Vec<(ChunkFileId, Raw)>;

/// What one look at the files found.
pub(super) enum Consistency {
    Consistent(RawFiles, Option<Manifest>),
    Torn(RawFiles, Manifest),
    /// The manifest cannot be understood.
    Senseless(RawFiles),
}

fn matches(manifest: &Manifest, files: &[(ChunkFileId, Raw)]) -> bool {
    ChunkType::ALL.iter().all(|t| {
        let there =
            files.iter().find(|(which, _)| *which == ChunkFileId::Of(*t)).map(|(_, f)| f.entry());
        manifest.entry(*t) == there
    })
}

/// Reads the files of a project, given what the previous load read.
pub(super) struct FileReader<'a> {
    pub(super) layout: &'a Layout,
    pub(super) known: &'a KnownFiles,
    pub(super) cancel: &'a Cancel,
}

impl FileReader<'_> {
    /// Looks at the files once. It reads the manifest before the files, since a writer writes it
    /// after them.
    pub(super) fn look(&self) -> Result<Consistency, LoadError> {
        let unreadable = |source| LoadError::Manifest { source };
        let manifest = Manifest::read(self.layout).map_err(unreadable)?;
        let files = match &manifest {
            Some(manifest) => self.read_blocks(manifest)?,
            None => None,
        };
        let files = match files {
            Some(files) => files,
            None => self.read_all(manifest.as_ref(), false)?,
        };
        if manifest.as_ref().is_some_and(|m| matches(m, &files)) {
            return Ok(Consistency::Consistent(files, manifest));
        }
        // A writer that died between its renames left a complete set: the `.next` files are those
        // that it did not rename.
        if let Some(next) = Manifest::read_next(self.layout).map_err(unreadable)? {
            let rolled = self.read_all(Some(&next), true)?;
            if matches(&next, &rolled) {
                return Ok(Consistency::Consistent(rolled, Some(next)));
            }
        }
        let files = self.without_unsealed(files, manifest.as_ref());
        match manifest {
            Some(manifest) => Ok(Consistency::Torn(files, manifest)),
            // The first manifest appeared while the files were read, so they may be older than it.
            None if Manifest::read(self.layout).map_err(unreadable)?.is_some() => self.look(),
            None if self.layout.has(MANIFEST) => Ok(Consistency::Senseless(files)),
            None => Ok(Consistency::Consistent(files, None)),
        }
    }

    /// Leaves out files that begin as ours do, but are not those of a manifest that this user wrote: they
    /// may have come with a repository, and the next run writes them anew.
    fn without_unsealed(&self, mut files: RawFiles, manifest: Option<&Manifest>) -> RawFiles {
        let Ok(dir) = self.layout.data() else { return files };
        files.retain(|(which, raw)| {
            let ChunkFileId::Of(t) = which else { return true };
            let name =
                manifest.map_or_else(|| self.layout.chunk_name_found(*t), |m| m.chunk_name(*t));
            manifest.and_then(|m| m.entry(*t)) == Some(raw.entry()) || !is_ours(&dir, &name)
        });
        files
    }

    /// Reads the new blocks of files that match the manifest. Returns `None` if the manifest states
    /// no blocks or anything differs from it: then the caller reads the files whole and compares
    /// them.
    fn read_blocks(&self, manifest: &Manifest) -> Result<Option<RawFiles>, LoadError> {
        let written = self.layout.stat(MANIFEST).ok().flatten().map(|stat| stat.modified);
        let read = |t: ChunkType| -> Result<Option<Option<(ChunkFileId, Raw)>>, LoadError> {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let name = manifest.chunk_name(t);
            Ok(match manifest.entry(t) {
                Some(entry) => self
                    .read_blocks_of(&name, t, entry, manifest.blocks(t), written)
                    .map(|raw| Some((ChunkFileId::Of(t), raw))),
                None => (!self.layout.has(&self.layout.chunk_name_found(t))).then_some(None),
            })
        };
        let read: Result<Vec<_>, _> = ChunkType::ALL.into_par_iter().map(read).collect();
        Ok(read?
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .map(|files| files.into_iter().flatten().collect()))
    }

    fn read_blocks_of(
        &self,
        name: &str,
        t: ChunkType,
        entry: &FileEntry,
        blocks: &[Block],
        written: Option<SystemTime>,
    ) -> Option<Raw> {
        let mut file = self.layout.open_file(name).ok()?;
        let metadata = Stat::of(&file).ok()?;
        let stamp = stamp(&metadata);
        let known = self.known.get(&ChunkFileId::Of(t));
        if let Some(known) =
            known.filter(|k| k.stamp.is_some() && k.stamp == stamp && k.entry == *entry)
        {
            return Some(Raw::Known(known.clone()));
        }
        if blocks.is_empty() {
            // The file has no chunks, or an older version without blocks wrote the manifest.
            return self
                .read_file(name, &ChunkFileId::Of(t))
                .ok()?
                .filter(|raw| raw.entry() == entry);
        }
        if metadata.bytes != entry.bytes {
            return None;
        }
        // The writer renames the manifest last, so another program may have changed a file that is
        // younger.
        let is_older = metadata.modified < written?;
        if !is_older && FileEntry::of_file(&mut file).ok()? != *entry {
            return None;
        }
        let known: FxHashMap<&str, &LoadedBlock> = match known.map(|k| &k.content) {
            Some(FileContent::Blocks(blocks)) => {
                blocks.iter().map(|b| (&*b.block.hash, b)).collect()
            }
            _ => FxHashMap::default(),
        };
        let read = |(start, block): (u64, &Block)| match known.get(&*block.hash) {
            Some(known) => Some((start, RawBlock::Known(block.clone(), (*known).clone()))),
            None => Some((start, RawBlock::New(block.clone(), read_block(&file, start, block)?))),
        };
        let starts = starts(&file, Packing::of(name), entry.bytes, blocks)?;
        let blocks = starts.into_par_iter().map(read).collect::<Option<Vec<_>>>()?;
        Some(Raw::Blocks { stamp, entry: entry.clone(), file: HeldFile::new(file), blocks })
    }

    /// Reads whole files. If `is_next`, the manifest is the `.next` one, and a file that does not
    /// match it is read under its `.next` name.
    fn read_all(&self, manifest: Option<&Manifest>, is_next: bool) -> Result<RawFiles, LoadError> {
        let read = |t: ChunkType| -> Result<Option<(ChunkFileId, Raw)>, LoadError> {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let name =
                manifest.map_or_else(|| self.layout.chunk_name_found(t), |m| m.chunk_name(t));
            let file = self.read_file(&name, &ChunkFileId::Of(t));
            let wanted = manifest.filter(|_| is_next).and_then(|m| m.entry(t));
            if let Some(wanted) = wanted
                && !file.as_ref().is_ok_and(|f| f.as_ref().is_some_and(|f| f.entry() == wanted))
            {
                return Ok(self
                    .read_file(&next_name(&name), &ChunkFileId::Of(t))?
                    .map(|f| (ChunkFileId::Of(t), f)));
            }
            Ok(file?.map(|f| (ChunkFileId::Of(t), f)))
        };
        let read: Result<Vec<_>, _> = ChunkType::ALL.into_par_iter().map(read).collect();
        Ok(read?.into_iter().flatten().collect())
    }

    /// Reads the further files of other programs, within the limits. If one cannot be read, the
    /// others are served all the same.
    pub(super) fn read_others(&self) -> Result<RawFiles, LoadError> {
        let mut room = MAX_FOREIGN_BYTES;
        let read = |(at, name): (usize, String)| {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LoadError::Cancelled);
            }
            let (path, which) = (in_chunks(&name), ChunkFileId::other(&name));
            let n_bytes = self
                .layout
                .stat(&path)
                .ok()
                .flatten()
                .map_or(0, |stat| Packing::of(&path).most_bytes(stat.bytes));
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
            let file = file
                .unwrap_or_else(|e| Some(Raw::Known(Arc::new(unusable(self.known, &which, &e)))));
            Ok(file.map(|file| (which, file)))
        };
        self.layout
            .other_chunk_files()
            .into_iter()
            .enumerate()
            .map(read)
            .filter_map(Result::transpose)
            .collect()
    }

    fn read_file(&self, name: &str, which: &ChunkFileId) -> Result<Option<Raw>, ChunkFileError> {
        let path = self.layout.full(name);
        let unreadable = |source| ChunkFileError::Read { source };
        let Some(stat) = self.layout.stat(name).map_err(unreadable)? else { return Ok(None) };
        let stamp = stamp(&stat);
        let known = self.known.get(which);
        if let Some(known) = known
            && stamp.is_some()
            && known.stamp == stamp
        {
            return Ok(Some(Raw::Known(known.clone())));
        }
        let read = if_there(self.layout.read(name, MAX_FOREIGN_BYTES)).map_err(unreadable)?;
        let Some(bytes) = read else { return Ok(None) };
        let entry = FileEntry::of(&bytes);
        if let Some(known) = known.filter(|k| k.entry == entry) {
            let LoadedFile { content, warning, .. } = &**known;
            if let FileContent::Blocks(blocks) = content {
                // The same lines are at the same places of this file; the one that was known under
                // the name may hold others by now.
                let file = HeldFile::new(self.layout.open_file(name).map_err(unreadable)?);
                for block in blocks.iter() {
                    let place = block.lines.place();
                    let packed = Block { packed: place.packed, ..block.block.clone() };
                    block.lines.move_to(&file, place.start, &packed);
                }
            }
            let again =
                LoadedFile { stamp, entry, content: content.clone(), warning: warning.clone() };
            return Ok(Some(Raw::Known(Arc::new(again))));
        }
        Ok(Some(Raw::New { path, stamp, entry, bytes }))
    }
}
