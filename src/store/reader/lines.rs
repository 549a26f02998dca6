//! Lines of a chunk file that are read when a chunk is needed.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::RwLock;

use crate::chunk::LineStore;
use crate::platform::read_exact_at;
use crate::store::manifest::Block;
use crate::store::packing::unpack_line;

/// A chunk file that is held open. After the file was replaced, closing it frees its pages, which
/// takes 30 ms for 130 MB. A separate thread closes it, so that the reload or the query that uses
/// it last does not wait for that.
#[derive(Debug)]
pub(super) struct HeldFile {
    /// Unique among the held files of this process.
    pub(super) number: u64,
    file: Option<File>,
}

impl HeldFile {
    pub(super) fn new(file: File) -> Arc<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { number: NUMBER.fetch_add(1, Ordering::Relaxed), file: Some(file) })
    }

    pub(super) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> Option<()> {
        read_exact_at(self.file.as_ref()?, bytes, offset).ok()
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        let file = self.file.take();
        // If no thread can be started, the file is closed on this one.
        let _ = thread::Builder::new().name("close".into()).spawn(move || drop(file));
    }
}

/// Some lines of a chunk file. The file is held open, so the lines can still be read after it was
/// replaced.
#[derive(Debug)]
pub(super) struct BlockLines(RwLock<BlockLocation>);

/// The place of a block in a file.
#[derive(Debug, Clone)]
pub(super) struct BlockLocation {
    pub(super) file: Arc<HeldFile>,
    pub(super) start: u64,
    /// Length of its lines in bytes, unpacked.
    pub(super) bytes: u32,
    /// Length of the block in a packed file, in bytes; 0 in a plain file.
    pub(super) packed: u32,
}

impl BlockLocation {
    fn of(file: &Arc<HeldFile>, start: u64, block: &Block) -> Self {
        Self { file: file.clone(), start, bytes: block.bytes, packed: block.packed }
    }
}

impl BlockLines {
    pub(super) fn at(file: &Arc<HeldFile>, start: u64, block: &Block) -> Self {
        Self(RwLock::new(BlockLocation::of(file, start, block)))
    }

    pub(super) fn place(&self) -> BlockLocation {
        self.0.read().clone()
    }

    /// Sets the place of the same lines in the file that replaced the previous one.
    pub(super) fn move_to(&self, file: &Arc<HeldFile>, start: u64, block: &Block) {
        *self.0.write() = BlockLocation::of(file, start, block);
    }
}

impl LineStore for BlockLines {
    fn read(&self, at: Range<u32>) -> Option<Vec<u8>> {
        let BlockLocation { file, start, bytes, packed } = self.place();
        if packed == 0 {
            let mut line = vec![0; at.len()];
            file.read_exact_at(&mut line, start + u64::from(at.start))?;
            return Some(line);
        }
        let at = usize::try_from(at.start).ok()?..usize::try_from(at.end).ok()?;
        unpack_line((file.number, start), usize::try_from(bytes).ok()?, &at, || {
            let mut frames = vec![0; usize::try_from(packed).ok()?];
            file.read_exact_at(&mut frames, start)?;
            Some(frames)
        })
    }
}
