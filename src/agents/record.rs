//! What files of agents held before Cortex changed them, so that a removal restores every byte.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dir::{Dir, PRIVATE_FILE};
use crate::platform;

const FILE: &str = "record.json";
/// Larger files are neither read nor changed.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// One changed file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    /// The name of the copy of the file as it was; `None` if there was no file.
    before: Option<String>,
    /// Hash of what Cortex wrote.
    after: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Content {
    files: BTreeMap<PathBuf, Entry>,
    /// Directories that were made for them.
    made: BTreeSet<PathBuf>,
}

/// The changed files of a user, in a directory with copies of what they were.
#[derive(Debug)]
pub struct Record {
    dir: PathBuf,
    content: Content,
}

impl Record {
    /// Reads the record in a directory. Without one, nothing was changed.
    #[must_use]
    pub fn load(dir: &Path) -> Self {
        let text = Dir::open(dir).and_then(|d| d.read_text(FILE, MAX_BYTES)).unwrap_or_default();
        Self { dir: dir.to_path_buf(), content: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// The directory of the record.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns what a file held before, if nobody changed it since: `Some(None)` if there was none.
    #[must_use]
    #[allow(clippy::option_option, reason = "unknown, no file, or a text")]
    pub(super) fn before(&self, path: &Path, now: &str) -> Option<Option<String>> {
        let entry = self.content.files.get(path).filter(|entry| entry.after == hash(now))?;
        let Some(copy) = &entry.before else { return Some(None) };
        Dir::open(&self.dir).and_then(|d| d.read_text(copy, MAX_BYTES)).ok().map(Some)
    }

    /// Remembers what a file holds now, before `after` is written.
    pub(super) fn remember(
        &mut self,
        path: &Path,
        before: Option<&str>,
        after: &str,
        made: Vec<PathBuf>,
    ) -> io::Result<()> {
        platform::make_private_dir(&self.dir, true)?;
        let dir = Dir::open(&self.dir)?;
        let copy = before.map(|_| format!("{}.before", &hash(&path.display().to_string())[..16]));
        if let (Some(copy), Some(text)) = (&copy, before) {
            dir.replace(copy, text.as_bytes(), PRIVATE_FILE, true)?;
        }
        self.content.made.extend(made);
        self.content.files.insert(path.to_path_buf(), Entry { before: copy, after: hash(after) });
        self.save(&dir)
    }

    /// Forgets files that are as they were, and directories that are gone.
    pub(super) fn forget(&mut self, files: &[PathBuf], is_gone: impl Fn(&Path) -> bool) {
        let copies: Vec<String> = files
            .iter()
            .filter_map(|path| self.content.files.remove(path))
            .filter_map(|entry| entry.before)
            .collect();
        // The deepest first.
        let made: Vec<PathBuf> = self.content.made.iter().rev().cloned().collect();
        for path in made {
            if is_gone(&path) {
                self.content.made.remove(&path);
            }
        }
        if let Ok(dir) = Dir::open(&self.dir) {
            // What stays here is read by nobody.
            let _ = self.save(&dir);
            for copy in copies {
                let _ = dir.remove_file(copy);
            }
        }
    }

    fn save(&self, dir: &Dir) -> io::Result<()> {
        dir.replace(FILE, &serde_json::to_vec_pretty(&self.content)?, PRIVATE_FILE, true)
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
