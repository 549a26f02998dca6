//! Python: the lock files of uv and Poetry, `requirements.txt`, and the virtual environment.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{
    Folder, around, elements, entries, folders, join, open, other_version, path_of, text, toml,
};
use crate::dir::Dir;

pub(super) const MANIFEST: &str = "pyproject.toml";
const ADVICE: &str = "not in a virtual environment of the project";
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
/// Most bytes of the list of the files of a package.
const MAX_RECORD_BYTES: u64 = 16 << 20;
/// Most files and folders that are named for one package.
const MAX_PARTS: usize = 100;

/// Lists the packages of a lock file.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let uv = folder.lock("uv.lock", list);
    let is_uv = uv.is_some();
    let name = if is_uv { "uv.lock" } else { "poetry.lock" };
    let Some(lock) = uv.or_else(|| folder.lock(name, list)) else { return false };
    let path = folder.at(name);
    let Some(lock) = toml(&lock, &path, list) else { return true };
    let is_own = |package: &Value| {
        let source = package.get("source").unwrap_or(&Value::Null);
        ["virtual", "editable", "directory"].iter().any(|key| source.get(key).is_some())
            || text(source, "type") == "directory"
    };
    let mut direct = named_by_manifest(folder, list);
    for own in elements(&lock, "package").filter(|package| is_own(package)) {
        let groups = ["optional-dependencies", "dev-dependencies"];
        let groups = groups.iter().flat_map(|table| entries(own, table));
        let groups = groups.filter_map(|(_, group)| group.as_array()).flatten();
        let named = elements(own, "dependencies").chain(groups);
        direct.extend(named.map(|dependency| normal(text(dependency, "name"))));
    }
    let installed = Installed::of(folder);
    for package in elements(&lock, "package").filter(|package| !is_own(package)) {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let is_direct = direct.contains(&normal(name));
        list.add(Ecosystem::Python, &path, name, version, is_direct, || {
            installed.find(name, Some(version))
        });
    }
    true
}

/// Lists what is installed and what the manifests name, where no lock file says it.
pub(super) fn read_manifest(folder: &Folder, list: &mut List) {
    let is_requirements = |path: &&&str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        join(folder.path, name) == ***path && name.starts_with("requirements")
    };
    let mut direct = named_by_manifest(folder, list);
    let mut pinned: BTreeMap<String, (String, String, String)> = BTreeMap::new();
    for path in folder.manifests.iter().filter(is_requirements) {
        let Some(text) = folder.manifest_at(path, list) else { continue };
        for (name, version) in text.lines().filter_map(requirement) {
            direct.insert(normal(name));
            let entry = (name.to_string(), version.to_string(), (*path).to_string());
            pinned.entry(normal(name)).or_insert(entry);
        }
    }
    let installed = Installed::of(folder);
    let is_manifest = |path: &&&str| ***path == folder.at(MANIFEST);
    let from = folder.manifests.iter().find(is_manifest).or(folder.manifests.first());
    let Some(from) = from else { return };
    for name in direct.iter().filter(|name| !installed.packages.contains_key(*name)) {
        if !pinned.contains_key(name) {
            list.add(Ecosystem::Python, from, name, "", true, || Sources::missing(ADVICE));
        }
    }
    for (name, version, from) in pinned.values() {
        let known = installed.packages.get(&normal(name));
        let version = if version.is_empty() { known.map_or("", |p| &p.version) } else { version };
        list.add(Ecosystem::Python, from, name, version, true, || {
            installed.find(name, Some(version))
        });
    }
    for (normal, package) in &installed.packages {
        if !pinned.contains_key(normal) {
            let Package { name, version, .. } = package;
            let find = || installed.find(name, None);
            list.add(Ecosystem::Python, from, name, version, direct.contains(normal), find);
        }
    }
}

/// Returns a name in the form in which names are compared.
pub(super) fn normal(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Returns the name and the pinned version, which may be empty, of a line of requirements.
fn requirement(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    let end = line.find(|c| !is_of_name(c)).unwrap_or(line.len());
    let name = &line[..end];
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = line[end..].trim_start();
    // `name[extra]`; what else follows a name is a version, a marker, a comment or a URL.
    let rest = rest
        .strip_prefix('[')
        .map_or(rest, |extra| extra.split_once(']').map_or("", |(_, rest)| rest.trim_start()));
    if !(rest.is_empty() || rest.starts_with(['=', '<', '>', '~', '!', ';', '#', '@', '\\', '-'])) {
        return None;
    }
    let version = rest.strip_prefix("==").unwrap_or_default().trim_start_matches('=').trim_start();
    let is_end = |c: char| c.is_whitespace() || [';', ',', '#', '\\'].contains(&c);
    let version = version.split(is_end).next().unwrap_or_default();
    Some((name, if version.contains('*') { "" } else { version }))
}

/// Returns the names in `pyproject.toml`.
fn named_by_manifest(folder: &Folder, list: &mut List) -> HashSet<String> {
    let manifest = folder.manifest(MANIFEST, list);
    let manifest = manifest.and_then(|text| toml(&text, &folder.at(MANIFEST), list));
    let manifest = manifest.unwrap_or_default();
    let null = Value::Null;
    let at = |keys: &[&str]| {
        keys.iter().try_fold(&manifest, |value, key| value.get(key)).unwrap_or(&null)
    };
    let project = at(&["project"]);
    let lists =
        entries(project, "optional-dependencies").chain(entries(&manifest, "dependency-groups"));
    let lists = lists.filter_map(|(_, group)| group.as_array()).flatten();
    let listed = elements(project, "dependencies").chain(lists);
    let mut names: HashSet<String> = listed
        .filter_map(|line| requirement(line.as_str()?))
        .map(|(name, _)| normal(name))
        .collect();
    let poetry = at(&["tool", "poetry"]);
    let groups = entries(poetry, "group").map(|(_, group)| group);
    let tables = groups.chain([poetry]).flat_map(|group| {
        ["dependencies", "dev-dependencies"].iter().flat_map(move |table| entries(group, table))
    });
    names.extend(tables.map(|(name, _)| normal(name)).filter(|name| name != "python"));
    names
}

/// A package in a virtual environment.
struct Package {
    name: String,
    version: String,
    /// The number of its `site-packages`.
    site: usize,
    /// The name of its `.dist-info`.
    info: String,
}

/// The packages of the virtual environment of a folder.
struct Installed {
    sites: Vec<Dir>,
    /// By normal name.
    packages: BTreeMap<String, Package>,
}

impl Installed {
    /// Reads the nearest environment, in the folder or around it, or else the one that is active.
    fn of(folder: &Folder) -> Self {
        let mut own =
            around(folder.path).flat_map(|outer| ENVIRONMENTS.map(|name| join(outer, name)));
        let active = || open(folder.machine.listed("VIRTUAL_ENV").into_iter().next());
        let environment = own.find_map(|path| folder.root.dir(path).ok()).or_else(active);
        let mut installed = Self { sites: Vec::new(), packages: BTreeMap::new() };
        let Some(lib) = environment.and_then(|dir| dir.dir("lib").ok()) else { return installed };
        for python in folders(&lib).iter().filter(|name| name.starts_with("python")) {
            let Ok(site) = lib.dir(join(python, "site-packages")) else { continue };
            let number = installed.sites.len();
            for info in folders(&site) {
                let id = info.strip_suffix(".dist-info");
                let Some((name, version)) = id.and_then(|id| id.split_once('-')) else { continue };
                let package = Package {
                    name: name.to_string(),
                    version: version.to_string(),
                    site: number,
                    info: info.clone(),
                };
                installed.packages.entry(normal(name)).or_insert(package);
            }
            installed.sites.push(site);
        }
        installed
    }

    fn find(&self, name: &str, version: Option<&str>) -> Sources {
        let Some(package) = self.packages.get(&normal(name)) else {
            return Sources::missing(ADVICE);
        };
        if version.is_some_and(|version| version != package.version) {
            return other_version(&package.version);
        }
        let site = &self.sites[package.site];
        let record = site.read_text(join(&package.info, "RECORD"), MAX_RECORD_BYTES);
        let mut parts = parts_of(record.as_deref().unwrap_or_default());
        parts.retain(|part| matches!(site.stat(part), Ok(Some(_))));
        parts.truncate(MAX_PARTS);
        let root = match path_of(site.path()) {
            Ok(root) => root,
            Err(why) => return Sources::Missing(why),
        };
        match &*parts {
            [] => Sources::missing("installed without its files: they may be elsewhere (editable)"),
            [one] if site.dir(one).is_ok() => Sources::Folder(root.join(one)),
            _ => Sources::Parts(root, parts),
        }
    }
}

/// Returns the extension of a name, as Python compares it: with its case.
fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Returns the topmost folders that hold files of a package, and its modules beside them. Packages may
/// share a folder without files (a namespace).
fn parts_of(record: &str) -> Vec<String> {
    let mut modules: BTreeSet<&str> = BTreeSet::new();
    let mut within: BTreeSet<&str> = BTreeSet::new();
    for line in record.lines() {
        let path = line.trim_start_matches('"').split([',', '"']).next().unwrap_or_default();
        let is_below = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        let first = path.split('/').next().unwrap_or_default();
        if !is_below || matches!(extension(first), "dist-info" | "data") {
            continue;
        }
        match path.rsplit_once('/') {
            Some((folder, _)) if !folder.ends_with("__pycache__") => {
                within.insert(folder);
            }
            None if matches!(extension(path), "py" | "pyi") => {
                modules.insert(path);
            }
            _ => {}
        }
    }
    let is_topmost = |folder: &&&str| {
        let mut around = **folder;
        while let Some((next, _)) = around.rsplit_once('/') {
            if within.contains(next) {
                return false;
            }
            around = next;
        }
        true
    };
    within.iter().filter(is_topmost).chain(&modules).map(ToString::to_string).collect()
}
