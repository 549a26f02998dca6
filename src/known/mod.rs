//! What Cortex found out about files, kept for this user by content: a new worktree or clone, and a
//! branch that comes back, only have to be hashed.
//!
//! A value is bytes under a key, which the caller makes of everything that decides the value, as a
//! SHA-256 hash. So a repository can only add values of its own content, and nothing has to be
//! invalidated. All values are derived and disposable: whatever fails here is a value that is not
//! known. The folder belongs to this user, who alone may read it.

mod sql;

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use self::sql::Entries;
use crate::dir::{Dir, OwnedDir};

/// Below the user's cache directory.
const PLACE: &str = "cortex/store";
/// The number is that of the form of the entries.
const DATABASE: &str = "known-1.db";
const PRIVATE_DIR: u32 = 0o700;
/// Permissions for anybody but the user.
const OF_OTHERS: u32 = 0o077;
/// A checksum (u64) of key and rest, and the number of unpacked bytes (u32).
const HEADER: usize = 12;
/// Largest value that is kept, in bytes.
const MAX_VALUE: usize = 16 << 20;
/// The fastest level of zstd, which saves nearly as much as its default.
const LEVEL: i32 = 1;

/// The key of a value: the SHA-256 hash, in hexadecimal digits, of everything that decides it.
pub type Key = String;

/// The store of a user. It need not exist.
#[derive(Debug, Clone)]
pub struct KnownStore {
    place: OwnedDir,
    max_bytes: u64,
}

/// A value as it is stored.
#[derive(Debug)]
pub struct Packed(Vec<u8>);

/// The open store.
#[derive(Debug)]
pub struct Known {
    entries: Mutex<Entries>,
    max_bytes: u64,
    /// Keys whose values were used for the first time today.
    used: Mutex<Vec<Key>>,
    /// Whether something was put.
    has_grown: AtomicBool,
    /// Whether a value or the database was found damaged.
    is_damaged: AtomicBool,
    /// Days since 1970.
    today: i64,
}

impl KnownStore {
    /// Names the store below the user's cache directory, of at most `max_bytes`. Returns `None` if
    /// there is no such directory, or the user wants no store.
    #[must_use]
    pub fn new(cache_home: &Path, max_bytes: u64) -> Option<Self> {
        if max_bytes == 0 || std::fs::create_dir_all(cache_home).is_err() {
            return None;
        }
        let above = Arc::new(Dir::open(cache_home).ok()?);
        Some(Self { place: OwnedDir::new(above, PLACE), max_bytes })
    }

    /// Opens the store, and creates it if it is missing. Returns `None` if it cannot be used.
    #[must_use]
    pub fn open(&self) -> Option<Known> {
        let opened = self
            .path()
            .and_then(|path| Entries::open(&path, self.max_bytes).map_err(std::io::Error::other));
        match opened {
            Ok(entries) => Some(Known {
                entries: Mutex::new(entries),
                max_bytes: self.max_bytes,
                used: Mutex::default(),
                has_grown: AtomicBool::new(false),
                is_damaged: AtomicBool::new(false),
                today: today(),
            }),
            Err(e) => {
                tracing::info!(
                    "every file is parsed, because what is known by content cannot be read: {e}"
                );
                None
            }
        }
    }

    /// Returns the path of the database. SQLite opens it by its path, so nobody else may write to
    /// the folder.
    fn path(&self) -> std::io::Result<std::path::PathBuf> {
        let dir = self.place.make(PRIVATE_DIR)?;
        if dir.own_stat()?.mode & OF_OTHERS != 0 {
            return Err(std::io::Error::other(format!(
                "{}: other users may read or change it (run chmod 700 on it)",
                dir.path().display()
            )));
        }
        Ok(dir.full(DATABASE))
    }
}

impl Known {
    /// Returns the value of a key; `None` if it is not known, or damaged.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let found = self.entries.lock().get(key);
        let (used, stored) = match found {
            Ok(found) => found?,
            Err(e) => {
                if crate::sqlite::is_damaged(&e) {
                    self.is_damaged.store(true, Ordering::Relaxed);
                }
                return None;
            }
        };
        let value = unpack(key, &stored);
        if value.is_none() {
            // It is replaced when the caller puts the right value.
            tracing::info!("a value that is known by content is damaged and is made anew");
        } else if used != self.today {
            self.used.lock().push(key.clone());
        }
        value
    }

    /// Puts values, in one transaction. If it fails, they are not known.
    pub fn put(&self, values: &[(Key, Packed)]) {
        let used = std::mem::take(&mut *self.used.lock());
        if values.is_empty() && used.is_empty() {
            return;
        }
        self.has_grown.fetch_or(!values.is_empty(), Ordering::Relaxed);
        let mut entries = self.entries.lock();
        if self.is_damaged.swap(false, Ordering::Relaxed)
            && let Err(e) = entries.renew()
        {
            return failed(&e);
        }
        match entries.put(values, &used, self.today) {
            Err(e) if crate::sqlite::is_damaged(&e) => {
                let done = entries.renew().and_then(|()| entries.put(values, &[], self.today));
                done.unwrap_or_else(|e| failed(&e));
            }
            done => done.unwrap_or_else(|e| failed(&e)),
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.put(&[]);
        if self.has_grown.load(Ordering::Relaxed) {
            self.entries.lock().collect(self.today, self.max_bytes).unwrap_or_else(|e| failed(&e));
        }
    }
}

fn failed(e: &dyn std::error::Error) {
    tracing::info!("what was parsed is not known to other worktrees: {e}");
}

fn today() -> i64 {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
    i64::try_from(days).unwrap_or(i64::MAX)
}

/// Makes of a value what is stored. Returns `None` if it is too large.
#[must_use]
pub fn pack(key: &Key, value: &[u8]) -> Option<Packed> {
    thread_local! {
        // A compressor has large tables, which are made once for each thread.
        static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = RefCell::new(zstd::bulk::Compressor::new(LEVEL).ok());
    }
    let n_bytes = u32::try_from(value.len()).ok().filter(|_| value.len() <= MAX_VALUE)?;
    let packed =
        COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.compress(value).ok())?;
    let mut stored = vec![0; 8];
    stored.extend(n_bytes.to_le_bytes());
    stored.extend(packed);
    let check = checksum(key, &stored[8..]).to_le_bytes();
    stored[..8].copy_from_slice(&check);
    Some(Packed(stored))
}

fn unpack(key: &Key, stored: &[u8]) -> Option<Vec<u8>> {
    let (header, packed) = stored.split_at_checked(HEADER)?;
    let (check, n_bytes) = header.split_at(8);
    if check != checksum(key, stored.get(8..)?).to_le_bytes() {
        return None;
    }
    let n_bytes = usize::try_from(u32::from_le_bytes(n_bytes.try_into().ok()?)).ok()?;
    if n_bytes > MAX_VALUE {
        return None;
    }
    zstd::bulk::decompress(packed, n_bytes).ok()
}

fn checksum(key: &Key, rest: &[u8]) -> u64 {
    xxh3_64(key.as_bytes()) ^ xxh3_64(rest)
}

#[cfg(test)]
mod tests;
