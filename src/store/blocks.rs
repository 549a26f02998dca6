//! The blocks of a chunk file: where they start, and its lines one after the other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::chunk_file::CLOSE;
use super::manifest::Block;
use super::packing::{MAX_HEADER_BYTES, Packing, frame_length, may_unpack_to, unpack_frames};
use super::{Layout, Manifest};
use crate::chunk::ChunkType;
use crate::dir::if_there;
use crate::platform::read_exact_at;

/// Returns the blocks of a file of `n_bytes`, each with its offset. `None` if they cannot be those
/// of the file: a manifest from a cloned repository may state anything.
pub(super) fn starts<'b>(
    file: &File,
    packing: Packing,
    n_bytes: u64,
    blocks: &'b [Block],
) -> Option<Vec<(u64, &'b Block)>> {
    let mut start = match packing {
        Packing::Plain => {
            let in_blocks: u64 = blocks.iter().map(|b| u64::from(b.bytes)).sum();
            n_bytes.checked_sub(in_blocks + CLOSE.len() as u64)?
        }
        Packing::Zstd => {
            let mut header =
                vec![0; MAX_HEADER_BYTES.min(usize::try_from(n_bytes).unwrap_or(MAX_HEADER_BYTES))];
            read_exact_at(file, &mut header, 0).ok()?;
            frame_length(&header)? as u64
        }
    };
    let (mut starts, mut n_unpacked) = (Vec::with_capacity(blocks.len()), 0);
    for block in blocks {
        starts.push((start, block));
        start += u64::from(block.bytes_in_file());
        n_unpacked += u64::from(block.bytes);
        if start > n_bytes || !may_unpack_to(n_bytes, n_unpacked) {
            return None;
        }
    }
    Some(starts)
}

/// Reads one block, unpacked. `None` if it is not what its hash says.
pub(super) fn read_block(file: &File, start: u64, block: &Block) -> Option<Vec<u8>> {
    let mut bytes = vec![0; block.bytes_in_file() as usize];
    read_exact_at(file, &mut bytes, start).ok()?;
    if block.packed > 0 {
        bytes = unpack_frames(&bytes, block.bytes as usize)?;
    }
    block.is(&bytes).then_some(bytes)
}

/// Reads the chunk lines of a file of ours one after the other, without loading the whole file.
#[derive(Default)]
pub struct ChunkLines {
    file: Option<OpenFile>,
    /// The unpacked lines of the block that is being read.
    lines: Vec<u8>,
    /// The start of the next line in `lines`.
    at: usize,
}

struct OpenFile {
    path: PathBuf,
    file: File,
    packing: Packing,
    /// With their starts, in reverse order.
    rest: Vec<(u64, Block)>,
}

/// A block as it is in a file. It ends with the comma before another line.
pub(super) struct WholeBlock {
    pub(super) block: Block,
    pub(super) bytes: Vec<u8>,
}

impl WholeBlock {
    /// Returns its lines, unpacked.
    pub(super) fn lines(&self) -> io::Result<Vec<u8>> {
        let unpacked = match self.block.packed {
            0 => Some(self.bytes.clone()),
            _ => unpack_frames(&self.bytes, self.block.bytes as usize),
        };
        unpacked.filter(|lines| self.block.is(lines)).ok_or_else(changed)
    }
}

impl ChunkLines {
    /// Opens a chunk file of ours. A missing file has no lines.
    ///
    /// # Errors
    /// When the file exists but cannot be read, or is not the one of the manifest.
    pub fn open(layout: &Layout, manifest: &Manifest, chunk_type: ChunkType) -> io::Result<Self> {
        let name = manifest.chunk_name(chunk_type);
        let Some(file) = if_there(layout.open_file(&name))? else { return Ok(Self::default()) };
        let (path, packing) = (layout.full(&name), Packing::of(&name));
        let n_bytes = file.metadata()?.len();
        let starts = starts(&file, packing, n_bytes, manifest.blocks(chunk_type))
            .filter(|starts| is_all(&file, packing, n_bytes, starts) == Some(true));
        let rest = starts.ok_or_else(|| at(&path, &changed()))?;
        let rest = rest.into_iter().rev().map(|(start, block)| (start, block.clone())).collect();
        Ok(Self { file: Some(OpenFile { path, file, packing, rest }), lines: Vec::new(), at: 0 })
    }

    /// The packing of the file.
    pub(super) fn packing(&self) -> Packing {
        self.file.as_ref().map_or(Packing::Plain, |file| file.packing)
    }

    /// Returns the next chunk as JSON; `None` after the last one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&str>> {
        let (line, n) = self.next_lines(1)?;
        // The block has the hash of what was written, and that was UTF-8.
        Ok(if n == 0 { None } else { std::str::from_utf8(line).ok() })
    }

    /// Returns some of the next `n` chunks as they are in the file, with the separators between
    /// them, and how many they are: at least one, until the file ends.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_lines(&mut self, n: usize) -> io::Result<(&[u8], usize)> {
        while n > 0 && self.at == self.lines.len() {
            let Some(open) = &mut self.file else { break };
            let Some((start, block)) = open.rest.pop() else { break };
            let read = read_block(&open.file, start, &block);
            self.lines = read.ok_or_else(|| at(&open.path, &changed()))?;
            self.at = 0;
        }
        let rest = &self.lines[self.at..];
        let mut ends = memchr::memchr_iter(b'\n', rest).map(|end| end + 1);
        let (mut end, mut n_read) = (0, 0);
        while n_read < n
            && let Some(next) = ends.next()
        {
            (end, n_read) = (next, n_read + 1);
        }
        self.at += end;
        let lines = rest[..end].strip_suffix(b"\n").unwrap_or(&rest[..end]);
        Ok((lines.strip_suffix(b",").unwrap_or(lines), n_read))
    }

    /// Returns the next block, if it begins with the next line, has at most `n` lines and is not the
    /// last one of the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next_block(&mut self, n: usize) -> io::Result<Option<WholeBlock>> {
        let Some(open) =
            self.file.as_mut().filter(|open| self.at == self.lines.len() && open.rest.len() > 1)
        else {
            return Ok(None);
        };
        let Some((start, block)) =
            open.rest.pop_if(|(_, block)| (1..=n).contains(&(block.lines as usize)))
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; block.bytes_in_file() as usize];
        read_exact_at(&open.file, &mut bytes, start).map_err(|e| at(&open.path, &e))?;
        Ok(Some(WholeBlock { block, bytes }))
    }
}

/// Whether no line of a file of `n_bytes` is outside of its blocks.
fn is_all(file: &File, packing: Packing, n_bytes: u64, blocks: &[(u64, &Block)]) -> Option<bool> {
    let read = |from: u64, to: u64| {
        let length = to.checked_sub(from).filter(|n| *n <= MAX_HEADER_BYTES as u64)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        read_exact_at(file, &mut bytes, from).ok()?;
        Some(bytes)
    };
    match (packing, blocks) {
        (Packing::Plain, _) => {
            let end = n_bytes.checked_sub(CLOSE.len() as u64)?;
            let header = read(0, blocks.first().map_or(end, |(start, _)| *start))?;
            Some(memchr::memchr(b'\n', &header)? + 1 == header.len())
        }
        (Packing::Zstd, [.., (start, last)]) => {
            let rest = read(start + u64::from(last.bytes_in_file()), n_bytes)?;
            Some(unpack_frames(&rest, CLOSE.len())? == CLOSE.as_bytes())
        }
        (Packing::Zstd, []) => {
            let all = read(0, n_bytes)?;
            Some(unpack_frames(all.get(frame_length(&all)?..)?, CLOSE.len())? == CLOSE.as_bytes())
        }
    }
}

fn changed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the file is not the one that its manifest describes",
    )
}

/// Adds the path to the message of an error.
pub(super) fn at(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::store::{ChunkWriter, Header, WriteLock};

    const TYPE: ChunkType = ChunkType::Definitions;

    struct Project {
        layout: Layout,
        lock: WriteLock,
        _dir: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let layout = Layout::at(dir.path()).unwrap();
            layout.create().unwrap();
            let lock = WriteLock::acquire(&layout, Duration::ZERO).unwrap();
            Self { layout, lock, _dir: dir }
        }

        /// Writes a generation.
        fn write(&self, packing: Packing, put: impl FnOnce(&mut ChunkWriter)) -> Manifest {
            let header = Header::ours("e", 1);
            let mut new = ChunkWriter::create(&self.layout, &self.lock, &header, packing).unwrap();
            put(&mut new);
            new.publish(None, 0).unwrap()
        }
    }

    /// A line, some 400 bytes long. One in some 256 ends its block.
    fn line(n: usize) -> String {
        format!(r#"{{"id":"{n}","text":"{}","at":{n}}}"#, "ab".repeat(n % 7 * 60))
    }

    /// What happens to the next lines of the old file.
    #[derive(Debug, Clone)]
    enum Step {
        Copy(usize),
        Drop(usize),
        Add(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..1500_usize).prop_map(Step::Copy),
            1 => (1..600_usize).prop_map(Step::Drop),
            1 => (10_000..10_400_usize).prop_map(Step::Add),
        ];
        prop::collection::vec(step, 1..8)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// A file with copied blocks is the one whose lines were written one after the other.
        #[test]
        fn copied_blocks_change_nothing(steps in steps(), n in 0..3000_usize, packed: bool, was_packed: bool) {
            let packing = |packed| if packed { Packing::Zstd } else { Packing::Plain };
            let (old, new, wanted) = (Project::new(), Project::new(), Project::new());
            let before: Vec<String> = (0..n).map(line).collect();
            let manifest = old.write(packing(was_packed), |to| {
                for line in &before {
                    to.put(TYPE, line).unwrap();
                }
            });
            let mut lines = ChunkLines::open(&old.layout, &manifest, TYPE).unwrap();
            let (mut rest, mut after) = (before.iter(), Vec::new());
            let copied = new.write(packing(packed), |to| {
                for step in &steps {
                    match *step {
                        Step::Copy(n) => {
                            let left = after.len();
                            after.extend(rest.by_ref().take(n).cloned());
                            assert_eq!(to.copy(TYPE, &mut lines, n).unwrap(), after.len() - left);
                        }
                        Step::Drop(n) => {
                            rest.by_ref().take(n).for_each(|_| ());
                            for _ in 0..n {
                                lines.next_line().unwrap();
                            }
                        }
                        Step::Add(n) => {
                            after.push(line(n));
                            to.put(TYPE, &line(n)).unwrap();
                        }
                    }
                }
            });
            let written = wanted.write(packing(packed), |to| {
                for line in &after {
                    to.put(TYPE, line).unwrap();
                }
            });
            prop_assert_eq!(copied.blocks(TYPE).len(), written.blocks(TYPE).len());
            for (copied, written) in copied.blocks(TYPE).iter().zip(written.blocks(TYPE)) {
                prop_assert_eq!(
                    (copied.bytes, &copied.hash, copied.lines),
                    (written.bytes, &written.hash, written.lines)
                );
            }
            let mut lines = ChunkLines::open(&new.layout, &copied, TYPE).unwrap();
            for line in &after {
                prop_assert_eq!(lines.next_line().unwrap(), Some(line.as_str()));
            }
            prop_assert!(lines.next_line().unwrap().is_none());
            if !packed {
                prop_assert_eq!(copied.entry(TYPE), written.entry(TYPE));
            }
        }
    }

    /// A manifest from a clone may leave out blocks, or state others.
    #[test]
    fn lines_outside_of_the_blocks_are_noticed() {
        for packing in [Packing::Plain, Packing::Zstd] {
            let project = Project::new();
            let manifest = project.write(packing, |to| {
                (0..2000).for_each(|n| to.put(TYPE, &line(n)).unwrap());
            });
            assert!(ChunkLines::open(&project.layout, &manifest, TYPE).is_ok());
            let name = manifest.blocks.keys().find(|name| name.starts_with("code-def")).unwrap();
            let changes: [fn(&mut Vec<Block>); 3] =
                [|blocks| drop(blocks.pop()), |blocks| drop(blocks.remove(0)), Vec::clear];
            for change in changes {
                let mut wrong = manifest.clone();
                change(wrong.blocks.get_mut(name).unwrap());
                let all = ChunkLines::open(&project.layout, &wrong, TYPE).and_then(|mut lines| {
                    while lines.next_line()?.is_some() {}
                    Ok(())
                });
                assert!(all.is_err(), "{packing:?}");
            }
        }
    }
}
