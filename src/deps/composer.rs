//! Composer: `composer.lock` and `vendor`.

use std::collections::HashMap;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, elements, folder_in, json, keys_of, other_version, text};

const LOCK: &str = "composer.lock";
const MANIFEST: &str = "composer.json";
const ADVICE: &str = "not installed: `composer install` does that";
/// Most bytes of Composer's list of what is installed.
const MAX_BYTES: u64 = 32 << 20;

/// Lists the packages of a lock file.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let path = folder.at(LOCK);
    let Some(lock) = folder.lock(LOCK, list).and_then(|lock| json(&lock, &path, list)) else {
        return false;
    };
    let manifest = folder.manifest(MANIFEST, list);
    let manifest = manifest.and_then(|text| json(&text, &folder.at(MANIFEST), list));
    let direct = keys_of(&manifest.unwrap_or_default(), &["require", "require-dev"]);
    let vendor = folder.dir("vendor");
    let installed = vendor
        .as_ref()
        .and_then(|vendor| vendor.read("composer/installed.json", MAX_BYTES).ok())
        .and_then(|installed| serde_json::from_slice::<serde_json::Value>(&installed).ok())
        .unwrap_or_default();
    let versions: HashMap<&str, &str> = elements(&installed, "packages")
        .map(|package| (text(package, "name"), text(package, "version")))
        .collect();
    for package in elements(&lock, "packages").chain(elements(&lock, "packages-dev")) {
        let (name, version) = (text(package, "name"), text(package, "version"));
        list.add(Ecosystem::Composer, &path, name, version, direct.contains(name), || {
            match (&vendor, versions.get(name)) {
                (Some(_), Some(found)) if *found != version => other_version(found),
                (Some(vendor), _) => folder_in(vendor, name, ADVICE),
                (None, _) => Sources::missing(ADVICE),
            }
        });
        let prefixes = keys_of(&package["autoload"], &["psr-4", "psr-0"]);
        list.set_modules(Ecosystem::Composer, name, version, prefixes.into_iter().collect());
    }
    true
}
