//! Bundler: `Gemfile.lock` and the folders of gems.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, folder_in, folders, is_name, open};
use crate::dir::Dir;

const LOCK: &str = "Gemfile.lock";
const ADVICE: &str = "not installed: `bundle install` does that";
/// Folders with a folder for each version of Ruby, below the home directory and of the system.
const OF_VERSIONS: [&str; 5] = [
    ".gem/ruby",
    ".local/share/gem/ruby",
    "/var/lib/gems",
    "/usr/lib/ruby/gems",
    "/usr/local/lib/ruby/gems",
];
/// Folders of version managers, with a folder for each Ruby.
const OF_MANAGERS: [&str; 4] =
    [".rbenv/versions", ".rubies", ".asdf/installs/ruby", ".local/share/mise/installs/ruby"];
const OF_SYSTEM: [&str; 2] = ["/usr/share/rubygems-integration/all", "/usr/share/gems"];

/// Lists the gems of a lock file. Those of a `PATH` are the project's own.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let Some(lock) = folder.lock(LOCK, list) else { return false };
    let path = folder.at(LOCK);
    let mut direct: HashSet<&str> = HashSet::new();
    let mut gems: Vec<(&str, &str, bool, &str)> = Vec::new();
    let (mut section, mut revision) = ("", "");
    for line in lock.lines() {
        let text = line.trim();
        match line.len() - line.trim_start().len() {
            0 => (section, revision) = (text, ""),
            2 if section == "DEPENDENCIES" => {
                direct.insert(text.split([' ', '!']).next().unwrap_or(text));
            }
            2 => revision = text.strip_prefix("revision: ").unwrap_or(revision),
            4 if matches!(section, "GEM" | "GIT") => {
                if let Some((name, version)) = text.split_once(" (") {
                    let version = version.trim_end_matches(')');
                    gems.push((name, version, section == "GIT", revision));
                }
            }
            _ => {}
        }
    }
    let homes = homes(folder);
    for (name, version, is_of_git, revision) in gems {
        list.add((Ecosystem::Bundler, &path), (name, version), direct.contains(name), || {
            if is_of_git {
                return checked_out(&homes, name, revision);
            }
            let id = format!("{name}-{version}");
            if !is_name(&id) {
                return Sources::missing("its name is not valid");
            }
            homes.iter().fold(Sources::missing(ADVICE), |found, home| {
                found.or_else(|| folder_in(home, &format!("gems/{id}"), ADVICE))
            })
        });
    }
    true
}

/// Looks for a gem in the checkouts of Bundler: `bundler/gems/REPOSITORY-COMMIT`.
fn checked_out(homes: &[Dir], name: &str, revision: &str) -> Sources {
    for home in homes {
        let Ok(checkouts) = home.dir("bundler/gems") else { continue };
        let is_it = |folder: &String| {
            folder
                .rsplit_once('-')
                .is_some_and(|(_, commit)| commit.len() >= 7 && revision.starts_with(commit))
        };
        if let Some(checkout) = folders(&checkouts).into_iter().find(is_it) {
            // A repository may hold several gems.
            let own = format!("{checkout}/{name}");
            let has_own = is_name(name) && checkouts.has_file(format!("{own}/{name}.gemspec"));
            return folder_in(&checkouts, if has_own { &own } else { &checkout }, ADVICE);
        }
    }
    Sources::missing(ADVICE)
}

/// Opens the folders that hold a folder `gems`, the nearest to the project first.
fn homes(folder: &Folder) -> Vec<Dir> {
    let machine = folder.machine;
    let mut homes = versions_in(folder.dir("vendor/bundle/ruby"));
    let named = machine.listed("GEM_HOME").into_iter().chain(machine.listed("GEM_PATH"));
    let system = OF_SYSTEM.iter().map(PathBuf::from);
    homes.extend(named.chain(system).filter_map(|path| open(Some(path))));
    let at = |path: &str| {
        if Path::new(path).is_absolute() { Some(path.into()) } else { machine.below_home(path) }
    };
    homes.extend(OF_VERSIONS.iter().flat_map(|path| versions_in(open(at(path)))));
    let rubies = OF_MANAGERS.iter().flat_map(|path| versions_in(open(at(path))));
    homes.extend(rubies.flat_map(|ruby| versions_in(ruby.dir("lib/ruby/gems").ok())));
    homes
}

fn versions_in(dir: Option<Dir>) -> Vec<Dir> {
    let Some(dir) = dir else { return Vec::new() };
    folders(&dir).into_iter().filter_map(|version| dir.dir(version).ok()).collect()
}
