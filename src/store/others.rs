//! Chunk files of other programs beside our own index.
//!
//! Another program may write anything into `.cortex/chunks`, at any time. If it writes a file under
//! one of our names, the indexer moves that file aside before it uses the name. A file with any
//! other name is served as it is. Only a full index run overwrites a file, and only if there is no
//! index of ours.

use std::io::{self, ErrorKind};

use bitcode::{Decode, Encode};

use super::chunk_file::is_stranger;
use super::layout::{MANIFEST, in_chunks, next_name};
use super::packing::EXTENSION;
use super::{FileEntry, Layout, WriteLock};
use crate::chunk::ChunkType;
use crate::dir::{Dir, FileKind};

/// Largest number of these files that are read: a clone of a repository may bring any number of
/// them.
pub(super) const MAX_FILES: usize = 32;

const JSON: &str = ".json";
/// Identifies a chunk file. If several chunks have one id, the last one in this order wins, so
/// files under our names win over further files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(super) enum ChunkFileId {
    /// A further file, by its name in the directory.
    Other(OtherName),
    /// The file of this type, written by our indexer or by another program in its place.
    Of(ChunkType),
}

/// Orders by length first: `a.other.json`, then `a.other2.json`, then `a.other10.json`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(super) struct OtherName(usize, String);

impl ChunkFileId {
    pub(super) fn other(name: &str) -> Self {
        Self::Other(OtherName(name.len(), name.into()))
    }

    pub(super) fn is_other(&self) -> bool {
        matches!(self, Self::Other(_))
    }

    /// The type of chunks that state none: the type whose file name this name begins with, else
    /// definitions.
    pub(super) fn chunk_type(&self) -> ChunkType {
        match self {
            Self::Of(chunk_type) => *chunk_type,
            Self::Other(OtherName(_, name)) => {
                let begins = |t: &ChunkType| {
                    name.starts_with(Layout::chunk_file_name(*t).trim_end_matches(JSON))
                };
                ChunkType::ALL.into_iter().find(begins).unwrap_or(ChunkType::Definitions)
            }
        }
    }
}

impl Layout {
    /// Returns the names of the further chunk files in the directory, in order.
    #[must_use]
    pub fn other_chunk_files(&self) -> Vec<String> {
        let names = self.chunks().and_then(|dir| dir.list()).unwrap_or_default().into_iter();
        let names = names
            .filter(|(_, kind)| *kind != FileKind::Directory)
            .filter_map(|(name, _)| name.into_string().ok());
        let is_other = |name: &String| {
            let name = in_chunks(name);
            let is_json = name.strip_suffix(EXTENSION).unwrap_or(&name).ends_with(JSON);
            is_json && name != MANIFEST && !own_names().any(|own| own == name)
        };
        let mut names: Vec<String> =
            names.filter(is_other).filter(|name| !name.starts_with('.')).collect();
        names.sort_by_cached_key(|name| ChunkFileId::other(name));
        names
    }

    /// Whether another program wrote a file under one of our names.
    #[must_use]
    pub fn has_strangers(&self) -> bool {
        self.data().is_ok_and(|dir| own_names().any(|name| is_stranger(&dir, &name)))
    }
}

/// Returns all names that our chunk files may have.
fn own_names() -> impl Iterator<Item = String> {
    ChunkType::ALL.into_iter().flat_map(Layout::chunk_names)
}

/// Moves files that other programs wrote under our names aside.
///
/// # Errors
/// When one of them cannot be moved.
pub fn set_others_aside(layout: &Layout, _lock: &WriteLock) -> io::Result<()> {
    let dir = layout.data()?;
    let manifest = [MANIFEST.to_string()];
    for name in own_names().chain(manifest).flat_map(|name| [next_name(&name), name]) {
        set_directory_aside(&dir, &name)?;
    }
    own_names().try_for_each(|name| set_aside(&dir, &name))
}

/// Moves a directory aside that has the name of a file: no file can replace it.
fn set_directory_aside(dir: &Dir, name: &str) -> io::Result<()> {
    if dir.stat(name)?.is_none_or(|stat| stat.kind != FileKind::Directory) {
        return Ok(());
    }
    let aside = rename_to_free(dir, name, (1_u64..).map(|n| format!("{name}.directory{n}")))?;
    tracing::warn!(
        "{}: a directory had the name of a chunk file; it is {} now",
        dir.full(name).display(),
        dir.full(&aside).display()
    );
    Ok(())
}

/// Moves a file aside if another program wrote it.
pub(super) fn set_aside(dir: &Dir, name: &str) -> io::Result<()> {
    if !is_stranger(dir, name) {
        return Ok(());
    }
    let (stem, extension) = name.split_at(name.find(JSON).unwrap_or(name.len()));
    let names = (1_u64..).map(|n| {
        if n == 1 {
            format!("{stem}.other{extension}")
        } else {
            format!("{stem}.other{n}{extension}")
        }
    });
    let aside = rename_to_free(dir, name, names)?;
    tracing::warn!(
        "{}: another program wrote this file; it is {} now, and served beside the index",
        dir.full(name).display(),
        dir.full(&aside).display()
    );
    Ok(())
}

/// Renames an entry to the first of these names that is free, and returns that name. A name whose
/// file has the same content counts as free: one copy of the content is enough.
fn rename_to_free(
    dir: &Dir,
    name: &str,
    names: impl Iterator<Item = String>,
) -> io::Result<String> {
    for free in names {
        match dir.rename_to_new(name, &free) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && is_same(dir, name, &free) => {
                dir.remove_file(name)?;
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
            done => done?,
        }
        return Ok(free);
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn is_same(dir: &Dir, a: &str, b: &str) -> bool {
    let entry = |name| dir.open_file(name).and_then(|mut file| FileEntry::of_file(&mut file)).ok();
    entry(a).is_some_and(|a| entry(b) == Some(a))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::super::chunk_file::{OPENING, opening};
    use super::super::packing::pack;
    use super::super::{Header, recover};
    use super::*;

    const THEIRS: &str = r#"{"_metadata":{"generator":"other"},"chunks":[]}"#;

    fn project() -> (tempfile::TempDir, Layout) {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path()).unwrap();
        layout.create().unwrap();
        (dir, layout)
    }

    fn write(layout: &Layout, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(layout.chunks_dir().join(name), bytes).unwrap();
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_of_ours_is_known_by_its_beginning_however_short() {
        let (_dir, layout) = project();
        let ours = opening(&Header::ours("e", 3)) + "]}\n";
        assert!(ours.starts_with(OPENING));
        for n in 0..ours.len() {
            write(&layout, "code-data.json", &ours[..n]);
            assert!(!layout.has_strangers(), "{n}");
        }
        let packed = pack(ours.as_bytes()).unwrap();
        fs::remove_file(layout.chunks_dir().join("code-data.json")).unwrap();
        for n in 0..=packed.len() {
            write(&layout, "code-data.json.zst", &packed[..n]);
            assert!(!layout.has_strangers(), "{n}");
        }
        for theirs in
            [THEIRS.as_bytes().to_vec(), pack(THEIRS.as_bytes()).unwrap(), b"\x1f\x8b".to_vec()]
        {
            write(&layout, "code-data.json.zst", theirs);
            assert!(layout.has_strangers());
        }
    }

    #[test]
    fn what_is_set_aside_replaces_nothing_and_is_there_once() {
        let (_dir, layout) = project();
        let lock = WriteLock::acquire(&layout, Duration::ZERO).unwrap();
        let set_aside = |text: &str| {
            write(&layout, "code-data.json", text);
            set_others_aside(&layout, &lock).unwrap();
            names(&layout.chunks_dir())
        };
        assert_eq!(set_aside(THEIRS), ["code-data.other.json"]);
        assert_eq!(set_aside(THEIRS), ["code-data.other.json"]);
        let more = THEIRS.replace("other", "another");
        assert_eq!(set_aside(&more), ["code-data.other.json", "code-data.other2.json"]);
        assert_eq!(set_aside(THEIRS), ["code-data.other.json", "code-data.other2.json"]);
        assert_eq!(
            fs::read_to_string(layout.chunks_dir().join("code-data.other2.json")).unwrap(),
            more
        );
        recover(&layout, &lock).unwrap();
    }

    #[test]
    fn further_files_are_in_the_order_of_their_numbers() {
        let (_dir, layout) = project();
        let all = [
            "b.json", "code-data.other.json", "code-data.other2.json", "code-data.other10.json",
            "doc-chunks.mine.json.zst",
        ];
        let no = [
            ".hidden.json", "manifest.json", "manifest.json.next", "code-data.json",
            "code-data.json.zst", "notes.txt", "x.json.next",
        ];
        for name in all.iter().chain(&no) {
            write(&layout, name, THEIRS);
        }
        fs::create_dir(layout.chunks_dir().join("directory.json")).unwrap();
        assert_eq!(layout.other_chunk_files(), all);
        let types = all.map(|name| ChunkFileId::other(name).chunk_type());
        assert_eq!(types[0], ChunkType::Definitions);
        assert_eq!((types[1], types[4]), (ChunkType::Data, ChunkType::Documentation));
    }
}
