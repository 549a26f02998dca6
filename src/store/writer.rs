//! Writes a new generation of chunk files, so that a reader sees either the old one or the new one,
//! whole, even after a crash.
//!
//! All files are written and synced under `.next` names, the new manifest last. From then on the
//! new generation is complete on disk. Only then are they renamed, the manifest last again. A
//! reader that comes between two renames, or after a crash between them, finds the rest under the
//! `.next` names. The next writer finishes the renames.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::blocks::{ChunkLines, WholeBlock, at};
use super::chunk_file::{CLOSE, Header, opening};
use super::layout::{MANIFEST, next_name};
use super::others::set_aside;
use super::packing::{FRAME_BYTES, Packing, pack};
use super::{Block, FileEntry, Layout, Manifest, WriteLock};
use crate::chunk::ChunkType;
use crate::dir::{Dir, SHARED_FILE, if_there};

/// Writes the files of one new generation, one for each type, chunk by chunk.
pub struct ChunkWriter<'a> {
    layout: &'a Layout,
    packing: Packing,
    files: Vec<Output>,
    /// Whether files of other programs under our names are moved aside instead of replaced.
    keeps_others: bool,
}

/// Removes the files that were not published: on a full disk they would take up space.
impl Drop for ChunkWriter<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            // A failure is ignored: the next writer overwrites the file.
            let _ = self.layout.remove(&next_name(&file.name));
        }
    }
}

struct Output {
    chunk_type: ChunkType,
    /// Its final name.
    name: String,
    /// Its path while it is written, for messages.
    path: PathBuf,
    out: BufWriter<File>,
    /// Content of the next frame, in a packed file.
    frame: Option<Vec<u8>>,
    hash: Xxh3,
    bytes: u64,
    n_chunks: usize,
    blocks: Vec<Block>,
    block: OpenBlock,
    /// Whether the separator after the last line is still to be written.
    is_open: bool,
    /// The last block, if it is that of the old file. It is written when a line follows it.
    held: Option<WholeBlock>,
}

/// The block that is being written.
#[derive(Default)]
struct OpenBlock {
    hash: Xxh3,
    bytes: u32,
    /// Length of its frames that ended, in a packed file.
    packed: u32,
    lines: u32,
    /// Whether the last line ends it.
    ends: bool,
}

/// Average number of lines in a block. A block ends at the latest when it has [`MAX_BLOCK_BYTES`]
/// or more.
const BLOCK_LINES: u64 = 256;
const MAX_BLOCK_BYTES: u32 = 1 << 20;
/// Number of bytes at the end of a line whose hash decides whether it ends its block. A line ends
/// with its time stamps.
const DECIDING: usize = 256;

impl Output {
    fn put(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.frame {
            Some(frame) => {
                frame.extend_from_slice(text);
                Ok(())
            }
            None => self.write(text),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Ends a frame and returns its length in bytes, which is 0 in a plain file.
    fn end_frame(&mut self) -> io::Result<u32> {
        let Some(frame) = &mut self.frame else { return Ok(0) };
        let packed = pack(frame)?;
        frame.clear();
        self.write(&packed)?;
        u32::try_from(packed.len()).map_err(io::Error::other)
    }

    /// Adds text that belongs to a block.
    fn put_in_block(&mut self, text: &[u8]) -> io::Result<()> {
        self.block.hash.update(text);
        // A line of 4 GB would make the file unreadable.
        self.block.bytes += u32::try_from(text.len())
            .map_err(|_| io::Error::other("a chunk is larger than 4 GB"))?;
        self.put(text)
    }

    fn put_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.separate()?;
        self.n_chunks += 1;
        self.block.lines += 1;
        self.is_open = true;
        self.put_in_block(line)?;
        let decides =
            xxh3_64(&line[line.len().saturating_sub(DECIDING)..]).is_multiple_of(BLOCK_LINES);
        self.block.ends = decides || self.block.bytes >= MAX_BLOCK_BYTES;
        Ok(())
    }

    /// Adds lines with the separators between them.
    fn put_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', lines).chain([lines.len()]) {
            let line = &lines[start..end];
            start = end + 1;
            if !line.is_empty() {
                self.put_line(line.strip_suffix(b",").unwrap_or(line))?;
            }
        }
        Ok(())
    }

    /// Completes what is before the next line.
    fn separate(&mut self) -> io::Result<()> {
        if let Some(WholeBlock { block, bytes }) = self.held.take() {
            self.write(&bytes)?;
            self.n_chunks += block.lines as usize;
            self.blocks.push(block);
        }
        if self.is_open { self.end_line(b",\n") } else { Ok(()) }
    }

    /// Whether the next line begins a block.
    fn is_between_blocks(&self) -> bool {
        !self.is_open || self.block.ends
    }

    /// Adds the lines of a block of the old file, which has the same packing.
    fn put_block(&mut self, block: WholeBlock) -> io::Result<()> {
        self.separate()?;
        self.held = Some(block);
        Ok(())
    }

    fn end_line(&mut self, with: &[u8]) -> io::Result<()> {
        self.is_open = false;
        self.put_in_block(with)?;
        if self.block.ends {
            self.end_block()?;
        } else if self.frame.as_ref().is_some_and(|frame| frame.len() >= FRAME_BYTES) {
            self.block.packed += self.end_frame()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        let OpenBlock { hash, bytes, packed, lines, .. } = std::mem::take(&mut self.block);
        let packed = packed + self.end_frame()?;
        self.blocks.push(Block { packed, ..Block::new(bytes, lines, hash.digest128()) });
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        // Its last line is the last one of the file now, so it has no comma.
        if let Some(last) = self.held.take() {
            self.put_lines(&last.lines()?)?;
        }
        if self.is_open {
            self.end_line(b"\n")?;
        }
        if self.block.bytes > 0 {
            self.end_block()?;
        }
        self.put(CLOSE.as_bytes())?;
        self.end_frame()?;
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}

impl<'a> ChunkWriter<'a> {
    /// Starts a file for each type beside the current ones. The parameter `_lock` proves that no
    /// other process writes.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub fn create(
        layout: &'a Layout,
        _lock: &WriteLock,
        header: &Header,
        packing: Packing,
    ) -> io::Result<Self> {
        let dir = layout.data()?;
        let open = |chunk_type| {
            let name = Layout::chunk_name(chunk_type, packing);
            let next = next_name(&name);
            let out = BufWriter::with_capacity(1 << 16, dir.create(&next, SHARED_FILE)?);
            let mut file = Output {
                chunk_type,
                name,
                path: layout.full(&next),
                out,
                frame: (packing == Packing::Zstd).then(Vec::new),
                hash: Xxh3::new(),
                bytes: 0,
                n_chunks: 0,
                blocks: Vec::new(),
                block: OpenBlock::default(),
                is_open: false,
                held: None,
            };
            file.put(opening(header).as_bytes())?;
            file.end_frame()?;
            Ok(file)
        };
        Ok(Self {
            layout,
            packing,
            files: ChunkType::ALL.into_iter().map(open).collect::<io::Result<_>>()?,
            keeps_others: true,
        })
    }

    /// Makes [`ChunkWriter::publish`] replace files that other programs wrote under our names,
    /// instead of moving them aside.
    pub fn replace_others(&mut self) {
        self.keeps_others = false;
    }

    /// Adds one chunk as a line of JSON.
    ///
    /// # Errors
    /// When the file cannot be written, for example on a full disk. The current generation is
    /// untouched.
    pub fn put(&mut self, chunk_type: ChunkType, json_line: &str) -> io::Result<()> {
        self.put_lines(chunk_type, json_line.as_bytes())
    }

    /// Adds chunks in the form that [`ChunkLines::next_lines`] returns.
    ///
    /// # Errors
    /// Same as [`ChunkWriter::put`].
    pub fn put_lines(&mut self, chunk_type: ChunkType, lines: &[u8]) -> io::Result<()> {
        let file = self.output(chunk_type);
        file.put_lines(lines).map_err(|e| at(&file.path, &e))
    }

    fn output(&mut self, chunk_type: ChunkType) -> &mut Output {
        let mut files = self.files.iter_mut();
        // Cannot fail: `create` opened one file for each type.
        files.find(|f| f.chunk_type == chunk_type).expect("a file for each type")
    }

    /// Copies the next `n` chunks of the old file of a type (fewer at its end). Returns how many
    /// they are. Whole blocks are copied as they are.
    ///
    /// # Errors
    /// Same as [`ChunkWriter::put`], or when the old file cannot be read.
    pub fn copy(
        &mut self,
        chunk_type: ChunkType,
        old: &mut ChunkLines,
        n: usize,
    ) -> io::Result<usize> {
        let (mut left, packing) = (n, self.packing);
        let file = self.output(chunk_type);
        while left > 0 {
            let takes_block = file.is_between_blocks() && old.packing() == packing;
            if takes_block && let Some(block) = old.next_block(left)? {
                left -= block.block.lines as usize;
                file.put_block(block).map_err(|e| at(&file.path, &e))?;
                continue;
            }
            let (lines, n_read) = old.next_lines(left)?;
            if n_read == 0 {
                break;
            }
            file.put_lines(lines).map_err(|e| at(&file.path, &e))?;
            left -= n_read;
        }
        Ok(n - left)
    }

    /// Completes the files and publishes them as the generation after `current`, in which
    /// `n_changed` files of the tree changed. If the files are the same as before, it publishes
    /// nothing and returns the current manifest.
    ///
    /// # Errors
    /// When a file cannot be written or renamed.
    pub fn publish(mut self, current: Option<&Manifest>, n_changed: usize) -> io::Result<Manifest> {
        let mut manifest = Manifest {
            generation: current.map_or(0, |m| m.generation) + 1,
            indexed_at: Some(chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true)),
            n_changed,
            files: std::collections::BTreeMap::new(),
            blocks: std::collections::BTreeMap::new(),
        };
        // In parallel: the disk takes as long for all files as for one.
        let complete = |f: &mut Output| f.complete().map_err(|e| at(&f.path, &e));
        self.files.par_iter_mut().try_for_each(complete)?;
        for file in &self.files {
            let entry = FileEntry::new(file.bytes, file.hash.digest128());
            let name = Layout::chunk_file_name_as(file.chunk_type, self.packing);
            manifest.files.insert(name.clone(), entry);
            manifest.blocks.insert(name, file.blocks.clone());
        }
        if let Some(current) =
            current.filter(|c| (&c.files, &c.blocks) == (&manifest.files, &manifest.blocks))
        {
            return Ok(current.clone());
        }
        let dir = self.layout.data()?;
        dir.replace(next_name(MANIFEST), &manifest.to_sealed(self.layout)?, SHARED_FILE, true)?;
        sync_chunks(&dir)?;
        // The new generation is complete, so from here on `drop` must not remove its files.
        self.files.clear();
        rename_all(&dir, &manifest, self.keeps_others)?;
        Ok(manifest)
    }
}

/// Finishes the renames of a writer that died after its generation was complete. Drops the manifest
/// of an incomplete generation. A writer calls this under the lock, before it reads anything.
///
/// # Errors
/// When a rename fails.
pub fn recover(layout: &Layout, _lock: &WriteLock) -> io::Result<()> {
    // Only the holder of the lock writes there.
    if let Ok(chunks) = layout.chunks() {
        chunks.remove_unfinished(Duration::ZERO);
    }
    let Some(next) = Manifest::read_next(layout)? else { return Ok(()) };
    let complete = ChunkType::ALL.iter().all(|t| {
        let name = next.chunk_name(*t);
        next.entry(*t).is_some()
            && (next.states(layout, *t, &name) || next.states(layout, *t, &next_name(&name)))
    });
    if complete {
        rename_all(&layout.data()?, &next, true)
    } else {
        layout.remove(&next_name(MANIFEST))
    }
}

fn rename_all(dir: &Dir, manifest: &Manifest, keeps_others: bool) -> io::Result<()> {
    let ours = ChunkType::ALL.map(|t| manifest.chunk_name(t));
    let all = || ChunkType::ALL.into_iter().flat_map(Layout::chunk_names);
    if keeps_others {
        all().try_for_each(|name| set_aside(dir, &name))?;
    }
    for name in ours.iter().map(String::as_str).chain([MANIFEST]) {
        if_there(dir.rename(next_name(name), name))?;
    }
    // Files with the other packing are obsolete.
    for name in all().filter(|name| !ours.contains(name)) {
        if_there(dir.remove_file(&name))?;
    }
    sync_chunks(dir)
}

/// Syncs the directory, so that the names of chunk files survive a loss of power.
fn sync_chunks(dir: &Dir) -> io::Result<()> {
    dir.dir("chunks")?.sync()
}
