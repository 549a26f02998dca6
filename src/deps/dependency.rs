//! A dependency, and the list of all.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::work::WorkBudget;

/// Most dependencies of a list. Large monorepos have some 5 000.
const MAX_DEPENDENCIES: usize = 50_000;
/// Most bytes of a name or a version. Longer ones were never published.
const MAX_NAME_BYTES: usize = 300;
/// Most warnings of a list.
const MAX_WARNINGS: usize = 20;

/// A family of packages that one registry or tool gives.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    Cargo,
    /// npm, pnpm and yarn.
    Npm,
    Python,
    Go,
    /// Maven and Gradle.
    Maven,
    Composer,
    Bundler,
    Hex,
    Swift,
}

impl Ecosystem {
    /// The names of all, as JSON and arguments spell them.
    pub const NAMES: &'static [&'static str] =
        &["cargo", "npm", "python", "go", "maven", "composer", "bundler", "hex", "swift"];

    /// Returns the name, such as `cargo`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A package of another project that this project uses, in one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dependency {
    pub ecosystem: Ecosystem,
    /// The name as the lock file spells it; of Maven `group:artifact`.
    pub name: String,
    /// The version. If nothing fixes it and the package is not installed, the requirement of the
    /// manifest, which may be empty.
    pub version: String,
    /// Whether a manifest of the project names it. Otherwise other dependencies need it.
    pub is_direct: bool,
    /// The lock files or manifests that name it, relative to the root of the project.
    pub from: BTreeSet<String>,
    /// The folder of its sources, an absolute path; absent if they are not on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The files and folders in `root` that belong to it; empty if all do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub parts: Vec<String>,
    /// How the names of its modules begin, if the lock file says so: `Psr\Log\`.
    #[serde(skip)]
    pub modules: BTreeSet<String>,
    /// The archive that holds its sources, an absolute path, if no folder does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<PathBuf>,
    /// Why its sources were not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Where the sources of a dependency are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sources {
    Folder(PathBuf),
    /// Some files and folders of a folder.
    Parts(PathBuf, Vec<String>),
    Archive(PathBuf),
    /// Nowhere, with the reason.
    Missing(String),
}

impl Sources {
    /// Returns the first of two that is there.
    pub(super) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::Missing(_)) { other() } else { self }
    }

    pub(super) fn missing(why: &str) -> Self {
        Self::Missing(why.to_string())
    }
}

/// Returns a version, which may be a URL, without the name and the password in it.
fn without_credentials(version: &str) -> Cow<'_, str> {
    let without = || {
        let (protocol, rest) = version.split_once("://")?;
        let host = &rest[..rest.find(['/', '#', '?']).unwrap_or(rest.len())];
        Some(format!("{protocol}://{}", &rest[host.rfind('@')? + 1..]))
    };
    without().map_or(Cow::Borrowed(version), Cow::Owned)
}

/// The dependencies that were found so far. Each is there once, however many lock files name it.
#[derive(Debug)]
pub(super) struct List {
    found: BTreeMap<(Ecosystem, String, String), Dependency>,
    warnings: Vec<String>,
    work: WorkBudget,
    is_cut: bool,
}

impl List {
    pub(super) fn new(work: WorkBudget) -> Self {
        Self { found: BTreeMap::new(), warnings: Vec::new(), work, is_cut: false }
    }

    /// Adds a dependency that the file `from` names. `sources` is asked unless they are known.
    pub(super) fn add(
        &mut self,
        ecosystem: Ecosystem,
        from: &str,
        name: &str,
        version: &str,
        is_direct: bool,
        sources: impl FnOnce() -> Sources,
    ) {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || version.len() > MAX_NAME_BYTES {
            return self.warn(format!("{from}: left out a package without a usable name"));
        }
        let version = &*without_credentials(version);
        let key = (ecosystem, name.to_string(), version.to_string());
        let is_known = self.found.contains_key(&key);
        if !is_known && (self.found.len() >= MAX_DEPENDENCIES || !self.work.goes_on()) {
            self.is_cut = true;
            return;
        }
        let dependency = self.found.entry(key).or_insert_with(|| Dependency {
            ecosystem,
            name: name.to_string(),
            version: version.to_string(),
            is_direct: false,
            from: BTreeSet::new(),
            root: None,
            parts: Vec::new(),
            modules: BTreeSet::new(),
            archive: None,
            missing: None,
        });
        dependency.is_direct |= is_direct;
        dependency.from.insert(from.to_string());
        if !is_known || dependency.missing.is_some() {
            dependency.missing = None;
            match sources() {
                Sources::Folder(root) => dependency.root = Some(root),
                Sources::Parts(root, parts) => {
                    (dependency.root, dependency.parts) = (Some(root), parts);
                }
                Sources::Archive(archive) => dependency.archive = Some(archive),
                Sources::Missing(why) => dependency.missing = Some(why),
            }
        }
    }

    /// Notes how the names of the modules of an added dependency begin.
    pub(super) fn set_modules(
        &mut self,
        ecosystem: Ecosystem,
        name: &str,
        version: &str,
        modules: BTreeSet<String>,
    ) {
        let key = (ecosystem, name.to_string(), without_credentials(version).into_owned());
        if let Some(dependency) = self.found.get_mut(&key) {
            dependency.modules = modules;
        }
    }

    /// Notes what could not be read.
    pub(super) fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the dependencies, by ecosystem, name and version, and the warnings.
    pub(super) fn end(mut self) -> (Vec<Dependency>, Vec<String>) {
        if self.is_cut {
            let n = self.found.len();
            self.warnings.push(format!("the list is cut after {n}: there are too many dependencies, or it took too long to find them"));
        }
        (self.found.into_values().collect(), self.warnings)
    }
}
