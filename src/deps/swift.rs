//! `SwiftPM`: `Package.resolved` and `.build/checkouts`.

use std::collections::HashSet;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, elements, folder_in, is_name, json, text};

const LOCK: &str = "Package.resolved";
const MANIFEST: &str = "Package.swift";
const ADVICE: &str = "not checked out: `swift package resolve` does that";

/// Lists the packages of a lock file.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let path = folder.at(LOCK);
    let Some(lock) = folder.lock(LOCK, list).and_then(|lock| json(&lock, &path, list)) else {
        return false;
    };
    let manifest = folder.manifest(MANIFEST, list).unwrap_or_default().to_lowercase();
    let direct: HashSet<&str> = manifest.split('"').map(repository).collect();
    let checkouts = folder.dir(".build/checkouts");
    // Version 1 of the format has an object around the list.
    let null = serde_json::Value::Null;
    let old = elements(lock.get("object").unwrap_or(&null), "pins");
    for pin in elements(&lock, "pins").chain(old) {
        let either =
            |new, old| Some(text(pin, new)).filter(|v| !v.is_empty()).unwrap_or(text(pin, old));
        let location = either("location", "repositoryURL");
        let location = repository(location);
        let state = pin.get("state").unwrap_or(&null);
        let versions = ["version", "branch", "revision"].map(|key| text(state, key));
        let version = versions.into_iter().find(|v| !v.is_empty()).unwrap_or_default();
        let is_direct = direct.contains(&*location.to_lowercase());
        let name = either("identity", "package");
        list.add(Ecosystem::Swift, &path, name, version, is_direct, || {
            let folder = location.rsplit(['/', ':']).next().unwrap_or_default();
            match &checkouts {
                Some(checkouts) if is_name(folder) => folder_in(checkouts, folder, ADVICE),
                _ => Sources::missing(ADVICE),
            }
        });
    }
    true
}

/// Returns the location of a repository in the form in which locations are compared.
fn repository(location: &str) -> &str {
    let location = location.trim_end_matches('/');
    location.strip_suffix(".git").unwrap_or(location)
}
