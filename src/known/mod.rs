//! What Cortex found out about files, kept for this user by content: a new worktree or clone, and a
//! branch that comes back, only have to be hashed.
//!
//! A value is bytes under a key, which the caller makes of everything that decides the value, as a
//! SHA-256 hash. So a repository can only add values of its own content, and nothing has to be
//! invalidated. All values are derived and disposable: whatever fails here is a value that is not
//! known. The folder belongs to this user, who alone may read it.

mod packed;
mod sql;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use self::packed::unpack;
pub use self::packed::{Key, Packed, pack};
use self::sql::Entries;
use crate::dir::{Dir, OwnedDir, PRIVATE_DIR};

/// Below the user's cache directory.
const PLACE: &str = "cortex/store";
/// The number is that of the form of the entries.
const DATABASE: &str = "known-1.db";
/// Permissions for anybody but the user.
const OF_OTHERS: u32 = 0o077;

/// The store of a user. It need not exist.
#[derive(Debug, Clone)]
pub struct KnownStore {
    cache_home: PathBuf,
    max_bytes: u64,
}

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
    /// that is 0.
    #[must_use]
    pub fn new(cache_home: PathBuf, max_bytes: u64) -> Option<Self> {
        (max_bytes > 0).then_some(Self { cache_home, max_bytes })
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
    #[expect(clippy::disallowed_methods, reason = "the cache directory, which the user chose")]
    fn path(&self) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(&self.cache_home)?;
        let above = Arc::new(Dir::open(&self.cache_home)?);
        let dir = OwnedDir::new(above, PLACE).make(PRIVATE_DIR)?;
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

#[cfg(test)]
mod tests;
