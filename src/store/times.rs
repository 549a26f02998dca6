//! The time stamps of chunks in files that no manifest describes.
//!
//! If the manifest is lost or damaged, nothing of our chunk files can be trusted, and all chunks are
//! made anew from the sources. Chunks that come out as they were keep their time stamps: other
//! programs see by them what changed.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use chrono::{DateTime, Utc};

use super::Layout;
use super::chunk_file::is_ours;
use super::packing::Packing;
use crate::chunk::{Chunk, ChunkId, ChunkType, Fingerprint};

/// Longer lines, in bytes, are passed over.
const MAX_LINE: u64 = 16 << 20;
/// Most bytes of lines that are no chunks. A file may have any size.
const MAX_OTHER: usize = 1 << 20;

/// When chunks were created and updated, by their ids.
#[derive(Debug, Default)]
pub struct ChunkTimes(HashMap<ChunkId, Times>);

#[derive(Debug)]
struct Times {
    content: Fingerprint,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl ChunkTimes {
    /// Reads the chunk files that begin as ours do, as far as they can be read. Nothing else is taken
    /// from them.
    #[must_use]
    pub fn read(layout: &Layout) -> Self {
        let mut times = Self::default();
        for chunk_type in ChunkType::SEARCHED {
            // What follows a damaged place of a packed file cannot be read.
            let _ = times.read_file(layout, chunk_type);
        }
        times
    }

    fn read_file(&mut self, layout: &Layout, chunk_type: ChunkType) -> io::Result<()> {
        let name = layout.chunk_name_found(chunk_type);
        if !is_ours(&layout.data()?, &name) {
            return Ok(());
        }
        let (file, packing) = (layout.open_file(&name)?, Packing::of(&name));
        let most = packing.most_bytes(file.metadata()?.len());
        let read: Box<dyn Read> = match packing {
            Packing::Plain => Box::new(file),
            Packing::Zstd => Box::new(zstd::Decoder::new(file)?),
        };
        let (mut input, mut line) = (BufReader::new(read.take(most)), Vec::new());
        let mut n_other = 0;
        while n_other <= MAX_OTHER
            && input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? > 0
        {
            let json = line.trim_ascii_end();
            let json = str::from_utf8(json.strip_suffix(b",").unwrap_or(json)).unwrap_or_default();
            // The first and the last line are not chunks.
            if let Ok(chunk) = Chunk::from_json(json, chunk_type) {
                let content = chunk.content();
                let Chunk { id, created_at, updated_at, .. } = chunk;
                self.0.insert(id, Times { content, created_at, updated_at });
            } else {
                n_other += line.len();
            }
            line.clear();
        }
        Ok(())
    }

    /// Returns when a chunk was created, and when it became what it is, if that is known. No time is
    /// later than `now`.
    #[must_use]
    pub fn of(&self, chunk: &Chunk, now: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
        let is_past =
            |times: &&Times| times.created_at <= times.updated_at && times.updated_at <= now;
        match self.0.get(&chunk.id).filter(is_past) {
            Some(times) if times.content == chunk.content() => (times.created_at, times.updated_at),
            Some(times) => (times.created_at, now),
            None => (now, now),
        }
    }
}
