//! The lines that commits changed, packed in frames.

use std::io;

use bitcode::{Decode, Encode};

use super::Layout;
use super::packing::{pack, unpack_frames};

const NAME: &str = "patches.bin";
/// Largest file, in bytes.
const MAX_BYTES: u64 = 512 << 20;
/// Unpacked bytes of a frame, unless one commit has more.
const FRAME: usize = 1 << 19;
/// Largest frame, unpacked, in bytes.
const MAX_FRAME: usize = 4 << 20;

/// What commits changed, newest first.
#[derive(Debug, Default, Encode, Decode)]
pub struct Patches {
    /// What decides how they are written.
    pub rules: String,
    /// Why commits are missing at the end, if any are.
    pub cut: Option<String>,
    pub frames: Vec<PatchFrame>,
}

/// Some commits that follow each other.
#[derive(Debug, Encode, Decode)]
pub struct PatchFrame {
    /// The ids in hexadecimal digits, each with the bytes of its text.
    pub commits: Vec<(String, u32)>,
    n_bytes: u32,
    packed: Vec<u8>,
}

impl Patches {
    /// Reads those of an index of commits; `None` if there are none.
    #[must_use]
    pub fn read(layout: &Layout) -> Option<Self> {
        bitcode::decode(&layout.read_sealed_bytes(NAME, MAX_BYTES)?).ok()
    }

    /// Whether an index of commits has any, even if they cannot be used.
    #[must_use]
    pub fn are_there(layout: &Layout) -> bool {
        layout.has(NAME)
    }

    /// Writes them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, layout: &Layout) -> io::Result<()> {
        layout.replace_sealed_bytes(NAME, &bitcode::encode(self))
    }
}

impl PatchFrame {
    /// Packs commits with their texts.
    ///
    /// # Errors
    /// When they cannot be packed.
    pub fn new(commits: &[(String, String)]) -> io::Result<Self> {
        let text: String = commits.iter().map(|(_, text)| text.as_str()).collect();
        let number = |n: usize| u32::try_from(n).map_err(io::Error::other);
        Ok(Self {
            commits: commits
                .iter()
                .map(|(id, text)| Ok((id.clone(), number(text.len())?)))
                .collect::<io::Result<_>>()?,
            n_bytes: number(text.len())?,
            packed: pack(text.as_bytes())?,
        })
    }

    /// Whether texts of so many bytes make a frame.
    #[must_use]
    pub fn is_full(n_bytes: usize) -> bool {
        n_bytes >= FRAME
    }

    /// Calls `read` with each commit and its text, and returns what it finds; `None` if they are
    /// damaged.
    #[must_use]
    pub fn read<T>(&self, mut read: impl FnMut(&str, &str) -> Option<T>) -> Option<Vec<T>> {
        let n_bytes = usize::try_from(self.n_bytes).ok().filter(|n| *n <= MAX_FRAME)?;
        let text = String::from_utf8(unpack_frames(&self.packed, n_bytes)?).ok()?;
        let (mut all, mut at) = (Vec::new(), 0);
        for (id, n) in &self.commits {
            let end = at + *n as usize;
            all.extend(read(id, text.get(at..end)?));
            at = end;
        }
        Some(all)
    }
}
