//! Saved files with a checksum for each block. A reader gets an error for any part that differs
//! from what was saved, whenever it was damaged.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_64;

use crate::chunk::{SaveWriter, SavedFile, SavedFiles};

/// Name of the file with the checksums of all other files. It ends with its own checksum.
const SUMS: &str = "sums.bin";
/// Bytes for each checksum. The number is small, because reading one byte checks a whole block.
const BLOCK: usize = 4096;

/// Checksums of the blocks of a file.
#[derive(Debug, Encode, Decode)]
struct Sums {
    n_bytes: u64,
    blocks: Vec<u64>,
}

impl Sums {
    fn of(content: &[u8]) -> Self {
        Self { n_bytes: content.len() as u64, blocks: content.chunks(BLOCK).map(xxh3_64).collect() }
    }
}

/// Writes files, and their checksums at the end.
pub(super) struct Summing<'a> {
    saving: &'a mut dyn SaveWriter,
    all: BTreeMap<String, Sums>,
}

impl<'a> Summing<'a> {
    pub(super) fn new(saving: &'a mut dyn SaveWriter) -> Self {
        Self { saving, all: BTreeMap::new() }
    }

    pub(super) fn finish(self) -> Result<()> {
        let mut bytes = bitcode::encode(&self.all);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        self.saving.put(SUMS, &bytes)
    }
}

impl SaveWriter for Summing<'_> {
    fn put(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.all.insert(name.into(), Sums::of(content));
        self.saving.put(name, content)
    }

    fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> Result<()> {
        self.all.insert(name.into(), Sums::of(&from.read(name)?));
        self.saving.keep(name, from)
    }
}

/// Files that were saved through [`Summing`].
#[derive(Debug)]
pub(super) struct Checked {
    saved: Arc<dyn SavedFiles>,
    all: Arc<BTreeMap<String, Sums>>,
}

impl Checked {
    /// Opens the files. Returns `None` if the checksums are missing or damaged.
    pub(super) fn open(saved: Arc<dyn SavedFiles>) -> Option<Arc<dyn SavedFiles>> {
        let bytes = saved.read(SUMS).ok()?;
        let (body, own) = bytes.split_last_chunk()?;
        let all = (u64::from_le_bytes(*own) == xxh3_64(body))
            .then(|| bitcode::decode(body).ok())
            .flatten()?;
        Some(Arc::new(Self { saved, all: Arc::new(all) }))
    }
}

impl SavedFiles for Checked {
    fn open(&self, name: &str) -> Result<Arc<dyn SavedFile>> {
        let sums = self
            .all
            .get(name)
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("{name} was not saved")))?;
        let file = self.saved.open(name)?;
        if file.n_bytes() != sums.n_bytes {
            return Err(damaged(
                name,
                format_args!("it has {} bytes, and {} were saved", file.n_bytes(), sums.n_bytes),
            ));
        }
        Ok(Arc::new(CheckedFile { name: name.into(), file, all: self.all.clone() }))
    }
}

#[derive(Debug)]
struct CheckedFile {
    name: String,
    file: Arc<dyn SavedFile>,
    all: Arc<BTreeMap<String, Sums>>,
}

impl SavedFile for CheckedFile {
    fn n_bytes(&self) -> u64 {
        self.file.n_bytes()
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let block = BLOCK as u64;
        let first = range.start / block;
        let whole =
            first * block..(range.end.div_ceil(block) * block).min(self.n_bytes()).max(range.end);
        let mut bytes = self.file.read(whole.clone())?;
        let sums = self.all.get(&self.name).map_or(&[][..], |sums| &sums.blocks);
        let sums = sums.get(usize::try_from(first).map_err(Error::other)?..).unwrap_or_default();
        let is_whole = bytes.len().div_ceil(BLOCK) <= sums.len()
            && bytes.chunks(BLOCK).zip(sums).all(|(part, sum)| xxh3_64(part) == *sum);
        if !is_whole {
            return Err(damaged(
                &self.name,
                format_args!(
                    "bytes {} to {} are not those that were saved",
                    whole.start, whole.end
                ),
            ));
        }
        let before = usize::try_from(range.start - whole.start).map_err(Error::other)?;
        bytes.drain(..before);
        bytes.truncate(usize::try_from(range.end - range.start).map_err(Error::other)?);
        Ok(bytes)
    }
}

fn damaged(name: &str, why: std::fmt::Arguments) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{name} is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    /// Files in memory that a test can damage while they are open.
    #[derive(Debug, Default, Clone)]
    struct Files(Arc<Mutex<HashMap<String, Vec<u8>>>>);

    #[derive(Debug)]
    struct OneFile(Files, String);

    impl Files {
        fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
            self.0.lock().unwrap()
        }
    }

    impl SaveWriter for Files {
        fn put(&mut self, name: &str, content: &[u8]) -> Result<()> {
            self.all().insert(name.into(), content.to_vec());
            Ok(())
        }

        fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> Result<()> {
            let content = from.read(name)?;
            self.put(name, &content)
        }
    }

    impl SavedFiles for Files {
        fn open(&self, name: &str) -> Result<Arc<dyn SavedFile>> {
            if !self.all().contains_key(name) {
                return Err(ErrorKind::NotFound.into());
            }
            Ok(Arc::new(OneFile(self.clone(), name.into())))
        }
    }

    impl SavedFile for OneFile {
        fn n_bytes(&self) -> u64 {
            self.0.all()[&self.1].len() as u64
        }

        fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
            let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            self.0.all()[&self.1]
                .get(range)
                .map(<[u8]>::to_vec)
                .ok_or_else(|| ErrorKind::UnexpectedEof.into())
        }
    }

    fn saved() -> (Files, Vec<u8>) {
        let content: Vec<u8> =
            (0..3 * BLOCK + 17).map(|i| u8::try_from(i * 31 % 251).unwrap()).collect();
        let mut files = Files::default();
        let mut place = files.clone();
        let mut summing = Summing::new(&mut place);
        summing.put("a", &content).unwrap();
        summing.put("empty", b"").unwrap();
        summing.keep("a", &files).unwrap();
        summing.finish().unwrap();
        files.put("foreign", b"x").unwrap();
        (files, content)
    }

    #[test]
    fn every_part_of_a_whole_file_is_read() {
        let (files, content) = saved();
        let checked = Checked::open(Arc::new(files)).unwrap();
        assert_eq!(
            (checked.read("a").unwrap(), checked.read("empty").unwrap()),
            (content.clone(), Vec::new())
        );
        let file = checked.open("a").unwrap();
        let ends = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, content.len() - 1, content.len()];
        for (start, end) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))).filter(|(a, b)| a <= b)
        {
            assert_eq!(
                file.read(start as u64..end as u64).unwrap(),
                content[start..end],
                "{start}..{end}"
            );
        }
        assert!(file.read(5..content.len() as u64 + 1).is_err() && checked.open("none").is_err());
        assert!(checked.open("foreign").is_err(), "it has no checksums");
    }

    #[test]
    fn any_byte_that_changes_under_an_open_file_is_noticed_by_who_reads_it() {
        let (files, content) = saved();
        let file = Checked::open(Arc::new(files.clone())).unwrap().open("a").unwrap();
        for at in (0..content.len()).step_by(97) {
            files.all().get_mut("a").unwrap()[at] ^= 1;
            let e = file.read(at as u64..at as u64 + 1).unwrap_err();
            assert!(
                e.kind() == ErrorKind::InvalidData && e.to_string().starts_with("a is damaged"),
                "{e}"
            );
            let elsewhere = (at + 2 * BLOCK) % content.len();
            assert_eq!(
                file.read(elsewhere as u64..elsewhere as u64 + 1).is_ok(),
                elsewhere / BLOCK != at / BLOCK
            );
            files.all().get_mut("a").unwrap()[at] ^= 1;
        }
        files.all().get_mut("a").unwrap().truncate(BLOCK);
        assert!(
            file.read(0..content.len() as u64).is_err()
                && file.read(2 * BLOCK as u64..2 * BLOCK as u64 + 1).is_err()
        );
    }

    #[test]
    fn without_sound_checksums_nothing_is_used() {
        let (files, _) = saved();
        let n_bytes = files.all()[SUMS].len();
        for at in 0..n_bytes {
            files.all().get_mut(SUMS).unwrap()[at] ^= 0x10;
            assert!(Checked::open(Arc::new(files.clone())).is_none(), "byte {at}");
            files.all().get_mut(SUMS).unwrap()[at] ^= 0x10;
        }
        files.all().remove(SUMS);
        assert!(Checked::open(Arc::new(files)).is_none());
    }
}
