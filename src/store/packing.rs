//! Chunk files that are compressed: the same bytes, as one zstd frame for the header, one for each block, one for the end.
//!
//! So `zstd -d` gives the plain file, and a reader unpacks only the block that it wants.

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

/// What the names of packed files end with.
pub(super) const EXTENSION: &str = ".zst";
/// zstd's own default: higher ones take long for little.
const LEVEL: i32 = 3;
/// Chunks take a fifth to a tenth of their space; a file that claims to hold so many times as much is no chunk file.
const MAX_RATIO: u64 = 24;
/// A small file may be an exception, such as one of generated tables.
const ALWAYS_ALLOWED_BYTES: u64 = 16 << 20;
/// A frame of the header is never larger.
pub(super) const MAX_HEADER_BYTES: usize = 1 << 12;

impl Packing {
    pub(super) fn of(name: &str) -> Self {
        let is_packed = name.trim_end_matches(".next").ends_with(EXTENSION);
        if is_packed { Self::Zstd } else { Self::Plain }
    }
}

impl Packing {
    /// What a file of so many bytes becomes at most when it is read.
    pub(super) fn most_bytes(self, n_bytes: u64) -> u64 {
        if self == Self::Plain { n_bytes } else { n_bytes.saturating_mul(MAX_RATIO) }
    }
}

/// One frame.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
}

/// Whether so many packed bytes may become so many: else it is no chunk file, but a trap.
pub(super) fn may_unpack_to(n_packed: u64, n_bytes: u64) -> bool {
    n_bytes <= ALWAYS_ALLOWED_BYTES + n_packed * MAX_RATIO
}

/// All frames of a file.
pub(super) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let most = ALWAYS_ALLOWED_BYTES + bytes.len() as u64 * MAX_RATIO;
    let decoder = || zstd::Decoder::with_buffer(bytes).map(|decoder| decoder.take(most + 1));
    // A trap is told before it takes any memory.
    let n_bytes = io::copy(&mut decoder()?, &mut io::sink())?;
    if n_bytes > most {
        return Err(io::Error::other(format!("{} bytes would become more than {most}", bytes.len())));
    }
    let mut all = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default() + 1);
    decoder()?.read_to_end(&mut all)?;
    Ok(all)
}

/// One frame of at most so many bytes.
pub(super) fn unpack_frame(packed: &[u8], n_bytes: usize) -> Option<Vec<u8>> {
    zstd::bulk::decompress(packed, n_bytes).ok()
}

/// Length of the frame at the start.
pub(super) fn frame_length(bytes: &[u8]) -> Option<usize> {
    zstd::zstd_safe::find_frame_compressed_size(bytes).ok()
}

/// Calls `read` with a frame that `unpack` gives, and keeps it for whoever asks next on this thread: lines are mostly read in order.
pub(super) fn with_last_frame<T>(key: (u64, u64), unpack: impl FnOnce() -> Option<Vec<u8>>, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
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
