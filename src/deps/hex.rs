//! Hex: `mix.lock` and `deps`.

use std::collections::HashSet;

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, folder_in, join, other_version, small_file};

const LOCK: &str = "mix.lock";
const ADVICE: &str = "not in deps: `mix deps.get` gets it";

/// Lists the packages of a lock file, an Elixir map with one line for each.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let Some(lock) = folder.lock(LOCK, list) else { return false };
    let path = folder.at(LOCK);
    let manifests = folder.manifests.iter().filter_map(|path| folder.manifest_at(path, list));
    let manifests: Vec<String> = manifests.collect();
    // `{:name, "~> 1.0"}`
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let direct: HashSet<&str> = manifests
        .iter()
        .flat_map(|text| text.split("{:").skip(1))
        .map(|rest| &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())])
        .collect();
    let deps = folder.dir("deps");
    for line in lock.lines() {
        let Some((app, entry)) = entry(line) else { continue };
        let is_direct = direct.contains(app);
        // `{:hex, :name, "version", …` or `{:git, "url", "commit", …`.
        let fields: Vec<&str> = entry.splitn(4, ',').map(str::trim).collect();
        let (name, version, is_of_git) = match fields[..] {
            [":hex", name, version, _] => (name.trim_start_matches(':'), version, false),
            [":git", _, commit, _] => (app, commit, true),
            _ => continue,
        };
        let version = version.trim_matches('"');
        list.add(Ecosystem::Hex, &path, name, version, is_direct, || {
            let Some(deps) = &deps else { return Sources::missing(ADVICE) };
            let installed = small_file(deps, &join(app, "hex_metadata.config"));
            match installed.as_deref().and_then(version_in) {
                Some(found) if !is_of_git && found != version => other_version(found),
                _ => folder_in(deps, app, ADVICE),
            }
        });
    }
    true
}

/// Returns the name of the application and the rest of a line.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (app, entry) = line.trim().strip_prefix('"')?.split_once("\":")?;
    Some((app, entry.trim_start().strip_prefix('{')?))
}

/// Returns the version in the metadata of an installed package: `{<<"version">>,<<"1.0.0">>}.`
fn version_in(metadata: &str) -> Option<&str> {
    let (_, rest) = metadata.split_once("{<<\"version\">>,<<\"")?;
    rest.split('"').next()
}
