//! Lists what a project depends on, from its lock files and manifests, and where the sources lie on
//! this machine.
//!
//! Nothing is downloaded and no program is run. What is not on this machine is listed with the
//! reason.

mod bundler;
mod cargo;
mod composer;
mod dependency;
mod described;
mod folder;
mod go;
mod hex;
mod maven;
mod npm;
mod python;
mod swift;
mod tied;
mod yaml;

pub use dependency::{Dependency, Ecosystem};
pub use described::description;
pub use folder::Machine;
pub use tied::Ties;

use std::collections::BTreeSet;

use self::dependency::List;
use self::folder::{Folder, around};
use crate::dir::Dir;
use crate::work::WorkBudget;

/// Most folders whose manifests are read.
const MAX_FOLDERS: usize = 2_000;

/// How the dependencies of an ecosystem are read.
struct Reader {
    ecosystem: Ecosystem,
    /// The files that mark a folder whose lock file is looked for: names, or ends after `*`.
    marks: &'static [&'static str],
    /// Lists what a lock file names. Returns whether it also holds for the folders below.
    read: fn(&Folder, &mut List) -> bool,
    /// Lists what a manifest names, if no lock file holds for its folder.
    read_manifest: Option<fn(&Folder, &mut List)>,
}

const READERS: [Reader; 9] = [
    reader(Ecosystem::Cargo, &["Cargo.toml", "Cargo.lock"], cargo::read, None),
    reader(
        Ecosystem::Npm,
        &["package.json", "pnpm-lock.yaml"],
        npm::read,
        Some(npm::read_manifest),
    ),
    reader(
        Ecosystem::Python,
        &["pyproject.toml", "requirements*.txt", "uv.lock", "poetry.lock", "setup.py"],
        python::read,
        Some(python::read_manifest),
    ),
    reader(Ecosystem::Go, &["go.mod"], go::read, None),
    reader(
        Ecosystem::Maven,
        &["pom.xml", "gradle.lockfile", "build.gradle", "build.gradle.kts"],
        maven::read,
        None,
    ),
    reader(Ecosystem::Composer, &["composer.json", "composer.lock"], composer::read, None),
    reader(Ecosystem::Bundler, &["Gemfile", "Gemfile.lock", "*.gemspec"], bundler::read, None),
    reader(Ecosystem::Hex, &["mix.exs", "mix.lock"], hex::read, None),
    reader(Ecosystem::Swift, &["Package.swift", "Package.resolved"], swift::read, None),
];

const fn reader(
    ecosystem: Ecosystem,
    marks: &'static [&'static str],
    read: fn(&Folder, &mut List) -> bool,
    read_manifest: Option<fn(&Folder, &mut List)>,
) -> Reader {
    Reader { ecosystem, marks, read, read_manifest }
}

impl Reader {
    fn is_marked_by(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.marks.iter().any(|mark| match mark.split_once('*') {
            Some((start, end)) => {
                name.len() >= mark.len() - 1 && name.starts_with(start) && name.ends_with(end)
            }
            None => name == *mark,
        })
    }
}

/// Lists the dependencies of a project, by ecosystem, name and version, and warnings about files that
/// cannot be read. `files` are the paths of the project's own files, relative to `root`; a lock file
/// beside them is found although git ignores it.
#[must_use]
pub fn dependencies(
    root: &Dir,
    files: &[&str],
    machine: Machine,
    work: WorkBudget,
) -> (Vec<Dependency>, Vec<String>) {
    let mut list = List::new(work);
    for reader in &READERS {
        let mut by_folder: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut marks: Vec<&str> =
            files.iter().copied().filter(|f| reader.is_marked_by(f)).collect();
        marks.sort_unstable();
        for path in &marks {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let depth = if folder.is_empty() { 0 } else { 1 + folder.matches('/').count() };
            by_folder.insert((depth, folder));
        }
        if by_folder.len() > MAX_FOLDERS {
            let name = reader.ecosystem.name();
            list.warn(format!(
                "{name}: only the first {MAX_FOLDERS} folders with a manifest are read"
            ));
        }
        // The folders for which a lock file holds.
        let mut locked: BTreeSet<&str> = BTreeSet::new();
        // The outermost first.
        for (_, path) in by_folder.into_iter().take(MAX_FOLDERS) {
            let below = if path.is_empty() { String::new() } else { format!("{path}/") };
            let first = marks.partition_point(|mark| **mark < *below);
            let last = marks[first..].partition_point(|mark| mark.starts_with(&below));
            let manifests = &marks[first..first + last];
            let folder = Folder { root, machine, path, manifests };
            let is_locked = (reader.read)(&folder, &mut list);
            let is_locked_around = || around(path).any(|outer| locked.contains(outer));
            if is_locked {
                locked.insert(path);
            } else if let Some(read_manifest) = reader.read_manifest
                && !is_locked_around()
            {
                read_manifest(&folder, &mut list);
            }
        }
    }
    list.end()
}

#[cfg(test)]
mod tests;
