//! npm, pnpm and yarn: their lock files, or `package.json` alone; `node_modules`, the `.pnpm` folder in
//! it, and the archives of yarn.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{
    Folder, archive, around, entries, files, folder, folder_in, folders, is_name, join, json,
    keys_of, other_version, small_file, text, yaml,
};
use crate::dir::{Dir, is_refused};

pub(super) const MANIFEST: &str = "package.json";
const ADVICE: &str = "not installed";
pub(super) const MODULES: &str = "node_modules";
pub(super) const NAMED_IN: [&str; 4] =
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/// Most packages within packages that are looked for.
const MAX_NESTED: usize = 50_000;
/// Most levels of packages within packages in a lock file of npm 6.
const MAX_DEPTH: usize = 64;

/// Lists the packages of a lock file; without one, those that `package.json` names, unless a lock file
/// of a folder around it does.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    type Reader = fn(&Folder, &str, &str, &mut List);
    let locks: [(&str, Reader); 4] = [
        ("pnpm-lock.yaml", pnpm),
        ("yarn.lock", yarn),
        ("npm-shrinkwrap.json", npm),
        ("package-lock.json", npm),
    ];
    for (name, read) in locks {
        if let Some(lock) = folder.lock(name, list) {
            read(folder, &folder.at(name), &lock, list);
            return true;
        }
    }
    false
}

/// Lists what `package.json` names, in the versions that are installed.
pub(super) fn read_manifest(folder: &Folder, list: &mut List) {
    let path = folder.at(MANIFEST);
    let Some(manifest) = folder.manifest(MANIFEST, list) else { return };
    let Some(manifest) = json(&manifest, &path, list) else { return };
    for (name, range) in NAMED_IN.iter().flat_map(|table| entries(&manifest, table)) {
        let range = range.as_str().unwrap_or_default();
        if is_local(range) {
            continue;
        }
        let installed = around(folder.path).find_map(|outer| {
            let dir = package(folder.root, &join(outer, &format!("{MODULES}/{name}"))).ok()?;
            Some((version_of(&dir)?, dir))
        });
        match installed {
            Some((version, dir)) => {
                list.add(Ecosystem::Npm, &path, name, &version, true, || {
                    super::folder::folder(&dir)
                });
            }
            None => {
                list.add(Ecosystem::Npm, &path, name, range, true, || Sources::missing(ADVICE));
            }
        }
    }
}

/// Whether a requirement names a folder of the project.
fn is_local(range: &str) -> bool {
    ["workspace:", "file:", "link:", "portal:"].iter().any(|start| range.starts_with(start))
}

/// Opens the folder of a package, or says why not.
fn package(dir: &Dir, path: &str) -> Result<Dir, Sources> {
    dir.dir(path).map_err(|e| match folder_in(dir, path, ADVICE) {
        missing @ Sources::Missing(_) if is_refused(&e) => missing,
        _ => Sources::missing(ADVICE),
    })
}

/// Returns the version in the manifest of a package.
fn version_of(package: &Dir) -> Option<String> {
    let manifest: Value = serde_json::from_str(&small_file(package, MANIFEST)?).ok()?;
    Some(text(&manifest, "version").to_string())
}

/// Returns the folder of a package if it has this version.
fn in_version(dir: &Dir, path: &str, version: &str) -> Sources {
    let package = match package(dir, path) {
        Ok(package) => package,
        Err(missing) => return missing,
    };
    match version_of(&package) {
        Some(found) if found == version => folder(&package),
        Some(found) => other_version(&found),
        None => Sources::missing(ADVICE),
    }
}

fn npm(folder: &Folder, path: &str, lock: &str, list: &mut List) {
    let Some(lock) = json(lock, path, list) else { return };
    let root = folder.root;
    let at = |key: &str| folder.at(key);
    if lock.get("packages").is_none() {
        let manifest = folder.manifest(MANIFEST, list);
        let manifest = manifest.and_then(|text| json(&text, &folder.at(MANIFEST), list));
        let direct = keys_of(&manifest.unwrap_or_default(), &NAMED_IN);
        let mut open = vec![(String::new(), &lock)];
        while let Some((around, within)) = open.pop() {
            let is_top = around.is_empty();
            for (name, entry) in entries(within, "dependencies") {
                let key = join(&around, &format!("{MODULES}/{name}"));
                let version = text(entry, "version");
                if !is_local(version) {
                    let is_direct = is_top && direct.contains(name);
                    list.add(Ecosystem::Npm, path, name, version, is_direct, || {
                        in_version(root, &at(&key), version)
                    });
                }
                if key.matches(MODULES).count() < MAX_DEPTH {
                    open.push((key, entry));
                }
            }
        }
        return;
    }
    let start = format!("{MODULES}/");
    let is_installed = |key: &str| key.starts_with(&start) || key.contains(&format!("/{start}"));
    let packages: BTreeMap<&String, &Value> = entries(&lock, "packages").collect();
    // The root is the empty key, and a workspace the path of its folder.
    let mut direct: HashSet<String> = HashSet::new();
    for (own, entry) in packages.iter().filter(|(key, _)| !is_installed(key)) {
        for name in keys_of(entry, &NAMED_IN) {
            let inner = join(own, &format!("{MODULES}/{name}"));
            let is_inner = packages.contains_key(&inner);
            direct.insert(if is_inner { inner } else { format!("{MODULES}/{name}") });
        }
    }
    for (key, entry) in packages.iter().filter(|(key, _)| is_installed(key)) {
        if entry.get("link").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        let installed_as = key.rsplit_once(&start).map_or("", |(_, name)| name);
        // An alias is installed under another name.
        let name = Some(text(entry, "name")).filter(|name| !name.is_empty());
        let version = text(entry, "version");
        let is_direct = direct.contains(*key);
        list.add(Ecosystem::Npm, path, name.unwrap_or(installed_as), version, is_direct, || {
            in_version(root, &at(key), version)
        });
    }
}

fn pnpm(folder: &Folder, path: &str, lock: &str, list: &mut List) {
    let Some(lock) = yaml(lock, path, list) else { return };
    let is_old = text(&lock, "lockfileVersion").starts_with('5');
    let plain = |id: &str| {
        let id = id.strip_prefix('/').unwrap_or(id);
        let id = id.split('(').next().unwrap_or(id);
        if is_old { id.split('_').next().unwrap_or(id) } else { id }.to_string()
    };
    let split = |id: &str| -> Option<(String, String)> {
        let id = plain(id);
        // A scope begins with the same character as a version.
        let at = if is_old { id.rfind('/')? } else { 1 + id.get(1..)?.find('@')? };
        Some((id[..at].to_string(), id[at + 1..].to_string()))
    };
    // A single project is its own importer.
    let importers = entries(&lock, "importers").map(|(_, importer)| importer);
    let named = importers
        .chain([&lock])
        .flat_map(|importer| NAMED_IN.iter().flat_map(move |table| entries(importer, table)));
    let direct: HashSet<(String, String)> = named
        .filter_map(|(name, value)| {
            let version = value.as_str().unwrap_or_else(|| text(value, "version"));
            let is_alias = version.starts_with('/') || plain(version).contains('@');
            if is_alias { split(version) } else { Some((name.clone(), plain(version))) }
        })
        .collect();
    let store = folder.dir(&format!("{MODULES}/.pnpm"));
    let installed = store.as_ref().map(folders).unwrap_or_default();
    for (id, entry) in entries(&lock, "packages") {
        let Some((name, version)) = split(id) else { continue };
        let is_direct = direct.contains(&(name.clone(), version.clone()));
        let shown = Some(text(entry, "version")).filter(|v| !v.is_empty()).unwrap_or(&version);
        list.add(Ecosystem::Npm, path, &name, shown, is_direct, || {
            let Some(store) = &store else { return Sources::missing(ADVICE) };
            // The name may end with the peers of the package.
            let start = format!("{}@{version}", name.replace('/', "+"));
            let first = installed.partition_point(|folder| **folder < *start);
            let is_it = |folder: &&String| {
                let end = folder.strip_prefix(&*start);
                end.is_some_and(|end| end.is_empty() || end.starts_with(['_', '(']))
            };
            let within =
                installed[first..].iter().take_while(|f| f.starts_with(&start)).find(is_it);
            within.map_or_else(
                || Sources::missing(ADVICE),
                |within| folder_in(store, &format!("{within}/{MODULES}/{name}"), ADVICE),
            )
        });
    }
}

/// The keys of an entry in a lock file of yarn.
#[derive(Default)]
struct YarnEntry<'a> {
    /// `name@range`.
    wanted: Vec<(&'a str, &'a str)>,
    version: &'a str,
    /// `name@protocol:version`; absent in version 1.
    resolution: &'a str,
}

/// Reads both formats: those of yarn 1, and the YAML of later versions.
fn yarn_entries(lock: &str) -> Vec<YarnEntry<'_>> {
    let mut entries: Vec<YarnEntry> = Vec::new();
    let unquoted = |text: &'_ str| -> usize { text.len() - text.trim_start_matches('"').len() };
    for line in lock.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let is_heading = !line.starts_with(' ');
        if is_heading {
            let heading = line.trim_end().trim_end_matches(':');
            let ids = heading.split(',').map(|id| id.trim().trim_matches('"'));
            let wanted = ids.filter_map(|id| {
                let at = 1 + id.get(1..)?.find('@')?;
                let range = &id[at + 1..];
                Some((&id[..at], range.strip_prefix("npm:").unwrap_or(range)))
            });
            entries.push(YarnEntry { wanted: wanted.collect(), ..YarnEntry::default() });
            continue;
        }
        let Some(entry) = entries.last_mut() else { continue };
        let Some(pair) = line.strip_prefix("  ").filter(|pair| !pair.starts_with(' ')) else {
            continue;
        };
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        let value = value.trim();
        let value = value[unquoted(value)..].trim_end_matches('"');
        match key.trim_end_matches(':') {
            "version" => entry.version = value,
            "resolution" => entry.resolution = value,
            _ => {}
        }
    }
    entries.retain(|entry| !entry.wanted.is_empty());
    entries
}

fn yarn(folder: &Folder, path: &str, lock: &str, list: &mut List) {
    let mut direct: HashSet<(String, String)> = HashSet::new();
    for manifest in folder.manifests {
        let read = folder.manifest_at(manifest, list);
        let Some(read) = read.and_then(|text| json(&text, manifest, list)) else { continue };
        for (name, range) in NAMED_IN.iter().flat_map(|table| entries(&read, table)) {
            let range = range.as_str().unwrap_or_default();
            let range = range.strip_prefix("npm:").unwrap_or(range);
            direct.insert((name.clone(), range.to_string()));
        }
    }
    let modules = folder.dir(MODULES);
    let nested: OnceCell<BTreeMap<String, Vec<String>>> = OnceCell::new();
    let archives: Option<(Dir, Vec<String>)> = folder.dir(".yarn/cache").map(|dir| {
        let names = files(&dir);
        (dir, names)
    });
    for entry in yarn_entries(lock) {
        let (alias, _) = entry.wanted[0];
        let resolved = entry.resolution.get(1..).and_then(|rest| rest.split_once('@'));
        let name = resolved.map_or(alias, |(rest, _)| &entry.resolution[..=rest.len()]);
        let from = resolved.map_or(entry.wanted[0].1, |(_, from)| from);
        // A patch is listed beside what it changes.
        if is_local(from) || from.starts_with("patch:") {
            continue;
        }
        let is_direct = entry
            .wanted
            .iter()
            .any(|(name, range)| direct.contains(&(name.to_string(), range.to_string())));
        list.add(Ecosystem::Npm, path, name, entry.version, is_direct, || {
            let top = modules.as_ref().map_or_else(
                || Sources::missing(ADVICE),
                |modules| in_version(modules, alias, entry.version),
            );
            let within = |top| match (&modules, top) {
                (Some(modules), Sources::Missing(why)) => {
                    let nested = nested.get_or_init(|| nested_in(modules));
                    let places = nested.get(alias).into_iter().flatten();
                    places.fold(Sources::Missing(why), |found, place| {
                        found.or_else(|| in_version(modules, place, entry.version))
                    })
                }
                (_, top) => top,
            };
            let top = within(top);
            let Sources::Missing(why) = top else { return top };
            packed(archives.as_ref(), name, entry.version).unwrap_or(Sources::Missing(why))
        });
    }
}

/// Returns where packages are within other packages of `node_modules`, by name.
fn nested_in(modules: &Dir) -> BTreeMap<String, Vec<String>> {
    let named = |dir: &Dir, path: &str| -> Vec<String> {
        let Ok(dir) = dir.dir(if path.is_empty() { "." } else { path }) else { return Vec::new() };
        let (scopes, plain): (Vec<_>, Vec<_>) =
            folders(&dir).into_iter().partition(|name| name.starts_with('@'));
        let scoped = scopes.iter().flat_map(|scope| {
            let inner = dir.dir(scope).map(|inner| folders(&inner)).unwrap_or_default();
            inner.into_iter().map(move |name| format!("{scope}/{name}"))
        });
        plain.into_iter().filter(|name| !name.starts_with('.')).chain(scoped).collect()
    };
    let mut nested: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open: Vec<(String, usize)> =
        named(modules, "").into_iter().map(|name| (name, 0)).collect();
    let mut n_found = 0;
    while let Some((around, depth)) = open.pop().filter(|_| n_found < MAX_NESTED) {
        let inner = format!("{around}/{MODULES}");
        for name in named(modules, &inner) {
            n_found += 1;
            let place = format!("{inner}/{name}");
            if depth < MAX_DEPTH {
                open.push((place.clone(), depth + 1));
            }
            nested.entry(name).or_default().push(place);
        }
    }
    nested
}

/// Returns the archive of a package in yarn's cache: `@scope-name-npm-VERSION-HASH.zip`.
fn packed(archives: Option<&(Dir, Vec<String>)>, name: &str, version: &str) -> Option<Sources> {
    let (dir, names) = archives?;
    let start = format!("{}-npm-{version}-", name.replace('/', "-"));
    let first = names.partition_point(|name| **name < *start);
    let found = names.get(first).filter(|name| name.starts_with(&start) && is_name(name))?;
    Some(archive(dir, found))
}
