//! Cargo: `Cargo.lock`, the registry and git checkouts of `$CARGO_HOME`, and `vendor`.

use std::collections::HashSet;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{
    Folder, elements, folder_in, folders, is_name, join, open, small_file, text, toml,
};
use crate::dir::Dir;

const LOCK: &str = "Cargo.lock";
const ADVICE: &str = "not downloaded: `cargo fetch` does that";
/// The shortest abbreviation of a commit in the name of a checkout.
const MIN_COMMIT: usize = 7;
/// Most folders of a checkout that are searched for a package.
const MAX_SEARCHED: usize = 500;

/// The folders in which Cargo keeps sources.
struct Caches {
    /// One for each registry.
    registries: Vec<Dir>,
    checkouts: Option<Dir>,
    vendor: Option<Dir>,
}

/// Lists the packages of a lock file. Packages of the project itself have no source there.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let path = folder.at(LOCK);
    let Some(lock) = folder.lock(LOCK, list).and_then(|lock| toml(&lock, &path, list)) else {
        return false;
    };
    let own = elements(&lock, "package").filter(|package| text(package, "source").is_empty());
    // `name`, or `name version` if there are several versions.
    let direct: HashSet<String> = own
        .flat_map(|package| elements(package, "dependencies"))
        .filter_map(|named| Some(words(named.as_str()?, 2)))
        .collect();
    let caches = Caches::open(folder);
    for package in elements(&lock, "package") {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let source = text(package, "source");
        if source.is_empty() {
            continue;
        }
        let is_direct = direct.contains(name) || direct.contains(&format!("{name} {version}"));
        list.add(Ecosystem::Cargo, &path, name, version, is_direct, || {
            caches.find(name, version, source)
        });
    }
    true
}

fn words(text: &str, n: usize) -> String {
    text.split_whitespace().take(n).collect::<Vec<_>>().join(" ")
}

impl Caches {
    fn open(folder: &Folder) -> Self {
        let home = folder.machine.folder("CARGO_HOME", ".cargo");
        let home = open(home);
        let below = |path: &str| home.as_ref()?.dir(path).ok();
        let registries = below("registry/src")
            .map(|all| folders(&all).iter().filter_map(|name| all.dir(name).ok()).collect());
        Self {
            registries: registries.unwrap_or_default(),
            checkouts: below("git/checkouts"),
            vendor: folder.dir("vendor"),
        }
    }

    fn find(&self, name: &str, version: &str, source: &str) -> Sources {
        let id = format!("{name}-{version}");
        if !is_name(name) || !is_name(&id) {
            return Sources::missing("its name is not valid");
        }
        self.vendored(name, version, &id).or_else(|| match source.strip_prefix("git+") {
            Some(url) => self.checked_out(name, url),
            None => self.downloaded(&id, source),
        })
    }

    fn vendored(&self, name: &str, version: &str, id: &str) -> Sources {
        let Some(vendor) = &self.vendor else { return Sources::missing(ADVICE) };
        folder_in(vendor, id, ADVICE).or_else(|| match package_of(vendor, name) {
            Some((_, found)) if found == version => folder_in(vendor, name, ADVICE),
            _ => Sources::missing(ADVICE),
        })
    }

    /// Looks for a package in the folders of the registries. The name of such a folder begins with
    /// the host of the registry; the central one has several hosts.
    fn downloaded(&self, id: &str, source: &str) -> Sources {
        let host = source.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split(['/', ':']).next().unwrap_or_default();
        let is_of_host = |dir: &&Dir| {
            dir.path().file_name().and_then(|n| n.to_str()).is_some_and(|name| {
                !host.is_empty() && name.strip_prefix(host).is_some_and(|r| r.starts_with('-'))
            })
        };
        let (first, then): (Vec<&Dir>, Vec<&Dir>) = self.registries.iter().partition(is_of_host);
        let all = first.into_iter().chain(then);
        all.fold(Sources::missing(ADVICE), |found, dir| {
            found.or_else(|| folder_in(dir, id, ADVICE))
        })
    }

    /// Looks for a package in the checkouts of its repository: `NAME-HASH/COMMIT`.
    fn checked_out(&self, name: &str, url: &str) -> Sources {
        let Some(checkouts) = &self.checkouts else { return Sources::missing(ADVICE) };
        let (url, commit) = url.rsplit_once('#').unwrap_or((url, ""));
        let url = url.split('?').next().unwrap_or(url).trim_end_matches('/');
        let repository = url.rsplit('/').next().unwrap_or(url);
        let repository = repository.strip_suffix(".git").unwrap_or(repository).to_lowercase();
        let is_of_repository = |folder: &String| {
            folder.rsplit_once('-').is_some_and(|(of, _)| of.to_lowercase() == repository)
        };
        for of_repository in folders(checkouts).into_iter().filter(is_of_repository) {
            let Ok(dir) = checkouts.dir(&of_repository) else { continue };
            let is_of_commit = |id: &String| id.len() >= MIN_COMMIT && commit.starts_with(&**id);
            for id in folders(&dir).into_iter().filter(is_of_commit) {
                let Ok(checkout) = dir.dir(&id) else { continue };
                if let Some(path) = package_below(&checkout, name) {
                    return folder_in(&checkout, &path, ADVICE);
                }
            }
        }
        Sources::missing(ADVICE)
    }
}

/// Returns the name and the version in the manifest of a folder.
fn package_of(dir: &Dir, path: &str) -> Option<(String, String)> {
    let manifest = small_file(dir, &join(path, "Cargo.toml"))?;
    let manifest: serde_json::Value = ::toml::from_str(&manifest).ok()?;
    let package = manifest.get("package")?;
    Some((text(package, "name").to_string(), text(package, "version").to_string()))
}

/// Returns the folder of a package in a repository; the shallowest if there are several.
fn package_below(checkout: &Dir, name: &str) -> Option<String> {
    let mut queue = std::collections::VecDeque::from([String::new()]);
    for _ in 0..MAX_SEARCHED {
        let path = queue.pop_front()?;
        if package_of(checkout, &path).is_some_and(|(found, _)| found == name) {
            return Some(if path.is_empty() { ".".into() } else { path });
        }
        let Ok(dir) = checkout.dir(if path.is_empty() { "." } else { &path }) else { continue };
        let below = folders(&dir).into_iter().filter(|name| !name.starts_with('.'));
        queue.extend(below.map(|name| join(&path, &name)));
    }
    None
}
