//! Turns what was read of a chunk file into entries.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::lines::{BlockLines, HeldFile};
use super::loaded::{FileContent, KnownFiles, LoadedBlock, LoadedFile};
use super::read::{Raw, RawBlock};
use crate::chunk::{ChunkType, LineStore};
use crate::store::chunk_file::{
    ChunkFileError, GENERATOR, Header, ParsedFile, parse_block, parse_chunk_file,
};
use crate::store::layout::Layout;
use crate::store::others::ChunkFileId;
use crate::store::packing::{Packing, unpack};

/// Parses files, given what the previous load read.
pub(super) struct FileParser<'a> {
    pub(super) layout: &'a Layout,
    pub(super) known: &'a KnownFiles,
    /// The active embedder, and the length of its vectors.
    pub(super) embedder: &'a str,
    pub(super) dimensions: usize,
}

impl FileParser<'_> {
    pub(super) fn parse(
        &self,
        raw: Raw,
        which: &ChunkFileId,
    ) -> Result<Arc<LoadedFile>, ChunkFileError> {
        let file_type = which.chunk_type();
        let (path, stamp, entry, bytes) = match raw {
            Raw::Known(file) => return Ok(file),
            Raw::Blocks { stamp, entry, file, blocks } => {
                let load = |(start, raw)| load_block(raw, file_type, &file, start);
                let malformed = || ChunkFileError::Malformed {
                    path: self.layout.full(&self.layout.chunk_name_found(file_type)),
                    line: 1,
                    column: 1,
                    message: "a block that the manifest lists does not hold one chunk on each line"
                        .into(),
                };
                let blocks = blocks
                    .into_par_iter()
                    .map(load)
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(malformed)?;
                let as_before = match self.known.get(which).map(|k| &k.content) {
                    Some(FileContent::Blocks(before)) if before.iter().eq(&blocks) => {
                        Some(before.clone())
                    }
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
        if which.is_other()
            && content.header.as_ref().is_some_and(|h| h.generator.starts_with(GENERATOR))
        {
            // This is a copy of a file of ours, and its content may be outdated.
            let copy =
                "Cortex wrote this chunk file under another name, so it is not served; remove it";
            (content, warning) =
                (ParsedFile::default(), Some(format!("{}: {copy}", path.display())));
        }
        Ok(Arc::new(LoadedFile {
            stamp,
            entry,
            content: FileContent::Parsed(Arc::new(content)),
            warning,
        }))
    }

    /// Returns a warning if the file has inline vectors that do not count. The warning names their
    /// embedder.
    fn warning(&self, path: &Path, content: &ParsedFile) -> Option<String> {
        let n = content.dimensions.filter(|_| !content.keeps_vectors)?;
        let whose = match content.header.as_ref().map_or("", |h| &h.embedder) {
            "" => "an unnamed embedder".into(),
            own if own == self.embedder => format!("{n} numbers, not {},", self.dimensions),
            other => other.to_string(),
        };
        let (n_ignored, embedder) = (content.n_vectors(), &self.embedder);
        Some(format!(
            "{}: {n_ignored} inline vectors of {whose} are ignored and made anew by {embedder}; leave them out of the file, or set embed.model to their model",
            path.display()
        ))
    }
}

/// Turns a raw block into a loaded one, located in the file that holds it now.
fn load_block(
    raw: RawBlock,
    file_type: ChunkType,
    file: &Arc<HeldFile>,
    start: u64,
) -> Option<LoadedBlock> {
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
