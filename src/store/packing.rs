//! Compressed chunk files: the same bytes, with one zstd frame for the header, one for each block,
//! and one for the end.
//!
//! So `zstd -d` yields the plain file, and a reader unpacks only the block that it needs.

use std::cell::RefCell;
use std::io::{self, Read};

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
}

impl Packing {
    /// Estimates how many bytes a file of `n_bytes` becomes at most when it is read.
    pub(super) fn most_bytes(self, n_bytes: u64) -> u64 {
        if self == Self::Plain { n_bytes } else { n_bytes.saturating_mul(MAX_RATIO) }
    }
}

/// Compresses bytes to one frame.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
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

/// Unpacks one frame of at most `n_bytes`.
pub(super) fn unpack_frame(packed: &[u8], n_bytes: usize) -> Option<Vec<u8>> {
    zstd::bulk::decompress(packed, n_bytes).ok()
}

/// Returns the length of the frame at the start, in bytes.
pub(super) fn frame_length(bytes: &[u8]) -> Option<usize> {
    zstd::zstd_safe::find_frame_compressed_size(bytes).ok()
}

/// Calls `read` with the frame that `unpack` returns. The last frame of each thread is kept, since
/// lines are mostly read in order.
pub(super) fn with_last_frame<T>(
    key: (u64, u64),
    unpack: impl FnOnce() -> Option<Vec<u8>>,
    read: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    thread_local! {
        static LAST: RefCell<((u64, u64), Vec<u8>)> = const { RefCell::new(((0, 0), Vec::new())) };
    }
    LAST.with_borrow_mut(|last| {
        if last.0 != key || last.1.is_empty() {
            *last = (key, unpack()?);
        }
        Some(read(&last.1))
    })
}
