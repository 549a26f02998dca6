//! Writing a new generation of chunk files, so that a reader (or a crash) sees the old one or the new one, whole.
//!
//! All files are written and synced under `.next` names, the new manifest last: from then on the new generation is
//! complete on disk. Only then are they renamed, the manifest last again. A reader that comes between two renames, or
//! after a death between them, finds the rest under the `.next` names; the next writer finishes the renames.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::chunk_file::{CLOSE, Header, opening};
use super::layout::{MANIFEST, SHARED_FILE, next_name};
use super::others::set_aside;
use super::packing::{Packing, pack};
use super::{Block, FileEntry, Layout, Manifest, WriteLock};
use crate::chunk::ChunkType;
use crate::dir::Dir;

/// Writes the four files of one new generation, chunk by chunk.
pub struct ChunkWriter<'a> {
    layout: &'a Layout,
    packing: Packing,
    files: Vec<Output>,
    /// Files of other programs under our names are moved aside, not replaced.
    keeps_others: bool,
}

/// What was begun and not published is taken away: on a full disk it would be in the way.
impl Drop for ChunkWriter<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            // Nothing can be done about a file that stays; the next writer overwrites it.
            let _ = self.layout.remove(&next_name(&file.name));
        }
    }
}

struct Output {
    chunk_type: ChunkType,
    /// What it will be called.
    name: String,
    /// Where it is written, for messages.
    path: PathBuf,
    out: BufWriter<File>,
    /// What the next frame will hold, in a packed file.
    frame: Option<Vec<u8>>,
    hash: Xxh3,
    bytes: u64,
    n_chunks: usize,
    blocks: Vec<Block>,
    /// Of the block that is being written.
    block_hash: Xxh3,
    block_bytes: u32,
    /// The last line ends its block.
    block_ends: bool,
}

/// A block has so many lines on average, and is as large as this at most, if no single line is larger.
const BLOCK_LINES: u64 = 256;
const MAX_BLOCK_BYTES: u32 = 1 << 20;
/// Bytes at the end of a line that decide whether it ends its block: it ends with its time stamps.
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

    /// Ends a frame; returns how long it is, 0 in a plain file.
    fn end_frame(&mut self) -> io::Result<u32> {
        let Some(frame) = &mut self.frame else { return Ok(0) };
        let packed = pack(frame)?;
        frame.clear();
        self.write(&packed)?;
        u32::try_from(packed.len()).map_err(io::Error::other)
    }

    /// Adds text that belongs to a block.
    fn put_in_block(&mut self, text: &[u8]) -> io::Result<()> {
        self.block_hash.update(text);
        // A line of 4 GB is no line: the file could not be read.
        self.block_bytes += u32::try_from(text.len()).map_err(|_| io::Error::other("a chunk is larger than 4 GB"))?;
        self.put(text)
    }

    fn put_line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.n_chunks > 0 {
            self.end_line(b",\n")?;
        }
        self.n_chunks += 1;
        self.put_in_block(line)?;
        let decides = xxh3_64(&line[line.len().saturating_sub(DECIDING)..]).is_multiple_of(BLOCK_LINES);
        self.block_ends = decides || self.block_bytes >= MAX_BLOCK_BYTES;
        Ok(())
    }

    fn end_line(&mut self, with: &[u8]) -> io::Result<()> {
        self.put_in_block(with)?;
        if self.block_ends {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        let block = Block::new(std::mem::take(&mut self.block_bytes), self.block_hash.digest128());
        let packed = self.end_frame()?;
        self.blocks.push(Block { packed, ..block });
        self.block_hash = Xxh3::new();
        self.block_ends = false;
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        if self.n_chunks > 0 {
            self.end_line(b"\n")?;
        }
        if self.block_bytes > 0 {
            self.end_block()?;
        }
        self.put(CLOSE.as_bytes())?;
        self.end_frame()?;
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}

impl<'a> ChunkWriter<'a> {
    /// Starts four files beside the current ones. The lock is asked for as proof that nobody else writes.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub fn create(layout: &'a Layout, _lock: &WriteLock, header: &Header, packing: Packing) -> io::Result<Self> {
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
                block_hash: Xxh3::new(),
                block_bytes: 0,
                block_ends: false,
            };
            file.put(opening(header).as_bytes())?;
            file.end_frame()?;
            Ok(file)
        };
        Ok(Self { layout, packing, files: ChunkType::ALL.into_iter().map(open).collect::<io::Result<_>>()?, keeps_others: true })
    }

    /// Replaces files of other programs that have the names of ours.
    pub fn replace_others(&mut self) {
        self.keeps_others = false;
    }

    /// Adds one chunk, given as one line of JSON.
    ///
    /// # Errors
    /// When the file cannot be written (a full disk): the current generation is untouched.
    pub fn put(&mut self, chunk_type: ChunkType, json_line: &str) -> io::Result<()> {
        self.put_lines(chunk_type, json_line.as_bytes())
    }

    /// Adds chunks as [`ChunkLines::next_lines`] gives them.
    ///
    /// # Errors
    /// As [`ChunkWriter::put`].
    pub fn put_lines(&mut self, chunk_type: ChunkType, lines: &[u8]) -> io::Result<()> {
        // Cannot fail: `create` opened one file for each type.
        let file = self.files.iter_mut().find(|f| f.chunk_type == chunk_type).expect("a file for each type");
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', lines).chain([lines.len()]) {
            let line = &lines[start..end];
            start = end + 1;
            if !line.is_empty() {
                let put = file.put_line(line.strip_suffix(b",").unwrap_or(line));
                put.map_err(|e| at(&file.path, &e))?;
            }
        }
        Ok(())
    }

    /// Completes the files and publishes them as the generation after `current`, in which `n_changed` files of the tree changed;
    /// when the files say the same as before, nothing is published and the current manifest is returned.
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
        // Beside one another: the disk takes as long for four files as for one.
        let complete = |f: &mut Output| f.complete().map_err(|e| at(&f.path, &e));
        self.files.par_iter_mut().try_for_each(complete)?;
        for file in &self.files {
            let entry = FileEntry::new(file.bytes, file.hash.digest128());
            let name = Layout::chunk_file_name_as(file.chunk_type, self.packing);
            manifest.files.insert(name.clone(), entry);
            manifest.blocks.insert(name, file.blocks.clone());
        }
        if let Some(current) = current.filter(|c| (&c.files, &c.blocks) == (&manifest.files, &manifest.blocks)) {
            return Ok(current.clone());
        }
        let dir = self.layout.data()?;
        dir.replace(next_name(MANIFEST), &serde_json::to_vec(&manifest)?, SHARED_FILE, true)?;
        sync_chunks(&dir)?;
        // The new generation is complete: from here on its files are not taken away.
        self.files.clear();
        rename_all(&dir, &manifest, self.keeps_others)?;
        Ok(manifest)
    }
}

/// Finishes the renames of a writer that died after its generation was complete; drops what was not.
/// Called under the lock, before anything is read for writing.
///
/// # Errors
/// When a rename fails.
pub fn recover(layout: &Layout, _lock: &WriteLock) -> io::Result<()> {
    let Some(next) = Manifest::read_next(layout)? else { return Ok(()) };
    let complete = ChunkType::ALL.iter().all(|t| {
        let name = next.chunk_name(*t);
        next.entry(*t).is_some() && (next.states(layout, *t, &name) || next.states(layout, *t, &next_name(&name)))
    });
    if complete { rename_all(&layout.data()?, &next, true) } else { layout.remove(&next_name(MANIFEST)) }
}

fn rename_all(dir: &Dir, manifest: &Manifest, keeps_others: bool) -> io::Result<()> {
    let unless_gone = |result: io::Result<()>| match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    };
    let ours = ChunkType::ALL.map(|t| manifest.chunk_name(t));
    let all = || ChunkType::ALL.into_iter().flat_map(Layout::chunk_names);
    if keeps_others {
        all().try_for_each(|name| set_aside(dir, &name))?;
    }
    for name in ours.iter().map(String::as_str).chain([MANIFEST]) {
        unless_gone(dir.rename(next_name(name), name))?;
    }
    // Those that were written otherwise are of no use any more.
    for name in all().filter(|name| !ours.contains(name)) {
        unless_gone(dir.remove_file(&name))?;
    }
    sync_chunks(dir)
}

/// The chunk lines of a file of ours, one after the other, without reading it whole.
#[derive(Default)]
pub struct ChunkLines {
    lines: Option<Box<dyn BufRead + Send>>,
    buffer: Vec<u8>,
}

impl ChunkLines {
    /// Opens a chunk file of ours; a missing one has no lines.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn open(layout: &Layout, manifest: &Manifest, chunk_type: ChunkType) -> io::Result<Self> {
        let mut this = Self::default();
        let name = manifest.chunk_name(chunk_type);
        match layout.open_file(&name) {
            Ok(file) => {
                this.lines = Some(match Packing::of(&name) {
                    Packing::Plain => Box::new(BufReader::with_capacity(1 << 16, file)),
                    Packing::Zstd => Box::new(BufReader::with_capacity(1 << 16, zstd::Decoder::new(file)?)),
                });
                this.next_lines(1)?; // the header
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        Ok(this)
    }

    /// The next chunk as JSON; `None` after the last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&str>> {
        let (line, n) = self.next_lines(1)?;
        // Whoever reads lines has compared the file with its manifest: it is what was written, and that was UTF-8.
        Ok(if n == 0 { None } else { std::str::from_utf8(line).ok() })
    }

    /// The next `n` chunks (fewer at the end) as they stand in the file, with what separates them, and how many they are.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_lines(&mut self, n: usize) -> io::Result<(&[u8], usize)> {
        self.buffer.clear();
        let mut n_read = 0;
        if let Some(reader) = &mut self.lines {
            while n_read < n {
                let start = self.buffer.len();
                reader.read_until(b'\n', &mut self.buffer)?;
                if self.buffer.len() == start || self.buffer[start..] == *CLOSE.as_bytes() {
                    self.buffer.truncate(start);
                    self.lines = None;
                    break;
                }
                n_read += 1;
            }
        }
        let lines = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        Ok((lines.strip_suffix(b",").unwrap_or(lines), n_read))
    }
}

/// The names of chunk files outlast a loss of power.
fn sync_chunks(dir: &Dir) -> io::Result<()> {
    dir.dir("chunks")?.sync()
}

/// The error with the path that it is about.
pub(super) fn at(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}
