//! Which projects this user has: one small file for each, in the user's private state directory.
//! Whoever indexes or serves a project notes it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::dir::{Dir, OwnedDir, PRIVATE_DIR, PRIVATE_FILE};

/// Relative to the private directory.
const DIR: &str = "projects";
/// Longer notes are not read, in bytes.
const MAX_BYTES: u64 = 1 << 14;
/// Most notes that are read.
const MAX_NOTES: usize = 10_000;

#[derive(Serialize, Deserialize)]
struct Note {
    root: String,
}

/// A project that the user has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownProject {
    /// The shortest end of its path that no other project has.
    pub name: String,
    pub root: PathBuf,
}

/// The projects of a user.
#[derive(Debug, Default)]
pub struct Projects {
    /// In the order of their names.
    pub there: Vec<KnownProject>,
    /// Roots that are no longer there: the project was moved or deleted, or its disk is not mounted.
    pub gone: Vec<PathBuf>,
    /// Where the notes are, if they were read.
    notes: Option<OwnedDir>,
}

/// Why a name is no project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("no project is called `{name}`; {known}")]
    Unknown { name: String, known: String },
    #[error(
        "the project `{name}` is gone: {} is no longer there. If it moved, run `cortex index` in its new place",
        root.display()
    )]
    Gone { name: String, root: PathBuf },
    #[error("several projects are called `{name}`: write {}", names.join(" or "))]
    Ambiguous { name: String, names: Vec<String> },
}

impl NameError {
    /// Whether no project of the name is there.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Gone { .. })
    }
}

/// Notes that the user has the project of `root`, which is canonical. A note that is there is not
/// written again.
///
/// # Errors
/// When the note cannot be written.
pub fn note(state: &Path, root: &Path) -> io::Result<()> {
    // A root that is not UTF-8 cannot be named in a question.
    let Some(root) = root.to_str() else { return Ok(()) };
    let dir = OwnedDir::private(state)?.below(DIR);
    let file = file_of(root);
    if dir.open().is_ok_and(|dir| dir.has_file(&file)) {
        return Ok(());
    }
    let note = serde_json::to_vec(&Note { root: root.to_string() })?;
    dir.make(PRIVATE_DIR)?.replace(&file, &note, PRIVATE_FILE, false)
}

fn file_of(root: &str) -> String {
    format!("{:016x}.json", xxh3_64(root.as_bytes()))
}

impl Projects {
    /// Reads the projects that are noted in the user's state directory. Without any, there are none.
    #[must_use]
    pub fn read(state: &Path) -> Self {
        let Ok(notes) = OwnedDir::private(state).map(|dir| dir.below(DIR)) else {
            return Self::default();
        };
        let Ok(dir) = notes.open() else { return Self::default() };
        let found = dir.list().unwrap_or_default().into_iter().take(MAX_NOTES);
        let root = |name: std::ffi::OsString| {
            let note = dir.read_text(name, MAX_BYTES).ok()?;
            Some(PathBuf::from(serde_json::from_str::<Note>(&note).ok()?.root))
        };
        let roots = found.filter_map(|(name, _)| root(name)).filter(|root| root.is_absolute());
        Self { notes: Some(notes), ..Self::of(roots) }
    }

    /// Names the projects of these roots.
    #[must_use]
    pub fn of(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        let roots: BTreeSet<PathBuf> = roots.into_iter().collect();
        let is_there = |root: &PathBuf| Dir::open(root).is_ok();
        let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) = roots.into_iter().partition(is_there);
        let mut there: Vec<KnownProject> = names(&there)
            .into_iter()
            .zip(&there)
            .map(|(name, root)| KnownProject { name, root: root.clone() })
            .collect();
        there.sort();
        Self { there, gone, notes: None }
    }

    /// Adds a project that is there, whether or not it is noted. Names may become longer.
    #[must_use]
    pub fn with(self, root: &Path) -> Self {
        let roots = self.there.into_iter().map(|project| project.root);
        Self { gone: self.gone, notes: self.notes, ..Self::of(roots.chain([root.to_path_buf()])) }
    }

    /// Returns the roots that are no longer there and whose last names `is_meant` accepts. Each is
    /// forgotten, so that nobody hears of it again, unless its disk may just not be mounted.
    pub fn take_gone(&self, is_meant: impl Fn(&Path) -> bool) -> Vec<&Path> {
        let gone = self.gone.iter().map(|root| &**root).filter(|root| is_meant(root));
        let dir = self.notes.as_ref().and_then(|notes| notes.open().ok());
        gone.inspect(|root| {
            let is_mounted = root.parent().is_some_and(|above| Dir::open(above).is_ok());
            if let (Some(dir), Some(root), true) = (&dir, root.to_str(), is_mounted) {
                let _ = dir.remove_file(file_of(root));
            }
        })
        .collect()
    }

    /// Returns the project of a name, which is the end of its path: `helix` or `a/helix`.
    ///
    /// # Errors
    /// When no project, or more than one, has this name.
    pub fn named(&self, name: &str) -> Result<&KnownProject, NameError> {
        let found: Vec<&KnownProject> = (self.there.iter())
            .filter(|project| !name.is_empty() && project.root.ends_with(name))
            .collect();
        match found[..] {
            [project] => Ok(project),
            [] => {
                Err(match self.gone.iter().find(|root| !name.is_empty() && root.ends_with(name)) {
                    Some(root) => NameError::Gone { name: name.to_string(), root: root.clone() },
                    None => NameError::Unknown { name: name.to_string(), known: self.known() },
                })
            }
            _ => Err(NameError::Ambiguous {
                name: name.to_string(),
                names: found.iter().map(|project| project.name.clone()).collect(),
            }),
        }
    }

    fn known(&self) -> String {
        const SHOWN: usize = 20;
        let mut names: Vec<&str> = self.there.iter().map(|p| &*p.name).take(SHOWN).collect();
        if self.there.len() > SHOWN {
            names.push("…");
        }
        if names.is_empty() {
            "none is known yet: run `cortex index` in it".into()
        } else {
            format!("there are {}", names.join(", "))
        }
    }
}

/// Splits a place that may begin with the name of a project: `helix:src/x.rs:12`. In `x.rs:12` and
/// `Type::method`, nothing before the colon can be one.
#[must_use]
pub fn split_place(place: &str) -> Option<(&str, &str)> {
    let (name, rest) = place.split_once(':')?;
    let is_lines = rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | ','));
    (!name.is_empty() && !is_lines && !rest.starts_with([':', '/', '\\'])).then_some((name, rest))
}

/// Returns for each root the shortest end of its path that no other one has.
fn names(roots: &[PathBuf]) -> Vec<String> {
    let end = |root: &Path, n: usize| {
        let parts: Vec<_> = root.iter().map(|part| part.to_string_lossy()).collect();
        parts[parts.len().saturating_sub(n)..].join("/").replace("//", "/")
    };
    let mut names: Vec<Option<String>> = vec![None; roots.len()];
    let depth = roots.iter().map(|root| root.iter().count()).max().unwrap_or(0);
    for n in 1..=depth {
        let mut having: BTreeMap<String, usize> = BTreeMap::new();
        for root in roots {
            *having.entry(end(root, n)).or_default() += 1;
        }
        for (name, root) in names.iter_mut().zip(roots).filter(|(name, _)| name.is_none()) {
            *name = Some(end(root, n)).filter(|end| having[end] == 1);
        }
        if names.iter().all(Option::is_some) {
            break;
        }
    }
    names
        .into_iter()
        .zip(roots)
        .map(|(name, root)| name.unwrap_or_else(|| end(root, depth)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn projects_of_one_name_are_told_apart_by_more_of_their_paths() {
        let temp = tempfile::tempdir().unwrap();
        let (home, state) = (fs::canonicalize(temp.path()).unwrap(), temp.path().join("state"));
        for path in ["a/helix", "b/helix", "b/tools"] {
            fs::create_dir_all(home.join(path)).unwrap();
            note(&state, &home.join(path)).unwrap();
            note(&state, &home.join(path)).unwrap();
        }
        let projects = Projects::read(&state);
        let names: Vec<&str> = projects.there.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["a/helix", "b/helix", "tools"]);
        assert_eq!(projects.named("b/helix").unwrap().root, home.join("b/helix"));
        assert_eq!(projects.named("tools").unwrap().root, home.join("b/tools"));
        let ambiguous = projects.named("helix").unwrap_err().to_string();
        assert_eq!(ambiguous, "several projects are called `helix`: write a/helix or b/helix");
        let unknown = projects.named("elix").unwrap_err().to_string();
        assert!(unknown.contains("there are a/helix, b/helix, tools"), "{unknown}");

        // The other one is the only `helix` when this one has moved away.
        fs::rename(home.join("a/helix"), home.join("a/moved")).unwrap();
        let projects = Projects::read(&state);
        assert_eq!(projects.gone, [home.join("a/helix")]);
        assert_eq!(projects.named("helix").unwrap().root, home.join("b/helix"));
    }

    #[test]
    fn notes_that_cannot_be_read_are_no_projects() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        assert!(Projects::read(&state).there.is_empty(), "nothing was noted yet");
        note(&state, &fs::canonicalize(temp.path()).unwrap()).unwrap();
        let dir = state.join("cortex/projects");
        fs::write(dir.join("torn.json"), "{\"root\": \"/").unwrap();
        fs::write(dir.join("relative.json"), "{\"root\": \"..\"}").unwrap();
        fs::write(dir.join("long.json"), "x".repeat(1 << 20)).unwrap();
        assert_eq!(Projects::read(&state).there.len(), 1);
    }
}
