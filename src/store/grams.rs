//! The gram filters of the indexed files, by content, in one file to which index runs append.
//!
//! A filter that belongs to another text would hide matches. So three things must hold before one is
//! used: the file of filters is the very one that the table of source files states (a repository
//! cannot bring one along, since it cannot know the time of its own checkout), the record's
//! checksum is right, and the source file has the stamps that the table states of its content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::layout::{GRAMS, SOURCES};
use super::sources::{GramFile, MAX_BYTES as MAX_TABLE, trusted_before};
use super::{Layout, WriteLock};
use crate::dir::{OpenMode, SHARED_FILE, Stat};
use crate::platform::read_exact_at;
use crate::source::nanoseconds;

/// "CXGRAMS" and the version of what makes filters.
const MAGIC: &[u8] = concat!("CXGRAMS ", env!("VERSION_OF_CHUNKS"), "\n").as_bytes();
/// A record is the beginning of the SHA-256 of the content, a checksum (u32), the number of bytes
/// of the filter (u32), and the filter.
const KEY: usize = 16;
const RECORD: usize = KEY + 8;
/// Largest file that is read, in bytes: the filters of some 15 GB of source.
const MAX_BYTES: u64 = 512 << 20;
/// The file is written anew when it has this many records more than twice the number of files.
const SLACK: usize = 1024;

/// The first bytes of the SHA-256 of a content.
type Key = [u8; KEY];

/// The filters of one run, which are written at its end.
#[derive(Debug, Default)]
pub struct NewFilters {
    records: Vec<u8>,
    known: FxHashSet<Key>,
}

impl NewFilters {
    /// Adds the filter of the content with this hash. An empty filter is left out.
    pub fn add(&mut self, sha256: &str, filter: &[u8]) {
        let Some(key) = key(sha256).filter(|_| !filter.is_empty()) else { return };
        if self.known.insert(key) {
            self.records.extend(record(&key, filter));
        }
    }

    /// Writes the filters behind those of `before`, or into a new file if most of those belong to
    /// none of `hashes` any more. Returns what the table is to state.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write<'h>(
        self,
        layout: &Layout,
        _lock: &WriteLock,
        before: Option<&GramFile>,
        hashes: impl ExactSizeIterator<Item = &'h str>,
    ) -> io::Result<Option<GramFile>> {
        let is_there =
            |before: &&GramFile| matches!(layout.stat(GRAMS), Ok(Some(stat)) if before.is(&stat));
        let before = before.filter(is_there);
        if self.known.is_empty() && before.is_some() {
            return Ok(before.cloned());
        }
        let mut n_records = before.map_or(0, |before| before.n_records) + self.known.len();
        if before.is_some() && n_records <= 2 * hashes.len() + SLACK {
            layout.data()?.file(GRAMS, OpenMode::Append, SHARED_FILE)?.write_all(&self.records)?;
        } else {
            let old = before.map(|_| layout.read(GRAMS, MAX_BYTES)).transpose()?;
            let old = old.unwrap_or_default();
            let live: FxHashSet<Key> = hashes.filter_map(key).collect();
            let mut kept = FxHashMap::default();
            kept.extend(records(&old).filter(|(k, _)| live.contains(k) && !self.known.contains(k)));
            n_records = kept.len() + self.known.len();
            let kept = kept.into_iter().flat_map(|(key, at)| record(&key, &old[at]));
            let bytes: Vec<u8> = MAGIC.iter().copied().chain(kept).chain(self.records).collect();
            layout.replace(GRAMS, &bytes)?;
        }
        let stat = layout.stat(GRAMS)?;
        Ok(stat.map(|stat| GramFile::new(&stat, n_records)))
    }
}

/// Where the filter of each indexed file is. The filters stay on disk until they are asked.
#[derive(Debug)]
pub struct GramFilters {
    file: File,
    n_bytes: u64,
    by_path: FxHashMap<Box<str>, Indexed>,
}

/// What was indexed of a file.
#[derive(Debug)]
struct Indexed {
    bytes: u64,
    modified_ns: u64,
    changed_ns: u64,
    filter: Range<usize>,
}

/// What the table of source files says, as far as filters need it.
#[derive(Deserialize)]
struct Table<'t> {
    walked_at_ns: u64,
    grams: Option<GramFile>,
    #[serde(borrow)]
    files: BTreeMap<Cow<'t, str>, Entry<'t>>,
}

#[derive(Deserialize)]
struct Entry<'t> {
    bytes: u64,
    modified_ns: u64,
    #[serde(default)]
    changed_ns: u64,
    #[serde(borrow, default)]
    sha256: Cow<'t, str>,
}

impl GramFilters {
    /// Opens the filters. `None` if there are none, or they are not those of the last run.
    #[must_use]
    pub fn open(layout: &Layout) -> Option<Self> {
        let file = layout.open_file(GRAMS).ok()?;
        let stat = Stat::of(&file).ok()?;
        let mut table = layout.read(SOURCES, MAX_TABLE).ok()?;
        let table: Table = serde_json::from_slice(layout.unsealed(SOURCES, &mut table)?).ok()?;
        table.grams.filter(|stated| stated.is(&stat))?;
        let bytes = read(&file, stat.bytes)?;
        let filters: FxHashMap<Key, Range<usize>> = records(&bytes).collect();
        let trusted_before = trusted_before(table.walked_at_ns);
        let with_filter = |(path, entry): (Cow<str>, Entry)| {
            let filter = filters.get(&key(&entry.sha256)?)?.clone();
            let Entry { bytes, modified_ns, changed_ns, .. } = entry;
            let indexed = Indexed { bytes, modified_ns, changed_ns, filter };
            (modified_ns < trusted_before).then(|| (path.into(), indexed))
        };
        let by_path = table.files.into_iter().filter_map(with_filter).collect();
        Some(Self { file, n_bytes: stat.bytes, by_path })
    }

    /// Reads the filters for one question; `None` if they cannot be read.
    #[must_use]
    pub fn read(&self) -> Option<ReadFilters<'_>> {
        Some(ReadFilters { of: self, bytes: read(&self.file, self.n_bytes)? })
    }
}

/// The filters in memory.
#[derive(Debug)]
pub struct ReadFilters<'f> {
    of: &'f GramFilters,
    bytes: Vec<u8>,
}

impl ReadFilters<'_> {
    /// Whether a file need not be read: `may_match` is false for the filter of its indexed content,
    /// and `stat`, which is asked only then, says that the file is unchanged.
    pub fn rules_out(
        &self,
        path: &str,
        may_match: impl Fn(&[u8]) -> bool,
        stat: impl FnOnce() -> Option<Stat>,
    ) -> bool {
        self.of.by_path.get(path).is_some_and(|indexed| {
            !may_match(&self.bytes[indexed.filter.clone()])
                && stat().is_some_and(|stat| indexed.is(&stat))
        })
    }
}

impl Indexed {
    fn is(&self, stat: &Stat) -> bool {
        (self.bytes, self.modified_ns, self.changed_ns)
            == (stat.bytes, nanoseconds(stat.modified), nanoseconds(stat.changed))
    }
}

fn read(file: &File, n_bytes: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(n_bytes).ok().filter(|_| n_bytes <= MAX_BYTES)?];
    read_exact_at(file, &mut bytes, 0).ok()?;
    Some(bytes)
}

fn key(sha256: &str) -> Option<Key> {
    Some(u128::from_str_radix(sha256.get(..2 * KEY)?, 16).ok()?.to_le_bytes())
}

fn checksum(key: &Key, filter: &[u8]) -> [u8; 4] {
    let seed = u64::from_le_bytes(*key.first_chunk().unwrap_or(&[0; 8]));
    let [a, b, c, d, ..] = xxh3_64_with_seed(filter, seed).to_le_bytes();
    [a, b, c, d]
}

fn record(key: &Key, filter: &[u8]) -> Vec<u8> {
    let n_bytes = u32::try_from(filter.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&key[..], &checksum(key, filter), &n_bytes, filter].concat()
}

/// Iterates over the records of a file, to the first damaged one: the key, and where the filter is.
fn records(bytes: &[u8]) -> impl Iterator<Item = (Key, Range<usize>)> {
    let mut at = if bytes.starts_with(MAGIC) { MAGIC.len() } else { bytes.len() };
    std::iter::from_fn(move || {
        let (head, _) = bytes.get(at..)?.split_first_chunk::<RECORD>()?;
        let (key, rest) = head.split_first_chunk::<KEY>()?;
        let (check, n_bytes) = rest.split_first_chunk::<4>()?;
        let n_bytes = u32::from_le_bytes(*n_bytes.first_chunk()?) as usize;
        let filter = at + RECORD..at + RECORD + n_bytes;
        let is_right = n_bytes > 0 && checksum(key, bytes.get(filter.clone())?) == *check;
        at = filter.end;
        is_right.then_some((*key, filter))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::source::sha256;

    #[test]
    fn the_file_keeps_the_filters_of_contents_that_are_there_and_forgets_others() {
        let temp = tempfile::tempdir().unwrap();
        let layout = Layout::at(temp.path()).unwrap();
        layout.create().unwrap();
        let lock = WriteLock::acquire(&layout, Duration::ZERO).unwrap();
        let (first, mut stated, mut largest) = (sha256(b"first"), None, 0);
        for run in 0..4 * SLACK {
            let mut new = NewFilters::default();
            let hash = if run == 0 { first.clone() } else { sha256(run.to_string().as_bytes()) };
            new.add(&hash, &[1; 10]);
            new.add(&sha256(b"tells nothing"), &[]);
            let live = [&*first, &*hash];
            stated = new.write(&layout, &lock, stated.as_ref(), live.into_iter()).unwrap();
            largest = largest.max(layout.read(GRAMS, MAX_BYTES).unwrap().len());
        }
        let bytes = layout.read(GRAMS, MAX_BYTES).unwrap();
        let kept: FxHashMap<Key, Range<usize>> = records(&bytes).collect();
        assert_eq!(bytes[kept[&key(&first).unwrap()].clone()], [1; 10]);
        assert_eq!(kept.len(), stated.unwrap().n_records);
        assert!(largest < 2 * SLACK * (RECORD + 10), "{largest}");
    }
}
