//! Loaded chunk files in the form in which a cache keeps them.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::lines::{BlockLines, BlockLocation, HeldFile};
use super::loaded::{FileContent, KnownFiles, LoadedBlock, LoadedFile, Stamp, in_order};
use crate::chunk::{ChunkId, ChunkType, Entry, Fingerprint, LineStore, SaveWriter, SavedFiles};
use crate::store::chunk_file::{Header, ParsedFile, Source};
use crate::store::foreign::{Bytes, ForeignLines, VectorRow};
use crate::store::layout::Layout;
use crate::store::manifest::{Block, FileEntry};
use crate::store::others::ChunkFileId;
use crate::store::packing::Packing;

const SAVED: &str = "chunks.bin";
/// The lines of chunks from other programs, and their vectors.
const KEPT_LINES: &str = "kept-lines.bin";
const KEPT_VECTORS: &str = "kept-vectors.bin";

/// A chunk file in its saved form.
#[derive(Encode, Decode)]
struct SavedChunkFile {
    which: ChunkFileId,
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
struct SharedPositions {
    paths: Positions,
    languages: Positions,
}

impl SharedPositions {
    /// Returns the line of a chunk in its saved form; `None` for a chunk whose text is only in
    /// memory.
    fn save(&mut self, entry: &Entry, at: Option<Range<u32>>) -> Option<SavedLine> {
        let (hash, place) = entry.line()?;
        let at = at.unwrap_or(place);
        let (path, language) = (
            entry.file_path.as_ref().map(|p| self.paths.of(p)),
            entry.language.as_ref().map(|l| self.languages.of(l)),
        );
        Some(SavedLine { id: entry.id.clone(), path, language, hash, start: at.start, end: at.end })
    }
}

/// The shared texts, read again.
struct RestoredTexts {
    paths: Vec<Arc<str>>,
    languages: Vec<Arc<str>>,
}

impl RestoredTexts {
    fn entry(
        &self,
        line: SavedLine,
        chunk_type: ChunkType,
        lines: &Arc<dyn LineStore>,
    ) -> Option<Arc<Entry>> {
        let text = |at: Option<u32>, all: &[Arc<str>]| {
            at.map(|at| all.get(at as usize).cloned().ok_or(())).transpose().ok()
        };
        let (path, language) =
            (text(line.path, &self.paths)?, text(line.language, &self.languages)?);
        let place = (line.hash, lines.clone(), line.start..line.end);
        Some(Arc::new(Entry::of_known_line(line.id, path, chunk_type, language, place)))
    }
}

/// Saves files without duplicate ids.
pub(super) fn save(
    known: &KnownFiles,
    had_manifest: bool,
    saving: &mut dyn SaveWriter,
) -> io::Result<()> {
    let mut kept = ForeignLines::default();
    let files = to_save(known, had_manifest, &mut kept)
        .ok_or_else(|| io::Error::other("they hold chunks that are only in memory"))?;
    if let (Bytes::Here(lines), Bytes::Here(vectors)) = (&kept.text, &kept.vectors)
        && !lines.is_empty()
    {
        saving.put(KEPT_LINES, lines)?;
        saving.put(KEPT_VECTORS, vectors)?;
    }
    saving.put(SAVED, &bitcode::encode(&files))
}

/// Returns the files that were saved, and whether they had a manifest. `None` when they cannot be
/// restored.
pub(super) fn restore(layout: &Layout, saved: &dyn SavedFiles) -> Option<(KnownFiles, bool)> {
    let SavedChunkFiles { had_manifest, paths, languages, files } =
        bitcode::decode(&saved.read(SAVED).ok()?).ok()?;
    let shared = RestoredTexts { paths, languages };
    let restore = |file: SavedChunkFile| {
        Some((file.which.clone(), Arc::new(restore_file(layout, file, &shared, saved)?)))
    };
    Some((files.into_par_iter().map(restore).collect::<Option<KnownFiles>>()?, had_manifest))
}

/// Returns the known files in their saved form, and adds lines and vectors of other programs to
/// `kept`. Returns `None` if a file holds more than its lines can restore.
fn to_save(
    known: &KnownFiles,
    had_manifest: bool,
    kept: &mut ForeignLines,
) -> Option<SavedChunkFiles> {
    let mut shared = SharedPositions::default();
    let mut files = Vec::new();
    for which in in_order(known) {
        let file = &known[which];
        let content = match &file.content {
            FileContent::Blocks(blocks) => SavedFileContent::Blocks(
                blocks.iter().map(|b| b.to_save(&mut shared)).collect::<Option<_>>()?,
            ),
            // This is a file of ours that does not match its manifest.
            FileContent::Parsed(parsed)
                if had_manifest && !which.is_other() && !parsed.entries.is_empty() =>
            {
                return None;
            }
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
    Some(SavedChunkFiles {
        had_manifest,
        paths: shared.paths.1,
        languages: shared.languages.1,
        files,
    })
}

fn restore_file(
    layout: &Layout,
    file: SavedChunkFile,
    shared: &RestoredTexts,
    saved: &dyn SavedFiles,
) -> Option<LoadedFile> {
    let SavedChunkFile { which, entry, content } = file;
    let chunk_type = which.chunk_type();
    match content {
        SavedFileContent::Blocks(blocks) => {
            let name = match blocks.first() {
                Some(first) if first.block.packed > 0 => {
                    Layout::chunk_name(chunk_type, Packing::Zstd)
                }
                Some(_) => Layout::chunk_name(chunk_type, Packing::Plain),
                None => layout.chunk_name_found(chunk_type),
            };
            let file = HeldFile::new(layout.open_file(&name).ok()?);
            let load = |SavedBlock { start, block, lines: saved_lines }: SavedBlock| {
                let lines = Arc::new(BlockLines::at(&file, start, &block));
                let as_lines: Arc<dyn LineStore> = lines.clone();
                let entries = saved_lines
                    .into_iter()
                    .map(|line| shared.entry(line, chunk_type, &as_lines))
                    .collect::<Option<_>>()?;
                Some(LoadedBlock { block, lines, entries })
            };
            let blocks = blocks.into_par_iter().map(load).collect::<Option<Vec<_>>>()?;
            // The stamp is left out: another file may have the name by now.
            Some(LoadedFile {
                stamp: None,
                entry,
                content: FileContent::Blocks(Arc::new(blocks)),
                warning: None,
            })
        }
        SavedFileContent::Kept(file) => {
            let SavedForeignFile {
                stamp,
                warning,
                header,
                dimensions,
                keeps_vectors,
                sources,
                types,
                lines,
                rows,
            } = *file;
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
            Some(LoadedFile {
                stamp,
                entry,
                content: FileContent::Parsed(Arc::new(parsed)),
                warning,
            })
        }
    }
}

impl LoadedBlock {
    fn to_save(&self, shared: &mut SharedPositions) -> Option<SavedBlock> {
        let lines =
            self.entries.iter().map(|entry| shared.save(entry, None)).collect::<Option<_>>()?;
        let BlockLocation { start, packed, .. } = self.lines.place();
        Some(SavedBlock { start, block: Block { packed, ..self.block.clone() }, lines })
    }
}
