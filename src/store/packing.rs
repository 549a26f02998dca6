//! Compressed chunk files: the same bytes, with one zstd frame for the header, some for each block,
//! and one for the end.
//!
//! So `zstd -d` yields the plain file, and a reader unpacks only the lines around the one that it
//! needs.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

/// How chunk files are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packing {
    /// `.json`
    #[default]
    Plain,
    /// `.json.zst`
    Zstd,
}

/// Suffix of the names of packed files.
pub(super) const EXTENSION: &str = ".zst";
/// The default of zstd. Higher levels take much longer and save little.
const LEVEL: i32 = 3;
/// Number of unpacked bytes after which a block begins its next frame. A query reads single lines of
/// many blocks, and unpacks a frame for each.
pub(super) const FRAME_BYTES: usize = 1 << 15;
/// Largest ratio of unpacked to packed bytes. Chunks shrink to a fifth or a tenth, so a file that
/// claims more than this is not a chunk file.
const MAX_RATIO: u64 = 24;
/// Unpacked size up to which the ratio is not checked: a small file may be an exception, such as
/// one of generated tables.
const ALWAYS_ALLOWED_BYTES: u64 = 16 << 20;
/// Largest size of the header's frame, in bytes.
pub(super) const MAX_HEADER_BYTES: usize = 1 << 12;

impl Packing {
    pub(super) fn of(name: &str) -> Self {
        let is_packed = name.trim_end_matches(".next").ends_with(EXTENSION);
        if is_packed { Self::Zstd } else { Self::Plain }
    }

    /// Estimates how many bytes a file of `n_bytes` becomes at most when it is read.
    pub(super) fn most_bytes(self, n_bytes: u64) -> u64 {
        if self == Self::Plain { n_bytes } else { n_bytes.saturating_mul(MAX_RATIO) }
    }
}

/// Compresses bytes to one frame, which states their number.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> =
            RefCell::new(Compressor::new(LEVEL).ok());
    }
    COMPRESSOR.with_borrow_mut(|compressor| match compressor {
        Some(compressor) => compressor.compress(bytes),
        None => zstd::bulk::compress(bytes, LEVEL),
    })
}

/// Whether `n_packed` bytes may unpack to `n_bytes`. If not, the file is not a chunk file but a
/// decompression bomb.
pub(super) fn may_unpack_to(n_packed: u64, n_bytes: u64) -> bool {
    n_bytes <= ALWAYS_ALLOWED_BYTES + n_packed * MAX_RATIO
}

/// Unpacks all frames of a file.
pub(super) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let most = ALWAYS_ALLOWED_BYTES + bytes.len() as u64 * MAX_RATIO;
    let decoder = || zstd::Decoder::with_buffer(bytes).map(|decoder| decoder.take(most + 1));
    // A first pass detects a decompression bomb before it takes any memory.
    let n_bytes = io::copy(&mut decoder()?, &mut io::sink())?;
    if n_bytes > most {
        return Err(io::Error::other(format!(
            "{} bytes would become more than {most}",
            bytes.len()
        )));
    }
    let mut all = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default() + 1);
    decoder()?.read_to_end(&mut all)?;
    Ok(all)
}

/// Unpacks frames that follow each other, of at most `n_bytes` together.
pub(super) fn unpack_frames(packed: &[u8], n_bytes: usize) -> Option<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
    }
    DECOMPRESSOR
        .with_borrow_mut(|decompressor| decompressor.as_mut()?.decompress(packed, n_bytes).ok())
}

/// Returns the length of the frame at the start, in bytes.
pub(super) fn frame_length(bytes: &[u8]) -> Option<usize> {
    find_frame_compressed_size(bytes).ok()
}

/// The frames of one block, and what the last one that was read holds.
#[derive(Default)]
struct Unpacked {
    /// Which file, and where in it the block starts.
    block: (u64, u64),
    packed: Vec<u8>,
    /// The place of `lines` in the unpacked block.
    at: Range<usize>,
    lines: Vec<u8>,
}

impl Unpacked {
    /// Number that each thread keeps, of different files. Lines are mostly read in order, but those
    /// of one source file are in several chunk files.
    const KEPT: usize = 4;

    /// Returns the bytes `at` of the block of `n_bytes`.
    fn line(&mut self, n_bytes: usize, at: &Range<usize>) -> Option<Vec<u8>> {
        if !self.at.contains(&at.start) {
            (self.at, self.lines) = frame_at(&self.packed, n_bytes, at.start)?;
        }
        let start = self.at.start;
        Some(self.lines.get(at.start - start..at.end.checked_sub(start)?)?.to_vec())
    }
}

/// Returns the bytes `at` of the unpacked block whose frames `read` returns; `block` names its file
/// and its place there, and it has `n_bytes`. No line crosses a frame.
pub(super) fn unpack_line(
    block: (u64, u64),
    n_bytes: usize,
    at: &Range<usize>,
    read: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    thread_local! {
        static LAST: RefCell<Vec<Unpacked>> = RefCell::default();
    }
    LAST.with_borrow_mut(|kept| {
        if let Some(same) = kept.iter_mut().find(|kept| kept.block == block) {
            return same.line(n_bytes, at);
        }
        let mut new = Unpacked { block, packed: read()?, ..Unpacked::default() };
        let line = new.line(n_bytes, at);
        kept.retain(|kept| kept.block.0 != block.0);
        kept.truncate(Unpacked::KEPT - 1);
        kept.insert(0, new);
        line
    })
}

/// Unpacks the frame that holds the byte `at` of a block of `n_bytes`, and returns its place there.
fn frame_at(mut packed: &[u8], n_bytes: usize, at: usize) -> Option<(Range<usize>, Vec<u8>)> {
    let mut start = 0_usize;
    loop {
        let (frame, rest) = packed.split_at_checked(frame_length(packed)?)?;
        let length = usize::try_from(get_frame_content_size(frame).ok()??).ok()?;
        let end = start.checked_add(length).filter(|end| *end <= n_bytes)?;
        if at < end {
            return Some((start..end, unpack_frames(frame, length)?));
        }
        (start, packed) = (end, rest);
    }
}
