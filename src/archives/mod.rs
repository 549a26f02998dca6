//! Archives of indexes that CI or a colleague left at a place of the user's choice, so that the first
//! index of a project need not be made.
//!
//! An archive is of one project, one commit and the rules by which it was made, and its name says all
//! of that: a list and a read are enough to take one. The name also has the hash of the bytes, so what
//! is cut or damaged is noticed. Whether the content is true is for `index` to check.

mod name;
mod place;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

pub use self::name::project_name;
use self::name::{ArchiveName, key_of_rules};
pub use self::place::ArchiveError;
use self::place::ArchivePlace;
use crate::dir::{Dir, PRIVATE_FILE};
use crate::source;
use crate::store::{self, Aside, Layout};

/// The folder at the place. The number is that of the form of names and archives.
const FOLDER: &str = "cortex-1";
/// Number of archives that are kept for the same project and rules.
const KEPT: usize = 8;
/// Archives of other rules, such as of an older version, are removed after this many seconds.
const KEPT_S: u64 = 90 * 24 * 3600;
/// A run tries this many archives, and asks for as many in the history.
const TRIED: usize = 3;

/// Where the archives of indexes are, and where they are packed and unpacked.
#[derive(Debug, Clone)]
pub struct Archives {
    place: String,
    cache_home: PathBuf,
}

/// An archive that was taken or left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archive {
    /// The commit that it was made of; empty outside a repository.
    pub commit: String,
    pub bytes: u64,
}

/// What a run asks a place for, or leaves there.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub layout: &'a Layout,
    /// Everything besides the files that decides what an index holds.
    pub rules: &'a str,
}

impl Archives {
    /// Names a place: a folder, or the address of a cloud store. It need not exist.
    #[must_use]
    pub fn new(place: String, cache_home: PathBuf) -> Self {
        Self { place, cache_home }
    }

    /// The place, as the user named it.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Unpacks the archive that is nearest to what is checked out: of its commit, else the newest of
    /// its history, else the newest. Returns `None` if there is none. A damaged one is passed over.
    ///
    /// # Errors
    /// When the place does not answer, or nothing can be unpacked.
    pub fn take(&self, wanted: Wanted) -> Result<Option<(Aside, Archive)>, ArchiveError> {
        let place = ArchivePlace::open(&self.place, false)?;
        let root = wanted.layout.root();
        let (folder, rules) = (folder(root), key_of_rules(wanted.rules));
        let mut there: Vec<(ArchiveName, u64)> = place
            .list(&folder)?
            .into_iter()
            .filter_map(|(name, n)| Some((ArchiveName::parse(&name)?, n)))
            .filter(|(name, _)| name.rules == rules)
            .collect();
        there.sort_by_key(|(name, _)| std::cmp::Reverse(name.time));
        there.truncate(KEPT);
        let head = source::head(root);
        let nearness = |name: &ArchiveName| match &head {
            Some(head) if *head == name.commit => 0,
            Some(head) if source::is_ancestor(root, &name.commit, head) => 1,
            _ => 2,
        };
        there.sort_by_cached_key(|(name, _)| nearness(name));
        let mut failed = None;
        for (name, n_bytes) in there.into_iter().take(TRIED) {
            let aside = Aside::new(wanted.layout, &self.cache_home).map_err(io("unpacked"))?;
            let path = format!("{folder}/{name}");
            match unpack(&place, &path, n_bytes, &name.hash, &aside.layout) {
                Ok(()) => {
                    return Ok(Some((aside, Archive { commit: name.commit, bytes: n_bytes })));
                }
                Err(e) => {
                    tracing::info!("{path} is not used: {e}");
                    failed = Some(e);
                }
            }
        }
        failed.map_or(Ok(None), |source| Err(ArchiveError::Io { what: "unpacked", source }))
    }

    /// Returns an empty place for the index that [`Archives::leave`] packs.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn aside(&self, layout: &Layout) -> Result<Aside, ArchiveError> {
        Aside::new(layout, &self.cache_home).map_err(io("packed"))
    }

    /// Packs a copy of the index, leaves it, and removes old archives of the project. Returns `None`
    /// if there is one of the same commit.
    ///
    /// # Errors
    /// When the index cannot be packed, or the place does not answer.
    pub fn leave(&self, wanted: Wanted, copy: &Aside) -> Result<Option<Archive>, ArchiveError> {
        let place = ArchivePlace::open(&self.place, true)?;
        let root = wanted.layout.root();
        let (folder, rules) = (folder(root), key_of_rules(wanted.rules));
        let commit = source::head(root).unwrap_or_else(|| "0".repeat(40));
        let there: Vec<ArchiveName> =
            place.list(&folder)?.iter().filter_map(|(name, _)| ArchiveName::parse(name)).collect();
        let is_of_commit = |name: &&ArchiveName| name.rules == rules && name.commit == commit;
        if commit.bytes().any(|b| b != b'0') && there.iter().any(|name| is_of_commit(&name)) {
            return Ok(None);
        }
        let above = Dir::open(&self.cache_home).map_err(io("packed"))?;
        let (unfinished, file) = above.unfinished(PRIVATE_FILE).map_err(io("packed"))?;
        let mut out = Hashing { inner: file, hash: Sha256::new(), bytes: 0 };
        let packed =
            store::pack(&copy.layout, &mut out).and_then(|()| above.open_file(&unfinished));
        // Its bytes stay as long as it is open.
        let _ = above.remove_file(&unfinished);
        let mut file = packed.map_err(io("packed"))?;
        file.seek(SeekFrom::Start(0)).map_err(io("packed"))?;
        let bytes = out.bytes;
        let name = ArchiveName { rules, time: now_s(), commit, hash: out.hex() };
        place.write(&folder, &name.to_string(), &mut file)?;
        let mut same: Vec<&ArchiveName> = there.iter().filter(|n| n.rules == name.rules).collect();
        same.sort_by_key(|name| std::cmp::Reverse(name.time));
        let is_old =
            |n: &&ArchiveName| n.rules != name.rules && n.time.saturating_add(KEPT_S) < name.time;
        for old in there.iter().filter(is_old).chain(same.into_iter().skip(KEPT - 1)) {
            // It stays for the next run.
            let _ = place.remove(&format!("{folder}/{old}"));
        }
        Ok(Some(Archive { commit: name.commit, bytes }))
    }
}

fn folder(root: &Path) -> String {
    format!("{FOLDER}/{}", project_name(root))
}

fn io(what: &'static str) -> impl Fn(io::Error) -> ArchiveError {
    move |source| ArchiveError::Io { what, source }
}

/// Unpacks an archive of `n_bytes`, and checks that its bytes are those of its name.
fn unpack(
    place: &ArchivePlace,
    path: &str,
    n_bytes: u64,
    hash: &str,
    to: &Layout,
) -> io::Result<()> {
    let inner = place.read(path)?.take(n_bytes);
    let mut input = Hashing { inner, hash: Sha256::new(), bytes: 0 };
    store::unpack(to, &mut input, n_bytes)?;
    io::copy(&mut input, &mut io::sink())?;
    if input.hex() == hash {
        Ok(())
    } else {
        Err(io::Error::other("its bytes are not those of its name"))
    }
}

/// Hashes what goes through it.
struct Hashing<T> {
    inner: T,
    hash: Sha256,
    bytes: u64,
}

impl<T> Hashing<T> {
    fn hex(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.hash.update(&into[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
