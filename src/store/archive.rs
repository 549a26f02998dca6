//! The archive of an index: its files as one stream, which another machine unpacks and takes as the
//! beginning of its own index.
//!
//! The stream is zstd. In it, each file is a line with its size and name, and its bytes; a line of
//! size and name 0 is the end. An archive comes from outside: its names can only be those of files of
//! an index, and its sizes are limited.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Layout;
use super::layout::{CACHE, CHUNKS, GRAMS, GRAPH};
use crate::dir::{Dir, FileKind, OpenMode, PRIVATE_DIR, PRIVATE_FILE, if_there};

/// Where archives are packed and unpacked, below the user's cache directory.
const ASIDE: &str = "cortex/aside";
/// A directory there that is older than this was left by a process that crashed.
const ABANDONED: Duration = Duration::from_hours(24);
/// The level of zstd: a fifth fewer bytes than level 1, for half a second per 100 MB.
const LEVEL: i32 = 3;
/// Most files in an archive, and longest name in bytes.
const MAX_FILES: usize = 512;
const MAX_NAME: u64 = 200;
/// Largest content of an archive in bytes: that of a repository of some 2 GB.
const MAX_BYTES: u64 = 16 << 30;
/// An archive unpacks to at most this multiple of its bytes, and this number of bytes.
const MAX_RATIO: u64 = 64;
const ALWAYS: u64 = 16 << 20;
const END: &str = "0 0";

/// A place for an index of a project beside its own, until this is dropped.
#[derive(Debug)]
pub struct Aside {
    pub layout: Layout,
    above: Dir,
    name: String,
}

impl Aside {
    /// Makes the place below the user's cache directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(layout: &Layout, cache_home: &Path) -> io::Result<Self> {
        let below_cache = |path: PathBuf| {
            let layout = layout.clone().placed(cache_home, path)?;
            let dir = layout.place.make(PRIVATE_DIR)?;
            Ok::<_, io::Error>((layout, dir))
        };
        let (_, above) = below_cache(ASIDE.into())?;
        for (name, _) in above.list()? {
            if matches!(above.stat(&name), Ok(Some(stat)) if stat.is_older(ABANDONED)) {
                let _ = above.remove_dir(&name);
            }
        }
        let name = format!("{:032x}", fastrand::u128(..));
        let (layout, _) = below_cache(Path::new(ASIDE).join(&name))?;
        layout.create()?;
        Ok(Self { layout, above, name })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = self.above.remove_dir(&self.name);
    }
}

/// Writes the files of an index that nobody changes.
///
/// # Errors
/// When one cannot be read, or the stream cannot be written.
pub fn pack(layout: &Layout, out: impl Write) -> io::Result<()> {
    let mut out = zstd::Encoder::new(out, LEVEL)?;
    let data = layout.data()?;
    for folder in [CHUNKS, CACHE, GRAPH] {
        for name in files_below(&data, folder)? {
            let mut file = data.open_file(&name)?;
            let n_bytes = file.metadata()?.len();
            writeln!(out, "{n_bytes} {name}")?;
            if io::copy(&mut (&mut file).take(n_bytes), &mut out)? != n_bytes {
                return Err(io::Error::other(format!("{name} changed while it was packed")));
            }
        }
    }
    writeln!(out, "{END}")?;
    out.finish()?.flush()
}

/// Returns the paths of the files of a folder of an index, and of those one folder below, sorted.
fn files_below(data: &Dir, folder: &str) -> io::Result<Vec<String>> {
    let names = |folder: &str| if_there(data.dir(folder))?.map_or(Ok(Vec::new()), |dir| dir.list());
    let path = |folder: &str, name: OsString| format!("{folder}/{}", name.to_string_lossy());
    let mut files = Vec::new();
    for (name, kind) in names(folder)? {
        let name = path(folder, name);
        match kind {
            FileKind::File => files.push(name),
            FileKind::Directory => {
                let below = names(&name)?.into_iter().filter(|(_, kind)| *kind == FileKind::File);
                files.extend(below.map(|(below, _)| path(&name, below)));
            }
            _ => {}
        }
    }
    // The filters are used only by the machine that made them.
    files.retain(|name| is_name(name) && name != GRAMS);
    files.sort();
    Ok(files)
}

/// Unpacks an archive of `n_bytes` into the empty place of an index. What follows the end is read.
///
/// # Errors
/// When it is not an archive, is too large, or cannot be written. The place then holds a part.
pub fn unpack(layout: &Layout, input: impl Read, n_bytes: u64) -> io::Result<()> {
    let data = layout.data()?;
    let mut input = BufReader::with_capacity(1 << 17, zstd::Decoder::new(input)?);
    let mut left = n_bytes.saturating_mul(MAX_RATIO).saturating_add(ALWAYS).min(MAX_BYTES);
    for _ in 0..=MAX_FILES {
        let mut line = String::new();
        (&mut input).take(MAX_NAME).read_line(&mut line)?;
        let line = line.strip_suffix('\n').ok_or_else(|| not_an_archive("a line is cut"))?;
        if line == END {
            io::copy(&mut input.take(1), &mut io::sink())?;
            return Ok(());
        }
        let (size, name) = line.split_once(' ').ok_or_else(|| not_an_archive("no size"))?;
        let size: u64 = size.parse().map_err(|_| not_an_archive("no size"))?;
        if !is_name(name) {
            return Err(not_an_archive("a name that no file of an index has"));
        }
        left = left.checked_sub(size).ok_or_else(|| not_an_archive("it is too large"))?;
        if let Some((folder, _)) = name.rsplit_once('/') {
            data.make_dir(folder, PRIVATE_DIR)?;
        }
        let mut file = data.file(name, OpenMode::New, PRIVATE_FILE)?;
        if io::copy(&mut (&mut input).take(size), &mut file)? != size {
            return Err(not_an_archive("it is cut"));
        }
    }
    Err(not_an_archive("too many files"))
}

fn not_an_archive(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not the archive of an index: {why}"))
}

/// Whether a file of an index may have the name: a folder, perhaps a folder in it, and a file.
fn is_name(path: &str) -> bool {
    let is_plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let parts: Vec<&str> = path.split('/').collect();
    [CHUNKS, CACHE, GRAPH].contains(&parts[0])
        && (2..=3).contains(&parts.len())
        && parts.iter().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an archive with these files.
    fn archive(files: &[(&str, &str)], end: &str) -> Vec<u8> {
        let mut text = String::new();
        for (name, content) in files {
            text.extend([&*content.len().to_string(), " ", name, "\n", content]);
        }
        zstd::encode_all((text + end).as_bytes(), LEVEL).unwrap()
    }

    fn unpacked(bytes: &[u8]) -> (tempfile::TempDir, io::Result<Vec<String>>) {
        let temp = tempfile::tempdir().unwrap();
        let aside = Aside::new(&Layout::at(temp.path()).unwrap(), temp.path()).unwrap();
        let done = unpack(&aside.layout, bytes, bytes.len() as u64);
        let data = aside.layout.data().unwrap();
        let files = [CHUNKS, CACHE, GRAPH].map(|f| files_below(&data, f).unwrap()).concat();
        (temp, done.map(|()| files))
    }

    #[test]
    fn names_and_sizes_of_an_archive_are_limited() {
        let whole = archive(&[("cache/index-a/b", "one"), ("chunks/c.json", "")], "0 0\n");
        assert_eq!(unpacked(&whole).1.unwrap(), ["chunks/c.json", "cache/index-a/b"]);
        for name in
            ["../x", "cache/../../x", "/etc/x", "chunks/.x", "x", "memory.db", "cache/a/b/c"]
        {
            let (temp, done) = unpacked(&archive(&[(name, "x")], "0 0\n"));
            assert!(done.is_err(), "{name}");
            assert!(!temp.path().join("x").exists(), "{name}");
        }
        for (end, what) in [("", "no end"), ("9 cache/b\nshort", "cut"), ("x", "no line")] {
            assert!(unpacked(&archive(&[("cache/a", "x")], end)).1.is_err(), "{what}");
        }
        let zeros = "0".repeat(20 << 20);
        assert!(unpacked(&archive(&[("cache/a", &zeros)], "0 0\n")).1.is_err(), "a bomb");
        let many: Vec<String> = (0..600).map(|i| format!("cache/{i}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (&**name, "")).collect();
        assert!(unpacked(&archive(&many, "0 0\n")).1.is_err(), "too many");
        for at in 0..whole.len() {
            assert!(unpacked(&whole[..at]).1.is_err(), "cut at {at}");
        }
    }
}
