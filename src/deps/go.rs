//! Go: `go.mod` and `go.sum`, the module cache, and `vendor`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, folder_in, open, small_file};
use crate::dir::Dir;

pub(super) const MANIFEST: &str = "go.mod";
const ADVICE: &str = "not in the module cache: `go mod download` gets it";
/// From this minor version on, `go.mod` names every module that is needed.
const COMPLETE_SINCE: u32 = 17;

/// Lists the modules that `go.mod` requires.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let Some(manifest) = folder.manifest(MANIFEST, list) else { return false };
    let path = folder.at(MANIFEST);
    let found = GoManifest::read(&manifest);
    let caches = Caches::open(folder);
    for (name, (version, is_direct)) in &found.required {
        match found.replaced(name, version) {
            Some([by]) if is_folder(by) => {}
            Some([by, version]) => {
                list.add(Ecosystem::Go, &path, by, version, *is_direct, || {
                    // `vendor` keeps it under the name that is imported.
                    caches.vendored(name).or_else(|| caches.downloaded(by, version))
                });
            }
            _ => {
                let find = || caches.find(name, version);
                list.add(Ecosystem::Go, &path, name, version, *is_direct, find);
            }
        }
    }
    if found.minor < COMPLETE_SINCE {
        let sums = folder.lock("go.sum", list).unwrap_or_default();
        // The lines are sorted, so the last version of a module stays.
        let with_content: BTreeMap<&str, &str> = sums
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let (name, version) = (words.next()?, words.next()?);
                (!version.ends_with("/go.mod")).then_some((name, version))
            })
            .filter(|(name, _)| !found.required.contains_key(*name))
            .collect();
        let path = folder.at("go.sum");
        for (name, version) in with_content {
            list.add(Ecosystem::Go, &path, name, version, false, || caches.find(name, version));
        }
    }
    true
}

/// Returns the modules that `go.mod` replaces by folders, each with the path of the folder.
pub(super) fn replaced_by_folders(manifest: &str) -> Vec<(&str, &str)> {
    let replaced = GoManifest::read(manifest).replaced.into_iter();
    replaced
        .filter_map(|(of, by)| match by[..] {
            [by] if is_folder(by) => Some((*of.first()?, by)),
            _ => None,
        })
        .collect()
}

/// Whether a module is replaced by a folder of this machine, and not by another module.
fn is_folder(by: &str) -> bool {
    by.starts_with(['.', '/'])
}

#[derive(Default)]
struct GoManifest<'a> {
    /// Version, and whether it is direct, by name.
    required: BTreeMap<&'a str, (&'a str, bool)>,
    /// By name, and name and version.
    replaced: HashMap<Vec<&'a str>, Vec<&'a str>>,
    /// The second number of the version of Go.
    minor: u32,
}

impl<'a> GoManifest<'a> {
    fn read(text: &'a str) -> Self {
        let mut found = Self::default();
        let mut block = "";
        for line in text.lines() {
            let (code, comment) = line.split_once("//").unwrap_or((line, ""));
            let words = code.split_whitespace().map(|word| word.trim_matches(['"', '`']));
            let mut words: Vec<&str> = words.collect();
            match &*words {
                [] => continue,
                [")"] => {
                    block = "";
                    continue;
                }
                [verb, "("] => {
                    block = verb;
                    continue;
                }
                _ => {}
            }
            let verb = if block.is_empty() { words.remove(0) } else { block };
            match (verb, &*words) {
                ("require", [name, version]) => {
                    let is_direct = !comment.trim_start().starts_with("indirect");
                    found.required.insert(name, (version, is_direct));
                }
                ("go", [version]) => {
                    let minor = version.split('.').nth(1).and_then(|minor| minor.parse().ok());
                    found.minor = minor.unwrap_or_default();
                }
                ("replace", words) => {
                    if let Some(at) = words.iter().position(|word| *word == "=>") {
                        found.replaced.insert(words[..at].to_vec(), words[at + 1..].to_vec());
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn replaced(&self, name: &'a str, version: &'a str) -> Option<&[&'a str]> {
        let by =
            self.replaced.get(&*vec![name, version]).or_else(|| self.replaced.get(&*vec![name]));
        by.map(Vec::as_slice)
    }
}

struct Caches {
    modules: Option<Dir>,
    vendor: Option<Dir>,
    /// The lines `name version` of `vendor/modules.txt`.
    vendored: HashSet<String>,
}

impl Caches {
    fn open(folder: &Folder) -> Self {
        let machine = folder.machine;
        let set = machine.listed("GOMODCACHE").into_iter().next();
        let modules = set.or_else(|| Some(machine.folder("GOPATH", "go")?.join("pkg/mod")));
        let vendor = folder.dir("vendor");
        let listed = vendor.as_ref().and_then(|vendor| small_file(vendor, "modules.txt"));
        let vendored = listed.unwrap_or_default();
        let vendored = vendored.lines().filter_map(|line| line.strip_prefix("# "));
        Self { modules: open(modules), vendored: vendored.map(String::from).collect(), vendor }
    }

    fn find(&self, name: &str, version: &str) -> Sources {
        let is_vendored = self.vendored.contains(&format!("{name} {version}"));
        let vendored = || if is_vendored { self.vendored(name) } else { Sources::missing(ADVICE) };
        vendored().or_else(|| self.downloaded(name, version))
    }

    fn vendored(&self, name: &str) -> Sources {
        let vendor = self.vendor.as_ref();
        vendor.map_or_else(|| Sources::missing(ADVICE), |vendor| folder_in(vendor, name, ADVICE))
    }

    fn downloaded(&self, name: &str, version: &str) -> Sources {
        let Some(modules) = &self.modules else { return Sources::missing(ADVICE) };
        folder_in(modules, &format!("{}@{}", escaped(name), escaped(version)), ADVICE)
    }
}

/// Returns a name as the module cache spells it, whose file system may ignore case: `!b` for `B`.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            // Writing to a string cannot fail.
            let _ = write!(out, "!{}", c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
